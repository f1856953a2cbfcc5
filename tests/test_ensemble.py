import copy
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from stream_experts import (
    RAISES_IN_LEARN,
    RAISES_IN_PREDICT,
    SAYS_NAN,
    MoodyChance,
    MoodyNumber,
    ReadsChance,
    ReadsNumber,
    assert_same_outcome,
    frozen_readers,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.ensemble import ExpertWarning, SlidingWindow
from ltm_sklearn.experts import BOA, FixedShare, Hedge, LongTermMemory, MixingPastPosteriors, MLPoly
from ltm_sklearn.losses import Pinball

pytestmark = pytest.mark.fast_cases(1)

CLASSES = [0, 1]
K = 4
ALGORITHMS = [LongTermMemory(), BOA(), MLPoly(), Hedge(), FixedShare(), MixingPastPosteriors()]


def forecasts(n_rounds, n_rows, seed=0):
    """Rounds of rows whose columns are K forecasts in [0, 1], with outcomes 0 or 1; the best column changes."""
    rng = np.random.default_rng(seed)
    for at in range(n_rounds):
        y = rng.integers(0, 2, n_rows)
        X = rng.random((n_rows, K))
        good = at // 10 % 3
        X[:, good] = np.where(rng.random(n_rows) < 0.8, y, 1 - y) * 0.8 + 0.1
        yield X, y


def classifier(**parameters):
    parameters = {"estimators": frozen_readers(ReadsChance, K), "memory": None, **parameters}
    return LongTermMemoryClassifier(**parameters)


def regressor(**parameters):
    parameters = {"estimators": frozen_readers(ReadsNumber, K), "memory": None, **parameters}
    return LongTermMemoryRegressor(**parameters)


def brier(X, y):
    return (X - y[:, np.newaxis]) ** 2  # of two classes: half the sum of two equal squares


def wrong(X, y):
    return ((X > 0.5) != y[:, np.newaxis]).astype(float)


# The weights are those of the algorithm on the losses -------------------------------------------------------------


@pytest.mark.parametrize(("loss", "by_hand"), [("zero_one", wrong), ("brier", brier)])
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: type(algorithm).__name__)
def test_classifier_in_batches_plays_the_algorithm_on_the_mean_losses(algorithm, loss, by_hand):
    model = classifier(algorithm=algorithm, loss=loss)
    alone = copy.deepcopy(algorithm)
    for X, y in forecasts(40, 5):
        issued = alone.weights(K)
        if model.__sklearn_is_fitted__():
            np.testing.assert_allclose(model.weights_, issued, rtol=0, atol=1e-12)
            np.testing.assert_allclose(model.predict_proba(X)[:, 1], X @ issued, rtol=0, atol=1e-12)
        model.partial_fit(X, y, classes=CLASSES)
        alone.update(by_hand(X, y).mean(axis=0))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-12)
    assert model.n_rounds_ == 40
    assert np.ptp(alone.weights()) > 0.1  # something was learned


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: type(algorithm).__name__)
def test_classifier_in_rows_plays_the_algorithm_on_the_losses(algorithm):
    model = classifier(algorithm=algorithm, loss="brier", rounds="row")
    batches = list(forecasts(40, 5))
    for X, y in batches:
        model.partial_fit(X, y, classes=CLASSES)
    alone = copy.deepcopy(algorithm)
    alone.run(np.concatenate([brier(X, y) for X, y in batches]))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-12)
    assert model.n_rounds_ == model.n_samples_seen_ == 200


def test_size_of_batches_does_not_matter_when_each_row_is_a_round():
    X, y = (np.concatenate(part) for part in zip(*forecasts(30, 8), strict=True))
    weights = []
    for size in (1, 7, 240):
        model = classifier(rounds="row", loss="zero_one")  # the stack learns once a call, as all learners do
        for at in range(0, 240, size):
            model.partial_fit(X[at : at + size], y[at : at + size], classes=CLASSES)
        weights.append(model.weights_)
    np.testing.assert_allclose(weights[1], weights[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights[2], weights[0], rtol=0, atol=1e-12)


class Range:
    """The documented rescaling, written again: beyond the best, over the widest gap of late."""

    def __init__(self):
        self.widest = 0.0

    def __call__(self, losses):
        beyond = losses - losses.min()
        most = 4.0 * self.widest or np.inf
        self.widest = max(self.widest * np.exp(-1e-2), min(beyond.max(), most))
        return np.minimum(beyond / self.widest, 1.0)


def numbers(n_rounds, n_rows, seed=0):
    """The same for numbers, all within the range of the first round, so that nothing is clipped."""
    rng = np.random.default_rng(seed)
    for at in range(n_rounds):
        y = rng.uniform(-1.0, 1.0, n_rows)
        y[:2] = [-1.0, 1.0]
        X = rng.uniform(-1.0, 1.0, (n_rows, K))
        X[:, at // 10 % 3] = y + rng.normal(size=n_rows) / 10
        yield X, y


def test_regressor_in_batches_is_charged_the_gradient_at_what_was_issued():
    model, alone, rescale = regressor(), LongTermMemory(), Range()
    for X, y in numbers(40, 6):
        mixture = X @ alone.weights(K)
        if model.__sklearn_is_fitted__():
            np.testing.assert_allclose(model.predict(X), mixture, rtol=0, atol=1e-12)
        model.partial_fit(X, y)
        slope = 2.0 * (mixture - y)
        alone.update(rescale((slope[:, np.newaxis] * (X - mixture[:, np.newaxis])).mean(axis=0)))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-9)
    assert alone.weights().max() > 1.5 / K


@pytest.mark.parametrize("loss", ["absolute_error", Pinball(0.9), lambda y, said: np.abs(said - y) ** 1.5])
@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_regressor_that_follows_its_leader_is_charged_the_plain_losses(loss, rounds):
    model, alone, rescale = regressor(loss=loss, combine="leader", rounds=rounds), LongTermMemory(), Range()
    alone.weights(K)
    for X, y in numbers(40, 6):
        model.partial_fit(X, y)
        by_name = {"absolute_error": lambda y, said: np.abs(said - y)}
        losses = np.column_stack([by_name.get(loss, loss)(y, column) for column in X.T])
        for charged in losses if rounds == "row" else [losses.mean(axis=0)]:
            alone.update(rescale(charged))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-9)


