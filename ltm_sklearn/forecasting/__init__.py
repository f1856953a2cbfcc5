"""Combination of forecast columns, with blocks, lags, groups, series and horizons."""

from ._expert_mixture import ExpertMixture

__all__ = ["ExpertMixture"]

# for the other packages
from ._forecast_reader import ForecastReader as ForecastReader
from ._forecast_table import plain_mean as plain_mean
from ._forecast_table import with_confidences as with_confidences
from ._horizon_weights import HorizonWeights as HorizonWeights
from ._horizon_weights import losses_of as losses_of
from ._horizon_weights import new_aggregator as new_aggregator
from ._parameters import check_algorithm_and_loss as check_algorithm_and_loss
from ._parameters import check_mixture as check_mixture
from ._summary import MixtureSummary as MixtureSummary
from ._summary import SummaryRow as SummaryRow
from ._times import CALENDAR as CALENDAR
from ._times import times_of as times_of
