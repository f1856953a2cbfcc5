"""Aggregation of experts: from the losses of a round to the weights that are used."""

# for the other packages
from ._aggregator import Council as Council
from ._aggregator import Rows as Rows
from ._aggregator import Standing as Standing
from ._aggregator import Voice as Voice
from ._bandit import Drawing as Drawing
from ._bandit import DrawnVerdict as DrawnVerdict
from ._bandit import fresh_bandit as fresh_bandit
from ._round_weighting import Asked as Asked
from ._round_weighting import FollowAndBlend as FollowAndBlend
from ._round_weighting import Verdict as Verdict
from ._round_weighting import Weighting as Weighting
from ._round_weighting import averaged as averaged
from ._round_weighting import restrict_rows as restrict_rows
from ._round_weighting import weighting_of as weighting_of
from ._stack import Stack as Stack
