"""A mixture that runs over a file of forecasts, with its weights and forecasts row by row."""

from __future__ import annotations

import sys
import zlib
from typing import Any, NamedTuple

import numpy as np

from .._optional import import_extra
from .._typing import Floats
from ..forecasting import ExpertMixture, MixtureSummary, plain_mean
from ..persistence import Checkpoint, describe_parameters
from ..recording import RunRecord, progress_bar
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
    file: ForecastFile, mixture: ExpertMixture, drawn_series: str | None, checkpoint: Checkpoint | None = None
) -> MixtureRun:
    """Learn the rows whose targets are known, step by step, and forecast the others.

    ``drawn_series`` is the series in the pictures; None: the one with the most rows.
    """
    pandas = import_extra("pandas", "CSV files")
    X, y = file.X[file.known], file.target[file.known]
    known = pandas.Series(np.flatnonzero(file.known))
    rows_of = {None: known} if file.series is None else dict([*known.groupby(file.series[file.known], sort=False)])
    if drawn_series is None:
        drawn_series = max(rows_of, key=lambda label: len(rows_of[label]))
    elif drawn_series not in rows_of:
        raise ValueError(f"there is no series {drawn_series!r} with known targets (--show)")
    mixture.set_params(record=len(y))  # every row: issued weights and forecasts are read from the history
    mixture = _learn(X, y, mixture, file, checkpoint)
    weights = np.empty((len(file.target), len(file.experts)))
    forecasts = np.empty(len(file.target))
    for label, rows in rows_of.items():
        run_record = mixture.run_record(label)
        assert run_record.predictions is not None
        weights[rows], forecasts[rows] = run_record.weights, run_record.predictions
    if not file.known.all():
        future = file.X[~file.known]
        weights[~file.known], forecasts[~file.known] = mixture.weigh(future), mixture.predict(future)
    experts = file.X[file.experts].to_numpy(dtype=np.float64)
    means = plain_mean(experts[:, :, np.newaxis], None)[:, 0]
    drawn_record = mixture.run_record(drawn_series)
    return MixtureRun(file, mixture, weights, forecasts, means, mixture.summary(), drawn_series, drawn_record)


def _learn(
    X: Any, y: Floats, mixture: ExpertMixture, file: ForecastFile, checkpoint: Checkpoint | None
) -> ExpertMixture:
    """Learn all rows in steps, after each of which the progress is shown and a checkpoint may be saved."""
    start, is_saved = 0, True
    if checkpoint is not None:
        mixture, start = checkpoint.resume(mixture, describe_parameters(mixture, "mixture") | _checksums(file))
        if start:
            print(f"mixture: resumed at row {start}", file=sys.stderr)
    with progress_bar("mixture", True, len(y)) as show_progress:
        for stop in _step_ends(X, mixture):
            if stop <= start:
                continue
            mixture.partial_fit(X.iloc[start:stop], y[start:stop])
            show_progress(stop)
            if checkpoint is not None:
                is_saved = checkpoint.step(mixture, stop - start)
            start = stop
    if checkpoint is not None and not is_saved:
        checkpoint.save(mixture)
    return mixture


def _step_ends(X: Any, mixture: ExpertMixture) -> list[int]:
    """Return the rows at which steps end: never inside a block of a block column, which must be learned in one call."""
    pandas = import_extra("pandas", "CSV files")
    ends = np.arange(1, len(X) + 1)
    if isinstance(mixture.block, str):
        series = np.zeros(len(X)) if mixture.series is None else X[mixture.series].to_numpy()
        blocks = X[mixture.block].reset_index(drop=True)
        starts = blocks != blocks.groupby(series).shift()
        block_ends = pandas.Series(ends).groupby([series, starts.groupby(series).cumsum()]).transform("max")
        ends = ends[block_ends.cummax().to_numpy() == ends]
    step = -(-len(X) // N_STEPS)
    stops = [0]
    for end in ends.tolist():
        if end - stops[-1] >= step or end == len(X):
            stops.append(end)
    return stops[1:]


def _checksums(file: ForecastFile) -> dict[str, str]:
    """Return the checksums by which a checkpoint recognizes the file."""
    pandas = import_extra("pandas", "CSV files")
    hashes = pandas.util.hash_pandas_object(pandas.concat([file.X, pandas.Series(file.target)], axis=1), index=False)
    value = zlib.crc32(hashes.to_numpy().tobytes(), zlib.crc32(repr(list(file.X.columns)).encode()))
    return {"the file's rows": str(len(hashes)), "the file's checksum": f"{value:08x}"}


# Tables -----------------------------------------------------------------------------------------------------------


def weights_frame(run: MixtureRun) -> Any:
    """Return the weights row by row."""
    return _with_rows(run, dict(zip(run.file.experts, run.weights.T, strict=True)))


def forecasts_frame(run: MixtureRun, target: str) -> Any:
    """Return target, mixture and plain mean row by row."""
    name = f"{target} (target)" if target in ("mixture", "plain_mean") else target
    return _with_rows(run, {name: run.file.target, "mixture": run.forecasts, "plain_mean": run.means})


def _with_rows(run: MixtureRun, columns: dict[str, Floats]) -> Any:
    """Return a frame of the series, the time or row number, and the columns."""
    pandas = import_extra("pandas", "CSV files")
    file = run.file
    row = {"row number" if "row" in columns else "row": np.arange(len(file.target))}
    rows = row if file.time is None else {run.mixture.time: file.time}
    return pandas.DataFrame(({} if file.series is None else {run.mixture.series: file.series}) | rows | columns)


def series_frame(run: MixtureRun) -> Any:
    """Return the losses of each series, those with the most rows first."""
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
