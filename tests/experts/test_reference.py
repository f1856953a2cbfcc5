"""The general expert algorithms compute the weights of the paper's pseudocode, to rounding.

Algorithms take losses in [0, 1]; the pseudocode gets them mapped to [-1, 1].
"""

import numpy as np
import pytest
from support.broken_copies import broken_copy
from support.environments import Environment

from ltm_sklearn.experts import (
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    BestOfBothWorlds,
    ConfidenceRated,
    FixedShare,
    Hedge,
    MixingPastPosteriors,
    Prod,
    SimpleReduction,
    Squint,
    reference,
)

ROUNDING = 1e-11

#: Kind of losses, number of experts, rounds, horizon, seed.
STREAMS = [
    ("switching", 4, 400, 400, 5),
    ("returning", 2, 300, 1_000, 1),
    ("bernoulli", 7, 150, 150, 2),
    ("phases", 3, 250, 30_000, 3),
    ("ties", 3, 60, 60, 0),
    ("drifting", 1, 40, 40, 4),
]
ASSUMED_HORIZON = 2**20  # the horizon that BestOfBothWorlds assumes for its rates if none is given


def losses_of(kind, n_experts, n_rounds, seed):
    environment = Environment(kind, n_experts, n_rounds, seed)
    return np.array([environment.losses(None, t) for t in range(n_rounds)])


def difference(weights, expected):
    assert weights.shape == expected.shape
    return np.abs(weights - expected).max()


class PluggedIn:
    """Adapt a general algorithm to the reference: losses divided by their range, at the rate of the reduction."""

    def __init__(self, algorithm, n_actions, eta, horizon, loss_range):
        self.algorithm, self.loss_range = algorithm, loss_range
        self.state = algorithm._start(np.full(n_actions, 1 / n_actions), np.asarray(eta), horizon)

    def distribution(self):
        return self.algorithm._distribution(self.state)

    def feed(self, loss):
        fed = np.asarray(loss, dtype=np.float64) / self.loss_range
        self.state = self.algorithm._step(self.state, self.distribution(), fed)


def plugged(algorithm, horizon, loss_range, rate_factor=1.0):
    return lambda n, eta, gamma=None: PluggedIn(algorithm, n, rate_factor * np.asarray(eta), horizon, loss_range)


# Algorithm 1 ----------------------------------------------------------------------------------------------------------


def algorithm_1_difference(module, stream, n_segments, n_distinct):
    kind, n_experts, n_rounds, horizon, seed = stream
    losses = losses_of(kind, n_experts, n_rounds, seed)
    eta = min(1 / 5, np.sqrt((n_segments * np.log(horizon) + n_distinct * np.log(n_experts)) / horizon))  # Theorem 3
    expected = module.simple_reduction(2 * losses - 1, eta, horizon)
    reduction = SimpleReduction(n_segments=n_segments, n_distinct=n_distinct, horizon=horizon)
    return difference(reduction.run(losses), expected)


@pytest.mark.parametrize(("n_segments", "n_distinct"), [(1, 1), (3, 2), (40, 5)])
@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("stream", STREAMS, ids=str)
def test_simple_reduction_equals_algorithm_1(stream, n_segments, n_distinct):
    assert algorithm_1_difference(reference, stream, n_segments, n_distinct) <= ROUNDING


@pytest.mark.parametrize("eta", [0.2, 0.1, 0.003])
def test_algorithm_1_at_a_given_rate(eta):
    losses = losses_of("switching", 4, 500, seed=5)
    expected = reference.simple_reduction(2 * losses - 1, eta, horizon=500)
    assert difference(SimpleReduction(rate=eta, horizon=500).run(losses), expected) <= ROUNDING


@pytest.mark.parametrize("switching", [FixedShare(), AdaNormalHedgeTV("all")], ids=str)
@pytest.mark.parametrize("static", [Prod(), AdaNormalHedge(), AdaptMLProd(), Squint()], ids=str)
@pytest.mark.parametrize("horizon", [120, None])
@pytest.mark.fast_cases(4)
def test_algorithm_1_with_other_plug_ins(static, switching, horizon):
    losses = losses_of("switching", 3, 120, seed=7)
    expected = reference.simple_reduction(
        2 * losses - 1, 0.2, horizon=120, static=plugged(static, horizon, 2.0), switching=plugged(switching, horizon, 3)
    )
    reduction = SimpleReduction(static, switching, rate=0.2, horizon=horizon)
    assert difference(reduction.run(losses), expected) <= ROUNDING


# Algorithm 2 ----------------------------------------------------------------------------------------------------------


def algorithm_2_difference(module, stream):
    kind, n_experts, n_rounds, horizon, seed = stream
    losses = losses_of(kind, n_experts, n_rounds, seed)
    expected = module.best_of_both_worlds(2 * losses - 1, horizon)
    return difference(BestOfBothWorlds(horizon=horizon).run(losses), expected)


