"""The regressor for scikit-learn."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from .._typing import Floats
from ..engine import averages, changing, unchanged_on_error
from ..losses import RegressionScore
from ._default_pools import regressors
from ._delayed_labels import DelayedLabelsEnsemble
from ._validation import check_numbers


class LongTermMemoryRegressor(RegressorMixin, DelayedLabelsEnsemble):
    """Online combination of regressors for streams whose concepts recur.

    It works as :class:`LongTermMemoryClassifier` does. The range of the targets need not be known: predictions are
    clipped to the range seen so far, widened by half its width on both sides, and losses are scaled by the largest
    recent difference between the experts.

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
    loss : {"auto", "squared_error", "absolute_error", "pinball"}, RegressionLoss or callable, default="auto"
        "auto" is "squared_error"; ``ltm_sklearn.losses.Pinball(0.9)`` predicts a quantile. A callable takes targets and
        predictions, both of shape (n,), and returns losses on any scale. With ``combine="average"`` and a loss that
        has a ``gradient``, experts are scored with the loss linearised at the combined prediction, so that the ensemble
        competes with the best convex combination of the experts.
    combine : {"average", "leader", "sample"}, default="average"
        "average" takes the weighted mean of the experts' predictions, "leader" follows the expert with the largest
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

    Examples
    --------
    Two concepts alternate; each return costs less than the first occurrence:

    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> from ltm_sklearn import LongTermMemoryRegressor
    >>> rng = np.random.default_rng(0)
    >>> model = LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))])
    >>> for phase in range(6):
    ...     total = 0.0
    ...     for batch in range(50):
    ...         X = rng.normal(size=(10, 2))
    ...         y = X[:, 0] if phase % 2 else X[:, 1]
    ...         if phase or batch:
    ...             total += np.mean((model.predict(X) - y) ** 2)
    ...         model = model.partial_fit(X, y)
    ...     print(f"{total:.0f}")
    14
    27
    7
    12
    6
    13
    """

    _default_pool = staticmethod(regressors)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Learn one batch: score the experts' predictions, update the weights, then train the experts.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the losses and for the training of the experts.
        **params : dict
            Metadata that experts request through metadata routing.

        Returns
        -------
        self
        """
        with changing(self), unchanged_on_error(self):
            return self._partial_fit(X, y, sample_weight, params)

    def _decision(self, mixture: Floats) -> Floats:
        return mixture[:, 0]

    def _score(self) -> RegressionScore:
        return RegressionScore(self.loss, average=averages(self))

    def _check_targets(self, y: Any, reset: bool = False) -> tuple[Any, Any]:
        y = check_numbers(self, y)
        return y, y
