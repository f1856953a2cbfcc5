"""Base class of Algorithms 1 and 2 of the paper: reductions from long-term memory to static and switching regret.

``reference.py`` has both algorithms exactly as the paper prints them, in a few lines each; read it first. The classes
:class:`SimpleReduction` and :class:`BestOfBothWorlds` compute the same weights for any pair of sub-algorithms, and also
handle sleeping experts, experts that join or leave, priors and unknown horizons.

Each expert has a *confidence* ``z`` in [0, 1], and in Algorithm 2 each pair of an expert and a learning rate has one.
An expert algorithm over the two actions "asleep" and "awake" learns it (the *switching* algorithm). A *static*
algorithm over all experts, or pairs, provides weights ``w``, and the reduction uses ``p(i) ∝ Σ_j z(i, j) w(i, j)``.
With the instantaneous regret ``r = p·ℓ - ℓ`` the static algorithm is fed ``c = -z r``, and each switching algorithm
``(0, bias - r)``. A switching algorithm has two actions only, so a switch costs ln T instead of ln(KT), and ln K is
paid once for each distinct expert. This is what makes it cheap to return to an expert that was good before.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .._numerics import restrict_to_awake
from .._param_checks import check_horizon
from .._typing import Floats, State
from ._base import ExpertAlgorithm, check_plugin
from ._pool_state import join, leave

ASLEEP, AWAKE = 0, 1


class LearnedConfidence(ExpertAlgorithm):
    """Base class of both reductions: one static algorithm over all cells and one switching algorithm in each cell.

    A cell is a pair of an expert and a learning rate; Algorithm 1 has one rate. Arrays of cells have shape (K, M).
    """

    horizon: int | None

    @abstractmethod
    def _plugins(self) -> tuple[ExpertAlgorithm, ExpertAlgorithm]:
        """Return the static and the switching algorithm."""

    @abstractmethod
    def _rates(self, n_experts: int, horizon: int | None) -> Floats:
        """Return the M learning rates of the cells of an expert."""

    @abstractmethod
    def _losses(self, regret: Floats, confidence: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """Return the losses of the static algorithm and those of action "awake", both of shape (K, M)."""

    @abstractmethod
    def _ranges(self) -> tuple[float, float]:
        """Return bounds on the losses of the static and of the switching algorithms, by which they are divided."""

    def _plugin_rates(self, rates: Floats) -> tuple[Floats, Floats]:
        """Return the learning rates of the static and of the switching algorithm.

        If the second-order terms of both are the comparator's own, as in the plug-ins that the paper prints, their
        rates are multiplied by the ranges of the losses. This undoes the division of the losses by these ranges. For
        other plug-ins the conditions of the theorems hold for the divided losses only.
        """
        static, switching = self._plugins()
        if static._has_own_second_order() and switching._has_own_second_order():
            static_range, switching_range = self._ranges()
            return rates * static_range, rates * switching_range
        return rates, rates

    def check_parameters(self) -> None:
        check_horizon(self.horizon)
        for name, plugin in zip(("static", "switching"), self._plugins(), strict=True):
            check_plugin(name, plugin, owned=("prior", "horizon"))

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        if prior.ndim != 1:
            raise ValueError(f"{type(self).__name__} cannot be the switching algorithm of a reduction: use FixedShare")
        static, _ = self._plugins()
        rates = self._rates(len(prior), horizon)
        return {
            "rates": rates,
            "horizon": horizon,
            "static": static._start(*self._cells(prior, rates), horizon),
            "switching": self._initial_switching(len(prior), rates, horizon),
        }

    def _cells(self, prior: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """Return priors and learning rates of the cells; the prior of an expert is spread evenly over its rates."""
        cell_prior = np.repeat(prior / len(rates), len(rates))
        return cell_prior, np.tile(self._plugin_rates(rates)[0], len(prior))

    def _initial_switching(self, n_experts: int, rates: Floats, horizon: int | None) -> State:
        _, switching = self._plugins()
        shape = (n_experts, len(rates))
        cell_rates = np.broadcast_to(self._plugin_rates(rates)[1], shape)
        return switching._start(np.full((*shape, 2), 0.5), cell_rates, horizon)

    def _confidence(self, state: State) -> tuple[Floats, Floats]:
        """Return the switching algorithms' distributions, (K, M, 2), and the confidences z, (K, M)."""
        distribution = self._plugins()[1]._distribution(state["switching"])
        return distribution, distribution[..., AWAKE]

    def _distribution(self, state: State) -> Floats:
        confidence = self._confidence(state)[1]  # Alg. 2, line 5: z
        own = self._plugins()[0]._distribution(state["static"])  # Alg. 2, line 4: w
        cells = restrict_to_awake(own, confidence.ravel())  # Alg. 2, line 6: p(i) ∝ Σ_j z(i, j) w(i, j)
        return cells.reshape(confidence.shape).sum(axis=-1)

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        static, switching = self._plugins()
        distribution, confidence = self._confidence(state)
        regret = (weights @ losses - losses)[:, np.newaxis]  # Alg. 2, line 7: r = p·ℓ - ℓ
        static_range, awake_range = self._ranges()
        static_losses, awake_losses = self._losses(regret, confidence, state["rates"])
        awake_losses = awake_losses / awake_range
        own = static._distribution(state["static"])
        return {
            **state,
            "static": static._step(state["static"], own, static_losses.ravel() / static_range),
            "switching": switching._step(
                state["switching"], distribution, np.stack([np.zeros_like(awake_losses), awake_losses], axis=-1)
            ),
        }

    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        static, _ = self._plugins()
        cell_prior, cell_rates = self._cells(prior, state["rates"])
        newcomers = self._initial_switching(len(prior), state["rates"], state["horizon"])
        return {
            **state,
            "static": static._joined(state["static"], cell_prior, scale, cell_rates),
            "switching": join(state["switching"], newcomers, _copies_axis),
        }

    def _left(self, state: State, index: int | slice, scale: float) -> State:
        static, _ = self._plugins()
        shape = self._confidence(state)[1].shape
        cells = np.arange(np.prod(shape)).reshape(shape)[index].ravel()
        return {
            **state,
            "static": static._left(state["static"], slice(cells[0], cells[-1] + 1), scale),
            "switching": leave(state["switching"], index, _copies_axis),
        }


def _copies_axis(value: Any) -> int | None:
    """Return the axis of the experts in the switching algorithms' states: (..., K, M, 2) with actions, or (K, M)."""
    if not isinstance(value, np.ndarray) or value.ndim < 2:
        return None
    return 0 if value.ndim == 2 else -3
