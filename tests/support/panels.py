"""Panels of series with forecasts, and one mixture that learns them in memory."""

import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture


def own_loss(targets, forecasts):
    """A custom loss, outside of the package."""
    return np.abs(targets - forecasts) ** 1.5


def panel_frame(n_series=9, n_times=6, n_experts=4, seed=0):
    """Return rows in the order of time; experts differ by series, and some sleep now and then."""
    rng = np.random.default_rng(seed)
    targets = rng.normal(size=(n_times, n_series)).cumsum(axis=0)
    scales = rng.uniform(0.1, 3.0, size=(n_series, n_experts))
    forecasts = targets[:, :, np.newaxis] + scales * rng.normal(size=(n_times, n_series, n_experts))
    forecasts[:, ::2, 1:][rng.random(size=forecasts[:, ::2, 1:].shape) < 0.15] = np.nan
    rows = pd.DataFrame(forecasts.reshape(-1, n_experts), columns=[f"model {at}" for at in range(n_experts)])
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n_times), unit="D")
    rows.insert(0, "shop", np.tile([f"shop-{at}" for at in range(n_series)], n_times))
    rows.insert(1, "day", np.repeat(days.to_numpy(dtype="datetime64[us]"), n_series))
    return rows.assign(y=targets.ravel())


def in_three(rows):
    """Rows of two calls that learn, and rows to predict; between the calls an expert leaves and another joins."""
    days = np.sort(rows["day"].unique())
    cuts = days[len(days) // 2], days[-2]
    first, second = rows[rows["day"] < cuts[0]], rows[(rows["day"] >= cuts[0]) & (rows["day"] < cuts[1])]
    last = rows[rows["day"] >= cuts[1]]
    return first, second.rename(columns={"model 3": "newcomer"}), last.assign(newcomer=last["model 3"] + 1.0)


def in_memory(parameters, *calls):
    """Return one mixture that has learned all series."""
    mixture = ExpertMixture(series="shop", time="day", **parameters)
    for rows in calls:
        mixture.partial_fit(rows.drop(columns="y"), rows["y"])
    return mixture


def assert_same_numbers(panel, predictions, mixture, rows):
    """Assert that predictions and weights of a panel are those of the mixture, to the last bit."""
    expected = rows[["shop", "day", "y"]].reset_index(drop=True)
    expected["mixture"] = mixture.predict(rows.drop(columns="y"))
    by = ["shop", "day"]
    predictions = predictions.assign(
        shop=predictions["shop"].astype(object), day=predictions["day"].astype("datetime64[us]")
    )
    expected = expected.assign(shop=expected["shop"].astype(object)).sort_values(by, ignore_index=True)
    predictions = predictions.sort_values(by, ignore_index=True)
    pd.testing.assert_frame_equal(predictions, expected, check_exact=True, check_dtype=False)  # dask has its own dtypes
    weights = panel.weights().set_index("shop")
    assert list(weights.columns) == mixture.experts_ == panel.experts_
    assert len(weights) == len(mixture.cells_) == panel.n_series_
    np.testing.assert_array_equal(weights.loc[[series for series, _, _ in mixture.cells_]], mixture.weights_)
    assert panel.n_samples_seen_ == mixture.n_samples_seen_
