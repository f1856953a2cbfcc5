"""The largest floats, many classes, losses that chase the weights, and odd outputs of models."""

import resource
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import GaussianNB
from support.expert_algorithms import ANY_SIZE, assert_distribution, for_each
from support.stream_experts import Says

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.evaluation import crps
from ltm_sklearn.experts import Squint
from ltm_sklearn.forecasting import _series_state
from ltm_sklearn.losses._classification_score import CLASS_LOSSES

pytestmark = pytest.mark.fast_cases(2)

X = np.random.default_rng(0).normal(size=(10, 2))
Y = X[:, 0]
LARGEST = sys.float_info.max


class SaysNumber(RegressorMixin, BaseEstimator):
    """Predict a constant."""

    def __init__(self, number=0.0):
        self.number = number

    def fit(self, X, y):
        return self

    partial_fit = fit

    def predict(self, X):
        return np.full(len(X), self.number)


@pytest.mark.parametrize("number", [LARGEST, -LARGEST])
@pytest.mark.parametrize("n_experts", [6, 7, 49])
def test_a_combination_of_the_largest_floats_is_finite(n_experts, number):
    experts = [(f"expert {at}", SaysNumber(number)) for at in range(n_experts)]
    model = LongTermMemoryRegressor(experts, memory=None)
    for _ in range(4):
        model.partial_fit(X, np.full(10, number))
        np.testing.assert_allclose(model.predict(X), number, rtol=1e-12)


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("with_gaps", [False, True])
@pytest.mark.parametrize("n_experts", [6, 7, 49])
def test_a_mixture_of_the_largest_floats_is_finite(n_experts, with_gaps, is_compiled, monkeypatch):
    if not is_compiled:
        monkeypatch.setattr(_series_state, "kernel", None)
    table = np.full((10, n_experts), LARGEST)
    if with_gaps:
        table[::2, 1:3] = np.nan
    mixture = ExpertMixture(record=10).fit(table, np.full(10, LARGEST))
    np.testing.assert_allclose(mixture.predict(table), LARGEST, rtol=1e-12)
    np.testing.assert_allclose(mixture.run_record().predictions, LARGEST, rtol=1e-12)


def test_scores_of_the_largest_quantiles_are_finite():
    assert np.isfinite(crps([1e308, -1e308], [[-1e308, 1e308]] * 2, [0.1, 0.9]))


# Many classes -------------------------------------------------------------------------------------------------------


def test_an_unknown_label_among_a_million_is_named_briefly():
    labels = np.arange(1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = LongTermMemoryClassifier([("nb", GaussianNB())])
    with pytest.raises(ValueError, match=r"label .*-1.* of row 0 is not among .* and 999,980 more") as error:
        model.partial_fit(X[:1], [-1], classes=labels)
    assert len(str(error.value)) < 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB


@pytest.mark.parametrize("loss", ["auto", *CLASS_LOSSES])
def test_memory_is_proportional_to_the_number_of_classes(loss):
    model = LongTermMemoryClassifier([("first", Says()), ("second", Says(1))], loss=loss, memory=None)
    labels = np.arange(20_000)  # whose squares would take 3 GB
    tracemalloc.start()
    try:
        for _ in range(3):
            model.partial_fit(X[:2], [0, 1], classes=labels)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6
    assert np.isin(model.predict(X[:2]), [0, 1]).all()


# Odd outputs of models ----------------------------------------------------------------------------------------------


class SaysLists(Says):
    """Predict the same probabilities, as a list of rows."""

    def __init__(self, as_row=list):
        self.as_row = as_row

    def predict_proba(self, X):
        return [self.as_row((0.2, 0.8)) for _ in range(len(X))]


@pytest.mark.parametrize("as_row", [list, tuple, np.array])
def test_probabilities_may_be_a_list_of_rows(as_row):
    model = LongTermMemoryClassifier([("lists", SaysLists(as_row))], memory=None, on_error="raise")
    for _ in range(3):
        model.partial_fit(X, Y > 0.0, classes=[False, True])
    assert model.predict_proba(X)[0].tolist() == [0.2, 0.8]


@pytest.mark.parametrize("row", [[0.2], [0.2, None], [0.2, "text"], [0.2, [0.8]]], ids=str)
def test_lists_that_are_no_table_of_probabilities_are_an_error(row):
    model = LongTermMemoryClassifier([("lists", SaysLists(lambda _: row))], memory=None, on_error="raise")
    model.partial_fit(X, Y > 0.0, classes=[False, True])  # in which no model is queried
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        model.partial_fit(X, Y > 0.0)


def test_negative_probabilities_are_named():
    class Negative(GaussianNB):
        def predict_proba(self, X):
            return np.full((len(X), 2), [-0.5, 1.5])

    model = LongTermMemoryClassifier([("odd", Negative()), ("nb", GaussianNB())], memory=None).fit(X, Y > 0)
    with pytest.warns(ExpertWarning, match="expert 'odd' could not predict and slept: .*a negative probability"):
        model.predict(X)


def test_first_rows_that_no_expert_can_learn_are_an_error():
    rows = pd.DataFrame({"a": np.zeros(10, dtype=object)})
    rows.at[3, "a"] = [1, 2]
    with pytest.raises(ValueError, match="setting an array element with a sequence") as caught:
        LongTermMemoryRegressor([("sgd", SGDRegressor())]).fit(rows, Y)
    assert caught.value.__notes__ == ["raised when the first of the experts was to learn; no other can, either"]


# Losses that chase the weights --------------------------------------------------------------------------------------


def chase(algorithm, n_rounds, scale, sleeping):
    """Give losses to the expert with the largest weight; return the regret of the mixture."""
    rng = np.random.default_rng(0)
    mixture, experts = 0.0, np.zeros(4)
    for _ in range(n_rounds):
        weights = algorithm.weights(4)
        assert_distribution(weights)
        losses = np.zeros(4)
        losses[weights.argmax()] = scale
        mixture += weights @ losses
        experts += losses
        if sleeping and rng.random() < 0.3:
            losses[rng.integers(4)] = np.nan
        algorithm.update(losses)
    return mixture - experts.min()


@for_each(ANY_SIZE)
def test_losses_that_chase_the_weights_leave_a_distribution(make):
    for scale in (1.0, 1e-300, 5e-324):
        chase(make(), 40, scale, sleeping=True)


def test_losses_that_chase_the_weights_stay_within_the_bound():
    n_rounds = 2000
    regret = chase(Squint(), n_rounds, 1.0, sleeping=False)
    # Koolen and van Erven (2015), Theorem 4, with V <= T and a uniform prior over four experts
    inner = np.log(4.0) + np.log(0.5 + np.log(n_rounds + 1.0))
    assert regret <= np.sqrt(2.0 * n_rounds) * (1.0 + np.sqrt(2.0 * inner)) + 5.0 * inner
