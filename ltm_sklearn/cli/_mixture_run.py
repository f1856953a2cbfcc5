"""A mixture run over a file of forecasts, and what it issued row by row."""

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
from ..persistence import Checkpoint, setting_of
from ..recording import RunRecord
from ._forecast_file import ForecastFile

STEPS = 50  #: of the progress that is shown
NUMBERS = "%.10g"  #: how they are written


class Run(NamedTuple):
    """What came out; arrays have a row for each row of the file."""

    file: ForecastFile
    mixture: ExpertMixture
    weights: Floats  #: (n_rows, n_experts), as issued
    forecasts: Floats  #: (n_rows,): the mixture's, as issued
    means: Floats  #: (n_rows,): the plain mean of the experts
    summary: MixtureSummary
    drawn: Any  #: the series that is drawn; None if there is just one
    run_record: RunRecord  #: of that series


def run_mixture(
    file: ForecastFile,
    mixture: ExpertMixture,
    show: Callable[[int], None],
    drawn: str | None,
    checkpoint: Checkpoint | None = None,
) -> Run:
    """Learn the rows whose targets are known, step by step, and forecast the others; ``drawn`` is a series, or None."""
    X, y = file.X[file.known], file.target[file.known]
    mixture.set_params(record=len(y))  # all of them: what was issued is read from the records
    blocks = X[mixture.block].to_numpy() if isinstance(mixture.block, str) else None
    series = None if file.series is None else file.series[file.known]
    start, is_saved = 0, True
    if checkpoint is not None:
        mixture, start = checkpoint._resume(mixture, setting_of(mixture, "mixture") | _contents(file))
        if start:
            print(f"mixture: resumed at row {start}", file=sys.stderr)
    for stop in _stops(len(y), blocks, series):
        if stop <= start:
            continue
        mixture.partial_fit(X.iloc[start:stop], y[start:stop])
        show(stop)
        if checkpoint is not None:
            is_saved = checkpoint.step(mixture, stop - start)
        start = stop
    if checkpoint is not None and not is_saved:
        checkpoint.save(mixture)
    weights = np.empty((len(file.target), len(file.experts)))
    forecasts = np.empty(len(file.target))
    rows_of = _rows_of(file)
    run_records = {label: mixture.run_record(label) for label in rows_of}
    for label, rows in rows_of.items():
        run_record = run_records[label]
        assert run_record.predictions is not None
        weights[rows], forecasts[rows] = run_record.weights, run_record.predictions
    if not file.known.all():
        future = file.X[~file.known]
        weights[~file.known], forecasts[~file.known] = mixture.weigh(future), mixture.predict(future)
    said = file.X[file.experts].to_numpy(dtype=np.float64)
    means = plain_mean(said[:, :, np.newaxis], None)[:, 0]
    if drawn is None:
        drawn = max(rows_of, key=lambda label: len(rows_of[label]))
    return Run(file, mixture, weights, forecasts, means, mixture.summary(), drawn, run_records[drawn])


def _contents(file: ForecastFile) -> dict[str, str]:
    """By which a file is known for the one of a checkpoint."""
    numbers = np.column_stack([file.target, file.X[file.experts].to_numpy(dtype=np.float64)])
    seen = zlib.crc32(numbers.tobytes(), zlib.crc32(repr(list(file.X.columns)).encode()))
    for name in file.X.columns:
        if name not in file.experts:  # which tell time, series, group and block
            seen = checksum(file.X[name].to_numpy(), seen)
    return {"the file's rows": str(len(numbers)), "the file's checksum": f"{seen:08x}"}


def _rows_of(file: ForecastFile) -> dict[Any, NDArray[np.intp]]:
    """Of each series, the rows with known targets."""
    rows = np.flatnonzero(file.known)
    if file.series is None:
        return {None: rows}
    pandas = import_extra("pandas", "CSV files")
    codes, labels = pandas.factorize(file.series[rows])
    order = np.argsort(codes, kind="stable")
    cuts = np.cumsum(np.bincount(codes, minlength=len(labels)))[:-1]
    return dict(zip(labels.tolist(), np.split(rows[order], cuts), strict=True))


def _stops(n_rows: int, blocks: NDArray[Any] | None, series: NDArray[Any] | None) -> list[int]:
    """Where steps end: never within a block that a column tells, which must be learned at once."""
    may_stop = np.ones(n_rows + 1, dtype=np.bool_)
    if blocks is not None:
        inside = np.zeros(n_rows + 1, dtype=np.int64)
        latest: dict[Any, tuple[Any, int]] = {}  # of each series: its block, and the last row of it
        labels = [None] * n_rows if series is None else series.tolist()
        for row, (label, block) in enumerate(zip(labels, blocks.tolist(), strict=True)):
            before = latest.get(label)
            if before is not None and before[0] == block:
                inside[before[1] + 1] += 1
                inside[row + 1] -= 1
            latest[label] = (block, row)
        may_stop = np.cumsum(inside) == 0
    step = -(-n_rows // STEPS)
    stops = [0]
    for stop in np.flatnonzero(may_stop).tolist():
        if stop - stops[-1] >= step or stop == n_rows:
            stops.append(stop)
    return stops[1:]


# Tables -----------------------------------------------------------------------------------------------------------


def weights_frame(run: Run) -> Any:
    """The weights, row by row."""
    return _with_rows(run, run.weights, list(run.file.experts))


def forecasts_frame(run: Run, target: str) -> Any:
    """Target, mixture and plain mean, row by row."""
    columns = np.column_stack([run.file.target, run.forecasts, run.means])
    ours = ["mixture", "plain_mean"]
    return _with_rows(run, columns, [f"{target} (target)" if target in ours else target, *ours])


def _with_rows(run: Run, values: Floats, names: list[str]) -> Any:
    """Numbers beside the series and the time, or the row, of each."""
    pandas = import_extra("pandas", "CSV files")
    file = run.file
    parts = [] if file.series is None else [pandas.Series(file.series, name=run.mixture.series)]
    rows = pandas.Series(np.arange(len(file.target)), name="row number" if "row" in names else "row")
    parts += [rows if file.time is None else file.time, pandas.DataFrame(values, columns=names)]
    return pandas.concat(parts, axis=1)


def series_frame(run: Run) -> Any:
    """What was lost in each series, those with the most rows first."""
    pandas = import_extra("pandas", "CSV files")
    mixture, names = run.mixture, [str(name) for name in run.mixture.experts_]
    rows = []
    for label, code in mixture._labels.series.items():
        sums = mixture._loss_sums("summary", code)
        if not sums.weights[-1] > 0.0:  # no block is complete
            continue
        loss = np.nan_to_num(sums.means, nan=np.inf, posinf=np.inf)
        best = int(loss[:-2].argmin())
        gain = 1.0 - np.divide(sums.mixture_losses, sums.losses, out=np.ones(len(loss)), where=sums.losses > 0.0)
        n_rows = int(mixture._panel.n_rows[code])
        rows.append((label, n_rows, loss[-2], loss[-1], gain[-1], names[best], loss[best], gain[best]))
    losses = ["mixture", "plain_mean", "gain_on_mean", "best_expert", "best_expert_loss", "gain_on_best"]
    return pandas.DataFrame(rows, columns=["series", "rows", *losses]).sort_values(
        "rows", ascending=False, kind="stable"
    )
