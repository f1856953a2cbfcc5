"""The pictures of a report on a mixture, with words that tell how to read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Floats
from ..display import (
    AverageLossDisplay,
    ContributionDisplay,
    CumulativeLossDisplay,
    MemoryCurveDisplay,
    RecurrenceDisplay,
    ResidualDisplay,
    WeightBoxDisplay,
    WeightStackDisplay,
    best_sequences,
    mean_called,
    memory_curve_of,
)
from ..recording import RunRecord
from ._picture import Picture, drawn, plain_style

MEMORY_CURVE_SIZE = (9.0, 4.5)
SWITCHES = 10  #: of the best sequence that the mixture is compared with
CURVE = (50, 3)  #: switches, and distinct experts, of the memory curve
MOST_LOSSES = 1_500_000  #: for a larger table the curve would take long


#: Titles, and how to read them.
WORDS = {
    "cumulative_loss": (
        "What it lost",
        "Losses added up from the first row to the last: the flatter a line, the better the forecasts then. Below, how "
        "much more the mixture has lost than the best expert, chosen afterwards, than the plain mean of all, and than "
        "the best sequence of experts, also chosen afterwards. A line that falls: the mixture is gaining on it; below "
        "zero, it is ahead.",
    ),
    "weights": (
        "Whom it trusted",
        "The weights with which forecasts were issued, upon one another: the thicker a band, the more its expert "
        "counted. Bands that grow again where they were thick before are what memory is for.",
    ),
    "leaders": (
        "Who led when",
        "A row for each expert that ever had the largest weight, in the order in which they first had it. A row that "
        "fills again is an expert that came back. At the right: its share of the time, and in how many stints.",
    ),
    "average_loss": (
        "How good the experts were",
        "Mean loss of each expert, the best at the top, against the mixture (line) and the plain mean (dashed line). "
        "An expert without a forecast in some rows is judged by the others.",
    ),
    "memory_curve": (
        "What switching could have gained",
        "The least that any sequence of experts could have lost, knowing all in advance, by how often it may switch "
        "and among how many experts. Where the lines lie together, a few experts that return are enough. The mixture "
        "had to find out as it went.",
    ),
    "weight_boxes": (
        "How the weights were spread",
        "Of each expert, the middle half of its weights in the box, nine tenths between the whiskers; the bar is the "
        "median, the dot the mean. A long box: trusted at times, and at times not.",
    ),
    "contributions": (
        "What the forecast was made of",
        "Weight × forecast of each expert, upon one another; together they make the forecast that was issued (line).",
    ),
    "residuals": (
        "How far it was off",
        "Target minus forecast, row by row. The running median should stay near zero: where it does not, all experts "
        "are off the same way, which weights cannot mend, but the option --bias may.",
    ),
}


def draw_pictures(run_record: RunRecord) -> list[Picture]:
    """Draw them, in the order of the page.

    Parameters
    ----------
    run_record : RunRecord
        With a record for each row.
    """
    alts = {name: _alt(name, run_record) for name in WORDS}
    draw: dict[str, Callable[[Any], Any]] = {
        "cumulative_loss": CumulativeLossDisplay(run_record, _best_sequence(run_record)).plot,
        "weights": WeightStackDisplay(run_record).plot,
        "leaders": RecurrenceDisplay(run_record).plot,
        "average_loss": AverageLossDisplay(run_record).plot,
        "memory_curve": _memory_curve(run_record),
        "weight_boxes": WeightBoxDisplay(run_record).plot,
        "contributions": ContributionDisplay(run_record).plot,
        "residuals": ResidualDisplay(run_record).plot,
    }
    with plain_style():
        return [
            drawn(name, plot, _size(plot), WORDS[name], alts[name]) for name, plot in draw.items() if plot is not None
        ]


def _size(plot: Callable[[Any], Any]) -> tuple[float, float]:
    """Of a picture, in inches."""
    display = getattr(plot, "__self__", None)
    return MEMORY_CURVE_SIZE if display is None else (9.0, display._size()[1])


def _best_sequence(run_record: RunRecord) -> dict[str, Floats]:
    """The losses of an oracle, where there is one."""
    if len(run_record.loss) <= SWITCHES:
        return {}
    try:
        return best_sequences(run_record, [SWITCHES])
    except ValueError:  # experts sleep so often that no such sequence is awake throughout
        return {}


def _memory_curve(run_record: RunRecord) -> Any:
    """What draws it; None where it would take long, or nothing is to be seen."""
    if run_record.losses.size > MOST_LOSSES or len(run_record.names) == 1 or len(run_record.loss) <= SWITCHES:
        return None
    try:
        curve, marks = memory_curve_of(run_record, *CURVE)
    except ValueError:
        return None
    loss_name = mean_called(run_record.loss_name)
    return lambda ax: MemoryCurveDisplay.from_curve(curve, marks=marks, loss_name=loss_name, ax=ax)


def _alt(name: str, run_record: RunRecord) -> str:
    """What the picture says, in numbers."""
    weights = np.average(run_record.weights, axis=0, weights=run_record.counts)
    top = [f"{run_record.names[at]} {weights[at]:.0%}" for at in np.argsort(-weights, kind="stable")[:3]]
    if name in ("weights", "weight_boxes", "contributions"):
        kind = {"weights": "Stacked areas of the weights over time", "weight_boxes": "Boxes of the weights"}
        said = kind.get(name, "Stacked areas of weight × forecast over time")
        return f"{said}. Largest mean weights: {', '.join(top)}."
    if name == "leaders":
        leaders = run_record.weights.argmax(axis=1)
        led = np.bincount(leaders, weights=run_record.counts, minlength=len(run_record.names)) / run_record.counts.sum()
        who = [f"{run_record.names[at]} {led[at]:.0%}" for at in np.argsort(-led, kind="stable")[:3] if led[at] > 0]
        return f"Bars over time for each expert that led. Led longest: {', '.join(who)}."
    mixture = float(np.average(run_record.loss, weights=run_record.counts))
    if name == "residuals":
        assert run_record.targets is not None
        assert run_record.predictions is not None
        residuals = run_record.targets - run_record.predictions
        spread = f"Mean {residuals.mean():.3g}, standard deviation {residuals.std():.3g}"
        return f"Dots of target minus forecast over time. {spread}."
    if name == "memory_curve":
        return f"Lines of the least loss of a sequence over its switches. Mean loss of the mixture {mixture:.5g}."
    assert run_record.uniform is not None
    uniform = float(np.average(run_record.uniform, weights=run_record.counts))
    kind_of_loss = (
        "Bars of mean losses" if name == "average_loss" else "Lines of losses added up over time, and of regret"
    )
    return f"{kind_of_loss}. Mean loss of the mixture {mixture:.5g}, of the plain mean {uniform:.5g}."
