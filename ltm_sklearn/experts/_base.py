"""What every expert algorithm is: parameters, a state, and three methods that say how the state moves."""

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
    """``r = p·ℓ - ℓ``; what is only rounding in ``p·ℓ`` counts as a tie, or scale-free rules would act on it."""
    regret = (weights * losses).sum(axis=-1, keepdims=True) - losses
    return np.where(np.abs(regret) < ROUNDING_OF_MIXTURE, 0.0, regret)


def over_experts(value: Any, like: Floats) -> Floats:
    """A value of the whole pool, or one per expert, made to broadcast against per-expert arrays."""
    value = np.asarray(value, dtype=np.float64)
    return value if value.ndim >= like.ndim else value[..., np.newaxis]


class ExpertAlgorithm(BaseEstimator, ABC):
    """Base class of all expert algorithms, and the protocol for one's own.

    A subclass defines ``__init__`` with its parameters, as any scikit-learn estimator, ``prior`` among them,
    and three methods that neither keep nor change anything:

    ``_initial_state(prior, rate, horizon)``
        The state before the first round, a dictionary. ``prior`` has shape ``(..., K)``: the last axis is the
        experts, the axes before it are independent copies of the algorithm that run side by side (the reductions
        use them). ``rate`` is None, or a learning rate that takes precedence over the algorithm's own: one for
        each copy, shape ``prior.shape[:-1]``, or one for each expert, shape ``prior.shape``. ``horizon`` is None,
        or the number of rounds to come. Both may be ignored.
    ``_distribution(state)``
        The weights to play now, shape ``(..., K)``, summing to one over the last axis.
    ``_next_state(state, weights, losses)``
        The state after a round in which ``weights`` were played and ``losses`` were seen, with ``|losses| <= 1``.

    Arrays in the state with at least as many axes as ``prior`` have the experts on their last axis; everything else
    belongs to the pool as a whole. An entry named ``prior`` or ``log_prior`` is scaled when the pool changes, so that
    the priors sum to one. ``state["rounds"]``, the number of rounds learned, is kept for you. With that, sleeping
    experts, ``run``, adding and dropping experts, pickling and use inside the reductions all work.

    Notes
    -----
    **Sleeping experts.** With confidences ``a`` (``awake``; a NaN loss is ``a = 0``), ``p ∝ a·w`` is played and the
    algorithm learns from ``a(i) ℓ(i) + (1 - a(i)) p·ℓ``: an expert that sleeps is charged what the mixture lost. The
    instantaneous regret against expert ``i`` is then exactly ``a(i) (p·ℓ - ℓ(i))``, so every regret bound holds for
    the confidence-rated regret. A round in which all sleep changes nothing and is not counted.
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
        """Raise a ValueError that names a parameter outside its domain."""

    def _has_own_second_order(self) -> bool:
        """Whether the second-order term of the bound is the comparator's own, not a mean over the weights.

        Such rules take losses beyond [-1, 1] at the rate that a reduction states: rate·|loss| stays below 0.68, but for
        a corner of Algorithm 2 that its bias pays for (see the theory page).
        """
        return False

    def _issued_view(self, state: State) -> Floats:
        """What a round must know of the state it was issued with, besides the weights, if it is learned later."""
        return np.empty(0)

    def _widened_view(self, view: Floats, n_experts: int) -> Floats:
        """Such a view when an expert has joined so many."""
        return view

    def _late_state(self, state: State, weights: Floats, view: Floats, losses: Floats) -> State:
        """The state after a round that was issued with these weights some rounds ago."""
        return self._next_state(state, weights, losses)

    # What the protocol gives ---------------------------------------------------------------------------------------

    @property
    def n_rounds_(self) -> int:
        """Rounds learned so far."""
        return int(self.state_["rounds"]) if self._has_started() else 0

    def weights(self, n_experts: int | None = None, awake: ArrayLike | None = None) -> Floats:
        """The distribution to play now.

        Parameters
        ----------
        n_experts : int, optional
            Number of experts; needed before the first round only.
        awake : array-like of shape (n_experts,), optional
            Confidences in [0, 1]; 0 is asleep. None: all awake.

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
        """Learn one round.

        Parameters
        ----------
        losses : array-like of shape (n_experts,)
            Losses in [0, 1]; NaN: the expert was asleep.
        awake : array-like of shape (n_experts,), optional
            Confidences in [0, 1] with which the experts took part.

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
        """Learn many rounds, going on from the current state.

        Parameters
        ----------
        losses : array-like of shape (n_rounds, n_experts)
            Losses in [0, 1]; NaN: the expert was asleep in that round.
        awake : array-like of shape (n_rounds, n_experts), optional
            Confidences in [0, 1].

        Returns
        -------
        ndarray of shape (n_rounds, n_experts)
            Row t is what was played in round t, before its losses were seen.
        """
        if not self._has_started():
            self._check_parameters()
        losses, confidence = check_rounds(losses, awake, getattr(self, "n_experts_", None), self.n_rounds_)
        self._check_horizon(len(losses) if confidence is None else int(confidence.any(axis=1).sum()))
        if not self._has_started():
            self._begin(losses.shape[1])
        return self._play_rounds(losses, confidence)

    def _update_late(self, losses: ArrayLike, awake: ArrayLike | None, weights: Floats, view: Floats) -> None:
        """Learn a round that was issued some rounds ago: regrets are those of what was played then."""
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
        """Let a new expert join, with a share of the prior.

        Where a rule is built on regrets, the newcomer's is zero, as if it had slept so far. The rules that share weight
        (FixedShare, ShareTheta, MixingPastPosteriors, LongTermMemory) give it its share of what they hand out now.

        Parameters
        ----------
        prior : float, optional
            Its share of the prior, in (0, 1); the others' shares shrink to ``1 - prior`` together.
            None: ``1 / n_experts`` with the new one counted.

        Returns
        -------
        int
            The new expert's index, the last.
        """
        self._check_started("add_expert")
        share = 1.0 / (self.n_experts_ + 1) if prior is None else prior
        check_number("prior", share, 0.0, 1.0, low_open=True, high_open=True)
        check_prior(np.append(self.prior_ * (1.0 - share), share), self.n_experts_ + 1)
        newcomer = np.array([share / (1.0 - share)])  # in units in which the others' sum to one
        state = self._with_newcomer(self.state_, self._newcomer_state(self.state_, newcomer))
        self._change_pool(state, np.concatenate([self.prior_, newcomer]))
        return self.n_experts_ - 1

    def drop_expert(self, index: int) -> None:
        """Remove an expert; those behind it move up by one."""
        self._check_started("drop_expert")
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise ValueError(f"there is no expert {index!r}: experts have whole numbers")
        if not -self.n_experts_ <= index < self.n_experts_:
            raise ValueError(f"there is no expert {index}: there are {self.n_experts_}")
        if self.n_experts_ == 1:
            raise ValueError("the last expert cannot be dropped")
        index = int(index) % self.n_experts_
        self._change_pool(self._without(self.state_, index), np.delete(self.prior_, index))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in any scikit-learn estimator, but not in the middle of a run."""
        if params and self._has_started():
            raise ValueError("parameters cannot change in the middle of a run: sklearn.base.clone gives a fresh copy")
        super().set_params(**params)
        return self

    # Inside -----------------------------------------------------------------------------------------------------

    def _has_started(self) -> bool:
        return hasattr(self, "n_experts_")

    def _begin(self, n_experts: int) -> None:
        self._check_parameters()
        prior = check_prior(self.prior, int(n_experts))
        self.state_ = self._start(prior, horizon=self._horizon())
        self.prior_ = prior
        self.n_experts_ = int(n_experts)

    def _change_pool(self, state: State, prior: Floats) -> None:
        """Take on a pool whose priors do not sum to one, scaled so that they do: pools may change for ever."""
        self.state_ = self._with_scaled_prior(state, 1.0 / float(prior.sum()))
        self.prior_ = prior / prior.sum()
        self.n_experts_ = len(prior)

    def _with_scaled_prior(self, state: State, factor: float) -> State:
        """The same state in other units of the prior: what is played is the same for all of them."""
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
        """What joins the state with experts of this prior, in units in which the present ones' sum to one."""
        return self._start(prior, rate, self._horizon())

    def _check_horizon(self, n_rounds: int) -> None:
        """That many more rounds must not exceed it."""
        horizon = self._horizon()
        if horizon is not None and self.n_rounds_ + n_rounds > horizon:
            raise ValueError(f"round {horizon} would exceed the horizon of {horizon} rounds (counted from 0)")

    def _horizon(self) -> int | None:
        return getattr(self, "horizon", None)

    def _fed_losses(self, played: Floats, losses: Floats, confidence: Floats | None) -> Floats:
        """What is learned from: each expert's loss, or the mixture's as far as the expert slept."""
        if confidence is None:
            return losses
        mixture = played @ losses
        return mixture + confidence * (losses - mixture)

    def current_weights(self) -> Floats:
        return self._distribution(self.state_)

    def _kernel(self) -> Any:
        """The compiled kernel, or None if a subclass from elsewhere has changed the rule that it knows."""
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
        self.state_ = state  # only now: an interrupted run leaves the state as it was
        return played

    def _with_newcomer(self, state: State, newcomer: State) -> State:
        return join(state, newcomer, _expert_axis)

    def _without(self, state: State, index: int | slice) -> State:
        return leave(state, index, _expert_axis)


