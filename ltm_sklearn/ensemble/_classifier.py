"""The classifier for scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import column_or_1d

from .._param_checks import named_value_errors, require_targets
from .._typing import Floats
from ..engine import averages, changing, lock_of, unchanged_on_error
from ..losses import ClassificationScore
from ._default_pools import classifiers
from ._delayed_labels import DelayedLabelsEnsemble
from ._validation import check_labels, class_indices, one_kind


class LongTermMemoryClassifier(ClassifierMixin, DelayedLabelsEnsemble):
    """Online combination of classifiers for streams whose concepts recur.

    Each call of :meth:`partial_fit` is a round: it scores the predictions of the experts, updates their weights, then
    trains them. Experts that were accurate in an earlier regime regain their weight within a few rounds when the regime
    returns. Snapshots of the experts take part as further experts, so that a concept which a learner has forgotten
    can be predicted again.

    Parameters
    ----------
    estimators : list of (str, estimator) pairs or dict, optional
        The experts by name: estimators of scikit-learn or models of River. Estimators without ``partial_fit`` are
        refitted on a ``SlidingWindow``. A ``FrozenEstimator`` predicts but is never trained. ``"drop"`` removes an
        expert. None: a small default pool for dense numeric rows.
    algorithm : ExpertAlgorithm, BanditAlgorithm or str, optional
        The algorithm that computes the weights: any of :mod:`ltm_sklearn.experts`, or its name in snake case, such as
        ``"fixed_share"``. None: ``LongTermMemory()``. With ``feedback="bandit"`` any of :mod:`ltm_sklearn.bandits`.
        None: ``LongTermMemoryBandit()``.
    feedback : {"full", "bandit"}, default="full"
        "full" queries all experts in each round. "bandit" queries only the ``n_queries`` experts that the algorithm
        selects, for models whose predictions cost money; blending, the gradient trick and the stack are then off.
        All live experts train on every label in both cases.
    n_queries : int, default=1
        Number of experts queried in a round with ``feedback="bandit"``. The first is drawn with its probability, the
        others uniformly from the rest.
    loss : {"auto", "zero_one", "brier", "log_loss"} or callable, default="auto"
        Loss of the experts; "zero_one" counts mistakes. "auto" is "zero_one" and, with ``combine="average"``, also
        chooses between following the best expert and blending all, and adds the stack, an expert that learns to correct
        the others' predictions (see the guide). A callable takes the indices of the true classes in ``classes_``, shape
        (n,), and probabilities, shape (n, n_classes), and returns losses in [0, 1], shape (n,).
    combine : {"average", "leader", "sample"}, default="average"
        "average" takes the weighted mean of the experts' probabilities, "leader" follows the expert with the largest
        weight, and "sample" draws one expert per round, as in the paper.
    memory : "auto", Snapshots or None, default="auto"
        Which snapshots of the experts are kept. "auto" is ``Snapshots()``, and None with ``feedback="bandit"``, where
        each snapshot is one more arm to explore and only ``Snapshots(merge=None)`` is accepted.
    rounds : {"batch", "row"}, default="batch"
        "batch" makes each call of :meth:`partial_fit` one round, whose loss is the mean over its rows. "row" makes
        each row a round, for batches that were gathered only to save time. Experts train once per call in both cases.
    batch_size : int, default=100
        Rows per round in :meth:`fit`.
    on_error : {"warn", "raise"}, default="warn"
        What happens when an expert raises an error or predicts NaN. "warn" lets the expert sleep in that round, with a
        warning. "raise" raises the error and restores the ensemble, for which all learners are copied in each round.
    max_pending : int, default=10000
        Number of rows that may wait for their targets after :meth:`issue`.
    n_jobs : int, optional
        Number of joblib jobs used to predict with and train the experts.
    random_state : int, RandomState or None, default=None
        Seed of ``combine="sample"``, of the selection with ``feedback="bandit"`` and of the default pool. Set the
        seeds of your own experts separately.
    record : int or path, optional
        Maximum number of records in ``history_``; on longer streams consecutive rounds are averaged. A path keeps 1,000
        records and mirrors them in this file, where other processes can follow the run (see the guide on monitoring).
    verbose : int, default=0
        1 prints a status line whenever the number of rounds has doubled or a minute has passed; 2 prints one after each
        round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_experts,)
        Current weights; with ``feedback="bandit"``, the probabilities of being drawn.
    leader_ : str
        Name of the expert with the largest weight.
    experts_ : list of ExpertSummary
        Name, kind ("live", "restarted", "snapshot", "frozen", "stack"), rows seen before its model began, current
        weight, mean weight and mean loss of each expert.
    loss_ : ndarray of shape (n_experts,)
        Mean loss of each expert since it joined, over the rounds in which it predicted.
    n_rounds_, n_samples_seen_ : int
        Number of rounds and of rows learned.
    history_ : list of Record
        Loss of the recorded rounds, with the weights and losses of the experts; needs ``record``.
    estimators_, named_estimators_ : list, Bunch
        The live and frozen estimators.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns; only if the rows have names.

    Notes
    -----
    Regret bounds compare the ensemble with the experts as they predict: a learner is an expert that improves, and a
    snapshot is one that stays the same. The guide's page on memory says what the bounds cover.

    Examples
    --------
    Two concepts alternate; each has the labels of the other inverted:

    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ltm_sklearn import LongTermMemoryClassifier
    >>> rng = np.random.default_rng(0)
    >>> model, accuracies = LongTermMemoryClassifier([("nb", GaussianNB())]), []
    >>> for phase in range(6):
    ...     for batch in range(50):
    ...         X = rng.normal(size=(10, 2))
    ...         y = (X[:, 0] > 0) ^ (phase % 2 == 1)
    ...         if phase or batch:
    ...             accuracies.append((model.predict(X) == y).mean())
    ...         model = model.partial_fit(X, y, classes=[False, True])
    >>> print(f"accuracy in the last phase: {np.mean(accuracies[-50:]):.2f}")
    accuracy in the last phase: 0.95
    """

    _default_pool = staticmethod(classifiers)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Learn one batch: score the experts' predictions, update the weights, then train the experts.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Targets.
        classes : array-like of shape (n_classes,), optional
            All classes that can occur; needed on the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the losses and for the training of the experts.
        **params : dict
            Metadata that experts request through metadata routing.

        Returns
        -------
        self
        """
        with changing(self), unchanged_on_error(self):
            with one_kind("classes"):
                _check_partial_fit_first_call(self, classes)
            return self._partial_fit(X, y, sample_weight, params)

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities, in the order of ``classes_``.

        Where no expert has a prediction, the result is the relative frequency of the classes so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with lock_of(self):
            return self._probabilities(self._issue(X).mixture)

    def issue_proba(self, X: Any, ids: Any) -> Floats:
        """Predict class probabilities of rows whose targets will come later; :meth:`issue` returns the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        ids : sequence of length n_samples
            Hashable ids of the rows, for :meth:`learn`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The same as :meth:`predict_proba`.
        """
        with changing(self):
            return self._probabilities(self._issue_under(ids, X).mixture)

    def _probabilities(self, mixture: Floats) -> Floats:
        probabilities: Floats = self._engine.score.normalised(mixture)  # type: ignore[union-attr]
        return probabilities

    def _decision(self, mixture: Floats) -> Any:
        return self.classes_[self._probabilities(mixture).argmax(axis=1)]

    def _score(self) -> ClassificationScore:
        return ClassificationScore(self.loss, len(self.classes_), average=averages(self))

    def _check_targets(self, y: Any, reset: bool = False) -> tuple[Any, Any]:
        if reset:
            labels = check_labels(self, y)
            with one_kind("y"):
                self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            found = f"there is just one class, {self.classes_[0]!r}" if len(self.classes_) else "y has none"
            raise ValueError(f"at least two classes are needed; {found}")
        require_targets(self, y)
        if type(y) is not np.ndarray or y.ndim != 1:
            with named_value_errors("y"):
                y = column_or_1d(y, warn=True)
        return y, class_indices(y, self.classes_)
