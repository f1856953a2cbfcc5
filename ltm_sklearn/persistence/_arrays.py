"""Arrays of a file. Those of one dtype are one flat array in ``arrays.npz``: thousands of members would be slow."""

from __future__ import annotations

import io
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

_KINDS = "biufcmMSU"  #: dtypes that NumPy writes without pickle and concatenates without changing them


def is_storable(dtype: np.dtype[Any]) -> bool:
    """Return whether arrays of this dtype come back as they were."""
    return dtype.kind in _KINDS and dtype.itemsize > 0


class ArrayWriter:
    """Collect the arrays of a file."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  #: of the dtypes
        self._parts: list[list[NDArray[Any]]] = []
        self._sizes: list[int] = []

    def add(self, array: NDArray[Any]) -> list[Any]:
        """Take an array in; return the number of its dtype, its first item there, its shape and its order in memory."""
        number = self._numbers.setdefault(array.dtype.str, len(self._parts))
        if number == len(self._parts):
            self._parts.append([])
            self._sizes.append(0)
        order: Literal["C", "F"] = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        start = self._sizes[number]
        self._parts[number].append(array.ravel(order=order))
        self._sizes[number] += array.size
        return [number, start, list(array.shape), order]

    def dump(self) -> bytes:
        """Return all arrays as the bytes of an ``.npz`` file."""
        buffer = io.BytesIO()
        flat = {
            str(number): np.concatenate(self._parts[number], dtype=np.dtype(dtype))
            for dtype, number in self._numbers.items()
        }
        np.savez(buffer, **flat)  # type: ignore[arg-type]
        return buffer.getvalue()


class ArrayReader:
    """Give out the arrays of a file."""

    def __init__(self, data: bytes) -> None:
        with np.load(io.BytesIO(data), allow_pickle=False) as flat:
            self._flat = [flat[str(number)] for number in range(len(flat.files))]

    def get(self, number: int, start: int, shape: list[int], order: Any) -> NDArray[Any]:
        """Return an array with memory of its own, from what :meth:`ArrayWriter.add` returned."""
        return self._flat[number][start : start + prod(shape)].copy().reshape(shape, order=order)
