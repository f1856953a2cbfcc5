"""One bad expert does not poison the rest: it sleeps, is reported, and comes back when it recovers."""

import copy
import functools
import logging
import pickle
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from river import base
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn import river as in_river
from ltm_sklearn.engine._limited import Hurried
from ltm_sklearn.engine._snapshots import Snapshots
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.ensemble._skin import SklearnModels

LIMIT = 0.3  #: seconds
ILL = range(20, 40)  #: the rounds in which the bad expert is bad
N_ROUNDS = 60


HEALED = threading.Event()  #: what hangs does so until it is set


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("and says nothing of it")


def raises(n):
    raise RuntimeError("ill")


def raises_mutely(n):
    raise Mute


def raises_at_length(n):
    raise RuntimeError("x" * 10**6)


def hangs(n):
    HEALED.wait(20.0)
    return np.zeros(n)


#: What a bad expert does instead of answering so many rows.
ILLS = {
    "raises": raises,
    "NaN": lambda n: np.full(n, np.nan),
    "infinite": lambda n: np.full(n, np.inf),
    "1e300": lambda n: np.full(n, 1e300),
    "-1e300": lambda n: np.full(n, -1e300),
    "largest": lambda n: np.full(n, sys.float_info.max),
    "hangs": hangs,
    "mute": raises_mutely,
    "at length": raises_at_length,
    "generator": lambda n: (0.0 for _ in range(n)),
    "masked": lambda n: np.ma.masked_all(n),
    "words": lambda n: np.array(["1.0"] * n),
    "complex": lambda n: np.full(n, 1j),
    "nothing": lambda n: None,
}


class Patient(BaseEstimator):
    """Right in each row, but for the rounds in which it is ill; which round it is stands in column 1."""

    def __init__(self, ill=None):
        self.ill = ill

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y, classes=None):
        return self

    def _answer(self, X):
        if self.ill is not None and int(X[0, 1]) in ILL:
            return ILLS[self.ill](len(X))
        return X[:, 0]


class SaysNumber(RegressorMixin, Patient):
    def predict(self, X):
        return self._answer(X)


class SaysChance(ClassifierMixin, Patient):
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        said = self._answer(X)
        if said is None or not isinstance(said, np.ndarray):
            return said
        if np.ma.isMaskedArray(said) or said.dtype.kind != "f" or not np.isfinite(said).all() or abs(said[0]) > 1e9:
            return np.ma.column_stack([said, said]) if np.ma.isMaskedArray(said) else np.column_stack([said, said])
        return np.column_stack([said <= 0.0, said > 0.0]).astype(float)


class Noisy(RegressorMixin, BaseEstimator):
    def partial_fit(self, X, y):
        return self

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0] + X[:, 2]


class NoisyChance(ClassifierMixin, BaseEstimator):
    classes_ = np.array([0, 1])

    def partial_fit(self, X, y, classes=None):
        return self

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        right = X[:, 0] + X[:, 2] > 0.0
        return np.column_stack([~right, right]).astype(float)


def batch(at, n_rows=5):
    rng = np.random.default_rng(at)
    return np.column_stack([rng.normal(size=n_rows), np.full(n_rows, float(at)), rng.normal(size=n_rows)])


def course(make, patient, other, ill, **parameters):
    """What is predicted in each round, and the bad expert's weight after it."""
    model = make([("bad", patient(ill)), ("good", other())], memory=None, random_state=0, **parameters)
    said, weights = [], []
    HEALED.clear()
    for at in range(N_ROUNDS):
        X = batch(at)
        y = X[:, 0] if make is LongTermMemoryRegressor else (X[:, 0] > 0.0).astype(int)
        if at:
            said.append(model.predict(X).tolist())
        model.partial_fit(X, y, **({} if make is LongTermMemoryRegressor else {"classes": [0, 1]}))
        weights.append(model.weights_[0])
        if ill == "hangs" and at == ILL[-1]:
            wait_for(model)
    return said, weights, model


