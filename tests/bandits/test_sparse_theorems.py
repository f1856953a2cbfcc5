"""Lemmas and theorem of Algorithm 3 and of the sparse hybrid, with the constants that the theory page derives.

Statements about every path are tested on paths. Expectations over one round are computed by enumeration. Only the
regret is a mean over seeds.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_sklearn.bandits import SparseHybrid, SparseLongTermMemory
from ltm_sklearn.bandits._sparse import next_confidence, with_leader_weights

ROUNDING = 1e-9


# The confidence lemma -----------------------------------------------------------------------------------------------


def confidences(regret, rate, floor):
    """Return z_1 … z_T for these r."""
    z = np.ones(1)
    path = []
    for r in regret:
        path.append(z[0])
        z = next_confidence(z, np.array([r]), rate, floor)
    return np.array(path)


def divergence(u, z, rate):
    """D_φ(u, z) = (u/z - 1 - ln(u/z))/η."""
    return (u / z - 1 - np.log(u / z)) / rate


def excess_of_confidence(regret, rate, floor, comparator):
    """Return by how much -Σ z r + Σ u r exceeds η Σ z r² plus the cost of moving, exact and as in the paper."""
    z = confidences(regret, rate, floor)
    starts = np.flatnonzero(np.append(True, np.diff(comparator) != 0))
    moving = divergence(comparator[starts], z[starts], rate).sum()
    left = (comparator - z) @ regret - rate * z @ regret**2
    size = 1 + np.abs(regret).sum() + rate * (z * regret**2).sum() + moving
    assert moving <= len(starts) / (rate * floor) + ROUNDING * size  # half of the cost in the paper
    return (left - moving) / size, (left - 2 * len(starts) / (rate * floor)) / size


def worst_comparator(regret, cuts, floor):
    """Return the best constant of [δ, 1] between any two cuts."""
    pieces = np.split(np.arange(len(regret)), sorted({cut % len(regret) for cut in cuts}))
    comparator = np.empty(len(regret))
    for piece in pieces:
        comparator[piece] = 1.0 if regret[piece].sum() > 0 else floor
    return comparator


sizes = st.sampled_from([1e-100, 1e-8, 1e-2, 1.0, 30.0, 1e4, 1e60])
numbers = st.builds(lambda sign, size: sign * size, st.floats(-1, 1), sizes)


@settings(max_examples=300, deadline=None)
@given(
    regret=st.lists(numbers, min_size=1, max_size=40),
    repeat=st.sampled_from([1, 7]),
    rate=st.sampled_from([0.002, 0.1, 1.0]),
    floor=st.sampled_from([0.01, 0.3, 1.0]),
    cuts=st.lists(st.integers(0, 300), max_size=6),
    levels=st.lists(st.floats(0, 1), min_size=7, max_size=7),
)
def test_confidence_lemma_on_any_real_sequence(regret, repeat, rate, floor, cuts, levels):
    regret = np.repeat(regret, repeat)
    worst = worst_comparator(regret, cuts, floor)
    segment = np.cumsum(np.append(0, np.diff(worst) != 0))
    free = floor + (1 - floor) * np.array(levels)[segment % 7]
    for comparator in (worst, free):
        assert max(excess_of_confidence(regret, rate, floor, comparator)) <= ROUNDING
    z = confidences(regret, rate, floor)
    assert z.min() >= floor
    assert z.max() <= 1.0


@pytest.mark.parametrize("floor", [0.02, 0.2])
@pytest.mark.parametrize("length", [50, 500, 5_000])
def test_confidence_lemma_for_long_bad_and_good_segments(length, floor):
    regret = np.repeat([-1.0, 1.0, -1.0, 1.0], length)
    comparator = np.repeat([floor, 1.0, floor, 1.0], length)
    assert max(excess_of_confidence(regret, 0.1, floor, comparator)) <= ROUNDING


RATE, FLOOR = 0.1, 0.2  # z = 1 up to L = 10, then 1/(ηL) up to L = 50, then δ
PLACES = {"one": (-300.0, 0.0, 4.0, 10.0), "between": (10.001, 20.0, 49.999), "floor": (50.0, 51.0, 4_000.0)}
NINE_CASES = {
    "A": ("one", "one"), "B": ("one", "between"), "C": ("one", "floor"),
    "D": ("between", "one"), "E": ("between", "between"), "F": ("between", "floor"),
    "G": ("floor", "one"), "H": ("floor", "between"), "I": ("floor", "floor"),
}  # fmt: skip


def minimiser(slope):
    """Return argmin L z + φ(z) over [δ, 1], as one step from z = 1, where φ has slope -1/η."""
    return float(next_confidence(np.ones(1), np.array([1 / RATE - slope]), RATE, FLOOR)[0])


@pytest.mark.parametrize("case", NINE_CASES)
def test_one_step_of_confidence_in_all_nine_cases(case):
    """ξ (z1 - z2) <= η z1 ξ²."""
    before, after = NINE_CASES[case]
    expected = {"one": lambda L: 1.0, "between": lambda L: 1 / (RATE * L), "floor": lambda L: FLOOR}
    for first in PLACES[before]:
        for second in PLACES[after]:
            z1, z2, xi = minimiser(first), minimiser(second), second - first
            assert z1 == pytest.approx(expected[before](first), rel=1e-12)
            assert z2 == pytest.approx(expected[after](second), rel=1e-12)
            assert xi * (z1 - z2) <= RATE * z1 * xi**2 + ROUNDING
            # as in the algorithm, a step from z1
            z3 = float(next_confidence(np.array([z1]), np.array([-xi]), RATE, FLOOR)[0])
            grid = np.linspace(FLOOR, 1.0, 2_001)
            value = xi * grid + divergence(grid, z1, RATE)
            assert abs(z3 - grid[value.argmin()]) <= 1e-3
            assert xi * (z1 - z3) <= RATE * z1 * xi**2 + ROUNDING


# The master ---------------------------------------------------------------------------------------------------------


def hessian(weights, constants):
    """∇²ψ = 1/(ηw) + γ/w², which is diagonal."""
    return 1 / (constants.rate * weights) + constants.barrier / weights**2


def regulariser(weights, constants):
    return weights @ np.log(weights) / constants.rate - constants.barrier * np.log(weights).sum()


def learn_arm(bandit, arm, loss):
    """Learn the loss of an arm; return the weights before and after, the losses of the master and the constants."""
    before = bandit.state_
    constants = bandit._constants(bandit.n_arms_, before["rounds"])
    bandit.update(arm, loss, probability=bandit.probabilities[arm])
    return before["weights"], bandit.state_["weights"], bandit.state_["losses"] - before["losses"], constants


def started(bandit, n_arms):
    bandit.draw(n_arms)
    return bandit


def with_state(bandit, losses, confidence):
    """Return the bandit in a reachable state."""
    state = {**bandit.state_, "losses": losses, "confidence": confidence}
    bandit.state_ = with_leader_weights(state, bandit._constants(len(losses), state["rounds"]))
    return bandit


def some_states(n_arms, n_states, seed=0):
    rng = np.random.default_rng(seed)
    for spread in np.logspace(0, 9, n_states):
        bandit = started(SparseLongTermMemory(horizon=10**6, n_segments=10, random_state=0), n_arms)
        floor = bandit._constants(n_arms, 0).floor
        confidence = np.where(rng.random(n_arms) < 0.5, floor, rng.uniform(floor, 1.0, n_arms))
        yield with_state(bandit, rng.normal(size=n_arms) * spread, confidence)


@pytest.mark.parametrize("n_arms", [1, 2, 5, 30])
def test_the_master_is_stable_for_every_draw(n_arms):
    """No weight changes by more than 1/(2 sqrt γ) of itself, and ‖c‖² <= 1/25 in the norm of ∇^-2 ψ(w)."""
    barrier = 200 * n_arms**2
    most, largest = 0.0, 0.0
    for bandit in some_states(n_arms, 16):
        here = bandit.state_
        chances = bandit.probabilities
        explored = np.abs(chances - 2 / 500 / n_arms)  # largest bias: half of the probability is exploration
        for arm in {0, n_arms - 1, int(chances.argmin()), int(chances.argmax()), int(explored.argmin())}:
            for loss in (-1.0, 1.0, 0.3):
                bandit.state_ = here
                before, after, c, constants = learn_arm(bandit, arm, loss)
                most = max(most, np.abs(after / before - 1).max())
                largest = max(largest, (c**2 / hessian(before, constants)).sum())
    assert most <= 1 / (2 * np.sqrt(barrier))
    assert largest <= 1 / 25
    assert n_arms == 1 or largest >= 2e-4  # the bound is not far from what a draw can reach


@pytest.mark.parametrize("n_arms", [2, 5])
@pytest.mark.parametrize("sparsity", [1, 2])
def test_second_moment_of_the_losses_of_the_master(n_arms, sparsity):
    """E ‖c‖² <= 2η/(1-η)² (1 + ρ + Kρ/γ), and E w·c >= -ηρ/(1-η), both by enumeration of the draw."""
    rng = np.random.default_rng(3)
    for bandit in some_states(n_arms, 10, seed=1):
        here, chances = bandit.state_, bandit.probabilities
        losses = np.zeros(n_arms)
        losses[rng.choice(n_arms, sparsity, replace=False)] = rng.choice([-1.0, 1.0], sparsity)
        second, mean = 0.0, 0.0
        for arm in range(n_arms):
            bandit.state_ = here
            before, _, c, constants = learn_arm(bandit, arm, losses[arm])
            second += chances[arm] * (c**2 / hessian(before, constants)).sum()
            mean += chances[arm] * (before @ c)
        eta = constants.rate
        assert second <= 2 * eta / (1 - eta) ** 2 * (1 + sparsity + n_arms * sparsity / constants.barrier)
        assert -eta * sparsity / (1 - eta) - 1e-12 <= mean <= 1e-12


PATHS = {
    "paper": lambda: SparseLongTermMemory(random_state=1),
    "hybrid": lambda: SparseHybrid(random_state=1),
    "hybrid(horizon)": lambda: SparseHybrid(horizon=1_500, sparsity=2, random_state=1),
}


@pytest.mark.parametrize("name", PATHS)
def test_regret_of_the_master_on_every_path(name):
    """Σ c·(w_t - u) <= ψ(u) - ψ(w_1) + (1 + 1/(2 sqrt γ))²/2 Σ ‖c_t‖² for any distribution u.

    If rates fall, ψ is that of the last round, with the entropy relative to that of w_1.
    """
    bandit, n_arms = started(PATHS[name](), 4), 4
    rng = np.random.default_rng(2)
    played, seen, second = 0.0, np.zeros(n_arms), 0.0
    for t in range(1_500):
        arm = bandit.draw()
        loss = -float(arm == t // 300 % 2) if rng.random() < 0.8 else float(rng.choice([-1, 1]))
        rate = bandit._constants(n_arms, max(t - 1, 0)).rate  # of the round that computed these weights
        before, _, c, constants = learn_arm(bandit, arm, loss)
        stretch = (1 + 1 / (2 * np.sqrt(constants.barrier))) ** 2 / 2
        second += stretch * (c**2 / hessian(before, constants._replace(rate=rate))).sum()
        played += before @ c
        seen += c
    even = np.full(n_arms, 1 / n_arms)
    comparators = [bandit.state_["weights"], even]
    comparators += [(1 - part) * np.eye(n_arms)[i] + part * even for i in range(n_arms) for part in (0.5, 0.1, 1e-3)]
    for u in comparators:
        cost = regulariser(u, constants) - regulariser(even, constants)
        assert played - u @ seen <= cost + second + ROUNDING


# The theorem --------------------------------------------------------------------------------------------------------


def master_bound(n_rounds, n_arms, sparsity, eta, gamma):
    """Bound of E Σ w·c - c(i)."""
    second = (1 + 1 / (2 * np.sqrt(gamma))) ** 2 * eta / (1 - eta) ** 2
    second *= 1 + sparsity + n_arms * sparsity / gamma
    return np.log(n_arms) / eta + gamma * (n_arms - 1) * np.log(n_rounds) + n_arms + 4 + second * n_rounds


def theorem_bound(n_rounds, n_arms, segments, distinct, sparsity, eta, gamma, delta):
    """Bound of the mean regret of Algorithm 3."""
    T, K, S, n, rho = n_rounds, n_arms, segments, distinct, sparsity
    unlearned = 2 * delta * (n - 1) * T
    moving = (S * (1 / delta - 1 - np.log(1 / delta)) + (S + n) * (np.log(1 / delta) - 1 + delta)) / eta
    each = eta * rho * T / (1 - eta) + eta * T / (1 - eta) ** 2 + master_bound(T, K, rho, eta, gamma)
    return unlearned + moving + n * each + eta * (1 + rho / K) * T


def returning(n_rounds, n_arms, segments, sparsity, seed=0):
    """Two arms alternate with loss -1; with sparsity 2 the other one has loss 1."""
    good = np.repeat(np.arange(segments) % 2, -(-n_rounds // segments))[:n_rounds]
    losses = np.zeros((n_rounds, n_arms))
    losses[np.arange(n_rounds), good] = -1.0
    if sparsity == 2:
        losses[np.arange(n_rounds), 1 - good] = 1.0
    return losses, good


def regrets(losses, good, arms):
    rounds = np.arange(len(losses))
    return np.array([losses[rounds, played].sum() for played in arms]) - losses[rounds, good].sum()


@pytest.mark.parametrize(
    ("n_rounds", "n_arms", "segments", "sparsity"),
    [
        (400_000, 2, 6, 2),
        pytest.param(400_000, 2, 6, 1, marks=pytest.mark.exhaustive),
        pytest.param(1_000_000, 3, 4, 2, marks=pytest.mark.exhaustive),
    ],
)
def test_mean_regret_is_below_the_bound_of_the_theorem(n_rounds, n_arms, segments, sparsity):
    losses, good = returning(n_rounds, n_arms, segments, sparsity)
    bandit = SparseLongTermMemory(
        horizon=n_rounds, n_segments=segments, n_distinct=2, sparsity=sparsity, constants="paper", random_state=0
    )
    constants = bandit._constants(n_arms, 0)
    assert constants.rate == constants.bias == constants.exploration == 1 / 500
    bound = theorem_bound(n_rounds, n_arms, segments, 2, sparsity, *constants[:3])
    measured = regrets(losses, good, bandit.run(losses, n_seeds=20))
    assert measured.mean() + 3 * measured.std() <= bound
    drawn_evenly = losses.mean(axis=1).sum() - losses[np.arange(n_rounds), good].sum()
    assert bound < 0.7 * drawn_evenly  # the bound is not trivial
    without_memory = SparseLongTermMemory(
        constants="free", rate=constants.rate, barrier=constants.barrier, floor=1.0, random_state=0
    )
    assert regrets(losses, good, without_memory.run(losses)).mean() > bound


def test_mean_regret_of_the_master_is_below_its_bound():
    """E Σ -c(i) <= ηρT/(1-η) plus the bound of the lemma, since E Σ w·c >= -ηρT/(1-η)."""
    n_rounds, n_arms = 400_000, 2
    losses, _ = returning(n_rounds, n_arms, 6, 1)
    totals = []
    for seed in range(6):
        bandit = SparseLongTermMemory(horizon=n_rounds, n_segments=6, random_state=seed)
        bandit.run(losses)
        totals.append(-bandit.state_["losses"])
    eta, gamma = 1 / 500, 200 * n_arms**2
    bound = eta * n_rounds / (1 - eta) + master_bound(n_rounds, n_arms, 1, eta, gamma)
    assert np.mean(totals, axis=0).max() <= bound


@pytest.mark.parametrize("horizon", [20_000, None])
@pytest.mark.parametrize("sparsity", [1, 3])
def test_mean_regret_of_the_hybrid_is_below_its_bound(horizon, sparsity):
    """1.605 sqrt(Tρ ln K) + 25 (K - 1) ln T + 2, without a horizon with 2.21."""
    n_rounds, n_arms = 20_000, 6
    rng = np.random.default_rng(0)
    chance = rng.random((n_rounds, n_arms)).argsort(axis=1) < sparsity  # which arms have a loss other than 0
    losses = chance * np.where(rng.random((n_rounds, n_arms)) < 0.3, -1.0, 1.0)
    losses[:, 2] = -1.0 * chance[:, 2]
    best = np.full(n_rounds, losses.sum(axis=0).argmin())
    bandit = SparseHybrid(horizon=horizon, sparsity=sparsity, random_state=0)
    measured = regrets(losses, best, bandit.run(losses, n_seeds=20))
    factor = 1.605 if horizon else 2.21
    bound = factor * np.sqrt(n_rounds * sparsity * np.log(n_arms)) + 25 * (n_arms - 1) * np.log(n_rounds) + 2
    assert measured.mean() + 3 * measured.std() <= bound


def test_the_hybrid_is_stable():
    """With γ = 25 no weight changes by more than a tenth, and ‖ℓ̂‖² <= 1/25, at any rate, without exploration."""
    for rate in (1e-3, 0.1, 10.0):
        bandit = started(SparseHybrid(rate=rate, random_state=0), 5)
        here, rng = bandit.state_, np.random.default_rng(0)
        for spread in (0.0, 10.0, 1e5):
            bandit.state_ = here
            with_state(bandit, rng.normal(size=5) * spread / rate, np.ones(5))
            before_all = bandit.state_
            for arm in range(5):
                for loss in (-1.0, 1.0):
                    bandit.state_ = before_all
                    before, after, c, constants = learn_arm(bandit, arm, loss)
                    estimates = c - np.delete(c, arm)[0]  # equal for all arms that were not drawn
                    assert np.abs(after / before - 1).max() <= 0.1
                    assert (estimates**2 / hessian(before, constants)).sum() <= 1 / 25 + 1e-12


# Returning arms -----------------------------------------------------------------------------------------------------


def test_memory_reduces_regret_if_arms_return():
    losses, good = returning(30_000, 10, 12, 1)
    bandit = SparseLongTermMemory(horizon=30_000, n_segments=12, constants="free", random_state=0)
    with_memory = regrets(losses, good, bandit.run(losses, n_seeds=5)).mean()
    without = min(
        regrets(losses, good, SparseHybrid(rate=rate, barrier=barrier, random_state=0).run(losses, n_seeds=5)).mean()
        for rate in (0.003, 0.03, 0.3)
        for barrier in (0.1, 1.0, 10.0)
    )
    assert with_memory < 0.6 * without
