"""Saving to files and loading from them."""

from __future__ import annotations

import os
import platform
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .._version import __version__
from ._archive import BadFileError, DamagedFileError, from_json, pack, to_json, unpack
from ._arrays import ArrayReader
from ._models import PICKLE, dump_models, load_models
from ._state import StateReader, StateWriter
from ._writing import write_atomically

_SHOWN = 3  #: pickled models that a message names
_STATE, _ARRAYS = "state.json", "arrays.npz"
#: Packages whose attributes are in a file: other versions may not go on to the same numbers.
_COMPARED = ("ltm_sklearn", "scikit-learn", "river")


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator, mixture, algorithm or bandit to a file, fitted or not, at any moment of a stream.

    What :func:`load` returns goes on to the same numbers, to the last digit. The write is atomic: if the process or the
    machine stops, the file is the old one or the new one.

    Parameters
    ----------
    estimator : object
        Any estimator, mixture, algorithm, bandit or policy of this package, or a model of another library.
    path : str or path
        By convention it ends in ``.ltm``.

    Raises
    ------
    ValueError
        A model can be written neither by skops nor by pickle; the message names it. The old file stays.
    ImportError
        There are models of scikit-learn, and skops is not installed.
    OSError
        The file cannot be written; the old one stays.

    Notes
    -----
    Objects of this package are written as JSON and arrays. Models of scikit-learn are written by skops if the copy that
    it restores is exactly the same. Other models, all of River's among them, are pickled, and :func:`load` asks for
    ``trusted=True``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ltm_sklearn.experts import Hedge
    >>> from ltm_sklearn.persistence import load, save
    >>> path = Path(tempfile.mkdtemp(), "hedge.ltm")
    >>> algorithm = Hedge().update([0.0, 0.3, 1.0])
    >>> save(algorithm, path)
    >>> load(path).weights() == algorithm.weights()
    array([ True,  True,  True])
    """
    write_atomically(dumps(estimator), path)


def load(path: str | os.PathLike[str], trusted: bool = False) -> Any:
    """Read a file that :func:`save` has written.

    Load only files of people you trust. Without ``trusted``, nothing is unpickled; but a crafted file may still fill
    the memory, crash the process, or hold a model that predicts nonsense.

    Parameters
    ----------
    path : str or path
    trusted : bool, default=False
        Whether to unpickle models that are pickled. A pickle can run any code.

    Returns
    -------
    estimator : object

    Raises
    ------
    BadFileError
        A ValueError: the file is damaged, of another kind, of another format, or has pickled models and ``trusted`` is
        False. The message says which.

    Warns
    -----
    UserWarning
        The file was written with another version of this package, scikit-learn or River. It is loaded all the same.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return loads(data, trusted)
    except BadFileError as error:
        raise type(error)(f"{os.fspath(path)} cannot be loaded: {error}") from error.__cause__


def dumps(estimator: Any, *, allow_pickle: bool = True) -> bytes:
    """Return the bytes of the file that :func:`save` writes.

    Parameters
    ----------
    estimator : object
    allow_pickle : bool, default=True
        Whether models may be pickled. If not, a model that has to be is a ValueError that names it.

    Returns
    -------
    data : bytes
    """
    writer = StateWriter()
    root = writer.value(estimator)
    models = dump_models(writer.models)
    if models.pickled and not allow_pickle:
        raise ValueError(
            f"these objects can only be pickled, which trusted=True allows: {_listed(models.pickled)}. A pickle can "
            "run any code when it is loaded"
        )
    manifest = {
        "class": f"{type(estimator).__module__}.{type(estimator).__qualname__}",
        "versions": _versions(),
        "pickled": models.pickled,
    }
    state = {"root": root, "nodes": writer.nodes, "models": models.places}
    return pack(manifest, {_STATE: to_json(state), _ARRAYS: writer.arrays.dump(), **models.members})


def loads(data: bytes, trusted: bool = False) -> Any:
    """Return the object whose bytes :func:`dumps` has returned.

    Parameters
    ----------
    data : bytes
    trusted : bool, default=False
        As in :func:`load`.

    Returns
    -------
    estimator : object
    """
    manifest, members = unpack(data)
    if PICKLE in members and not trusted:
        raise BadFileError(
            f"these models in it are pickled: {_listed(manifest['pickled'])}. A pickle can run any code. If you trust "
            "whoever could have written the file, pass trusted=True"
        )
    written, here = manifest["versions"], _versions()
    changed = [
        f"{name} {written[name]} (now {here[name]})"
        for name in _COMPARED
        if name in written and name in here and written[name] != here[name]
    ]
    if changed:
        message = f"the file was written with {', '.join(changed)}: its models may go on to other numbers"
        warnings.warn(message, UserWarning, stacklevel=2)
    if not {_STATE, _ARRAYS} <= members.keys():
        raise DamagedFileError("it is damaged: a part of it is missing")
    state = from_json(members[_STATE])
    models = load_models(members, state["models"], trusted)
    try:
        return StateReader(state["nodes"], ArrayReader(members[_ARRAYS]), models).value(state["root"])
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadFileError(f"its state does not fit this version of ltm_sklearn ({error!r})") from error


def _listed(pickled: list[str]) -> str:
    more = f" and {len(pickled) - _SHOWN} more" if len(pickled) > _SHOWN else ""
    return ", ".join(pickled[:_SHOWN]) + more


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "ltm_sklearn": __version__}
    for name in ("numpy", "scikit-learn", "river", "skops"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
