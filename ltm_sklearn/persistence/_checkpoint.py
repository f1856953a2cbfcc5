"""Models that are saved as they learn, and found again after a crash."""

from __future__ import annotations

import errno
import os
import time
import warnings
from collections.abc import Iterable, Mapping
from datetime import timedelta
from numbers import Integral
from pathlib import Path
from typing import Any, NoReturn

from .._param_checks import check_count
from ..recording import logger, warn_user
from ._errors import BadFile, Damaged
from ._file import _dump, _load, names_in
from ._folder import files_in, open_folder, path_at
from ._models import TrustWarning
from ._setting import differences, setting_of
from ._writing import write_whole

DAMAGED = ".damaged"  #: put behind the name of a file that cannot be read, so that it is passed over
MINUTE = 60.0
TESTED = 2  #: files that are loaded before they are written: of a model that is fresh, and of one that has learned
SHARE = 0.02  #: of the time that checkpoints may take, where nobody says how often


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, or not be read, and the run goes on."""


class Checkpoint:
    """Saves models as they learn, and finds them again after a crash, to go on to the same numbers.

    Three calls belong into a loop: :meth:`resume` before it, :meth:`step` after each batch, :meth:`save` behind it.
    :func:`~ltm_sklearn.evaluation.prequential` takes a checkpoint, and does all three.

    Parameters
    ----------
    folder : str or path
        Where the files go, as ``checkpoint-000000012000.ltm`` after 12,000 rows. It is made if it is not there; the
        folder above must be. One run has one folder. ``os.chdir`` later on does not move it.
    every : int or timedelta, optional
        Rows, or time, from one file to the next. None: a minute, or fifty times what the last one took if that is
        longer, so that they take at most 2 % of the time on the way.
    keep : int, default=2
        Files that stay. Older ones are deleted when a new one is safe.
    models : {"skops", "pickle"}, default="skops"
        How models of other libraries are written, as of :func:`save`. Pickles are also loaded then, which run whatever
        is in them: whoever may write into the folder must be trusted.
    trusted : iterable of str or type, default=()
        Types of other libraries that are loaded, as of :func:`load`.
    on_error : {"raise", "warn"}, default="raise"
        What happens when a file cannot be written in mid-run: the error is raised, or a warning is, the run goes on,
        and it is tried again when the next file is due. Files that are there stay as they are. What is wrong at the
        start is raised in any case.

    Attributes
    ----------
    n_rows : int
        Rows that are done.
    extra : dict
        Whatever plain values belong to the run, as a sum of losses. It is saved with each file, and looked at each
        time: what would not be loaded again is an error. :meth:`resume` puts back what was saved.
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
        models: str = "skops",
        trusted: Iterable[str | type] = (),
        on_error: str = "raise",
    ) -> None:
        if isinstance(every, timedelta):
            if every <= timedelta(0):
                raise ValueError(f"every={every!r} must be positive")
        elif every is not None:
            check_count("every", every)
        check_count("keep", keep)
        if models not in ("skops", "pickle"):
            raise ValueError(f"models={models!r} must be 'skops' or 'pickle'")
        if on_error not in ("raise", "warn"):
            raise ValueError(f"on_error={on_error!r} must be 'raise' or 'warn'")
        self.folder, self.keep, self.on_error = Path(folder).absolute(), keep, on_error
        self.every = every if every is None or isinstance(every, timedelta) else int(every)
        self.models, self.trusted = models, tuple(sorted(names_in(trusted)))
        self.n_rows = 0
        self.extra: dict[str, Any] = {}
        self.path: Path | None = None
        self._setting: dict[str, str] | None = None  #: None before a run has begun
        self._kind: type | None = None  #: of the model
        self._also: dict[str, str] = {}  #: what else must not have changed
        self._rows_tried, self._time_tried, self._taken = 0, 0.0, 0.0  #: when a file was last due, and what it took
        self._n_tested = 0

    def resume(self, fresh: Any) -> tuple[Any, int]:
        """Begin, or go on where the newest file was written.

        A file that is damaged is put aside with a warning, and the one before it is used. Nothing else is skipped:
        a file of another model, or of the same one with other parameters, is an error.

        Parameters
        ----------
        fresh : model
            What to begin with if there is no file: an estimator of scikit-learn's or River's kind, a mixture, an
            algorithm, a bandit, or a dictionary of several. It is saved at once: whatever cannot be saved, or not
            here, is found out before hours are spent.

        Returns
        -------
        model
            As it was saved, or the fresh one.
        n_rows : int
            Rows that it has learned, to be passed over in the stream.
        """
        _check_model(fresh)
        return self._resume(fresh, setting_of(fresh))

    def step(self, model: Any, n_rows: int = 1) -> bool:
        """Tell that rows were learned, and save if it is time to; returns whether a file was written.

        Parameters
        ----------
        model : model
            What :meth:`resume` returned.
        n_rows : int, default=1
            How many rows more it has learned.
        """
        self._check_kind(model)
        if isinstance(n_rows, bool) or not isinstance(n_rows, Integral) or n_rows < 0:
            raise ValueError(f"n_rows={n_rows!r} must be a whole number that is not negative")
        self.n_rows += int(n_rows)
        return self._is_due() and self.save(model)

    def save(self, model: Any) -> bool:
        """Save now, as behind the loop; returns whether a file was written.

        Parameters
        ----------
        model : model
            What :meth:`resume` returned.
        """
        self._check_kind(model)
        self._check_extra()
        self._rows_tried, self._time_tried = self.n_rows, time.monotonic()
        try:
            self._write(model)
        except Exception as error:
            self._failed(error)
            return False
        self._taken = time.monotonic() - self._time_tried
        self._delete_old()
        return True

    def _resume(self, fresh: Any, setting: dict[str, str]) -> tuple[Any, int]:
        """The same with words of one's own for what must not have changed."""
        self._check_extra()
        open_folder(self.folder)
        self._setting, self._kind = None, type(fresh)
        setting = setting | self._also
        found = self._newest()
        if found is None:
            model, self.n_rows, self._setting = fresh, 0, setting
            try:
                self._write(model)
            except Exception as error:
                self._raise(error)
        else:
            self.path, before = found
            where = f"{self.path} is not of this run"
            model, self.n_rows = before["model"], before["n_rows"]
            if type(model) is not type(fresh):
                raise ValueError(f"{where}: it holds a {type(model).__name__}, and not a {type(fresh).__name__}")
            changed = differences(setting, before["setting"])
            if changed:
                raise ValueError(f"{where}: {changed}")
            self.extra.clear()
            self.extra.update(before["extra"])
            self._setting = setting
            logger.info("resumed at row %d, from %s", self.n_rows, self.path)
        self._rows_tried, self._time_tried = self.n_rows, time.monotonic()
        return model, self.n_rows

    def _check_kind(self, model: Any) -> None:
        if self._setting is None:
            raise RuntimeError("resume() comes first: it tells where to begin")
        if type(model) is not self._kind:
            raise ValueError(f"a {type(model).__name__} is not what resume() returned")

    def _check_extra(self) -> None:
        if not isinstance(self.extra, dict):
            raise ValueError(f"extra={self.extra!r} must be a dictionary")

    def _is_due(self) -> bool:
        if isinstance(self.every, int):
            return self.n_rows - self._rows_tried >= self.every
        seconds = max(MINUTE, self._taken / SHARE) if self.every is None else self.every.total_seconds()
        return time.monotonic() - self._time_tried >= seconds

    def _newest(self) -> tuple[Path, Mapping[str, Any]] | None:
        """The newest file that can be read, and what is in it; None if there is none at all."""
        files = [path for _, path in files_in(self.folder)]
        damaged: list[Path] = []
        for path in files:
            try:
                content = self._read(path.read_bytes())
            except Damaged as error:
                damaged.append(path)
                reason = error
                continue
            except BadFile as error:
                raise BadFile(f"{path} is not loaded: {error}") from error.__cause__
            _check_content(content, path)
            for each in damaged:  # out of the way: it would count as newer than what comes
                each.rename(each.with_name(each.name + DAMAGED))
                warn_user(
                    f"{each} is damaged, and {path.name} is used; it is {each.name}{DAMAGED} now", CheckpointWarning
                )
            return path, content
        if files:
            raise ValueError(f"none of the {len(files)} checkpoints in {self.folder} can be read: {reason}")
        return None

    def _read(self, data: bytes) -> Any:
        return _load(data, trusted=self.trusted, allow_pickle=self.models == "pickle", to_allow='models="pickle"')

    def _write(self, model: Any) -> None:
        if not self.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {self.folder} any more")
        content = {"n_rows": self.n_rows, "extra": self.extra, "setting": self._setting, "model": model}
        with warnings.catch_warnings():
            if self._n_tested:  # once is enough
                warnings.simplefilter("ignore", TrustWarning)
            data = _dump(content, self.models)
            if self.extra and self._n_tested >= TESTED:
                self._test_extra()
        if self._n_tested < TESTED:
            self._read(data)
            self._n_tested += 1
        path = path_at(self.folder, self.n_rows)
        write_whole(data, os.fspath(path))
        self.path = path

    def _test_extra(self) -> None:
        """Each time: a loop may put in something new when no whole file is loaded any more."""
        try:
            self._read(_dump(self.extra, self.models))
        except BadFile as error:
            raise BadFile(f"what is in extra would not be loaded again: {error}") from error.__cause__

    def _delete_old(self) -> None:
        """Only what is older: should another run have written here, its files are not ours to delete."""
        older = [path for n_rows, path in files_in(self.folder) if n_rows <= self.n_rows]
        for path in older[self.keep :]:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                warn_user(f"{path} could not be deleted: {error.strerror}", CheckpointWarning)

    def _failed(self, error: Exception) -> None:
        if self.on_error == "raise":
            self._raise(error)
        warn_user(f"{self._said_of(error)}, and the run goes on", CheckpointWarning)

    def _raise(self, error: Exception) -> NoReturn:
        message = self._said_of(error)
        if isinstance(error, OSError):
            raise OSError(error.errno, message) from error
        error.add_note(message)
        raise error

    def _said_of(self, error: Exception) -> str:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        is_there = self.path is not None and self.path.exists()
        left = f"{self.path} is intact" if is_there else "there is no earlier one"
        return f"no checkpoint could be written to {self.folder} at row {self.n_rows}: {reason}; {left}"


def _check_content(content: Any, path: Path) -> None:
    """Raise a ValueError if something else than a checkpoint has the name of one."""
    kinds = {"n_rows": int, "extra": dict, "setting": dict}
    is_ours = isinstance(content, dict) and "model" in content
    if not is_ours or not all(isinstance(content.get(key), kind) for key, kind in kinds.items()):
        raise ValueError(
            f"{path} is no checkpoint: it holds a {type(content).__name__} that was saved otherwise. Move it away, or "
            "give the run a folder of its own"
        )


def _check_model(fresh: Any) -> None:
    """Raise a ValueError if this is nothing that learns, nor a dictionary of such."""
    learns = any(hasattr(fresh, name) for name in ("fit", "partial_fit", "learn_one", "learn_many", "update"))
    if not (fresh if isinstance(fresh, dict) else learns) or isinstance(fresh, type | set):
        raise ValueError(f"{fresh!r} is no model: it must be one that learns, or a dictionary of several")
