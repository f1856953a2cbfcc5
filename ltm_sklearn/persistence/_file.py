"""Saving and loading."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .._version import __version__
from ._archive import FORMAT, FORMAT_VERSION, as_json, packed, read_json, unpacked
from ._arrays import Unshelf
from ._decode import Decoder
from ._encode import Encoder
from ._errors import BadFile, in_words
from ._models import dumped, loaded_pickle, loaded_skops, untrusted_types, warn_of_pickle
from ._names import PACKAGES, untrusted
from ._writing import remove_left_of, write_whole

#: Packages whose models are written as plain values: their attributes may change with their version.
_WATCHED = tuple(name for name in PACKAGES if name != "skbase")


def save(estimator: Any, path: str | os.PathLike[str], *, models: str = "skops") -> None:
    """Write an estimator, mixture, algorithm or bandit to a file, as it is: fitted or not, or in mid-stream.

    What :func:`load` gives back goes on to the same numbers, to the last digit. Whenever the process or the machine
    stops, the file is the old one or the new one: it is written beside, and takes the place of the old one at the end.

    Parameters
    ----------
    estimator : object
        Any estimator, mixture, algorithm, bandit or policy of this package, or a pipeline that has one.
    path : str or path
        By custom it ends in ``.ltm``.
    models : {"skops", "pickle"}, default="skops"
        How models of other libraries than River and sktime are written. With ``"pickle"`` all that can be pickled is,
        but loading such a file runs whatever it says.

    Raises
    ------
    ValueError
        A model cannot be written; the message names its expert. A file that was there stays as it was.
    OSError
        The file cannot be written; one that was there stays as it was.

    See Also
    --------
    load

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
    data = _dump(estimator, models, stacklevel=2)
    remove_left_of(os.fspath(path))
    write_whole(data, os.fspath(path))


def load(path: str | os.PathLike[str], *, trusted: Iterable[str | type] = (), allow_pickle: bool = False) -> Any:
    """Read what :func:`save` has written.

    All of the file is checked before anything is made of it, and nothing in it is run: it has names of classes, whose
    objects are made without calling them, and values.

    Parameters
    ----------
    path : str or path
    trusted : iterable of str or type, default=()
        Classes and functions of other packages that may be used, by their full names or themselves. Those of this
        package, River and sktime need not be named, nor scikit-learn's estimators. An error lists what is missing.
    allow_pickle : bool, default=False
        Whether a file that was written with ``models="pickle"`` is loaded, which runs whatever it says. Then nothing
        need be named as trusted.

    Returns
    -------
    estimator : object

    Raises
    ------
    ValueError
        The file is damaged, of another kind, of a newer version, or not trusted; the message says which.

    Warns
    -----
    InconsistentVersionWarning
        It was written with another version of scikit-learn. It is loaded all the same.
    UserWarning
        It was written with another version of this package, River or sktime, likewise.

    See Also
    --------
    save
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return _load(data, trusted=trusted, allow_pickle=allow_pickle)
    except BadFile as error:
        raise BadFile(f"{os.fspath(path)} is not loaded: {error}") from error.__cause__


def _dump(thing: Any, models: str = "skops", stacklevel: int = 1) -> bytes:
    """The bytes of a file."""
    if models not in ("skops", "pickle"):
        raise ValueError(f"models={models!r} must be 'skops' or 'pickle'")
    by_pickle = models == "pickle"
    plainly: set[int] = set()
    while True:
        encoder = Encoder(by_pickle, plainly)
        root = encoder.encode(thing)
        shared = encoder.shared()
        if not shared:
            break
        plainly |= shared
    encoder.check_cycles()
    encoder.check_asked()
    members = {"state.json": as_json({"root": root, "names": list(encoder.names), "nodes": encoder.nodes})}
    members |= encoder.shelf.members()
    if encoder.models:
        members[f"models.{models}"] = dumped(encoder.models, by_pickle, lambda at: encoder.path(encoder.places[at]))
        if by_pickle:
            warn_of_pickle(stacklevel + 1)
    packages = {name.partition(":")[0].partition(".")[0] for name in encoder.names}
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "object": f"{type(thing).__module__}.{type(thing).__qualname__}",
        "n_models": len(encoder.models),
        "versions": _versions({*packages} | ({"skops"} if encoder.models and not by_pickle else set())),
    }
    return packed({"manifest.json": as_json(manifest), **members})


def _load(
    data: bytes,
    *,
    trusted: Iterable[str | type] = (),
    allow_pickle: bool = False,
    to_allow: str = "allow_pickle=True",
) -> Any:
    """From the bytes of a file; ``to_allow`` is what a caller has to give for one with pickles."""
    names = names_in(trusted)
    manifest, members = unpacked(data)
    state = read_json(members["state.json"], "state.json")
    if allow_pickle:
        names |= {name.replace(":", ".") for name in state.get("names", ()) if type(name) is str}
    by_skops, by_pickle = members.get("models.skops"), members.get("models.pickle")
    n_models = manifest.get("n_models")
    if type(n_models) is not int or bool(n_models) != (by_skops is not None or by_pickle is not None):
        raise BadFile("its models are missing")
    if by_pickle is not None and not allow_pickle:
        raise BadFile(
            f"its models were written with pickle, which runs whatever a file says: if you trust it, {to_allow}"
        )
    arrays = Unshelf({name: member for name, member in members.items() if name.startswith("arrays/")})
    try:
        unknown = untrusted(state["names"], names)
        unknown |= set() if by_skops is None else untrusted_types(by_skops, names, len(data))
        if unknown:
            raise BadFile(f"it has what is not trusted: look at it, and give trusted={sorted(unknown)}")
        decoder = Decoder(state["nodes"], state["names"], arrays, n_models, names)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadFile(f"it is described wrongly: {in_words(error)}") from None
    _warn_of_versions(manifest["versions"])
    try:
        models = loaded_skops(by_skops, names) if by_skops is not None else ()
        models = loaded_pickle(by_pickle) if by_pickle is not None else models
        if len(models) != n_models:
            raise BadFile("a model is missing")
        return decoder.decode(state.get("root"), models)
    except (BadFile, Warning):
        raise
    except Exception as error:
        raise BadFile(f"an object cannot be made: {in_words(error)}") from None  # a traceback would show it in full


def names_in(trusted: Iterable[str | type]) -> set[str]:
    """Full names of what a caller trusts."""
    if isinstance(trusted, str | type) or not isinstance(trusted, Iterable):  # a text would be taken apart into letters
        raise ValueError(f"trusted={trusted!r} must be a list")
    return {each if isinstance(each, str) else _full_name(each) for each in trusted}


def _full_name(thing: Any) -> str:
    try:
        return f"{thing.__module__}.{thing.__qualname__}"
    except AttributeError:
        raise ValueError(f"trusted= has {thing!r}, which is neither a name nor a class or function") from None


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {"ltm_sklearn": __version__, "python": platform.python_version()}
    for name in ("numpy", "scikit-learn", *sorted({*packages} - {"ltm_sklearn", "builtins", "sklearn"})):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _warn_of_versions(written: dict[str, str]) -> None:
    for name in _WATCHED:
        there = written.get(name)
        here = _versions([name]).get(name) if there is not None else None
        if there != here:
            told = (
                f"the file was written with {name} {there}, and here is {here}: its models may go on to other numbers"
            )
            warnings.warn(told, UserWarning, stacklevel=4)
