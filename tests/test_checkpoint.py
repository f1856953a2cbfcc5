"""Checkpoints: resumed runs go on to the same numbers, whatever happened to the process, its files and its disk."""

import copy
import errno
import os
import random
import re
import shutil
import subprocess
import sys
from collections import deque
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from river import compose, linear_model, naive_bayes, tree
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, Snapshots, river
from ltm_sklearn.bandits import LongTermMemoryBandit
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.evaluation._resumption import concepts_checksum
from ltm_sklearn.evaluation._run import PrequentialRun
from ltm_sklearn.experts import Hedge, LongTermMemory
from ltm_sklearn.persistence import Checkpoint, CheckpointWarning, _checkpoint, describe_parameters, save
from ltm_sklearn.persistence._parameters import differences
from ltm_sklearn.persistence._writing import temporary_name
from ltm_sklearn.streams import Batch, stagger

N_ROWS = 120
LOSSES = np.random.default_rng(0).random((N_ROWS, 3))


class Killed(Exception):
    """Stands for the end of the process."""


class Extent:
    """Of no library that is known."""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def saved_at(folder):
    return [int(name.removeprefix("checkpoint-").removesuffix(".ltm")) for name in names(folder)]


def hedge_run(checkpoint, stop=N_ROWS):
    """Rounds of an algorithm, to the end or up to a row."""
    algorithm, start = checkpoint.resume(Hedge())
    for losses in LOSSES[start:stop]:
        algorithm.update(losses)
        checkpoint.step(algorithm)
    return algorithm


# A loop of one's own ----------------------------------------------------------------------------------------------


def learn_ensemble(model, start, stop):
    X = LOSSES[start:stop]
    model.partial_fit(X, X[:, 0] > 0.5, classes=[False, True])
    return model.predict_proba(LOSSES[:5])


def learn_river(model, start, stop):
    for row in LOSSES[start:stop]:
        model.learn_one(dict(enumerate(row.tolist())), bool(row[0] > 0.5))
    return sorted(model.predict_proba_one(dict(enumerate(LOSSES[0].tolist()))).items())


def learn_mixture(model, start, stop):
    model.partial_fit(LOSSES[start:stop], LOSSES[start:stop].sum(axis=1))
    return model.predict(LOSSES[:5])


def learn_algorithm(model, start, stop):
    for losses in LOSSES[start:stop]:
        model.update(losses)
    return model.weights(3)


def learn_bandit(model, start, stop):
    for losses in LOSSES[start:stop]:
        arm = model.draw(3)
        model.update(arm, losses[arm])
    return model.probabilities


LOOPS = {
    "ensemble": (
        lambda: LongTermMemoryClassifier(
            [("bayes", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))],
            memory=Snapshots(every=30),
            random_state=0,
        ),
        learn_ensemble,
    ),
    "scikit-learn's": (GaussianNB, learn_ensemble),
    "River's ensemble": (
        lambda: river.LongTermMemoryClassifier([naive_bayes.GaussianNB(), linear_model.LogisticRegression()]),
        learn_river,
    ),
    "River's": (lambda: tree.HoeffdingTreeClassifier(grace_period=20), learn_river),
    "mixture": (ExpertMixture, learn_mixture),
    "algorithm": (LongTermMemory, learn_algorithm),
    "bandit": (lambda: LongTermMemoryBandit(random_state=0), learn_bandit),
}


@pytest.mark.parametrize("what", LOOPS)
def test_a_loop_resumes_to_the_same_numbers(what, tmp_path):
    make, learn = LOOPS[what]

    def run(stop):
        checkpoint = Checkpoint(tmp_path / "run", every=20, trusted=True)
        model, n_done = checkpoint.resume(make())
        said = checkpoint.extra.setdefault("said", [])
        for start in range(n_done, stop, 10):
            said.append(repr(learn(model, start, start + 10)))
            checkpoint.step(model, 10)
        return n_done, said

    expected = []
    model = make()
    for start in range(0, N_ROWS, 10):
        expected.append(repr(learn(model, start, start + 10)))
    assert run(50)[0] == 0
    assert run(90)[0] == 40
    assert run(N_ROWS) == (80, expected)


