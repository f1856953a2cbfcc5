"""Base class of the expert algorithms: parameters, a state, and three methods that define how the state changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._numerics import restrict
from .._param_checks import as_floats, check_count, check_number, check_prior, check_rounds
from .._typing import Floats, State
from ._compiled import kernel

#: Losses are of order one; a regret below this is rounding.
ROUNDING_OF_MIXTURE = 1e-14


def instantaneous_regret(weights: Floats, losses: Floats) -> Floats:
    """Return the instantaneous regret ``r = p·ℓ - ℓ``, with rounding errors set to zero.

    Scale-free rules would otherwise act on rounding errors where all losses are equal.
    """
    regret = (weights * losses).sum(axis=-1, keepdims=True) - losses
    return np.where(np.abs(regret) < ROUNDING_OF_MIXTURE, 0.0, regret)


def over_experts(value: Any, like: Floats) -> Floats:
    """Return a value of each copy, or of each expert, in a shape that broadcasts against per-expert arrays."""
    value = np.asarray(value, dtype=np.float64)
    return value if value.ndim >= like.ndim else value[..., np.newaxis]


class ExpertAlgorithm(BaseEstimator, ABC):
    """Base class of all expert algorithms, and the protocol for new ones.

    A subclass defines ``__init__`` with its parameters, one of them ``prior``, as any scikit-learn estimator does, and
    three methods without side effects:

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
    belong to the algorithm as a whole. An entry named ``prior`` or ``log_prior`` is rescaled when experts join or
    leave, so that the prior sums to one. The base class maintains ``state["rounds"]``, the number of rounds learned. It
    also provides sleeping experts, ``run``, adding and dropping experts, pickling and use inside the reductions.

    Notes
    -----
    **Sleeping experts.** With confidences ``a`` (``awake``; a NaN loss means ``a = 0``) the weights are ``p ∝ a·w``,
    and the algorithm learns from ``a(i) ℓ(i) + (1 - a(i)) p·ℓ``: the loss of a sleeping expert is the loss of the
    mixture. The instantaneous regret against expert ``i`` is then exactly ``a(i) (p·ℓ - ℓ(i))``, so every regret bound
    holds for the confidence-rated regret. A round in which all experts sleep changes nothing and is not counted.
    """

    prior: ArrayLike | None
    n_experts_: int
    prior_: Floats
    state_: State

    # The protocol ------------------------------------------------------------------------------------------------

    @abstractmethod
    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State: ...

    @abstractmethod
    def _distribution(self, state: State) -> Floats: ...

    @abstractmethod
    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State: ...

    def _check_parameters(self) -> None:
        """Raise a ValueError that names the parameter if one lies outside its domain."""

    def _has_own_second_order(self) -> bool:
        """Return whether the second-order term of the bound is the comparator's own, not a mean over the weights.

        Such rules may be fed losses beyond [-1, 1] at the rates of a reduction: rate·|loss| stays below 0.68, except
        for a corner case of Algorithm 2 that its bias compensates (see the theory page).
        """
        return False

    def _issued_view(self, state: State) -> Floats:
        """Return what a delayed update needs of the state at prediction time, besides the weights."""
        return np.empty(0)

    def _widened_view(self, view: Floats, n_experts: int) -> Floats:
        """Return the stored part of the state (``view``) after an expert has joined ``n_experts`` others."""
        return view

    def _late_state(self, state: State, weights: Floats, view: Floats, losses: Floats) -> State:
        """Return the state after a delayed round whose predictions were made with these weights."""
        return self._next_state(state, weights, losses)

    # Public methods ------------------------------------------------------------------------------------------------

    @property
    def n_rounds_(self) -> int:
        """Number of rounds learned so far."""
        return int(self.state_["rounds"]) if self._has_started() else 0

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
        if self._has_started():
            if n_experts is not None:
                check_count("n_experts", n_experts)
            if n_experts not in (None, self.n_experts_):
                raise ValueError(f"n_experts={n_experts!r}, but this algorithm runs over {self.n_experts_}")
            n_experts = self.n_experts_
        elif n_experts is None:
            raise ValueError("n_experts is needed before the first round")
        check_count("n_experts", n_experts)
        confidence = None
        if awake is not None:  # zeros stand for the losses: only the confidences are checked here
            _, confidence = check_rounds(
                np.zeros((1, n_experts)), as_floats(awake, "awake")[np.newaxis], n_experts, self.n_rounds_
            )
        if not self._has_started():
            self._begin(n_experts)
        played = self.current_weights().copy()
        return played if confidence is None else restrict(played, confidence[0])

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
        if not self._has_started():
            self._check_parameters()
        losses, confidence = check_rounds(losses, awake, getattr(self, "n_experts_", None), self.n_rounds_)
        self._check_horizon(len(losses) if confidence is None else int(confidence.any(axis=1).sum()))
        if not self._has_started():
            self._begin(losses.shape[1])
        return self._play_rounds(losses, confidence)

    def _update_late(self, losses: ArrayLike, awake: ArrayLike | None, weights: Floats, view: Floats) -> None:
        """Update with a delayed round; its regrets refer to the weights that were in force at prediction time."""
        row = as_floats(losses, "losses")[np.newaxis]
        confidences = None if awake is None else as_floats(awake, "awake")[np.newaxis]
        row, confidence = check_rounds(row, confidences, self.n_experts_, self.n_rounds_)
        self._check_horizon(1)
        fed = row[0]
        if confidence is not None:
            fed = self._fed_losses(restrict(weights, confidence[0]), fed, confidence[0])
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
        state = self._with_newcomer(self.state_, self._newcomer_state(self.state_, newcomer))
        self._change_pool(state, np.concatenate([self.prior_, newcomer]))
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
        self._change_pool(self._without(self.state_, index), np.delete(self.prior_, index))

    def set_params(self, **params: Any) -> Self:
        """Set parameters as in any scikit-learn estimator; after the first round they cannot change."""
        if params and self._has_started():
            raise ValueError("parameters cannot change in the middle of a run: sklearn.base.clone gives a fresh copy")
        super().set_params(**params)
        return self

    # Implementation ---------------------------------------------------------------------------------------------

    def _has_started(self) -> bool:
        return hasattr(self, "n_experts_")

    def _begin(self, n_experts: int) -> None:
        self._check_parameters()
        prior = check_prior(self.prior, int(n_experts))
        self.state_ = self._start(prior, horizon=self._horizon())
        self.prior_ = prior
        self.n_experts_ = int(n_experts)

    def _change_pool(self, state: State, prior: Floats) -> None:
        """Set the state of a changed pool, with the prior rescaled to sum to one.

        Without rescaling, an endless series of joining and leaving experts would overflow.
        """
        self.state_ = self._with_scaled_prior(state, 1.0 / float(prior.sum()))
        self.prior_ = prior / prior.sum()
        self.n_experts_ = len(prior)

    def _with_scaled_prior(self, state: State, factor: float) -> State:
        """Return the state with the prior multiplied by a factor, which does not change the weights."""
        after = dict(state)
        if "prior" in after:
            after["prior"] = factor * after["prior"]
        if "log_prior" in after:
            after["log_prior"] = np.log(factor) + after["log_prior"]
        return after

    def _check_started(self, method: str) -> None:
        if not self._has_started():
            raise ValueError(f"{method} needs a pool: call weights(n_experts) first")

    def _start(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {**self._initial_state(prior, rate, horizon), "rounds": 0}

    def _step(self, state: State, weights: Floats, losses: Floats) -> State:
        return {**self._next_state(state, weights, losses), "rounds": state["rounds"] + 1}

    def _newcomer_state(self, state: State, prior: Floats, rate: Any = None) -> State:
        """Return the state of new experts; ``prior`` is relative to that of the present experts, which sums to one."""
        return self._start(prior, rate, self._horizon())

    def _check_horizon(self, n_rounds: int) -> None:
        """Raise a ValueError if so many more rounds would exceed the horizon."""
        horizon = self._horizon()
        if horizon is not None and self.n_rounds_ + n_rounds > horizon:
            raise ValueError(f"round {horizon} would exceed the horizon of {horizon} rounds (counted from 0)")

    def _horizon(self) -> int | None:
        return getattr(self, "horizon", None)

    def _fed_losses(self, played: Floats, losses: Floats, confidence: Floats | None) -> Floats:
        """Return the losses to learn from: those of sleeping experts are replaced by that of the mixture."""
        if confidence is None:
            return losses
        mixture = played @ losses
        return mixture + confidence * (losses - mixture)

    def current_weights(self) -> Floats:
        return self._distribution(self.state_)

    def _kernel(self) -> Any:
        """Return the compiled kernel, or None if a subclass outside this package may have changed the update rule."""
        return None if rule_is_changed(self, ExpertAlgorithm, __package__) else kernel

    def _play_rounds(self, losses: Floats, confidence: Floats | None) -> Floats:
        played = np.empty_like(losses)
        state = self.state_
        for t, loss in enumerate(losses):
            own = self._distribution(state)
            awake = None if confidence is None or (confidence[t] == 1.0).all() else confidence[t]
            played[t] = own if awake is None else restrict(own, awake)
            if awake is None or awake.any():
                state = self._step(state, own, self._fed_losses(played[t], loss, awake))
        self.state_ = state  # set only at the end, so that an interrupted run does not change the state
        return played

    def _with_newcomer(self, state: State, newcomer: State) -> State:
        return join(state, newcomer, _expert_axis)

    def _without(self, state: State, index: int | slice) -> State:
        return leave(state, index, _expert_axis)


def rule_is_changed(algorithm: Any, base: type, package: str | None) -> bool:
    """Return whether a subclass outside the package defines private names, and so perhaps another update rule."""
    foreign = (cls for cls in type(algorithm).__mro__ if issubclass(cls, base))
    foreign = (cls for cls in foreign if not cls.__module__.startswith(f"{package}."))
    names = (name for cls in foreign for name in vars(cls) if name != "_abc_impl")
    return any(name.startswith("_") and not name.startswith("__") for name in names)


def _expert_axis(value: Floats) -> int | None:
    return -1 if value.ndim >= 1 else None


def join(state: State, newcomer: State, axis_of: Callable[[Floats], int | None]) -> State:
    """Append the entries of new experts to every array of the state that has an axis of experts."""

    def joined(value: Any, entry: Any) -> Any:
        axis = axis_of(value) if isinstance(value, np.ndarray) else None
        if axis is None:
            return value
        shape = list(value.shape)
        shape[axis] = entry.shape[axis]
        return np.concatenate([value, np.broadcast_to(entry, shape)], axis=axis)

    return {name: joined(value, newcomer[name]) for name, value in state.items()}


def leave(state: State, index: int | slice, axis_of: Callable[[Floats], int | None]) -> State:
    """Delete the entries of some experts from every array of the state that has an axis of experts."""

    def left(value: Any) -> Any:
        axis = axis_of(value) if isinstance(value, np.ndarray) else None
        return value if axis is None else np.delete(value, index, axis=axis)

    return {name: left(value) for name, value in state.items()}


def check_plugin(name: str, algorithm: Any, *, owned: tuple[str, ...]) -> None:
    """Raise a ValueError if a plug-in is no expert algorithm, or sets a parameter that its owner sets."""
    if not isinstance(algorithm, ExpertAlgorithm):
        raise ValueError(f"{name}={algorithm!r} must be an instance of a subclass of ExpertAlgorithm")
    for parameter in owned:
        if getattr(algorithm, parameter, None) is not None:
            raise ValueError(f"{name}={algorithm!r}: leave its {parameter} None; the outer algorithm sets it")
    algorithm._check_parameters()
