"""Continuous ranked probability score of quantile forecasts."""

import numpy as np
import pytest
from scipy.stats import norm

from ltm_sklearn.evaluation import crps


@pytest.mark.parametrize("levels", [np.arange(0.5, 2000) / 2000, np.sort(norm.cdf(np.linspace(-6, 6, 4001)))])
def test_crps_of_many_quantiles_is_that_of_the_distribution(levels):
    mean, deviation, y = np.array([0.0, 1.0, -3.0]), np.array([1.0, 2.0, 0.1]), np.array([0.3, -4.0, -3.0])
    z = (y - mean) / deviation
    closed_form = deviation * (z * (2.0 * norm.cdf(z) - 1.0) + 2.0 * norm.pdf(z) - 1.0 / np.sqrt(np.pi))
    quantiles = mean[:, np.newaxis] + deviation[:, np.newaxis] * norm.ppf(levels)
    np.testing.assert_allclose(crps(y, quantiles, levels, mean=False), closed_form, rtol=2e-3)
    assert crps(y, quantiles, levels) == pytest.approx(closed_form.mean(), rel=2e-3)


def test_crps_of_the_median_is_the_absolute_error():
    assert crps([1.0, 5.0], [[3.0], [4.0]], [0.5]) == pytest.approx(1.5)


def test_weight_of_a_level_is_the_length_of_its_interval():
    score = crps([7.0], [[1.0, 9.0]], [0.2, 0.6])  # the intervals meet at 0.4
    assert score == pytest.approx(2.0 * (0.4 * 0.2 * 6.0 + 0.6 * 0.4 * 2.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [[1.0, 1.0]], [0.5]), "levels must have one value for each of the 2 columns"),
        (([1.0], [[1.0, 1.0]], [0.5, 0.5]), "must increase"),
        (([1.0], [[1.0, 1.0]], [0.0, 0.5]), "levels="),
        (([1.0], [[1.0, np.nan]], [0.1, 0.5]), "row 0, column 1 has nan"),
        (([1.0], [[1.0, 1.0]] * 3, [0.1, 0.5]), "quantile_forecasts"),
    ],
)
def test_invalid_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        crps(*arguments)
