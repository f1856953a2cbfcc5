"""Attributes of a fitted mixture, its run record and its summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import Floats
from ..engine import locked
from ..losses import loss_name
from ..recording import RowHistory, RunCallback, RunRecord
from ._labels import TableLabels
from ._panel import ALL, Panel
from ._summary import MixtureSummary, new_summary


class LossSums(NamedTuple):
    """Sums of losses over the rows learned, of the experts, the mixture and the plain mean, in this order."""

    losses: Floats  #: (n_experts + 2,)
    weights: Floats  #: (n_experts + 2,): of the rows in which each was awake
    mixture_losses: Floats  #: (n_experts + 2,): losses of the mixture in the same rows

    @property
    def means(self) -> Floats:
        """Mean losses, (n_experts + 2,); NaN for experts that were never awake."""
        return np.divide(self.losses, self.weights, out=np.full(self.losses.shape, np.nan), where=self.weights > 0.0)


class MixtureAttributes:
    """Base class of ExpertMixture: attributes computed from its panel, and what was recorded."""

    _panel: Panel
    _labels: TableLabels
    _histories: dict[int, RowHistory]  #: by series
    _callback: RunCallback
    _in_force: Any  #: a mixture with the parameters of the first round, which hold until the next fit
    loss: Any
    quantiles: Any

    @locked
    def run_record(self, series: Any = None, output: Any = None) -> RunRecord:
        """Return what was recorded, for pictures and analyses.

        Parameters
        ----------
        series : optional
            The series, if there are several.
        output : optional
            The target or quantile; None: the mean of all.

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
        means: dict[str, Any] = {name: history.means(name, at) for name in history.sums if name != "awake"}
        return RunRecord(
            names=[str(name) for name in self._labels.experts],
            ends=np.cumsum(history.counts),
            counts=history.counts,
            times=history.times,
            loss_name=self._in_force._loss_name(),
            **means,
        )

    def _loss_name(self) -> str:
        return "pinball" if self.quantiles is not None else loss_name(self.loss)

    def _series_code(self, series: Any) -> int:
        codes = self._labels.series
        if series is None:
            if len(codes) > 1:
                raise ValueError(f"there are {len(codes)} series: pass series= to select one")
            return 0
        return _looked_up(codes, series, "series", f"there are {len(codes)}")

    def _output_at(self, output: Any) -> int:
        names = self._output_names()
        return _looked_up({name: at for at, name in enumerate(names)}, output, "output", f"there are {names!r}")

    def _output_names(self) -> list[Any]:
        quantiles = self._in_force.quantiles
        if self._labels.outputs:
            return self._labels.outputs
        return list(range(self._labels.n_outputs)) if quantiles is None else [float(level) for level in quantiles]

    @locked
    def summary(self, series: Any = None, max_switches: int = 10) -> MixtureSummary:
        """Compare the losses of the mixture with those of the experts, the plain mean and the best in hindsight.

        Parameters
        ----------
        series : optional
            One of the series; None: all together, and no oracles where there are several.
        max_switches : int, default=10
            Most switches of the best sequence of experts.

        Returns
        -------
        MixtureSummary
            Prints as a table; has ``frame()`` and ``markdown()``.
        """
        check_is_fitted(self)
        return new_summary(self, series, max_switches)

    def _fitted_panel(self, name: str) -> Panel:
        """Return the panel; an error that names the attribute before fitting."""
        if not hasattr(self, "_panel"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted")
        return self._panel

    @property
    @locked
    def experts_(self) -> list[Any]:
        """Names of the experts."""
        self._fitted_panel("experts_")
        return list(self._labels.experts)

    @property
    @locked
    def n_rounds_(self) -> int:
        """Number of rounds of all series, groups and outputs."""
        return self._fitted_panel("n_rounds_").n_rounds

    @property
    @locked
    def n_samples_seen_(self) -> int:
        """Number of rows."""
        return int(self._fitted_panel("n_samples_seen_").n_rows.sum())

    @property
    @locked
    def cells_(self) -> list[tuple[Any, Any, Any]]:
        """Series, group and output of each row of ``weights_``; None where there is just one."""
        panel = self._fitted_panel("cells_")
        series, groups, outputs = list(self._labels.series), list(self._labels.groups), self._output_names()
        several = len(outputs) > 1 and not self._in_force.shared
        return [
            (
                series[s] if self._in_force.series is not None else None,
                groups[g] if groups else None,
                outputs[o] if several else None,
            )
            for s, g, o in panel.states
            if g != ALL
        ]

    @property
    @locked
    def weights_(self) -> Floats:
        """Current weights of the experts."""
        panel = self._fitted_panel("weights_")
        rows = []
        for (series, group, output), state in panel.states.items():
            if group == ALL:
                continue
            weights = state.current_weights().awake_weights
            if self._in_force.pooled:
                pool = panel.states[series, ALL, output].current_weights().awake_weights
                weights = weights[1:] + weights[0] * pool
            rows.append(weights[2:] if self._in_force.bias else weights)
        return rows[0] if len(rows) == 1 else np.stack(rows)

    @property
    @locked
    def leader_(self) -> Any:
        """Expert with the largest weight."""
        self._fitted_panel("leader_")
        return self._labels.experts[int(np.atleast_2d(self.weights_).mean(axis=0).argmax())]

    @property
    @locked
    def loss_(self) -> Floats:
        """Mean loss of each expert where it was awake; NaN if it never was."""
        return self._loss_sums("loss_").means[:-2]

    @property
    @locked
    def mixture_loss_(self) -> float:
        """Mean loss of the predictions as issued."""
        return float(self._loss_sums("mixture_loss_").means[-2])

    def _loss_sums(self, name: str, series: int | None = None) -> LossSums:
        """Return sums of losses over all states, or those of a series."""
        panel = self._fitted_panel(name)
        n_further = 2 * self._in_force.bias + self._in_force.pooled
        sums = [
            state.loss_sums[:, n_further:]
            for (of, group, _), state in panel.states.items()
            if group != ALL and series in (None, of)
        ]
        total = LossSums(*np.array(np.sum(sums, axis=0)))
        saved = panel.saved.sum() if series is None else panel.saved[series]
        for values in (total.losses, total.mixture_losses):
            values[-2] -= saved
        return total


def _looked_up(places: Mapping[Any, int], name: Any, what: str, others: str) -> int:
    try:
        return places[name]
    except (KeyError, TypeError):  # TypeError: without a hash it is no name
        raise ValueError(f"there is no {what} {name!r}; {others}") from None
