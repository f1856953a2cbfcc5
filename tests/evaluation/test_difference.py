"""Difference between two models with its confidence interval, and baselines without features."""

import numpy as np
import pytest
from scipy.stats import t

from ltm_sklearn.evaluation import LastTarget, MostFrequent, RunningMean, prequential
from ltm_sklearn.evaluation._difference import batch_means


def test_interval_of_equal_stretches_is_that_of_student():
    blocks = np.random.default_rng(0).normal(size=60)
    found = batch_means(blocks, np.full(60, 50.0), 0.9)
    means = blocks.reshape(20, 3).mean(axis=1)
    low, high = t.interval(0.9, 19, means.mean(), means.std(ddof=1) / np.sqrt(20))
    np.testing.assert_allclose([found.mean, found.low, found.high], [blocks.mean(), low, high])
    np.testing.assert_allclose(found.stretches, means)
    assert found.ends[-1] == 3000


def test_interval_covers_the_mean_of_an_autocorrelated_series():
    noise = np.random.default_rng(0).normal(size=(200, 4000))
    series = noise.copy()
    for at in range(1, 4000):
        series[:, at] += 0.8 * series[:, at - 1]
    found = [batch_means(each.reshape(80, 50).mean(axis=1), np.full(80, 50.0), 0.95) for each in series]
    assert sum(each.low < 0.0 < each.high for each in found) >= 180
    too_narrow = 1.96 * series.std(axis=1) / np.sqrt(4000)  # as if rows were independent
    assert (np.abs(series.mean(axis=1)) < too_narrow).sum() < 140


def test_blocks_without_predictions_do_not_count():
    found = batch_means(np.array([np.nan, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0]), np.array([0.0] + [10.0, 30.0] * 3), 0.95)
    assert found.mean == 2.5
    assert found.low < 2.5 < found.high
    empty = batch_means(np.array([np.nan]), np.array([0.0]), 0.95)
    assert np.isnan(empty.mean)
    assert not empty.is_significant


@pytest.mark.parametrize("n_blocks", [1, 2, 4])
def test_fewer_than_five_stretches_have_no_interval(n_blocks):
    found = batch_means(np.full(n_blocks, 0.02), np.full(n_blocks, 50.0), 0.95)
    assert found.mean == pytest.approx(0.02)
    assert np.isnan(found.low)
    assert not found.is_significant


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_invalid_levels_are_named(level):
    result = prequential({"a": MostFrequent(), "b": MostFrequent()}, (np.zeros((20, 1)), np.arange(20) % 2))
    with pytest.raises(ValueError, match=r"level=.* in \(0, 1\)"):
        result.difference("a", "b", level=level)


def test_unknown_model_is_named():
    result = prequential({"a": MostFrequent()}, (np.zeros((20, 1)), np.arange(20) % 2))
    with pytest.raises(ValueError, match=r"no model 'b'; the models are \['a'\]"):
        result.difference("a", "b")


def test_baselines_predict_from_the_targets_alone():
    X, y = np.zeros((3, 1)), np.array(["a", "b", "b"])
    assert LastTarget().partial_fit(X, np.array(["a", "b", "c"])).predict(X).tolist() == ["c"] * 3
    frequent = MostFrequent().partial_fit(X, y, classes=np.array(["a", "b", "c"]))
    assert frequent.predict(X).tolist() == ["b"] * 3
    np.testing.assert_allclose(frequent.predict_proba(X)[0], [2 / 6, 3 / 6, 1 / 6])
    mean = RunningMean().partial_fit(X, np.array([1.0, 2.0, 3.0])).partial_fit(X[:1], np.array([6.0]))
    assert mean.predict(X).tolist() == [3.0] * 3
