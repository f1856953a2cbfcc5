"""Combination of forecast columns, with blocks, lags, groups, series and horizons."""

from ._expert_mixture import ExpertMixture

__all__ = ["ExpertMixture"]

# for the other packages
from ._forecast_reader import Reader as Reader
from ._horizon_weights import HorizonWeights as HorizonWeights
from ._horizon_weights import aggregator_of as aggregator_of
from ._horizon_weights import check_weighing as check_weighing
from ._horizon_weights import losses_of as losses_of
from ._panel import filled as filled
from ._panel import plain_mean as plain_mean
from ._parameters import check_mixture as check_mixture
from ._summary import MixtureSummary as MixtureSummary
from ._summary import SummaryRow as SummaryRow
from ._times import CALENDAR as CALENDAR
from ._times import times_of as times_of
