"""Models of both kinds behind the few things that a run does with them."""

from __future__ import annotations

import math
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._frames import as_dicts
from .._river_compat import last_step
from .._typing import Floats
from ..streams import table_of


class Rows:
    """Rows that follow one another, for models that want a table and for models that want dictionaries."""

    def __init__(self, X: Any, first: int, n_rows: int, names: list[Any] | None) -> None:
        self._X, self.first, self.n_rows, self._names = X, first, n_rows, names

    @property
    def ids(self) -> range:
        """The rows' numbers."""
        return range(self.first, self.first + self.n_rows)

    @cached_property
    def table(self) -> Any:
        """An array or a frame."""
        if not isinstance(self._X, list):
            return self._X
        table = table_of(self._X, self._names or list(self._X[0]), "the stream")
        if table.dtype == object:
            raise ValueError(
                "the stream has features that are no numbers, for a scikit-learn model: make frames of them with "
                "ltm_sklearn.streams.Batches(stream, as_frame=True)"
            )
        return table

    @cached_property
    def dicts(self) -> list[dict[Any, Any]]:
        """A dictionary for each row."""
        return as_dicts(self._X, self._names)


class Contestant(Protocol):
    """A model that takes part."""

    model: Any
    form: str  #: the form in which it wants rows

    @property
    def needs_classes(self) -> bool:
        """Whether its first training must be told the classes."""

    def tell_classes(self, classes: list[Any]) -> None:
        """The classes for its first training."""

    def predict(self, rows: Rows) -> list[Any]:
        """An answer for each row; None if there is none."""

    def chances(self, rows: Rows, y: list[Any]) -> Floats | None:
        """What probability each row's true label was given, NaN if there was none; None if the model has none."""

    def learn(self, rows: Rows, y: NDArray[Any]) -> None:
        """Train on rows that were predicted some time ago."""


class SklearnContestant:
    """``predict``, ``predict_proba``, ``partial_fit``.

    With a delay, or where each question counts, ``issue`` and ``learn`` where there are such: then a row is put to the
    experts once, and label and probabilities come from the same ones.
    """

    form = "table"

    def __init__(self, model: Any, delayed: bool) -> None:
        self.model = model
        self._fitted = _is_fitted(model)
        self._by_id = (delayed or _asks_few(model)) and hasattr(model, "issue") and hasattr(model, "learn")
        self._issued: tuple[int, Any] | None = None  #: probabilities of the rows from this one on
        self._first_issued = math.inf
        self._classes: NDArray[Any] | None = None

    @property
    def needs_classes(self) -> bool:
        """Whether its first training must be told the classes."""
        parameters = signature(self.model.partial_fit).parameters.values()
        takes = any(each.name == "classes" or each.kind is Parameter.VAR_KEYWORD for each in parameters)
        return takes and not self._fitted

    def tell_classes(self, classes: list[Any]) -> None:
        """The classes for its first training."""
        self._classes = np.array(classes)

    def predict(self, rows: Rows) -> list[Any]:
        """Before its first training it has no answers."""
        if not self._fitted:
            return [None] * rows.n_rows
        if self._by_id:
            self._first_issued = min(self._first_issued, rows.first)
            said = self._issue(rows)
        else:
            said = self.model.predict(rows.table)
        return _answers(np.asarray(said), rows.n_rows)

    def _issue(self, rows: Rows) -> Any:
        """Labels or numbers; what comes with labels is kept for :meth:`chances`."""
        if not hasattr(self.model, "issue_proba"):
            return self.model.issue(rows.table, rows.ids)
        probabilities = self.model.issue_proba(rows.table, rows.ids)
        self._issued = rows.first, probabilities
        return np.asarray(self.model.classes_)[probabilities.argmax(axis=1)]

    def chances(self, rows: Rows, y: list[Any]) -> Floats | None:
        """From ``predict_proba``, if they did not come with the labels."""
        if not self._fitted:
            return np.full(rows.n_rows, np.nan)
        if self._issued is not None and self._issued[0] == rows.first:
            probabilities = self._issued[1]
        elif hasattr(self.model, "predict_proba"):
            probabilities = np.asarray(self.model.predict_proba(rows.table), dtype=np.float64)
        else:
            return None
        column = {label: at for at, label in enumerate(np.asarray(self.model.classes_).tolist())}
        return np.array(
            [row[column[label]] if label in column else 0.0 for row, label in zip(probabilities, y, strict=True)]
        )

    def learn(self, rows: Rows, y: NDArray[Any]) -> None:
        """Rows that were predicted under ids are learned under them; those from before the first training are not."""
        issued_from = int(min(max(self._first_issued - rows.first, 0), rows.n_rows))
        if issued_from:
            X = rows.table if issued_from == rows.n_rows else rows.table[:issued_from]
            first = {} if self._classes is None or self._fitted else {"classes": self._classes}
            self.model.partial_fit(X, y[:issued_from], **first)
            self._fitted = True
        if issued_from < rows.n_rows:
            self.model.learn(rows.ids[issued_from:], y[issued_from:])


