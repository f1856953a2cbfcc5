"""Files of forecasts, checked completely before a mixture runs over them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..forecasting import CALENDAR, ExpertMixture, ForecastReader
from ._tables import add_line_numbers, check_columns, read_numbers, read_table, read_times


@dataclass(frozen=True)
class ForecastFile:
    """A table of forecasts with its targets."""

    X: Any  #: pandas frame: the experts, and the columns of time, series, group and block
    target: Floats  #: NaN where it is not known yet
    known: NDArray[np.bool_]  #: whether the target is known
    experts: list[str]
    time: Any  #: the column of times as written in the file; None without --time
    times: NDArray[Any] | None  #: the times as ``datetime64`` or numbers
    series: NDArray[Any] | None  #: the series of each row


def columns_of(mixture: ExpertMixture, target: str, drop: list[str]) -> dict[str, list[str]]:
    """Return names of columns by the option that names them."""
    named = {"--target": target, "--time": mixture.time, "--series": mixture.series}
    named["--block"] = mixture.block if isinstance(mixture.block, str) else None
    # a part of the times need not be a column; groups of rows may be the blocks
    named["--group"] = None if mixture.group in (*CALENDAR, mixture.block) else mixture.group
    return {option: [name] for option, name in named.items() if name is not None} | {"--drop": drop}


def read_forecasts(path: Path, mixture: ExpertMixture, target: str, drop: list[str]) -> ForecastFile:
    """Read a table of forecasts; the parameters of the mixture say which columns are not experts.

    Raises a ValueError that names the column, the row, counted from 0, and the line in a CSV file.
    """
    frame, lines = read_table(path, [name for name in (mixture.time, mixture.series) if name is not None])
    check_columns(frame, columns_of(mixture, target, drop))
    if mixture.group in CALENDAR and mixture.group not in frame.columns and mixture.time is None:
        raise ValueError(f"--group {mixture.group} needs --time COLUMN, the column of the times")
    with add_line_numbers(lines):
        return _check_table(frame.drop(columns=drop), mixture, target)


def _check_table(frame: Any, mixture: ExpertMixture, target: str) -> ForecastFile:
    X = frame.drop(columns=target)
    experts = [name for name in X.columns if name not in (mixture.time, mixture.series, mixture.group, mixture.block)]
    for name in experts:
        X[name] = read_numbers(frame, name)
    y = read_numbers(frame, target)
    time = None if mixture.time is None else frame[mixture.time]
    if mixture.time is not None:
        X[mixture.time] = read_times(frame[mixture.time], mixture.time)
    infinite, known = np.isinf(y), ~np.isnan(y)
    if infinite.any():
        raise ValueError(f"column {target!r} (--target) is infinite in row {int(infinite.argmax())}")
    if not known.any():
        raise ValueError(f"column {target!r} (--target) is empty in all rows: there is nothing to learn from")
    series = np.zeros(len(y)) if mixture.series is None else frame[mixture.series].to_numpy()
    is_future = frame[target].isna()[::-1].groupby(series[::-1], dropna=False).cummin()[::-1].to_numpy(dtype=np.bool_)
    gaps = ~known & ~is_future
    if gaps.any():
        raise ValueError(
            f"column {target!r} (--target) is empty in row {int(gaps.argmax())}, but later rows have a target: "
            "only the last rows may lack theirs"
        )
    times = _check_rows(X, y, known, mixture)
    return ForecastFile(X, y, known, experts, time, times, None if mixture.series is None else series)


def _check_rows(X: Any, y: Floats, known: NDArray[np.bool_], mixture: ExpertMixture) -> NDArray[Any] | None:
    """Apply the checks of the mixture to all rows before it runs; return the times."""
    filled = np.where(known, y, y[known][-1])  # rows without a target are checked, too
    times = ForecastReader(ExpertMixture(**mixture.get_params()), None).read(X, filled).times
    reader = ForecastReader(ExpertMixture(**mixture.get_params()), None)
    reader.check_history(reader.read(X[known], y[known]).table, mixture.lag)
    return times
