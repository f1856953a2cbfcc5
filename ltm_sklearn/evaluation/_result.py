"""What a prequential run found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from .._optional import import_extra
from .._param_checks import check_number
from .._typing import Floats
from ..recording import RunRecord
from ..streams import Segment
from ._difference import Difference, batch_means


@dataclass(frozen=True, eq=False, repr=False)
class PrequentialResult:
    """Scores of models that ran side by side; made by :func:`prequential`.

    Attributes
    ----------
    n_rows : int
        Rows of the run.
    measure : {"accuracy", "mae"}
        What the curve, and the columns about changes, are in.
    window : int
        Rows of a window.
    scores : dict
        For each model a dictionary of its scores, as in :meth:`frame`.
    curve_rows, curve_values, curve_counts : ndarray
        The last row of each point of the curve, the models' scores there, as :meth:`curve` has them, and from how many
        rows each score comes: those in which the model had an answer.
    segments : list of Segment
        Which concept was in force when; empty if the stream does not tell. When there are more than 1,000 segments,
        neighbours are joined.
    concept_names : list or None
        What the concepts are called, where the stream tells.
    n_changes, n_returns : int
        Changes of the concept, and how many of them brought back an old one.
    losses, comparators : dict
        What the models, and the best in hindsight, lost in the rows that were compared; :meth:`regret` has the rest.
    n_compared : int
        Rows in which all models had an answer: those that regret is about.
    run_records : dict
        By model, what those with ``record=`` recorded; :mod:`ltm_sklearn.display` draws it.
    """

    n_rows: int
    measure: str
    window: int
    scores: dict[Any, dict[str, float]]
    curve_rows: NDArray[Any]
    curve_values: Floats
    curve_counts: Floats
    segments: list[Segment]
    concept_names: list[Any] | None
    n_changes: int
    n_returns: int
    losses: dict[Any, float]
    comparators: dict[str, float]
    n_compared: int
    run_records: dict[Any, RunRecord] = field(default_factory=dict)

    def frame(self) -> Any:
        """A pandas frame with one row for each model."""
        pandas = import_extra("pandas", "frames")
        return pandas.DataFrame.from_dict(self.scores, orient="index").rename_axis("model").astype({"rows": int})

    def curve(self) -> Any:
        """A pandas frame of the accuracy, or mean absolute error, of each block of rows, one column for each model.

        The index has the last row of each block, counted from 1. Blocks have ``window`` rows, or so many times two that
        there are no more than 1,000.
        """
        pandas = import_extra("pandas", "frames")
        return pandas.DataFrame(
            self.curve_values, index=pandas.Index(self.curve_rows, name="row"), columns=list(self.scores)
        )

    def regret(self) -> Any:
        """A pandas frame of what each model lost, and how much more that is than what each comparator did.

        The loss is the number of mistakes, or the sum of squared errors. Comparators are the best expert, the best
        sequence of experts with at most S switches, and the best expert for each concept, all in hindsight.
        """
        pandas = import_extra("pandas", "frames")
        rows = {
            name: {"loss": loss} | {which: loss - least for which, least in self.comparators.items()}
            for name, loss in self.losses.items()
        }
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("model")

    def difference(self, model: Any, other: Any, *, level: float = 0.95) -> Difference:
        """How much better one model was than another, with an interval that allows for rows that depend on each other.

        The blocks of :meth:`curve` are gathered in at most 20 stretches of the stream; the interval comes from how much
        the difference varies between them (batch means, with Student's t). With fewer than five it is NaN. Where a
        model had no answer in some rows of a block, the block counts as the rows of the one that had fewer.

        Parameters
        ----------
        model, other
            Names.
        level : float, default=0.95
            How sure the interval is to be: above 0, below 1.

        Returns
        -------
        Difference
            In accuracy, or in mean absolute error saved: above zero, ``model`` was better.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from ltm_sklearn import LongTermMemoryClassifier
        >>> from ltm_sklearn.evaluation import prequential
        >>> from ltm_sklearn.streams import stagger
        >>> models = {
        ...     "with memory": LongTermMemoryClassifier([("bayes", GaussianNB())], random_state=0),
        ...     "alone": GaussianNB(),
        ... }
        >>> stream = stagger(order="random", length=300, n_segments=8, seed=0)
        >>> result = prequential(models, stream, batch_size=10)
        >>> found = result.difference("with memory", "alone")
        >>> print(f"{found.mean:.3f}, between {found.low:.3f} and {found.high:.3f}")
        0.316, between 0.245 and 0.388
        """
        for name in (model, other):
            if name not in self.scores:
                raise ValueError(f"there is no model {name!r}; there are {list(self.scores)}")
        check_number("level", level, 0.0, 1.0, low_open=True, high_open=True)
        names = list(self.scores)
        both = [names.index(model), names.index(other)]
        values = self.curve_values[:, both] if self.measure == "accuracy" else -self.curve_values[:, both]
        return batch_means(values[:, 0] - values[:, 1], self.curve_counts[:, both].min(axis=1), level)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve, with the concepts behind it; returns a :class:`PrequentialDisplay`."""
        from ._display import PrequentialDisplay

        return PrequentialDisplay.from_result(self, ax=ax)

    def __repr__(self) -> str:
        concepts = ""
        if self.segments:
            concepts = f"; {self.n_changes} changes of concept, {self.n_returns} of them returns"
        header = ["", *next(iter(self.scores.values()))]
        lines = [header] + [
            [str(name), *(_shown(column, value) for column, value in scores.items())]
            for name, scores in self.scores.items()
        ]
        widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
        table = (
            "  ".join(
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )
        return "\n".join([f"{self.n_rows} rows{concepts}", *table])


def _shown(column: str, value: float) -> str:
    if math.isnan(value):
        return "-"
    if column == "rows":
        return str(int(value))
    if column == "recovery":
        return f"{value:g}"
    return f"{value:.2f}" if column.endswith("seconds") else f"{value:.4g}"
