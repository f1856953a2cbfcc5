"""Forecasters of River and sktime for tests: what they forecast for each time stands in a table."""

import numpy as np
import pandas as pd
from river import time_series
from sktime.forecasting.base import BaseForecaster

from ltm_sklearn import ExpertMixture

#: A table of forecasts that are all 0.
FLAT = [0.0] * 100


class RiverReads(time_series.base.Forecaster):
    """Time 1 is that of the first value; what is None in the table is an error."""

    def __init__(self, table):
        self.table = table
        self._n_learned = 0

    def learn_one(self, y, x=None):
        self._n_learned += 1

    def forecast(self, horizon, xs=None):
        said = [self.table[self._n_learned + step] for step in range(1, horizon + 1)]
        if None in said:
            raise RuntimeError("no idea")
        return said


class SktimeReads(BaseForecaster):
    """The table has a number for each time of a RangeIndex, from 0 on; beyond it is NaN."""

    _tags = {  # noqa: RUF012 -- as in all of sktime
        "requires-fh-in-fit": False,
        "capability:update": True,
        "capability:missing_values": True,
    }

    def __init__(self, table):
        self.table = table
        super().__init__()

    def _fit(self, y, X, fh):
        return self

    def _update(self, y, X=None, update_params=True):
        return self

    def _predict(self, fh, X):
        times = fh.to_absolute_index(self.cutoff)
        said = [self.table[time] if time < len(self.table) else np.nan for time in times]
        if None in said:
            raise RuntimeError("no idea")
        return pd.Series(said, index=times, dtype=float)


def taking_turns(seed, length=50, n_phases=6, n_more=0):
    """A series, and tables of forecasts of three experts, of whom the first two take turns in being right."""
    rng = np.random.default_rng(seed)
    n = length * n_phases + 1
    y = 10.0 + 0.3 * rng.normal(size=n + n_more).cumsum()
    first_leads = (np.arange(n + n_more) - 1) // length % 2 == 0
    right, wrong = y + 0.1 * rng.normal(size=n + n_more), y + 1.5 + 0.5 * rng.normal(size=n + n_more)
    third = y - 1.0 + 0.5 * rng.normal(size=n + n_more)
    tables = [np.where(first_leads, right, wrong), np.where(first_leads, wrong, right), third]
    return y[:n], [table.tolist() for table in tables]


def mixture_weights(tables, y, step, every=1, **parameters):
    """Weights of an ``ExpertMixture`` of forecasts of one step ahead, of which each ``every``-th is issued."""
    rows = np.arange(step, len(y), every)
    lag = 0 if every > 1 else step - 1
    return ExpertMixture(lag=lag, **parameters).fit(np.array(tables).T[rows], np.array(y)[rows]).weights_


def in_phases(forecasts, y, n_phases=6):
    """Sum of the squared errors in each of several phases of equal length."""
    return ((np.asarray(forecasts) - y) ** 2).reshape(n_phases, -1).sum(axis=1)