def rule_is_changed(algorithm: Any, base: type, package: str | None) -> bool:
    """Whether a subclass from outside a package has private names of its own, and so perhaps another rule."""
    foreign = (cls for cls in type(algorithm).__mro__ if issubclass(cls, base))
    foreign = (cls for cls in foreign if not cls.__module__.startswith(f"{package}."))
    names = (name for cls in foreign for name in vars(cls) if name != "_abc_impl")
    return any(name.startswith("_") and not name.startswith("__") for name in names)


def _expert_axis(value: Floats) -> int | None:
    return -1 if value.ndim >= 1 else None


def join(state: State, newcomer: State, axis_of: Callable[[Floats], int | None]) -> State:
    """Append a newcomer's entries to every array that has an axis of experts."""

    def joined(value: Any, entry: Any) -> Any:
        axis = axis_of(value) if isinstance(value, np.ndarray) else None
        if axis is None:
            return value
        shape = list(value.shape)
        shape[axis] = entry.shape[axis]
        return np.concatenate([value, np.broadcast_to(entry, shape)], axis=axis)

    return {name: joined(value, newcomer[name]) for name, value in state.items()}


def leave(state: State, index: int | slice, axis_of: Callable[[Floats], int | None]) -> State:
    """Delete entries from every array that has an axis of experts."""

    def left(value: Any) -> Any:
        axis = axis_of(value) if isinstance(value, np.ndarray) else None
        return value if axis is None else np.delete(value, index, axis=axis)

    return {name: left(value) for name, value in state.items()}


def check_plugin(name: str, algorithm: Any, *, owned: tuple[str, ...]) -> None:
    """What is plugged into another algorithm follows the protocol, and leaves to its owner what the owner sets."""
    if not isinstance(algorithm, ExpertAlgorithm):
        raise ValueError(f"{name}={algorithm!r} must be an instance of a subclass of ExpertAlgorithm")
    for parameter in owned:
        if getattr(algorithm, parameter, None) is not None:
            raise ValueError(f"{name}={algorithm!r}: leave its {parameter} None, here it is set from outside")
    algorithm._check_parameters()
