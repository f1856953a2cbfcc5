"""Prequential runs that were interrupted and resumed from a checkpoint: the same results."""

import numpy as np
import pytest
from river import naive_bayes, tree
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from support.checkpoint_folders import Killed, saved_at
from support.named_models import named

from ltm_sklearn import LongTermMemoryClassifier, Snapshots, river
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.evaluation._prequential_run import PrequentialRun
from ltm_sklearn.evaluation._resumption import concepts_checksum
from ltm_sklearn.persistence import Checkpoint
from ltm_sklearn.streams import Batch, stagger

N_ROWS = 120
LOSSES = np.random.default_rng(0).random((N_ROWS, 3))


STREAM = stagger(order="random", length=60, n_segments=5, noise=0.1, seed=0)
SETTING = {"batch_size": 10, "delay": 15, "window": 20, "classes": [False, True]}


def pool():
    experts = [("bayes", GaussianNB(var_smoothing=1e-3)), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
    return {
        "memory": LongTermMemoryClassifier(experts, memory=Snapshots(every=50), random_state=0, record=20),
        "bandit": LongTermMemoryClassifier(experts, feedback="bandit", random_state=0),
        "bayes": GaussianNB(var_smoothing=1e-3),
        "River": river.LongTermMemoryClassifier(named([naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()])),
        "tree": tree.HoeffdingTreeClassifier(grace_period=20),
    }


def rows_until(stop):
    """Yield the stream up to a row, where the process ends."""
    for row, pair in enumerate(STREAM):
        if row == stop:
            raise Killed
        yield pair


def figures(result):
    """Return everything of a result but the seconds."""
    scores = {
        name: {column: repr(value) for column, value in row.items() if "seconds" not in column}
        for name, row in result.scores.items()
    }
    run_records = {
        name: (run_record.weights.tobytes(), run_record.losses.tobytes())
        for name, run_record in result.run_records.items()
    }
    return scores, result.curve_values.tobytes(), result.losses, result.comparators, result.n_compared, run_records


@pytest.fixture(scope="module")
def uninterrupted():
    models = pool()
    return prequential(models, rows_until(None), **SETTING), models


def test_a_prequential_run_resumes_to_the_same_result(tmp_path, uninterrupted, capsys):
    expected, their_models = uninterrupted
    for stop in (5, 120, 208):
        with pytest.raises(Killed):
            prequential(
                pool(), rows_until(stop), **SETTING, checkpoint=Checkpoint(tmp_path / "run", every=40, trusted=True)
            )
    models = pool()
    checkpoint = Checkpoint(tmp_path / "run", every=40, trusted=True)
    result = prequential(models, rows_until(None), **SETTING, checkpoint=checkpoint, progress=True)
    assert "resumed at row 200" in capsys.readouterr().err
    assert figures(result) == figures(expected)
    assert saved_at(tmp_path / "run") == [280, 300]
    probe = LOSSES[:5]
    for name in ("memory", "bayes"):  # the models that were given have learned all of it
        assert models[name].predict_proba(probe).tolist() == their_models[name].predict_proba(probe).tolist()
    assert models["memory"].n_rounds_ == their_models["memory"].n_rounds_
    models["memory"].partial_fit(probe, [False, True, True, False, True])
    assert models["memory"].n_rounds_ == their_models["memory"].n_rounds_ + 1


def test_a_finished_run_returns_its_result_again(tmp_path, uninterrupted, monkeypatch):
    first = prequential(pool(), rows_until(None), **SETTING, checkpoint=Checkpoint(tmp_path, every=150, trusted=True))
    monkeypatch.setattr(PrequentialRun, "step", None)
    again = prequential(pool(), rows_until(None), **SETTING, checkpoint=Checkpoint(tmp_path, every=150, trusted=True))
    assert figures(again) == figures(first) == figures(uninterrupted[0])
    assert again.scores == first.scores  # the seconds, too


@pytest.fixture(scope="module")
def halfway(tmp_path_factory):
    """Folder of a run of one model that was stopped."""
    folder = tmp_path_factory.mktemp("halfway")
    with pytest.raises(Killed):
        small_run(folder, rows_until(105))
    return folder


def small_run(folder, stream, model=None, **changed):
    models = {"bayes": GaussianNB(var_smoothing=1e-3) if model is None else model}
    return prequential(models, stream, **SETTING | changed, checkpoint=Checkpoint(folder, every=50))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"batch_size": 20}, "batch_size is 20 and was 10"),
        ({"delay": 0}, "delay is 0 and was 15"),
        ({"window": 30}, "window is 30 and was 20"),
        ({"classes": [False, True, 2]}, "classes is builtins.list of 3 and was builtins.list of 2"),
        ({"model": GaussianNB()}, r"model 'bayes'.var_smoothing is 1e-09 and was 0.001"),
        ({"model": SGDClassifier()}, "model 'bayes' is sklearn.*SGDClassifier and was sklearn.*GaussianNB"),
    ],
)
def test_other_arguments_are_an_error_that_names_them(changed, message, halfway):
    with pytest.raises(ValueError, match=f"is not of this run: {message}"):
        small_run(halfway, rows_until(None), **changed)