@pytest.mark.parametrize("stream", STREAMS, ids=str)
def test_best_of_both_worlds_equals_algorithm_2(stream):
    assert algorithm_2_difference(reference, stream) <= ROUNDING


@pytest.mark.parametrize("switching", [FixedShare(), AdaNormalHedgeTV("all")], ids=str)
@pytest.mark.parametrize("static", [Prod(), AdaNormalHedge(), AdaptMLProd(), Squint()], ids=str)
@pytest.mark.parametrize("horizon", [120, None])
@pytest.mark.fast_cases(4)
def test_algorithm_2_with_other_plug_ins(static, switching, horizon):
    losses = losses_of("returning", 3, 80, seed=3)
    expected = reference.best_of_both_worlds(
        2 * losses - 1,
        horizon or ASSUMED_HORIZON,
        static=plugged(static, horizon, 2.0),
        switching=plugged(switching, horizon, 4.0),
    )
    assert difference(BestOfBothWorlds(static, switching, horizon=horizon).run(losses), expected) <= ROUNDING


def test_algorithm_2_without_a_horizon():
    """The shares are then 1/(t + 2); second-order algorithms get rates multiplied by the range of their losses."""
    losses = losses_of("switching", 3, 150, seed=1)
    expected = reference.best_of_both_worlds(
        2 * losses - 1,
        ASSUMED_HORIZON,
        switching=plugged(FixedShare(rule="second_order"), None, 4.0, rate_factor=4.0),
    )
    assert difference(BestOfBothWorlds().run(losses), expected) <= ROUNDING


@pytest.mark.parametrize("horizon", [25, 99, 100, 101, 400, 1_000, 6_400, 2**20, 10**9])
def test_learning_rates_equal_line_1_of_algorithm_2(horizon):
    algorithm = BestOfBothWorlds(horizon=horizon)
    algorithm.weights(2)
    np.testing.assert_allclose(algorithm.state_["rates"], reference.learning_rates(horizon), rtol=1e-14)


def test_learning_rates_need_25_rounds():
    with pytest.raises(ValueError, match="horizon=24"):
        reference.learning_rates(24)


# Section 2 and Algorithms 4 to 7 --------------------------------------------------------------------------------------

PRINTED = {
    "Hedge Variant 1": (lambda module: module.HedgeVariant1(4, 0.2), Hedge(rate=0.2, variant=1)),
    "Hedge Variant 2": (
        lambda module: module.HedgeVariant2(4, [0.2, 0.1, 0.05, 0.01]),
        Hedge(rate=[0.2, 0.1, 0.05, 0.01], variant=2),
    ),
    "Fixed-share Variant": (
        lambda module: module.FixedShareVariant(4, 0.2, 1 / 300),
        FixedShare(rate=0.2, rule="second_order", horizon=300),
    ),
}


def printed_difference(module, name):
    make, algorithm = PRINTED[name]
    algorithm, printed = algorithm.__class__(**algorithm.get_params()), make(module)
    losses, expected = losses_of("switching", 4, 300, seed=2), []
    for loss in losses:
        expected.append(printed.distribution())
        printed.feed(loss)
    return difference(algorithm.run(losses), np.array(expected))


@pytest.mark.parametrize("name", PRINTED)
def test_plug_ins_equal_algorithms_4_5_and_6(name):
    assert printed_difference(reference, name) <= ROUNDING


def confidence_rated_difference(module, seed):
    rng = np.random.default_rng(seed)
    losses, z = losses_of("switching", 4, 200, seed), rng.random((200, 4)) * (rng.random((200, 4)) < 0.8)
    z[:, 0] = np.maximum(z[:, 0], 0.01)
    z[50:60] = 1.0
    expected = module.confidence_rated(losses, z, module.HedgeVariant2(4, [0.2] * 4))
    return difference(ConfidenceRated(Hedge(rate=0.2, variant=2)).run(losses, z), expected)


@pytest.mark.parametrize("seed", range(3))
def test_confidence_rated_equals_the_reduction_of_section_2(seed):
    assert confidence_rated_difference(reference, seed) <= ROUNDING


@pytest.mark.parametrize("algorithm", [AdaNormalHedge(), Prod(rate=0.3), Squint(), AdaptMLProd()], ids=str)
def test_confidence_rated_with_other_algorithms(algorithm):
    rng = np.random.default_rng(0)
    losses, z = losses_of("bernoulli", 5, 150, seed=3), rng.uniform(0.01, 1.0, (150, 5))
    inner = PluggedIn(algorithm, 5, getattr(algorithm, "rate", 0.0), None, 1.0)
    expected = reference.confidence_rated(losses, z, inner)
    assert difference(ConfidenceRated(algorithm).run(losses, z), expected) <= ROUNDING


