"""An expert that fails sleeps, is reported, and takes part again when it recovers."""

import functools
import logging
import pickle
import sys
import warnings

import numpy as np
import pytest
from river import base
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from support.named_models import named

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn import river as in_river
from ltm_sklearn.ensemble import ExpertWarning

ILL = range(20, 40)  #: the rounds in which the failing expert fails
N_ROUNDS = 60


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("and says nothing of it")


def raises(n):
    raise RuntimeError("ill")


def raises_mutely(n):
    raise Mute


def raises_at_length(n):
    raise RuntimeError("x" * 10**6)


#: What a failing expert does instead of predicting n rows.
ILLS = {
    "raises": raises,
    "NaN": lambda n: np.full(n, np.nan),
    "infinite": lambda n: np.full(n, np.inf),
    "1e300": lambda n: np.full(n, 1e300),
    "-1e300": lambda n: np.full(n, -1e300),
    "largest": lambda n: np.full(n, sys.float_info.max),
    "mute": raises_mutely,
    "at length": raises_at_length,
    "generator": lambda n: (0.0 for _ in range(n)),
    "masked": lambda n: np.ma.masked_all(n),
    "words": lambda n: np.array(["1.0"] * n),
    "complex": lambda n: np.full(n, 1j),
    "nothing": lambda n: None,
}


class Patient(BaseEstimator):
    """Expert that is right except in the rounds in which it fails; column 1 holds the round."""

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
    """Return the predictions of each round and the weight of the failing expert after it."""
    model = make([("bad", patient(ill)), ("good", other())], memory=None, random_state=0, **parameters)
    said, weights = [], []
    for at in range(N_ROUNDS):
        X = batch(at)
        y = X[:, 0] if make is LongTermMemoryRegressor else (X[:, 0] > 0.0).astype(int)
        if at:
            said.append(model.predict(X).tolist())
        model.partial_fit(X, y, **({} if make is LongTermMemoryRegressor else {"classes": [0, 1]}))
        weights.append(model.weights_[0])
    return said, weights, model


