"""Files of forecasts: read, and checked as a whole before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..forecasting import CALENDAR, ExpertMixture, ForecastReader
from ._table_file import check_columns, lines_named, numbers_of, read_table, times_of


@dataclass(frozen=True)
class ForecastFile:
    """What a file says."""

    X: Any  #: the frame: experts, and the columns that tell time, series, group and block
    target: Floats  #: NaN where it has not come yet
    known: NDArray[np.bool_]  #: whether it has
    experts: list[str]
    time: Any  #: the column of times as it stands in the file; None if there is none
    shown: NDArray[Any] | None  #: the times, ``datetime64`` or numbers
    series: NDArray[Any] | None  #: which series each row is of


def read_forecasts(path: Path, mixture: ExpertMixture, target: str, drop: list[str]) -> ForecastFile:
    """Read a table for a mixture, whose parameters say which columns are no experts.

    Raises a ValueError that names the column, the row, counted from 0, and the line in a CSV file.
    """
    named = {"--target": target, "--time": mixture.time, "--series": mixture.series}
    as_text = [name for name in (mixture.time, mixture.series) if name is not None]
    frame, lines = read_table(path, as_text)
    named["--block"] = mixture.block if isinstance(mixture.block, str) else None
    check_columns(frame, {option: name for option, name in named.items() if name is not None}, drop)
    _check_group(frame, mixture)
    with lines_named(lines):
        return _prepared(frame.drop(columns=drop), mixture, target)


def _check_group(frame: Any, mixture: ExpertMixture) -> None:
    group = mixture.group
    if group is None or group in frame.columns:
        return
    if group not in CALENDAR:
        raise ValueError(f"there is no column {group!r} (--group), and it is none of {', '.join(CALENDAR)}")
    if mixture.time is None:
        raise ValueError(f"--group {group} is taken from times: say with --time which column has them")


def _prepared(frame: Any, mixture: ExpertMixture, target: str) -> ForecastFile:
    special = {mixture.time, mixture.series, mixture.group, mixture.block}
    X = frame.drop(columns=target)
    experts = [name for name in X.columns if name not in special]
    for name in experts:
        X[name] = numbers_of(frame, name)
    y = numbers_of(frame, target)
    time = None if mixture.time is None else frame[mixture.time]
    if mixture.time is not None:
        X[mixture.time] = times_of(frame[mixture.time], mixture.time)
    series = None if mixture.series is None else frame[mixture.series].to_numpy()
    infinite = np.isinf(y)
    if infinite.any():
        raise ValueError(f"column {target!r} (--target) is infinite in row {int(infinite.argmax())}")
    if np.isnan(y).all():
        raise ValueError(f"column {target!r} (--target) is empty in all rows: there is nothing to learn from")
    known = _known(y, series, target)
    shown = _check_rows(X, y, known, mixture)
    return ForecastFile(X, y, known, experts, time, shown, series)


def _known(y: Floats, series: NDArray[Any] | None, target: str) -> NDArray[np.bool_]:
    """Whether targets have come: those of the last rows of each series need not have."""
    known = ~np.isnan(y)
    later: dict[Any, bool] = {}  # whether a later row of the series has one
    labels = [None] * len(y) if series is None else series.tolist()
    first_gap = None
    for row in range(len(y) - 1, -1, -1):
        if known[row]:
            later[labels[row]] = True
        elif later.get(labels[row]):
            first_gap = row
    if first_gap is not None:
        raise ValueError(
            f"column {target!r} (--target) is empty in row {first_gap}, though later rows have one: "
            "only the last rows may lack it"
        )
    return known


def _check_rows(X: Any, y: Floats, known: NDArray[np.bool_], mixture: ExpertMixture) -> NDArray[Any] | None:
    """All that the mixture itself would find wrong, before it runs; returns the times."""
    filled = np.where(known, y, y[known][-1])  # rows of the future are checked for all but their targets
    times = ForecastReader(ExpertMixture(**mixture.get_params()), None).read(X, filled).times
    reader = ForecastReader(ExpertMixture(**mixture.get_params()), None)
    reader.check_history(reader.read(X[known], y[known]).table, mixture.lag)
    return times
