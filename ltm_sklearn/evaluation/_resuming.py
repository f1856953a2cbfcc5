"""Runs that go on where a checkpoint was written."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType
from typing import Any

from numpy.typing import NDArray

from ..persistence import Checkpoint, describe_parameters
from ..streams import Batch
from ._run import Run

Batches = Iterator[tuple[Batch, NDArray[Any] | None]]


def resumed(checkpoint: Checkpoint, fresh: Run, models: Mapping[Any, Any], arguments: Mapping[str, Any]) -> Run:
    """The run as it was saved, with the given models in it; the fresh one if there is none.

    A given model shares its attributes with the one that was loaded from then on: so it has learned what that one had,
    and whatever inside refers to the loaded one, as a bound method, sees what the given one learns.
    """
    for name, model in models.items():
        check_in_place(name, model)
    parameters = {"models": repr(list(models))}
    for name, value in arguments.items():
        parameters |= describe_parameters(value, name)
    for name, model in models.items():
        parameters |= describe_parameters(model, f"model {name!r}")
    run, _ = checkpoint.resume(fresh, parameters)
    if run is not fresh:
        for name, model in models.items():
            contestant = run.contestants[name]
            model.__dict__ = contestant.model.__dict__
            contestant.model = model
    return run


def check_in_place(name: Any, model: Any) -> None:
    """Raise a ValueError if what was loaded cannot be put into the model that is given."""
    if not hasattr(model, "__dict__") or any(map(_has_more, type(model).__mro__)):
        raise ValueError(f"model {name!r} keeps its state outside of __dict__, where a checkpoint cannot put it back")


def _has_more(cls: type) -> bool:
    """Whether it has slots, or is a container or a compiled class with a state of its own, as dictionaries are."""
    is_compiled = isinstance(vars(cls).get("__new__"), BuiltinFunctionType)
    return bool(vars(cls).get("__slots__")) or (is_compiled and cls.__basicsize__ > object.__basicsize__)


def remaining(batches: Batches, run: Run) -> Batches:
    """What comes after the rows that are done, which must be those of the stream."""
    n_passed, seen, concepts = 0, 0, 0
    while n_passed < run.n_predicted:
        batch, in_force = next(batches, (None, None))
        if batch is None:
            raise ValueError(f"the stream has {n_passed} rows, and the checkpoint is at row {run.n_predicted}")
        n_passed += len(batch.y)
        seen, concepts = checksum(batch.y, seen), concepts_checksum(batch, in_force, concepts)
    if n_passed > run.n_predicted:
        raise ValueError(
            f"the checkpoint is at row {run.n_predicted}, where a stream had ended; this one goes on within the batch"
        )
    if seen != run.seen:
        raise ValueError(f"the first {n_passed} rows of the stream have other targets than those of the checkpoint")
    if concepts != run.concepts_seen:
        raise ValueError(
            f"the first {n_passed} rows of the stream have other concepts than those of the checkpoint, or one of the "
            "two has none"
        )
    return batches


def concepts_checksum(batch: Batch, in_force: NDArray[Any] | None, so_far: int) -> int:
    """Of the concepts of the rows and of those in force; as it was, where none are known."""
    for concepts in (batch.concept, None if in_force is batch.concept else in_force):
        if concepts is not None:
            so_far = checksum(concepts, so_far)
    return so_far


def checksum(values: NDArray[Any], so_far: int) -> int:
    """Of targets or concepts, whatever they are."""
    return zlib.crc32(repr(values.tolist()).encode(errors="surrogatepass"), so_far)
