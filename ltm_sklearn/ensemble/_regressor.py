"""The regressor."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from .._typing import Floats
from ..engine import averages, changing, unchanged_on_error
from ..losses import RegressionScore
from ._base import LongTermMemoryEnsemble
from ._parameters import check_parameters
from ._pools import regressors
from ._validation import check_numbers


class LongTermMemoryRegressor(RegressorMixin, LongTermMemoryEnsemble):
    """Several regressors on a stream, weighted by who is right now, with a memory of what was right before.

    As :class:`LongTermMemoryClassifier`, for numbers. The range of the targets need not be known: predictions are
    clipped to the range seen so far, widened by half its width on both sides, and losses are measured against the
    widest gap between experts of late.

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
    loss : {"auto", "squared_error", "absolute_error", "pinball"}, RegressionLoss or callable, default="auto"
        "auto" is "squared_error"; ``ltm_sklearn.losses.Pinball(0.9)`` aims at a quantile. A callable takes targets and
        predictions, shape (n,) both, and returns losses of any scale. Where the predictions are averaged and the loss
        has a ``gradient``, experts are charged its linear part at the mixture, so that the ensemble competes with the
        best convex combination of them.
    combine : {"average", "leader", "sample"}, default="average"
        Average the experts' predictions by weight, follow the one with the largest weight, or draw one for each
        round, as the paper does.
    memory : "auto", Snapshots or None, default="auto"
        Which copies of the experts are kept; "auto" is ``Snapshots()`` or, with ``feedback="bandit"``, None: each copy
        is one more arm to find out about. There, only ``Snapshots(merge=None)`` is taken, as merging asks models again.
    rounds : {"batch", "row"}, default="batch"
        What is a round: a call of :meth:`partial_fit`, the mean loss of its rows being one loss; or each row, for
        batches that were gathered only to save time, though the targets came one by one. Experts learn with each call.
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

    Examples
    --------
    Two concepts take turns, and a return costs less than the first meeting:

    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> from ltm_sklearn import LongTermMemoryRegressor
    >>> rng = np.random.default_rng(0)
    >>> model = LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))])
    >>> for phase in range(6):
    ...     lost = 0.0
    ...     for batch in range(50):
    ...         X = rng.normal(size=(10, 2))
    ...         y = X[:, 0] if phase % 2 else X[:, 1]
    ...         if phase or batch:
    ...             lost += np.mean((model.predict(X) - y) ** 2)
    ...         model = model.partial_fit(X, y)
    ...     print(f"{lost:.0f}")
    14
    27
    7
    12
    6
    13
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """A round: the experts predict the rows, are charged, and learn them.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
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
            return self._partial_fit(X, y, sample_weight, params)

    def _decision(self, mixture: Floats) -> Floats:
        return mixture[:, 0]

    def _default_pool(self, seed: int | None) -> list[tuple[str, Any]]:
        return regressors(seed)

    def _score(self) -> RegressionScore:
        return RegressionScore(self.loss, average=averages(self))

    def _columns(self) -> list[str]:
        return []

    def _see_all_targets(self, y: Any) -> None:
        pass

    def _check_targets(self, y: Any) -> tuple[Any, Any]:
        y = check_numbers(self, y)
        return y, y