class RiverContestant:
    """``predict_one``, ``predict_proba_one``, ``learn_one``; under ids if rows are not learned as soon as predicted."""

    form = "dicts"
    needs_classes = False

    def __init__(self, model: Any, later: bool) -> None:
        self.model = model
        methods = (last_step(model).predict_one, last_step(model).learn_one)
        self._by_id = later and all("id" in signature(method).parameters for method in methods)
        self._has_chances = hasattr(model, "predict_proba_one")
        ask_chances = getattr(last_step(model), "predict_proba_one", None)
        self._chances_by_id = self._by_id and ask_chances is not None and "id" in signature(ask_chances).parameters
        self._issued: tuple[int, list[Any]] | None = None  #: probabilities of the rows from this one on

    def tell_classes(self, classes: list[Any]) -> None:
        """It learns of them as they come."""

    def predict(self, rows: Rows) -> list[Any]:
        """Row by row."""
        if self._chances_by_id:  # both at once: another question could be put to others
            said = [self.model.predict_proba_one(x, id=at) for at, x in zip(rows.ids, rows.dicts, strict=True)]
            self._issued = rows.first, said
            return [max(each, key=each.get) if each else None for each in said]
        if self._by_id:
            return [self.model.predict_one(x, id=at) for at, x in zip(rows.ids, rows.dicts, strict=True)]
        return [self.model.predict_one(x) for x in rows.dicts]

    def chances(self, rows: Rows, y: list[Any]) -> Floats | None:
        """From ``predict_proba_one``, which some models have only in name."""
        if not self._has_chances:
            return None
        if self._issued is not None and self._issued[0] == rows.first:
            said = self._issued[1]
        else:
            try:
                said = [self.model.predict_proba_one(x) for x in rows.dicts]
            except NotImplementedError:
                self._has_chances = False
                return None
        return np.array([each.get(label, 0.0) if each else np.nan for each, label in zip(said, y, strict=True)])

    def learn(self, rows: Rows, y: NDArray[Any]) -> None:
        """Row by row."""
        for at, x, target in zip(rows.ids, rows.dicts, y.tolist(), strict=True):
            if self._by_id:
                self.model.learn_one(x, target, id=at)
            else:
                self.model.learn_one(x, target)


def contestant_of(name: Any, model: Any, delay: int, batch_size: int) -> Contestant:
    """A model that takes part; an error if it is of neither kind, or cannot keep so many rows waiting."""
    if not isinstance(model, type):
        if hasattr(model, "partial_fit") and hasattr(model, "predict"):
            later = delay > 0
            _check_room(name, model, delay + batch_size if later or _asks_few(model) else 0)
            return SklearnContestant(model, later)
        if hasattr(model, "learn_one") and hasattr(last_step(model), "predict_one"):
            later = delay > 0 or batch_size > 1
            _check_room(name, model, delay + batch_size if later else 0)
            return RiverContestant(model, later)
    kind = f"the class {model.__name__}" if isinstance(model, type) else f"of type {type(model).__name__}"
    raise ValueError(
        f"model {name!r} is {kind}; it must have partial_fit and predict, or learn_one and predict_one "
        "(ltm_sklearn.ensemble.SlidingWindow gives partial_fit to what has only fit)"
    )


def _check_room(name: Any, model: Any, n_waiting: int) -> None:
    room = getattr(last_step(model), "max_pending", None)
    if room is not None and room < n_waiting:
        raise ValueError(f"up to {n_waiting} rows wait for their targets, but model {name!r} has max_pending={room}")


def _asks_few(model: Any) -> bool:
    """Whether only some experts are asked, as each question costs something."""
    return getattr(model, "feedback", "full") == "bandit"


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):  # TypeError: it is not of scikit-learn's own kind
        return False
    return True


def _answers(said: NDArray[Any], n_rows: int) -> list[Any]:
    if said.size != n_rows:
        raise ValueError(f"its predictions have shape {said.shape} for {n_rows} rows")
    return said.ravel().tolist()
