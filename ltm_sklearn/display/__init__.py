"""matplotlib displays of a run: weights and leaders over time, losses and regret, contributions, residuals."""

from ._average_loss import AverageLossDisplay
from ._contributions import ContributionDisplay
from ._cumulative_loss import CumulativeLossDisplay
from ._live_display import LiveDisplay
from ._memory_curve import MemoryCurveDisplay
from ._recurrence import RecurrenceDisplay
from ._residuals import ResidualDisplay
from ._running_loss import RunningLossDisplay
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

# for the command line
from ._comparators import best_expert as best_expert
from ._comparators import best_sequences as best_sequences
from ._comparators import memory_curve_of as memory_curve_of
from ._expert_styles import PALETTE as PALETTE
from ._expert_styles import short_names as short_names
from ._layout import four_digits as four_digits
from ._layout import height_of_rows as height_of_rows
from ._layout import hide_frame as hide_frame
from ._layout import label_rows as label_rows
from ._live_display import FIGSIZE as FIGSIZE
from ._live_display import ago as ago
from ._loss_labels import mean_loss_label as mean_loss_label
from ._pages import data_url as data_url
from ._pages import render_page as render_page
from ._recurrence import leaders_of as leaders_of
from ._time_axis import label_time_axis as label_time_axis
from ._time_axis import record_edges as record_edges
from ._time_axis import thinned_for_drawing as thinned_for_drawing
