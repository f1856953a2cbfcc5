"""Squint: second-order regret without parameters, by integrating over learning rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf, erfcx, log1p

from .._numerics import softmax
from .._typing import Floats, State
from ._base import ExpertAlgorithm, instantaneous_regret

#: Upper end of the interval of learning rates over which Squint integrates.
LARGEST_RATE = 0.5


def log_evidence(regret: Floats, second_moment: Floats) -> Floats:
    """Return the logarithm of ``∫ exp(η R - η² V) dη`` over η in [0, 1/2], without overflow or cancellation."""
    e = LARGEST_RATE
    flat = second_moment < 1e-12 * np.maximum(1.0, regret**2)
    s = np.sqrt(np.where(flat, 1.0, second_moment))
    a = regret / (2.0 * s)  # the integrand is a Gaussian; a and b are its end points in standard units
    b = a - e * s
    q = e * regret - e * e * s * s  # = a² - b²
    scale = np.log(np.sqrt(np.pi) / (2.0 * s))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # unused branches may overflow
        right = q + np.log(erfcx(np.maximum(b, 0.0)) - np.exp(-np.maximum(q, 0.0)) * erfcx(np.maximum(a, 0.0)))
        left = np.log(erfcx(np.maximum(-a, 0.0)) - np.exp(np.minimum(q, 0.0)) * erfcx(np.maximum(-b, 0.0)))
        middle = a * a + np.log(erf(a) + erf(-b))
        gaussian = scale + np.where(b >= 0.0, right, np.where(a <= 0.0, left, middle))
    x = np.where(flat, e * regret, 0.0)
    near_zero = np.abs(x) < 1e-8
    safe = np.where(near_zero, 1.0, x)
    # ln(expm1(x)/x), written so that nothing overflows
    exponential = np.maximum(safe, 0.0) + np.log(-np.expm1(-np.abs(safe)) / np.abs(safe))
    linear = np.log(e) + np.where(near_zero, log1p(x / 2.0), exponential)
    return np.where(flat, linear, gaussian)


class Squint(ExpertAlgorithm):
    """Squint [1]_ with the improper prior ``dη/η`` on learning rates up to 1/2: parameter-free second-order regret.

    Parameters
    ----------
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    With ``R = Σ r`` and ``V = Σ r²``, ``p ∝ prior · ∫ exp(η R - η² V) dη``. The potential
    ``Σ prior ∫ (exp(η R - η² V) - 1)/η dη`` never rises above 0.

    References
    ----------
    .. [1] Koolen, van Erven: Second-order quantile methods for experts and combinatorial games. 2015.

    Examples
    --------
    >>> from ltm_sklearn.experts import Squint
    >>> Squint().update([0.0, 1.0]).weights().round(3)
    array([0.562, 0.438])
    """

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {"log_prior": np.log(prior), "regret": np.zeros_like(prior), "second_moment": np.zeros_like(prior)}

    def _distribution(self, state: State) -> Floats:
        return softmax(state["log_prior"] + log_evidence(state["regret"], state["second_moment"]))

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        regret = instantaneous_regret(weights, losses)
        return {**state, "regret": state["regret"] + regret, "second_moment": state["second_moment"] + regret**2}
