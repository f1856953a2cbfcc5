"""Pictures of a run: who was trusted when, what it cost, what it said, and which experts came back."""

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
    "WeightBoxDisplay",
    "WeightStackDisplay",
]

# for the other packages
from ._axes import edges as edges
from ._axes import height_of_rows as height_of_rows
from ._axes import label_rows as label_rows
from ._axes import label_time as label_time
from ._axes import number as number
from ._axes import plain as plain
from ._axes import to_draw as to_draw
from ._live import SIZE as SIZE
from ._live import ago as ago
from ._look import PALETTE as PALETTE
from ._look import mean_called as mean_called
from ._look import short_names as short_names
from ._losses import best_expert as best_expert
from ._losses import best_sequences as best_sequences
from ._memory_curve import memory_curve_of as memory_curve_of
from ._pages import data_url as data_url
from ._pages import render_page as render_page
from ._recurrence import leaders_of as leaders_of
