"""Reader of files, frames and datasets in mini-batches, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._frames import as_frame, as_list, is_known
from .._optional import import_extra
from .._param_checks import check_count, check_flag, check_hashable
from ._batches import Batch, as_frames, rebatch
from ._concept_sources import PairSource

CSV = (".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst", ".csv.zip")


class Batches:
    """Mini-batches of a file, table or dataset; each iteration begins again with the first row.

    Parameters
    ----------
    source : path, frame, Arrow table or dataset, or iterable
        A CSV, Parquet or Arrow file; a frame of pandas or polars; a ``pyarrow.Table`` or ``pyarrow.dataset.Dataset``;
        or pairs ``(x, y)`` with x a dictionary, as River's datasets are. Files are read piece by piece.
    target : str, optional
        Column to predict. Required for tables and files, not allowed for pairs.
    batch_size : int, default=1000
        Number of rows in a batch; the last batch may have fewer.
    drop : sequence of str, default=()
        Columns to leave out.
    as_frame : bool, default=False
        Whether X is a frame with the names and types of the columns. False: X is an array of numbers.
    dtype : type or dict, optional
        Types of the columns of a CSV file, as in ``pandas.read_csv``. None: pandas infers them from the first
        ``batch_size`` rows; a column of numbers that contains text later on raises an error.

    Examples
    --------
    >>> from ltm_sklearn.streams import Batches
    >>> pairs = [({"a": 0.5, "b": 1.0}, "no"), ({"a": 1.5, "b": 1.0}, "yes"), ({"a": 2.5, "b": 0.0}, "yes")]
    >>> for batch in Batches(pairs, batch_size=2):
    ...     print(batch.X.tolist(), batch.y)
    [[0.5, 1.0], [1.5, 1.0]] ['no' 'yes']
    [[2.5, 0.0]] ['yes']
    """

    def __init__(
        self,
        source: Any,
        target: str | None = None,
        *,
        batch_size: int = 1000,
        drop: Iterable[str] = (),
        as_frame: bool = False,
        dtype: Any = None,
    ) -> None:
        check_count("batch_size", batch_size)
        check_flag("as_frame", as_frame)
        if isinstance(drop, str):
            raise ValueError(f"drop={drop!r} must be a sequence of column names, such as [{drop!r}]")
        dropped = as_list(drop, "drop")
        check_hashable([target, *dropped], "column")
        self.source, self.target, self.batch_size = source, target, batch_size
        self.drop, self.as_frame, self.dtype = dropped, as_frame, dtype
        self._read = self._reader()
        if (target is None) != (self._read == self._read_pairs):
            raise ValueError(
                f"target={target!r} must name the column to predict in a table, and be None for pairs (x, y)"
            )

    def __iter__(self) -> Iterator[Batch]:
        return rebatch(self._read(), self.batch_size)

    def _reader(self) -> Callable[[], Iterator[Batch]]:
        """Choose the method that reads the source."""
        if isinstance(self.source, str | Path):
            path = Path(self.source)
            if not isfile(path):
                raise FileNotFoundError(f"there is no file {path}")
            if path.name.lower().endswith(CSV):
                return self._read_csv
            if path.suffix.lower() in (".parquet", ".pq"):
                return self._read_parquet
            if path.suffix.lower() in (".arrow", ".feather", ".ipc"):
                return self._read_arrow
            raise ValueError(
                f"{path.name} is no CSV, Parquet or Arrow file by its name; it must end with .csv, .parquet or .arrow"
            )
        if type(self.source).__module__.partition(".")[0] == "pyarrow":
            if hasattr(self.source, "read_next_batch"):
                raise ValueError("source is a pyarrow reader, which can be read only once: pass a table or a dataset")
            return self._read_arrow
        if as_frame(self.source) is not None:
            return self._read_frame
        if isinstance(self.source, Iterable) and getattr(self.source, "shape", None) != ():
            self._pairs = PairSource(self.source, "source")
            return self._read_pairs
        raise ValueError(f"source={self.source!r} must be a file, a frame, an Arrow table or pairs (x, y)")

    def _read_csv(self) -> Iterator[Batch]:
        read_csv = import_extra("pandas", "CSV files").read_csv
        kinds: dict[Any, str] = {}
        with read_csv(self.source, chunksize=self.batch_size, dtype=self.dtype) as pieces:
            for piece in pieces:
                self._check_kinds(piece, kinds)
                yield self._split(piece)

    def _check_kinds(self, piece: Any, kinds: dict[Any, str]) -> None:
        """Raise a ValueError if a column changes between numbers and text; pandas infers types piece by piece."""
        for name, column in piece.items():
            known = column.dropna()  # a column of booleans with missing values has dtype object
            is_text = column.dtype.kind not in "biuf" and any(isinstance(value, str) for value in known)
            kind = "text" if is_text else "numbers"
            if name not in self.drop and len(known) and kinds.setdefault(name, kind) != kind:
                raise ValueError(
                    f"column {name!r} of {self.source} holds {kinds[name]} up to row {piece.index[0]} and {kind} after "
                    f"it: pass dtype={{{name!r}: str}} to read all of it as text"
                )

    def _read_parquet(self) -> Iterator[Batch]:
        # a dataset, or pre_buffer=True, reads ahead until the whole file is in memory
        parquet = import_extra("pyarrow.parquet", "Parquet files", "arrow")
        with parquet.ParquetFile(self.source, pre_buffer=False) as file:
            for piece in file.iter_batches(self.batch_size):
                yield self._split(piece.to_pandas())

    def _read_arrow(self) -> Iterator[Batch]:
        dataset = import_extra("pyarrow.dataset", "Arrow data", "arrow").dataset
        source = self.source
        if not hasattr(source, "scanner"):
            source = dataset(source, format="ipc") if isinstance(source, str | Path) else dataset(source)
        for piece in source.to_batches(batch_size=self.batch_size):
            yield self._split(piece.to_pandas())

    def _read_frame(self) -> Iterator[Batch]:
        for start in range(0, len(self.source), self.batch_size):
            yield self._split(_safe_indexing(self.source, slice(start, start + self.batch_size)))

    def _read_pairs(self) -> Iterator[Batch]:
        unknown = [name for name in self.drop if name not in self._pairs.names]
        if unknown:
            raise ValueError(f"drop contains {unknown}, which are no features; the features are {self._pairs.names}")
        kept = [at for at, name in enumerate(self._pairs.names) if name not in self.drop]
        names = [self._pairs.names[at] for at in kept]
        batches = (Batch(X[:, kept], y) for X, y in self._pairs.pieces(self.batch_size))
        return as_frames(batches, names) if self.as_frame else (self._numbers(batch, names) for batch in batches)

    def _split(self, frame: Any) -> Batch:
        """Split a frame into features and target."""
        columns = list(frame.columns)
        if len({*columns}) < len(columns):
            raise ValueError(f"columns must have different names; got {columns}")
        unknown = [name for name in [self.target, *self.drop] if name not in {*columns}]
        if unknown:
            raise ValueError(f"there are no columns {unknown}; the columns are {columns}")
        names = [name for name in columns if name != self.target and name not in self.drop]
        batch = Batch(frame[names], np.asarray(frame[self.target]))
        return batch if self.as_frame else self._numbers(batch._replace(X=np.asarray(batch.X)), names)

    def _numbers(self, batch: Batch, names: list[Any]) -> Batch:
        """Convert the features to an array of numbers, with NaN for missing values."""
        if batch.X.dtype.kind in "biuf":
            return batch
        columns = [_as_numbers(column) for column in batch.X.T.tolist()]
        text = [name for name, column in zip(names, columns, strict=True) if column is None]
        if text:
            raise ValueError(
                f"columns {text} hold values that are no numbers, or too large for floats: pass as_frame=True to keep "
                "them as they are, or leave them out with drop"
            )
        return batch._replace(X=np.array(columns, dtype=np.float64).T.reshape(len(batch.y), len(names)))


def _as_numbers(column: list[Any]) -> list[float] | None:
    """Convert values to floats, missing ones to NaN; None if a value is no number or too large for a float."""
    numbers = [value if is_known(value) else np.nan for value in column]
    if not all(isinstance(value, Real | np.bool_) for value in numbers):
        return None
    try:
        return [float(value) for value in numbers]
    except (OverflowError, TypeError):  # TypeError: NumPy registers time spans as numbers
        return None