@functools.cache
def asleep_course(course, *makers):
    """Where the bad expert just sleeps: NaN is the way to say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)
        return course(*makers, "NaN")[:2]


def wait_for(model):
    HEALED.set()
    end = time.monotonic() + 10.0
    while any(expert.busy for expert in model._engine.experts) and time.monotonic() < end:
        time.sleep(0.005)


OF_SKLEARN = {
    "regressor": (LongTermMemoryRegressor, SaysNumber, Noisy),
    "classifier": (LongTermMemoryClassifier, SaysChance, NoisyChance),
}


@pytest.mark.parametrize(
    ("ill", "feedback"), [(ill, "full") for ill in ILLS] + [(ill, "bandit") for ill in list(ILLS)[:7]]
)
@pytest.mark.parametrize("kind", OF_SKLEARN)
def test_bad_expert_sleeps_is_reported_and_comes_back(kind, ill, feedback, caplog):
    make, patient, other = OF_SKLEARN[kind]
    parameters = {"time_limit": LIMIT} if ill == "hangs" else {}
    with pytest.warns(ExpertWarning, match="expert 'bad' could not") as caught, caplog.at_level(logging.WARNING):
        said, weights, model = course(make, patient, other, ill, feedback=feedback, **parameters)
    assert any("expert 'bad' could not predict" in record.message for record in caplog.records)
    assert all(len(str(warning.message)) < 1000 for warning in caught)
    assert np.isfinite(np.array(said)).all()
    assert np.isfinite(model.weights_).all()
    if feedback == "bandit":  # who fails is charged; how soon a bandit asks it again is up to the bandit
        return
    asleep, weights_asleep = asleep_course(course, make, patient, other)
    assert said == asleep  # to the last digit
    assert weights == weights_asleep
    assert model.leader_ == "bad"  # as it was right again


# River ------------------------------------------------------------------------------------------------------------


class _RiverPatient(base.Estimator):
    def __init__(self, ill=None):
        self.ill = ill

    def learn_one(self, x, y):
        pass

    def _answer(self, x):
        if self.ill is None:
            return x["a"] + x["c"]
        if int(x["b"]) not in ILL:
            return x["a"]
        said = ILLS[self.ill](1)
        return said[0] if isinstance(said, np.ndarray) else said


class RiverNumber(_RiverPatient, base.Regressor):
    def predict_one(self, x):
        return self._answer(x)


class RiverChance(_RiverPatient, base.Classifier):
    def predict_proba_one(self, x):
        said = self._answer(x)
        is_ill = self.ill is not None and int(x["b"]) in ILL
        return {True: said, False: said} if is_ill else {True: float(said > 0.0), False: float(said <= 0.0)}


IN_RIVER = {
    "regressor": (in_river.LongTermMemoryRegressor, RiverNumber),
    "classifier": (in_river.LongTermMemoryClassifier, RiverChance),
}


def river_course(make, patient, ill, **parameters):
    model = make([patient(ill), patient()], memory=None, seed=0, **parameters)
    said, weights = [], []
    HEALED.clear()
    for at in range(N_ROUNDS):
        x = dict(zip("abc", batch(at, 1)[0].tolist(), strict=True))
        x["b"] = float(at)
        said.append(model.predict_one(x))
        model.learn_one(x, x["a"] if issubclass(patient, base.Regressor) else x["a"] > 0.0)
        weights.append(model.weights_[0])
        if ill == "hangs" and at == ILL[-1]:
            wait_for(model)
    return said, weights, model


@pytest.mark.parametrize(
    ("ill", "feedback"), [(ill, "full") for ill in ILLS] + [(ill, "bandit") for ill in list(ILLS)[:7]]
)
@pytest.mark.parametrize("kind", IN_RIVER)
def test_bad_model_of_river_sleeps_is_reported_and_comes_back(kind, ill, feedback, caplog):
    make, patient = IN_RIVER[kind]
    parameters = {"time_limit": LIMIT} if ill == "hangs" else {}
    with pytest.warns(ExpertWarning, match="could not"), caplog.at_level(logging.WARNING):
        said, weights, model = river_course(make, patient, ill, feedback=feedback, **parameters)
    assert any("could not predict" in record.message for record in caplog.records)
    assert np.isfinite(np.array(said, dtype=float)).all()
    assert np.isfinite(model.weights_).all()
    if feedback == "bandit":
        return
    asleep, weights_asleep = asleep_course(river_course, make, patient)
    np.testing.assert_allclose(np.array(said, float), np.array(asleep, float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights, weights_asleep, rtol=1e-9, atol=1e-12)
    assert model.weights_.argmax() == 0  # as it was right again


# Exits, interrupts, and what is changed behind the ensemble's back ------------------------------------------------


class Quits(SaysNumber):
    """Raises what is told by a row's column 1."""

    def partial_fit(self, X, y):
        self.n_learned_ = getattr(self, "n_learned_", 0) + 1
        if X[0, 1] == -2.0:
            sys.exit(3)
        return self

    def predict(self, X):
        if X[0, 1] == -1.0:
            raise KeyboardInterrupt
        return X[:, 0]