def test_regressor_in_rows_takes_the_gradient_at_each_rows_own_mixture():
    model, alone, rescale = regressor(rounds="row", loss="absolute_error"), LongTermMemory(), Range()
    alone.weights(K)
    for X, y in numbers(30, 6):
        model.partial_fit(X, y)
        for row, target in zip(X, y, strict=True):
            mixture = row @ alone.weights()
            alone.update(rescale(np.sign(mixture - target) * (row - mixture)))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-9)


def test_experts_get_no_credit_for_rows_that_they_have_just_learned():
    # labels are coins: who is asked before it learns them cannot know, who is asked after it knows all
    rng = np.random.default_rng(0)
    model = LongTermMemoryClassifier(
        [("memoriser", SlidingWindow(KNeighborsClassifier(1), refit=0.0)), ("nb", GaussianNB())], memory=None
    )
    for _ in range(30):
        X, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
        model.partial_fit(X, y, classes=CLASSES)
        assert (model.named_estimators_.memoriser.predict(X) == y).all()
    assert model.loss_.min() > 0.4


# Concepts that return ---------------------------------------------------------------------------------------------


def phase_costs(model, constant, n_phases=6, n_rounds=500, **first):
    """Squared loss of each phase; the truth is 0 and 1 in turn, one row a round."""
    X, costs = np.zeros((1, 1)), []
    for phase in range(n_phases):
        truth, cost = phase % 2, 0.0
        for _ in range(n_rounds):
            if model.__sklearn_is_fitted__():
                cost += (constant(model, X) - truth) ** 2
            model.partial_fit(X, [truth], **first)
        costs.append(cost)
    return costs


def two_constants(dummy, **parameters):
    rows = np.zeros((2, 1))
    said = [dummy(strategy="constant", constant=value, **parameters).fit(rows, [0, 1]) for value in (0, 1)]
    return [(f"says{value}", FrozenEstimator(model)) for value, model in enumerate(said)]


def assert_cheaper_as_they_recur(costs):
    assert costs[3] < costs[1]
    assert costs[5] < costs[3]
    assert costs[4] < costs[2]
    assert max(costs[2:]) < 12  # the best of what existed pays 26, again and again


def test_each_return_of_a_concept_costs_the_classifier_less():
    model = LongTermMemoryClassifier(two_constants(DummyClassifier))
    costs = phase_costs(model, lambda model, X: model.predict_proba(X)[0, 1], classes=CLASSES)
    assert_cheaper_as_they_recur(costs)


def test_each_return_of_a_concept_costs_the_regressor_less():
    model = LongTermMemoryRegressor(two_constants(DummyRegressor))
    assert_cheaper_as_they_recur(phase_costs(model, lambda model, X: model.predict(X)[0]))


