"""Base class of the expert algorithms: parameters, a state, and three methods that define how the state changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._numerics import restrict_to_awake
from .._param_checks import as_floats, check_count, check_number, check_prior, check_rounds
from .._typing import Floats, State
from ._pool_state import join, leave, with_scaled_prior

#: Losses are of order one; a regret below this is rounding.
ROUNDING_OF_REGRET = 1e-14


def instantaneous_regret(weights: Floats, losses: Floats) -> Floats:
    """Return the instantaneous regret ``r = p·ℓ - ℓ``, with rounding errors set to zero.

    Scale-free rules would otherwise act on rounding errors where all losses are equal.
    """
    regret = (weights * losses).sum(axis=-1, keepdims=True) - losses
    return np.where(np.abs(regret) < ROUNDING_OF_REGRET, 0.0, regret)


def over_experts(value: Any, like: Floats) -> Floats:
    """Return a value of each copy, or of each expert, in a shape that broadcasts against per-expert arrays."""
    value = np.asarray(value, dtype=np.float64)
    return value if value.ndim >= like.ndim else value[..., np.newaxis]


class ExpertAlgorithm(BaseEstimator, ABC):
    """Base class of all expert algorithms, and the protocol for new ones.

    A subclass defines ``__init__`` with its parameters, one of them ``prior``, as any scikit-learn estimator does (one
    that has no other parameter inherits it), and three methods without side effects:

    ``_initial_state(prior, rate, horizon)``
        Return the state before the first round, a dictionary. ``prior`` has shape ``(..., K)``. The last axis holds
        the experts; the axes before it hold independent copies of the algorithm, which the reductions use. ``rate``
        is None, or a learning rate that takes precedence over the algorithm's own: one for each copy, shape
        ``prior.shape[:-1]``, or one for each expert, shape ``prior.shape``. ``horizon`` is None, or the number of
        rounds. Both may be ignored.
    ``_distribution(state)``
        Return the weights of the coming round, shape ``(..., K)``, with sum one over the last axis.
    ``_next_state(state, weights, losses)``
        Return the state after a round with these weights and losses; ``|losses| <= 1``.

    Arrays in the state with at least as many axes as ``prior`` have the experts on their last axis. All other entries
    belong to the algorithm as a whole. An entry named ``prior``, ``log_prior`` or ``log_weight`` is rescaled when
    experts join or leave, so that the prior sums to one. The base class maintains ``state["rounds"]``, the number of
    rounds learned. It also provides sleeping experts, ``run``, adding and dropping experts, pickling and use inside the
    reductions. ``check_parameters``, if defined, raises a ValueError that names a parameter outside its domain.

    Parameters
    ----------
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    **Sleeping experts.** With confidences ``a`` (``awake``; a NaN loss means ``a = 0``) the weights are ``p ∝ a·w``,
    and the algorithm learns from ``a(i) ℓ(i) + (1 - a(i)) p·ℓ``: the loss of a sleeping expert is the loss of the
    mixture. The instantaneous regret against expert ``i`` is then exactly ``a(i) (p·ℓ - ℓ(i))``, so every regret bound
    holds for the confidence-rated regret. A round in which all experts sleep changes nothing and is not counted.
    """

    horizon: int | None = None
    n_experts_: int
    prior_: Floats
    state_: State

    def __init__(self, *, prior: ArrayLike | None = None) -> None:
        self.prior = prior

    # The protocol ------------------------------------------------------------------------------------------------

    @abstractmethod
    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State: ...

    @abstractmethod
    def _distribution(self, state: State) -> Floats: ...

    @abstractmethod
    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State: ...

    def check_parameters(self) -> None:
        """Raise a ValueError that names the parameter if one lies outside its domain."""

    def _has_own_second_order(self) -> bool:
        """Return whether the second-order term of the bound is the comparator's own, not a mean over the weights.

        Such rules may be fed losses beyond [-1, 1] at the rates of a reduction: rate·|loss| stays below 0.68, except
        for a corner case of Algorithm 2 that its bias compensates (see the theory page).
        """
        return False

    def _late_state(self, state: State, weights: Floats, view: Floats, losses: Floats) -> State:
        """Return the state after a delayed round whose predictions were made with these weights and this view."""
        return self._next_state(state, weights, losses)

    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        """Return the state after experts have joined.

        ``prior`` is relative to that of the present experts, which sums to one; ``scale`` makes the sum of all one.
        """
        return with_scaled_prior(join(state, self._initial_state(prior, rate, self.horizon)), scale)

    def _left(self, state: State, index: int | slice, scale: float) -> State:
        """Return the state without some experts, with the prior of the others scaled to sum to one."""
        return with_scaled_prior(leave(state, index), scale)

    def _fed_losses(self, played: Floats, losses: Floats, confidence: Floats | None) -> Floats:
        """Return the losses to learn from: those of sleeping experts are replaced by that of the mixture."""
        if confidence is None:
            return losses
        mixture = played @ losses
        return mixture + confidence * (losses - mixture)

    # Public methods ------------------------------------------------------------------------------------------------

    @property
    def n_rounds_(self) -> int:
        """Number of rounds learned so far."""
        return int(self.state_["rounds"]) if hasattr(self, "n_experts_") else 0

    def weights(self, n_experts: int | None = None, awake: ArrayLike | None = None) -> Floats:
        """Return the weights of the experts for the coming round.

        Parameters
        ----------
        n_experts : int, optional
            Number of experts; needed before the first round only.
        awake : array-like of shape (n_experts,), optional
            Confidences in [0, 1]; 0 means asleep. None: all experts are awake.

        Returns
        -------
        ndarray of shape (n_experts,)
        """
        known = getattr(self, "n_experts_", None)
        n_experts = known if n_experts is None else n_experts
        if n_experts is None:
            raise ValueError("n_experts is needed before the first round")
        check_count("n_experts", n_experts)
        if known not in (None, n_experts):
            raise ValueError(f"n_experts={n_experts!r}, but this algorithm runs over {known}")
        confidence = None
        if awake is not None:  # zeros stand for the losses: only the confidences are checked here
            _, confidence = check_rounds(
                np.zeros((1, n_experts)), as_floats(awake, "awake")[np.newaxis], n_experts, self.n_rounds_
            )
        if known is None:
            self.check_parameters()
            prior = check_prior(self.prior, int(n_experts))
            self.state_ = self._start(prior, horizon=self.horizon)
            self.prior_, self.n_experts_ = prior, int(n_experts)
        played = self.current_weights().copy()
        return played if confidence is None else restrict_to_awake(played, confidence[0])

    def current_weights(self) -> Floats:
        """Return the weights of the coming round without checks and without a copy; they must not be written to."""
        return self._distribution(self.state_)

    def update(self, losses: ArrayLike, awake: ArrayLike | None = None) -> Self:
        """Update the weights with the losses of one round.

        Parameters
        ----------
        losses : array-like of shape (n_experts,)
            Losses in [0, 1]; NaN means that the expert was asleep.
        awake : array-like of shape (n_experts,), optional
            Confidences of the experts in this round, in [0, 1].

        Returns
        -------
        self
        """
        row = as_floats(losses, "losses")
        if row.ndim != 1:
            raise ValueError(f"update takes the losses of one round, shape (n_experts,); got {row.shape}")
        self.run(row[np.newaxis], None if awake is None else as_floats(awake, "awake")[np.newaxis])
        return self

    def run(self, losses: ArrayLike, awake: ArrayLike | None = None) -> Floats:
        """Update the weights with the losses of many rounds, starting from the current state.

        Parameters
        ----------
        losses : array-like of shape (n_rounds, n_experts)
            Losses in [0, 1]; NaN means that the expert was asleep in that round.
        awake : array-like of shape (n_rounds, n_experts), optional
            Confidences in [0, 1].

        Returns
        -------
        ndarray of shape (n_rounds, n_experts)
            Row t has the weights of round t, which were used before its losses were seen.
        """
        if not hasattr(self, "n_experts_"):
            self.check_parameters()
        losses, confidence = self._checked_rounds(losses, awake)
        if not hasattr(self, "n_experts_"):
            self.weights(losses.shape[1])
        return self._play_rounds(losses, confidence)

    def issued_view(self) -> Floats:
        """Return what a delayed update needs of the present state, besides the weights."""
        return np.empty(0)

    def widened_view(self, view: Floats) -> Floats:
        """Return a view of :meth:`issued_view` for the pool that one more expert is about to join."""
        return view

    def update_late(self, losses: ArrayLike, awake: ArrayLike | None, weights: Floats, view: Floats) -> None:
        """Update with a delayed round.

        Regrets refer to the weights and the view (:meth:`issued_view`) that were in force at prediction time.
        """
        rows, confidence = self._checked_rounds(
            as_floats(losses, "losses")[np.newaxis], None if awake is None else as_floats(awake, "awake")[np.newaxis]
        )
        fed = rows[0]
        if confidence is not None:
            fed = self._fed_losses(restrict_to_awake(weights, confidence[0]), fed, confidence[0])
        state = self.state_
        self.state_ = {**self._late_state(state, weights, view, fed), "rounds": state["rounds"] + 1}

    def add_expert(self, prior: float | None = None) -> int:
        """Add a new expert with a share of the prior.

        In rules that are based on regrets, the regret of the new expert is zero, as if it had slept until now. In rules
        that share weight (FixedShare, ShareTheta, MixingPastPosteriors, LongTermMemory) it gets its share of the
        current weights.

        Parameters
        ----------
        prior : float, optional
            Prior probability of the new expert, in (0, 1); those of the others are multiplied by ``1 - prior``.
            None: ``1 / n_experts``, counting the new expert.

        Returns
        -------
        int
            Index of the new expert, the last one.
        """
        self._check_started("add_expert")
        share = 1.0 / (self.n_experts_ + 1) if prior is None else prior
        check_number("prior", share, 0.0, 1.0, low_open=True, high_open=True)
        check_prior(np.append(self.prior_ * (1.0 - share), share), self.n_experts_ + 1)
        newcomer = np.array([share / (1.0 - share)])  # relative to the others, which sum to one
        priors = np.concatenate([self.prior_, newcomer])
        self.state_ = self._joined(self.state_, newcomer, 1.0 / float(priors.sum()))
        self.prior_, self.n_experts_ = priors / priors.sum(), len(priors)
        return self.n_experts_ - 1

    def drop_expert(self, index: int) -> None:
        """Remove an expert; the indices of the experts after it decrease by one."""
        self._check_started("drop_expert")
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise ValueError(f"there is no expert {index!r}: an index is an integer")
        if not -self.n_experts_ <= index < self.n_experts_:
            raise ValueError(f"there is no expert {index}: there are {self.n_experts_} experts")
        if self.n_experts_ == 1:
            raise ValueError("the last expert cannot be dropped")
        index = int(index) % self.n_experts_
        priors = np.delete(self.prior_, index)
        self.state_ = self._left(self.state_, index, 1.0 / float(priors.sum()))
        self.prior_, self.n_experts_ = priors / priors.sum(), len(priors)

    def set_params(self, **params: Any) -> Self:
        """Set parameters as in any scikit-learn estimator; after the first round they cannot change."""
        if params and hasattr(self, "n_experts_"):
            raise ValueError("parameters cannot change in the middle of a run: sklearn.base.clone gives a fresh copy")
        super().set_params(**params)
        return self

    # Implementation ---------------------------------------------------------------------------------------------

    def _check_started(self, method: str) -> None:
        if not hasattr(self, "n_experts_"):
            raise ValueError(f"{method} needs a pool: call weights(n_experts) first")

    def _checked_rounds(self, losses: ArrayLike, awake: ArrayLike | None) -> tuple[Floats, Floats | None]:
        """Return the losses and confidences of the coming rounds; raise a ValueError if they exceed the horizon."""
        losses, confidence = check_rounds(losses, awake, getattr(self, "n_experts_", None), self.n_rounds_)
        n_rounds = len(losses) if confidence is None else int(confidence.any(axis=1).sum())
        horizon = self.horizon
        if horizon is not None and self.n_rounds_ + n_rounds > horizon:
            raise ValueError(f"round {horizon} would exceed the horizon of {horizon} rounds (counted from 0)")
        return losses, confidence

    def _start(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {**self._initial_state(prior, rate, horizon), "rounds": 0}

    def _step(self, state: State, weights: Floats, losses: Floats) -> State:
        return {**self._next_state(state, weights, losses), "rounds": state["rounds"] + 1}

    def _play_rounds(self, losses: Floats, confidence: Floats | None) -> Floats:
        played = np.empty_like(losses)
        state = self.state_
        for t, loss in enumerate(losses):
            own = self._distribution(state)
            awake = None if confidence is None or (confidence[t] == 1.0).all() else confidence[t]
            played[t] = own if awake is None else restrict_to_awake(own, awake)
            if awake is None or awake.any():
                state = self._step(state, own, self._fed_losses(played[t], loss, awake))
        self.state_ = state  # set only at the end, so that an interrupted run does not change the state
        return played


def check_plugin(name: str, algorithm: Any, *, owned: tuple[str, ...]) -> None:
    """Raise a ValueError if a plug-in is no expert algorithm, or sets a parameter that its owner sets."""
    if not isinstance(algorithm, ExpertAlgorithm):
        raise ValueError(f"{name}={algorithm!r} must be an instance of a subclass of ExpertAlgorithm")
    for parameter in owned:
        if getattr(algorithm, parameter, None) is not None:
            raise ValueError(f"{name}={algorithm!r}: leave its {parameter} None; the outer algorithm sets it")
    algorithm.check_parameters()
