"""Table of the expert algorithms that common tests run over, and short loss sequences with fixed seeds."""

import copy
import pickle

import numpy as np
import pytest

from ltm_sklearn.experts import (
    BOA,
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    BestOfBothWorlds,
    ConfidenceRated,
    ExpertAlgorithm,
    FixedShare,
    Hedge,
    LongTermMemory,
    MixingPastPosteriors,
    MLPoly,
    Prod,
    ShareTheta,
    SimpleReduction,
    Squint,
)

#: Tests over the whole table use this many experts, because some entries have a rate for each of them.
K = 4
#: Tests over the whole table play at most this many rounds, because some entries know their horizon.
HORIZON = 200

RATE_PER_EXPERT = {
    "hedge-2-rates": lambda: Hedge(rate=[0.2, 0.1, 0.05, 0.15], variant=2),
    "prod-rates": lambda: Prod(rate=np.array([0.5, 0.25, 0.1, 0.3])),
}

STATIC = {
    "hedge-0": lambda: Hedge(),
    "hedge-0-rate": lambda: Hedge(rate=1.5),
    "hedge-0-horizon": lambda: Hedge(horizon=HORIZON),
    "hedge-1": lambda: Hedge(variant=1),
    "hedge-1-rate": lambda: Hedge(rate=0.15, variant=1),
    "hedge-1-horizon": lambda: Hedge(variant=1, horizon=HORIZON),
    "hedge-2": lambda: Hedge(variant=2),
    "hedge-2-rate": lambda: Hedge(rate=0.2, variant=2),
    "hedge-2-horizon": lambda: Hedge(variant=2, horizon=HORIZON),
    "prod": lambda: Prod(),
    "prod-rate": lambda: Prod(rate=0.5),
    "prod-horizon": lambda: Prod(horizon=HORIZON),
    "adapt-ml-prod": lambda: AdaptMLProd(),
    "ada-normal-hedge": lambda: AdaNormalHedge(),
    "squint": lambda: Squint(),
    "boa": lambda: BOA(),
    "ml-poly": lambda: MLPoly(),
}

SWITCHING = {
    "tv-all": lambda: AdaNormalHedgeTV("all"),
    "tv-pruned": lambda: AdaNormalHedgeTV("pruned"),
    "fixed-share": lambda: FixedShare(),
    "fixed-share-rates": lambda: FixedShare(rate=1.0, switching=0.02),
    "fixed-share-horizon": lambda: FixedShare(horizon=HORIZON),
    "fixed-share-second-order": lambda: FixedShare(rule="second_order"),
    "fixed-share-second-order-rates": lambda: FixedShare(rate=0.2, switching=0.01, rule="second_order"),
    "fixed-share-prod": lambda: FixedShare(rule="prod"),
    "fixed-share-prod-rates": lambda: FixedShare(rate=0.5, switching=0.01, rule="prod"),
    "share-theta": lambda: ShareTheta(),
    "share-theta-rates": lambda: ShareTheta(rate=1.0, switching=0.05, memory=0.01),
    "share-theta-horizon": lambda: ShareTheta(horizon=HORIZON),
    "past-uniform": lambda: MixingPastPosteriors(),
    "past-uniform-rates": lambda: MixingPastPosteriors(rate=1.0, switching=0.05),
    "past-uniform-horizon": lambda: MixingPastPosteriors(horizon=HORIZON),
    "past-decaying": lambda: MixingPastPosteriors(past="decaying"),
    "past-decaying-rates": lambda: MixingPastPosteriors(rate=1.0, switching=0.05, past="decaying"),
    "past-doubling": lambda: MixingPastPosteriors(doubling=True),
    "past-doubling-horizon": lambda: MixingPastPosteriors(doubling=True, n_segments=3, n_distinct=2, horizon=HORIZON),
}

REDUCTIONS = {
    "confidence": lambda: ConfidenceRated(),
    "confidence-hedge-1": lambda: ConfidenceRated(Hedge(rate=0.2, variant=1)),
    "confidence-fixed-share-prod": lambda: ConfidenceRated(FixedShare(rate=0.3, rule="prod")),
    "simple": lambda: SimpleReduction(),
    "simple-rate": lambda: SimpleReduction(rate=0.05),
    "simple-horizon": lambda: SimpleReduction(n_segments=4, n_distinct=2, horizon=HORIZON),
    "simple-no-bias": lambda: SimpleReduction(bias=0.0),
    "simple-squint-tv": lambda: SimpleReduction(Squint(), AdaNormalHedgeTV(), rate=0.1),
    "simple-poly-share-theta": lambda: SimpleReduction(MLPoly(), ShareTheta(), bias=1.0),
    "best-paper": lambda: BestOfBothWorlds(),
    "best-paper-horizon": lambda: BestOfBothWorlds(horizon=HORIZON),
    "best-tight": lambda: BestOfBothWorlds(constants="tight"),
    "best-tight-horizon": lambda: BestOfBothWorlds(constants="tight", horizon=HORIZON),
    "best-normal-hedge-past-horizon": lambda: BestOfBothWorlds(
        AdaNormalHedge(), MixingPastPosteriors(), horizon=HORIZON
    ),
    "best-tight-hedge-fixed-share": lambda: BestOfBothWorlds(Hedge(variant=2), FixedShare(), constants="tight"),
}
DEFAULT = {
    "long-term-memory": lambda: LongTermMemory(),
    "long-term-memory-horizon": lambda: LongTermMemory(horizon=HORIZON),
}

