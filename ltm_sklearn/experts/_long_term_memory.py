"""LongTermMemory, the default algorithm: the paper's Algorithm 2 over K models and a set of trackers.

``LongTermMemoryClassifier.partial_fit`` takes its K models as experts. The losses of the models in a round, averaged
over its rows, are one loss vector. This module turns the loss vectors into weights with Algorithm 2. The function
``best_of_both_worlds`` in ``reference.py`` is Algorithm 2 exactly as the paper prints it; read it first. The class here
differs in the following:

- Losses lie in [0, 1]. The learning rates are 0.45/4^j, the bias is η|r| instead of 5η|r|, and both sub-algorithms
  multiply weights by ``1 + η·(...)`` (Prod) instead of an exponential. The constants of the bound are smaller.
- A few trackers (``_trackers.py``) are additional experts, so the bound has the number of models and trackers in place
  of K. The weight of a tracker is distributed over the models.
- No horizon is needed: the switching share in round t is 1/(t + 2).
- Compiled code runs the rounds where it is available.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import TINY, normalise, restrict_to_awake
from .._param_checks import check_horizon
from .._typing import Floats, State
from ._base import ExpertAlgorithm
from ._compiled import kernel_of
from ._pool_state import join, leave
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
from ._weight_sharing import WEIGHT_FLOOR

#: Learning rates η_j of Algorithm 2; each pair (expert, rate) is a cell.
RATES = 0.45 / 4.0 ** np.arange(5)
#: Prior probability of all models together; the trackers have the rest.
MODELS_SHARE = 0.1
#: Lower limit of a cell's potential, as a fraction of its prior.
POTENTIAL_FLOOR = 1e-9

#: Fraction of the trackers' potential that is redistributed by their prior after each round (Fixed Share).
TRACKER_SHARING = 1e-5

#: Constants that are passed to the compiled kernel besides the rates.
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
    """Default expert algorithm: weights that return quickly to experts that were good before.

    It needs no parameters and no horizon. It is Algorithm 2 of the paper (:class:`BestOfBothWorlds`) with tight
    constants, run over the K models and a few *trackers*. A tracker is a Share-θ algorithm that follows the best model
    at one learning rate (see the theory page). :func:`ltm_sklearn.experts.reference.best_of_both_worlds` is Algorithm 2
    as printed.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds, if known; the switching share of the confidences is then 1/horizon in all rounds.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    With the instantaneous regret ``r(e) = p·ℓ - ℓ(e)`` of a model or tracker e, a round computes for each of five
    learning rates η

    - the potential ``W ← W (1 + η z r)``, and from it the weights ``p(e) ∝ Σ_η η W z``; the weight of a tracker is
      distributed over the models as the tracker weights them;
    - the confidence of a model: ``g = r - η|r|``, ``a = z (1 + η g)``, ``z ← (1-γ) a/(a + 1 - z) + γ/2`` with
      ``γ = 1/(t + 2)``. The confidence of a tracker is always 1.

    For any sequence of models ``i_t``, any model i in it and any of the rates η, the regret in the rounds with
    ``i_t = i`` is at most ``[ln((1 + 1e-9 T)/prior(i, η)) + c(i)]/η + η Σ (|r| + g²)``, where ``c(i)`` is ln(2), plus
    ln(2/γ) for each switch to i or away from i, plus about ln(T)/2 for the other rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.experts import LongTermMemory
    >>> a_is_good, b_is_good = np.tile([0.0, 1.0], (100, 1)), np.tile([1.0, 0.0], (100, 1))
    >>> algorithm = LongTermMemory()
    >>> for phase in [a_is_good, b_is_good, a_is_good, b_is_good]:
    ...     played = algorithm.run(phase)
    ...     print(f"{(played * phase).sum():.2f}")  # loss of the mixture in this phase
    0.88
    4.05
    1.92
    1.73
    """

    def __init__(self, *, horizon: int | None = None, prior: ArrayLike | None = None) -> None:
        self.horizon = horizon
        self.prior = prior

    # Learning rates of the trackers; with an empty array, Algorithm 2 runs over the models alone.
    _tracker_rates = TRACKER_RATES

    def check_parameters(self) -> None:
        check_horizon(self.horizon)

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        if prior.ndim != 1:
            raise ValueError("LongTermMemory cannot be the switching algorithm of a reduction: use FixedShare")
        rate_prior = 0.5 ** np.arange(len(RATES))
        n_bundles = len(self._tracker_rates)
        bundle_prior = np.tile(TRACKER_PRIOR[:n_bundles] / 2.0, 2)  # half for mixtures, half for sharpened mixtures
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
        """Return the initial potentials and confidences of models with this prior, which need not sum to one."""
        cell_prior = self._models_share() / len(RATES) * prior
        return {
            "prior": cell_prior,
            "potential": np.tile(cell_prior, (len(RATES), 1)),
            "confidence": np.full((len(RATES), len(prior)), 0.5),
        }

    def _models_share(self) -> float:
        return MODELS_SHARE if len(self._tracker_rates) else 1.0

    def _with_weights(self, state: State) -> State:
        """Add the weights of the coming round to the state, so that saving and loading does not change a digit."""
        models = RATES @ (state["potential"] * state["confidence"])  # Alg. 2, line 6: Σ_j z(i, j) w(i, j)
        trackers = RATES @ state["tracker_potential"]
        return {**state, "weights": normalise(models + trackers @ tracker_weights(state))}

    def _distribution(self, state: State) -> Floats:
        weights: Floats = state["weights"]
        return weights

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        return self._state_after_round(state, weights, tracker_weights(state), losses)

    def issued_view(self) -> Floats:
        return tracker_weights(self.state_).ravel()

    def widened_view(self, view: Floats) -> Floats:
        return np.pad(view.reshape(-1, self.n_experts_), ((0, 0), (0, 1))).ravel()

    def _late_state(self, state: State, weights: Floats, view: Floats, losses: Floats) -> State:
        # The losses of trackers are those of the weights they had at prediction time. Trackers with large learning
        # rates follow the last round closely and would look too good with their weights of today.
        return self._state_after_round(state, weights, view.reshape(-1, len(losses)), losses)

    def _state_after_round(self, state: State, weights: Floats, tracker_distributions: Floats, losses: Floats) -> State:
        """Return the state after a round with these weights of the algorithm and of its trackers."""
        mixture = weights @ losses
        regret = mixture - losses  # Alg. 2, line 7: r = p·ℓ - ℓ
        tracker_regret = mixture - tracker_distributions @ losses
        rates = RATES[:, np.newaxis]
        confidence = state["confidence"]

        # Alg. 2, line 7: A is Prod, fed c = -z r
        potential = state["potential"] * (1.0 + rates * confidence * regret)
        tracker_potential = state["tracker_potential"] * (1.0 + rates * tracker_regret)
        # Alg. 2, line 8: A_ij is Fixed Share in Prod form, fed (0, η|r| - r)
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

    # _with_models scales the prior itself, so these two methods do not use ``scale``.
    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        # initial_cells normalises the prior, so its weights are scaled to the share of the new experts.
        cells = initial_cells(prior, len(self._tracker_rates))
        newcomers = {**self._initial_models(prior), **{name: prior.sum() * value for name, value in cells.items()}}
        return self._with_models(state, join({name: state[name] for name in _PER_MODEL}, newcomers))

    def _left(self, state: State, index: int | slice, scale: float) -> State:
        return self._with_models(state, leave({name: state[name] for name in _PER_MODEL}, index))

    def _with_models(self, state: State, models: State) -> State:
        """Return the state for another pool of models, scaled so that the prior of all models together is the same."""
        after = {**state, **models}
        scale = self._models_share() / len(RATES) / after["prior"].sum()
        after |= {name: scale * after[name] for name in ("prior", "potential")}
        after |= {name: normalise(after[name]) for name in ("tracked", "remembered")}
        return self._with_weights({**after, **mixtures(after, after["prior"])})

    # Compiled rounds: the kernel holds the state, and state_ reads it back. ------------------------------------------

    @property
    def state_(self) -> State:
        """State of the algorithm, a dictionary of arrays."""
        if "_rounds" in self.__dict__:
            return self._rounds.state()
        return self._state

    @state_.setter
    def state_(self, state: State) -> None:
        self.__dict__.pop("_rounds", None)
        self._state = state

    @property
    def n_rounds_(self) -> int:
        """Number of rounds learned so far."""
        return self._rounds.rounds if "_rounds" in self.__dict__ else super().n_rounds_

    def __getstate__(self) -> dict[str, Any]:
        attributes = dict(super().__getstate__())
        if attributes.pop("_rounds", None) is not None:
            attributes["_state"] = self.state_
        return attributes

    def compiled_rounds(self) -> Any:
        """Return the compiled object that holds the state, or None where no kernel is available."""
        if "_rounds" not in self.__dict__:
            kernel = kernel_of(self)
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
        rounds = self.compiled_rounds()
        return super().current_weights() if rounds is None else rounds.weights()

    def _play_rounds(self, losses: Floats, confidence: Floats | None) -> Floats:
        rounds = self.compiled_rounds()
        if rounds is None:
            return super()._play_rounds(losses, confidence)
        own = rounds.run(losses, confidence)
        return own if confidence is None else restrict_to_awake(own, confidence)


class PatientMemory(LongTermMemory):
    """LongTermMemory with slow trackers only, for choices that a few lucky rounds should not decide.

    Its trackers have the two smallest learning rates, 1/16 and 1/4, so their weights change only after a long run of
    lower losses. The ensembles use it to choose between following the best expert and blending several.
    """

    _tracker_rates = TRACKER_RATES[:2]


class SteadyMemory(LongTermMemory):
    """LongTermMemory with the three slowest trackers, for choices between mixtures whose losses differ little.

    Its trackers have learning rates 1/16, 1/4 and 1/2. It is the arbiter over the members of a combination of
    forecasts; trackers with larger learning rates would follow noise in the small differences of the members' losses.
    """

    _tracker_rates = TRACKER_RATES[:3]
