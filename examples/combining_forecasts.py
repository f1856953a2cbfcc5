"""Two regimes take turns, and so do the good forecasters; a day is issued at midnight and learned at its end.

Prints what the mixture lost, beside its experts and what could have been reached in hindsight, and what each regime's
visits cost.
"""

import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture
from ltm_sklearn.evaluation import oracles

rng = np.random.default_rng(0)
hours = pd.date_range("2026-01-01", periods=24 * 240, freq="h")
price = 40 + 8 * np.sin(np.arange(len(hours)) / 24 * 2 * np.pi) + rng.normal(size=len(hours))
windy = np.arange(len(hours)) // (24 * 30) % 2 == 0

forecasts = pd.DataFrame(
    {
        "wind model": price + np.where(windy, 0.5, 4.0) * rng.normal(size=len(hours)),
        "gas model": price + np.where(windy, 4.0, 0.5) * rng.normal(size=len(hours)),
        "yesterday": np.roll(price, 24),
        "last week": np.roll(price, 24 * 7),
    },
    index=hours,
)
forecasts.iloc[: 24 * 7, 3] = np.nan  # there was no last week yet
forecasts.iloc[2000:2200, 0] = np.nan  # an outage

mixture = ExpertMixture(loss="absolute", block=24, record=len(hours)).fit(forecasts, price)
print(mixture.summary())

losses = np.abs(forecasts.to_numpy() - price[:, np.newaxis])
print(oracles.memory_curve(losses[24 * 7 :], max_switches=12, max_distinct=3))

lost = mixture.trace().loss.reshape(-1, 24 * 30).mean(axis=1)
print("mean loss of each month:", lost.round(2))