class RiverQuits(RiverNumber):
    def learn_one(self, x, y):
        if x["b"] == -2.0:
            sys.exit(3)

    def predict_one(self, x):
        if x["b"] == -1.0:
            raise KeyboardInterrupt
        return x["a"]


@pytest.mark.parametrize("time_limit", [None, 10.0])
def test_interrupt_while_predicting_passes_and_changes_nothing(time_limit):
    model = LongTermMemoryRegressor([("quits", Quits()), ("good", Noisy())], memory=None, time_limit=time_limit)
    for at in range(5):
        model.partial_fit(batch(at), batch(at)[:, 0])
    before = pickle.dumps(model)
    X = batch(5)
    X[:, 1] = -1.0
    for call in (lambda: model.predict(X), lambda: model.partial_fit(X, X[:, 0])):
        with pytest.raises(KeyboardInterrupt):
            call()
        assert pickle.dumps(model) == before
    assert model.predict(batch(6)).shape == (5,)


@pytest.mark.parametrize("time_limit", [None, 10.0])
@pytest.mark.parametrize("on_error", ["warn", "raise"])
def test_exit_while_learning_passes_and_leaves_a_whole_round_or_none(on_error, time_limit):
    experts = [("quits", Quits()), ("good", Noisy())]
    model = LongTermMemoryRegressor(experts, memory=None, on_error=on_error, time_limit=time_limit)
    other = LongTermMemoryRegressor(experts, memory=None)
    for at in range(5):
        model.partial_fit(batch(at), batch(at)[:, 0])
        other.partial_fit(batch(at), batch(at)[:, 0])
    X = batch(5)
    X[:, 1] = -2.0
    with pytest.raises(SystemExit):
        model.partial_fit(X, X[:, 0])
    if on_error == "warn":
        X[:, 1] = 5.0
        other.partial_fit(X, X[:, 0])
    assert model.n_rounds_ == other.n_rounds_
    np.testing.assert_array_equal(model.weights_, other.weights_)
    assert model.partial_fit(batch(6), batch(6)[:, 0]).n_rounds_ == other.n_rounds_ + 1


def test_river_model_that_exits_leaves_a_whole_round():
    model = in_river.LongTermMemoryRegressor([RiverQuits("NaN"), RiverNumber()], memory=None)
    for at in range(30):
        model.learn_one({"a": float(at), "b": 0.0, "c": 1.0}, float(at))
    assert model._row() is not None  # the compiled one
    with pytest.raises(KeyboardInterrupt):
        model.predict_one({"a": 1.0, "b": -1.0, "c": 1.0})
    with pytest.raises(SystemExit):
        model.learn_one({"a": 30.0, "b": -2.0, "c": 1.0}, 30.0)
    assert model.n_rounds_ == 31
    other = in_river.LongTermMemoryRegressor([RiverNumber("NaN"), RiverNumber()], memory=None)
    for at in range(31):
        other.learn_one({"a": float(at), "b": 0.0, "c": 1.0}, float(at))
    np.testing.assert_allclose(model.weights_, other.weights_, rtol=1e-12)


