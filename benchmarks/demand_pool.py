"""A pool of ordinary forecasters of half-hourly demand, each issued at noon for the 48 half-hours of the next day."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DAY, WEEK = 48, 7 * 48
HORIZON = DAY + DAY // 2  #: from noon to the end of the next day
WARM_UP = 8 * WEEK  #: before the first training
RETRAINED = 28 * DAY
MEMORY = 365 * DAY  #: rows that models are trained on, at most


def forecasts_of_demand(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return the forecasts, one column for each model, and the demand, from the first training on."""
    clock = table["Time"].dt.tz_convert("Australia/Melbourne")
    midnight = int(np.flatnonzero((clock.dt.hour == 0) & (clock.dt.minute == 0))[0])
    table, clock = table.iloc[midnight:].reset_index(drop=True), clock.iloc[midnight:].reset_index(drop=True)
    y = table["Demand"].to_numpy()
    y = y[: len(y) - len(y) % DAY]
    clock, temperature = clock.iloc[: len(y)], table["Temperature"].to_numpy()[: len(y)]
    features = _features(y, temperature, clock)
    found = {
        "yesterday": _lagged(y, 2 * DAY),  # of the day before noon's, whose afternoon is known
        "last week": _lagged(y, WEEK),
        "smoothing": _smoothed(y),
    }
    models = {
        "ridge": lambda: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 7))),
        "boosting": lambda: HistGradientBoostingRegressor(max_iter=150, random_state=0),
        "boosting, absolute": lambda: HistGradientBoostingRegressor(
            loss="absolute_error", max_iter=150, random_state=0
        ),
    }
    for name, make in models.items():
        found[name] = _trained(make, features, y)
    X = pd.DataFrame(found).iloc[WARM_UP:].reset_index(drop=True)
    return X, pd.Series(y[WARM_UP:])


def _lagged(values: np.ndarray, lag: int) -> np.ndarray:
    return np.concatenate([np.full(lag, np.nan), values[:-lag]])


def _features(y: np.ndarray, temperature: np.ndarray, clock: pd.Series) -> np.ndarray:
    """Return the features that are known at noon of the day before."""
    lags = [2 * DAY, 3 * DAY, WEEK, WEEK + DAY, 2 * WEEK]
    columns = [_lagged(y, lag) for lag in lags]
    columns += [_lagged(temperature, 2 * DAY), _lagged(temperature, WEEK)]
    # the morning before noon is known: its means, one value for a whole day
    mornings = y.reshape(-1, DAY)[:, : DAY // 2].mean(axis=1)
    warmth = temperature.reshape(-1, DAY)[:, : DAY // 2].mean(axis=1)
    columns += [_lagged(np.repeat(values, DAY), DAY) for values in (mornings, warmth)]
    slot, weekday = np.arange(len(y)) % DAY, clock.dt.weekday.to_numpy()
    season = 2.0 * np.pi * clock.dt.dayofyear.to_numpy() / 365.25
    for wave in (1, 2, 3):
        angle = 2.0 * np.pi * wave * slot / DAY
        columns += [np.sin(angle), np.cos(angle)]
    columns += [weekday == day for day in range(7)]
    columns += [np.sin(season), np.cos(season), slot]
    return np.column_stack(columns).astype(float)


def _smoothed(y: np.ndarray, of_level: float = 0.3, of_profile: float = 0.2) -> np.ndarray:
    """Forecast by exponential smoothing of a level and a weekly profile: Holt-Winters without a trend."""
    profile = y[:WEEK].reshape(7, DAY).copy()
    level, out = 0.0, np.empty_like(y)
    n_days = len(y) // DAY
    days = y.reshape(n_days, DAY)
    for day in range(n_days):
        if day >= 2:  # at noon of the day before, the day before that is known
            known = day - 2
            error = days[known] - profile[known % 7] - level
            level += of_level * error.mean()
            profile[known % 7] += of_profile * error
        out[day * DAY : (day + 1) * DAY] = profile[day % 7] + level
    return out


def _trained(make: object, features: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the forecasts of a model that is retrained every few weeks on the rows known by then."""
    out = np.full(len(y), np.nan)
    usable = int(np.isnan(features).any(axis=1).argmin())
    for start in range(WARM_UP, len(y), RETRAINED):
        known = start - HORIZON + DAY  # noon of the day before
        past = slice(max(usable, known - MEMORY), known)
        model = make().fit(features[past], y[past])  # type: ignore[operator]
        rows = slice(start, start + RETRAINED)
        out[rows] = model.predict(features[rows])
    return out
