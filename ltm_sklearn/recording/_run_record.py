"""What a run was, as pictures of it need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._param_checks import check_count
from .._river_compat import last_step
from .._typing import Floats
from ._history import Record

#: Of a record over which many snapshots came and went, the weightiest experts are taken, at most so many.
MOST_EXPERTS = 500


@dataclass(frozen=True, eq=False, repr=False)
class RunRecord:
    """What a run was, in at most so many records.

    A record is a row, or several neighbouring ones: then all its numbers are means over them.

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
        Loss of what was issued.
    forecasts : ndarray of shape (R, K) or None
        NaN where asleep; None for classifiers.
    targets, predictions : ndarray of shape (R,) or None
        What came, and what was issued; None for classifiers.
    loss_name : str
        As the estimators call it: ``"squared_error"``.
    uniform : ndarray of shape (R,) or None
        Loss of the plain mean of the experts; None where not all of them were asked.
    all_were_asked : bool, default=True
        Whether a loss that is NaN is of an expert that slept, and not of one that nobody asked.
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
    all_were_asked: bool = True

    def __post_init__(self) -> None:
        for name in ("names", "ends"):
            if np.ndim(getattr(self, name)) != 1:
                raise ValueError(f"{name}={getattr(self, name)!r} must be a list")
        n_records, n_experts = len(self.ends), len(self.names)
        if not n_records or not n_experts:
            raise ValueError(f"a run_record needs records and experts; it has {n_records} and {n_experts}")
        tables = ("weights", "losses", "forecasts")
        for name in ("counts", "times", "weights", "losses", "loss", "forecasts", "targets", "predictions", "uniform"):
            value = getattr(self, name)
            shape = (n_records, n_experts) if name in tables else (n_records,)
            if value is not None and np.shape(value) != shape:
                raise ValueError(f"{name} of a run_record must have shape {shape}; it has {np.shape(value)}")

    def __repr__(self) -> str:
        n_rows = int(np.sum(self.counts))
        return (
            f"<RunRecord: {len(self.names)} experts, {n_rows} rows in {len(self.ends)} records, {self.loss_name} loss>"
        )

    def thinned(self, most: int) -> RunRecord:
        """The same in at most so many records: neighbours are averaged."""
        check_count("most", most)
        step = -(-len(self.ends) // int(most))
        if step == 1:
            return self
        starts = np.arange(0, len(self.ends), step)
        last = np.append(starts[1:], len(self.ends)) - 1

        def means(values: Floats | None) -> Any:
            return None if values is None else _means(values, self.counts, starts)

        return RunRecord(
            self.names,
            self.ends[last],
            np.add.reduceat(self.counts, starts),
            None if self.times is None else self.times[last],
            means(self.weights),
            means(self.losses),
            means(self.loss),
            means(self.forecasts),
            means(self.targets),
            means(self.predictions),
            self.loss_name,
            means(self.uniform),
            self.all_were_asked,
        )


def _means(values: Floats, counts: NDArray[Any], starts: NDArray[np.intp]) -> Floats:
    """Means of the records from each start to the next, over those that are known."""
    known = ~np.isnan(values)
    shares = counts.reshape(-1, *[1] * (values.ndim - 1)) * known
    totals = np.add.reduceat(shares, starts, axis=0)
    sums = np.add.reduceat(shares * np.where(known, values, 0.0), starts, axis=0)
    return np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0)


def end_of(estimator: Any) -> Any:
    """Of a pipeline of either kind, the model at its end; any other estimator itself."""
    steps = getattr(estimator, "steps", None)
    return end_of(steps[-1][-1]) if isinstance(steps, list) and steps else last_step(estimator)


def recorded(model: Any) -> RunRecord | None:
    """What a model has recorded; None if nothing."""
    last = end_of(model)
    if getattr(last, "record", None) is None or not hasattr(last, "run_record"):
        return None
    try:
        run_record: RunRecord = last.run_record()
    except (ValueError, AttributeError):  # it has not been fitted, or has several records
        return None
    return run_record


def run_record_of_history(records: list[Record], loss_name: str) -> RunRecord:
    """From records that speak of the experts that there were at the time."""
    if not records:
        raise ValueError("nothing is recorded yet: there must be a round that was predicted before it was learned")
    total: dict[str, float] = {}
    for record in records:
        for name, weight in record.weights.items():
            total[name] = total.get(name, 0.0) + weight * record.n_rows
    kept = {*sorted(total, key=total.__getitem__, reverse=True)[:MOST_EXPERTS]}
    seats = {name: at for at, name in enumerate(name for name in total if name in kept)}

    def table(field: str, absent: float) -> Floats:
        values = np.full((len(records), len(seats)), absent)
        for row, record in zip(values, records, strict=True):
            for name, value in getattr(record, field).items():
                if name in seats:
                    row[seats[name]] = value
        return values

    def column(field: str) -> Any:
        return np.array([getattr(record, field) for record in records])

    numbers = records[0].predictions is not None
    uniform = column("uniform")
    all_were_asked = not np.isnan(uniform).any()
    return RunRecord(
        list(seats),
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
        uniform if all_were_asked else None,
        all_were_asked,
    )
