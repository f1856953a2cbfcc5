"""Single cases of hostile input that were once answered wrongly, and those that need many rows."""

import resource
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from stream_experts import Says
from support.expert_algorithms import ANY_SIZE, assert_distribution, for_each

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.bandits import Exp3
from ltm_sklearn.ensemble import ExpertWarning, IncrementalPipeline, SlidingWindow
from ltm_sklearn.experts import Squint
from ltm_sklearn.forecasting import _series_state as _cells
from ltm_sklearn.losses._classification import CLASS_LOSSES
from ltm_sklearn.streams import Led, RandomTree, led

pytestmark = pytest.mark.fast_cases(2)

X = np.random.default_rng(0).normal(size=(10, 2))
Y = X[:, 0]
HUGE = np.array([10**400] * 10, dtype=object)


def regressor():
    return LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))]).partial_fit(X, Y)


def classifier():
    return LongTermMemoryClassifier([("nb", GaussianNB())])


def test_whole_numbers_beyond_all_floats_are_named():
    with pytest.raises(ValueError, match="y has a number that is too large"):
        regressor().partial_fit(X, HUGE)
    with pytest.raises(ValueError, match="X has a number that is too large"):
        regressor().predict(np.column_stack([HUGE, HUGE]))
    with pytest.raises(ValueError, match="sample_weight has a number that is too large"):
        regressor().partial_fit(X, Y, sample_weight=HUGE)
    with pytest.raises(ValueError, match="y has a number that is too large"):
        ExpertMixture().fit(X, HUGE)


@pytest.mark.parametrize("dtype", ["timedelta64[s]", "datetime64[s]"])
def test_dates_are_no_numbers(dtype):
    with pytest.raises(ValueError, match="X must be numbers"):
        regressor().partial_fit(X.astype("int64").astype(dtype), Y)


def test_labels_of_several_kinds_are_named():
    mixed = np.array(["a", 1] * 5, dtype=object)
    with pytest.raises(ValueError, match="labels of one kind"):
        classifier().partial_fit(X, mixed, classes=["a", 1, None])
    with pytest.raises((ValueError, TypeError), match=r"y|label"):
        classifier().fit(X, mixed)


def test_no_labels_at_all_are_named():
    with pytest.raises(ValueError, match=r"y has none|0 sample"):
        classifier().fit(X[:0], np.array([]))


@pytest.mark.parametrize(("ids", "message"), [(3, "ids=3 must be a sequence"), ([[1]] * 10, "is not hashable")])
def test_ids_that_are_none_are_named(ids, message):
    model = regressor()
    with pytest.raises(ValueError, match=message):
        model.issue(X, ids)
    with pytest.raises(ValueError, match=message):
        model.learn(ids, Y)


def test_pipeline_whose_last_step_refuses_has_learned_nothing():
    model = IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGDRegressor())]).partial_fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(X + 100.0, Y[:-1])
    assert model["scale"].n_samples_seen_ == 10


def test_window_that_cannot_be_fitted_anew_has_its_old_rows():
    model = SlidingWindow(LinearRegression()).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.fit(np.nan, Y)
    np.testing.assert_array_equal(model.predict(X), before)


def test_counts_beyond_reason_are_errors_and_no_hang():
    with pytest.raises(ValueError, match="n_concepts"):
        led(2**63)
    with pytest.raises(ValueError, match="depth"):
        RandomTree(depth=2**63)
    with pytest.raises(ValueError, match="n_seeds"):
        Exp3().run(np.zeros((2, 2)), n_seeds=2**63)
    with pytest.raises(ValueError, match="seed"):
        Led(seed=np.nan)


# What needs many rows or classes ------------------------------------------------------------------------------------


def test_a_label_that_is_none_of_a_million_is_named_in_a_short_message():
    labels = np.arange(1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=r"label .*-1.* of row 0 is not among .* and 999,980 more") as error:
        classifier().partial_fit(X[:1], [-1], classes=labels)
    assert len(str(error.value)) < 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB


@pytest.mark.parametrize("loss", ["auto", *CLASS_LOSSES])
def test_many_classes_take_memory_in_proportion(loss):
    model = LongTermMemoryClassifier([("first", Says()), ("second", Says(1))], loss=loss, memory=None)
    labels = np.arange(20_000)  # whose squares would take 3 GB
    tracemalloc.start()
    try:
        for _ in range(3):
            model.partial_fit(X[:2], [0, 1], classes=labels)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100e6
    assert np.isin(model.predict(X[:2]), [0, 1]).all()


class SaysNumber(RegressorMixin, BaseEstimator):
    """Always the same number."""

    def __init__(self, number=0.0):
        self.number = number

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.number)


def test_first_rows_that_no_expert_can_learn_are_told_of():
    rows = pd.DataFrame({"a": np.zeros(10, dtype=object)})
    rows.at[3, "a"] = [1, 2]
    with pytest.raises(ValueError, match="setting an array element with a sequence") as caught:
        LongTermMemoryRegressor([("sgd", SGDRegressor())]).fit(rows, Y)
    assert caught.value.__notes__ == ["raised when the first of the experts was to learn; no other can, either"]


def test_negative_probabilities_are_called_so():
    class Negative(GaussianNB):
        def predict_proba(self, X):
            return np.full((len(X), 2), [-0.5, 1.5])

    labels = Y > 0
    model = LongTermMemoryClassifier([("odd", Negative()), ("nb", GaussianNB())], memory=None).fit(X, labels)
    with pytest.warns(ExpertWarning, match="expert 'odd' could not predict and slept: .*a negative probability"):
        model.predict(X)


BIG = sys.float_info.max


@pytest.mark.parametrize("number", [BIG, -BIG])
@pytest.mark.parametrize("n_experts", [6, 7, 49])
def test_mixtures_of_the_largest_floats_are_finite(n_experts, number):
    experts = [(f"expert {at}", SaysNumber(number)) for at in range(n_experts)]
    model = LongTermMemoryRegressor(experts, memory=None)
    for _ in range(4):
        model.partial_fit(X, np.full(10, number))
        np.testing.assert_allclose(model.predict(X), number, rtol=1e-12)


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("n_experts", [6, 7, 49])
def test_tables_of_the_largest_floats_are_mixed_to_such(n_experts, lazy, is_compiled, monkeypatch):
    if not is_compiled:
        monkeypatch.setattr(_cells, "kernel", None)
    table = np.full((10, n_experts), BIG)
    if lazy:
        table[::2, 1:3] = np.nan
    mixture = ExpertMixture(record=10).fit(table, np.full(10, BIG))
    np.testing.assert_allclose(mixture.predict(table), BIG, rtol=1e-12)
    np.testing.assert_allclose(mixture.run_record().predictions, BIG, rtol=1e-12)


def chase(algorithm, n_rounds, scale, sleeping):
    """Losses to whoever has the largest weight; returns what the mixture lost beyond the best expert."""
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
@pytest.mark.parametrize("scale", [1.0, 1e-300, 5e-324])
def test_losses_that_chase_the_weights_leave_a_distribution(make, scale):
    chase(make(), 40, scale, sleeping=True)


def test_losses_that_chase_the_weights_stay_within_the_bound():
    n_rounds = 2000
    regret = chase(Squint(), n_rounds, 1.0, sleeping=False)
    # Koolen and van Erven (2015), Theorem 4, with V <= T and a uniform prior over four experts
    inner = np.log(4.0) + np.log(0.5 + np.log(n_rounds + 1.0))
    assert regret <= np.sqrt(2.0 * n_rounds) * (1.0 + np.sqrt(2.0 * inner)) + 5.0 * inner