def learn_all(model, batches):
    for X, y in batches:
        model.partial_fit(X, y)


class Scribbles(Noisy):
    """Changes what it is given."""

    def predict(self, X):
        X[:, 0] = 99.0
        return X[:, 0]

    def partial_fit(self, X, y):
        y[:] = 99.0
        return self


@pytest.mark.parametrize("time_limit", [None, 10.0])
def test_rows_and_targets_are_not_changed_by_an_expert(time_limit):
    model = LongTermMemoryRegressor([("bad", Scribbles()), ("good", SaysNumber())], memory=None, time_limit=time_limit)
    batches = [(batch(at), batch(at)[:, 0].copy()) for at in range(5)]
    with pytest.warns(ExpertWarning, match="'bad' could not .* read-only"):
        learn_all(model, batches)
    for at, (X, y) in enumerate(batches):
        np.testing.assert_array_equal(X, batch(at))
        np.testing.assert_array_equal(y, X[:, 0])
    np.testing.assert_allclose(model.predict(batch(9)), batch(9)[:, 0])


class Forgetful(Noisy):
    """Returns nothing, where it should return itself, when it learns its third batch."""

    n_learned_ = 0

    def partial_fit(self, X, y):
        self.n_learned_ += 1
        return None if self.n_learned_ == 3 else self


def test_learner_that_returns_nothing_sleeps_and_comes_back():
    model = LongTermMemoryRegressor([("bad", Forgetful()), ("good", SaysNumber())], memory=None)
    with pytest.warns(ExpertWarning, match=r"'bad' could not learn .* returned None"):
        learn_all(model, [(batch(at), batch(at)[:, 0]) for at in range(6)])
    assert model.named_estimators_.bad.n_learned_ == 6
    assert np.isfinite(model.transform(batch(9))).all()


BUFFER = np.zeros(5)


class SharesBuffer(Noisy):
    """All of this kind return one and the same array."""

    def __init__(self, value=0.0):
        self.value = value

    def predict(self, X):
        BUFFER[:] = self.value
        return BUFFER


def test_array_that_is_changed_after_it_was_returned_is_as_it_was():
    model = LongTermMemoryRegressor([("one", SharesBuffer(1.0)), ("two", SharesBuffer(2.0))], memory=None)
    model.partial_fit(batch(0), np.arange(5.0))
    np.testing.assert_array_equal(model.transform(batch(1))[0], [1.0, 2.0])


@pytest.mark.parametrize("first", [1e300, -1e300, 1e-310])
def test_numbers_beyond_measure_before_any_scale_is_known(first):
    class Starts(Noisy):
        def predict(self, X):
            return np.full(len(X), first)

    model = LongTermMemoryRegressor([("bad", Starts()), ("good", SaysNumber())], memory=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)
        for at in range(60):
            X = batch(at, 1)
            model.partial_fit(X, X[:, 0])
            assert abs(model.predict(X)[0]) < 10.0
    if abs(first) > 1.0:
        np.testing.assert_allclose(model.predict(X), X[:, 0])
    else:
        assert model.weights_[1] > 0.9


@pytest.mark.parametrize("chance", [1e300, -1e300, 1e-310, 5e-324, sys.float_info.max])
def test_probabilities_beyond_measure(chance):
    class Odd(NoisyChance):
        def predict_proba(self, X):
            return np.full((len(X), 2), chance)

    model = LongTermMemoryClassifier([("odd", Odd()), ("good", SaysChance())], memory=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)
        for at in range(60):
            X = batch(at)
            model.partial_fit(X, (X[:, 0] > 0.0).astype(int), classes=[0, 1])
            said = model.predict_proba(X)
            np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert (said.argmax(axis=1) == (X[:, 0] > 0.0)).all()