def test_another_stream_is_an_error(halfway):
    with pytest.raises(ValueError, match="the first 100 rows of the stream have other targets"):
        small_run(halfway, stagger(order="random", length=60, n_segments=5, noise=0.1, seed=1))
    with pytest.raises(ValueError, match="the stream has 30 rows, and the checkpoint is at row 100"):
        small_run(halfway, rows_until(None), n_samples=30)


CONCEPTS = np.arange(N_ROWS) // 20 % 3


def with_concepts(concepts, stop=None):
    for start in range(0, N_ROWS, 10):
        if start == stop:
            raise Killed
        rows = slice(start, start + 10)
        pair = LOSSES[rows], LOSSES[rows, 0] > 0.5
        yield pair if concepts is None else (*pair, concepts[rows])


@pytest.mark.parametrize(
    ("before", "now"),
    [(CONCEPTS, None), (None, CONCEPTS), (CONCEPTS, (CONCEPTS + 1) % 2), (CONCEPTS, CONCEPTS.astype(str))],
    ids=["dropped", "added", "changed", "as text"],
)
def test_other_concepts_are_an_error(before, now, tmp_path):
    with pytest.raises(Killed):
        small_run(tmp_path, with_concepts(before, 110))
    with pytest.raises(ValueError, match="the first 100 rows of the stream have other concepts"):
        small_run(tmp_path, with_concepts(now))
    assert saved_at(tmp_path) == [50, 100]
    result = small_run(tmp_path, with_concepts(before))
    assert figures(result) == figures(small_run(tmp_path / "whole", with_concepts(before)))


def test_the_checksum_has_the_concepts_in_force_and_of_the_rows():
    batch = Batch(LOSSES[:2], LOSSES[:2, 0], np.array([0, 1]))
    sums = [concepts_checksum(batch, in_force, 0) for in_force in (batch.concept, np.array([0, 0]), np.array([1, 1]))]
    assert len({*sums, 0}) == 4
    assert concepts_checksum(batch._replace(concept=None), None, 7) == 7


def test_checkpoint_must_be_a_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="checkpoint='run' must be a Checkpoint"):
        prequential({"bayes": GaussianNB()}, rows_until(None), **SETTING, checkpoint="run")


def test_a_stream_may_have_grown(tmp_path):
    small_run(tmp_path / "grows", rows_until(None), n_samples=150)
    result = small_run(tmp_path / "grows", rows_until(None))
    assert result.n_rows == 300
    assert figures(result) == figures(small_run(tmp_path / "whole", rows_until(None)))


def test_a_stream_that_goes_on_within_a_batch_is_an_error(tmp_path):
    small_run(tmp_path, rows_until(None), n_samples=95)
    with pytest.raises(ValueError, match="at row 95, where a stream had ended"):
        small_run(tmp_path, rows_until(None))


def test_a_model_with_state_outside_of_dict_is_an_error(tmp_path):
    class Slotted:
        __slots__ = ("seen",)

        def predict_one(self, x):
            return True

        def learn_one(self, x, y):
            self.seen = y

    class Counts(dict):  # what it has learned stands in itself
        def predict_one(self, x):
            return max(self, key=self.get, default=True)

        def learn_one(self, x, y):
            self[y] = self.get(y, 0) + 1

    for model in (Slotted(), Counts()):
        with pytest.raises(ValueError, match="'bayes' keeps its state outside of __dict__"):
            small_run(tmp_path, rows_until(None), model)
