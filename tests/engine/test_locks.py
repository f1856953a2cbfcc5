"""Threads see the state before or after a round; estimators continue in other processes."""

import copy
import gc
import multiprocessing
import os
import pickle
import sys
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor

import joblib
import numpy as np
import pytest
from support.thread_subjects import (
    CASES,
    N_ROUNDS,
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
from ltm_sklearn.engine import _locks
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.experts import LongTermMemory


@pytest.fixture(autouse=True)
def many_switches():
    """Switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_threads(*functions):
    """Run functions in threads; raise the first error."""
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
@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("case", CASES)
def test_other_threads_see_the_state_of_one_round(case):
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


def test_transform_has_the_columns_of_one_round():
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


def test_threads_that_learn_lose_no_round():
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
def test_errors_and_warnings_release_the_lock(action):
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


def test_locks_are_neither_copied_nor_leaked():
    n_locks = len(_locks._locks)
    for case in ("regressor", "River's regressor", "mixture"):
        make, learn, _ = CASES[case]
        model = make()
        learn(model, 0)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert other.__dict__.keys() == model.__dict__.keys()
            learn(other, 1)
            assert _locks.lock_of(other) is not _locks.lock_of(model)
    del model, other
    gc.collect()
    assert len(_locks._locks) <= n_locks


@pytest.mark.parametrize("case", ["regressor", "River's regressor", "mixture"])
def test_state_read_by_another_thread_is_not_changed_later(case):
    make, learn, _ = CASES[case]
    model, reference = make(), make()
    for each in (model, reference):
        learn(each, 0)
    states = []
    run_threads(lambda: states.append(model.__getstate__()))
    learn(model, 1)
    copied = make()
    copied.__setstate__(states[0]) if hasattr(copied, "__setstate__") else copied.__dict__.update(states[0])
    assert state_of(copied) == state_of(reference)
    learn(reference, 1)
    assert state_of(model) == state_of(reference)


def test_own_pickling_causes_no_copy_on_write():
    model = CASES["regressor"][0]()
    learn_batch(model, 0)
    engine = model._engine
    pickle.dumps(model)
    learn_batch(model, 1)
    assert model._engine is engine
    run_threads(lambda: pickle.dumps(model))
    learn_batch(model, 2)
    assert model._engine is not engine


def test_nested_ensembles_in_threads_do_not_deadlock():
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
def test_models_continue_in_other_processes_with_the_same_numbers(method):
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
