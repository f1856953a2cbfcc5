"""Following whoever is right now, and blending those who are right together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.bounds import anytime_shares, memory_complexity, sequence_bound

from ltm_sklearn.aggregation._round_weighting import FollowOrBlend, RoundLosses, SingleAlgorithm, averaged, weighting_of
from ltm_sklearn.experts import FixedShare, LongTermMemory
from ltm_sklearn.experts._long_term_memory import RATES
from ltm_sklearn.losses._classification import SAFE_MARGIN, ClassificationScore
from ltm_sklearn.losses._regression import RegressionScore

SCORE = ClassificationScore("auto", 3, average=True)


def round_losses_of(said, truth, awake=None, row_weights=None):
    awake = np.ones(said.shape[:2], dtype=bool) if awake is None else awake
    return RoundLosses(SCORE, truth, said, awake, np.ones(len(truth)) if row_weights is None else row_weights)


def random_rows(n_experts, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(3), size=(n_experts, n_rows)), rng.integers(0, 3, n_rows)


def now(weighting):
    return weighting.chosen(weighting.parts())


def margin_loss(p, y):
    return np.maximum(SAFE_MARGIN - (p[y] - np.delete(p, y).max()), 0.0)


def simplex():
    weights = arrays(np.float64, 3, elements=st.floats(1e-3, 1.0))
    return weights.map(lambda w: w / w.sum())


@given(simplex(), simplex(), st.integers(0, 2))
def test_what_the_blender_is_charged_is_a_slope_of_the_margin_loss(p, x, y):
    """Convexity: a linear regret against x bounds that of the loss itself; charges are half of the slope."""
    charge_x, charge_p = SCORE.losses(np.array([y]), np.stack([x, p])[:, np.newaxis], p[np.newaxis])[:, 0]
    assert margin_loss(x, y) >= margin_loss(p, y) + 2.0 * (charge_x - charge_p) - 1e-12
    assert 0.0 <= min(charge_x, charge_p) <= max(charge_x, charge_p) <= 1.0


@given(simplex(), st.integers(0, 2))
def test_margin_loss_bounds_mistakes(p, y):
    assert (p.argmax() != y) <= margin_loss(p, y) / SAFE_MARGIN + 1e-12


def mean_over_sequences(combinations, of_sequence):
    """The mean of a function of expert sequences whose share of each expert in each round is that of a combination.

    All sequences read the rounds' quantiles at one level u, which is uniform: the fewest moves a combination can do.
    """
    levels = np.cumsum(combinations, axis=1)
    edges = np.unique(np.concatenate([[0.0, 1.0], np.round(levels.ravel(), 9)]))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    sequences = [(levels < u).sum(axis=1) for u in middles]
    return sum(width * of_sequence(sequence) for width, sequence in zip(widths, sequences, strict=True))


def test_blender_keeps_the_bound_against_combinations_that_take_turns():
    """Twice the algorithm's own bound, for the margin loss, against mixtures of two experts each, which return."""
    rng = np.random.default_rng(0)
    n_rounds, concepts = 12_000, np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.6, 0.4]])
    combinations = concepts[np.arange(n_rounds) // 3000 % 2]
    truth = rng.integers(0, 3, n_rounds)
    said = np.tile(np.eye(3)[(truth + 1) % 3], (4, 1, 1))  # all are wrong, but for
    for t, combination in enumerate(combinations):  # one of the two in turn; the other is less sure
        right, wrong = rng.permutation(np.flatnonzero(combination))
        said[right, t] = np.eye(3)[truth[t]]
        said[wrong, t] *= 0.2
    weighting = FollowOrBlend(LongTermMemory())
    weighting.begin(4)
    regret, lost, target = np.empty((n_rounds, 4)), 0.0, 0.0
    for t in range(n_rounds):
        played, x, y = weighting.parts()[1], said[:, t], truth[t]
        mixture = played @ x
        charges = SCORE.losses(truth[[t]], x[:, np.newaxis], mixture[np.newaxis])[:, 0]
        regret[t] = played @ charges - charges
        lost += margin_loss(mixture, y)
        target += margin_loss(combinations[t] @ x, y)
        verdict = round_losses_of(x[:, np.newaxis], truth[[t]])
        weighting.learn(verdict, weighting.parts(), mixture[np.newaxis])
    costs, shares = memory_complexity(n_rounds, 4), anytime_shares(n_rounds)
    bound = mean_over_sequences(combinations, lambda each: sequence_bound(regret, RATES, costs, each, shares))
    assert lost - target <= 2.0 * bound
    # which says something: each expert alone is far beyond it
    assert min(margin_loss_of(each, truth) for each in said) - target > 2.0 * (2.0 * bound)


def margin_loss_of(said, truth):
    return sum(margin_loss(p, y) for p, y in zip(said, truth, strict=True))


def test_no_charge_where_the_mixture_is_safely_right():
    said, _ = random_rows(4, 1)
    sure = np.array([[0.8, 0.1, 0.1]])
    assert SCORE.losses(np.array([0]), said, sure).tolist() == [[0.0]] * 4
    assert (SCORE.losses(np.array([1]), said, sure) > 0.0).all()


@pytest.mark.parametrize("each_row", [False, True])
def test_committee_that_is_right_together_is_blended(each_row):
    """Each of three experts is wrong in a third of the rows, but never two of them in the same one."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 600)
    said = np.tile(np.eye(3)[truth], (3, 1, 1))
    for row, expert in enumerate(rng.integers(0, 3, 600)):
        said[expert, row] = np.roll(said[expert, row], 1)

    def right(weighting):
        weighting.begin(3)
        hits = []
        for start in range(0, 600, 5):
            rows = slice(start, start + 5)
            verdict = round_losses_of(said[:, rows], truth[rows])
            mixture = averaged(verdict.predictions, verdict.awake, now(weighting))
            hits.extend(mixture.argmax(axis=1) == truth[rows])
            if each_row:
                weighting.learn_rows(verdict)
            else:
                weighting.learn(verdict, weighting.parts(), mixture)
        return np.mean(hits[200:])

    blended, followed = right(FollowOrBlend(LongTermMemory())), right(SingleAlgorithm(LongTermMemory(), linear=False))
    assert blended > 0.9
    assert followed < 0.8


def test_it_follows_at_once_where_one_expert_is_right_at_a_time():
    """Two experts that are sure and opposite: probabilities are as good as those of the follower alone."""
    said = np.zeros((2, 1, 3))
    said[0, 0, 0] = said[1, 0, 1] = 1.0
    costs = []
    for weighting in (FollowOrBlend(LongTermMemory()), SingleAlgorithm(LongTermMemory(), linear=False)):
        weighting.begin(2)
        cost = 0.0
        for at in range(1200):
            truth = np.array([at // 300 % 2])
            verdict = round_losses_of(said, truth)
            cost += 1.0 - averaged(said, verdict.awake, now(weighting))[0, truth[0]]
            weighting.learn(verdict, weighting.parts(), said[0])
        costs.append(cost)
    assert costs[0] < 1.5 * costs[1] + 1.0


def test_rows_one_by_one_are_the_same_as_rounds_of_one_row():
    said, truth = random_rows(4, 60)
    rng = np.random.default_rng(1)
    awake, weights = rng.random((4, 60)) < 0.8, rng.uniform(0.2, 1.0, 60)
    awake[:, 7] = False
    together, apart = FollowOrBlend(LongTermMemory()), FollowOrBlend(LongTermMemory())
    for each in (together, apart):
        each.begin(4)
    whole = round_losses_of(said, truth, awake, weights)
    played = together.learn_rows(whole)
    one_by_one = np.concatenate([apart.learn_rows(whole.row(at)) for at in range(60)])
    np.testing.assert_allclose(played, one_by_one, rtol=1e-9)
    np.testing.assert_allclose(played.sum(axis=1), 1.0)
    assert (played[~awake.T & awake.T.any(axis=1, keepdims=True)] == 0.0).all()
    np.testing.assert_allclose(now(together), now(apart), rtol=1e-9)


@pytest.mark.parametrize("asleep", [[], [0, 3]])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 7])
def test_compiled_charges_are_the_same(n_classes, asleep, monkeypatch):
    rng = np.random.default_rng(0)
    said = rng.dirichlet(np.full(n_classes, 0.3), size=(5, 200))
    said[:, :10] = 0.0  # nobody gives any class a chance
    truth = rng.integers(0, n_classes, 200)
    score = ClassificationScore("auto", n_classes, average=True)
    awake = np.ones((5, 200), dtype=bool)
    awake[asleep], said[asleep] = False, 0.0
    verdict = RoundLosses(score, truth, said, awake, np.ones(200))
    parts = rng.dirichlet(np.ones(5), size=2)
    charged, lost = verdict.blend(parts)
    np.testing.assert_array_equal(verdict.row_losses, score.losses(truth, said, None))
    monkeypatch.setattr("ltm_sklearn.aggregation._round_weighting.kernel", None)
    expected_charged, expected_lost = verdict.blend(parts)
    np.testing.assert_allclose(charged, expected_charged, rtol=0, atol=1e-12)
    np.testing.assert_allclose(lost, expected_lost, rtol=0, atol=1e-12)


def test_experts_that_sleep_join_and_leave():
    weighting = FollowOrBlend(FixedShare())
    weighting.begin(2)
    for n_experts in (2, 3, 4, 3):
        if n_experts != len(now(weighting)):
            _ = weighting.add(None) if n_experts > len(now(weighting)) else weighting.drop(1)
        said, truth = random_rows(n_experts, 5, seed=n_experts)
        awake = np.ones((n_experts, 5), dtype=bool)
        awake[0, 2:] = False
        verdict = round_losses_of(said, truth, awake)
        weighting.learn(verdict, weighting.parts(), said[0])
        assert weighting.parts().shape == (2, n_experts)
        np.testing.assert_allclose(weighting.parts().sum(axis=1), 1.0)
        np.testing.assert_allclose(now(weighting).sum(), 1.0)


@pytest.mark.parametrize(
    ("score", "kind"),
    [
        (ClassificationScore("auto", 2, average=True), FollowOrBlend),
        (
            ClassificationScore("auto", 2, average=False),
            SingleAlgorithm,
        ),  # where one expert is followed there is nothing to blend
        (ClassificationScore("zero_one", 2, average=True), SingleAlgorithm),
        (RegressionScore("auto", average=True), SingleAlgorithm),
    ],
)
def test_classes_are_blended_unless_a_loss_or_one_leader_is_asked_for(score, kind):
    assert type(weighting_of(LongTermMemory(), score)) is kind
