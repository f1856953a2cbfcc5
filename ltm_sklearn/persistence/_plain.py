"""Values that are made by a call with plain values: dates, numbers of other kinds, paths, random generators."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import partial
from operator import itemgetter
from pathlib import Path
from statistics import NormalDist
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import scipy.sparse as sp

from ._errors import BadFile
from ._frames import MADE_OF_FRAMES, taking

_BIT_GENERATORS: dict[str, Any] = {
    "PCG64": np.random.PCG64,
    "PCG64DXSM": np.random.PCG64DXSM,
    "MT19937": np.random.MT19937,
    "Philox": np.random.Philox,
    "SFC64": np.random.SFC64,
}

_INTEGERS = (int, np.integer)
_NUMBERS = (int, float)
_SEEDS = (np.random.SeedSequence, type(None))
_ZONES = (tzinfo, type(None))

#: What a seed mixes its numbers in, at most, which takes the square of it. NumPy has 4, and speaks of 8.
_MOST_POOL = 64

#: Of a whole number that is divided, at most, which takes the square of it.
_MOST_BITS = 1 << 16


def _datetime_parts(when: datetime) -> tuple[Any, ...]:
    day = (when.year, when.month, when.day)
    return *day, when.hour, when.minute, when.second, when.microsecond, when.tzinfo, when.fold


def _datetime(*parts: Any) -> datetime:
    return datetime(*parts[:-1], fold=parts[-1])


def _time_parts(when: time) -> tuple[Any, ...]:
    return when.hour, when.minute, when.second, when.microsecond, when.tzinfo, when.fold


def _time(*parts: Any) -> time:
    return time(*parts[:-1], fold=parts[-1])


def _seed_parts(seed: np.random.SeedSequence) -> tuple[Any, ...]:
    return seed.entropy, tuple(seed.spawn_key), seed.pool_size, seed.n_children_spawned


def _seed(entropy: Any, spawn_key: Any, pool_size: int, n_children: int) -> np.random.SeedSequence:
    if pool_size > _MOST_POOL:
        raise BadFile(f"a seed has a pool of {pool_size}")
    if isinstance(entropy, np.ndarray) and entropy.dtype != object:
        numbers: Any = ()
    else:
        numbers = entropy if isinstance(entropy, list | tuple) else () if entropy is None else (entropy,)
    _check_integers(*numbers, *spawn_key)
    return np.random.SeedSequence(entropy, spawn_key=spawn_key, pool_size=pool_size, n_children_spawned=n_children)


def _check_integers(*numbers: Any) -> None:
    """Raise an error if these are no whole numbers, or so large that it takes long to divide them."""
    for number in numbers:
        if not isinstance(number, _INTEGERS) or int(number).bit_length() > _MOST_BITS:
            raise BadFile("a fraction or seed is made of other things than whole numbers, or of very large ones")


def _fraction(numerator: int, denominator: int) -> Fraction:
    _check_integers(numerator, denominator)
    return Fraction(numerator, denominator)


def _bits_parts(bits: Any) -> tuple[Any, ...]:
    return type(bits).__name__, bits.seed_seq, bits.state


def _bits(name: str, seed: Any, state: dict[str, Any]) -> Any:
    _check_state(state)
    bits = _BIT_GENERATORS[name](seed)
    bits.state = state
    return bits


def _check_state(state: dict[str, Any]) -> None:
    """Raise an error if there is more in it than numbers and arrays of these, and a table of such."""
    inner = state.get("state")
    numbers = {key: value for key, value in state.items() if value is not inner or type(inner) is not dict}
    for value in [*numbers.values(), *(inner.values() if type(inner) is dict else ())]:
        is_array = type(value) is np.ndarray and value.dtype.kind in "iuf"
        if not (is_array or isinstance(value, str | int | float | np.number)):
            raise BadFile("a random generator has another state than NumPy's have")


def _random(state: tuple[Any, ...]) -> random.Random:
    version, numbers, gauss = state
    if version != 3 or type(numbers) is not tuple or {*map(type, numbers)} != {int}:
        raise BadFile("a random generator has another state than Python's have")
    generator = random.Random()
    generator.setstate((version, numbers, gauss))
    return generator


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
    _check_state(state)
    generator = np.random.RandomState(0)
    generator.set_state(state)
    return generator


def _sparse_parts(matrix: Any) -> tuple[Any, ...]:
    return matrix.data, matrix.indices, matrix.indptr, matrix.shape


def _sparse(kind: Any) -> Callable[..., Any]:
    def make(data: Any, indices: Any, indptr: Any, shape: tuple[Any, ...]) -> Any:
        if any(part.dtype == object for part in (data, indices, indptr)):  # which would be asked for whole numbers
            raise BadFile("a sparse matrix is made of objects")
        return kind((data, indices, indptr), shape=shape)

    return taking(make, np.ndarray, np.ndarray, np.ndarray, tuple)


def _itemgetter(*items: Any) -> Any:
    if {*map(type, items)} - {str, int}:
        raise BadFile("items are known by text and whole numbers")
    return itemgetter(*items)


#: By the name in a file: the type, the values that one is made of, and how.
_TABLE: dict[str, tuple[type, Callable[[Any], tuple[Any, ...]], Callable[..., Any]]] = {
    "complex": (complex, lambda z: (z.real, z.imag), taking(complex, float, float)),
    "range": (range, lambda r: (r.start, r.stop, r.step), taking(range, *3 * [_INTEGERS])),
    "slice": (slice, lambda s: (s.start, s.stop, s.step), slice),
    "date": (date, lambda d: (d.year, d.month, d.day), taking(date, *3 * [int])),
    "datetime": (datetime, _datetime_parts, taking(_datetime, *7 * [int], _ZONES, int)),
    "time": (time, _time_parts, taking(_time, *4 * [int], _ZONES, int)),
    "timedelta": (timedelta, lambda d: (d.days, d.seconds, d.microseconds), taking(timedelta, *3 * [int])),
    "timezone": (timezone, lambda tz: tz.__getinitargs__(), taking(timezone, timedelta, str)),
    "zone": (ZoneInfo, lambda zone: (zone.key,), taking(ZoneInfo, str)),
    "decimal": (Decimal, lambda d: (str(d),), taking(Decimal, str)),
    "fraction": (Fraction, lambda f: (f.numerator, f.denominator), taking(_fraction, _INTEGERS, _INTEGERS)),
    "uuid": (UUID, lambda u: (str(u),), taking(UUID, str)),
    "path": (type(Path()), lambda path: (str(path),), taking(Path, str)),
    "random": (random.Random, lambda r: (r.getstate(),), taking(_random, tuple)),
    "random state": (np.random.RandomState, lambda r: (r.get_state(legacy=False),), taking(_random_state, dict)),
    "generator": (
        np.random.Generator,
        lambda g: (g.bit_generator,),
        taking(np.random.Generator, np.random.BitGenerator),
    ),
    "seed sequence": (np.random.SeedSequence, _seed_parts, taking(_seed, object, tuple, int, int)),
    "normal": (NormalDist, lambda n: (n.mean, n.stdev), taking(NormalDist, _NUMBERS, _NUMBERS)),
    "csr array": (sp.csr_array, _sparse_parts, _sparse(sp.csr_array)),
    "csr matrix": (sp.csr_matrix, _sparse_parts, _sparse(sp.csr_matrix)),
    "csc array": (sp.csc_array, _sparse_parts, _sparse(sp.csc_array)),
    "csc matrix": (sp.csc_matrix, _sparse_parts, _sparse(sp.csc_matrix)),
    "itemgetter": (itemgetter, lambda get: get.__reduce__()[1], _itemgetter),
    "partial": (partial, lambda p: (p.func, p.args, p.keywords), lambda func, args, kw: partial(func, *args, **kw)),
}

#: How one is made, by the name in a file.
MADE = (
    {name: make for name, (_, _, make) in _TABLE.items()} | {"bits": taking(_bits, str, _SEEDS, dict)} | MADE_OF_FRAMES
)

#: By the type: the name in a file, and the values that one is made of.
PARTS = {kind: (name, parts) for name, (kind, parts, _) in _TABLE.items()}
PARTS |= dict.fromkeys(_BIT_GENERATORS.values(), ("bits", _bits_parts))
