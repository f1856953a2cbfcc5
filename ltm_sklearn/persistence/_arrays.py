"""Arrays side by side: those of one dtype are one ``.npy`` in the file, since thousands of members would be slow."""

from __future__ import annotations

import io
from math import prod
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ._errors import BadFile

#: NumPy's arrays have no more dimensions.
_MOST_DIMENSIONS = 64


def is_plain(array: NDArray[Any]) -> bool:
    """Whether it can be written without pickle, so that it comes back as it was."""
    dtype = array.dtype
    if dtype.hasobject or dtype.kind == "T" or (dtype.kind == "V" and dtype.itemsize == 0):
        return False
    return dtype.names is None or _names_its_fields(dtype)


def _names_its_fields(dtype: np.dtype[Any]) -> bool:
    """Whether a file can say how a row of several fields lies in memory."""
    try:
        np.concatenate([np.empty(0, dtype)], dtype=dtype)  # as a shelf does
        return bool(npy.descr_to_dtype(npy.dtype_to_descr(dtype)) == dtype)
    except (TypeError, ValueError):
        return False


class Shelf:
    """Takes arrays in."""

    def __init__(self) -> None:
        self._numbers: dict[np.dtype[Any], int] = {}
        self._parts: list[list[NDArray[Any]]] = []
        self._sizes: list[int] = []

    def put(self, array: NDArray[Any]) -> list[Any]:
        """Where it is: the number of its dtype, the first item, the shape and, if it is in Fortran's order, "F"."""
        number = self._numbers.setdefault(array.dtype, len(self._parts))
        if number == len(self._parts):
            self._parts.append([])
            self._sizes.append(0)
        start = self._sizes[number]
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        self._parts[number].append(array.ravel(order="F" if by_columns else "C"))
        self._sizes[number] += array.size
        return [number, start, list(array.shape), *(["F"] if by_columns else [])]

    def members(self) -> dict[str, bytes]:
        """The files."""
        files = {}
        for number, parts in enumerate(self._parts):
            buffer = io.BytesIO()
            np.save(buffer, np.concatenate(parts, dtype=parts[0].dtype), allow_pickle=False)
            files[f"arrays/{number}.npy"] = buffer.getvalue()
        return files


class Unshelf:
    """Gives arrays out."""

    def __init__(self, members: dict[str, bytes]) -> None:
        self._all = [_read(data, name) for name, data in sorted(members.items(), key=lambda item: _number(item[0]))]
        if [_number(name) for name in sorted(members, key=_number)] != list(range(len(members))):
            raise BadFile("a file of arrays is missing")
        self._left = [len(array) for array in self._all]  #: items that no array was said to have
        self.n_bytes = sum(array.nbytes for array in self._all)

    def check(self, where: Any, n_dimensions: int | None = None) -> None:
        """Raise an error if there is no such array, or if others have its items: none is written twice."""
        if not (isinstance(where, list) and len(where) in (3, 4) and where[3:] in ([], ["F"])):
            raise BadFile("an array is described wrongly")
        number, start, shape, *_ = where
        size = size_of(shape)
        if not all(type(each) is int and each >= 0 for each in (number, start)):
            raise BadFile("an array is described wrongly")
        if n_dimensions is not None and len(shape) != n_dimensions:
            raise BadFile("an array has more dimensions than it should")
        if number >= len(self._all) or start + size > len(self._all[number]):
            raise BadFile("an array is larger than what there is of it")
        self._left[number] -= size
        if self._left[number] < 0:
            raise BadFile("arrays are parts of each other")

    def get(self, where: list[Any]) -> NDArray[Any]:
        """A copy, which can be written to."""
        number, start, shape, *order = where
        return self._all[number][start : start + prod(shape)].copy().reshape(shape, order="F" if order else "C")


def size_of(shape: Any) -> int:
    """How many items an array of this shape has; an error if there is no such shape."""
    if not (isinstance(shape, list) and len(shape) <= _MOST_DIMENSIONS):
        raise BadFile("an array is described wrongly")
    if not all(type(size) is int and 0 <= size < 2**63 for size in shape):  # the product of others may take hours
        raise BadFile("an array is described wrongly")
    return prod(shape)


def _number(name: str) -> int:
    digits = name.removeprefix("arrays/").removesuffix(".npy")
    if not digits.isascii() or not digits.isdigit():
        raise BadFile(f"it has a member {name!r}")
    return int(digits)


def _read(data: bytes, name: str) -> NDArray[Any]:
    """As ``np.load`` does, which would first make room for whatever size a file claims."""
    file = io.BytesIO(data)
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("its format is not 1.0")
        shape, _, dtype = npy.read_array_header_1_0(file)
        if dtype.hasobject or len(shape) != 1 or file.tell() + shape[0] * dtype.itemsize != len(data):
            raise ValueError("it holds objects, or has another size than it says")
        return np.frombuffer(data, dtype, shape[0], file.tell())
    except Exception as error:  # NumPy reads the header as Python, whose reader has errors of many kinds
        raise BadFile(f"{name} cannot be read: {type(error).__name__}: {error}") from None
