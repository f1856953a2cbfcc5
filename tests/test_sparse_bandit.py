"""SparseLongTermMemory and SparseHybrid as they stand: constants, estimates, pools that change, compiled rounds."""

from itertools import combinations

import numpy as np
import pytest

from ltm_sklearn.bandits import SparseHybrid, SparseLongTermMemory, _sparse
from ltm_sklearn.bandits._hybrid import hybrid_weights

pytestmark = pytest.mark.fast_cases(3)


def sparse_losses(n_rounds, n_arms, seed=0):
    """One arm at a time is good, most times; now and then another loses."""
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
        (10**6, 1, 9, 99, 20, 20 ** (-2 / 3) / 100),  # n and ρ cannot be as large as that
    ],
)
def test_the_theorems_constants(horizon, segments, distinct, sparsity, n_arms, rate):
    bandit = SparseLongTermMemory(horizon=horizon, n_segments=segments, n_distinct=distinct, sparsity=sparsity)
    constants = bandit._constants(n_arms, 0)
    assert constants.rate == pytest.approx(rate)
    assert constants.rate <= 1 / 500
    n = min(distinct, segments)
    assert constants.floor == pytest.approx(min(1.0, np.sqrt(segments / (horizon * constants.rate * n))))
    assert constants.barrier == 200 * n_arms**2
    assert constants.bias == constants.exploration == constants.rate


def test_without_arguments_a_million_rounds_are_assumed():
    known = SparseLongTermMemory(horizon=2**20, n_segments=102)
    assert SparseLongTermMemory()._constants(7, 0) == known._constants(7, 0)
    bandit = SparseLongTermMemory(random_state=0)
    assert bandit.run(np.zeros((3, 4))).shape == (1, 3)


def test_too_many_switches_for_the_theorem_leave_no_memory():
    assert SparseLongTermMemory(horizon=1_000, n_segments=500)._constants(4, 0).floor == 1.0


def test_free_constants_are_taken_as_given():
    bandit = SparseLongTermMemory(constants="free", rate=0.3, barrier=0.0, floor=0.5)
    assert bandit._constants(4, 0) == (0.3, 0.0, 0.5, 0.3, 0.3)
    assert SparseLongTermMemory(constants="free")._constants(4, 0).rate <= 0.1


def test_the_hybrid_is_the_leader_on_plain_estimates():
    bandit, plain = SparseHybrid(rate=0.2, barrier=3.0, random_state=0), np.zeros(4)
    losses = sparse_losses(40, 4)
    for row in losses:
        arm = bandit.draw(4)
        plain[arm] += row[arm] / bandit.probabilities[arm]
        bandit.update(arm, row[arm])
        assert np.abs(bandit.probabilities - hybrid_weights(plain, 0.2, 3.0)[0]).max() <= 1e-12


def test_the_hybrids_rate_falls_without_a_horizon():
    assert SparseHybrid(sparsity=2)._constants(5, 8).rate == pytest.approx(np.sqrt(np.log(5) / (2 * 10)))
    assert SparseHybrid(sparsity=2, horizon=50)._constants(5, 8).rate == pytest.approx(np.sqrt(np.log(5) / 100))


# Estimates ----------------------------------------------------------------------------------------------------------


class Scripted:
    """Random numbers that lead to a certain draw."""

    def __init__(self, uniform, others):
        self.uniform, self.others = uniform, others

    def random(self):
        return self.uniform

    def choice(self, candidates, size, replace):
        assert set(self.others) <= set(candidates.tolist())
        assert not replace
        return np.array(self.others)


def all_draws(bandit, awake, n_queries):
    """Every draw there can be, its chance, and the state of affairs after it."""
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
    """Σ over all draws of chance × c = -z (p·ℓ - ℓ) - η z ℓ²/(chance to be seen), arms asleep having ℓ̂ = 0."""
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


# Arms come and go ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SparseLongTermMemory, lambda **k: SparseHybrid(rate=0.1, barrier=2.0, **k)])
def test_a_newcomer_is_as_if_it_had_slept(make):
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


def test_a_newcomer_that_is_good_is_found():
    bandit = SparseLongTermMemory(constants="free", rate=0.1, barrier=1.0, floor=0.05, random_state=0)
    bandit.run(-0.3 * np.eye(4)[np.zeros(3_000, dtype=int)])
    bandit.add_arm()
    arms = bandit.run(-np.eye(5)[np.full(6_000, 4)])
    assert np.mean(arms[0, -1_000:] == 4) > 0.8


