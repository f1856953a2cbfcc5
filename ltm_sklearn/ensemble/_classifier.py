"""The classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import column_or_1d

from .._param_checks import named_value_errors, require
from .._typing import Floats
from ..engine import averages, changing, lock_of, unchanged_on_error
from ..losses import ClassificationScore
from ._base import LongTermMemoryEnsemble
from ._parameters import check_parameters
from ._pools import classifiers
from ._validation import check_labels, class_indices, one_kind


class LongTermMemoryClassifier(ClassifierMixin, LongTermMemoryEnsemble):
    """Several classifiers on a stream, weighted by who is right now, with a memory of what was right before.

    Each call of :meth:`partial_fit` is a round: the experts predict its rows, are charged for their mistakes, and only
    then learn from them. The weights come from an algorithm that finds again at once who was good before, and
    snapshots of the experts are kept as experts of their own, so that what a learner has since forgotten can return.

    Parameters
    ----------
    estimators : list of (str, estimator) pairs, optional
        The experts, of scikit-learn or of River. Those without ``partial_fit`` are fitted on a ``SlidingWindow``;
        a ``FrozenEstimator`` takes part and is never trained; ``"drop"`` takes one out. None: a small pool for dense
        rows of numbers.
    algorithm : ExpertAlgorithm or BanditAlgorithm, optional
        Any of :mod:`ltm_sklearn.experts`. None: ``LongTermMemory()``. With ``feedback="bandit"`` any of
        :mod:`ltm_sklearn.bandits`. None: ``LongTermMemoryBandit()``.
    feedback : {"full", "bandit"}, default="full"
        Whether all experts are asked in each round, or only ``n_queries`` of them, which the algorithm draws: for
        models that cost money to ask. All live experts learn in either case; to them the targets are free. What was not asked
        is not known, so that there is no blending, no gradient trick and no stack.
    n_queries : int, default=1
        With ``feedback="bandit"``, how many experts are asked in a round: the first is drawn by its probability, the
        others are any of the rest.
    loss : {"auto", "zero_one", "brier", "log_loss"} or callable, default="auto"
        What the experts are charged: "zero_one" is mistakes. "auto" is the same and, where predictions are averaged,
        besides follows or blends the experts, whichever has been better, and adds one that learns to correct what the
        others say (see the guide). A callable takes the true classes' indices in ``classes_``, shape (n,), and
        probabilities, shape (n, n_classes), and returns losses in [0, 1], shape (n,).
    combine : {"average", "leader", "sample"}, default="average"
        Average the experts' probabilities by weight, follow the one with the largest weight, or draw one for each
        round, as the paper does.
    memory : "auto", Snapshots or None, default="auto"
        Which copies of the experts are kept; "auto" is ``Snapshots()`` or, with ``feedback="bandit"``, None: each copy
        is one more arm to find out about. There, only ``Snapshots(merge=None)`` is taken, as merging asks models again.
    rounds : {"batch", "row"}, default="batch"
        What is a round: a call of :meth:`partial_fit`, the mean loss of its rows being one loss; or each row, for
        batches that were gathered only to save time, though the labels came one by one. Experts learn with each call.
    batch_size : int, default=100
        Rows a round in :meth:`fit`.
    on_error : {"warn", "raise"}, default="warn"
        When an expert fails or predicts NaN: let it sleep in that round, with a warning, or raise its error and leave
        everything as it was (which costs a copy of each learner a round).
    max_pending : int, default=10000
        Rows that may wait for their targets after :meth:`issue`.
    n_jobs : int, optional
        Experts side by side, through joblib.
    random_state : int, RandomState or None, default=None
        Seeds the draws, of ``combine="sample"`` and of whom to ask, and the default pool. Experts of your own have
        seeds of their own.
    record : int or path, optional
        Keep at most this many records in ``history_``; on a longer stream neighbouring rounds are averaged. A path:
        keep 1,000, and mirror them in this file, where other processes can follow the run (see the guide's page on
        monitoring).
    verbose : int, default=0
        1: print a line on how the run stands when its rounds have doubled since the last line, or a minute has passed;
        2: after each round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_experts,)
        The weights now; with ``feedback="bandit"``, the probabilities with which one is drawn.
    leader_ : str
        Name of the expert with the largest weight.
    experts_ : list
        For each expert its name, kind ("live", "restarted", "snapshot", "frozen"), the rows seen when it was born, its
        weight now, its mean weight and its mean loss since it joined.
    loss_ : ndarray of shape (n_experts,)
        Mean loss of each expert since it joined, over the rounds in which it was asked and had an answer.
    n_rounds_, n_samples_seen_ : int
        Rounds and rows so far.
    history_ : list
        With ``record``: rounds with their loss and the experts' weights and losses.
    estimators_, named_estimators_ : list, Bunch
        The live and frozen estimators.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        When the rows have names.

    Notes
    -----
    Regret bounds speak of experts as they predict: a learner is one expert that gets better, a snapshot one that stays
    the same. What they cover and what they do not: the user guide's page on memory.

    Examples
    --------
    Two concepts take turns; the labels of one are the other's turned round:

    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ltm_sklearn import LongTermMemoryClassifier
    >>> rng = np.random.default_rng(0)
    >>> model, right = LongTermMemoryClassifier([("nb", GaussianNB())]), []
    >>> for phase in range(6):
    ...     for batch in range(50):
    ...         X = rng.normal(size=(10, 2))
    ...         y = (X[:, 0] > 0) ^ (phase % 2 == 1)
    ...         if phase or batch:
    ...             right.append((model.predict(X) == y).mean())
    ...         model = model.partial_fit(X, y, classes=[False, True])
    >>> print(f"{np.mean(right[-50:]):.2f} right in the last phase")
    0.95 right in the last phase
    """

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """A round: the experts predict the rows, are charged, and learn them.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; needed on the first call.
        sample_weight : array-like of shape (n_samples,), optional
            For the losses, and for the experts' training.
        **params : dict
            What the experts ask for, with metadata routing.

        Returns
        -------
        self
        """
        with changing(self), unchanged_on_error(self):
            if not self.__sklearn_is_fitted__():
                check_parameters(self)
            with one_kind("classes"):
                _check_partial_fit_first_call(self, classes)
            return self._partial_fit(X, y, sample_weight, params)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, in the order of ``classes_``; where no expert has any, how often each class has come."""
        with lock_of(self):
            return self._probabilities(self._issue(X).mixture)

    def issue_proba(self, X: Any, ids: Any) -> Floats:
        """Predict class probabilities of rows whose targets will come later: :meth:`issue` returns the likeliest.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        ids : sequence of length n_samples
            By which :meth:`learn` will know the rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            What :meth:`predict_proba` returns.
        """
        with changing(self):
            return self._probabilities(self._issue_as(ids, X).mixture)

    def _probabilities(self, mixture: Floats) -> Floats:
        probabilities: Floats = self._engine.score.normalised(mixture)  # type: ignore[union-attr]
        return probabilities

    def _decision(self, mixture: Floats) -> Any:
        return self.classes_[self._probabilities(mixture).argmax(axis=1)]

    def _default_pool(self, seed: int | None) -> list[tuple[str, Any]]:
        return classifiers(seed)

    def _score(self) -> ClassificationScore:
        return ClassificationScore(self.loss, len(self.classes_), average=averages(self))

    def _columns(self) -> list[str]:
        return [str(label) for label in self.classes_]

    def _see_all_targets(self, y: Any) -> None:
        labels = check_labels(self, y)
        with one_kind("y"):
            self.classes_ = np.unique(labels)

    def _check_targets(self, y: Any) -> tuple[Any, Any]:
        if len(self.classes_) < 2:
            found = f"there is just one class, {self.classes_[0]!r}" if len(self.classes_) else "y has none"
            raise ValueError(f"at least two classes are needed; {found}")
        require(self, y)
        if type(y) is not np.ndarray or y.ndim != 1:
            with named_value_errors("y"):
                y = column_or_1d(y, warn=True)
        return y, class_indices(y, self.classes_)