# Time limits ------------------------------------------------------------------------------------------------------


class Slow(SaysNumber):
    """Takes its time to learn rows with -1 in column 1, and to predict those with -2; counts what it has learned."""

    n_learned_ = 0
    gate = threading.Event()

    def partial_fit(self, X, y):
        if X[0, 1] == -1.0:
            self.gate.wait(10.0)
        self.n_learned_ += 1
        return self

    def predict(self, X):
        if X[0, 1] == -2.0:
            self.gate.wait(10.0)
        return X[:, 0] + 0.0 * self.n_learned_


@pytest.fixture
def gate():
    Slow.gate.clear()
    yield Slow.gate
    Slow.gate.set()


def slow_ensemble(**parameters):
    model = LongTermMemoryRegressor([("slow", Slow()), ("good", Noisy())], time_limit=LIMIT, memory=None, **parameters)
    for at in range(5):
        model.partial_fit(batch(at), batch(at)[:, 0])
    return model


def n_hanging_since(before):
    """Threads that hang and were not there before; those of calls that have just ended are given the time to go."""
    end = time.monotonic() + 5.0
    while (hanging := len(set(threading.enumerate()) - before)) > 1 and time.monotonic() < end:
        time.sleep(0.005)
    return hanging


def learn_slowly(model):
    X = batch(5)
    X[:, 1] = -1.0
    with pytest.warns(ExpertWarning, match=f"'slow' could not learn and slept: LateAnswer: took longer than {LIMIT} s"):
        model.partial_fit(X, X[:, 0])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_late_learner_sleeps_and_comes_back_with_what_it_has_learned(gate, n_jobs):
    model = slow_ensemble(n_jobs=n_jobs)
    before = set(threading.enumerate())
    learn_slowly(model)
    (slow, _) = model._engine.experts
    warnings.simplefilter("ignore", ExpertWarning)  # that it is still running
    for at in range(6, 10):
        model.partial_fit(batch(at), batch(at)[:, 0])
        assert np.isnan(model.transform(batch(at))[:, 0]).all()  # asleep
    assert n_hanging_since(before) == 1  # it was not called again
    assert slow.model.n_learned_ == 5
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    gate.set()
    wait_for(model)
    model.partial_fit(batch(10), batch(10)[:, 0])
    assert slow.model.n_learned_ == 7  # the late batch and this one
    assert np.isfinite(model.transform(batch(11))).all()
    for each in copies:  # without the thread, and so awake at once
        assert np.isfinite(each.transform(batch(11))).all()
        assert each.partial_fit(batch(10), batch(10)[:, 0]).named_estimators_.slow.n_learned_ == 6


def copied_by_another_thread(model):
    thread = threading.Thread(target=copy.deepcopy, args=(model,))
    thread.start()
    thread.join(10.0)


@pytest.mark.parametrize("predicts_late", [False, True])
def test_copies_by_another_thread_do_not_cost_what_a_late_learner_has_learned(gate, predicts_late):
    model = slow_ensemble()
    before = set(threading.enumerate())
    learn_slowly(model)
    if predicts_late:
        gate.set()
        wait_for(model)
        gate.clear()
        X = batch(6)
        X[:, 1] = -2.0
        with pytest.warns(ExpertWarning, match="'slow' could not predict"):
            model.predict(X)
    warnings.simplefilter("ignore", ExpertWarning)  # that it is still running
    for at in range(6, 9):
        copied_by_another_thread(model)
        model.partial_fit(batch(at), batch(at)[:, 0])
        assert np.isnan(model.transform(batch(at))[:, 0]).all()  # it sleeps, and is not called again
    assert n_hanging_since(before) == 1
    gate.set()
    wait_for(model)
    model.partial_fit(batch(10), batch(10)[:, 0])
    assert model.named_estimators_.slow.n_learned_ == 7  # the late batch and this one


