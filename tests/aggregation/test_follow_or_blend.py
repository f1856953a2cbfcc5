"""Weighting of rounds: follow one expert, or blend several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.bounds import anytime_shares, memory_complexity, sequence_bound

from ltm_sklearn.aggregation._follow_or_blend import FollowOrBlend, SingleAlgorithm, new_weighting
from ltm_sklearn.aggregation._round_losses import RoundLosses, restrict_rows, weighted_mean
from ltm_sklearn.experts import FixedShare, LongTermMemory
from ltm_sklearn.experts._long_term_memory import RATES
from ltm_sklearn.losses._classification_score import SAFE_MARGIN, ClassificationScore
from ltm_sklearn.losses._regression_score import RegressionScore

SCORE = ClassificationScore("auto", 3, average=True)


def round_losses_of(predictions, targets, awake=None, row_weights=None):
    awake = np.ones(predictions.shape[:2], dtype=bool) if awake is None else awake
    return RoundLosses(
        SCORE, targets, predictions, awake, np.ones(len(targets)) if row_weights is None else row_weights
    )


def random_rows(n_experts, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(3), size=(n_experts, n_rows)), rng.integers(0, 3, n_rows)


def weights_in_use(weighting):
    return weighting.weights_in_use(weighting.member_weights())


def margin_loss(p, y):
    return np.maximum(SAFE_MARGIN - (p[y] - np.delete(p, y).max()), 0.0)


def simplex():
    weights = arrays(np.float64, 3, elements=st.floats(1e-3, 1.0))
    return weights.map(lambda w: w / w.sum())


@given(simplex(), simplex(), st.integers(0, 2))
def test_linear_losses_are_subgradients_of_the_margin_loss(p, x, y):
    """By convexity, linear regret bounds the regret in the loss itself; linear losses are half a subgradient."""
    loss_x, loss_p = SCORE.losses(np.array([y]), np.stack([x, p])[:, np.newaxis], p[np.newaxis])[:, 0]
    assert margin_loss(x, y) >= margin_loss(p, y) + 2.0 * (loss_x - loss_p) - 1e-12
    assert 0.0 <= min(loss_x, loss_p) <= max(loss_x, loss_p) <= 1.0


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


def test_blender_regret_is_bounded_against_recurring_combinations():
    """Twice the algorithm's own bound, for the margin loss, against mixtures of two experts each, which return."""
    rng = np.random.default_rng(0)
    n_rounds, concepts = 12_000, np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.6, 0.4]])
    combinations = concepts[np.arange(n_rounds) // 3000 % 2]
    targets = rng.integers(0, 3, n_rounds)
    predictions = np.tile(np.eye(3)[(targets + 1) % 3], (4, 1, 1))  # all are wrong, but for
    for t, combination in enumerate(combinations):  # one of the two in turn; the other is less sure
        right, wrong = rng.permutation(np.flatnonzero(combination))
        predictions[right, t] = np.eye(3)[targets[t]]
        predictions[wrong, t] *= 0.2
    weighting = FollowOrBlend(LongTermMemory())
    weighting.begin(4)
    regret, lost, target = np.empty((n_rounds, 4)), 0.0, 0.0
    for t in range(n_rounds):
        played, x, y = weighting.member_weights()[1], predictions[:, t], targets[t]
        mixture = played @ x
        linear = SCORE.losses(targets[[t]], x[:, np.newaxis], mixture[np.newaxis])[:, 0]
        regret[t] = played @ linear - linear
        lost += margin_loss(mixture, y)
        target += margin_loss(combinations[t] @ x, y)
        observed = round_losses_of(x[:, np.newaxis], targets[[t]])
        weighting.update(observed, weighting.member_weights(), mixture[np.newaxis])
    costs, shares = memory_complexity(n_rounds, 4), anytime_shares(n_rounds)
    bound = mean_over_sequences(combinations, lambda each: sequence_bound(regret, RATES, costs, each, shares))
    assert lost - target <= 2.0 * bound
    # which says something: each expert alone is far beyond it
    assert min(margin_loss_of(each, targets) for each in predictions) - target > 2.0 * (2.0 * bound)


def margin_loss_of(predictions, targets):
    return sum(margin_loss(p, y) for p, y in zip(predictions, targets, strict=True))


def test_linear_losses_are_zero_where_the_mixture_is_safely_right():
    predictions, _ = random_rows(4, 1)
    sure = np.array([[0.8, 0.1, 0.1]])
    assert SCORE.losses(np.array([0]), predictions, sure).tolist() == [[0.0]] * 4
    assert (SCORE.losses(np.array([1]), predictions, sure) > 0.0).all()


@pytest.mark.parametrize("each_row", [False, True])
def test_experts_that_are_right_together_are_blended(each_row):
    """Each of three experts is wrong in a third of the rows, but never two of them in the same one."""
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 3, 600)
    predictions = np.tile(np.eye(3)[targets], (3, 1, 1))
    for row, expert in enumerate(rng.integers(0, 3, 600)):
        predictions[expert, row] = np.roll(predictions[expert, row], 1)

    def right(weighting):
        weighting.begin(3)
        hits = []
        for start in range(0, 600, 5):
            rows = slice(start, start + 5)
            observed = round_losses_of(predictions[:, rows], targets[rows])
            mixture = weighted_mean(observed.predictions, observed.awake, weights_in_use(weighting))
            hits.extend(mixture.argmax(axis=1) == targets[rows])
            if each_row:
                weighting.update_rows(observed)
            else:
                weighting.update(observed, weighting.member_weights(), mixture)
        return np.mean(hits[200:])

    blended, followed = right(FollowOrBlend(LongTermMemory())), right(SingleAlgorithm(LongTermMemory(), linear=False))
    assert blended > 0.9
    assert followed < 0.8


