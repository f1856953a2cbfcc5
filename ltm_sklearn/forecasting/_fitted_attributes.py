"""What is shown of a fitted mixture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import Floats
from ..engine import locked
from ..losses import loss_name
from ..recording import RowHistory, RunCallback, RunRecord
from ._forecast_reader import Vocabulary
from ._panel import Panel
from ._summary import MixtureSummary, summarised


class MixtureAttributes:
    """Attributes that are read off the panel, and what was recorded."""

    _panel: Panel
    _known: Vocabulary
    _histories: dict[int, RowHistory]  #: by series
    _callback: RunCallback
    _in_force: Any  #: a mixture with the parameters of the first round, which hold until the next fit
    loss: Any
    quantiles: Any

    @locked
    def run_record(self, series: Any = None, output: Any = None) -> RunRecord:
        """What was recorded, for pictures and for analyses of one's own.

        Parameters
        ----------
        series : optional
            Of which series, if there are several.
        output : optional
            Of which target or quantile; None: the mean of all.

        Returns
        -------
        RunRecord
            With weights, forecasts, losses and predictions as issued, a row each if ``record`` is large enough.
        """
        check_is_fitted(self)
        if self._in_force.record is None:
            raise ValueError("nothing was recorded: give ExpertMixture record=, the number of records to keep")
        history = self._histories[self._series_code(series)]
        at = None if output is None else self._output_at(output)
        ends = np.cumsum(history.counts)
        return RunRecord(
            names=[str(name) for name in self._known.experts],
            ends=ends,
            counts=history.counts,
            times=history.times,
            weights=history.means("weights", at),
            losses=history.means("losses", at),
            loss=history.means("loss", at),
            forecasts=history.means("forecasts", at),
            targets=history.means("targets", at),
            predictions=history.means("predictions", at),
            loss_name=self._in_force._loss_name(),
            uniform=history.means("uniform", at),
        )

    def _loss_name(self) -> str:
        return "pinball" if self.quantiles is not None else loss_name(self.loss)

    def _series_code(self, series: Any) -> int:
        codes = self._known.series
        if series is None:
            if len(codes) > 1:
                raise ValueError(f"there are {len(codes)} series: say which, with series=")
            return 0
        return _looked_up(codes, series, "series", f"there are {len(codes)}")

    def _output_at(self, output: Any) -> int:
        names = self._known.outputs or self._output_names()
        return _looked_up({name: at for at, name in enumerate(names)}, output, "output", f"there are {names!r}")

    def _output_names(self) -> list[Any]:
        quantiles = self._in_force.quantiles
        if quantiles is not None:
            return [float(level) for level in quantiles]
        return list(range(self._known.n_outputs))

    @locked
    def summary(self, series: Any = None, max_switches: int = 10) -> MixtureSummary:
        """What the mixture lost, and each expert, the plain mean, and what could have been reached in hindsight.

        Parameters
        ----------
        series : optional
            One of the series; None: all together, and no oracles where there are several.
        max_switches : int, default=10
            Of the best sequence of experts.

        Returns
        -------
        MixtureSummary
            Prints as a table; has ``frame()`` and ``markdown()``.
        """
        check_is_fitted(self)
        return summarised(self, series, max_switches)

    def _fitted(self, name: str) -> Panel:
        if not hasattr(self, "_panel"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted")
        return self._panel

    @property
    @locked
    def experts_(self) -> list[Any]:
        """Names of the experts."""
        self._fitted("experts_")
        return list(self._known.experts)

    @property
    @locked
    def n_rounds_(self) -> int:
        """Rounds so far, of all series, groups and outputs."""
        return self._fitted("n_rounds_").n_learned

    @property
    @locked
    def n_samples_seen_(self) -> int:
        """Rows so far."""
        return int(self._fitted("n_samples_seen_").n_rows.sum())

    @property
    @locked
    def cells_(self) -> list[tuple[Any, Any, Any]]:
        """What the rows of ``weights_`` are of: series, group and output; None where there is just one."""
        panel = self._fitted("cells_")
        series, groups = list(self._known.series), list(self._known.groups)
        outputs = self._known.outputs or self._output_names()
        several = len(outputs) > 1 and not self._in_force.shared
        return [
            (
                series[s] if self._in_force.series is not None else None,
                groups[g] if groups else None,
                outputs[o] if several else None,
            )
            for s, g, o in panel.cells
            if g >= 0
        ]

    @property
    @locked
    def weights_(self) -> Floats:
        """The weights now."""
        panel = self._fitted("weights_")
        rows = []
        for (series, group, output), cell in panel.cells.items():
            if group < 0:
                continue
            current_weights = cell.current_weights()
            weights = current_weights.trust @ current_weights.member_weights
            if self._in_force.pooled:
                of_pool = panel.cells[series, -1, output].current_weights()
                weights = weights[1:] + weights[0] * (of_pool.trust @ of_pool.member_weights)
            rows.append(weights[2:] if self._in_force.bias else weights)
        return rows[0] if len(rows) == 1 else np.stack(rows)

    @property
    @locked
    def leader_(self) -> Any:
        """The expert with the largest weight."""
        weights = np.atleast_2d(self._weights("leader_"))
        return self._known.experts[int(weights.mean(axis=0).argmax())]

    def _weights(self, name: str) -> Floats:
        self._fitted(name)
        return self.weights_

    @property
    @locked
    def loss_(self) -> Floats:
        """Mean loss of each expert where it was awake; NaN if it never was."""
        tally = self._tally("loss_", None)
        return _ratio(tally[0], tally[1])[:-2]

    @property
    @locked
    def mixture_loss_(self) -> float:
        """Mean loss of what was issued."""
        tally = self._tally("mixture_loss_", None)
        return float(_ratio(tally[0], tally[1])[-2])

    def _tally(self, name: str, series: int | None) -> Floats:
        """Sums of losses and weights of the experts, the mixture and the plain mean, over the cells."""
        panel = self._fitted(name)
        extra = 2 * self._in_force.bias + self._in_force.pooled
        tallies = [
            cell.tally[:, extra:] for (of, group, _), cell in panel.cells.items() if group >= 0 and series in (None, of)
        ]
        tally = np.array(np.sum(tallies, axis=0))
        tally[[0, 2], -2] -= panel.saved.sum() if series is None else panel.saved[series]
        return tally


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0.0)


def _looked_up(places: Mapping[Any, int], name: Any, what: str, others: str) -> int:
    try:
        return places[name]
    except (KeyError, TypeError):  # TypeError: nothing that has a hash, so no name either
        raise ValueError(f"there is no {what} {name!r}; {others}") from None
