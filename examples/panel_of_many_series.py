"""
A panel of many series
======================

Three hundred shops, three forecasters, and a new day every day. ``PanelMixture`` gives each shop weights of its own and
keeps them in a folder, so that the job of the next day can go on. It runs on one machine here; on a cluster, only the
frames would be others.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture
from ltm_sklearn.distributed import PanelMixture

# %%
# Three hundred shops
# -------------------
#
# Half of them are in towns with a market, which comes for a week and goes, and comes again. One forecaster knows of
# markets; one thinks that there are none; the third says what was sold yesterday.

rng = np.random.default_rng(0)
n_shops, n_days = 300, 60
days = pd.date_range("2026-01-01", periods=n_days)
with_market = np.arange(n_shops) % 2 == 0
market = (np.arange(n_days) // 7 % 3 == 2)[:, np.newaxis] & with_market
sold = 100.0 + 40.0 * market + rng.normal(scale=5.0, size=(n_days, n_shops)).cumsum(axis=0) * 0.2
sold += rng.normal(scale=3.0, size=sold.shape)
usual = pd.DataFrame(sold - 40.0 * market).rolling(5, min_periods=1).mean().shift(1).bfill().to_numpy()

rows = pd.DataFrame(
    {
        "shop": np.tile([f"shop-{at:04d}" for at in range(n_shops)], n_days),
        "day": np.repeat(days, n_shops),
        "y": sold.ravel(),
        "no market": (usual + rng.normal(scale=2.0, size=sold.shape)).ravel(),
        "market": (usual + 40.0 * market.any(axis=1, keepdims=True)).ravel(),
        "yesterday": np.vstack([usual[:1], sold[:-1]]).ravel(),
    }
)

# %%
# Eight weeks at once, then day by day
# ------------------------------------
#
# The folder has all that is known. Each call of ``partial_fit`` counts as a whole or not at all.


def panel():
    """As a job would make it that is started once a day."""
    mixture = ExpertMixture(loss="absolute_error", series="shop", time="day")
    return PanelMixture(mixture, folder, n_buckets=4)


folder = tempfile.mkdtemp()
panel().partial_fit(rows[rows["day"] < days[56]])
said = []
for day in days[56:]:
    today = rows[rows["day"] == day]
    said.append(panel().predict(today.drop(columns="y")))
    panel().partial_fit(today)  # in the evening
said = pd.concat(said)
print(f"{panel().n_series_} shops, {panel().n_samples_seen_} rows, {panel().generation_} calls")

# %%
# Weights by shop
# ---------------
#
# In the shops of market towns the forecaster that knows the market days has a large weight; in the others it has not.

last = rows.loc[said.index]
errors = {name: (last[name] - last["y"]).abs().mean() for name in ("no market", "market", "yesterday")}
errors["mixture"] = (said["mixture"] - last["y"]).abs().mean()
print(pd.Series(errors).round(2).to_string())

weights = panel().weights().set_index("shop")
numbers = weights.index.str.slice(5).astype(int)
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
for name, chosen in (("town with a market", numbers % 2 == 0), ("no market", numbers % 2 == 1)):
    ax.hist(weights.loc[chosen, "market"], bins=20, range=(0, 1), alpha=0.6, label=name)
ax.set(xlabel="weight of the forecaster with market data", ylabel="shops")
ax.legend(frameon=False)
plt.show()