@functools.cache
def asleep_course(course, *makers):
    """Return the run in which the failing expert predicts NaN, that is, sleeps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)
        return course(*makers, "NaN")[:2]


OF_SKLEARN = {
    "regressor": (LongTermMemoryRegressor, SaysNumber, Noisy),
    "classifier": (LongTermMemoryClassifier, SaysChance, NoisyChance),
}


@pytest.mark.fast_cases(12)
@pytest.mark.parametrize(
    ("ill", "feedback"), [(ill, "full") for ill in ILLS] + [(ill, "bandit") for ill in list(ILLS)[:6]]
)
@pytest.mark.parametrize("kind", OF_SKLEARN)
def test_failing_expert_sleeps_is_reported_and_recovers(kind, ill, feedback, caplog):
    make, patient, other = OF_SKLEARN[kind]
    with pytest.warns(ExpertWarning, match="expert 'bad' could not") as caught, caplog.at_level(logging.WARNING):
        said, weights, model = course(make, patient, other, ill, feedback=feedback)
    assert any("expert 'bad' could not predict" in record.message for record in caplog.records)
    assert all(len(str(warning.message)) < 1000 for warning in caught)
    assert np.isfinite(np.array(said)).all()
    assert np.isfinite(model.weights_).all()
    if feedback == "bandit":  # a failure costs the worst loss; when it is queried again depends on the bandit
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
    model = make(named([patient(ill), patient()]), memory=None, seed=0, **parameters)
    said, weights = [], []
    for at in range(N_ROUNDS):
        x = dict(zip("abc", batch(at, 1)[0].tolist(), strict=True))
        x["b"] = float(at)
        said.append(model.predict_one(x))
        model.learn_one(x, x["a"] if issubclass(patient, base.Regressor) else x["a"] > 0.0)
        weights.append(model.weights_[0])
    return said, weights, model


@pytest.mark.fast_cases(12)
@pytest.mark.parametrize(
    ("ill", "feedback"), [(ill, "full") for ill in ILLS] + [(ill, "bandit") for ill in list(ILLS)[:6]]
)
@pytest.mark.parametrize("kind", IN_RIVER)
def test_failing_river_model_sleeps_is_reported_and_recovers(kind, ill, feedback, caplog):
    make, patient = IN_RIVER[kind]
    with pytest.warns(ExpertWarning, match="could not"), caplog.at_level(logging.WARNING):
        said, weights, model = river_course(make, patient, ill, feedback=feedback)
    assert any("could not predict" in record.message for record in caplog.records)
    assert np.isfinite(np.array(said, dtype=float)).all()
    assert np.isfinite(model.weights_).all()
    if feedback == "bandit":
        return
    asleep, weights_asleep = asleep_course(river_course, make, patient)
    np.testing.assert_allclose(np.array(said, float), np.array(asleep, float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights, weights_asleep, rtol=1e-9, atol=1e-12)
    assert model.weights_.argmax() == 0  # as it was right again


def test_warnings_point_to_the_line_that_called_the_estimator():
    experts = [("bad", SaysNumber("NaN")), ("good", Noisy())]
    model = LongTermMemoryRegressor(experts, memory=None).partial_fit(batch(0), batch(0)[:, 0])
    ill = batch(ILL[0])
    in_rivers = in_river.LongTermMemoryRegressor({"bad": RiverNumber("NaN"), "good": RiverNumber()}, memory=None)
    row = dict(zip("abc", batch(0, 1)[0].tolist(), strict=True))
    in_rivers.learn_one(row, 1.0)
    row["b"] = float(ILL[0])
    calls = [
        lambda: model.predict(ill),
        lambda: model.issue(ill, range(5)),
        lambda: in_rivers.predict_one(row),
        lambda: in_rivers.learn_one(row, 1.0),
    ]
    for call in calls:
        with pytest.warns(ExpertWarning) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}


# Exits, interrupts and changed arrays ----------------------------------------------------------------------------


class Quits(SaysNumber):
    """Expert that exits or is interrupted where column 1 says so."""

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


def test_interrupt_in_predict_changes_nothing():
    model = LongTermMemoryRegressor([("quits", Quits()), ("good", Noisy())], memory=None)
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


@pytest.mark.parametrize("on_error", ["warn", "raise"])
def test_exit_in_training_leaves_a_complete_round_or_none(on_error):
    experts = [("quits", Quits()), ("good", Noisy())]
    model = LongTermMemoryRegressor(experts, memory=None, on_error=on_error)
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


def test_exit_of_a_river_model_leaves_a_complete_round():
    model = in_river.LongTermMemoryRegressor(named([RiverQuits("NaN"), RiverNumber()]), memory=None)
    for at in range(30):
        model.learn_one({"a": float(at), "b": 0.0, "c": 1.0}, float(at))
    assert model._compiled_row() is not None  # the compiled one
    with pytest.raises(KeyboardInterrupt):
        model.predict_one({"a": 1.0, "b": -1.0, "c": 1.0})
    with pytest.raises(SystemExit):
        model.learn_one({"a": 30.0, "b": -2.0, "c": 1.0}, 30.0)
    assert model.n_rounds_ == 31
    other = in_river.LongTermMemoryRegressor(named([RiverNumber("NaN"), RiverNumber()]), memory=None)
    for at in range(31):
        other.learn_one({"a": float(at), "b": 0.0, "c": 1.0}, float(at))
    np.testing.assert_allclose(model.weights_, other.weights_, rtol=1e-12)


def learn_all(model, batches):
    for X, y in batches:
        model.partial_fit(X, y)


class Scribbles(Noisy):
    """Expert that changes its arguments."""

    def predict(self, X):
        X[:, 0] = 99.0
        return X[:, 0]

    def partial_fit(self, X, y):
        y[:] = 99.0
        return self


def test_experts_cannot_change_rows_and_targets():
    model = LongTermMemoryRegressor([("bad", Scribbles()), ("good", SaysNumber())], memory=None)
    batches = [(batch(at), batch(at)[:, 0].copy()) for at in range(5)]
    with pytest.warns(ExpertWarning, match="'bad' could not .* read-only"):
        learn_all(model, batches)
    for at, (X, y) in enumerate(batches):
        np.testing.assert_array_equal(X, batch(at))
        np.testing.assert_array_equal(y, X[:, 0])
    np.testing.assert_allclose(model.predict(batch(9)), batch(9)[:, 0])


class Forgetful(Noisy):
    """Expert whose third partial_fit returns None."""

    n_learned_ = 0

    def partial_fit(self, X, y):
        self.n_learned_ += 1
        return None if self.n_learned_ == 3 else self


def test_learner_that_returns_none_sleeps_and_recovers():
    model = LongTermMemoryRegressor([("bad", Forgetful()), ("good", SaysNumber())], memory=None)
    with pytest.warns(ExpertWarning, match=r"'bad' could not learn .* returned None"):
        learn_all(model, [(batch(at), batch(at)[:, 0]) for at in range(6)])
    assert model.named_estimators_.bad.n_learned_ == 6
    assert np.isfinite(model.transform(batch(9))).all()


BUFFER = np.zeros(5)


class SharesBuffer(Noisy):
    """Expert that returns the same array as others of its kind."""

    def __init__(self, value=0.0):
        self.value = value

    def predict(self, X):
        BUFFER[:] = self.value
        return BUFFER


def test_returned_array_may_be_reused_by_the_expert():
    model = LongTermMemoryRegressor([("one", SharesBuffer(1.0)), ("two", SharesBuffer(2.0))], memory=None)
    model.partial_fit(batch(0), np.arange(5.0))
    np.testing.assert_array_equal(model.transform(batch(1))[0], [1.0, 2.0])


@pytest.mark.parametrize("first", [1e300, -1e300, 1e-310])
def test_extreme_predictions_before_the_scale_is_known(first):
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
def test_extreme_probabilities(chance):
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
