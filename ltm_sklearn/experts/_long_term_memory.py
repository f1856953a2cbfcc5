"""The default algorithm: Algorithm 2 with tight constants over the models and a set of trackers, anytime."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import TINY, normalise, restrict
from .._param_checks import check_horizon
from .._typing import Floats, State
from ._base import ExpertAlgorithm
from ._sharing import WEIGHT_FLOOR
from ._trackers import (
    BELIEF_FLOOR,
    MEMORY,
    SHARPENED_FROM,
    SWITCHING,
    initial_cells,
    initial_trackers,
    mixtures,
    next_trackers,
    sharpening_prior,
    tracker_weights,
)
from ._trackers import PRIOR as TRACKER_PRIOR
from ._trackers import RATES as TRACKER_RATES

#: Learning rates η_j of Algorithm 2; each pair (expert, rate) is a cell.
RATES = 0.45 / 4.0 ** np.arange(5)
#: Share of the prior that the models have together; the trackers have the rest.
MODELS_SHARE = 0.1
#: No cell's potential falls below this part of its prior.
POTENTIAL_FLOOR = 1e-9

#: Share of the trackers' potential that is spread by their prior after each round, so that it can move on.
TRACKER_SHARING = 1e-5

#: What the kernel must know besides the rates.
KERNEL_CONSTANTS = (
    SWITCHING,
    MEMORY,
    sharpening_prior,
    POTENTIAL_FLOOR,
    TRACKER_SHARING,
    BELIEF_FLOOR,
    WEIGHT_FLOOR,
    SHARPENED_FROM,
)

_PER_MODEL = ("prior", "potential", "confidence", "tracked", "remembered")


class LongTermMemory(ExpertAlgorithm):
    """The default: finds again at once what was good before. No parameters, no horizon.

    Algorithm 2 of the paper (:class:`BestOfBothWorlds`) with tight constants, run over the K models and a few
    *trackers*, small memory algorithms that follow the best model at different paces (see the theory page).

    Parameters
    ----------
    horizon : int, optional
        Number of rounds, if known; the confidences' switching share is then 1/horizon throughout.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    With ``r(e) = p·ℓ - ℓ(e)`` for models and trackers alike, a round does, for each of five rates η,

    - potential: ``W ← W (1 + η z r)``, and ``p(e) ∝ Σ_η η W z``; what the trackers get is spread over the models by
      their weights;
    - confidence of a model: ``g = r - η|r|``, ``a = z (1 + η g)``, ``z ← (1-γ) a/(a + 1 - z) + γ/2`` with
      ``γ = 1/(t + 2)``. A tracker switches by itself; its confidence is 1.

    Against any sequence of models, and for each model i in it and any of the rates η, the regret in the rounds
    ``i_t = i`` is at most ``[ln((1 + 1e-9 T)/prior(i, η)) + c(i)]/η + η Σ (|r| + g²)``, where ``c(i)`` is ln(2) plus
    ln(2/γ) for each time the sequence comes to i or leaves it, and about ln(T)/2 for the other rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.experts import LongTermMemory
    >>> a_is_good, b_is_good = np.tile([0.0, 1.0], (100, 1)), np.tile([1.0, 0.0], (100, 1))
    >>> algorithm = LongTermMemory()
    >>> for phase in [a_is_good, b_is_good, a_is_good, b_is_good]:
    ...     played = algorithm.run(phase)
    ...     print(f"{(played * phase).sum():.2f}")  # what the phase cost
    0.88
    4.05
    1.92
    1.73
    """

    def __init__(self, *, horizon: int | None = None, prior: ArrayLike | None = None) -> None:
        self.horizon = horizon
        self.prior = prior

    # The trackers' rates; tests take them away to compare with BestOfBothWorlds.
    _tracker_rates = TRACKER_RATES

    def _check_parameters(self) -> None:
        check_horizon(self.horizon)

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        if prior.ndim != 1:
            raise ValueError("LongTermMemory cannot be the switching algorithm of a reduction")
        rate_prior = 0.5 ** np.arange(len(RATES))
        n_bundles = len(self._tracker_rates)
        bundle_prior = np.tile(TRACKER_PRIOR[:n_bundles] / 2.0, 2)  # half on mixtures, half on sharpened ones
        tracker_prior = (1.0 - self._models_share()) * np.outer(rate_prior / rate_prior.sum(), bundle_prior)
        return self._with_weights(
            {
                "horizon": horizon,
                **self._initial_models(prior / prior.sum()),
                "tracker_prior": tracker_prior,
                "tracker_potential": tracker_prior,
                **initial_trackers(prior, n_bundles),
            }
        )

    def _initial_models(self, prior: Floats) -> State:
        """The models' own part of Algorithm 2 before the first round; their prior together is the prior's sum."""
        cell_prior = self._models_share() / len(RATES) * prior
        return {
            "prior": cell_prior,
            "potential": np.tile(cell_prior, (len(RATES), 1)),
            "confidence": np.full((len(RATES), len(prior)), 0.5),
        }

    def _models_share(self) -> float:
        return MODELS_SHARE if len(self._tracker_rates) else 1.0

    def _with_weights(self, state: State) -> State:
        """Add what is played next, so that it is the same number before and after saving the state."""
        models = RATES @ (state["potential"] * state["confidence"])
        trackers = RATES @ state["tracker_potential"]
        return {**state, "weights": normalise(models + trackers @ tracker_weights(state))}

    def _distribution(self, state: State) -> Floats:
        weights: Floats = state["weights"]
        return weights

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        return self._judged(state, weights, tracker_weights(state), losses)

    def _issued_view(self, state: State) -> Floats:
        return tracker_weights(state).ravel()

    def _widened_view(self, view: Floats, n_experts: int) -> Floats:
        return np.pad(view.reshape(-1, n_experts), ((0, 0), (0, 1))).ravel()

    def _late_state(self, state: State, weights: Floats, view: Floats, losses: Floats) -> State:
        # Trackers are judged by what they played then: the hottest know the last round, but not the coming ones.
        return self._judged(state, weights, view.reshape(-1, len(losses)), losses)

    def _judged(self, state: State, weights: Floats, of_trackers: Floats, losses: Floats) -> State:
        """The state after a round in which these weights were played, and those by the trackers."""
        mixture = weights @ losses
        regret = mixture - losses
        tracker_regret = mixture - of_trackers @ losses
        rates = RATES[:, np.newaxis]
        confidence = state["confidence"]

        potential = state["potential"] * (1.0 + rates * confidence * regret)
        tracker_potential = state["tracker_potential"] * (1.0 + rates * tracker_regret)
        awake = confidence * (1.0 + rates * (regret - rates * np.abs(regret)))
        spread = TRACKER_SHARING * tracker_potential.sum() / max(state["tracker_prior"].sum(), TINY)
        share = 1.0 / (state["horizon"] or state["rounds"] + 3)
        return self._with_weights(
            {
                **state,
                "potential": np.maximum(potential, POTENTIAL_FLOOR * state["prior"]),
                "tracker_potential": (1.0 - TRACKER_SHARING) * tracker_potential + spread * state["tracker_prior"],
                "confidence": (1.0 - share) * awake / (awake + 1.0 - confidence) + share / 2.0,
                **next_trackers(state, losses, self._tracker_rates),
            }
        )

    def _newcomer_state(self, state: State, prior: Floats, rate: Any = None) -> State:
        # It has its prior's part of whatever the models share; a fresh state has all of it.
        cells = initial_cells(prior, len(self._tracker_rates))
        return {**self._initial_models(prior), **{name: prior.sum() * value for name, value in cells.items()}}

    def _with_newcomer(self, state: State, newcomer: State) -> State:
        models = {name: np.concatenate([state[name], newcomer[name]], axis=-1) for name in _PER_MODEL}
        return self._with_models(state, models)

    def _without(self, state: State, index: int | slice) -> State:
        models = {name: np.delete(state[name], index, axis=-1) for name in _PER_MODEL}
        return self._with_models(state, models)

    def _with_scaled_prior(self, state: State, factor: float) -> State:
        return state  # _with_models has scaled it

    def _with_models(self, state: State, models: State) -> State:
        """Another pool of models, whose prior together is what it was, so that they stand to the trackers as before."""
        after = {**state, **models}
        scale = self._models_share() / len(RATES) / after["prior"].sum()
        after |= {name: scale * after[name] for name in ("prior", "potential")}
        after |= {name: normalise(after[name]) for name in ("tracked", "remembered")}
        return self._with_weights({**after, **mixtures(after, after["prior"])})

    # The compiled rounds: while they run, the state lives in the kernel and is read back when asked for. ------------

    @property
    def state_(self) -> State:
        """The state, a dictionary of arrays."""
        if "_rounds" in self.__dict__:
            return self._rounds.state()
        return self._state

    @state_.setter
    def state_(self, state: State) -> None:
        self.__dict__.pop("_rounds", None)
        self._state = state

    @property
    def n_rounds_(self) -> int:
        """Rounds learned so far."""
        return self._rounds.rounds if "_rounds" in self.__dict__ else super().n_rounds_

    def __getstate__(self) -> dict[str, Any]:
        attributes = dict(super().__getstate__())
        if attributes.pop("_rounds", None) is not None:
            attributes["_state"] = self.state_
        return attributes

    def _compiled_rounds(self) -> Any:
        """The kernel holding the state; None where there is no kernel."""
        if "_rounds" not in self.__dict__:
            kernel = self._kernel()
            if kernel is None:
                return None
            self._rounds = kernel.MemoryRounds(self._state, RATES, self._tracker_rates, *KERNEL_CONSTANTS)
        return self._rounds

    def update(self, losses: ArrayLike, awake: ArrayLike | None = None) -> Self:
        rounds = self.__dict__.get("_rounds")
        if rounds is not None and awake is None and self.horizon is None and rounds.update(losses):
            return self
        return super().update(losses, awake)

    def current_weights(self) -> Floats:
        rounds = self._compiled_rounds()
        return super().current_weights() if rounds is None else rounds.weights()

    def _play_rounds(self, losses: Floats, confidence: Floats | None) -> Floats:
        rounds = self._compiled_rounds()
        if rounds is None:
            return super()._play_rounds(losses, confidence)
        own = rounds.run(losses, confidence)
        return own if confidence is None else restrict(own, confidence)


class PatientMemory(LongTermMemory):
    """With slow trackers only: for choices that a short run of luck should not decide."""

    _tracker_rates = TRACKER_RATES[:2]


class SteadyMemory(LongTermMemory):
    """With slow trackers and one of middling pace: for choices among mixtures, whose losses differ little."""

    _tracker_rates = TRACKER_RATES[:3]
