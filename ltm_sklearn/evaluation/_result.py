"""Result of a prequential run."""

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
from ._text_table import format_table


@dataclass(frozen=True, eq=False, repr=False)
class PrequentialResult:
    """Scores, curves and regret of the models of a prequential run; returned by :func:`prequential`.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    measure : {"accuracy", "mae"}
        Measure of the curve and of the columns about changes.
    window : int
        Number of rows in a window.
    scores : dict
        Dictionary of the scores of each model, as in :meth:`frame`.
    curve_rows, curve_values, curve_counts : ndarray
        Last row of each block of the curve, the scores of the models in it, as in :meth:`curve`, and the number of rows
        with a prediction that each score comes from.
    segments : list of Segment
        Segments of the stream; empty if its concepts are unknown. When there are more than 1,000 segments, neighbours
        are joined.
    concept_names : list or None
        Names of the concepts, if the stream has them.
    n_changes, n_returns : int
        Number of concept changes, and of those that returned to an earlier concept.
    losses, comparators : dict
        Total losses of the models, and of the comparators in hindsight, in the compared rows; see :meth:`regret`.
    n_compared : int
        Number of compared rows: those in which all models had a prediction.
    run_records : dict
        Records of the models with ``record=``, by name; :mod:`ltm_sklearn.display` draws them.
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
        """Return the scores as a pandas frame with one row for each model."""
        pandas = import_extra("pandas", "frames")
        return pandas.DataFrame.from_dict(self.scores, orient="index").rename_axis("model").astype({"rows": int})

    def curve(self) -> Any:
        """Return the accuracy or mean absolute error of each block of rows as a pandas frame, a column for each model.

        The index has the last row of each block, counted from 1. Blocks have ``window`` rows; their size is doubled
        until there are at most 1,000.
        """
        pandas = import_extra("pandas", "frames")
        return pandas.DataFrame(
            self.curve_values, index=pandas.Index(self.curve_rows, name="row"), columns=list(self.scores)
        )

    def regret(self) -> Any:
        """Return the loss of each model and its regret against each comparator as a pandas frame.

        The loss is the number of mistakes or the sum of squared errors; regret is the difference to the loss of the
        comparator. Comparators, chosen in hindsight, are the best expert, the best sequences of experts with at most
        1, 2, ... switches, and the best expert for each concept.
        """
        pandas = import_extra("pandas", "frames")
        rows = {
            name: {"loss": loss} | {which: loss - least for which, least in self.comparators.items()}
            for name, loss in self.losses.items()
        }
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("model")

    def difference(self, model: Any, other: Any, *, level: float = 0.95) -> Difference:
        """Return the mean difference between two models, with a confidence interval for dependent rows.

        The blocks of :meth:`curve` are joined to at most 20 stretches of the stream. The interval is that of batch
        means, with Student's t: it comes from the variance of the difference between the stretches. With fewer than
        five stretches it is NaN. A block counts as many rows as the model with fewer predictions has in it.

        Parameters
        ----------
        model, other
            Names of the models.
        level : float, default=0.95
            Confidence level, above 0 and below 1.

        Returns
        -------
        Difference
            Difference in accuracy, or in mean absolute error with the opposite sign: positive if ``model`` is better.

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
                raise ValueError(f"there is no model {name!r}; the models are {list(self.scores)}")
        check_number("level", level, 0.0, 1.0, low_open=True, high_open=True)
        names = list(self.scores)
        both = [names.index(model), names.index(other)]
        values = self.curve_values[:, both] if self.measure == "accuracy" else -self.curve_values[:, both]
        return batch_means(values[:, 0] - values[:, 1], self.curve_counts[:, both].min(axis=1), level)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with the concepts in the background; return a :class:`PrequentialDisplay`."""
        from ._display import PrequentialDisplay

        return PrequentialDisplay.from_result(self, ax=ax)

    def __repr__(self) -> str:
        concepts = ""
        if self.segments:
            concepts = f"; {self.n_changes} changes of concept, {self.n_returns} of them returns"
        lines = [["", *next(iter(self.scores.values()))]]
        for name, scores in self.scores.items():
            lines.append([str(name), *(_format_score(column, value) for column, value in scores.items())])
        return f"{self.n_rows} rows{concepts}\n{format_table(lines, first='<')}"


def _format_score(column: str, value: float) -> str:
    if math.isnan(value):
        return "-"
    if column == "rows":
        return str(int(value))
    if column == "recovery":
        return f"{value:g}"
    return f"{value:.2f}" if column.endswith("seconds") else f"{value:.4g}"
