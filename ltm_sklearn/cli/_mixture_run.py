"""A mixture that runs over a file of forecasts, with its weights and forecasts row by row."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..evaluation import checksum
from ..forecasting import ExpertMixture, MixtureSummary, plain_mean
from ..persistence import Checkpoint, describe_parameters
from ..recording import RunRecord
from ._forecast_file import ForecastFile

N_STEPS = 50  #: steps of the progress bar


class MixtureRun(NamedTuple):
    """The results of a run; arrays have a row for each row of the file."""

    file: ForecastFile
    mixture: ExpertMixture
    weights: Floats  #: (n_rows, n_experts), as issued
    forecasts: Floats  #: (n_rows,): of the mixture, as issued
    means: Floats  #: (n_rows,): the plain mean of the experts
    summary: MixtureSummary
    drawn_series: Any  #: the series in the pictures; None if there is only one
    run_record: RunRecord  #: of that series


def run_mixture(
    file: ForecastFile,
    mixture: ExpertMixture,
    show_progress: Callable[[int], None],
    drawn_series: str | None,
    checkpoint: Checkpoint | None = None,
) -> MixtureRun:
    """Learn the rows whose targets are known, step by step, and forecast the others.

    ``drawn_series`` is the series in the pictures; None: the one with the most rows.
    """
    X, y = file.X[file.known], file.target[file.known]
    mixture.set_params(record=len(y))  # every row: issued weights and forecasts are read from the history
    blocks = X[mixture.block].to_numpy() if isinstance(mixture.block, str) else None
    series = None if file.series is None else file.series[file.known]
    start, is_saved = 0, True
    if checkpoint is not None:
        mixture, start = checkpoint.resume(mixture, describe_parameters(mixture, "mixture") | _checksums(file))
        if start:
            print(f"mixture: resumed at row {start}", file=sys.stderr)
    for stop in _step_ends(len(y), blocks, series):
        if stop <= start:
            continue
        mixture.partial_fit(X.iloc[start:stop], y[start:stop])
        show_progress(stop)
        if checkpoint is not None:
            is_saved = checkpoint.step(mixture, stop - start)
        start = stop
    if checkpoint is not None and not is_saved:
        checkpoint.save(mixture)
    weights = np.empty((len(file.target), len(file.experts)))
    forecasts = np.empty(len(file.target))
    rows_by_series = _rows_by_series(file)
    run_records = {label: mixture.run_record(label) for label in rows_by_series}
    for label, rows in rows_by_series.items():
        run_record = run_records[label]
        assert run_record.predictions is not None
        weights[rows], forecasts[rows] = run_record.weights, run_record.predictions
    if not file.known.all():
        future = file.X[~file.known]
        weights[~file.known], forecasts[~file.known] = mixture.weigh(future), mixture.predict(future)
    experts = file.X[file.experts].to_numpy(dtype=np.float64)
    means = plain_mean(experts[:, :, np.newaxis], None)[:, 0]
    if drawn_series is None:
        drawn_series = max(rows_by_series, key=lambda label: len(rows_by_series[label]))
    run_record = run_records[drawn_series]
    return MixtureRun(file, mixture, weights, forecasts, means, mixture.summary(), drawn_series, run_record)


def _checksums(file: ForecastFile) -> dict[str, str]:
    """Return the checksums by which a checkpoint recognizes the file."""
    numbers = np.column_stack([file.target, file.X[file.experts].to_numpy(dtype=np.float64)])
    value = zlib.crc32(numbers.tobytes(), zlib.crc32(repr(list(file.X.columns)).encode()))
    for name in file.X.columns:
        if name not in file.experts:  # the columns of time, series, group and block
            value = checksum(file.X[name].to_numpy(), value)
    return {"the file's rows": str(len(numbers)), "the file's checksum": f"{value:08x}"}


def _rows_by_series(file: ForecastFile) -> dict[Any, NDArray[np.intp]]:
    """Return the rows with known targets of each series."""
    rows = np.flatnonzero(file.known)
    if file.series is None:
        return {None: rows}
    pandas = import_extra("pandas", "CSV files")
    codes, labels = pandas.factorize(file.series[rows])
    order = np.argsort(codes, kind="stable")
    cuts = np.cumsum(np.bincount(codes, minlength=len(labels)))[:-1]
    return dict(zip(labels.tolist(), np.split(rows[order], cuts), strict=True))


def _step_ends(n_rows: int, blocks: NDArray[Any] | None, series: NDArray[Any] | None) -> list[int]:
    """Return the rows at which steps end: never inside a block of a block column, which must be learned in one call."""
    may_stop = np.ones(n_rows + 1, dtype=np.bool_)
    if blocks is not None:
        inside = np.zeros(n_rows + 1, dtype=np.int64)
        latest: dict[Any, tuple[Any, int]] = {}  # current block of each series, and its last row
        labels = [None] * n_rows if series is None else series.tolist()
        for row, (label, block) in enumerate(zip(labels, blocks.tolist(), strict=True)):
            previous = latest.get(label)
            if previous is not None and previous[0] == block:
                inside[previous[1] + 1] += 1
                inside[row + 1] -= 1
            latest[label] = (block, row)
        may_stop = np.cumsum(inside) == 0
    step = -(-n_rows // N_STEPS)
    stops = [0]
    for stop in np.flatnonzero(may_stop).tolist():
        if stop - stops[-1] >= step or stop == n_rows:
            stops.append(stop)
    return stops[1:]


# Tables -----------------------------------------------------------------------------------------------------------


def weights_frame(run: MixtureRun) -> Any:
    """Return the weights row by row."""
    return _with_rows(run, run.weights, list(run.file.experts))


def forecasts_frame(run: MixtureRun, target: str) -> Any:
    """Return target, mixture and plain mean row by row."""
    columns = np.column_stack([run.file.target, run.forecasts, run.means])
    names = ["mixture", "plain_mean"]
    return _with_rows(run, columns, [f"{target} (target)" if target in names else target, *names])


def _with_rows(run: MixtureRun, values: Floats, names: list[str]) -> Any:
    """Return a frame of the series, the time or row number, and the values of each row."""
    pandas = import_extra("pandas", "CSV files")
    file = run.file
    parts = [] if file.series is None else [pandas.Series(file.series, name=run.mixture.series)]
    rows = pandas.Series(np.arange(len(file.target)), name="row number" if "row" in names else "row")
    parts += [rows if file.time is None else file.time, pandas.DataFrame(values, columns=names)]
    return pandas.concat(parts, axis=1)


def series_frame(run: MixtureRun) -> Any:
    """Return the losses of each series, those with the most rows first."""
    pandas = import_extra("pandas", "CSV files")
    mixture, names = run.mixture, [str(name) for name in run.mixture.experts_]
    rows = []
    for label, code in mixture._known.series.items():
        sums, counts, mixture_sums = mixture._tally("summary", code)
        if not counts[-1] > 0.0:  # no block is complete
            continue
        loss = np.divide(sums, counts, out=np.full(len(sums), np.inf), where=counts > 0.0)
        best = int(loss[:-2].argmin())
        gain = 1.0 - np.divide(mixture_sums, sums, out=np.ones(len(sums)), where=sums > 0.0)
        n_rows = int(mixture._panel.n_rows[code])
        rows.append((label, n_rows, loss[-2], loss[-1], gain[-1], names[best], loss[best], gain[best]))
    losses = ["mixture", "plain_mean", "gain_on_mean", "best_expert", "best_expert_loss", "gain_on_best"]
    return pandas.DataFrame(rows, columns=["series", "rows", *losses]).sort_values(
        "rows", ascending=False, kind="stable"
    )