def test_one_accurate_expert_at_a_time_is_followed():
    """Two experts that are sure and opposite: probabilities are as good as those of the follower alone."""
    predictions = np.zeros((2, 1, 3))
    predictions[0, 0, 0] = predictions[1, 0, 1] = 1.0
    costs = []
    for weighting in (FollowOrBlend(LongTermMemory()), SingleAlgorithm(LongTermMemory(), linear=False)):
        weighting.begin(2)
        cost = 0.0
        for at in range(1200):
            targets = np.array([at // 300 % 2])
            observed = round_losses_of(predictions, targets)
            cost += 1.0 - weighted_mean(predictions, observed.awake, weights_in_use(weighting))[0, targets[0]]
            weighting.update(observed, weighting.member_weights(), predictions[0])
        costs.append(cost)
    assert costs[0] < 1.5 * costs[1] + 1.0


def test_update_rows_equals_rounds_of_one_row():
    predictions, targets = random_rows(4, 60)
    rng = np.random.default_rng(1)
    awake, weights = rng.random((4, 60)) < 0.8, rng.uniform(0.2, 1.0, 60)
    awake[:, 7] = False
    together, separate = FollowOrBlend(LongTermMemory()), FollowOrBlend(LongTermMemory())
    for each in (together, separate):
        each.begin(4)
    whole = round_losses_of(predictions, targets, awake, weights)
    used = together.update_rows(whole)
    for at in range(60):
        row = whole.row(at)
        in_use = restrict_rows(weights_in_use(separate), row.awake)
        one_by_one = separate.update_rows(row)
        np.testing.assert_allclose(used[[at]], one_by_one, rtol=1e-9)
        np.testing.assert_allclose(one_by_one, in_use, rtol=1e-9)  # of the member that the arbiter follows
    np.testing.assert_allclose(used.sum(axis=1), 1.0)
    assert (used[~awake.T & awake.T.any(axis=1, keepdims=True)] == 0.0).all()
    np.testing.assert_allclose(weights_in_use(together), weights_in_use(separate), rtol=1e-9)


@pytest.mark.parametrize(("n_classes", "asleep"), [(1, []), (2, [0, 3]), (3, []), (7, [0, 3])])
def test_compiled_losses_equal_numpy(n_classes, asleep, monkeypatch):
    rng = np.random.default_rng(0)
    predictions = rng.dirichlet(np.full(n_classes, 0.3), size=(5, 200))
    predictions[:, :10] = 0.0  # all probabilities are 0
    targets = rng.integers(0, n_classes, 200)
    score = ClassificationScore("auto", n_classes, average=True)
    awake = np.ones((5, 200), dtype=bool)
    awake[asleep], predictions[asleep] = False, 0.0
    observed = RoundLosses(score, targets, predictions, awake, np.ones(200))
    member_weights = rng.dirichlet(np.ones(5), size=2)
    linear, losses = observed.follow_and_blend_losses(member_weights)
    np.testing.assert_array_equal(observed.row_losses, score.losses(targets, predictions, None))
    monkeypatch.setattr("ltm_sklearn.aggregation._round_losses.kernel", None)
    expected_linear, expected_losses = observed.follow_and_blend_losses(member_weights)
    np.testing.assert_allclose(linear, expected_linear, rtol=0, atol=1e-12)
    np.testing.assert_allclose(losses, expected_losses, rtol=0, atol=1e-12)


def test_experts_sleep_join_and_leave():
    weighting = FollowOrBlend(FixedShare())
    weighting.begin(2)
    for n_experts in (2, 3, 4, 3):
        if n_experts != len(weights_in_use(weighting)):
            _ = weighting.add_expert(None) if n_experts > len(weights_in_use(weighting)) else weighting.drop_expert(1)
        predictions, targets = random_rows(n_experts, 5, seed=n_experts)
        awake = np.ones((n_experts, 5), dtype=bool)
        awake[0, 2:] = False
        observed = round_losses_of(predictions, targets, awake)
        weighting.update(observed, weighting.member_weights(), predictions[0])
        assert weighting.member_weights().shape == (2, n_experts)
        np.testing.assert_allclose(weighting.member_weights().sum(axis=1), 1.0)
        np.testing.assert_allclose(weights_in_use(weighting).sum(), 1.0)


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
def test_only_averaged_class_probabilities_are_blended(score, kind):
    assert type(new_weighting(LongTermMemory(), score)) is kind


def test_arbiter_ignores_rows_in_which_all_experts_sleep():
    class Arbiter:
        def update(self, losses, awake):
            self.losses, self.awake = losses, awake

    predictions, targets = random_rows(3, 2)
    awake = np.array([[True, False]] * 3)
    weighting = FollowOrBlend(LongTermMemory())
    weighting.begin(3)
    weighting.arbiter = Arbiter()
    member_weights, observed = weighting.member_weights(), round_losses_of(predictions, targets, awake)
    weighting.update(observed, member_weights, predictions[0])
    _, member_losses = observed.row(0).follow_and_blend_losses(member_weights)
    np.testing.assert_allclose(weighting.arbiter.losses, member_losses[:, 0])
    assert weighting.arbiter.awake.tolist() == [0.5, 0.5]


def test_prior_is_that_of_the_algorithm():
    weighting = FollowOrBlend(LongTermMemory(prior=[0.7, 0.2, 0.1]))
    weighting.begin(3)
    assert [weighting.prior_of(at) for at in range(3)] == pytest.approx([0.7, 0.2, 0.1])
