"""Models of other libraries: by skops, or by pickle where that is asked for."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Callable, Collection
from typing import Any
from zipfile import BadZipFile, ZipFile

from ._errors import BadFile, in_words
from ._schema import check_schema
from ._sizes import check_sizes

#: What skops does not trust, as a crafted one could crash a process that predicts with it. That is as true of the
#: arrays of this package, and the default experts have trees.
TRUSTED = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
)


class TrustWarning(UserWarning):
    """A file was written with pickle: whoever loads it runs whatever it says."""


def dumped(models: list[Any], by_pickle: bool, path: Callable[[int], str]) -> bytes:
    """All of them as one, so that what they share stays shared; ``path`` says where one of them stands."""
    write = _pickled if by_pickle else _skops().dumps
    try:
        return bytes(write(models))
    except Exception as error:
        for at, model in enumerate(models):
            try:
                write([model])
            except Exception as its_error:
                told = f"{path(at)}, a {type(model).__name__}, cannot be written by {_way(by_pickle)}"
                advice = "" if by_pickle else '; models="pickle" may do'
                raise ValueError(f"{told}: {type(its_error).__name__}: {its_error}{advice}") from its_error
        raise ValueError(f"the models cannot be written by {_way(by_pickle)}: {error}") from error


def untrusted_types(data: bytes, trusted: Collection[str], n_bytes: int | None = None) -> set[str]:
    """What skops has written and may not be used; nothing is made. The file has so many bytes."""
    n_bytes = len(data) if n_bytes is None else n_bytes
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            check_sizes(archive, n_bytes)  # of the whole file: this archive is packed in another one
            check_schema(archive.read("schema.json"), n_bytes)
        return {*_skops().get_untrusted_types(data=data)} - {*TRUSTED, *trusted}
    except BadFile:
        raise
    except (BadZipFile, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(f"its models cannot be read: {in_words(error)}") from None


def loaded_skops(data: bytes, trusted: Collection[str]) -> Any:
    """What was checked."""
    return _skops().loads(data, trusted=[*TRUSTED, *trusted])


def loaded_pickle(data: bytes) -> Any:
    """Runs whatever it says."""
    return pickle.loads(data)


def warn_of_pickle(stacklevel: int) -> None:
    """That only trusted files may be loaded."""
    told = "models are written with pickle: load such a file only if you trust whoever could have changed it"
    warnings.warn(told, TrustWarning, stacklevel=stacklevel + 1)


def _pickled(models: list[Any]) -> bytes:
    return pickle.dumps(models, protocol=pickle.HIGHEST_PROTOCOL)


def _way(by_pickle: bool) -> str:
    return "pickle" if by_pickle else "skops"


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ImportError('models of other libraries need skops: pip install "ltm_sklearn[persistence]"') from None
    return skops.io