# Wrong input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"horizon": 0}, "horizon=0"),
        ({"horizon": 10.0}, "horizon=10.0"),
        ({"n_segments": 0}, "n_segments=0"),
        ({"n_segments": 2.5}, "n_segments=2.5"),
        ({"n_distinct": 0}, "n_distinct=0"),
        ({"n_distinct": None}, "n_distinct=None"),
        ({"sparsity": -1}, "sparsity=-1"),
        ({"sparsity": True}, "sparsity=True"),
        ({"constants": "loose"}, "constants='loose'"),
        ({"rate": 0.001}, "rate=0.001 needs constants='free'"),
        ({"barrier": 3.0}, "barrier=3.0 needs constants='free'"),
        ({"floor": 0.1}, "floor=0.1 needs constants='free'"),
        ({"constants": "free", "rate": 0.0}, "rate=0.0"),
        ({"constants": "free", "rate": 1.5}, "rate=1.5"),
        ({"constants": "free", "rate": np.nan}, "rate=nan"),
        ({"constants": "free", "barrier": -1.0}, "barrier=-1.0"),
        ({"constants": "free", "barrier": np.inf}, "barrier=inf"),
        ({"constants": "free", "floor": 0.0}, "floor=0.0"),
        ({"constants": "free", "floor": "low"}, "floor='low'"),
    ],
)
def test_a_parameter_out_of_its_domain_is_named(parameters, said):
    bandit = SparseLongTermMemory(**parameters)
    for call in (lambda: bandit.draw(3), lambda: bandit.run(np.zeros((2, 3)))):
        with pytest.raises(ValueError, match=said):
            call()
        assert not hasattr(bandit, "state_")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"horizon": -5}, "horizon=-5"),
        ({"sparsity": 0}, "sparsity=0"),
        ({"rate": 0.0}, "rate=0.0"),
        ({"rate": np.inf}, "rate=inf"),
        ({"barrier": -0.1}, "barrier=-0.1"),
        ({"barrier": None}, "barrier=None"),
    ],
)
def test_a_parameter_of_the_hybrid_out_of_its_domain_is_named(parameters, said):
    with pytest.raises(ValueError, match=said):
        SparseHybrid(**parameters).draw(3)


@pytest.mark.parametrize("make", [SparseLongTermMemory, SparseHybrid])
def test_the_horizon_is_not_exceeded(make):
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


@pytest.mark.parametrize("barrier", [0.0, 10.0])
def test_a_chance_of_next_to_nothing_does_no_harm(barrier):
    bandit = SparseLongTermMemory(constants="free", barrier=barrier, random_state=0)
    bandit.draw(3)
    for loss in (-1.0, 1.0, -1.0):
        bandit.update(1, loss, probability=5e-324)
        assert np.isfinite(bandit.probabilities).all()
        assert abs(bandit.probabilities.sum() - 1) <= 1e-12


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


def test_the_kernel_is_compiled():
    assert _sparse.kernel is not None


@pytest.mark.parametrize("kind", ["sparse", "dense", "one arm"])
@pytest.mark.parametrize("name", COMPILED)
def test_compiled_equals_numpy(name, kind, monkeypatch):
    n_rounds, n_arms = (2_500, 6) if kind != "one arm" else (50, 1)
    losses = sparse_losses(n_rounds, n_arms)
    if kind == "dense":
        losses = np.random.default_rng(1).uniform(-1, 1, (1_000, 40)) * 0.9 ** np.arange(40)
    fast, slow = (COMPILED[name](random_state=0) for _ in range(2))
    arms = fast.run(losses, n_seeds=2)
    monkeypatch.setattr(_sparse, "kernel", None)
    assert np.array_equal(slow.run(losses[:300], n_seeds=1), arms[:1, :300])
    slow = COMPILED[name](random_state=0)
    assert np.array_equal(slow.run(losses), arms[:1])
    for entry, value in slow.state_.items():
        scale = max(1.0, np.abs(value).max())
        assert np.abs(fast.state_[entry] - value).max() <= 1e-9 * scale, entry


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_weights_are_the_definitions_own(name):
    """After many rounds the kernel's weights are still what its losses call for."""
    bandit = COMPILED[name](random_state=1)
    bandit.run(sparse_losses(20_000, 8))
    constants = bandit._constants(8, 20_000 - 1)
    expected = hybrid_weights(bandit.state_["losses"], constants.rate, constants.barrier)[0]
    assert np.abs(bandit.state_["weights"] - expected).max() <= 1e-12
    assert bandit.n_rounds_ == 20_000


@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_step_from_far_away(name, monkeypatch):
    """One round after a jump, where nothing is near what it was: each weight to ten digits, however small."""
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


def test_a_run_leaves_the_state_before_it_alone():
    bandit = SparseLongTermMemory(constants="free", random_state=0)
    bandit.run(sparse_losses(50, 3))
    before = bandit.state_
    copies = {name: np.copy(value) for name, value in before.items()}
    bandit.run(sparse_losses(50, 3), n_seeds=2)
    assert all(np.array_equal(before[name], value) for name, value in copies.items())
    assert not np.array_equal(bandit.state_["losses"], before["losses"])


def test_a_changed_rule_is_not_run_by_the_kernel():
    class Even(SparseLongTermMemory):
        def _distribution(self, state):
            return np.full(len(state["weights"]), 1 / len(state["weights"]))

    losses = -np.eye(3)[np.zeros(5_000, dtype=int)]
    arms = Even(constants="free", random_state=0).run(losses)
    assert abs(np.mean(arms == 0) - 1 / 3) < 0.05
