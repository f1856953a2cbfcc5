"""Weights of single algorithms, computed from the whole history by their definitions in the literature."""

import numpy as np
import pytest
from scipy.integrate import quad
from support.expert_algorithms import drifting_losses, random_losses

from ltm_sklearn.experts import (
    BOA,
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    FixedShare,
    Hedge,
    MLPoly,
    Prod,
    Squint,
)

# Each function returns the weights, up to a factor, after rounds with these losses and regrets, both (t, K).


def hedge(losses, regrets):
    """Freund and Schapire 1997 with the rate sqrt(8 ln(K)/t) of round t."""
    rate = np.sqrt(8 * np.log(losses.shape[1]) / (len(losses) + 1))
    return np.exp(-rate * (losses.sum(axis=0) - losses.sum(axis=0).min()))


def falling_rates(losses, largest):
    return np.minimum(largest, np.sqrt(np.log(losses.shape[1]) / np.arange(1, len(losses) + 2)))


def hedge_1(losses, regrets):
    rate = falling_rates(losses, 0.2)
    gain = (regrets - rate[:-1, np.newaxis] * losses**2).sum(axis=0)
    return np.exp(rate[-1] * gain)


def hedge_2(losses, regrets):
    rate = falling_rates(losses, 0.2)
    gain = (regrets - rate[:-1, np.newaxis] * regrets**2).sum(axis=0)
    return np.exp(rate[-1] * gain)


def prod(losses, regrets):
    rate = falling_rates(losses, 0.5)
    gain = (np.log1p(rate[:-1, np.newaxis] * regrets) / rate[:-1, np.newaxis]).sum(axis=0)
    return np.exp(rate[-1] * gain)


def ada_normal_hedge(losses, regrets):
    """Luo and Schapire 2015."""

    def potential(regret, magnitude):
        return np.exp(np.maximum(regret, 0) ** 2 / (3 * magnitude))

    total, magnitude = regrets.sum(axis=0), np.abs(regrets).sum(axis=0)
    return potential(total + 1, magnitude + 1) - potential(total - 1, magnitude + 1)


def ada_normal_hedge_tv(losses, regrets):
    births = range(1, len(regrets) + 2)
    return sum(ada_normal_hedge(losses, regrets[birth - 1 :]) / birth**2 for birth in births)


def ada_normal_hedge_tv_pruned(losses, regrets):
    """The copy born in round o 2^k, o odd, lives up to round o 2^k + 4·2^k."""
    now = len(regrets) + 1
    births = [birth for birth in range(1, now + 1) if now <= birth + 4 * (birth & -birth)]
    return sum(ada_normal_hedge(losses, regrets[birth - 1 :]) / birth**2 for birth in births)


def squint(losses, regrets):
    """Koolen and van Erven 2015 with the improper prior."""
    pairs = zip(regrets.sum(axis=0), (regrets**2).sum(axis=0), strict=True)
    return np.array([quad(lambda eta, r=r, v=v: np.exp(eta * r - eta**2 * v), 0.0, 0.5)[0] for r, v in pairs])


def adapt_ml_prod(losses, regrets):
    """Gaillard, Stoltz and van Erven 2014, Corollary 4."""

    def rate(squares):
        return np.minimum(0.5, np.sqrt(np.log(losses.shape[1]) / (1 + squares)))

    weights, squares = np.full(losses.shape[1], 1 / losses.shape[1]), np.zeros(losses.shape[1])
    for r in regrets:
        before, squares = rate(squares), squares + r**2
        weights = (weights * (1 + before * r)) ** (rate(squares) / before)
    return rate(squares) * weights


def boa(losses, regrets):
    """Wintenberger 2017 as in opera 1.2.2."""
    squares, gain = np.zeros(losses.shape[1]), np.zeros(losses.shape[1])
    for r in regrets:
        squares = squares + 2.2 * r**2
        gain = gain + r - r**2 / np.sqrt(squares)
    return np.exp(gain / np.sqrt(squares)) / np.sqrt(squares) if len(regrets) else np.ones_like(gain)


def ml_poly(losses, regrets):
    """Gaillard, Stoltz and van Erven 2014 as in opera: 1/η = Σ r² + max r²."""
    total = np.maximum(regrets.sum(axis=0), 0)
    if not total.any():
        return np.ones(losses.shape[1])
    return total / ((regrets**2).sum(axis=0) + (regrets**2).max())


def fixed_share(losses, regrets):
    """Herbster and Warmuth 1998 with falling rates: the posterior is tempered when the rate falls."""
    n_experts = losses.shape[1]
    weights = np.full(n_experts, 1 / n_experts)
    for t, loss in enumerate(losses, 1):
        now, then = (np.sqrt(8 * np.log(n_experts * (s + 1)) / s) for s in (t, t + 1))
        posterior = (weights * np.exp(-now * loss)) ** (then / now)
        weights = (1 - 1 / (t + 2)) * posterior / posterior.sum() + 1 / (t + 2) / n_experts
    return weights


DEFINITIONS = {
    "Hedge": (Hedge, hedge),
    "Hedge 1": (lambda: Hedge(variant=1), hedge_1),
    "Hedge 2": (lambda: Hedge(variant=2), hedge_2),
    "Prod": (Prod, prod),
    "AdaNormalHedge": (AdaNormalHedge, ada_normal_hedge),
    "AdaNormalHedgeTV, all": (lambda: AdaNormalHedgeTV("all"), ada_normal_hedge_tv),
    "AdaNormalHedgeTV": (AdaNormalHedgeTV, ada_normal_hedge_tv_pruned),
    "Squint": (Squint, squint),
    "AdaptMLProd": (AdaptMLProd, adapt_ml_prod),
    "BOA": (BOA, boa),
    "MLPoly": (MLPoly, ml_poly),
    "FixedShare": (FixedShare, fixed_share),
}


@pytest.mark.parametrize("make_losses", [random_losses, drifting_losses])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_weights_are_those_of_the_definition(name, make_losses):
    make, definition = DEFINITIONS[name]
    losses = make_losses(60, 4) * 0.9 + 0.05
    played = make().run(losses)
    regrets = (played * losses).sum(axis=1, keepdims=True) - losses
    for t in range(len(losses)):
        expected = definition(losses[:t], regrets[:t])
        np.testing.assert_allclose(played[t], expected / expected.sum(), rtol=1e-9, atol=1e-12)


def test_prod_does_not_lose_an_expert_to_underflow():
    """After 3,000 losses the weight is at its lower limit, so the expert needs 1,650 rounds to return, not 5,100."""
    algorithm = Prod(rate=0.5)
    algorithm.run(np.tile([0.0, 1.0], (3_000, 1)))
    algorithm.run(np.tile([1.0, 0.0], (2_000, 1)))
    assert algorithm.weights()[1] > 0.9
