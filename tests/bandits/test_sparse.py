"""SparseLongTermMemory and SparseHybrid: constants, estimates, added and dropped arms, compiled rounds."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest

from ltm_sklearn.bandits import SparseHybrid, SparseLongTermMemory, _sparse
from ltm_sklearn.bandits._hybrid_regularizer import hybrid_weights


def sparse_losses(n_rounds, n_arms, seed=0):
    """Losses with one good arm at a time, and occasional losses of others."""
    rng = np.random.default_rng(seed)
    losses = np.zeros((n_rounds, n_arms))
    good = np.arange(n_rounds) // 500 % min(2, n_arms)
    losses[np.arange(n_rounds), good] = -rng.random(n_rounds)
    losses[np.arange(n_rounds), rng.integers(n_arms, size=n_rounds)] = (rng.random(n_rounds) < 0.3).astype(float)
    return losses


# Constants ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("horizon", "segments", "distinct", "sparsity", "n_arms", "rate"),
    [
        (10**6, 10, 2, 1, 20, 1 / 500),
        (10**10, 2, 2, 1, 5, 2 ** (1 / 3) / (2e10) ** (1 / 3)),
        (10**9, 2, 2, 4, 5, 2 ** (1 / 3) * 4 ** (-2 / 3) / (2e9) ** (1 / 3)),
        (10**6, 1, 1, 20, 20, 20 ** (-2 / 3) / 100),
        (10**4, 1, 1, 400, 400, np.sqrt(np.log(400) / 4e6)),
        (10**6, 1, 9, 99, 20, 20 ** (-2 / 3) / 100),  # n and ρ are lowered to possible values
    ],
)
def test_constants_are_those_of_the_theorem(horizon, segments, distinct, sparsity, n_arms, rate):
    bandit = SparseLongTermMemory(horizon=horizon, n_segments=segments, n_distinct=distinct, sparsity=sparsity)
    constants = bandit._constants(n_arms, 0)
    assert constants.rate == pytest.approx(rate)
    assert constants.rate <= 1 / 500
    n = min(distinct, segments)
    assert constants.floor == pytest.approx(min(1.0, np.sqrt(segments / (horizon * constants.rate * n))))
    assert constants.barrier == 200 * n_arms**2
    assert constants.bias == constants.exploration == constants.rate


def test_a_million_rounds_are_assumed_without_a_horizon():
    known = SparseLongTermMemory(horizon=2**20, n_segments=102)
    assert SparseLongTermMemory()._constants(7, 0) == known._constants(7, 0)
    bandit = SparseLongTermMemory(random_state=0)
    assert bandit.run(np.zeros((3, 4))).shape == (1, 3)


def test_the_floor_is_one_for_too_many_switches():
    assert SparseLongTermMemory(horizon=1_000, n_segments=500)._constants(4, 0).floor == 1.0


def test_free_constants_are_used_as_given():
    bandit = SparseLongTermMemory(constants="free", rate=0.3, barrier=0.0, floor=0.5)
    assert bandit._constants(4, 0) == (0.3, 0.0, 0.5, 0.3, 0.3)
    assert SparseLongTermMemory(constants="free")._constants(4, 0).rate <= 0.1


def test_the_hybrid_follows_the_leader_on_estimated_losses():
    bandit, plain = SparseHybrid(rate=0.2, barrier=3.0, random_state=0), np.zeros(4)
    losses = sparse_losses(40, 4)
    for row in losses:
        arm = bandit.draw(4)
        plain[arm] += row[arm] / bandit.probabilities[arm]
        bandit.update(arm, row[arm])
        assert np.abs(bandit.probabilities - hybrid_weights(plain, 0.2, 3.0)[0]).max() <= 1e-12


def test_the_rate_of_the_hybrid_falls_without_a_horizon():
    assert SparseHybrid(sparsity=2)._constants(5, 8).rate == pytest.approx(np.sqrt(np.log(5) / (2 * 10)))
    assert SparseHybrid(sparsity=2, horizon=50)._constants(5, 8).rate == pytest.approx(np.sqrt(np.log(5) / 100))


# Estimates ----------------------------------------------------------------------------------------------------------


class Scripted:
    """Random numbers that give a certain draw."""

    def __init__(self, uniform, others):
        self.uniform, self.others = uniform, others

    def random(self):
        return self.uniform

    def choice(self, candidates, size, replace):
        assert set(self.others) <= set(candidates.tolist())
        assert not replace
        return np.array(self.others)


def all_draws(bandit, awake, n_queries):
    """Yield the probability of every possible draw, and draw it."""
    here, chances = bandit.state_, bandit.probabilities * awake
    chances = chances / chances.sum()
    edges = np.append(0.0, np.cumsum(chances))
    for first in np.flatnonzero(awake):
        groups = list(combinations([arm for arm in np.flatnonzero(awake) if arm != first], (n_queries or 1) - 1))
        for others in groups:
            bandit.state_ = here
            bandit.random_ = Scripted((edges[first] + edges[first + 1]) / 2, others)
            drawn = bandit.draw(awake=awake, n_queries=n_queries)
            yield chances[first] / len(groups), drawn
    bandit.state_ = here


@pytest.mark.parametrize("make", [lambda: SparseLongTermMemory(constants="free", random_state=0), SparseHybrid])
@pytest.mark.parametrize("n_queries", [None, 2, 3])
@pytest.mark.parametrize("asleep", [[], [1], [0, 3]])
def test_estimates_are_unbiased(make, n_queries, asleep):
    """Mean of c over all draws = -z (p·ℓ - ℓ) - η z ℓ²/(chance to be seen), with ℓ̂ = 0 for sleeping arms."""
    n_arms = 5
    bandit = make().set_params(random_state=0)
    bandit.run(sparse_losses(1_500, n_arms, seed=3))
    awake = ~np.isin(np.arange(n_arms), asleep)
    here, constants = bandit.state_, bandit._constants(n_arms, 1_500)
    losses = np.array([-1.0, 0.3, 0.0, 0.7, -0.2]) * awake
    mean, seen, estimate = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    for chance, drawn in all_draws(bandit, awake, n_queries):
        arms = np.atleast_1d(drawn)
        estimate[arms] += chance * losses[arms] / bandit.drawn_.chances
        seen[arms] += chance
        bandit.update(drawn, losses[drawn])
        mean += chance * (bandit.state_["losses"] - here["losses"])
    z = here["confidence"]
    p = z * here["weights"] / (z @ here["weights"])
    bias = np.divide(losses**2, seen, out=np.zeros(n_arms), where=awake)
    assert np.abs(estimate - losses).max() <= 1e-12
    assert np.abs(mean - (-z * (p @ losses - losses) - constants.bias * z * bias)).max() <= 1e-11
    assert isinstance(bandit, SparseHybrid) or z.min() < 0.9


# Added and dropped arms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SparseLongTermMemory, lambda **k: SparseHybrid(rate=0.1, barrier=2.0, **k)])
def test_a_new_arm_starts_as_if_it_had_slept(make):
    bandit = make(random_state=0)
    bandit.run(sparse_losses(2_000, 4))
    before = bandit.state_
    assert bandit.add_arm() == 4
    after = bandit.state_
    assert np.array_equal(after["losses"], np.append(before["losses"], 0.0))
    assert np.array_equal(after["confidence"], np.append(before["confidence"], 1.0))
    constants = bandit._constants(5, 2_000)
    expected = hybrid_weights(after["losses"], constants.rate, constants.barrier)[0]
    assert np.abs(after["weights"] - expected).max() <= 1e-12
    bandit.drop_arm(4)
    assert np.abs(bandit.state_["weights"] - before["weights"]).max() <= 1e-3
    bandit.drop_arm(0)
    assert np.array_equal(bandit.state_["losses"], before["losses"][1:])
    assert abs(bandit.probabilities.sum() - 1) <= 1e-12
    bandit.run(sparse_losses(10, 3))


# Wrong input --------------------------------------------------------------------------------------------------------


free = partial(SparseLongTermMemory, constants="free")
BAD_PARAMETERS = [
    *[(make, "horizon", bad) for make in (free, SparseHybrid) for bad in (0, -5, 10.0)],
    *[(make, "sparsity", bad) for make in (free, SparseHybrid) for bad in (0, True)],
    *[(make, "rate", bad) for make in (free, SparseHybrid) for bad in (0.0, np.nan, np.inf)],
    *[(make, "barrier", bad) for make in (free, SparseHybrid) for bad in (-1.0, np.inf)],
    *[(free, "n_segments", bad) for bad in (0, 2.5)],
    *[(free, "n_distinct", bad) for bad in (0, None)],
    *[(free, "floor", bad) for bad in (0.0, "low")],
    (free, "rate", 1.5),
    (free, "constants", "loose"),
    (SparseHybrid, "barrier", None),
]


@pytest.mark.parametrize(("make", "name", "value"), BAD_PARAMETERS)
def test_invalid_parameters_are_refused(make, name, value):
    bandit = make(**{name: value})
    for call in (lambda: bandit.draw(3), lambda: bandit.run(np.zeros((2, 3)))):
        with pytest.raises(ValueError, match=f"{name}={value!r}"):
            call()
        assert not hasattr(bandit, "state_")


@pytest.mark.parametrize("name", ["rate", "barrier", "floor"])
def test_constants_of_the_paper_cannot_be_set(name):
    with pytest.raises(ValueError, match=f"{name}=0.1 needs constants='free'"):
        SparseLongTermMemory(**{name: 0.1}).draw(3)


@pytest.mark.parametrize("make", [SparseLongTermMemory, SparseHybrid])
def test_rounds_beyond_the_horizon_are_refused(make):
    bandit = make(horizon=5, random_state=0)
    with pytest.raises(ValueError, match="horizon of 5 rounds"):
        bandit.run(np.zeros((6, 3)))
    bandit.run(np.zeros((4, 3)))
    arm = bandit.draw()
    bandit.update(arm, 0.5)
    before, arm = bandit.state_, bandit.draw()
    with pytest.raises(ValueError, match="round 5 would exceed the horizon of 5 rounds"):
        bandit.update(arm, 0.5)
    with pytest.raises(ValueError, match="horizon of 5 rounds"):
        bandit.run(np.zeros((1, 3)))
    assert bandit.state_ is before
    assert bandit.n_rounds_ == 5


# Compiled rounds ----------------------------------------------------------------------------------------------------

COMPILED = {
    "paper": SparseLongTermMemory,
    "paper(horizon)": lambda **k: SparseLongTermMemory(horizon=10**6, n_segments=5, **k),
    "free": lambda **k: SparseLongTermMemory(constants="free", **k),
    "free(hot)": lambda **k: SparseLongTermMemory(constants="free", rate=0.5, barrier=0.1, floor=1e-3, **k),
    "free(no barrier)": lambda **k: SparseLongTermMemory(constants="free", rate=0.1, barrier=0.0, floor=0.1, **k),
    "free(hardly a barrier)": lambda **k: SparseLongTermMemory(constants="free", rate=0.1, barrier=1e-12, **k),
    "hybrid": SparseHybrid,
    "hybrid(horizon)": lambda **k: SparseHybrid(horizon=10**6, sparsity=3, **k),
    "hybrid(hot)": lambda **k: SparseHybrid(rate=3.0, barrier=0.5, **k),
}


each_compiled = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in {"paper", "free(hot)", "hybrid"} else pytest.mark.exhaustive)
        for name in COMPILED
    ],
)


@each_compiled
def test_compiled_weights_solve_the_leader_problem(name):
    """Errors of the kernel do not accumulate over many rounds."""
    bandit = COMPILED[name](random_state=1)
    bandit.run(sparse_losses(20_000, 8))
    constants = bandit._constants(8, 20_000 - 1)
    expected = hybrid_weights(bandit.state_["losses"], constants.rate, constants.barrier)[0]
    assert np.abs(bandit.state_["weights"] - expected).max() <= 1e-12
    assert bandit.n_rounds_ == 20_000


@each_compiled
def test_a_compiled_step_after_a_jump_of_the_losses(name, monkeypatch):
    """Each weight is right to ten digits, however small."""
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 30.0, 1e3, 1e5, 1e9):
        bandit = COMPILED[name](random_state=0)
        bandit.run(sparse_losses(20, 12))
        state = {**bandit.state_, "losses": rng.normal(size=12) * scale}
        losses, uniform = np.full((1, 12), 0.1), np.array([0.3])
        arms, fast = bandit._play_rounds(state, losses, uniform)
        with monkeypatch.context() as patched:
            patched.setattr(_sparse, "kernel", None)
            expected, slow = bandit._play_rounds(state, losses, uniform)
        assert np.array_equal(arms, expected)
        np.testing.assert_allclose(fast["weights"], slow["weights"], rtol=1e-10, atol=1e-300)


def test_a_run_does_not_change_the_arrays_of_its_first_state():
    bandit = SparseLongTermMemory(constants="free", random_state=0)
    bandit.run(sparse_losses(50, 3))
    before = bandit.state_
    copies = {name: np.copy(value) for name, value in before.items()}
    bandit.run(sparse_losses(50, 3), n_seeds=2)
    assert all(np.array_equal(before[name], value) for name, value in copies.items())
    assert not np.array_equal(bandit.state_["losses"], before["losses"])
