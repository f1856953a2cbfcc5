"""The classifier for River."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from river import base, linear_model, naive_bayes, preprocessing
from river.utils.dataframe import to_native_frame, to_native_series

from .._river_compat import probabilities_by_label
from .._typing import Floats
from ..engine import averages, lock_of, unshare
from ..losses import ClassificationScore
from ._base import RiverEnsemble
from ._row_batch import RowBatch, as_narwhals
from ._target_checks import check_labels


class LongTermMemoryClassifier(RiverEnsemble, base.MiniBatchClassifier):
    """Online combination of classifiers for streams whose concepts recur.

    Experts that were accurate in an earlier regime regain their weight within a few rows when the regime returns.

    Parameters
    ----------
    models
        The experts by name, as a list of (name, model) pairs or a dictionary: classifiers of River or scikit-learn.
        They are not changed: copies are trained.
    algorithm
        The algorithm that computes the weights: any of `ltm_sklearn.experts`, or its name in snake case, such as
        `"fixed_share"`. None: `LongTermMemory()`. With `feedback="bandit"` any of `ltm_sklearn.bandits`. None:
        `LongTermMemoryBandit()`.
    loss
        Loss of the experts: "zero_one" (mistakes), "brier", "log_loss", or a function. "auto" is "zero_one" and, with
        `combine="average"`, also chooses between following the best expert and blending all, and adds an expert that
        learns to correct the others' predictions.
    combine
        "average" takes the weighted mean of the predictions, "leader" follows the expert with the largest weight,
        "sample" draws one expert per round.
    memory
        Which snapshots of the experts are kept: "auto", `Snapshots(...)` or None. With `feedback="bandit"`, "auto" is
        None, and snapshots need `merge=None`.
    on_error
        What happens when an expert raises an error: "warn" lets it sleep in that round, with a warning; "raise" raises
        the error and restores the ensemble, for which all models are copied in each round.
    max_pending
        How many ids may wait for their target. Beyond it those that have waited longest are discarded.
    record
        Maximum number of records in `history_`; or the path of a file in which 1,000 records are mirrored, so that
        other processes can follow the run.
    seed
        Seed of `combine="sample"` and of the selection with `feedback="bandit"`.
    feedback
        "full" queries all experts in each round, "bandit" only those that the algorithm selects, for models whose
        predictions cost money. All train on every label. A predicted row is not queried again when it is learned next,
        or under its id. With "bandit" the classes are the labels learned so far: no model is queried for its labels.
    n_queries
        Number of experts queried in a round with `feedback="bandit"`.

    Examples
    --------
    >>> from river import evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> from ltm_sklearn.river import LongTermMemoryClassifier
    >>> from ltm_sklearn.streams import stagger
    >>> model = LongTermMemoryClassifier([
    ...     ("bayes", naive_bayes.GaussianNB()),
    ...     ("logistic", preprocessing.StandardScaler() | linear_model.LogisticRegression()),
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
        """Learn one row: score the experts' predictions, update the weights, then train the experts.

        With the ``id`` of an earlier prediction, that prediction is scored.
        """
        with lock_of(self):
            unshare(self)
            if w is None and id is None and hasattr(self, "_engine"):
                try:
                    index = self._classes.get(y)
                except TypeError:  # the label is not hashable, which _check_targets reports
                    index = None
                if index is not None and self._learn_compiled(x, y, index):
                    return
            self._learn_one(x, y, w, id)

    def predict_one(self, x: dict[Any, Any], id: Hashable | None = None) -> Any:  # type: ignore[override]
        """Predict the most likely class; None while no label is known.

        With an ``id``, the prediction is kept until ``learn_one`` is called with the same id.
        """
        with lock_of(self):
            row = self._compiled_row() if id is None else None
            label = None if row is None else row.label(x)
            return super().predict_one(x, id=id) if label is None else label

    def predict_proba_one(  # type: ignore[override]
        self, x: dict[Any, Any], id: Hashable | None = None
    ) -> dict[Any, float]:
        """Predict class probabilities; before the first label they are empty, or uniform for binary models.

        With an ``id``, the prediction is kept until ``learn_one`` is called with the same id.
        """
        with lock_of(self):
            if id is not None:
                unshare(self)
                return self._by_label(self._issue_under(id, x).mixture)
            row = self._compiled_row()
            chances: dict[Any, float] | None = None if row is None else row.chances(x)
            return self._by_label(self._issue(RowBatch([x])).mixture) if chances is None else chances

    def _by_label(self, mixture: Floats) -> dict[Any, float]:
        return dict(zip(self._classes, self._probabilities(mixture)[0].tolist(), strict=True))

    def _probabilities(self, mixture: Floats) -> Floats:
        probabilities: Floats = self._engine.score.normalised(mixture)  # type: ignore[union-attr]
        return probabilities

    def predict_proba_many(self, X: Any) -> Any:
        """Predict class probabilities of the rows of a frame, as such a frame with a column for each class."""
        frame = as_narwhals(X)
        labels, probabilities = self._of_frame(X, len(frame))
        return to_native_frame(dict(zip(labels, probabilities.T, strict=True)), like=frame if labels else frame[:0])

    def predict_many(self, X: Any) -> Any:
        """Predict the most likely classes of the rows of a frame, as a series of the same library."""
        frame = as_narwhals(X)
        labels, probabilities = self._of_frame(X, len(frame))
        if not labels:
            return to_native_series([], name=None, like=frame[:0])
        return to_native_series([labels[at] for at in probabilities.argmax(axis=1)], name=None, like=frame)

    def _of_frame(self, X: Any, n_rows: int) -> tuple[list[Any], Floats]:
        """Return the known labels, and their probabilities in the rows of a frame."""
        rows = RowBatch.of_frame(X)
        with lock_of(self):
            if n_rows:
                mixture = self._issue(rows).mixture
                return list(self._classes), self._probabilities(mixture)
            labels = list(getattr(self, "_classes", self._first_classes()))
            return labels, np.empty((0, len(labels)))

    def _first_classes(self) -> dict[Any, int]:
        """Return the labels known beforehand: False and True for binary models."""
        return {} if self._multiclass else {False: 0, True: 1}

    def _start(self, X: RowBatch) -> None:
        self._classes = self._first_classes()
        super()._start(X)
        if self.feedback == "bandit":
            return  # models are queried only when they are selected
        for model in self:  # models that were trained before know labels
            with suppress(Exception):  # the next round raises and reports it again
                self._targets(list(probabilities_by_label(model, X[0])))

    def _score(self) -> ClassificationScore:
        return ClassificationScore(self.loss, len(self._first_classes()), average=averages(self))

    def _check_targets(self, y: list[Any]) -> None:
        check_labels(y, self)

    def _targets(self, y: list[Any]) -> Any:
        for label in y:
            self._classes.setdefault(label, len(self._classes))
        self._engine.score.resize(len(self._classes))  # type: ignore[union-attr]
        return np.array([self._classes[label] for label in y])

    def _forget_labels(self, n_labels: int) -> None:
        for label in list(self._classes)[n_labels:]:
            del self._classes[label]
        self._engine.score.resize(n_labels)  # type: ignore[union-attr]

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        yield {"models": [("logistic", scaled), ("bayes", naive_bayes.GaussianNB())]}
        yield {"models": {"logistic": scaled, "bayes": naive_bayes.GaussianNB()}, "algorithm": "fixed_share"}