def test_late_predictions_do_not_cost_what_a_late_learner_has_learned(gate):
    model = slow_ensemble()
    learn_slowly(model)
    gate.set()
    wait_for(model)
    X = batch(6)
    X[:, 1] = -2.0
    for _ in range(3):
        gate.clear()
        with pytest.warns(ExpertWarning, match="'slow' could not predict"):
            model.predict(X)
        gate.set()
        wait_for(model)
    (slow, _) = model._engine.experts
    assert slow.late.earlier.earlier is None  # no more is kept of them, however many there are
    model.partial_fit(batch(6), batch(6)[:, 0])
    assert model.named_estimators_.slow.n_learned_ == 7  # the late batch and this one


def test_late_prediction_is_a_guess_where_there_is_nobody_else(gate):
    model = LongTermMemoryRegressor([("slow", Slow())], time_limit=LIMIT, memory=None)
    model.partial_fit(batch(0), batch(0)[:, 0])
    X = batch(1)
    X[:, 1] = -2.0
    with pytest.warns(ExpertWarning, match="'slow' could not predict"):
        said = model.predict(X)
    np.testing.assert_allclose(said, batch(0)[:, 0].mean())
    gate.set()
    wait_for(model)
    np.testing.assert_allclose(model.predict(batch(0)), batch(0)[:, 0])


def test_late_call_is_raised_if_so_wished_and_nothing_has_changed(gate):
    model = slow_ensemble(on_error="raise")
    before = pickle.dumps(model)
    X = batch(5)
    X[:, 1] = -1.0
    with pytest.raises(TimeoutError, match="took longer than"):
        model.partial_fit(X, X[:, 0])
    assert pickle.dumps(model) == before
    gate.set()
    wait_for(model)
    model.partial_fit(batch(5), batch(5)[:, 0])
    assert model.named_estimators_.slow.n_learned_ == 6  # what it has learned late was of a round that was undone


class FailsLate(Slow):
    def partial_fit(self, X, y):
        super().partial_fit(X, y)
        if X[0, 1] == -1.0:
            raise RuntimeError("the disk is full")
        return self


def test_late_call_that_fails_in_the_end_is_logged(gate, caplog):
    caplog.set_level(logging.INFO, "ltm_sklearn")
    model = LongTermMemoryRegressor([("slow", FailsLate()), ("good", Noisy())], time_limit=LIMIT, memory=None)
    model.partial_fit(batch(0), batch(0)[:, 0])
    learn_slowly(model)
    gate.set()
    wait_for(model)
    model.partial_fit(batch(1), batch(1)[:, 0])
    assert "the late call of expert 'slow' failed: RuntimeError: the disk is full" in caplog.text
    assert model.named_estimators_.slow.n_learned_ == 2


class Exits(Noisy):
    def predict(self, X):
        if X[0, 1] == -2.0:
            sys.exit(3)
        return X[:, 0]


def test_expert_that_hangs_while_another_exits_is_not_called_again(gate):
    experts = [("slow", Slow()), ("exits", Exits()), ("good", Noisy())]
    model = LongTermMemoryRegressor(experts, time_limit=LIMIT, memory=None)
    model.partial_fit(batch(0), batch(0)[:, 0])
    X = batch(1)
    X[:, 1] = -2.0
    before = set(threading.enumerate())
    for _ in range(3):
        with pytest.raises(SystemExit):
            model.predict(X)
    assert n_hanging_since(before) == 1


class ComparedSlowly(Noisy):
    """Takes its time for as many rows as only the memory asks about, and to be copied if it is told so."""

    slow_copies = False

    def predict(self, X):
        if len(X) > 5:
            Slow.gate.wait(10.0)
        return X[:, 0] + X[:, 2]

    def __deepcopy__(self, memo):
        if self.slow_copies:
            Slow.gate.wait(10.0)
        return type(self)()


