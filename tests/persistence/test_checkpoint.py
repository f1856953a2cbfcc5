"""Checkpoints: a resumed run gives the same numbers, and damaged files and full disks do not end it silently."""

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
from support.checkpoint_folders import names, saved_at
from support.named_models import named

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, Snapshots, river
from ltm_sklearn.bandits import LongTermMemoryBandit
from ltm_sklearn.experts import Hedge, LongTermMemory
from ltm_sklearn.persistence import Checkpoint, CheckpointWarning, _checkpoint, describe_parameters, save
from ltm_sklearn.persistence._parameters import differences
from ltm_sklearn.persistence._writing import temporary_name

N_ROWS = 120
LOSSES = np.random.default_rng(0).random((N_ROWS, 3))

each_on_error = pytest.mark.parametrize("on_error", ["raise", "warn"])


class Unknown:
    """Class of no library that persistence knows."""


def hedge_run(checkpoint, stop=N_ROWS):
    """Run an algorithm to the end or up to a row."""
    algorithm, start = checkpoint.resume(Hedge())
    for losses in LOSSES[start:stop]:
        algorithm.update(losses)
        checkpoint.step(algorithm)
    return algorithm


# Loops ----------------------------------------------------------------------------------------------------------------


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


def classifier():
    experts = [("bayes", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
    return LongTermMemoryClassifier(experts, memory=Snapshots(every=30), random_state=0)


LOOPS = {
    "algorithm": (LongTermMemory, learn_algorithm),
    "bandit": (lambda: LongTermMemoryBandit(random_state=0), learn_bandit),
    "mixture": (ExpertMixture, learn_mixture),
    "ensemble": (classifier, learn_ensemble),
    "scikit-learn's": (GaussianNB, learn_ensemble),
    "River's ensemble": (
        lambda: river.LongTermMemoryClassifier(named([naive_bayes.GaussianNB(), linear_model.LogisticRegression()])),
        learn_river,
    ),
    "River's": (lambda: tree.HoeffdingTreeClassifier(grace_period=20), learn_river),
}


@pytest.mark.parametrize("what", LOOPS)
@pytest.mark.fast_cases(3)
def test_a_resumed_loop_gives_the_same_numbers(what, tmp_path):
    make, learn = LOOPS[what]

    def run(stop):
        checkpoint = Checkpoint(tmp_path / "run", every=20, trusted=True)
        model, n_done = checkpoint.resume(make())
        outputs = checkpoint.extra.setdefault("outputs", [])
        for start in range(n_done, stop, 10):
            outputs.append(repr(learn(model, start, start + 10)))
            checkpoint.step(model, 10)
        return n_done, outputs

    model = make()
    expected = [repr(learn(model, start, start + 10)) for start in range(0, N_ROWS, 10)]
    assert run(50)[0] == 0
    assert run(90)[0] == 40
    assert run(N_ROWS) == (80, expected)


def test_files_are_named_by_rows_and_the_oldest_are_deleted(tmp_path):
    hedge_run(Checkpoint(tmp_path, every=25, keep=3))
    assert names(tmp_path) == [f"checkpoint-{n_rows:012d}.ltm" for n_rows in (50, 75, 100)]


def test_the_default_interval_is_a_minute_or_50_durations(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(_checkpoint.time, "monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path)
    model, _ = checkpoint.resume(Hedge())

    def due_after(seconds, taken):
        """Return the seconds until a file is written, which then takes ``taken``."""
        monkeypatch.setattr(_checkpoint, "write_atomically", lambda *_: now.__setitem__(0, now[0] + taken))
        for waited in range(1, seconds + 1):
            now[0] += 1.0
            if checkpoint.step(model):
                return waited
        return None

    assert due_after(100, taken=0.5) == 60
    assert due_after(100, taken=5.0) == 60
    assert due_after(300, taken=0.0) == 245  # 250 from the start of the one that took 5


def test_the_interval_may_be_a_time(tmp_path, monkeypatch):
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


def test_several_models_and_extra_values_are_saved_together(tmp_path):
    checkpoint = Checkpoint(tmp_path)
    models, _ = checkpoint.resume({"a": Hedge(), "b": LongTermMemory()})
    models["b"].update([0.0, 1.0])
    checkpoint.extra.update(total=0.25, days=["monday"])
    checkpoint.step(models, 7)
    checkpoint.save(models)
    again = Checkpoint(tmp_path)
    resumed, n_rows = again.resume({"a": Hedge(), "b": LongTermMemory()})
    assert n_rows == again.n_rows == 7
    assert again.extra == {"total": 0.25, "days": ["monday"]}
    assert resumed["b"].weights(2).tolist() == models["b"].weights(2).tolist()


# Wrong arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"every": 0}, "every=0"),
        ({"every": True}, "every=True"),
        ({"every": timedelta(0)}, "every="),
        ({"keep": 0}, "keep=0"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
    ],
)
def test_wrong_parameters_are_named(parameters, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        Checkpoint(tmp_path, **parameters)


@pytest.mark.parametrize("n_rows", [-1, float("nan"), 1.5, True, "1", None])
def test_the_number_of_rows_must_be_a_whole_number(tmp_path, n_rows):
    checkpoint = Checkpoint(tmp_path, every=1)
    model, _ = checkpoint.resume(Hedge())
    with pytest.raises(ValueError, match=f"n_rows={n_rows!r}"):
        checkpoint.step(model, n_rows)
    assert checkpoint.n_rows == 0


@pytest.mark.parametrize("fresh", [None, "x", {}, [Hedge()], Hedge, {1, 2}])
def test_objects_that_cannot_learn_are_refused(tmp_path, fresh):
    with pytest.raises(ValueError, match="is no model: it must be one that learns"):
        Checkpoint(tmp_path / "run").resume(fresh)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (LongTermMemory(), "holds a Hedge, and not a LongTermMemory"),
        (Hedge(rate=0.125), r"model.rate is 0.125 and was None"),
    ],
)
def test_files_of_another_model_are_an_error_and_stay(other, message, tmp_path):
    hedge_run(Checkpoint(tmp_path, every=50))
    before = names(tmp_path)
    checkpoint = Checkpoint(tmp_path)
    with pytest.raises(ValueError, match=message):
        checkpoint.resume(other)
    with pytest.raises(RuntimeError, match="resume"):
        checkpoint.save(other)
    assert names(tmp_path) == before


@each_on_error
def test_only_what_resume_returned_is_saved(on_error, tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", on_error=on_error)
    with pytest.raises(RuntimeError, match="resume"):
        checkpoint.step(Hedge())
    algorithm, _ = checkpoint.resume(Hedge())
    for call in (checkpoint.step, checkpoint.save):
        with pytest.raises(ValueError, match=r"a LongTermMemory is not what resume\(\) returned"):
            call(LongTermMemory())
    checkpoint.extra = None
    with pytest.raises(ValueError, match="extra=None must be a dictionary"):
        checkpoint.save(algorithm)
    assert saved_at(tmp_path / "run") == [0]
    assert Checkpoint(tmp_path / "run").resume(Hedge())[1] == 0


# Parameters by which a run is recognized ------------------------------------------------------------------------------


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
def test_changed_parameters_are_noticed(given, changed):
    assert not differences(describe_parameters(copy.deepcopy(given)), describe_parameters(given))
    assert differences(describe_parameters(changed), describe_parameters(given))


def test_sets_are_compared_in_any_order():
    assert describe_parameters({"b", "a", 1}) == describe_parameters({1, "a", "b"}) != describe_parameters({"b", 1})


def test_objects_that_contain_themselves_are_compared_and_saved(tmp_path):
    def in_itself(first):
        parts = [first]
        parts.append(parts)
        return parts

    assert not differences(describe_parameters(in_itself(1)), describe_parameters(in_itself(1)))
    assert differences(describe_parameters(in_itself(1)), describe_parameters(in_itself(2)))
    assert differences(describe_parameters([[1, in_itself(1)]]), describe_parameters([in_itself(1)]))
    for _ in range(2):
        model, _ = Checkpoint(tmp_path).resume({"parts": in_itself(1)})
        assert model["parts"][1] is model["parts"]


# Damaged and foreign files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harm", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"\0" + data[1:]])
def test_a_damaged_file_is_put_aside_and_the_one_before_it_used(harm, tmp_path):
    expected = hedge_run(Checkpoint(tmp_path / "whole", every=20)).weights(3)
    folder = tmp_path / "run"
    hedge_run(Checkpoint(folder, every=20), stop=90)
    newest = folder / "checkpoint-000000000080.ltm"
    newest.write_bytes(harm(newest.read_bytes()))
    with pytest.warns(CheckpointWarning, match=r"000080.ltm is damaged, and checkpoint-000000000060.ltm is used"):
        _, n_done = Checkpoint(folder, every=20).resume(Hedge())
    assert n_done == 60
    assert names(folder) == ["checkpoint-000000000060.ltm", "checkpoint-000000000080.ltm.damaged"]
    assert hedge_run(Checkpoint(folder, every=20)).weights(3).tolist() == expected.tolist()


def test_a_run_does_not_begin_anew_if_all_its_files_are_damaged(tmp_path):
    hedge_run(Checkpoint(tmp_path, every=50))
    for path in tmp_path.iterdir():
        path.write_bytes(b"no")
    with pytest.raises(ValueError, match="none of the 2 checkpoints"):
        Checkpoint(tmp_path).resume(Hedge())
    assert saved_at(tmp_path) == [50, 100]


@pytest.mark.parametrize("other", [Hedge(), {"model": Hedge()}, {"n_rows": 1, "extra": {}, "setting": {}}])
def test_a_file_that_is_no_checkpoint_is_an_error(other, tmp_path):
    path = tmp_path / "checkpoint-000000000100.ltm"
    save(other, path)
    message = f"{re.escape(str(path))} is no checkpoint: it holds a {type(other).__name__} .*a folder of its own"
    with pytest.raises(ValueError, match=message):
        Checkpoint(tmp_path).resume(Hedge())
    assert names(tmp_path) == [path.name]


def test_temporary_files_are_deleted_after_an_hour(tmp_path):
    Checkpoint(tmp_path).resume(Hedge())
    (tmp_path / "notes.txt").write_text("mine")
    old, young = (Path(temporary_name(tmp_path / "checkpoint-000000000150.ltm")) for _ in range(2))
    for path, age in ((old, 3700), (young, 0)):
        path.write_bytes(b"half")
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    Checkpoint(tmp_path).resume(Hedge())
    assert names(tmp_path) == [young.name, "checkpoint-000000000000.ltm", "notes.txt"]


def test_a_second_start_in_the_folder_leaves_temporary_files(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    checkpoint = Checkpoint(folder, every=1)
    algorithm, _ = checkpoint.resume(Hedge())
    fsync, begun = os.fsync, []

    def sync(file):
        if not begun:  # while the first one's file is being written
            begun.append(Checkpoint(folder / ".." / "run"))  # the same folder by another name
            begun[0].resume(Hedge())
        fsync(file)

    monkeypatch.setattr(os, "fsync", sync)
    assert checkpoint.step(algorithm)
    assert begun
    assert saved_at(folder) == [0, 1]


# Trust ----------------------------------------------------------------------------------------------------------------


def test_models_that_are_pickled_need_trust_at_the_start(tmp_path):
    model = naive_bayes.GaussianNB()
    with pytest.raises(ValueError, match=r"only be pickled, which trusted=True allows: .*naive_bayes.*GaussianNB"):
        Checkpoint(tmp_path, on_error="warn").resume(model)
    assert names(tmp_path) == []
    assert Checkpoint(tmp_path, trusted=True).resume(model) == (model, 0)


def test_a_file_with_pickles_is_refused_without_trust(tmp_path):
    path = tmp_path / "checkpoint-000000000003.ltm"
    save({"model": Unknown()}, path)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} cannot be loaded.*trusted="):
        Checkpoint(tmp_path).resume(Hedge())


@each_on_error
def test_extra_values_that_need_trust_are_noticed_each_time(on_error, tmp_path):
    checkpoint = Checkpoint(tmp_path, every=10, on_error=on_error)
    hedge_run(checkpoint, stop=50)
    algorithm, _ = checkpoint.resume(Hedge())
    checkpoint.extra["mine"] = Unknown()
    expectation = pytest.raises(ValueError, match=r"only be pickled, .*Unknown")
    if on_error == "warn":
        expectation = pytest.warns(CheckpointWarning, match=r"only be pickled, .*Unknown")
    with expectation:
        assert not checkpoint.step(algorithm, 10)
    assert saved_at(tmp_path) == [40, 50]
    assert Checkpoint(tmp_path).resume(Hedge())[1] == 50


def test_a_model_that_cannot_be_saved_is_an_error_at_the_start(tmp_path):
    model = GaussianNB()
    with (
        open(os.devnull) as model.open_,
        pytest.raises(ValueError, match=r"GaussianNB.* cannot be saved: TypeError: .*TextIOWrapper"),
    ):
        Checkpoint(tmp_path, on_error="warn", trusted=True).resume(model)
    assert names(tmp_path) == []


# Disks and folders; tests/slow/disks.py has real ones -----------------------------------------------------------------


def fail_with(code):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    return fail


def fill_disk(monkeypatch):
    monkeypatch.setattr("ltm_sklearn.persistence._writing.os.fsync", fail_with(errno.ENOSPC))


def test_a_full_disk_stops_the_run_and_leaves_the_old_file(tmp_path, monkeypatch):
    hedge_run(Checkpoint(tmp_path, every=10), stop=35)
    fill_disk(monkeypatch)
    with pytest.raises(OSError, match=r"at row 40: No space left on device; .*000000000030.ltm is intact") as caught:
        hedge_run(Checkpoint(tmp_path, every=10))  # which goes on from row 30
    assert caught.value.errno == errno.ENOSPC
    assert saved_at(tmp_path) == [20, 30]


def test_a_full_disk_may_be_a_warning_and_is_tried_again(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path, every=10, on_error="warn")
    model, _ = checkpoint.resume(Hedge())
    written = []
    for row, losses in enumerate(LOSSES[:40], 1):
        model.update(losses)
        if row == 20:
            with monkeypatch.context() as patch:
                fill_disk(patch)
                with pytest.warns(CheckpointWarning, match=r"at row 20: No space left .* The run goes on"):
                    assert not checkpoint.step(model)
            assert saved_at(tmp_path) == [0, 10]
        elif checkpoint.step(model):
            written.append(row)
    assert written == [10, 30, 40]
    assert saved_at(tmp_path) == [30, 40]


@each_on_error
def test_a_disk_that_is_full_at_the_start_is_an_error(on_error, tmp_path, monkeypatch):
    fill_disk(monkeypatch)
    message = f"to {re.escape(str(tmp_path))} at row 0: No space left on device; there is no earlier one"
    with pytest.raises(OSError, match=message) as caught:
        Checkpoint(tmp_path, on_error=on_error).resume(Hedge())
    assert caught.value.errno == errno.ENOSPC


@each_on_error
def test_a_read_only_folder_is_an_error_at_the_start(on_error, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "write_bytes", fail_with(errno.EROFS))
    with pytest.raises(OSError, match="cannot be written to: Read-only file system") as caught:
        Checkpoint(tmp_path, on_error=on_error).resume(Hedge())
    assert caught.value.errno == errno.EROFS


def test_a_folder_that_disappears_is_named(tmp_path):
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


def test_a_missing_parent_or_a_file_as_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent to make run in"):
        Checkpoint(tmp_path / "absent" / "run").resume(Hedge())
    (tmp_path / "run").write_text("")
    with pytest.raises(NotADirectoryError, match="run is a file"):
        Checkpoint(tmp_path / "run").resume(Hedge())


def test_old_files_that_cannot_be_deleted_are_a_warning(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path, every=10, keep=1)
    model, _ = checkpoint.resume(Hedge())
    monkeypatch.setattr(Path, "unlink", fail_with(errno.EPERM))
    with pytest.warns(CheckpointWarning, match="could not be deleted: Operation not permitted"):
        assert checkpoint.step(model, 10)
    assert saved_at(tmp_path) == [0, 10]


def test_a_relative_folder_stays_where_it_is(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    checkpoint = Checkpoint("run", every=10)
    algorithm, _ = checkpoint.resume(Hedge())
    monkeypatch.chdir("elsewhere")
    assert checkpoint.step(algorithm, 10)
    assert saved_at(tmp_path / "run") == [0, 10]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such call")
def test_a_new_folder_is_synced_before_its_files(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(_checkpoint, "sync_folder", synced.append)
    for _ in range(2):
        Checkpoint(tmp_path / "run").resume(Hedge())
    assert synced == [tmp_path]


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
def test_killed_runs_resume_to_the_same_numbers(tmp_path):
    """Run a few of the kills of tests/slow/kills.py."""
    script = Path(__file__).parents[1] / "slow" / "kills.py"
    command = [sys.executable, "-P", script, "--kills", "4", "--segments", "2"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"in all: (.*, )?4 kills", run.stdout)  # a run may come to its end before the first
