"""Threads that predict while one learns see whole rounds; what is forked or spawned goes on as its parent would."""

import copy
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDRegressor
from thread_subjects import (
    CASES,
    N_ROUNDS,
    PAUSE,
    ROWS,
    CountsNumber,
    go_on,
    learn_batch,
    learn_losses,
    learn_row,
    learn_table,
    look_at,
    of_sklearn,
    state_of,
)

from ltm_sklearn import LongTermMemoryRegressor
from ltm_sklearn.engine import _locks as turns
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.experts import LongTermMemory


@pytest.fixture(autouse=True)
def many_switches():
    """Threads give way as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_threads(*functions):
    """Side by side; the first error that one raises is raised."""
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.filterwarnings("ignore:The loss")
@pytest.mark.parametrize("case", CASES)
def test_what_other_threads_see_is_of_one_round(case):
    make, learn, looks = CASES[case]
    looks = {name: look for name, look in looks.items() if not (case == "mixture, recorded" and name == "pickle")}
    model, reference = make(), make()
    known = {name: set() for name in looks}
    for at in range(N_ROUNDS):
        learn(reference, at)
        for name, look in looks.items():
            known[name].add(look(reference))
    assert len(known["weights"]) > 5
    learn(model, 0)
    done, found = threading.Event(), {name: [] for name in looks}

    def learner():
        try:
            for at in range(1, N_ROUNDS):
                learn(model, at)
        finally:
            done.set()

    def callback(names):
        while not done.is_set():
            for name in names:
                found[name].append(looks[name](model))

    names = list(looks)
    run_threads(learner, *(lambda part=part: callback(names[part::3]) for part in range(3)))
    for name in looks:
        assert found[name], f"nobody looked at {name}"
        strange = [each for each in found[name] if each not in known[name]]
        assert not strange, f"{name}: {len(strange)} of {len(found[name])} are of no round, as {strange[0]}"
    assert state_of(model) == state_of(reference) if case != "mixture, recorded" else True


def test_frames_have_the_columns_of_one_round():
    model = of_sklearn(LongTermMemoryRegressor, CountsNumber).set_output(transform="pandas")
    learn_batch(model, 0)
    done = threading.Event()

    def learner():
        for at in range(1, 80):
            learn_batch(model, at)
        done.set()

    def callback():
        while not done.is_set():
            frame = model.transform(ROWS)
            assert frame.shape[1] == len(frame.columns)

    run_threads(learner, callback, callback)
    assert model.n_rounds_ == 80


def test_several_threads_that_learn_lose_no_round():
    models = [CASES[case][0]() for case in ("regressor", "River's classifier", "mixture")]
    for model, learn in zip(models, (learn_batch, learn_row, learn_table), strict=True):
        run_threads(*(lambda model=model, learn=learn: [learn(model, at) for at in range(20)] for _ in range(3)))
    assert [models[0].n_rounds_, models[1].n_rounds_, models[2].n_samples_seen_] == [60, 60, 360]


class Fails(CountsNumber):
    def predict(self, X):
        if X[0, 0] == 77.0:
            raise RuntimeError("no")
        return super().predict(X)


@pytest.mark.parametrize("action", ["error", "ignore"])
def test_errors_and_warnings_let_others_go_on(action):
    model = LongTermMemoryRegressor([("fails", Fails()), ("fine", CountsNumber())], memory=None)
    learn_batch(model, 0)
    with warnings.catch_warnings():
        warnings.simplefilter(action, ExpertWarning)
        for wrong in (lambda: model.partial_fit(ROWS, [1.0]), lambda: model.predict(np.full((2, 2), 77.0))):
            try:
                wrong()
            except (ValueError, ExpertWarning):
                pass
            else:
                assert action == "ignore"
    run_threads(lambda: model.predict(ROWS), lambda: learn_batch(model, 1))
    assert model.n_rounds_ == 2


def test_the_lock_is_no_part_of_what_is_kept():
    n_locks = len(turns._locks)
    for case in ("regressor", "River's regressor", "mixture"):
        make, learn, _ = CASES[case]
        model = make()
        learn(model, 0)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert other.__dict__.keys() == model.__dict__.keys()
            learn(other, 1)
            assert turns.turn_of(other) is not turns.turn_of(model)
    del model, other
    gc.collect()
    assert len(turns._locks) <= n_locks


def test_experts_side_by_side_in_threads_and_nested_ensembles_do_not_wait_for_one_another():
    def inner():
        return LongTermMemoryRegressor([("one", CountsNumber()), ("two", CountsNumber(1.0))], memory=None)

    model = LongTermMemoryRegressor([("left", inner()), ("right", inner())], memory=None, n_jobs=2)
    with joblib.parallel_config(backend="threading"):
        run_threads(
            lambda: [learn_batch(model, at) for at in range(4)],
            lambda: [pickle.dumps(model) for _ in range(4)],
        )
    assert model.n_rounds_ == 4


# Processes --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_goes_to_another_process_goes_on_there_as_here(method):
    subjects = [
        (CASES[case][0](), CASES[case][1]) for case in ("regressor", "classifier", "River's classifier", "mixture")
    ]
    subjects.append((LongTermMemory(), learn_losses))
    for model, learn in subjects:
        for at in range(10):
            learn(model, at)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        tasks = [pool.submit(go_on, model, learn, look_at, 10, 15) for model, learn in subjects]
        there = [task.result(60) for task in tasks]
    assert there == [go_on(model, learn, look_at, 10, 15) for model, learn in subjects]


def in_child(function):
    """What a function returns in a forked process, in which a thread of the parent's may have been cut short."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads
        pid = os.fork()
    if pid == 0:
        try:
            said = repr(function())
        except BaseException as error:
            said = repr(error)
        os.write(writer, said.encode()[:60000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("case", ["regressor", "River's regressor", "mixture"])
def test_fork_while_a_thread_learns_gives_a_whole_round(case):
    make, learn, _ = CASES[case]
    model, reference, known = make(), make(), set()
    for at in range(N_ROUNDS):
        learn(reference, at)
        known.add(repr(state_of(reference)))
    learn(model, 0)
    done, found = threading.Event(), []

    def learner():
        for at in range(1, N_ROUNDS):
            learn(model, at)
            time.sleep(PAUSE)
        done.set()

    def forker():
        while not done.is_set() and len(found) < 8:
            found.append(in_child(lambda: state_of(model)))

    run_threads(learner, forker)
    assert found
    assert set(found) <= known


class Waits(CountsNumber):
    """Learns until it is told to stop."""

    started, go_on = threading.Event(), threading.Event()

    def partial_fit(self, X, y, classes=None):
        if self.n_learned_:
            self.started.set()
            self.go_on.wait(20.0)
        return super().partial_fit(X, y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_fork_in_the_midst_of_a_long_round_refuses_what_is_half_learned(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE", 0.05)
    model = LongTermMemoryRegressor([("waits", Waits())], memory=None)
    other = LongTermMemoryRegressor([("sgd", SGDRegressor())], memory=None)
    learn_batch(model, 0)
    learn_batch(other, 0)
    said = []

    def forker():
        Waits.started.wait(20.0)
        said.append(in_child(lambda: model.predict(ROWS)))
        said.append(in_child(lambda: other.n_rounds_))
        Waits.go_on.set()

    run_threads(lambda: learn_batch(model, 1), forker)
    assert said[0].startswith("RuntimeError('this process was forked while another thread")
    assert said[1] == "1"
    assert model.n_rounds_ == 2


class HangsOnce(CountsNumber):
    """Waits, when it learns its second batch, until it may go on."""

    go_on = threading.Event()

    def partial_fit(self, X, y, classes=None):
        if self.n_learned_ == 1:
            self.go_on.wait(20.0)
        return super().partial_fit(X, y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_expert_whose_call_hangs_is_awake_in_a_forked_process():
    model = LongTermMemoryRegressor([("hangs", HangsOnce()), ("one", CountsNumber())], memory=None, time_limit=0.05)
    learn_batch(model, 0)
    with pytest.warns(ExpertWarning, match="'hangs' could not learn"):
        learn_batch(model, 1)
    with pytest.warns(ExpertWarning, match="still running"):
        assert np.isnan(model.transform(ROWS)[0]).tolist() == [True, False]
    assert in_child(lambda: np.isnan(model.transform(ROWS)[0]).tolist()) == "[False, False]"  # no thread came along
    HangsOnce.go_on.set()


class HangsWhenAsked(CountsNumber):
    """Waits, when it is asked about rows of nines, until it may go on."""

    go_on = threading.Event()

    def predict(self, X):
        if (X == 9.0).all():
            self.go_on.wait(20.0)
        return super().predict(X)


def test_ensemble_whose_expert_is_an_ensemble_that_hangs_is_copied_without_waiting():
    inner = LongTermMemoryRegressor([("hangs", HangsWhenAsked())], memory=None)
    model = LongTermMemoryRegressor([("inner", inner), ("one", CountsNumber())], memory=None, time_limit=0.05)
    learn_batch(model, 0)
    with pytest.warns(ExpertWarning, match="'inner' could not predict"):
        model.predict(np.full_like(ROWS, 9.0))
    began = time.monotonic()
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.isfinite(copied.transform(ROWS)).all()
    assert time.monotonic() - began < 10.0
    HangsWhenAsked.go_on.set()


def ensemble_of(model, **parameters):
    return LongTermMemoryRegressor([("inner", model), ("one", CountsNumber())], memory=None, **parameters)


def test_locks_go_with_those_of_a_thread_that_waits_for_theirs():
    HangsWhenAsked.go_on.clear()
    innermost = LongTermMemoryRegressor([("hangs", HangsWhenAsked())], memory=None)
    model = ensemble_of(ensemble_of(innermost, time_limit=60.0), time_limit=0.05)
    learn_batch(model, 0)
    with pytest.warns(ExpertWarning, match="'inner' could not predict"):
        model.predict(np.full_like(ROWS, 9.0))
    began = time.monotonic()
    copied = copy.deepcopy(model)
    assert time.monotonic() - began < 10.0
    assert np.isfinite(copied.transform(ROWS)).all()
    HangsWhenAsked.go_on.set()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such alarms here")
def test_locks_of_calls_that_run_at_an_interrupt_are_left_behind():
    HangsWhenAsked.go_on.clear()
    model = ensemble_of(LongTermMemoryRegressor([("hangs", HangsWhenAsked())], memory=None), time_limit=60.0)
    learn_batch(model, 0)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.predict(np.full_like(ROWS, 9.0))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    began = time.monotonic()
    copied = copy.deepcopy(model)
    assert time.monotonic() - began < 10.0
    assert np.isfinite(copied.transform(ROWS)).all()
    HangsWhenAsked.go_on.set()


class Forks(CountsNumber):
    """Forks, in a thread for which the round waits."""

    def partial_fit(self, X, y, classes=None):
        assert in_child(lambda: 1) == "1"
        return super().partial_fit(X, y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_expert_that_forks_does_not_wait_for_its_own_round():
    model = LongTermMemoryRegressor([("one", Forks()), ("two", Forks())], memory=None, n_jobs=2)
    began = time.monotonic()
    with joblib.parallel_config(backend="threading"):
        for at in range(4):
            learn_batch(model, at)
    assert model.loss_.shape == (2,)
    assert np.isfinite(model.loss_).all()  # nobody slept
    assert time.monotonic() - began < 4 * turns.PATIENCE


class WaitsToLearn(CountsNumber):
    """Until it may go on, if it is told to."""

    waits, started, go_on = False, threading.Event(), threading.Event()

    def partial_fit(self, X, y, classes=None):
        if WaitsToLearn.waits:
            self.started.set()
            self.go_on.wait(20.0)
        return super().partial_fit(X, y)


def test_late_call_that_waits_for_a_round_of_another_thread_leaves_that_round_alone():
    inner = LongTermMemoryRegressor([("waits", WaitsToLearn()), ("one", CountsNumber())], memory=None)
    learn_batch(inner, 0)
    outer = LongTermMemoryRegressor(
        [("inner", FrozenEstimator(inner)), ("one", CountsNumber())], memory=None, time_limit=0.05
    )
    learn_batch(outer, 0)
    seen, before = [], inner.n_rounds_
    WaitsToLearn.waits = True
    learner = threading.Thread(target=learn_batch, args=(inner, 1))
    learner.start()
    assert WaitsToLearn.started.wait(20.0)
    with pytest.warns(ExpertWarning, match="'inner' could not predict"):
        outer.predict(ROWS)
    looker = threading.Thread(target=lambda: seen.append((inner.n_rounds_, inner.loss_.shape)))
    looker.start()
    looker.join(0.3)
    assert looker.is_alive()  # it waits for the round to end
    WaitsToLearn.go_on.set()
    for thread in (learner, looker):
        thread.join(20.0)
    assert seen == [(before + 1, (2,))]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_threads_that_fork_side_by_side_give_all_locks_back():
    models = [LongTermMemoryRegressor([("one", CountsNumber())], memory=None) for _ in range(5)]
    for model in models:
        learn_batch(model, 0)
    statuses = []

    def forker():
        for _ in range(30):
            child = os.fork()
            if child == 0:
                os._exit(0)
            statuses.append(os.waitpid(child, 0)[1])

    run_threads(*[forker] * 4)
    assert statuses == [0] * 120
    run_threads(lambda: [model.predict(ROWS) for model in models])  # in another thread, which has no lock yet