def test_memory_does_not_wait_for_models_and_makes_one_late_call_at_a_time(gate):
    memory = Snapshots(every=10, on_drift=False)
    model = LongTermMemoryRegressor([("slow", ComparedSlowly())], time_limit=0.05, memory=memory)
    before = set(threading.enumerate())
    with pytest.warns(ExpertWarning, match="no snapshot could be taken: LateAnswer"):
        learn_all(model, [(batch(at), batch(at)[:, 0]) for at in range(20)])
    assert n_hanging_since(before) == 1
    assert pickle.loads(pickle.dumps(model)).n_rounds_ == 20
    copied_by_another_thread(model)
    learn_all(model, [(batch(at), batch(at)[:, 0]) for at in range(20, 22)])
    assert n_hanging_since(before) == 1
    n_before = len(model.experts_)
    gate.set()
    while any(call.is_running for call in model._engine.late):
        time.sleep(0.005)
    learn_all(model, [(batch(at), batch(at)[:, 0] * at) for at in range(22, 30)])
    assert len(model.experts_) >= n_before


def test_copies_for_the_memory_are_made_in_time(gate):
    late = []
    models = Hurried(SklearnModels({}, None, {}), 0.05, late)
    model = ComparedSlowly()
    assert models.copy(model) is not model
    model.slow_copies = True
    with pytest.raises(TimeoutError, match="took longer than"):
        models.copy(model)
    with pytest.raises(TimeoutError, match="still running"):
        models.copy(ComparedSlowly())
    gate.set()
    while late[0].is_running:
        time.sleep(0.005)
    assert models.copy(model) is not model


def test_settings_of_the_thread_hold_in_the_calls():
    from sklearn import config_context, get_config

    found = []

    class Looks(Noisy):
        def predict(self, X):
            found.append((get_config()["assume_finite"], np.geterr()["over"]))
            return X[:, 0]

    model = LongTermMemoryRegressor([("looks", Looks()), ("good", Noisy())], time_limit=10.0, memory=None)
    with config_context(assume_finite=True):
        model.partial_fit(batch(0), batch(0)[:, 0]).predict(batch(1))
    assert found == [(True, "ignore")]


def test_with_a_limit_the_numbers_are_the_same():
    plain, limited = (
        LongTermMemoryRegressor([("one", SaysNumber()), ("two", Noisy())], random_state=0, time_limit=limit)
        for limit in (None, 10.0)
    )
    for at in range(60):
        plain.partial_fit(batch(at), batch(at)[:, 0])
        limited.partial_fit(batch(at), batch(at)[:, 0])
    np.testing.assert_array_equal(plain.weights_, limited.weights_)
    assert [tuple(each) for each in plain.experts_] == [tuple(each) for each in limited.experts_]


@pytest.mark.parametrize("limit", [0.0, -1.0, np.nan, np.inf, "1"])
def test_wrong_limits_are_named(limit):
    with pytest.raises(ValueError, match="time_limit"):
        LongTermMemoryRegressor([("one", Noisy())], time_limit=limit).fit(batch(0), batch(0)[:, 0])
    with pytest.raises(ValueError, match="time_limit"):
        in_river.LongTermMemoryRegressor([RiverNumber()], time_limit=limit)


END = """
import time, warnings
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from ltm_sklearn import LongTermMemoryRegressor

class Sleeps(RegressorMixin, BaseEstimator):
    def partial_fit(self, X, y):
        time.sleep(600.0)
    fit = partial_fit

warnings.simplefilter("ignore")
model = LongTermMemoryRegressor([("sleeps", Sleeps())], time_limit=0.05, memory=None)
model.partial_fit(np.zeros((2, 1)), np.arange(2.0))
print(model.n_rounds_)
"""


def test_the_interpreter_ends_though_a_call_hangs():
    run = subprocess.run([sys.executable, "-P", "-c", END], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "1"
