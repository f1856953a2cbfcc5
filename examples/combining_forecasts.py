"""
Combining electricity price forecasts
=====================================

At midnight the 24 prices of the next day are forecast, by several models of which none is always the best: one knows
calm weather, one knows wind, one is asleep at weekends. ``ExpertMixture`` combines their forecasts. The point: the
windy spells come back, and so do the weights; and what all the models get wrong together can be mended, too.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture
from ltm_sklearn.display import AverageLossDisplay, WeightStackDisplay
from ltm_sklearn.experts import BOA

# %%
# Two years of prices
# -------------------
#
# They are made up, but have what prices have: two peaks a day, cheap nights and weekends, fuel costs that drift,
# windy spells of some weeks with low and flat prices, and spikes in calm evenings.

rng = np.random.default_rng(0)
hours = pd.date_range("2024-01-01", periods=24 * 728, freq="h")
n_hours, hour, weekend = len(hours), hours.hour.to_numpy(), hours.dayofweek.to_numpy() >= 5


def drift(halflife, size):
    """Noise with a memory of so many hours."""
    shocks = pd.Series(rng.normal(size=n_hours))
    shocks[0] = 0.0
    noise = shocks.ewm(halflife=halflife, adjust=False).mean().to_numpy()
    return size * noise / noise.std()


spells = np.repeat(np.arange(80) % 2 == 1, 24 * rng.integers(10, 40, size=80))[:n_hours]
windy = pd.Series(spells, dtype=float).ewm(halflife=4).mean().to_numpy()
fuel = 70.0 + drift(24 * 40, 8.0)
morning, evening, night = (np.exp(-0.5 * ((hour - peak) / width) ** 2) for peak, width in ((8, 2), (19, 2), (3, 3)))
demand = 12.0 * morning + 15.0 * evening - 8.0 * night - 8.0 * weekend
if_calm, if_windy = fuel + demand, 0.6 * fuel + 0.3 * demand
expected = (1.0 - windy) * if_calm + windy * if_windy + drift(3, 4.0)
spikes = (rng.random(n_hours) < 0.1 * evening * (1.0 - windy)) * rng.exponential(60.0, n_hours)
price = pd.Series(expected + 6.0 * evening + spikes, index=hours)

# %%
# Six forecasters
# ---------------
#
# A column each. NaN says that there is no forecast: the trading desk does not work at weekends. None of the four
# models knows why evenings are dearer than they think.

forecasts = pd.DataFrame(
    {
        "gas model": if_calm + drift(6, 4.0),
        "wind model": if_windy + drift(6, 4.0),
        "vendor": expected + drift(6, 13.0),
        "trading desk": np.where(weekend, np.nan, expected + drift(12, 11.0)),
        "yesterday": price.shift(24),
        "last week": price.shift(24 * 7),
    },
    index=hours,
)
forecasts, price, spells = forecasts[24 * 7 :], price[24 * 7 :], spells[24 * 7 :]

figure, ax = plt.subplots(figsize=(9, 3.5), layout="constrained")
weeks = slice("2024-02-26", "2024-03-24")
price[weeks].plot(ax=ax, color="black", lw=1.5, label="price")
forecasts.loc[weeks, ["gas model", "wind model", "trading desk"]].plot(ax=ax, lw=0.9)
ax.set(ylabel="EUR/MWh", title="Four weeks")
ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)

# %%
# A day is issued at once
# -----------------------
#
# ``block=24`` says that all hours of a day are issued with the weights of midnight, and are learned together. The
# scores are then those of what would have been issued. The second mixture gives each hour weights of its own, shares
# what the hours have in common (``pooled=True``), and can go above or below all models (``bias=True``). BOA is a good
# algorithm without memory.

settings = {"loss": "absolute_error", "block": 24, "record": len(price)}
mixtures = {
    "BOA": ExpertMixture(BOA(), **settings),
    "mixture": ExpertMixture(**settings),
    "mixture, bias and hours": ExpertMixture(**settings, bias=True, group="hour", pooled=True),
}
for mixture in mixtures.values():
    mixture.fit(forecasts, price)
print(mixtures["mixture"].summary())

# %%
# The weights, week by week. "Yesterday" is never far off and keeps its share; between the gas model and the wind
# model the weights move when the wind does.

weekly = mixtures["mixture"].run_record().thinned(len(price) // (24 * 7))
display = WeightStackDisplay(weekly).plot()
display.ax_.fill_between(price.index, 1.02, 1.05, where=spells, color="tab:cyan", lw=0, clip_on=False)
display.ax_.set_title("Weights over time (bars above: windy spells)", pad=16)

# %%
# What it is worth
# ----------------
#
# Mean absolute errors in EUR/MWh. All who never slept are compared over the same hours.

errors = {name: np.abs(forecasts[name] - price) for name in ("yesterday", "vendor")}
errors["plain mean"] = np.abs(forecasts.mean(axis=1) - price)
errors |= {name: pd.Series(mixture.run_record().loss, index=price.index) for name, mixture in mixtures.items()}
errors = pd.DataFrame(errors)
print(errors.mean().round(2).to_string())

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
saved = errors[list(mixtures)].rsub(errors["plain mean"], axis=0).cumsum()
saved.plot(ax=left)
left.set(title="Error saved against the plain mean, added up", ylabel="EUR/MWh")
left.legend(frameon=False)
AverageLossDisplay.from_estimator(mixtures["mixture"], ax=right)

# %%
# Tomorrow
# --------
#
# ``predict`` uses the weights of now and changes nothing. ``partial_fit`` goes on with a day when its prices have
# come.

mixture = mixtures["mixture, bias and hours"]
print(mixture.predict(forecasts[-24:]).round(1))
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# Every mixture is far better than the plain mean and than the best single forecaster. The ones with memory move
# between the gas model and the wind model faster than BOA, and the one that may correct each hour is the best.
