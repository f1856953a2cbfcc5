"""Reduction of the confidence-rated (sleeping) expert problem to the plain one, Section 2 of the paper."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from .._typing import Floats, State
from ._ada_normal_hedge import AdaNormalHedge
from ._base import ExpertAlgorithm, check_plugin


class ConfidenceRated(ExpertAlgorithm):
    """Reduction from confidence-rated experts to plain experts (Section 2 of the paper), for any expert algorithm.

    With confidences ``z`` (``awake``) the weights are ``p ∝ z·w``, where ``w`` is the algorithm's own distribution, and
    the algorithm is fed ``c(i) = -z(i) r(i)`` with ``r = p·ℓ - ℓ``. Then ``w·c = 0``.
    :func:`ltm_sklearn.experts.reference.confidence_rated` is this reduction in a few lines.

    All algorithms of this package support confidences without this class; they learn from ``c + p·ℓ``, which is a loss
    in [0, 1] and has the same regrets. This class is the form in the paper, on which Algorithms 1 and 2 are based.

    Parameters
    ----------
    algorithm : ExpertAlgorithm, optional
        Algorithm with a static regret bound. None: ``AdaNormalHedge()``.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Examples
    --------
    >>> from ltm_sklearn.experts import ConfidenceRated, Prod
    >>> rated = ConfidenceRated(Prod(rate=0.5))
    >>> rated.weights(3, awake=[1.0, 0.5, 0.0])
    array([0.66666667, 0.33333333, 0.        ])
    >>> rated.update([0.0, 1.0, 0.5], awake=[1.0, 0.5, 0.0]).weights().round(3)
    array([0.389, 0.278, 0.333])
    """

    def __init__(self, algorithm: ExpertAlgorithm | None = None, *, prior: ArrayLike | None = None) -> None:
        self.algorithm = algorithm
        self.prior = prior

    def _inner(self) -> ExpertAlgorithm:
        return AdaNormalHedge() if self.algorithm is None else self.algorithm

    def check_parameters(self) -> None:
        check_plugin("algorithm", self._inner(), owned=("prior",))

    @property
    def horizon(self) -> int | None:  # type: ignore[override]
        """Horizon of the inner algorithm."""
        return self._inner().horizon

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return self._inner()._initial_state(prior, rate, horizon)

    def _distribution(self, state: State) -> Floats:
        return self._inner()._distribution(state)

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        return self._inner()._next_state(state, weights, losses)

    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        return self._inner()._joined(state, prior, scale, rate)

    def _left(self, state: State, index: int | slice, scale: float) -> State:
        return self._inner()._left(state, index, scale)

    def _fed_losses(self, played: Floats, losses: Floats, confidence: Floats | None) -> Floats:
        negative_regret = losses - played @ losses
        return negative_regret if confidence is None else confidence * negative_regret
