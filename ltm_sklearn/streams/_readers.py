"""Files, frames and datasets as mini-batches, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ..experts._validation import check_count
from ._batches import Batch, as_frames, import_extra, rebatched
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
    ) -> None:
        check_count("batch_size", batch_size)
        self.source, self.target, self.batch_size = source, target, batch_size
        self.drop, self.as_frame = list(drop), as_frame
        self._read = self._reader()
        if (target is None) != (self._read == self._of_pairs):
            raise ValueError("target names the column to predict: a table needs it, pairs (x, y) have theirs apart")

    def __iter__(self) -> Iterator[Batch]:
        return rebatched(self._read(), self.batch_size)

    def _reader(self) -> Callable[[], Iterator[Batch]]:
        """How this source is read."""
        if isinstance(self.source, str | Path):
            path = Path(self.source)
            if not path.is_file():
                raise FileNotFoundError(f"there is no file {path}")
            if path.name.lower().endswith(CSV):
                return self._of_csv
            if path.suffix.lower() in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
                return self._of_arrow
            raise ValueError(f"{path.name} is no CSV, Parquet or Arrow file, as far as its name tells")
        if type(self.source).__module__.partition(".")[0] == "pyarrow":
            return self._of_arrow
        if hasattr(self.source, "columns"):
            return self._of_frame
        if isinstance(self.source, Iterable):
            self._pairs = Pairs(self.source, "source")
            return self._of_pairs
        raise ValueError(f"source={self.source!r} is neither a file, a frame, an Arrow table nor pairs (x, y)")

    def _of_csv(self) -> Iterator[Batch]:
        with import_extra("pandas", "CSV files").read_csv(self.source, chunksize=self.batch_size) as pieces:
            for piece in pieces:
                yield self._split(piece)

    def _of_arrow(self) -> Iterator[Batch]:
        dataset = import_extra("pyarrow.dataset", "Arrow data", "arrow").dataset
        if isinstance(self.source, str | Path):
            parquet = Path(self.source).suffix.lower() in (".parquet", ".pq")
            source = dataset(self.source, format="parquet" if parquet else "ipc")
        else:
            source = self.source if hasattr(self.source, "scanner") else dataset(self.source)
        for piece in source.to_batches(batch_size=self.batch_size):
            if piece.num_rows:
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
        unknown = [name for name in [self.target, *self.drop] if name not in columns]
        if unknown:
            raise ValueError(f"there are no columns {unknown}: there are {columns}")
        names = [name for name in columns if name != self.target and name not in self.drop]
        batch = Batch(frame[names], np.asarray(frame[self.target]))
        return batch if self.as_frame else self._numbers(batch._replace(X=np.asarray(batch.X)), names)

    def _numbers(self, batch: Batch, names: list[Any]) -> Batch:
        """The batch, if it holds numbers."""
        if batch.X.dtype.kind not in "biuf":
            columns = zip(names, batch.X.T, strict=True)
            text = [name for name, column in columns if any(isinstance(value, str) for value in column)]
            raise ValueError(
                f"columns {text or names} hold no numbers: as_frame=True keeps them as they are, drop leaves them out"
            )
        return batch