def test_files_are_named_by_rows_and_the_oldest_go(tmp_path):
    hedge_run(Checkpoint(tmp_path, every=25, keep=3))
    assert names(tmp_path) == [f"checkpoint-{n_rows:012d}.ltm" for n_rows in (50, 75, 100)]


def test_without_a_word_on_it_a_file_is_written_each_minute_unless_they_take_long(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(_checkpoint.time, "monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path)
    model, _ = checkpoint.resume(Hedge())

    def due_after(seconds, taken):
        """Seconds until a file is written, which then takes so long."""
        monkeypatch.setattr(_checkpoint, "write_atomically", lambda *_: now.__setitem__(0, now[0] + taken))
        for waited in range(1, seconds + 1):
            now[0] += 1.0
            if checkpoint.step(model):
                return waited
        return None

    assert due_after(100, taken=0.5) == 60  # to the second: what it took is within the minute
    assert due_after(100, taken=5.0) == 60
    assert due_after(300, taken=0.0) == 245  # 250 from the start of one that took 5


def test_time_between_files_can_be_given(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_checkpoint.time, "monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path, every=timedelta(seconds=10))
    model, _ = checkpoint.resume(Hedge())
    written = []
    for second in range(30):
        now[0] = float(second)
        if checkpoint.step(model):
            written.append(second)
    assert written == [10, 20]


def test_a_plain_dictionary_goes_along(tmp_path):
    checkpoint = Checkpoint(tmp_path)
    model, _ = checkpoint.resume(Hedge())
    checkpoint.extra.update(lost=0.25, days=["monday"])
    checkpoint.step(model, 7)
    checkpoint.save(model)
    again = Checkpoint(tmp_path)
    assert again.resume(Hedge())[1] == again.n_rows == 7
    assert again.extra == {"lost": 0.25, "days": ["monday"]}


def test_several_models_are_saved_together(tmp_path):
    checkpoint = Checkpoint(tmp_path)
    models, _ = checkpoint.resume({"a": Hedge(), "b": LongTermMemory()})
    models["b"].update([0.0, 1.0])
    checkpoint.save(models)
    again, _ = Checkpoint(tmp_path).resume({"a": Hedge(), "b": LongTermMemory()})
    assert again["b"].weights(2).tolist() == models["b"].weights(2).tolist()


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (LongTermMemory(), "holds a Hedge, and not a LongTermMemory"),
        (Hedge(rate=0.125), r"model.rate is 0.125 and was None"),
    ],
)
def test_files_of_another_model_are_an_error_and_stay(other, told, tmp_path):
    hedge_run(Checkpoint(tmp_path, every=50))
    before = names(tmp_path)
    checkpoint = Checkpoint(tmp_path)
    with pytest.raises(ValueError, match=told):
        checkpoint.resume(other)
    with pytest.raises(RuntimeError, match="resume"):
        checkpoint.save(other)
    assert names(tmp_path) == before


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"every": 0}, "every=0"),
        ({"every": True}, "every=True"),
        ({"every": timedelta(0)}, "every="),
        ({"keep": 0}, "keep=0"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
    ],
)
def test_wrong_parameters_are_named(parameters, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        Checkpoint(tmp_path, **parameters)


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        (GaussianNB(priors=np.array([0.5, 0.5])), GaussianNB(priors=np.array([0.9, 0.1]))),
        (Hedge(prior=np.array([0.5, 0.5])), Hedge(prior=np.array([0.9, 0.1]))),
        (SGDClassifier(random_state=np.random.RandomState(0)), SGDClassifier(random_state=np.random.RandomState(1))),
        (compose.Select("a") | naive_bayes.GaussianNB(), compose.Select("b") | naive_bayes.GaussianNB()),
        *(
            (FunctionTransformer(kw_args={"a": one}), FunctionTransformer(kw_args={"a": other}))
            for one, other in [
                (range(2), range(3)),
                (date(2020, 1, 1), date(2021, 1, 1)),
                (frozenset([1, 2]), frozenset([1, 3])),
                (Path("a"), Path("b")),
                (timedelta(1), timedelta(2)),
                (np.array(["a", None]), np.array(["b", None])),
                (np.zeros(2), np.zeros((2, 1))),
                (np.random.default_rng(0), np.random.default_rng(1)),
                (random.Random(0), random.Random(1)),
                (partial(int, base=2), partial(int, base=3)),
                (deque([1]), deque([2])),
            ]
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_whatever_was_given_is_compared(given, changed):
    assert not differences(describe_parameters(copy.deepcopy(given)), describe_parameters(given))
    assert differences(describe_parameters(changed), describe_parameters(given))


def test_sets_are_compared_in_whatever_order_they_stand():
    assert describe_parameters({"b", "a", 1}) == describe_parameters({1, "a", "b"}) != describe_parameters({"b", 1})


def in_itself(*before):
    parts = [*before]
    parts.append(parts)
    return parts


def test_what_is_in_itself_is_compared_and_saved(tmp_path):
    assert not differences(describe_parameters(in_itself(1)), describe_parameters(in_itself(1)))
    assert differences(describe_parameters(in_itself(1)), describe_parameters(in_itself(2)))
    assert differences(describe_parameters([[1, in_itself(1)]]), describe_parameters([in_itself(1)]))
    for _ in range(2):
        model, _ = Checkpoint(tmp_path).resume({"parts": in_itself(1)})
        assert model["parts"][1] is model["parts"]


@pytest.mark.parametrize("fresh", [None, "x", {}, [Hedge()], Hedge, {1, 2}])
def test_what_cannot_learn_is_no_run(tmp_path, fresh):
    with pytest.raises(ValueError, match="is no model: it must be one that learns"):
        Checkpoint(tmp_path / "run").resume(fresh)
    assert not (tmp_path / "run").exists()


def test_another_model_than_the_one_that_was_resumed_is_told_of_at_once(tmp_path):
    checkpoint = Checkpoint(tmp_path, every=100)
    checkpoint.resume(Hedge())
    with pytest.raises(ValueError, match=r"a LongTermMemory is not what resume\(\) returned"):
        checkpoint.step(LongTermMemory(), n_rows=10)
    assert checkpoint.n_rows == 0


def test_a_loop_that_did_not_ask_where_to_begin_is_told_so(tmp_path):
    with pytest.raises(RuntimeError, match="resume"):
        Checkpoint(tmp_path).step(Hedge())


@pytest.mark.parametrize("n_rows", [-1, float("nan"), 1.5, True, "1", None])
def test_rows_that_cannot_be_counted_are_not(tmp_path, n_rows):
    checkpoint = Checkpoint(tmp_path, every=1)
    model, _ = checkpoint.resume(Hedge())
    with pytest.raises(ValueError, match=f"n_rows={n_rows!r}"):
        checkpoint.step(model, n_rows)
    assert checkpoint.n_rows == 0


# Damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harm", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"\0" + data[1:]])
def test_a_damaged_file_is_put_aside_and_the_one_before_it_used(harm, tmp_path):
    expected = hedge_run(Checkpoint(tmp_path / "whole", every=20)).weights(3)
    folder = tmp_path / "run"
    hedge_run(Checkpoint(folder, every=20), stop=90)
    newest = folder / "checkpoint-000000000080.ltm"
    newest.write_bytes(harm(newest.read_bytes()))
    checkpoint = Checkpoint(folder, every=20)
    with pytest.warns(CheckpointWarning, match=r"000080.ltm is damaged, and checkpoint-000000000060.ltm is used"):
        _, n_done = checkpoint.resume(Hedge())
    assert n_done == 60
    assert names(folder) == ["checkpoint-000000000060.ltm", "checkpoint-000000000080.ltm.damaged"]
    assert hedge_run(Checkpoint(folder, every=20)).weights(3).tolist() == expected.tolist()


def test_where_all_files_are_damaged_nothing_is_begun_afresh(tmp_path):
    hedge_run(Checkpoint(tmp_path, every=50))
    for path in tmp_path.iterdir():
        path.write_bytes(b"no")
    with pytest.raises(ValueError, match="none of the 2 checkpoints"):
        Checkpoint(tmp_path).resume(Hedge())
    assert saved_at(tmp_path) == [50, 100]


def test_files_that_a_killed_run_left_half_written_are_deleted_after_an_hour(tmp_path):
    Checkpoint(tmp_path).resume(Hedge())
    (tmp_path / "notes.txt").write_text("mine")
    old, young = (Path(temporary_name(tmp_path / "checkpoint-000000000150.ltm")) for _ in range(2))
    for path, age in ((old, 3700), (young, 0)):
        path.write_bytes(b"half")
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    Checkpoint(tmp_path).resume(Hedge())
    assert names(tmp_path) == [young.name, "checkpoint-000000000000.ltm", "notes.txt"]


def test_a_second_start_in_the_folder_does_not_break_off_the_first(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    checkpoint = Checkpoint(folder, every=1)
    algorithm, _ = checkpoint.resume(Hedge())
    fsync, begun = os.fsync, []

    def sync(file):
        if not begun:  # in the midst of the first one's file
            begun.append(Checkpoint(folder / ".." / "run"))  # the same by another name
            begun[0].resume(Hedge())
        fsync(file)

    monkeypatch.setattr(os, "fsync", sync)
    assert checkpoint.step(algorithm)
    assert begun
    assert saved_at(folder) == [0, 1]


def test_models_that_are_pickled_need_trust_at_the_start(tmp_path):
    model = naive_bayes.GaussianNB()
    with pytest.raises(ValueError, match=r"only be pickled, which trusted=True allows: .*naive_bayes.*GaussianNB"):
        Checkpoint(tmp_path, on_error="warn").resume(model)
    assert names(tmp_path) == []
    assert Checkpoint(tmp_path, trusted=True).resume(model) == (model, 0)


def test_a_file_with_pickles_is_refused_and_named(tmp_path):
    path = tmp_path / "checkpoint-000000000003.ltm"
    save({"model": Extent()}, path)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} cannot be loaded.*trusted="):
        Checkpoint(tmp_path).resume(Hedge())


@pytest.mark.parametrize("other", [Hedge(), {"model": Hedge()}, {"n_rows": 1, "extra": {}, "setting": {}}])
def test_a_file_that_was_saved_otherwise_is_no_checkpoint(other, tmp_path):
    path = tmp_path / "checkpoint-000000000100.ltm"
    save(other, path)
    told = f"{re.escape(str(path))} is no checkpoint: it holds a {type(other).__name__} .*a folder of its own"
    with pytest.raises(ValueError, match=told):
        Checkpoint(tmp_path).resume(Hedge())
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize("on_error", ["raise", "warn"])
def test_what_could_not_be_resumed_is_not_saved(on_error, tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", on_error=on_error)
    algorithm, _ = checkpoint.resume(Hedge())
    with pytest.raises(ValueError, match="a GaussianNB is not what resume"):
        checkpoint.save(GaussianNB())
    checkpoint.extra = None
    with pytest.raises(ValueError, match="extra=None must be a dictionary"):
        checkpoint.save(algorithm)
    assert saved_at(tmp_path / "run") == [0]
    Checkpoint(tmp_path / "run").resume(Hedge())


@pytest.mark.parametrize("on_error", ["raise", "warn"])
def test_extra_is_looked_at_each_time(on_error, tmp_path):
    checkpoint = Checkpoint(tmp_path, every=10, on_error=on_error)
    hedge_run(checkpoint, stop=50)
    algorithm, _ = checkpoint.resume(Hedge())
    checkpoint.extra["mine"] = Extent()
    told = "only be pickled, .*Extent"
    if on_error == "raise":
        with pytest.raises(ValueError, match=told):
            checkpoint.step(algorithm, 10)
    else:
        with pytest.warns(CheckpointWarning, match=told):
            assert not checkpoint.step(algorithm, 10)
    assert saved_at(tmp_path) == [40, 50]
    assert Checkpoint(tmp_path).resume(Hedge())[1] == 50


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")
def test_a_new_folder_is_on_the_disk_before_its_files(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(_checkpoint, "sync_folder", synced.append)
    for _ in range(2):
        Checkpoint(tmp_path / "run").resume(Hedge())
    assert synced == [tmp_path]


def test_what_cannot_be_saved_is_found_out_at_the_start(tmp_path):
    model = GaussianNB()
    with (
        open(os.devnull) as model.open_,
        pytest.raises(ValueError, match=r"GaussianNB.* cannot be saved: TypeError: .*TextIOWrapper"),
    ):
        Checkpoint(tmp_path, on_error="warn", trusted=True).resume(model)
    assert names(tmp_path) == []


# Disks and folders; tests/slow/disks.py has real ones -------------------------------------------------------------


def full(monkeypatch):
    """No room on the disk from now on."""

    def fail(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ltm_sklearn.persistence._writing.os.fsync", fail)


def test_a_full_disk_stops_the_run_and_leaves_the_old_file(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path, every=10)
    hedge_run(checkpoint, stop=35)
    full(monkeypatch)
    with pytest.raises(OSError, match=r"at row 40: No space left on device; .*000000000030.ltm is intact") as caught:
        hedge_run(checkpoint)  # which goes on from row 30
    assert caught.value.errno == errno.ENOSPC
    assert saved_at(tmp_path) == [20, 30]


@pytest.mark.parametrize("on_error", ["raise", "warn"])
def test_a_disk_that_is_full_at_the_start_is_an_error_that_names_the_folder(on_error, tmp_path, monkeypatch):
    full(monkeypatch)
    told = f"to {re.escape(str(tmp_path))} at row 0: No space left on device; there is no earlier one"
    with pytest.raises(OSError, match=told) as caught:
        Checkpoint(tmp_path, on_error=on_error).resume(Hedge())
    assert caught.value.errno == errno.ENOSPC


def test_a_folder_that_may_not_be_listed_is_saved_to(tmp_path, monkeypatch):
    def fail(path, *_):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail)
        patch.setattr(os, "listdir", fail)
        save(Hedge(), tmp_path / "model.ltm")
    assert names(tmp_path) == ["model.ltm"]


def test_the_folder_stays_where_it_is(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    checkpoint = Checkpoint("run", every=10)
    algorithm, _ = checkpoint.resume(Hedge())
    monkeypatch.chdir("elsewhere")
    assert checkpoint.step(algorithm, 10)
    assert saved_at(tmp_path / "run") == [0, 10]


def test_a_full_disk_is_a_warning_if_asked_for_and_tried_again(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path, every=10, on_error="warn")
    model, _ = checkpoint.resume(Hedge())
    written = []
    for row, losses in enumerate(LOSSES[:40], 1):
        model.update(losses)
        if row == 20:
            with monkeypatch.context() as patch:
                full(patch)
                with pytest.warns(CheckpointWarning, match=r"at row 20: No space left .* The run goes on"):
                    assert not checkpoint.step(model)
            assert saved_at(tmp_path) == [0, 10]
        elif checkpoint.step(model):
            written.append(row)
    assert written == [10, 30, 40]
    assert saved_at(tmp_path) == [30, 40]


def test_a_missing_parent_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent to make run in"):
        Checkpoint(tmp_path / "absent" / "run").resume(Hedge())


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(NotADirectoryError, match="run is a file"):
        Checkpoint(tmp_path / "run").resume(Hedge())


@pytest.mark.parametrize("on_error", ["raise", "warn"])
def test_a_folder_that_cannot_be_written_to_is_noticed_at_the_start(on_error, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="cannot be written to: Read-only file system") as caught:
        Checkpoint(tmp_path, on_error=on_error).resume(Hedge())
    assert caught.value.errno == errno.EROFS


def test_a_folder_that_goes_away_in_mid_run(tmp_path):
    folder = tmp_path / "run"
    checkpoint = Checkpoint(folder, every=10, on_error="warn")
    model, _ = checkpoint.resume(Hedge())
    shutil.rmtree(folder)
    with pytest.warns(CheckpointWarning, match="no folder .*run any more; there is no earlier one"):
        assert not checkpoint.step(model, 10)
    checkpoint.on_error = "raise"
    with pytest.raises(FileNotFoundError, match="no folder"):
        checkpoint.step(model, 10)
    folder.mkdir()
    assert checkpoint.step(model, 10)
    assert saved_at(folder) == [30]


def test_old_files_that_cannot_be_deleted_are_no_reason_to_stop(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    checkpoint = Checkpoint(tmp_path, every=10, keep=1)
    model, _ = checkpoint.resume(Hedge())
    monkeypatch.setattr(Path, "unlink", fail)
    with pytest.warns(CheckpointWarning, match="could not be deleted: Operation not permitted"):
        assert checkpoint.step(model, 10)
    assert saved_at(tmp_path) == [0, 10]


# Prequential runs -------------------------------------------------------------------------------------------------

STREAM = stagger(order="random", length=60, n_segments=5, noise=0.1, seed=0)
SETTING = {"batch_size": 10, "delay": 15, "window": 20, "classes": [False, True]}


def pool():
    experts = [("bayes", GaussianNB(var_smoothing=1e-3)), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
    return {
        "ours": LongTermMemoryClassifier(experts, memory=Snapshots(every=50), random_state=0, record=20),
        "few": LongTermMemoryClassifier(experts, feedback="bandit", random_state=0),
        "bayes": GaussianNB(var_smoothing=1e-3),
        "River": river.LongTermMemoryClassifier([naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()]),
        "tree": tree.HoeffdingTreeClassifier(grace_period=20),
    }


def rows_until(stop):
    """The stream up to a row, where the process ends."""
    for row, pair in enumerate(STREAM):
        if row == stop:
            raise Killed
        yield pair


def found(result):
    """All but the seconds."""
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
    assert found(result) == found(expected)
    assert saved_at(tmp_path / "run") == [280, 300]
    probe = LOSSES[:5]
    for name in ("ours", "bayes"):  # the models that were given have learned all of it
        assert models[name].predict_proba(probe).tolist() == their_models[name].predict_proba(probe).tolist()
    assert models["ours"].n_rounds_ == their_models["ours"].n_rounds_
    models["ours"].partial_fit(probe, [False, True, True, False, True])
    assert models["ours"].n_rounds_ == their_models["ours"].n_rounds_ + 1


def test_a_finished_run_gives_its_result_again_without_a_prediction(tmp_path, uninterrupted, monkeypatch):
    first = prequential(pool(), rows_until(None), **SETTING, checkpoint=Checkpoint(tmp_path, every=150, trusted=True))
    monkeypatch.setattr(PrequentialRun, "step", None)
    again = prequential(pool(), rows_until(None), **SETTING, checkpoint=Checkpoint(tmp_path, every=150, trusted=True))
    assert found(again) == found(first) == found(uninterrupted[0])
    assert again.scores == first.scores  # the seconds, too


@pytest.fixture(scope="module")
def halfway(tmp_path_factory):
    """The folder of a run of one model that was stopped."""
    folder = tmp_path_factory.mktemp("halfway")
    with pytest.raises(Killed):
        small_run(folder, rows_until(105))
    return folder


def small_run(folder, stream, model=None, **changed):
    models = {"bayes": GaussianNB(var_smoothing=1e-3) if model is None else model}
    return prequential(models, stream, **SETTING | changed, checkpoint=Checkpoint(folder, every=50))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"batch_size": 20}, "batch_size is 20 and was 10"),
        ({"delay": 0}, "delay is 0 and was 15"),
        ({"window": 30}, "window is 30 and was 20"),
        ({"classes": [False, True, 2]}, "classes is builtins.list of 3 and was builtins.list of 2"),
        ({"model": GaussianNB()}, r"model 'bayes'.var_smoothing is 1e-09 and was 0.001"),
        ({"model": SGDClassifier()}, "model 'bayes' is sklearn.*SGDClassifier and was sklearn.*GaussianNB"),
    ],
)
def test_a_run_with_other_arguments_is_an_error_that_names_them(changed, told, halfway):
    with pytest.raises(ValueError, match=f"is not of this run: {told}"):
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
    assert found(result) == found(small_run(tmp_path / "whole", with_concepts(before)))


def test_concepts_in_force_are_compared_beside_those_of_the_rows():
    batch = Batch(LOSSES[:2], LOSSES[:2, 0], np.array([0, 1]))
    sums = [concepts_checksum(batch, in_force, 0) for in_force in (batch.concept, np.array([0, 0]), np.array([1, 1]))]
    assert len({*sums, 0}) == 4
    assert concepts_checksum(batch._replace(concept=None), None, 7) == 7


def test_a_folder_in_place_of_a_checkpoint_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="checkpoint='run' must be a Checkpoint"):
        prequential({"bayes": GaussianNB()}, rows_until(None), **SETTING, checkpoint="run")


def test_a_stream_that_has_grown_is_gone_on_with(tmp_path):
    small_run(tmp_path / "grows", rows_until(None), n_samples=150)
    result = small_run(tmp_path / "grows", rows_until(None))
    assert result.n_rows == 300
    assert found(result) == found(small_run(tmp_path / "whole", rows_until(None)))


def test_a_stream_that_goes_on_within_a_batch_is_an_error(tmp_path):
    small_run(tmp_path, rows_until(None), n_samples=95)
    with pytest.raises(ValueError, match="at row 95, where a stream had ended"):
        small_run(tmp_path, rows_until(None))


def test_a_model_that_could_not_be_put_back_is_an_error_at_the_start(tmp_path):
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


# The command line -------------------------------------------------------------------------------------------------


def command(*arguments):
    from ltm_sklearn.__main__ import main

    return main([str(argument) for argument in arguments])


def stopped_at(monkeypatch, n_rows):
    """Ctrl-C when so many rows are done."""
    step = Checkpoint.step

    def stop(self, model, n_more=1):
        saved = step(self, model, n_more)
        if self.n_rows >= n_rows:
            raise KeyboardInterrupt
        return saved

    monkeypatch.setattr(Checkpoint, "step", stop)


def report(folder):
    """What must be the same, whenever and by which command it was made."""
    return {path.name: path.read_bytes() for path in folder.glob("*.csv") if path.name != "scores.csv"}


@pytest.fixture
def files(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    y = LOSSES.sum(axis=1)
    pandas.DataFrame(LOSSES, columns=list("abc")).assign(y=y).to_csv(tmp_path / "forecasts.csv", index=False)
    pandas.DataFrame(LOSSES, columns=list("abc")).assign(y=y > 1.5).to_csv(tmp_path / "stream.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("what", "file", "options", "row"),
    [
        ("evaluate", "stream.csv", ["--rows", "60", "--batch", "20"], 40),
        ("mixture", "forecasts.csv", [], 42),
    ],  # by whole steps
)
def test_a_command_that_was_stopped_goes_on(what, file, options, row, files, monkeypatch, capsys):
    monkeypatch.setattr(f"ltm_sklearn.cli.{what}.draw_pictures", lambda _: [])  # which take most of the time
    arguments = [what, files / file, "--target", "y", *options]
    checkpoint = ["--checkpoint", files / "run", "--every", "20"]
    assert command(*arguments, "--out", files / "plain") == 0
    with monkeypatch.context() as patch:
        stopped_at(patch, row)
        assert command(*arguments, "--out", files / "report", *checkpoint) == 130
    assert "the same command resumes the run from" in capsys.readouterr().err
    assert not (files / "report").exists()
    assert command(*arguments, "--out", files / "report", *checkpoint) == 0
    assert f"resumed at row {row}\n" in capsys.readouterr().err
    assert report(files / "report") == report(files / "plain")
    assert len(report(files / "plain")) >= 3


def test_a_command_names_what_is_wrong_with_its_checkpoint(files, monkeypatch, capsys):
    monkeypatch.setattr("ltm_sklearn.cli.mixture.draw_pictures", lambda _: [])
    arguments = ["mixture", files / "forecasts.csv", "--target", "y", "--out", files / "report"]
    assert command(*arguments, "--every", "10") == 2
    assert "--checkpoint" in capsys.readouterr().err
    assert command(*arguments, "--checkpoint", files / "run", "--every", "0") == 2
    assert "--every 0" in capsys.readouterr().err
    assert command(*arguments, "--checkpoint", files / "report") == 2
    assert "a folder of their own" in capsys.readouterr().err
    (files / "report").mkdir()
    assert command(*arguments, "--checkpoint", files / "report" / "run") == 2  # or the next report would be refused
    assert "a folder of their own outside it" in capsys.readouterr().err
    assert not any((files / "report").iterdir())
    assert command(*arguments, "--checkpoint", files / "absent" / "run") == 1
    assert "there is no folder" in capsys.readouterr().err
    assert command(*arguments, "--checkpoint", files / "run") == 0
    changed = (files / "forecasts.csv").read_text().replace("0.6", "0.7", 1)
    (files / "forecasts.csv").write_text(changed)
    assert command(*arguments, "--checkpoint", files / "run") == 1
    assert "the file's checksum" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["place", "day"])
def test_a_command_notices_other_series_and_times(column, files, monkeypatch, capsys):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("ltm_sklearn.cli.mixture.draw_pictures", lambda _: [])
    frame = pandas.read_csv(files / "forecasts.csv")
    days = pandas.date_range("2020", periods=N_ROWS).astype(str)
    frame.assign(place="here", day=days).to_csv(files / "forecasts.csv", index=False)
    arguments = ["mixture", files / "forecasts.csv", "--target", "y", "--series", "place", "--time", "day"]
    arguments += ["--checkpoint", files / "run"]
    assert command(*arguments, "--out", files / "report") == 0
    changed = {"place": ["here"] * 60 + ["there"] * 60, "day": pandas.date_range("2021", periods=N_ROWS).astype(str)}
    frame.assign(**{"place": "here", "day": days, column: changed[column]}).to_csv(files / "forecasts.csv", index=False)
    assert command(*arguments, "--out", files / "other") == 1
    assert "the file's checksum" in capsys.readouterr().err


def test_a_command_notices_other_features(files, monkeypatch, capsys):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("ltm_sklearn.cli.evaluate.draw_pictures", lambda _: [])
    arguments = ["evaluate", files / "stream.csv", "--target", "y", "--rows", "40", "--batch", "20"]
    arguments += ["--checkpoint", files / "run"]
    assert command(*arguments, "--out", files / "report") == 0
    frame = pandas.read_csv(files / "stream.csv")
    frame.assign(a=1.0 - frame["a"]).to_csv(files / "stream.csv", index=False)
    assert command(*arguments, "--out", files / "other") == 1
    assert "the checksum of the file's features" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--concept", "--time"])
@pytest.mark.parametrize("what", ["changed", "dropped", "added"])
def test_a_command_notices_other_concepts_and_times_that_are_no_features(what, option, files, monkeypatch, capsys):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("ltm_sklearn.cli.evaluate.draw_pictures", lambda _: [])
    frame = pandas.read_csv(files / "stream.csv")
    frame.assign(c=np.arange(N_ROWS) // 30).to_csv(files / "stream.csv", index=False)

    def go(*how):
        arguments = ["evaluate", files / "stream.csv", "--target", "y", "--rows", "60", "--batch", "20"]
        return command(*arguments, *how, "--out", files / "report", "--checkpoint", files / "run", "--every", "20")

    first, then = [(option, "c"), ("--drop", "c")][:: -1 if what == "added" else 1]
    with monkeypatch.context() as patch:
        stopped_at(patch, 40)
        assert go(*first) == 130
    if what == "changed":
        frame.assign(c=np.arange(N_ROWS) // 15).to_csv(files / "stream.csv", index=False)
        then = first
    assert go(*then) == 1
    assert f"is not of this run: the checksum of the {option} column is" in capsys.readouterr().err
    if what != "changed":  # nothing was spoiled
        assert go(*first) == 0


# Kills ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
def test_killed_runs_resume_to_the_same_numbers(tmp_path):
    """A few of the kills of tests/slow/kills.py."""
    script = Path(__file__).parent / "slow" / "kills.py"
    command = [sys.executable, "-P", script, "--kills", "4", "--segments", "2"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"in all: (.*, )?4 kills", run.stdout)  # a run may come to its end before the first