ALGORITHMS = RATE_PER_EXPERT | STATIC | SWITCHING | REDUCTIONS | DEFAULT

#: Entries that run over any number of experts.
ANY_SIZE = {name: make for name, make in ALGORITHMS.items() if name not in RATE_PER_EXPERT}

#: Entries that know the number of rounds.
WITH_HORIZON = {name: make for name, make in ALGORITHMS.items() if name.endswith("horizon")}

#: Entries whose rule uses regrets only and whose rates do not depend on the number of experts.
REGRET_BASED = {
    name: ALGORITHMS[name]
    for name in (
        "hedge-0-rate",
        "hedge-2-rate",
        "hedge-2-rates",
        "prod-rate",
        "prod-rates",
        "ada-normal-hedge",
        "squint",
        "boa",
        "ml-poly",
        "tv-all",
        "tv-pruned",
        "confidence",
        "confidence-hedge-1",
        "best-paper",
        "best-tight",
        "best-tight-horizon",
    )
}


def for_each(table):
    """Parametrize a test over a table of named values, passed as ``make``."""
    return pytest.mark.parametrize("make", table.values(), ids=table.keys())


def random_losses(n_rounds, n_experts, seed=0):
    return np.random.default_rng(seed).random((n_rounds, n_experts))


def drifting_losses(n_rounds, n_experts, seed=1):
    """Return 0/1 losses whose good expert changes four times and returns."""
    good = (np.arange(n_rounds) * 5 // n_rounds) % min(n_experts, 3)
    chance = np.where(np.arange(n_experts) == good[:, np.newaxis], 0.2, 0.7)
    return (np.random.default_rng(seed).random((n_rounds, n_experts)) < chance).astype(float)


def tied_losses(n_rounds, n_experts, seed=2):
    """Return losses of three values, so that experts are often equal; the last expert is a copy of the first."""
    losses = np.random.default_rng(seed).integers(0, 3, (n_rounds, n_experts)) / 2.0
    losses[:, -1] = losses[:, 0]
    return losses


def constant_losses(n_rounds, n_experts, value=0.3):
    return np.full((n_rounds, n_experts), value)


def sparse_losses(n_rounds, n_experts, seed=3):
    """Return losses that are nearly all zero."""
    return (np.random.default_rng(seed).random((n_rounds, n_experts)) < 0.05).astype(float)


LOSSES = {
    "random": random_losses,
    "drifting": drifting_losses,
    "ties": tied_losses,
    "constant": constant_losses,
    "sparse": sparse_losses,
}


def sleepy_losses(n_rounds, n_experts, seed=4):
    """Return random losses, NaN where the expert sleeps; in one round all sleep."""
    rng = np.random.default_rng(seed)
    losses = rng.random((n_rounds, n_experts))
    losses[rng.random(losses.shape) < 0.4] = np.nan
    losses[n_rounds // 2] = np.nan
    return losses


def boolean_awake(n_rounds, n_experts, seed=5):
    awake = np.random.default_rng(seed).random((n_rounds, n_experts)) < 0.6
    awake[n_rounds // 3] = False
    return awake


def fractional_awake(n_rounds, n_experts, seed=6):
    rng = np.random.default_rng(seed)
    awake = rng.random((n_rounds, n_experts))
    awake[rng.random(awake.shape) < 0.2] = 0.0
    awake[rng.random(awake.shape) < 0.2] = 1.0
    awake[n_rounds // 3] = 0.0
    return awake


def play(algorithm, losses, awake=None):
    """Play round by round with ``weights`` and ``update``; return the weights, which ``run`` must equal."""
    losses = np.asarray(losses, dtype=float)
    played = np.empty_like(losses)
    for t, loss in enumerate(losses):
        own = np.ones(len(loss)) if awake is None else np.asarray(awake[t], dtype=float)
        played[t] = algorithm.weights(len(loss), awake=np.where(np.isnan(loss), 0.0, own))
        algorithm.update(loss, None if awake is None else awake[t])
    return played


def assert_distribution(weights):
    weights = np.asarray(weights)
    assert np.isfinite(weights).all()
    assert (weights >= 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=0, atol=1e-12)


def snapshot(algorithm):
    """Return a copy of an algorithm's complete state, as a pickle would hold it."""
    return copy.deepcopy(algorithm.__getstate__())


def same(left, right):
    """Return whether two states are equal to the last bit, NaN being equal to NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, np.ndarray | np.generic):
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    if isinstance(left, ExpertAlgorithm):
        return same(left.__getstate__(), right.__getstate__())
    if isinstance(left, int | float | str | None):
        return left == right or (left != left and right != right)
    return pickle.dumps(left) == pickle.dumps(right)
