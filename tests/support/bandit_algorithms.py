"""Table of the bandit algorithms that common tests run over, and small tables of losses with fixed seeds."""

import numpy as np
import pytest

from ltm_sklearn.bandits import (
    DiscountedUCB,
    Exp3,
    Exp3IX,
    Exp3S,
    LongTermMemoryBandit,
    SlidingWindowUCB,
    SparseHybrid,
    SparseLongTermMemory,
)
from ltm_sklearn.bandits import _long_term_memory_bandit as default_module
from ltm_sklearn.bandits import _scaled as scaled_module
from ltm_sklearn.bandits import _sparse as sparse_module

#: Number of arms of tests over the whole table.
K = 4

#: Factories by name; these bandits have a ``loss_range``.
SCALED_BANDITS = {
    "exp3": lambda seed=0: Exp3(random_state=seed),
    "exp3-horizon": lambda seed=0: Exp3(horizon=2_000_000, loss_range=(-1.0, 1.0), random_state=seed),
    "exp3-rate": lambda seed=0: Exp3(0.01, 0.3, random_state=seed),
    "exp3s": lambda seed=0: Exp3S(random_state=seed),
    "exp3s-horizon": lambda seed=0: Exp3S(n_segments=3, horizon=2_000_000, random_state=seed),
    "exp3s-rate": lambda seed=0: Exp3S(0.003, 0.01, 1.0, random_state=seed),
    "exp3ix": lambda seed=0: Exp3IX(random_state=seed),
    "exp3ix-horizon": lambda seed=0: Exp3IX(horizon=2_000_000, random_state=seed),
    "exp3ix-rate": lambda seed=0: Exp3IX(0.02, 0.1, random_state=seed),
    "window-ucb": lambda seed=0: SlidingWindowUCB(random_state=seed),
    "window-ucb-10": lambda seed=0: SlidingWindowUCB(10, 0.6, random_state=seed),
    "discounted-ucb": lambda seed=0: DiscountedUCB(random_state=seed),
    "discounted-ucb-0.9": lambda seed=0: DiscountedUCB(0.9, 0.1, random_state=seed),
}

BANDITS = {
    **SCALED_BANDITS,
    "default": lambda seed=0: LongTermMemoryBandit(random_state=seed),
    "sparse": lambda seed=0: SparseLongTermMemory(random_state=seed),
    "sparse-free": lambda seed=0: SparseLongTermMemory(
        horizon=2_000_000, constants="free", rate=0.05, barrier=5.0, floor=0.05, random_state=seed
    ),
    "hybrid": lambda seed=0: SparseHybrid(random_state=seed),
    "hybrid-horizon": lambda seed=0: SparseHybrid(horizon=2_000_000, barrier=1.0, random_state=seed),
}

#: Bandits that draw uniformly among the best arms: all probabilities are 0 or equal.
DETERMINISTIC = {name for name in BANDITS if "ucb" in name}

#: One configuration of each rule: the others are tested with ``-m exhaustive``.
REPRESENTATIVES = {"exp3", "exp3s", "exp3ix-rate", "window-ucb", "discounted-ucb", "default", "sparse-free", "hybrid"}

#: Modules with compiled rounds.
MODULES_WITH_KERNEL = [default_module, scaled_module, sparse_module]

#: Number of rounds in which compiled and NumPy runs are compared. Importance weights magnify a rounding error by about
#: exp(rate · loss) per round: an arm whose loss is too large is drawn less often, and its estimates grow.
COMPARABLE_ROUNDS = {"exp3ix": 600, "exp3ix-horizon": 400, "exp3ix-rate": 200}


def each_bandit(table, argument="make"):
    """Parametrise a test over a table of bandits; all but the representatives are exhaustive."""

    def parameter(name):
        value = name if argument == "name" else table[name]
        return pytest.param(value, id=name, marks=() if name in REPRESENTATIVES else pytest.mark.exhaustive)

    return pytest.mark.parametrize(argument, [parameter(name) for name in table])


def without_kernel(monkeypatch):
    for module in MODULES_WITH_KERNEL:
        monkeypatch.setattr(module, "kernel", None)


def random_losses(n_rounds, n_arms=K, seed=0):
    """Losses in [-1, 1] with a good arm that changes halfway, ties, and both ends of the range."""
    rng = np.random.default_rng(seed)
    losses = rng.uniform(-1.0, 1.0, (n_rounds, n_arms))
    losses[: n_rounds // 2, 0] -= 0.5
    losses[n_rounds // 2 :, -1] -= 0.5
    return np.round(np.clip(losses, -1.0, 1.0), 1)


def assert_distribution(chances, n_arms):
    assert chances.shape == (n_arms,)
    assert np.isfinite(chances).all()
    assert (chances >= 0.0).all()
    assert abs(chances.sum() - 1.0) < 1e-9
