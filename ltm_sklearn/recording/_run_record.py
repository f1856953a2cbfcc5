"""The run record: predictions, weights and losses of a run, as displays and analyses need them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._param_checks import check_count
from .._river_compat import last_step
from .._typing import Floats
from ._history import Record

#: Most experts of a run record; those with the largest weights are kept where many snapshots came and went.
MOST_EXPERTS = 500


@dataclass(frozen=True, eq=False, repr=False)
class RunRecord:
    """Weights, losses and predictions of a run.

    A record covers one row, or several neighbouring ones; then its values are means over them.

    Parameters
    ----------
    names : list of str
        The K experts.
    ends : ndarray of shape (R,)
        The last row of each record, counted from 1.
    counts : ndarray of shape (R,)
        Rows that each record covers.
    times : ndarray of shape (R,) or None
        Time stamps of the records' last rows, ``datetime64`` or numbers, where known.
    weights : ndarray of shape (R, K)
        Weights as issued; 0 where an expert was absent.
    losses : ndarray of shape (R, K)
        Loss of each expert; NaN where asleep.
    loss : ndarray of shape (R,)
        Loss of the combined prediction.
    forecasts : ndarray of shape (R, K) or None
        NaN where asleep; None for classifiers.
    targets, predictions : ndarray of shape (R,) or None
        Targets and combined predictions; None for classifiers.
    loss_name : str
        Name of the loss, such as ``"squared_error"``.
    uniform : ndarray of shape (R,) or None
        Loss of the plain mean of the experts; None if not all of them were queried.
    all_were_queried : bool, default=True
        Whether all experts were queried: then a NaN loss belongs to an expert that slept.
    """

    names: list[str]
    ends: NDArray[Any]
    counts: NDArray[Any]
    times: NDArray[Any] | None
    weights: Floats
    losses: Floats
    loss: Floats
    forecasts: Floats | None
    targets: Floats | None
    predictions: Floats | None
    loss_name: str
    uniform: Floats | None
    all_were_queried: bool = True

    def __post_init__(self) -> None:
        for name in ("names", "ends"):
            if np.ndim(getattr(self, name)) != 1:
                raise ValueError(f"{name}={getattr(self, name)!r} must be a list")
        n_records, n_experts = len(self.ends), len(self.names)
        if not n_records or not n_experts:
            raise ValueError(f"a RunRecord needs records and experts; it has {n_records} and {n_experts}")
        tables = ("weights", "losses", "forecasts")
        for name in ("counts", "times", "weights", "losses", "loss", "forecasts", "targets", "predictions", "uniform"):
            value = getattr(self, name)
            shape = (n_records, n_experts) if name in tables else (n_records,)
            if value is not None and np.shape(value) != shape:
                raise ValueError(f"{name} of a RunRecord must have shape {shape}; it has {np.shape(value)}")

    def __repr__(self) -> str:
        n_rows = int(np.sum(self.counts))
        return (
            f"<RunRecord: {len(self.names)} experts, {n_rows} rows in {len(self.ends)} records, {self.loss_name} loss>"
        )

    def thinned(self, most: int) -> RunRecord:
        """Return a run record with at most ``most`` records: neighbours are averaged."""
        check_count("most", most)
        step = -(-len(self.ends) // int(most))
        if step == 1:
            return self
        starts = np.arange(0, len(self.ends), step)
        last = np.append(starts[1:], len(self.ends)) - 1

        averaged = ("weights", "losses", "loss", "forecasts", "targets", "predictions", "uniform")
        values: dict[str, Any] = {name: getattr(self, name) for name in averaged}
        means: dict[str, Any] = {
            name: None if each is None else _means(each, self.counts, starts) for name, each in values.items()
        }
        return replace(
            self,
            ends=self.ends[last],
            counts=np.add.reduceat(self.counts, starts),
            times=None if self.times is None else self.times[last],
            **means,
        )


def _means(values: Floats, counts: NDArray[Any], starts: NDArray[np.intp]) -> Floats:
    """Return the means of the records from each start to the next, without NaN."""
    known = ~np.isnan(values)
    shares = counts.reshape(-1, *[1] * (values.ndim - 1)) * known
    totals = np.add.reduceat(shares, starts, axis=0)
    sums = np.add.reduceat(shares * np.where(known, values, 0.0), starts, axis=0)
    return np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0)


def end_of(estimator: Any) -> Any:
    """Return the last step of a pipeline of scikit-learn or River; any other estimator itself."""
    steps = getattr(estimator, "steps", None)
    return end_of(steps[-1][-1]) if isinstance(steps, list) and steps else last_step(estimator)


def recorded(model: Any) -> RunRecord | None:
    """Return the run record of a model; None if it has none."""
    last = end_of(model)
    if getattr(last, "record", None) is None or not hasattr(last, "run_record"):
        return None
    try:
        run_record: RunRecord = last.run_record()
    except (ValueError, AttributeError):  # it has not been fitted, or has several records
        return None
    return run_record


def run_record_of_history(records: list[Record], loss_name: str) -> RunRecord:
    """Return the run record of records, each of which names the experts of its time."""
    if not records:
        raise ValueError("nothing is recorded yet: a round is needed that was predicted before it was learned")
    total: dict[str, float] = {}
    for record in records:
        for name, weight in record.weights.items():
            total[name] = total.get(name, 0.0) + weight * record.n_rows
    kept = {*sorted(total, key=total.__getitem__, reverse=True)[:MOST_EXPERTS]}
    columns = {name: at for at, name in enumerate(name for name in total if name in kept)}

    def table(field: str, absent: float) -> Floats:
        values = np.full((len(records), len(columns)), absent)
        for row, record in zip(values, records, strict=True):
            for name, value in getattr(record, field).items():
                if name in columns:
                    row[columns[name]] = value
        return values

    def column(field: str) -> Any:
        return np.array([getattr(record, field) for record in records])

    numbers = records[0].predictions is not None
    uniform = column("uniform")
    all_were_queried = not np.isnan(uniform).any()
    return RunRecord(
        list(columns),
        column("row"),
        column("n_rows"),
        None,
        table("weights", 0.0),
        table("losses", np.nan),
        column("loss"),
        table("predictions", np.nan) if numbers else None,
        column("target") if numbers else None,
        column("prediction") if numbers else None,
        loss_name,
        uniform if all_were_queried else None,
        all_were_queried,
    )
