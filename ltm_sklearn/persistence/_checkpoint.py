"""Checkpoints of a run: saved periodically, found again after a crash."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Mapping
from datetime import timedelta
from numbers import Integral
from pathlib import Path
from typing import Any

from .._param_checks import check_count
from ..recording import logger, warn_user
from ._archive import BadFileError, DamagedFileError
from ._files import dumps, loads
from ._parameters import describe_parameters, differences
from ._writing import remove_abandoned, sync_folder, temporary_name, write_atomically

STEM, SUFFIX = "checkpoint-", ".ltm"
DAMAGED = ".damaged"  #: added to the name of a file that cannot be read, so that it is passed over
MINUTE = 60.0
SHARE = 0.02  #: of the time that checkpoints may take if the user sets no interval


class CheckpointWarning(UserWarning):
    """Warning that a checkpoint could not be written or read, and that the run goes on."""


class Checkpoint:
    """Save models periodically while they learn, and resume them after a crash with the same numbers.

    A loop makes three calls: :meth:`resume` before it, :meth:`step` after each batch, :meth:`save` after it.
    :func:`~ltm_sklearn.evaluation.prequential` takes a checkpoint and makes the calls.

    Parameters
    ----------
    folder : str or path
        Folder of the files, which are named ``checkpoint-000000012000.ltm`` after 12,000 rows. It is made if it is
        missing; the folder above it must exist. Each run needs a folder of its own.
    every : int or timedelta, optional
        Rows, or time, between two files. None: a minute, or fifty times as long as the last file took if that is
        longer, so that files take at most 2 % of the time.
    keep : int, default=2
        Number of files that are kept. Older ones are deleted after a new one is written.
    trusted : bool, default=False
        Whether models may be pickled, as :func:`save` does for River's models and all that skops does not restore
        exactly. Resuming unpickles them, which can run any code: set it if you trust everyone who may write into the
        folder. If it is False, such a model is an error when the run begins.
    on_error : {"raise", "warn"}, default="raise"
        What happens if a file cannot be written in the middle of a run. With "warn" the run goes on, and the next file
        is tried when it is due. Files that exist stay in both cases. An error at the start is always raised.

    Attributes
    ----------
    n_rows : int
        Number of rows that have been learned.
    extra : dict
        Values of the user's own that belong to the run, such as a sum of losses. They are saved with each file, and put
        back by :meth:`resume`.
    identity : dict of str to str
        What must be the same when the run is resumed besides the models' parameters, such as the checksum of an input
        file.
    path : path or None
        The newest file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ltm_sklearn import LongTermMemoryClassifier
    >>> from ltm_sklearn.persistence import Checkpoint
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] > 0
    >>> def learn(folder, n_rows):
    ...     checkpoint = Checkpoint(folder, every=100)
    ...     model, n_done = checkpoint.resume(LongTermMemoryClassifier([("bayes", GaussianNB())]))
    ...     print("from row", n_done)
    ...     for start in range(n_done, n_rows, 10):
    ...         model.partial_fit(X[start : start + 10], y[start : start + 10], classes=[False, True])
    ...         checkpoint.step(model, n_rows=10)
    ...     return model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stopped = learn(folder, 250)
    ...     resumed = learn(folder, 300)
    from row 0
    from row 200
    >>> resumed.n_rounds_
    30
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        every: int | timedelta | None = None,
        keep: int = 2,
        trusted: bool = False,
        on_error: str = "raise",
    ) -> None:
        if isinstance(every, timedelta):
            if every <= timedelta(0):
                raise ValueError(f"every={every!r} must be positive")
        elif every is not None:
            check_count("every", every)
        check_count("keep", keep)
        if on_error not in ("raise", "warn"):
            raise ValueError(f"on_error={on_error!r} must be 'raise' or 'warn'")
        self.folder, self.keep, self.trusted, self.on_error = Path(folder).absolute(), keep, trusted, on_error
        self.every = every if every is None or isinstance(every, timedelta) else int(every)
        self.n_rows = 0
        self.extra: dict[str, Any] = {}
        self.identity: dict[str, str] = {}
        self.path: Path | None = None
        self._parameters: dict[str, str] | None = None  #: None before resume()
        self._model_type: type | None = None
        self._last_rows, self._last_time, self._duration = 0, 0.0, 0.0  #: when a file was last due, and its seconds

    def resume(self, fresh: Any, parameters: Mapping[str, str] | None = None) -> tuple[Any, int]:
        """Load the newest file, or begin a new run if there is none.

        A file that is damaged is renamed with a warning, and the one before it is used. A file of another model, or of
        the same one with other parameters, is an error.

        Parameters
        ----------
        fresh : model
            What a new run begins with: an estimator of scikit-learn's or River's kind, a mixture, an algorithm, a
            bandit, or a dictionary of several. It is saved at once, so that a model that cannot be saved is an error
            before hours are spent.
        parameters : mapping of str to str, optional
            Text that must be the same when the run is resumed. None: :func:`describe_parameters` of ``fresh``.

        Returns
        -------
        model
            The saved model, or ``fresh``.
        n_rows : int
            Number of rows that it has learned: skip them in the stream.
        """
        if parameters is None:
            learns = any(hasattr(fresh, name) for name in ("fit", "partial_fit", "learn_one", "learn_many", "update"))
            if not (fresh if isinstance(fresh, dict) else learns) or isinstance(fresh, type | set):
                raise ValueError(f"{fresh!r} is no model: it must be one that learns, or a dictionary of several")
            parameters = describe_parameters(fresh)
        self._check_extra()
        _open_folder(self.folder)
        self._parameters, self._model_type = None, type(fresh)
        parameters = {**parameters, **self.identity}
        content = self._read_newest()
        if content is None:
            model, self.n_rows, self._parameters = fresh, 0, parameters
            self._write(model)
        else:
            where = f"{self.path} is not of this run"
            model = content["model"]
            if type(model) is not type(fresh):
                raise ValueError(f"{where}: it holds a {type(model).__name__}, and not a {type(fresh).__name__}")
            changed = differences(parameters, content["parameters"])
            if changed:
                raise ValueError(f"{where}: {changed}. Pass the same parameters, or give this run another folder")
            self.n_rows, self._parameters = content["n_rows"], parameters
            self.extra.clear()
            self.extra.update(content["extra"])
            logger.info("resumed at row %d, from %s", self.n_rows, self.path)
        self._last_rows, self._last_time = self.n_rows, time.monotonic()
        return model, self.n_rows

    def step(self, model: Any, n_rows: int = 1) -> bool:
        """Count rows that have been learned, and save if a file is due; return whether one was written.

        Parameters
        ----------
        model : model
            What :meth:`resume` returned.
        n_rows : int, default=1
            Number of rows that it has learned since the last call.
        """
        self._check_resumed(model)
        if isinstance(n_rows, bool) or not isinstance(n_rows, Integral) or n_rows < 0:
            raise ValueError(f"n_rows={n_rows!r} must be a whole number, 0 or more")
        self.n_rows += int(n_rows)
        if isinstance(self.every, int):
            is_due = self.n_rows - self._last_rows >= self.every
        else:
            seconds = max(MINUTE, self._duration / SHARE) if self.every is None else self.every.total_seconds()
            is_due = time.monotonic() - self._last_time >= seconds
        return is_due and self.save(model)

    def save(self, model: Any) -> bool:
        """Save now, as at the end of a loop; return whether a file was written.

        Parameters
        ----------
        model : model
            What :meth:`resume` returned.
        """
        self._check_resumed(model)
        self._check_extra()
        self._last_rows, self._last_time = self.n_rows, time.monotonic()
        try:
            self._write(model)
        except Exception as error:
            if self.on_error == "raise":
                raise
            message = error.strerror if isinstance(error, OSError) else error.__notes__[-1]
            warn_user(f"{message}. The run goes on", CheckpointWarning)
            return False
        self._duration = time.monotonic() - self._last_time
        # files of more rows are another run's
        older = [path for n_rows, path in files_in(self.folder) if n_rows <= self.n_rows]
        for path in older[self.keep :]:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                warn_user(f"{path} could not be deleted: {error.strerror}", CheckpointWarning)
        return True

    def _check_resumed(self, model: Any) -> None:
        if self._parameters is None:
            raise RuntimeError("call resume() first: it returns the model and the row to begin with")
        if type(model) is not self._model_type:
            raise ValueError(f"a {type(model).__name__} is not what resume() returned")

    def _check_extra(self) -> None:
        if not isinstance(self.extra, dict):
            raise ValueError(f"extra={self.extra!r} must be a dictionary")

    # Files -----------------------------------------------------------------------------------------------------------

    def _read_newest(self) -> dict[str, Any] | None:
        """Return the content of the newest file that is not damaged; None if there is no file."""
        files = files_in(self.folder)
        damaged: list[Path] = []
        for _, path in files:
            try:
                content = loads(path.read_bytes(), self.trusted)
            except DamagedFileError as error:
                damaged.append(path)
                reason = error
                continue
            except BadFileError as error:
                raise BadFileError(f"{path} cannot be loaded: {error}") from error.__cause__
            if not isinstance(content, dict) or content.keys() != {"n_rows", "extra", "parameters", "model"}:
                raise ValueError(
                    f"{path} is no checkpoint: it holds a {type(content).__name__} that was saved otherwise. Move it "
                    "away, or give the run a folder of its own"
                )
            for each in damaged:  # renamed, as it would count as newer than the next file
                each.rename(each.with_name(each.name + DAMAGED))
                warn_user(
                    f"{each} is damaged, and {path.name} is used instead. It is now named {each.name}{DAMAGED}",
                    CheckpointWarning,
                )
            self.path = path
            return dict(content)
        if files:
            raise ValueError(f"none of the {len(files)} checkpoints in {self.folder} can be read: {reason}")
        return None

    def _write(self, model: Any) -> None:
        """Write a file; an error says in words what failed, and which file there is."""
        content = {"n_rows": self.n_rows, "extra": self.extra, "parameters": self._parameters, "model": model}
        path = self.folder / f"{STEM}{self.n_rows:012d}{SUFFIX}"
        try:
            if not self.folder.is_dir():
                raise FileNotFoundError(errno.ENOENT, f"there is no folder {self.folder} any more")
            write_atomically(dumps(content, allow_pickle=self.trusted), path)
        except Exception as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            exists = self.path is not None and self.path.exists()
            left = f"{self.path} is intact" if exists else "there is no earlier one"
            message = f"no checkpoint could be written to {self.folder} at row {self.n_rows}: {reason}; {left}"
            if isinstance(error, OSError):
                raise OSError(error.errno, message) from error
            error.add_note(message)
            raise
        self.path = path


def files_in(folder: Path) -> list[tuple[int, Path]]:
    """Return the checkpoints in a folder with their rows, the newest first."""
    found = []
    for path in folder.glob(f"{STEM}*{SUFFIX}"):
        digits = path.name.removeprefix(STEM).removesuffix(SUFFIX)
        if digits.isdecimal():
            found.append((int(digits), path))
    return sorted(found, reverse=True)


def _open_folder(folder: Path) -> None:
    """Make the folder if it is missing, and raise an OSError if no file can be written there."""
    above = folder.parent
    if not above.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {above} to make {folder.name} in")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is a file, not a folder")
    try:
        if not folder.exists():
            folder.mkdir(exist_ok=True)
            sync_folder(above)  # or else it may be gone after a power failure, with all that is in it
        remove_abandoned(folder, STEM)
        probe = Path(temporary_name(folder / f"{STEM}probe"))
        probe.write_bytes(b"x")  # an empty file can be made on a full disk, too
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, f"{folder} cannot be written to: {error.strerror}") from error
