"""Experts in other threads and processes: failures, interrupts and errors that cannot be pickled."""

import pickle
import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor
from support.failing_experts import BAD, Demanding, Fails, RaisesDemanding, Takes

from ltm_sklearn import LongTermMemoryRegressor
from ltm_sklearn.ensemble import ExpertWarning

pytestmark = pytest.mark.fast_cases(1)

ROWS = np.random.default_rng(0).normal(size=(10, 2))
BAD_ROWS = np.where(np.arange(20).reshape(10, 2) == 0, BAD, ROWS)
Y = ROWS[:, 0]


@pytest.mark.parametrize("way", ["dies", "cannot be sent"])
def test_expert_whose_process_fails_sleeps(way):
    model = LongTermMemoryRegressor([("bad", Fails(way)), ("sgd", SGDRegressor(random_state=0))], memory=None, n_jobs=2)
    alone = LongTermMemoryRegressor([("good", Fails("never")), ("sgd", SGDRegressor(random_state=0))], memory=None)
    for _ in range(3):
        model.partial_fit(ROWS, Y)
        alone.partial_fit(ROWS, Y)
    with pytest.warns(ExpertWarning, match="'bad' could not learn and slept"):
        model.partial_fit(BAD_ROWS, Y)
    model.partial_fit(ROWS, Y)
    assert model.n_rounds_ == 5
    sgd = alone.named_estimators_["sgd"].partial_fit(BAD_ROWS, Y).partial_fit(ROWS, Y)
    np.testing.assert_array_equal(model.named_estimators_["sgd"].coef_, sgd.coef_)


@pytest.mark.parametrize("way", ["dies", "cannot be sent"])
@pytest.mark.exhaustive
def test_failed_process_with_on_error_raise_changes_nothing(way):
    experts = [("bad", Fails(way)), ("sgd", SGDRegressor(random_state=0))]
    model = LongTermMemoryRegressor(experts, memory=None, n_jobs=2, on_error="raise").partial_fit(ROWS, Y)
    before = pickle.dumps(model)
    with pytest.raises(Exception, match=r"terminated|pickle") as caught:
        model.partial_fit(BAD_ROWS, Y)
    assert "'bad'" in str(getattr(caught.value, "__notes__", ""))
    assert pickle.dumps(model) == before


@pytest.fixture
def interrupted(monkeypatch):
    """Run a call and interrupt it after 0.3 seconds, as Ctrl-C does."""

    def interrupt(*_):
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread")
    before = signal.signal(signal.SIGALRM, interrupt)

    def run(function, *arguments):
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with pytest.raises(KeyboardInterrupt):
                function(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    yield run
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such signals here")
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_interrupt_of_parallel_training_undoes_the_round(backend, interrupted):
    model = LongTermMemoryRegressor([("a", Takes()), ("b", Takes(1.0))], memory=None, n_jobs=2)
    with joblib.parallel_config(backend=backend), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of joblib's about what it leaves behind
        for _ in range(3):
            model.partial_fit(ROWS, Y)
        before = pickle.dumps(model)
        interrupted(model.partial_fit, BAD_ROWS, 1.0 - 3.0 * Y)
        time.sleep(1.2)  # in which threads that go on would have learned
        assert pickle.dumps(model) == before
        model.partial_fit(ROWS, Y)
    assert model.n_rounds_ == 4
    assert [each.n_ for each in model.estimators_] == [4, 4]


@pytest.mark.parametrize(("parameters", "kind"), [({}, Demanding), ({"n_jobs": 2}, RuntimeError)])
def test_raised_errors_are_replaced_if_they_cannot_be_pickled(parameters, kind):
    experts = [("bad", RaisesDemanding()), ("sgd", SGDRegressor(random_state=0))]
    model = LongTermMemoryRegressor(experts, memory=None, on_error="raise", **parameters).partial_fit(ROWS, Y)
    with pytest.raises(kind, match="no") as caught:
        model.partial_fit(BAD_ROWS, Y)
    assert caught.value.__notes__ == ["raised when expert 'bad' was to learn"]


class CannotBeCopied(Fails):
    def __deepcopy__(self, memo):
        raise TypeError("not me")


def test_learner_that_cannot_be_copied_is_named():
    experts = [("single", CannotBeCopied("never")), ("sgd", SGDRegressor(random_state=0))]
    model = LongTermMemoryRegressor(experts, memory=None, on_error="raise")
    with pytest.raises(RuntimeError, match=r"cannot be copied, as .*on_error='raise'.*: not me") as caught:
        model.partial_fit(ROWS, Y)
    assert "'single'" in caught.value.__notes__[0]
