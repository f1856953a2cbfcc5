"""The panel against a plain implementation, row by row, in all combinations of its options.

The plain implementation uses aggregators, which have tests of their own, and nothing else: no schedule, no kernel.
"""

import numpy as np
import pandas as pd
import pytest

from ltm_sklearn import ExpertMixture
from ltm_sklearn.aggregation._aggregator import Aggregator, ForecastRows
from ltm_sklearn.losses import LOSSES, Pinball
from ltm_sklearn.losses._regression_losses import OutputLosses

pytestmark = pytest.mark.fast_cases(3)

FADING = np.exp(-1.0 / 100.0)


class PlainState:
    """One set of weights: what was issued after each round, and from how many known rows on."""

    def __init__(self, prior):
        self.aggregator = Aggregator(None, True, prior / prior.sum())
        self.versions = [(0, self.aggregator.current_weights(), self.aggregator.issued_views())]

    def version_at(self, begin):
        return max(at for at, (known, _, _) in enumerate(self.versions) if known <= begin)

    def predict(self, begin, x, a):
        _, current_weights, _ = self.versions[self.version_at(begin)]
        filled = np.where(a > 0, x, (a * np.nan_to_num(x)).sum() / a.sum())
        return (current_weights.mixtures(filled[np.newaxis], a[np.newaxis]) @ current_weights.arbiter_weights)[0]

    def learn(self, begin, known, rows, losses):
        at = self.version_at(begin)
        _, current_weights, views = self.versions[at]
        x, a = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        y, weights, outputs = (np.array([row[part] for row in rows]) for part in (2, 3, 4))
        if weights.any():
            means = (a * np.nan_to_num(x)).sum(axis=1) / a.sum(axis=1)
            x = np.where(a > 0, x, means[:, np.newaxis])
            late = views if at < len(self.versions) - 1 else None
            self.aggregator.update(current_weights, late, ForecastRows(x, y, a, weights, outputs), losses)
        self.versions.append((known, self.aggregator.current_weights(), self.aggregator.issued_views()))


def plain_predictions(X, y, awake, weights, groups, series, losses, *, block, lag, pooled, bias, shared):
    """Predictions as issued, (n_rows, n_outputs)."""
    n_rows, n_experts, n_outputs = X.shape
    predictions = np.empty((n_rows, n_outputs))
    weights = weights / np.maximum.accumulate(weights)
    awake = awake[:, :, np.newaxis] * ~np.isnan(X)
    means = (awake * np.nan_to_num(X)).sum(axis=1) / awake.sum(axis=1)
    prior = np.full(n_experts + 2 * bias, 1.0 / (n_experts + 2 * bias))
    for name in np.unique(series):
        of_series, states = np.flatnonzero(series == name), {}
        scales, summed, count = [(0, np.full(n_outputs, np.nan))], np.zeros(n_outputs), 0.0
        for begin in range(0, len(of_series), block):
            rows, known = of_series[begin : begin + block], begin + block + lag
            scale = [value for since, value in scales if since <= begin][-1]
            rounds = {}
            for row in rows:
                for output in range(n_outputs):
                    x, a = X[row, :, output], awake[row, :, output].astype(float)
                    if bias:
                        around = means[row, output] + scale[output] * np.array([1.0, -1.0])
                        x, a = np.append(around, x), np.append(~np.isnan(around), a)
                    which = 0 if shared else output
                    if pooled:
                        pool = states.setdefault(("all", which), None) or PlainState(prior)
                        states["all", which] = pool
                        mixture = pool.predict(begin, x, a)
                        rounds.setdefault(("all", which), []).append((x, a, y[row, output], weights[row], output))
                        x, a = np.append(mixture, x), np.append(1.0, a)
                    key = (groups[row], which)
                    if key not in states:
                        states[key] = PlainState(np.append(prior.sum(), prior) if pooled else prior)
                    predictions[row, output] = states[key].predict(begin, x, a)
                    rounds.setdefault(key, []).append((x, a, y[row, output], weights[row], output))
            if len(rows) < block:
                break
            for key, its in rounds.items():
                states[key].learn(begin, known, its, losses)
            part = weights[rows].mean()
            if part > 0.0:
                error = weights[rows] @ np.abs(means[rows] - y[rows]) / weights[rows].sum()
                summed, count = FADING * summed + part * error, FADING * count + part
                scales.append((known, 2.0 * summed / count))
    return predictions


@pytest.mark.parametrize("seed", range(40))
def test_predictions_equal_a_plain_implementation(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_experts, n_outputs = 90, 3, int(rng.integers(1, 3))
    options = {
        "block": int(rng.choice([1, 1, 4, 7])),
        "lag": int(rng.choice([0, 0, 1, 5])),
        "bias": bool(rng.integers(2)),
        "shared": bool(rng.integers(2)),
    }
    grouped = bool(rng.integers(2))
    options["pooled"] = grouped and bool(rng.integers(2))
    groups = rng.integers(3, size=n_rows) if grouped else np.zeros(n_rows, dtype=int)
    series = rng.integers(2, size=n_rows) if rng.integers(2) else np.zeros(n_rows, dtype=int)
    y = rng.normal(size=(n_rows, n_outputs)).cumsum(axis=0) + 50.0
    X = y[:, np.newaxis] + rng.normal(size=(n_rows, n_experts, n_outputs)) * np.array([0.3, 1.0, 2.0])[:, np.newaxis]
    if rng.integers(2):
        X[:, 1:][rng.random(X[:, 1:].shape) < 0.3] = np.nan
    awake = rng.random((n_rows, n_experts)) if rng.integers(2) else np.ones((n_rows, n_experts))
    awake[:, 0] = np.maximum(awake[:, 0], 0.1)
    weights = rng.random(n_rows) * 3.0 if rng.integers(2) else np.ones(n_rows)
    weights[5:9] *= rng.integers(2)
    quantiles = [0.2, 0.7] if n_outputs == 2 and rng.integers(2) else None
    name = str(rng.choice(["squared_error", "absolute_error", "absolute_percentage_error", "huber"]))
    losses = OutputLosses([Pinball(q) for q in quantiles] if quantiles else [LOSSES[name]] * n_outputs)
    if quantiles:
        y[:, 1] = y[:, 0]
    expected = plain_predictions(X, y, awake, weights, groups, series, losses, **options)
    if quantiles:
        expected = np.sort(expected, axis=1)
        options["quantiles"] = quantiles
    else:
        options["loss"] = name
    columns = pd.MultiIndex.from_product([["a", "b", "c"], quantiles or list(range(n_outputs))])
    table = pd.DataFrame(X.reshape(n_rows, -1), columns=columns)
    table[("hour", "")], table[("id", "")] = groups, series
    mixture = ExpertMixture(series="id", group="hour" if grouped else None, record=1000, **options)
    if not grouped:
        table = table.drop(columns=[("hour", "")])
    targets = y[:, 0] if quantiles or n_outputs == 1 else y
    cuts = np.sort(rng.choice(np.arange(1, n_rows), size=2, replace=False))
    for here in np.split(np.arange(n_rows), cuts):
        mixture.partial_fit(table.iloc[here], targets[here], weights[here], awake[here])
    outputs = mixture._labels.outputs
    for each in np.unique(series):
        for at, output in enumerate(outputs):
            got = mixture.run_record(series=each, output=output).predictions
            np.testing.assert_allclose(got, expected[series == each, at], rtol=1e-8)
