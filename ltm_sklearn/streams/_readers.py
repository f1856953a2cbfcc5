"""Files, frames and datasets as mini-batches, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._frames import as_frame, is_known, listed
from .._optional import import_extra
from .._param_checks import check_count, check_flag, check_hashable
from ._batches import Batch, as_frames, rebatched
from ._sources import Pairs

CSV = (".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst", ".csv.zip")


class Batches:
    """Mini-batches of a table, which can be gone through again and again.

    Parameters
    ----------
    source : path, frame, Arrow table or dataset, or iterable
        A CSV, Parquet or Arrow file; a frame of pandas or polars; a ``pyarrow.Table`` or ``pyarrow.dataset.Dataset``;
        or pairs ``(x, y)`` with x a dictionary, as River's datasets are. Files are read piece by piece.
    target : str, optional
        The column to predict. Pairs have their target apart.
    batch_size : int, default=1000
        Rows a batch; the last may have fewer.
    drop : sequence of str, default=()
        Columns to leave out.
    as_frame : bool, default=False
        Whether X is a frame, with the columns' names and types, not an array of numbers.
    dtype : type or dict, optional
        Types of the columns of a CSV file, as ``pandas.read_csv`` takes them; otherwise they are told by the first
        rows, and a column of numbers in which text comes later is an error.

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
            raise ValueError(f"drop={drop!r} must be a sequence of names")
        dropped = listed(drop, "drop")
        check_hashable([target, *dropped], "column")
        self.source, self.target, self.batch_size = source, target, batch_size
        self.drop, self.as_frame, self.dtype = dropped, as_frame, dtype
        self._read = self._reader()
        if (target is None) != (self._read == self._of_pairs):
            raise ValueError("target names the column to predict: a table needs it, pairs (x, y) have theirs apart")

    def __iter__(self) -> Iterator[Batch]:
        return rebatched(self._read(), self.batch_size)

    def _reader(self) -> Callable[[], Iterator[Batch]]:
        """How this source is read."""
        if isinstance(self.source, str | Path):
            path = Path(self.source)
            if not _is_file(path):
                raise FileNotFoundError(f"there is no file {path}")
            if path.name.lower().endswith(CSV):
                return self._of_csv
            if path.suffix.lower() in (".parquet", ".pq"):
                return self._of_parquet
            if path.suffix.lower() in (".arrow", ".feather", ".ipc"):
                return self._of_arrow
            raise ValueError(f"{path.name} is no CSV, Parquet or Arrow file, as far as its name tells")
        if type(self.source).__module__.partition(".")[0] == "pyarrow":
            if hasattr(self.source, "read_next_batch"):
                raise ValueError("source is a reader of pyarrow, which ends for good: give a table or a dataset")
            return self._of_arrow
        if as_frame(self.source) is not None:
            return self._of_frame
        if isinstance(self.source, Iterable) and getattr(self.source, "shape", None) != ():
            self._pairs = Pairs(self.source, "source")
            return self._of_pairs
        raise ValueError(f"source={self.source!r} is neither a file, a frame, an Arrow table nor pairs (x, y)")

    def _of_csv(self) -> Iterator[Batch]:
        read_csv = import_extra("pandas", "CSV files").read_csv
        kinds: dict[Any, str] = {}
        with read_csv(self.source, chunksize=self.batch_size, dtype=self.dtype) as pieces:
            for piece in pieces:
                self._check_kinds(piece, kinds)
                yield self._split(piece)

    def _check_kinds(self, piece: Any, kinds: dict[Any, str]) -> None:
        """pandas tells the types of each piece by itself: a label 1 would be "1" where there is a text among them."""
        for name, column in piece.items():
            known = column.dropna()  # flags of which some are missing are objects, too
            is_text = column.dtype.kind not in "biuf" and any(isinstance(value, str) for value in known)
            kind = "text" if is_text else "numbers"
            if name not in self.drop and len(known) and kinds.setdefault(name, kind) != kind:
                raise ValueError(
                    f"column {name!r} of {self.source} holds {kinds[name]} up to row {piece.index[0]} and {kind} after "
                    f"it: dtype={{{name!r}: str}} reads all of it as text"
                )

    def _of_parquet(self) -> Iterator[Batch]:
        # not through a dataset, nor with the buffer: these read ahead until the whole file is in memory
        parquet = import_extra("pyarrow.parquet", "Parquet files", "arrow")
        with parquet.ParquetFile(self.source, pre_buffer=False) as file:
            for piece in file.iter_batches(self.batch_size):
                yield self._split(piece.to_pandas())

    def _of_arrow(self) -> Iterator[Batch]:
        dataset = import_extra("pyarrow.dataset", "Arrow data", "arrow").dataset
        source = self.source
        if not hasattr(source, "scanner"):
            source = dataset(source, format="ipc") if isinstance(source, str | Path) else dataset(source)
        for piece in source.to_batches(batch_size=self.batch_size):
            yield self._split(piece.to_pandas())

    def _of_frame(self) -> Iterator[Batch]:
        for start in range(0, len(self.source), self.batch_size):
            yield self._split(_safe_indexing(self.source, slice(start, start + self.batch_size)))

    def _of_pairs(self) -> Iterator[Batch]:
        unknown = [name for name in self.drop if name not in self._pairs.names]
        if unknown:
            raise ValueError(f"there are no features {unknown} to drop: there are {self._pairs.names}")
        kept = [at for at, name in enumerate(self._pairs.names) if name not in self.drop]
        names = [self._pairs.names[at] for at in kept]
        batches = (Batch(X[:, kept], y) for X, y in self._pairs.pieces(self.batch_size))
        return as_frames(batches, names) if self.as_frame else (self._numbers(batch, names) for batch in batches)

    def _split(self, frame: Any) -> Batch:
        """A frame as features and target."""
        columns = list(frame.columns)
        if len({*columns}) < len(columns):
            raise ValueError(f"columns must have different names; there are {columns}")
        unknown = [name for name in [self.target, *self.drop] if name not in {*columns}]
        if unknown:
            raise ValueError(f"there are no columns {unknown}: there are {columns}")
        names = [name for name in columns if name != self.target and name not in self.drop]
        batch = Batch(frame[names], np.asarray(frame[self.target]))
        return batch if self.as_frame else self._numbers(batch._replace(X=np.asarray(batch.X)), names)

    def _numbers(self, batch: Batch, names: list[Any]) -> Batch:
        """The batch with an array of numbers; what is missing is NaN."""
        if batch.X.dtype.kind in "biuf":
            return batch
        columns = [_as_numbers(column) for column in batch.X.T.tolist()]
        text = [name for name, column in zip(names, columns, strict=True) if column is None]
        if text:
            raise ValueError(
                f"columns {text} hold no numbers, or some beyond all floats: as_frame=True keeps them as they are, "
                "drop leaves them out"
            )
        return batch._replace(X=np.array(columns, dtype=np.float64).T.reshape(len(batch.y), len(names)))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:
        raise
    except OSError:  # a name that no file can have
        return False


def _as_numbers(column: list[Any]) -> list[float] | None:
    """None if some values are neither numbers that a float can hold nor missing."""
    numbers = [value if is_known(value) else np.nan for value in column]
    if not all(isinstance(value, Real | np.bool_) for value in numbers):
        return None
    try:
        return [float(value) for value in numbers]
    except (OverflowError, TypeError):  # TypeError: spans of time are numbers to NumPy
        return None
