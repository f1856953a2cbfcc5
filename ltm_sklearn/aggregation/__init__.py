"""Aggregation of experts: from the losses of a round to the weights that are used."""

# for the other packages
from ._aggregator import Aggregator as Aggregator
from ._aggregator import AggregatorWeights as AggregatorWeights
from ._aggregator import Member as Member
from ._aggregator import Rows as Rows
from ._bandit import BanditWeighting as BanditWeighting
from ._bandit import SelectedRoundLosses as SelectedRoundLosses
from ._round_weighting import FollowOrBlend as FollowOrBlend
from ._round_weighting import RoundLosses as RoundLosses
from ._round_weighting import SelectedExperts as SelectedExperts
from ._round_weighting import Weighting as Weighting
from ._round_weighting import averaged as averaged
from ._round_weighting import restrict_rows as restrict_rows
from ._round_weighting import weighting_of as weighting_of
from ._stack import Stack as Stack
