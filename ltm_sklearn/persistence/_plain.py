"""Values that are made by a call with plain values: dates, numbers of other kinds, paths, random generators."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import scipy.sparse as sp

from ._frames import MADE_OF_FRAMES

_BIT_GENERATORS: dict[str, Any] = {
    "PCG64": np.random.PCG64,
    "PCG64DXSM": np.random.PCG64DXSM,
    "MT19937": np.random.MT19937,
    "Philox": np.random.Philox,
    "SFC64": np.random.SFC64,
}


def _datetime_parts(when: datetime) -> tuple[Any, ...]:
    day = (when.year, when.month, when.day)
    return *day, when.hour, when.minute, when.second, when.microsecond, when.tzinfo, when.fold


def _time_parts(when: time) -> tuple[Any, ...]:
    return when.hour, when.minute, when.second, when.microsecond, when.tzinfo, when.fold


def _seed_parts(seed: np.random.SeedSequence) -> tuple[Any, ...]:
    return seed.entropy, tuple(seed.spawn_key), seed.pool_size, seed.n_children_spawned


def _seed(entropy: Any, spawn_key: Any, pool_size: int, n_children: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(entropy, spawn_key=spawn_key, pool_size=pool_size, n_children_spawned=n_children)


def _bits_parts(bits: Any) -> tuple[Any, ...]:
    return type(bits).__name__, bits.seed_seq, bits.state


def _bits(name: str, seed: Any, state: dict[str, Any]) -> Any:
    bits = _BIT_GENERATORS[name](seed)
    bits.state = state
    return bits


def _random(state: tuple[Any, ...]) -> random.Random:
    generator = random.Random()
    generator.setstate(state)
    return generator


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
    generator = np.random.RandomState(0)
    generator.set_state(state)
    return generator


def _sparse_parts(matrix: Any) -> tuple[Any, ...]:
    return matrix.data, matrix.indices, matrix.indptr, matrix.shape


def _sparse(kind: Any) -> Callable[..., Any]:
    return lambda data, indices, indptr, shape: kind((data, indices, indptr), shape=shape)


#: By the name in a file: the type, the values that one is made of, and how.
_TABLE: dict[str, tuple[type, Callable[[Any], tuple[Any, ...]], Callable[..., Any]]] = {
    "complex": (complex, lambda z: (z.real, z.imag), complex),
    "range": (range, lambda r: (r.start, r.stop, r.step), range),
    "slice": (slice, lambda s: (s.start, s.stop, s.step), slice),
    "date": (date, lambda d: (d.year, d.month, d.day), date),
    "datetime": (datetime, _datetime_parts, lambda *parts: datetime(*parts[:-1], fold=parts[-1])),
    "time": (time, _time_parts, lambda *parts: time(*parts[:-1], fold=parts[-1])),
    "timedelta": (timedelta, lambda d: (d.days, d.seconds, d.microseconds), timedelta),
    "timezone": (timezone, lambda tz: tz.__getinitargs__(), timezone),
    "zone": (ZoneInfo, lambda zone: (zone.key,), ZoneInfo),
    "decimal": (Decimal, lambda d: (str(d),), Decimal),
    "fraction": (Fraction, lambda f: (f.numerator, f.denominator), Fraction),
    "uuid": (UUID, lambda u: (str(u),), UUID),
    "path": (type(Path()), lambda path: (str(path),), Path),
    "random": (random.Random, lambda r: (r.getstate(),), _random),
    "random state": (np.random.RandomState, lambda r: (r.get_state(legacy=False),), _random_state),
    "generator": (np.random.Generator, lambda g: (g.bit_generator,), np.random.Generator),
    "seed sequence": (np.random.SeedSequence, _seed_parts, _seed),
    "normal": (NormalDist, lambda n: (n.mean, n.stdev), NormalDist),
    "csr array": (sp.csr_array, _sparse_parts, _sparse(sp.csr_array)),
    "csr matrix": (sp.csr_matrix, _sparse_parts, _sparse(sp.csr_matrix)),
    "csc array": (sp.csc_array, _sparse_parts, _sparse(sp.csc_array)),
    "csc matrix": (sp.csc_matrix, _sparse_parts, _sparse(sp.csc_matrix)),
    "partial": (partial, lambda p: (p.func, p.args, p.keywords), lambda func, args, kw: partial(func, *args, **kw)),
}

#: How one is made, by the name in a file.
MADE = {name: make for name, (_, _, make) in _TABLE.items()} | {"bits": _bits} | MADE_OF_FRAMES

#: By the type: the name in a file, and the values that one is made of.
PARTS = {kind: (name, parts) for name, (kind, parts, _) in _TABLE.items()}
PARTS |= dict.fromkeys(_BIT_GENERATORS.values(), ("bits", _bits_parts))
