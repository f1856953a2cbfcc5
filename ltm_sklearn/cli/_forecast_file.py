"""Files of forecasts, checked completely before a mixture runs over them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..forecasting import CALENDAR, ExpertMixture, Reader
from ._table_file import add_line_numbers, check_columns, read_numbers, read_table, read_times


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


def read_forecasts(path: Path, mixture: ExpertMixture, target: str, drop: list[str]) -> ForecastFile:
    """Read a table of forecasts; the parameters of the mixture say which columns are not experts.

    Raises a ValueError that names the column, the row, counted from 0, and the line in a CSV file.
    """
    named = {"--target": target, "--time": mixture.time, "--series": mixture.series}
    text_columns = [name for name in (mixture.time, mixture.series) if name is not None]
    frame, lines = read_table(path, text_columns)
    named["--block"] = mixture.block if isinstance(mixture.block, str) else None
    check_columns(frame, {option: name for option, name in named.items() if name is not None}, drop)
    _check_group(frame, mixture)
    with add_line_numbers(lines):
        return _check_table(frame.drop(columns=drop), mixture, target)


def _check_group(frame: Any, mixture: ExpertMixture) -> None:
    group = mixture.group
    if group is None or group in frame.columns:
        return
    if group not in CALENDAR:
        raise ValueError(f"--group {group!r}: it must be a column, or one of {', '.join(CALENDAR)}")
    if mixture.time is None:
        raise ValueError(f"--group {group} needs --time COLUMN, the column of the times")


def _check_table(frame: Any, mixture: ExpertMixture, target: str) -> ForecastFile:
    special = {mixture.time, mixture.series, mixture.group, mixture.block}
    X = frame.drop(columns=target)
    experts = [name for name in X.columns if name not in special]
    for name in experts:
        X[name] = read_numbers(frame, name)
    y = read_numbers(frame, target)
    time = None if mixture.time is None else frame[mixture.time]
    if mixture.time is not None:
        X[mixture.time] = read_times(frame[mixture.time], mixture.time)
    series = None if mixture.series is None else frame[mixture.series].to_numpy()
    infinite = np.isinf(y)
    if infinite.any():
        raise ValueError(f"column {target!r} (--target) is infinite in row {int(infinite.argmax())}")
    if np.isnan(y).all():
        raise ValueError(f"column {target!r} (--target) is empty in all rows: there is nothing to learn from")
    known = _known_targets(y, series, target)
    times = _check_rows(X, y, known, mixture)
    return ForecastFile(X, y, known, experts, time, times, series)


def _known_targets(y: Floats, series: NDArray[Any] | None, target: str) -> NDArray[np.bool_]:
    """Return which targets are known; only the last rows of each series may lack theirs."""
    known = ~np.isnan(y)
    later: dict[Any, bool] = {}  # whether a later row of the series has a target
    labels = [None] * len(y) if series is None else series.tolist()
    first_gap = None
    for row in range(len(y) - 1, -1, -1):
        if known[row]:
            later[labels[row]] = True
        elif later.get(labels[row]):
            first_gap = row
    if first_gap is not None:
        raise ValueError(
            f"column {target!r} (--target) is empty in row {first_gap}, but later rows have a target: "
            "only the last rows may lack theirs"
        )
    return known


def _check_rows(X: Any, y: Floats, known: NDArray[np.bool_], mixture: ExpertMixture) -> NDArray[Any] | None:
    """Apply the checks of the mixture to all rows before it runs; return the times."""
    filled = np.where(known, y, y[known][-1])  # rows without a target are checked, too
    times = Reader(ExpertMixture(**mixture.get_params()), None).read(X, filled).times
    reader = Reader(ExpertMixture(**mixture.get_params()), None)
    reader.check_history(reader.read(X[known], y[known]), mixture.lag)
    return times
