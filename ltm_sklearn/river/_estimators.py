"""The classifier and the regressor for River."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from river import base, linear_model, naive_bayes, preprocessing
from river.utils.dataframe import to_native_frame, to_native_series

from .._river_compat import chances_of
from .._typing import Floats
from ..engine import averages, learn_row, lock_of, unshare
from ..losses import ClassificationScore, RegressionScore
from ._base import RiverEnsemble
from ._rows import Rows, framed
from ._targets import check_labels, check_numbers


class LongTermMemoryClassifier(RiverEnsemble, base.MiniBatchClassifier):
    """Weights classifiers by how they fare, and remembers those of concepts that went away.

    Parameters
    ----------
    models
        River's classifiers. They stay as they are: copies of them are trained.
    algorithm
        Any of `ltm_sklearn.experts`. None: `LongTermMemory()`. With `feedback="bandit"` any of `ltm_sklearn.bandits`.
        None: `LongTermMemoryBandit()`.
    loss
        What the experts are charged: "zero_one" (mistakes), "brier", "log_loss", or a function. "auto" is mistakes and,
        where predictions are averaged, the experts are followed or blended, whichever has been better, and one more
        learns to correct what they say.
    combine
        "average", "leader" or "sample".
    memory
        "auto", `Snapshots(...)` or None. With `feedback="bandit"`, "auto" is None, and snapshots need `merge=None`.
    on_error
        Whether an expert that fails sleeps with a warning ("warn"), or its error is raised, with everything as it was
        before ("raise"); for that, all models are copied in each round, which takes its time.
    max_pending
        How many predicted ids may wait for their target; beyond it those that have waited longest are given up.
    record
        How many records of rounds to keep in `history_`; or the path of a file in which they are mirrored, 1,000 of
        them, so that other processes can follow the run.
    seed
        Of the draws, of `combine="sample"` and of whom to ask.
    feedback
        Whether all experts are asked in each round ("full"), or only those that the algorithm draws ("bandit"): for
        models that cost money to ask. All learn in either case. A row that was predicted is not asked about again when
        it is learned next, or under its id. Labels are then those that have come: no model is asked beforehand.
    n_queries
        With `feedback="bandit"`, how many experts are asked in a round.

    Examples
    --------
    >>> from river import evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> from ltm_sklearn.river import LongTermMemoryClassifier
    >>> from ltm_sklearn.streams import stagger
    >>> model = LongTermMemoryClassifier([
    ...     naive_bayes.GaussianNB(),
    ...     preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    ... ])
    >>> stream = stagger(order="random", length=250, n_segments=8, seed=0)
    >>> evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    Accuracy: 90.55%
    """

    _classes: dict[Any, int]
    _kind = "classifier"

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float | None = None, id: Hashable | None = None) -> None:
        """A round: the experts predict the row, are charged, and learn it.

        With the ``id`` of an earlier prediction they are charged for what was said then.
        """
        with lock_of(self):
            unshare(self)
            if w is None and id is None and hasattr(self, "_engine"):
                try:
                    truth = self._classes.get(y)
                except TypeError:  # it is not hashable, which is told below
                    truth = None
                if truth is not None and learn_row(self._engine, self._skin, x, y, truth):
                    return
            self._learn_one(x, y, w, id)

    def predict_one(self, x: dict[Any, Any], id: Hashable | None = None) -> Any:  # type: ignore[override]
        """The likeliest class; None while no label is known.

        With an ``id``, what is said now is kept until ``learn_one`` comes with the same id.
        """
        with lock_of(self):
            row = self._row() if id is None else None
            label = None if row is None else row.label(x)
            return super().predict_one(x, id=id) if label is None else label

    def predict_proba_one(  # type: ignore[override]
        self, x: dict[Any, Any], id: Hashable | None = None
    ) -> dict[Any, float]:
        """Class probabilities; before a model knows anything, none, or even ones where there are two classes by nature.

        With an ``id``, what is said now is kept until ``learn_one`` comes with the same id.
        """
        with lock_of(self):
            if id is not None:
                unshare(self)
                return self._by_label(self._issue_as(id, x).mixture)
            row = self._row()
            chances: dict[Any, float] | None = None if row is None else row.chances(x)
            return self._by_label(self._issue(Rows([x])).mixture) if chances is None else chances

    def _by_label(self, mixture: Floats) -> dict[Any, float]:
        return dict(zip(self._classes, self._probabilities(mixture)[0].tolist(), strict=True))

    def _probabilities(self, mixture: Floats) -> Floats:
        probabilities: Floats = self._engine.score.normalised(mixture)  # type: ignore[union-attr]
        return probabilities

    def predict_proba_many(self, X: Any) -> Any:
        """Class probabilities of the rows of a frame, a column a class; a frame of the same library."""
        frame = framed(X)
        labels, probabilities = self._of_frame(X, len(frame))
        return to_native_frame(dict(zip(labels, probabilities.T, strict=True)), like=frame if labels else frame[:0])

    def predict_many(self, X: Any) -> Any:
        """The likeliest classes of the rows of a frame; a series of the same library."""
        frame = framed(X)
        labels, probabilities = self._of_frame(X, len(frame))
        if not labels:
            return to_native_series([], name=None, like=frame[:0])
        return to_native_series([labels[at] for at in probabilities.argmax(axis=1)], name=None, like=frame)

    def _of_frame(self, X: Any, n_rows: int) -> tuple[list[Any], Floats]:
        """The labels that are known, and their probabilities in the rows of a frame."""
        rows = Rows.of_frame(X)
        with lock_of(self):
            if n_rows:
                mixture = self._issue(rows).mixture
                return list(self._classes), self._probabilities(mixture)
            labels = list(getattr(self, "_classes", self._first_classes()))
            return labels, np.empty((0, len(labels)))

    def _first_classes(self) -> dict[Any, int]:
        """What is known of the labels beforehand."""
        return {} if self._multiclass else {False: 0, True: 1}

    def _start(self, X: Rows) -> None:
        self._classes = self._first_classes()
        super()._start(X)
        if self.feedback == "bandit":
            return  # none of them is asked unless it is drawn
        for model in self.models:  # those that were trained before know labels
            with suppress(Exception):  # which will be raised again, and reported, when they are asked in a round
                self._targets(list(chances_of(model, X[0])))

    def _score(self) -> ClassificationScore:
        return ClassificationScore(self.loss, len(self._first_classes()), average=averages(self))

    def _check_targets(self, y: list[Any]) -> None:
        check_labels(y, self.models)

    def _targets(self, y: list[Any]) -> Any:
        for label in y:
            self._classes.setdefault(label, len(self._classes))
        self._engine.score.resize(len(self._classes))  # type: ignore[union-attr]
        return np.array([self._classes[label] for label in y])

    def _n_known(self) -> int:
        return len(self._classes)

    def _forget(self, n_known: int) -> None:
        for label in list(self._classes)[n_known:]:
            del self._classes[label]
        self._engine.score.resize(n_known)  # type: ignore[union-attr]

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        yield {"models": [scaled, naive_bayes.GaussianNB()]}


class LongTermMemoryRegressor(RiverEnsemble, base.MiniBatchRegressor):
    """Weights regressors by how they fare, and remembers those of concepts that went away.

    Parameters
    ----------
    models
        River's regressors. They stay as they are: copies of them are trained.
    algorithm
        Any of `ltm_sklearn.experts`. None: `LongTermMemory()`. With `feedback="bandit"` any of `ltm_sklearn.bandits`.
        None: `LongTermMemoryBandit()`.
    loss
        "auto" (squared_error), "squared_error", "absolute_error", "pinball", or a function.
    combine
        "average", "leader" or "sample".
    memory
        "auto", `Snapshots(...)` or None. With `feedback="bandit"`, "auto" is None, and snapshots need `merge=None`.
    on_error
        Whether an expert that fails sleeps with a warning ("warn"), or its error is raised, with everything as it was
        before ("raise"); for that, all models are copied in each round, which takes its time.
    max_pending
        How many predicted ids may wait for their target; beyond it those that have waited longest are given up.
    record
        How many records of rounds to keep in `history_`; or the path of a file in which they are mirrored, 1,000 of
        them, so that other processes can follow the run.
    seed
        Of the draws, of `combine="sample"` and of whom to ask.
    feedback
        Whether all experts are asked in each round ("full"), or only those that the algorithm draws ("bandit"): for
        models that cost money to ask. All learn in either case. A row that was predicted is not asked about again when
        it is learned next, or under its id. Labels are then those that have come: no model is asked beforehand.
    n_queries
        With `feedback="bandit"`, how many experts are asked in a round.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> from ltm_sklearn.river import LongTermMemoryRegressor
    >>> model = preprocessing.StandardScaler() | LongTermMemoryRegressor([
    ...     linear_model.LinearRegression(intercept_lr=0.1),
    ...     linear_model.PARegressor(),
    ... ])
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.476597
    """

    _kind = "regressor"

    def learn_one(self, x: dict[Any, Any], y: float, w: float | None = None, id: Hashable | None = None) -> None:
        """A round: the experts predict the row, are charged, and learn it.

        With the ``id`` of an earlier prediction they are charged for what was said then.
        """
        with lock_of(self):
            unshare(self)
            if w is None and id is None and hasattr(self, "_engine") and learn_row(self._engine, self._skin, x, y, y):
                return
            self._learn_one(x, y, w, id)

    def predict_one(self, x: dict[Any, Any], id: Hashable | None = None) -> float:
        """The experts' combined prediction; 0 before anything is known.

        With an ``id``, what is said now is kept until ``learn_one`` comes with the same id.
        """
        with lock_of(self):
            if id is not None:
                unshare(self)
                return float(self._issue_as(id, x).mixture[0, 0])
            row = self._row()
            number: float | None = None if row is None else row.number(x)
            return float(self._issue(Rows([x])).mixture[0, 0]) if number is None else number

    def predict_many(self, X: Any) -> Any:
        """The experts' combined predictions of the rows of a frame; a series of the same library."""
        frame = framed(X)
        with lock_of(self):
            numbers = self._issue(Rows.of_frame(X)).mixture[:, 0] if len(frame) else np.empty(0)
        return to_native_series(numbers, name=None, like=frame)

    def _score(self) -> RegressionScore:
        return RegressionScore(self.loss, average=averages(self))

    def _check_targets(self, y: list[Any]) -> None:
        check_numbers(y)

    def _targets(self, y: list[Any]) -> Any:
        return np.array(y, dtype=np.float64)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {
            "models": [
                preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1),
                preprocessing.StandardScaler() | linear_model.PARegressor(),
            ]
        }