def switching(n_batches, seed=0):
    """Two concepts in turn, in batches of 10; the second turns the first round."""
    rng = np.random.default_rng(seed)
    for at in range(n_batches):
        X = rng.normal(size=(10, 2))
        yield X, X[:, 0] * (-1.0 if at // 40 % 2 else 1.0)


def mistakes_by_phase(model, n_phases):
    lost = np.zeros(n_phases)
    for at, (X, y) in enumerate(switching(40 * n_phases)):
        if isinstance(model, LongTermMemoryClassifier):
            if at:
                lost[at // 40] += np.mean(model.predict(X) != (y > 0))
            model.partial_fit(X, y > 0, classes=[False, True])
        else:
            if at:
                lost[at // 40] += np.mean((model.predict(X) - y) ** 2)
            model.partial_fit(X, y)
    return lost


@pytest.mark.parametrize(
    ("ensemble", "learner"),
    [
        (LongTermMemoryClassifier, GaussianNB()),
        (LongTermMemoryClassifier, SGDClassifier(loss="log_loss", random_state=0)),
        (LongTermMemoryRegressor, SGDRegressor(learning_rate="constant", eta0=0.01, random_state=0)),
    ],
)
def test_learners_with_memory_pay_less_as_concepts_recur_and_less_than_without(ensemble, learner):
    with_memory = mistakes_by_phase(ensemble([("learner", learner)], memory=Snapshots(every=100)), 8)
    without = mistakes_by_phase(ensemble([("learner", learner)], memory=None), 8)
    assert with_memory[-2:].sum() < 0.7 * with_memory[1:3].sum()
    assert with_memory[-2:].sum() < 0.6 * without[-2:].sum()


# Experts that fail ------------------------------------------------------------------------------------------------


def moody(kind, **parameters):
    """A moody expert beside one that always answers, for classes or numbers."""
    if kind == "classes":
        experts = [("moody", MoodyChance(1)), ("steady", FrozenEstimator(ReadsChance(2)))]
        return LongTermMemoryClassifier(experts, **{"memory": None, **parameters})
    experts = [("moody", MoodyNumber(1)), ("steady", FrozenEstimator(ReadsNumber(2)))]
    return LongTermMemoryRegressor(experts, **{"memory": None, **parameters})


def moody_rows(mood=0.0, n_rows=6, seed=0):
    """Column 0 is the mood of the last row, columns 1 and 2 are what the two experts say; the moody one is better."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = np.column_stack([np.zeros(n_rows), y * 0.8 + 0.1, np.full(n_rows, 0.3)])
    X[-1, 0] = mood
    return X, y


def learn(model, X, y):
    first = {"classes": CLASSES} if isinstance(model, LongTermMemoryClassifier) else {}
    return model.partial_fit(X, y, **first)


def says(model, X):
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


KINDS = pytest.mark.parametrize("kind", ["classes", "numbers"])
ROUNDS = pytest.mark.parametrize("rounds", ["batch", "row"])


@KINDS
@ROUNDS
@pytest.mark.parametrize(
    ("mood", "warning"),
    [
        (RAISES_IN_PREDICT, r"expert 'moody' could not predict and slept: RuntimeError: no mood to predict"),
        (RAISES_IN_LEARN, r"expert 'moody' could not learn and slept: RuntimeError: no mood to learn"),
        (SAYS_NAN, r"expert 'moody' could not predict and slept: NoPredictionError: the prediction is NaN"),
    ],
)
def test_expert_that_fails_sleeps_with_a_warning_and_comes_back(kind, rounds, mood, warning):
    model = moody(kind, rounds=rounds, loss="brier" if kind == "classes" else "absolute_error")
    for seed in range(5):
        learn(model, *moody_rows(seed=seed))
    weights, learned = model.weights_, model.named_estimators_.moody.n_seen_
    with pytest.warns(ExpertWarning, match=warning):
        learn(model, *moody_rows(mood, seed=5))
    assert model.n_samples_seen_ == 36
    assert model.named_estimators_.moody.n_seen_ == learned + (0 if mood == RAISES_IN_LEARN else 6)
    if mood == RAISES_IN_PREDICT:  # alone, the other one gains nothing
        np.testing.assert_allclose(model.weights_[0], weights[0], atol=0.05)
    for seed in range(6, 30):  # no warning any more
        learn(model, *moody_rows(seed=seed))
    assert model.leader_ == "moody"
    assert np.isfinite(model.loss_).all()


@KINDS
def test_rows_without_an_experts_answer_are_left_to_the_others(kind):
    model = moody(kind, **({"loss": "zero_one"} if kind == "classes" else {}))
    for seed in range(5):
        learn(model, *moody_rows(seed=seed))
    X, _ = moody_rows(SAYS_NAN)
    with pytest.warns(ExpertWarning, match="moody"):
        said = says(model, X)
    np.testing.assert_allclose(said[:-1], X[:-1, 1:] @ model.weights_, atol=1e-12)
    np.testing.assert_allclose(said[-1], X[-1, 2], atol=1e-12)
    X, _ = moody_rows(RAISES_IN_PREDICT)
    with pytest.warns(ExpertWarning, match="moody"):
        np.testing.assert_allclose(says(model, X), X[:, 2], atol=1e-12)


def test_expert_that_sleeps_in_some_rows_is_charged_for_the_others():
    model = moody("numbers", loss="absolute_error", combine="leader")
    learn(model, *moody_rows())
    X, y = moody_rows(SAYS_NAN, seed=1)
    X[:-1, 1] = y[:-1] + 0.5
    with pytest.warns(ExpertWarning):
        learn(model, X, y)
    assert model.loss_[0] == pytest.approx(0.5)  # it had learned nothing to be asked about in the first round
    of_rounds = [np.abs(0.3 - targets).mean() for targets in (moody_rows()[1], y)]
    assert model.loss_[1] == pytest.approx(np.mean(of_rounds))


@KINDS
@ROUNDS
@pytest.mark.parametrize("mood", [RAISES_IN_PREDICT, RAISES_IN_LEARN, SAYS_NAN])
def test_error_that_is_to_be_raised_leaves_everything_as_it_was(kind, rounds, mood):
    model = moody(kind, rounds=rounds, on_error="raise", memory=Snapshots(every=10, merge=None), record=10)
    for seed in range(5):
        learn(model, *moody_rows(seed=seed))
    twin, fine = copy.deepcopy(model), moody_rows()[0]
    with pytest.raises((RuntimeError, ValueError), match=r"mood|NaN") as raised:
        learn(model, *moody_rows(mood, seed=5))
    assert any("expert 'moody'" in note for note in raised.value.__notes__)
    assert_same_outcome(model, twin, fine)
    assert model.named_estimators_.moody.n_seen_ == 30
    for seed in range(6, 10):
        assert_same_outcome(learn(model, *moody_rows(seed=seed)), learn(twin, *moody_rows(seed=seed)), fine)
    assert model.history_ == twin.history_


def test_error_that_is_to_be_raised_takes_back_what_other_experts_have_learned():
    experts = [("early", SGDRegressor(random_state=0)), ("moody", MoodyNumber(1))]
    model = LongTermMemoryRegressor(experts, memory=None, on_error="raise").partial_fit(*moody_rows())
    before = model.named_estimators_.early.coef_.copy()
    with pytest.raises(RuntimeError, match="no mood to learn"):
        model.partial_fit(*moody_rows(RAISES_IN_LEARN, seed=1))
    np.testing.assert_array_equal(model.named_estimators_.early.coef_, before)


def test_expert_that_sleeps_in_some_rows_takes_part_in_that_share_of_the_round():
    model = moody("classes", loss="brier")
    alone = LongTermMemory()
    alone.weights(2)
    for seed in range(20):
        X, y = moody_rows(SAYS_NAN, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExpertWarning)
            learn(model, X, y)
        losses = brier(X[:, 1:], y)
        if seed:  # before it has learned anything it sleeps altogether
            alone.update([losses[:-1, 0].mean(), losses[:, 1].mean()], awake=[5 / 6, 1.0])
        else:
            alone.update([np.nan, losses[:, 1].mean()])
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-12)


@KINDS
def test_where_no_expert_has_an_answer_the_past_targets_give_one_and_learning_goes_on(kind):
    reader = MoodyChance if kind == "classes" else MoodyNumber
    ensemble = LongTermMemoryClassifier if kind == "classes" else LongTermMemoryRegressor
    model = ensemble([("one", reader(1)), ("two", reader(2))], memory=None)
    for seed in range(3):
        learn(model, *moody_rows(seed=seed))
    weights = model.weights_
    X, y = moody_rows(SAYS_NAN)
    with pytest.warns(ExpertWarning):
        said = model.predict_proba(X) if kind == "classes" else model.predict(X)
    seen = np.concatenate([moody_rows(seed=seed)[1] for seed in range(3)])
    fallback = np.array([np.mean(seen == label) for label in model.classes_]) if kind == "classes" else np.mean(seen)
    np.testing.assert_allclose(said[-1], fallback, rtol=1e-12)
    with pytest.warns(ExpertWarning):
        learn(model, X[-1:], y[-1:])
    np.testing.assert_array_equal(model.weights_, weights)
    assert model.named_estimators_.one.n_seen_ == 19


def test_error_of_the_first_round_is_raised_when_nobody_could_learn():
    model = LongTermMemoryRegressor([("one", MoodyNumber(1)), ("two", MoodyNumber(2))])
    with pytest.raises(RuntimeError, match="no mood to learn"):
        model.partial_fit(*moody_rows(RAISES_IN_LEARN))
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "n_features_in_")


def test_record_of_a_round_in_which_only_rows_without_weight_were_answered():
    model = LongTermMemoryRegressor([("one", MoodyNumber(1))], memory=None, record=5)
    model.partial_fit(*moody_rows())
    X, y = moody_rows(SAYS_NAN, n_rows=2)
    with pytest.warns(ExpertWarning):
        model.partial_fit(X, y, sample_weight=[0.0, 1.0])
    assert model.n_rounds_ == 2


def test_diverging_expert_does_not_spoil_the_mixture():
    rng = np.random.default_rng(0)
    true, lost, usual = rng.normal(size=3), [], []
    experts = [("wild", SGDRegressor(random_state=0)), ("linear", LinearRegression())]
    model = LongTermMemoryRegressor(experts, memory=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)
        for at in range(60):
            X = 1e4 * rng.normal(size=(20, 3))
            y = X @ true + rng.normal(size=20)
            if at >= 10:
                lost.append(np.mean((model.predict(X) - y) ** 2))
                usual.append(np.var(y))
            model.partial_fit(X, y)
    assert np.abs(model.named_estimators_.wild.coef_).max() > 1e6  # it did run away
    assert model.leader_ == "linear"
    assert max(np.divide(lost, usual)) < 1.0  # better than the mean of the targets throughout
    assert np.mean(lost[-10:]) < 0.05 * np.mean(usual[-10:])  # and what little weight is left costs less and less
    assert np.mean(lost[-10:]) < 0.5 * np.mean(lost[:10])


# Bad input --------------------------------------------------------------------------------------------------------


def fitted(kind, **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    if kind == "classes":
        model = LongTermMemoryClassifier(
            [("nb", GaussianNB()), ("sgd", SGDClassifier(random_state=0))], memory=Snapshots(every=20), **parameters
        )
        return model.partial_fit(X, np.where(X[:, 0] > 0, "up", "down"), classes=["up", "down"])
    experts = [("sgd", SGDRegressor(random_state=0)), ("linear", LinearRegression())]
    return LongTermMemoryRegressor(experts, memory=Snapshots(every=20), **parameters).partial_fit(X, X[:, 0])


def fine(kind, seed=1, n_rows=10):
    X = np.random.default_rng(seed).normal(size=(n_rows, 3))
    return X, np.where(X[:, 0] > 0, "up", "down") if kind == "classes" else X[:, 0]


def spoilt(array, value):
    array = array.astype(object) if isinstance(value, str) else array.copy()
    array[(3,) + (1,) * (array.ndim - 1)] = value
    return array


#: What is handed in, made from fine rows, and what the message must say.
BAD_ROWS = {
    "more features": (lambda X, y: (np.hstack([X, X]), y), "X has 6 features, but .* is expecting 3 features"),
    "fewer features": (lambda X, y: (X[:, :2], y), "X has 2 features, but .* is expecting 3 features"),
    "NaN in X": (lambda X, y: (spoilt(X, np.nan), y), "Input X contains NaN"),
    "infinity in X": (lambda X, y: (spoilt(X, np.inf), y), "Input X contains infinity"),
    "no rows": (lambda X, y: (X[:0], y[:0]), r"Found array with 0 sample\(s\)"),
    "one axis": (lambda X, y: (X[0], y[:1]), "Expected 2D array, got 1D array instead"),
    "other lengths": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "no targets": (lambda X, y: (X, None), "requires y to be passed"),
    "weights all zero": (lambda X, y: (X, y, np.zeros(len(X))), "[Ss]ample.weight.* (zero|non-zero)"),
    "negative weights": (lambda X, y: (X, y, spoilt(np.ones(len(X)), -1.0)), "[Nn]egative"),
    "weights NaN": (lambda X, y: (X, y, spoilt(np.ones(len(X)), np.nan)), "sample_weight contains NaN"),
    "too few weights": (lambda X, y: (X, y, np.ones(3)), r"sample_weight.shape == \(3,\), expected \(10,\)"),
}
BAD_LABELS = {
    "unseen label": (lambda X, y: (X, spoilt(y, "sideways")), r"label 'sideways' of row 3 is not among .*'down', 'up'"),
    "numbers for words": (lambda X, y: (X, np.arange(len(y))), "label .* of row 0 is not among the classes"),
    "NaN": (lambda X, y: (X, np.full(len(y), np.nan)), "label .*nan.* of row 0 is not among the classes|contains NaN"),
}
BAD_NUMBERS = {
    "NaN in y": (lambda X, y: (X, spoilt(y, np.nan)), "Input y contains NaN"),
    "infinity in y": (lambda X, y: (X, spoilt(y, np.inf)), "Input y contains infinity"),
    "words": (lambda X, y: (X, np.full(len(y), "up")), "could not convert string to float"),
}
BAD = [
    pytest.param(kind, *case, id=f"{kind}-{name}")
    for kind, own in (("classes", BAD_LABELS), ("numbers", BAD_NUMBERS))
    for name, case in {**BAD_ROWS, **own}.items()
]


@pytest.mark.parametrize(("kind", "spoil", "message"), BAD)
def test_bad_input_is_named_and_leaves_everything_as_it_was(kind, spoil, message):
    model, rows = fitted(kind), fine(kind)[0]
    twin = copy.deepcopy(model)
    X, y, *weight = spoil(*fine(kind, seed=2))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weight[0] if weight else None)
    assert_same_outcome(model, twin, rows)
    for seed in (3, 4):
        assert_same_outcome(model.partial_fit(*fine(kind, seed)), twin.partial_fit(*fine(kind, seed)), rows)


@pytest.mark.parametrize(("kind", "spoil", "message"), [case for case in BAD if "features" not in case.id])
def test_bad_input_on_the_first_call_leaves_nothing_behind(kind, spoil, message):
    model = fitted(kind)
    for name in [name for name in vars(model) if name.endswith("_") or name.startswith("_")]:
        delattr(model, name)
    before = dict(vars(model))
    X, y, *weight = spoil(*fine(kind))
    first = {"classes": ["up", "down"]} if kind == "classes" else {}
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weight[0] if weight else None, **first)
    assert vars(model) == before


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_fit_that_fails_leaves_an_ensemble_as_it_was(kind):
    model, rows = fitted(kind), fine(kind)[0]
    twin = copy.deepcopy(model)
    X, y = fine(kind, seed=2)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(spoilt(np.hstack([X, X]), np.nan), y)
    assert_same_outcome(model, twin, rows)


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], "must be a non-empty list"),
        ([("nb", GaussianNB()), ("nb", GaussianNB())], "not unique.*nb"),
        ([("nb", "drop")], "all estimators are dropped"),
        ([("nb", None)], "expert 'nb' is None, which is no estimator"),
        ([("nb", GaussianNB)], "expert 'nb' is .*GaussianNB.*, which is no estimator"),
        ([("sgd", SGDRegressor())], r"expert 'sgd' \(SGDRegressor\) should be a classifier"),
        ([GaussianNB()], "must be a non-empty list"),
        ([(1, GaussianNB())], "strings for names"),
        ([("nb@1", GaussianNB())], "must not contain @.*nb@1"),
        ([("a__b", GaussianNB())], "a__b"),
        ([("nb", FrozenEstimator(GaussianNB()))], "expert 'nb' is frozen but not fitted"),
    ],
)
def test_bad_estimators_are_named(estimators, message):
    model = LongTermMemoryClassifier(estimators)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*fine("classes"), classes=["up", "down"])
    assert not hasattr(model, "classes_")


def test_one_class_is_refused():
    X = np.zeros((5, 2))
    for learn_all in (
        lambda model: model.fit(X, ["a"] * 5),
        lambda model: model.partial_fit(X, ["a"] * 5, classes=["a"]),
    ):
        model = classifier()
        with pytest.raises(ValueError, match=r"just one class, .*'a'"):
            learn_all(model)
        assert not hasattr(model, "classes_")


def test_classes_are_needed_first_and_may_not_change():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        classifier().partial_fit(*next(forecasts(1, 5)))
    model = fitted("classes")
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(*fine("classes"), classes=["up", "down", "sideways"])


@pytest.mark.parametrize("loss", [lambda y, said: np.zeros(2), lambda y, said: np.full(len(y), 7.0)])
@ROUNDS
def test_own_loss_that_fails_leaves_everything_as_it_was(loss, rounds):
    def fails_later(y, said):
        return loss(y, said) if said[0, 0] == 0.123 else np.full(len(y), 0.5)

    model = classifier(loss=fails_later, rounds=rounds, record=5)
    for X, y in forecasts(3, 5):
        model.partial_fit(X, y, classes=CLASSES)
    twin = copy.deepcopy(model)
    X, y = next(forecasts(1, 5))
    bad = X.copy()
    bad[0] = 1.0 - 0.123
    with pytest.raises(ValueError, match="loss must return"):
        model.partial_fit(bad, y)
    assert_same_outcome(model, twin, X)


def test_nan_in_rows_is_left_to_experts_that_take_it():
    X, y = fine("classes", n_rows=60)
    model = LongTermMemoryClassifier([("tree", DecisionTreeClassifier(random_state=0))], memory=None)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model.partial_fit(holes, y, classes=["down", "up"])
    assert np.mean(model.predict(holes) == y) > 0.9


def test_expert_that_takes_no_nan_sleeps_beside_one_that_does():
    experts = [("tree", DecisionTreeClassifier(random_state=0)), ("nb", GaussianNB())]
    model = LongTermMemoryClassifier(experts, loss="zero_one", memory=None)
    X, y = fine("classes", n_rows=60)
    model.partial_fit(X, y, classes=["down", "up"])
    holes = spoilt(X, np.nan)
    with pytest.warns(
        ExpertWarning, match=r"expert 'nb' could not predict and slept: ValueError: Input X contains NaN"
    ):
        said = model.predict_proba(holes)
    np.testing.assert_allclose(said, model.named_estimators_.tree.predict_proba(holes))


# Any size ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1, 2])
@KINDS
def test_few_rows_at_a_time(kind, n_rows):
    model = LongTermMemoryClassifier if kind == "classes" else LongTermMemoryRegressor
    model = model([("learner", SGDClassifier(random_state=0) if kind == "classes" else SGDRegressor(random_state=0))])
    for seed in range(20):
        X, y = fine(kind, seed, n_rows)
        model.partial_fit(X, y, **({"classes": ["up", "down"]} if kind == "classes" else {}))
        assert len(model.predict(X)) == n_rows
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    assert model.n_samples_seen_ == 20 * n_rows


def test_one_expert_alone_is_followed():
    model = classifier(estimators=frozen_readers(ReadsChance, 1))
    for X, y in forecasts(5, 5):
        model.partial_fit(X, y, classes=CLASSES)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], X[:, 0], atol=1e-12)
    np.testing.assert_allclose(model.weights_, [1.0])


def test_many_classes():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, 5)) * 10
    model = LongTermMemoryClassifier([("nb", GaussianNB()), ("sgd", SGDClassifier(random_state=0))])
    for _ in range(12):
        y = rng.integers(0, 200, 200)
        model.partial_fit(centres[y] + rng.normal(size=(200, 5)), y, classes=np.arange(200))
    chances = model.predict_proba(centres)
    assert chances.shape == (200, 200)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.mean(model.predict(centres) == np.arange(200)) > 0.9


def test_expert_of_other_labels_is_wrong_and_does_no_harm():
    X, y = fine("classes", n_rows=50)
    foreign = FrozenEstimator(DummyClassifier(strategy="constant", constant="left").fit(X[:2], ["left", "right"]))
    model = LongTermMemoryClassifier([("foreign", foreign), ("nb", GaussianNB())], memory=None)
    for seed in range(10):
        model.partial_fit(*fine("classes", seed), classes=["up", "down"])
    assert model.loss_[0] == 1.0
    assert model.leader_ in ("nb", "@stack")
    assert np.mean(model.predict(X) == y) > 0.8


@pytest.mark.parametrize("rounds", ["batch", "row"])
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e4, 1e9])
def test_weights_of_a_regressor_do_not_depend_on_the_unit_of_the_targets(scale, rounds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    truths = rng.normal(size=(3, 3))
    y = np.concatenate([rows @ truth for rows, truth in zip(np.split(X, 3), truths, strict=True)])
    weights, said = {}, {}
    for unit in (1.0, scale):
        experts = [(f"e{at}", FrozenEstimator(LinearRegression().fit(X, unit * X @ t))) for at, t in enumerate(truths)]
        model = LongTermMemoryRegressor(experts, rounds=rounds, batch_size=10).fit(X, unit * y)
        weights[unit], said[unit] = model.weights_, model.predict(X) / unit
    np.testing.assert_allclose(weights[scale], weights[1.0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(said[scale], said[1.0], rtol=1e-6, atol=1e-9)
    assert weights[1.0].argmax() == 2


def costs_of_phases(scales, outlier=None, loss="squared_error"):
    """Two constant experts, 0 and the scale, of which each is right in every second phase of 300 rounds."""
    model = LongTermMemoryRegressor(frozen_readers(ReadsNumber, 2), memory=None, loss=loss)
    costs = []
    for phase, scale in enumerate(scales):
        X, right, cost = np.array([[0.0, scale]]), scale * (phase % 2), 0.0
        for at in range(300):
            y = outlier if outlier is not None and (phase, at) == (0, 100) else right
            if phase or at:
                cost += float(abs(model.predict(X)[0] - right)) / scale
            model.partial_fit(X, [y])
        costs.append(cost)
    return np.array(costs)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("outlier", [100.0, 1e4, -1e9])
def test_one_outlier_does_not_stop_the_learning(loss, outlier):
    assert (costs_of_phases([1.0] * 6, outlier, loss)[2:] < 5.0).all()


@pytest.mark.parametrize("scales", [[10.0, 10.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1e3, 1e3, 1e3, 1e3]])
def test_targets_may_come_to_vary_less_or_more(scales):
    assert (costs_of_phases(scales)[3:] < 6.0).all()


def test_target_without_weight_is_as_good_as_none():
    models = [LongTermMemoryRegressor(frozen_readers(ReadsNumber, 2), memory=None) for _ in range(2)]
    X, y = np.array([[0.0, 1.0], [0.2, 0.9], [0.3, 0.1]]), np.array([0.1, 0.8, 1e9])
    models[0].partial_fit(X[:2], y[:2])
    models[1].partial_fit(X, y, sample_weight=[1.0, 1.0, 0.0])
    far = [[1e12, -1e12]]
    np.testing.assert_array_equal(models[0].predict(far), models[1].predict(far))
    np.testing.assert_allclose(models[0].weights_, models[1].weights_)


def test_constant_targets_and_runaway_predictions_are_borne():
    model = regressor(record=5)
    X = np.tile([5.0, 1e300, -1e300, 4.0], (3, 1))
    with pytest.warns(ExpertWarning, match="absurdly large"):
        model.partial_fit(X, np.full(3, 5.0))
    for _ in range(50):
        model.partial_fit(X, np.full(3, 5.0))
    assert model.leader_ == "column0"
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.weights_).all()
    model.partial_fit(X, [5.0, 6.0, 7.0])
    assert 3.0 <= model.predict(X)[0] <= 9.0


# Sample weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: classifier(loss="zero_one"),  # for the stack, a row of weight 2 is one step, not two
        regressor,
        lambda: regressor(loss="absolute_error", combine="leader"),
    ],
)
def test_weight_of_a_row_is_as_many_rows(make):
    weighted, repeated = make(), make()
    rng = np.random.default_rng(0)
    for X, y in forecasts(30, 6):
        times = rng.integers(0, 4, 6)
        times[0] += 1
        learn(repeated, X.repeat(times, axis=0), y.repeat(times))
        first = {"classes": CLASSES} if isinstance(weighted, LongTermMemoryClassifier) else {}
        weighted.partial_fit(X, y, sample_weight=times, **first)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-9)
    np.testing.assert_allclose(weighted.loss_, repeated.loss_, rtol=1e-9)
    assert np.ptp(weighted.weights_) > 0.01


def test_weights_of_all_rows_alike_change_nothing():
    plain, doubled = classifier(rounds="row"), classifier(rounds="row")
    for X, y in forecasts(10, 5):
        plain.partial_fit(X, y, classes=CLASSES)
        doubled.partial_fit(X, y, classes=CLASSES, sample_weight=np.full(5, 2.0))
    np.testing.assert_allclose(doubled.weights_, plain.weights_, rtol=1e-12)


# How predictions become one ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learned():
    models = {combine: classifier(combine=combine, random_state=0) for combine in ("average", "leader", "sample")}
    for X, y in forecasts(4, 5):
        for model in models.values():
            model.partial_fit(X, y, classes=CLASSES)
    return models


def test_average_weighs_the_experts(learned):
    X, _ = next(forecasts(1, 7, seed=1))
    model = learned["average"]
    *_, stacked = model.transform(X)[:, 1::2].T
    expected = np.column_stack([X, stacked]) @ model.weights_
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-12)


def test_leader_is_followed_alone(learned):
    X, _ = next(forecasts(1, 7, seed=1))
    model = learned["leader"]
    at = int(model.leader_.removeprefix("column"))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], X[:, at], atol=1e-12)


def test_one_expert_is_drawn_for_a_round_and_the_same_one_however_often_it_is_asked(learned):
    X, _ = next(forecasts(1, 7, seed=1))
    said = learned["sample"].predict_proba(X)[:, 1]
    assert any(np.allclose(said, column) for column in X.T)
    np.testing.assert_array_equal(learned["sample"].predict_proba(X)[:, 1], said)


def test_each_round_has_a_draw_of_its_own():
    model, drawn = classifier(combine="sample", random_state=0), set()
    for X, y in forecasts(20, 3):
        model.partial_fit(np.tile(X[:, :1], K), y, classes=CLASSES)  # all alike, so that their weights stay the same
        said = model.predict_proba(np.arange(K)[np.newaxis] / 10)[0, 1]
        drawn.add(round(10 * said))
    assert len(drawn) > 1


def test_experts_are_drawn_as_often_as_their_weights_say():
    model = classifier(combine="sample", rounds="row", random_state=0)
    for X, y in forecasts(1, 3):
        model.partial_fit(X, y, classes=CLASSES)
    X = np.tile(np.arange(K) / 10, (20_000, 1))
    drawn = np.round(10 * model.predict_proba(X)[:, 1]).astype(int)
    np.testing.assert_allclose(np.bincount(drawn, minlength=K) / len(X), model.weights_, atol=0.02)


def test_expert_that_sleeps_is_neither_leader_nor_drawn():
    X, _ = moody_rows(RAISES_IN_PREDICT)
    for combine in ("leader", "sample"):
        model = moody("numbers", combine=combine, random_state=0)
        for seed in range(20):
            learn(model, *moody_rows(seed=seed))
        assert model.leader_ == "moody"
        with pytest.warns(ExpertWarning):
            np.testing.assert_array_equal(model.predict(X), X[:, 2])


# What is shown ----------------------------------------------------------------------------------------------------


def test_leader_is_one_that_can_predict():
    model = LongTermMemoryClassifier([("nb", GaussianNB())], memory=Snapshots(every=5, on_drift=False))
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.tile([0, 1], 100)
    for rows in range(0, 200, 5):
        model.partial_fit(X[rows : rows + 5], y[rows : rows + 5], classes=CLASSES)  # the young one has just begun
        assert model.leader_ != "nb@restarted"


def test_history_of_rows_has_the_mean_of_the_weights_that_were_played():
    model, algorithm = classifier(loss="zero_one", rounds="row", record=10), LongTermMemory()
    for at, (batch, labels) in enumerate(forecasts(2, 50)):
        model.partial_fit(batch, labels, classes=CLASSES)
        played = algorithm.run(((batch > 0.5) != labels[:, np.newaxis]).astype(float))
        weights = list(model.history_[at].weights.values())
        np.testing.assert_allclose(weights, played.mean(axis=0))


def test_views_of_the_experts_agree():
    model = fitted("classes")
    for seed in range(10):
        model.partial_fit(*fine("classes", seed))
    experts = model.experts_
    np.testing.assert_array_equal([expert.weight for expert in experts], model.weights_)
    np.testing.assert_array_equal([expert.loss for expert in experts], model.loss_)
    assert experts[int(model.weights_.argmax())].name == model.leader_
    assert len({expert.name for expert in experts}) == len(experts)
    assert {expert.kind for expert in experts} == {"live", "restarted", "snapshot", "stack"}
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    assert all(0.0 <= expert.long_term_weight <= 1.0 for expert in experts)
    assert list(model.named_estimators_) == ["nb", "sgd"]
    assert model.transform(fine("classes")[0]).shape == (10, 2 * len(experts))
    assert len(model.get_feature_names_out()) == 2 * len(experts)


def test_mean_losses_and_weights_are_means_over_the_rounds():
    model, losses, weights = classifier(loss="zero_one"), [], []
    for X, y in forecasts(20, 5):
        model.partial_fit(X, y, classes=CLASSES)
        losses.append(wrong(X, y).mean(axis=0))
        weights.append(model.weights_)
    np.testing.assert_allclose(model.loss_, np.mean(losses, axis=0))
    np.testing.assert_allclose([expert.long_term_weight for expert in model.experts_], np.mean(weights, axis=0))


def test_nothing_is_shown_before_the_first_round():
    for name in ("weights_", "leader_", "experts_", "loss_", "n_rounds_", "history_", "estimators_"):
        assert not hasattr(classifier(record=3), name)


def test_there_is_no_history_unless_it_is_asked_for():
    model = classifier()
    for X, y in forecasts(3, 5):
        model.partial_fit(X, y, classes=CLASSES)
    with pytest.raises(AttributeError, match="no history_ without record="):
        _ = model.history_


@ROUNDS
@pytest.mark.parametrize("record", [1, 2, 7, 64, 1000])
def test_history_covers_the_whole_stream_in_bounded_space(record, rounds):
    model, alone = classifier(loss="zero_one", record=record, rounds=rounds), LongTermMemory()
    issued, losses = [], []
    for X, y in forecasts(150, 4):
        said = X @ alone.weights(K)
        model.partial_fit(X, y, classes=CLASSES)
        issued.append(alone.weights())
        losses.append(wrong(X, y).mean(axis=0))
        if rounds == "batch":
            alone.update(losses[-1])
            issued[-1] = (issued[-1], np.mean((said > 0.5) != y))
    history = model.history_
    assert min(record, 150) / 2 <= len(history) <= record
    assert sum(part.n_rounds for part in history) == model.n_rounds_
    assert [part.round for part in history] == np.cumsum([part.n_rounds for part in history]).tolist()
    shares = [part.n_rounds for part in history]
    mean_losses = np.average([list(part.losses.values()) for part in history], axis=0, weights=shares)
    np.testing.assert_allclose(mean_losses, np.mean(losses, axis=0))
    if rounds == "batch":  # and what was issued, with its weights
        mean_weights = np.average([list(part.weights.values()) for part in history], axis=0, weights=shares)
        np.testing.assert_allclose(mean_weights, np.mean([weights for weights, _ in issued], axis=0), atol=1e-12)
        lost = np.average([part.loss for part in history], weights=shares)
        assert lost == pytest.approx(np.mean([lost for _, lost in issued]))


# Saved states -----------------------------------------------------------------------------------------------------

STREAM = """
import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.tree import DecisionTreeRegressor
from ltm_sklearn import LongTermMemoryRegressor, Snapshots

def batch(at):
    rng = np.random.default_rng(at)
    X = rng.normal(size=(10, 2))
    return X, X[:, 0] * (-1.0 if at // 10 % 2 else 1.0)

def fresh():
    experts = [("sgd", SGDRegressor(random_state=0)), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    return LongTermMemoryRegressor(experts, memory=Snapshots(every=30), combine="sample", random_state=0, record=8)
"""

UNTIL_KILLED = """
import os, pickle, signal, sys

model = fresh()
for at in range(60):
    if at == 37:
        os.kill(os.getpid(), signal.SIGKILL)
    model.partial_fit(*batch(at))
    if at % 5 == 4:
        with open("state.new", "wb") as file:
            pickle.dump(model, file)
        os.replace("state.new", "state.pickle")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_stream_goes_on_from_the_last_saved_state_as_if_the_process_had_not_been_killed(tmp_path):
    killed = subprocess.run([sys.executable, "-c", STREAM + textwrap.dedent(UNTIL_KILLED)], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    names = {}
    exec(STREAM, names)
    model, unbroken = pickle.loads((tmp_path / "state.pickle").read_bytes()), names["fresh"]()
    assert model.n_rounds_ == 35
    for at in range(60):
        unbroken.partial_fit(*names["batch"](at))
        if at >= 35:
            model.partial_fit(*names["batch"](at))
            assert_same_outcome(model, unbroken, names["batch"](100)[0])
    assert model.history_ == unbroken.history_
    assert len(model.experts_) > 5


def test_copies_go_their_own_ways():
    model = fitted("classes")
    twin, rows = copy.deepcopy(model), fine("classes")[0]
    before = model.predict_proba(rows)
    for seed in range(20):
        twin.partial_fit(fine("classes", seed)[0], fine("classes", seed + 1)[1])
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    assert model.n_rounds_ == 1


def test_frozen_experts_are_never_changed():
    X, y = fine("numbers", n_rows=50)
    inner = SGDRegressor(random_state=0).fit(X, y)
    as_given = pickle.dumps(inner)
    model = LongTermMemoryRegressor([("frozen", FrozenEstimator(inner)), ("sgd", SGDRegressor(random_state=0))])
    for seed in range(40):
        model.partial_fit(*fine("numbers", seed))
    assert pickle.dumps(inner) == as_given
    assert pickle.dumps(model.named_estimators_.frozen.estimator) == as_given
