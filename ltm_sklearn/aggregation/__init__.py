"""Aggregation of experts: from the losses of a round to the weights that are used."""

# for the other packages
from ._aggregator import Aggregator as Aggregator
from ._aggregator import AggregatorWeights as AggregatorWeights
from ._aggregator import ForecastMember as ForecastMember
from ._aggregator import ForecastRows as ForecastRows
from ._bandit import BanditWeighting as BanditWeighting
from ._bandit import SelectedRoundLosses as SelectedRoundLosses
from ._follow_or_blend import FollowOrBlend as FollowOrBlend
from ._follow_or_blend import RoundWeighting as RoundWeighting
from ._follow_or_blend import SelectedExperts as SelectedExperts
from ._follow_or_blend import new_weighting as new_weighting
from ._round_losses import RoundLosses as RoundLosses
from ._round_losses import restrict_rows as restrict_rows
from ._round_losses import weighted_mean as weighted_mean
from ._stack import Stack as Stack
