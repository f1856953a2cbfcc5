"""Resumption of a prequential run from a checkpoint."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType
from typing import Any

from numpy.typing import NDArray

from ..persistence import Checkpoint, describe_parameters
from ..streams import Batch
from ._prequential_run import PrequentialRun

ScheduledBatches = Iterator[tuple[Batch, NDArray[Any] | None]]


def resume(
    checkpoint: Checkpoint, fresh: PrequentialRun, models: Mapping[Any, Any], arguments: Mapping[str, Any]
) -> PrequentialRun:
    """Return the saved run with the given models in it, or the fresh run if there is none.

    From then on a given model shares its ``__dict__`` with the loaded one. So it has learned what the loaded one has,
    and references to the loaded one inside it, such as bound methods, see what the given one learns.
    """
    for name, model in models.items():
        _check_state_in_dict(name, model)
    parameters = {"models": repr(list(models))}
    for name, value in arguments.items():
        parameters |= describe_parameters(value, name)
    for name, model in models.items():
        parameters |= describe_parameters(model, f"model {name!r}")
    run, _ = checkpoint.resume(fresh, parameters)
    if run is not fresh:
        for name, model in models.items():
            adapter = run.adapters[name]
            model.__dict__ = adapter.model.__dict__
            adapter.model = model
    return run


def _check_state_in_dict(name: Any, model: Any) -> None:
    if not hasattr(model, "__dict__") or any(map(_has_state_outside_dict, type(model).__mro__)):
        raise ValueError(f"model {name!r} keeps its state outside of __dict__, where a checkpoint cannot restore it")


def _has_state_outside_dict(cls: type) -> bool:
    """Return whether a class has slots, or is compiled and larger than an object, as containers are."""
    is_compiled = isinstance(vars(cls).get("__new__"), BuiltinFunctionType)
    return bool(vars(cls).get("__slots__")) or (is_compiled and cls.__basicsize__ > object.__basicsize__)


def skip_processed(batches: ScheduledBatches, run: PrequentialRun) -> ScheduledBatches:
    """Skip the rows that the run has processed; raise a ValueError if the stream has other rows there."""
    n_rows, targets, concepts = 0, 0, 0
    while n_rows < run.n_predicted:
        batch, scheduled = next(batches, (None, None))
        if batch is None:
            raise ValueError(f"the stream has {n_rows} rows, and the checkpoint is at row {run.n_predicted}")
        n_rows += len(batch.y)
        targets, concepts = checksum(batch.y, targets), concepts_checksum(batch, scheduled, concepts)
    if n_rows > run.n_predicted:
        raise ValueError(
            f"the checkpoint is at row {run.n_predicted}, where a stream had ended; this one has more rows in the batch"
        )
    if targets != run.targets_checksum:
        raise ValueError(f"the first {n_rows} rows of the stream have other targets than those of the checkpoint")
    if concepts != run.concepts_checksum:
        raise ValueError(
            f"the first {n_rows} rows of the stream have other concepts than those of the checkpoint, or only one of "
            "the two has concepts"
        )
    return batches


def concepts_checksum(batch: Batch, scheduled: NDArray[Any] | None, so_far: int) -> int:
    """Continue a checksum with the concepts of the rows and the scheduled ones; unchanged if there are none."""
    for concepts in (batch.concept, None if scheduled is batch.concept else scheduled):
        if concepts is not None:
            so_far = checksum(concepts, so_far)
    return so_far


def checksum(values: NDArray[Any], so_far: int) -> int:
    """Continue a checksum with the values of an array of any type."""
    return zlib.crc32(repr(values.tolist()).encode(errors="surrogatepass"), so_far)
