"""Pictures of a run: who was trusted when, what it cost, what it said, and which experts came back."""

from .._trace import Trace
from ._forecasts import ContributionDisplay, ResidualDisplay
from ._live import LiveDisplay
from ._losses import AverageLossDisplay, CumulativeLossDisplay
from ._memory_curve import MemoryCurveDisplay
from ._recurrence import RecurrenceDisplay
from ._running import RunningLossDisplay
from ._weights import WeightBoxDisplay, WeightStackDisplay

__all__ = [
    "AverageLossDisplay",
    "ContributionDisplay",
    "CumulativeLossDisplay",
    "LiveDisplay",
    "MemoryCurveDisplay",
    "RecurrenceDisplay",
    "ResidualDisplay",
    "RunningLossDisplay",
    "Trace",
    "WeightBoxDisplay",
    "WeightStackDisplay",
]