def algorithm_7_difference(module, stream, n_segments, n_distinct):
    kind, n_experts, n_rounds, horizon, seed = stream
    losses = losses_of(kind, n_experts, n_rounds, seed)
    expected = module.mixing_past_posteriors(2 * losses - 1, horizon, n_segments, n_distinct)
    algorithm = MixingPastPosteriors(doubling=True, n_segments=n_segments, n_distinct=n_distinct, horizon=horizon)
    return difference(algorithm.run(losses), expected)


@pytest.mark.parametrize(("n_segments", "n_distinct"), [(1, 1), (4, 2), (30, 3)])
@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("stream", STREAMS, ids=str)
def test_mixing_past_posteriors_equals_algorithm_7(stream, n_segments, n_distinct):
    assert algorithm_7_difference(reference, stream, n_segments, n_distinct) <= ROUNDING


# The comparisons notice a change in any line --------------------------------------------------------------------------

STREAM = STREAMS[0]
BROKEN = {
    "Algorithm 1": (
        lambda module: algorithm_1_difference(module, STREAM, 3, 2),
        [
            ("z * w / (z * w).sum()  # Alg. 1, line 5", "w"),
            ("p @ ell - ell  # Alg. 1, line 6", "ell - p @ ell"),
            ("-z * r  # Alg. 1, line 6", "-r"),
            ("5 * eta - r[i]]", "4 * eta - r[i]]"),
            ("5 * eta - r[i]]", "5 * eta + r[i]]"),
            ("switching(2, eta, 1 / horizon) for", "switching(2, eta, 2 / horizon) for"),
            ("A.feed(c)  # Alg. 1, line 6", "pass"),
        ],
    ),
    "Algorithm 2": (
        lambda module: algorithm_2_difference(module, STREAM),
        [
            ("/ 5))) + 1  # Alg. 2, line 1", "/ 5)))  # "),
            ("2 ** (j - 1) / np.sqrt(horizon))", "2 ** j / np.sqrt(horizon))"),
            ("np.tile(eta, K)", "np.repeat(eta, K)"),
            ("(z * w).sum(axis=1) / (z * w).sum()", "w.sum(axis=1)"),
            ("p @ ell - ell  # Alg. 2, line 7", "ell - p @ ell"),
            ("-z * r[:, np.newaxis]", "-r[:, np.newaxis] + 0 * z"),
            ("5 * eta[j] * abs(r[i])", "5 * eta[j]"),
            ("5 * eta[j] * abs(r[i])", "4 * eta[j] * abs(r[i])"),
            ("switching(2, eta[j], 1 / horizon)", "switching(2, eta[0], 1 / horizon)"),
            ("a.distribution()[1] for a in row", "a.distribution()[0] for a in row"),
        ],
    ),
    "Algorithm 7": (
        lambda module: algorithm_7_difference(module, ("drifting", 5, 2_000, 2_000, 1), 1, 1),
        [
            ("1 / T, 0.0, 1.0", "2 / T, 0.0, 1.0"),
            ("0.0, 1.0, rate(1.0)", "0.0, 2.0, rate(1.0)"),
            ("past.append(p_tilde)", "past.append(p)"),
            ("p @ ell - ell  # Alg. 7, line 5", "(p @ ell - ell) / 2"),
            ("V + (p * r**2).sum()", "V + (r**2).sum()"),
            ("if V > D:", "if False:"),
            ("2 * D, rate(2 * D)", "D, rate(D)"),
            ("V, past, D, eta, p_tilde = 0.0, []", "V, past, D, eta, p_tilde = 0.0, past"),
            ("S * np.log(T) + n", "S + n"),
        ],
    ),
    "Hedge Variant 1": (
        lambda module: printed_difference(module, "Hedge Variant 1"),
        [("self.eta * c + self.eta**2 * c**2", "self.eta * c")],
    ),
    "Hedge Variant 2": (
        lambda module: printed_difference(module, "Hedge Variant 2"),
        [
            ("self.eta * np.exp(self.total)", "np.exp(self.total)"),
            ("- self.eta**2 * r**2", "+ self.eta**2 * r**2"),
        ],
    ),
    "Fixed-share Variant": (
        lambda module: printed_difference(module, "Fixed-share Variant"),
        [
            ("- self.eta**2 * h**2", ""),
            ("self.distribution() * np.exp(-self.eta * h", "self.q_tilde * np.exp(-self.eta * h"),
            ("(1 - self.gamma) * self.q_tilde", "self.q_tilde"),
        ],
    ),
    "Section 2": (
        lambda module: confidence_rated_difference(module, 0),
        [("-z * r  # fed to A", "-r"), ("p = z * w / (z * w).sum()\n", "p = w\n")],
    ),
}
CASES = [(name, *change) for name, (_, changes) in BROKEN.items() for change in changes]


@pytest.mark.parametrize(("name", "line", "instead"), CASES, ids=str)
def test_the_comparison_notices_a_broken_line(name, line, instead):
    assert BROKEN[name][0](broken_copy(reference, line, instead)) > 1e4 * ROUNDING
