"""Learning with bandit feedback."""

import numpy as np
import pytest
from support.bandit_experts import (
    CLASSES,
    Keen,
    RecordingBandit,
    SpyChance,
    classifier,
    frozen_spies,
    random_rows,
    regressor,
    updates_of,
)
from support.stream_experts import (
    ReadsNumber,
    frozen_readers,
)

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.losses._range_tracker import ObservedRange
from ltm_sklearn.losses._regression_score import RegressionScore

pytestmark = pytest.mark.fast_cases(1)

# Learning -----------------------------------------------------------------------------------------------------------


def right_by_phase(model, n_phases=3, length=240, n_experts=5, good=(1, 3), seed=0):
    """Experts of which one is right, and another one in every other phase; the share of right answers in each."""
    rng = np.random.default_rng(seed)
    phases = []
    for phase in range(n_phases):
        right = []
        for _ in range(length):
            y = rng.integers(0, 2, 1)
            X = np.where(rng.random((1, n_experts)) < 0.3, y, 1 - y).astype(float)
            X[0, good[phase % 2]] = y[0]
            if hasattr(model, "n_features_in_"):
                right.append(model.predict(X)[0] == y[0])
            model.partial_fit(X, y, CLASSES)
        phases.append((np.mean(right[: length // 2]), np.mean(right[length // 2 :])))
    return np.array(phases)


def test_best_of_five_is_found_again_after_each_switch():
    experts = frozen_spies(5)
    algorithm = Keen(switching=0.03)
    runs = [right_by_phase(classifier(5, experts, algorithm, random_state=seed)) for seed in range(2)]
    assert (np.mean(runs, axis=0)[:, 1] > 0.7).all()  # 0.44 with experts drawn evenly


@pytest.mark.exhaustive
def test_default_bandit_is_faster_with_more_queries():
    """Two of six take turns; none of the others is right more often than by chance."""
    right = [
        right_by_phase(classifier(6, n_queries=n_queries, combine="leader"), n_phases=4, length=150, n_experts=6)
        for n_queries in (1, 3, 6)
    ]
    means = [each.mean() for each in right]
    assert means[0] < means[1] + 0.01 < means[2] + 0.03
    assert (right[0][1:, 1] > 0.75).all()  # in the later half of each phase; 0.42 drawn evenly
    assert right[0][2:].mean() > 0.75  # both have been seen before


def test_best_regressor_is_found_on_any_scale():
    weights = []
    for scale, shift in ((1.0, 0.0), (1e5, -3e6), (1e-5, 0.0)):
        model = regressor(5, algorithm=Keen())
        rng = np.random.default_rng(0)
        for _ in range(300):
            y = rng.normal(size=2)
            X = y[:, np.newaxis] + rng.normal(size=(2, 5)) * np.array([1.0, 1.0, 0.1, 1.0, 1.0])
            model.partial_fit(scale * X + shift, scale * y + shift)
        weights.append(model.weights_)
        assert model.leader_ == "column2"
    np.testing.assert_allclose(weights[1:], np.tile(weights[0], (2, 1)), atol=1e-6)
    assert weights[0][2] > 0.7


def test_querying_all_is_as_good_as_full_feedback():
    bandit = right_by_phase(classifier(5, frozen_readers_of_chances(5), Keen(rate=1.0), n_queries=5, combine="leader"))
    full = LongTermMemoryClassifier(frozen_readers_of_chances(5), memory=None, combine="leader", loss="zero_one")
    np.testing.assert_allclose(bandit.mean(axis=0), right_by_phase(full).mean(axis=0), atol=0.05)


def frozen_readers_of_chances(n_columns):
    return frozen_readers(SpyChance, n_columns)


@pytest.mark.parametrize(("noise", "heavy"), [(0.3, False), (0.1, True)])
def test_default_bandit_of_regressors_finds_the_best_one_again(noise, heavy):
    """Two of eight take turns; of the others some are much worse, or all have outliers."""
    rng, lost = np.random.default_rng(0), []
    model = regressor(8)
    y = rng.normal(size=(1200, 1))
    errors = rng.standard_t(2.5, (1200, 8)) / 1.5 if heavy else rng.normal(size=(1200, 8)) * SPREADS
    for at in range(1200):
        errors[at, (2, 5)[at // 300 % 2]] = noise * rng.normal()
        X = y[at] + errors[[at]]
        if at:
            lost.append(abs(model.issue(X, [at])[0] - y[at, 0]))
            model.learn([at], y[at])
        else:
            model.partial_fit(X, y[at])
    assert np.mean(lost) < (0.18 if heavy else 0.36)  # .08 or .24 for the best in hindsight


#: Of the errors of eight experts.
SPREADS = np.array([4.0, 3.0, 0.8, 2.5, 3.5, 1.2, 2.0, 5.0])


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_sample_weights_are_parts_of_a_round(rounds):
    X, y = random_rows(6)
    weights = np.array([2.0, 0.0, 1.0, 2.0, 0.0, 0.0])
    model = classifier(algorithm=RecordingBandit(), rounds=rounds)
    model.partial_fit(X, y, CLASSES, sample_weight=weights)
    arms = [arm for (arm,), _, _ in updates_of(model)]
    losses = np.array([loss for _, (loss,), _ in updates_of(model)])
    wrong = ((X > 0.5) != y[:, np.newaxis]).astype(float)
    if rounds == "batch":
        assert losses == pytest.approx(weights @ wrong[:, arms] / 5.0)
    else:
        lost = wrong[[0, 2, 3], arms]
        assert losses == pytest.approx([lost[0], (lost[0] + lost[1]) / 2.0, lost[2]])  # half of it is the usual loss


def test_mistake_in_a_row_of_small_weight_is_no_gain():
    model = classifier(1, algorithm=RecordingBandit(), rounds="row")
    X, y = np.full((201, 1), 0.9), np.tile([0, 1], 101)[:201]  # wrong in every other row
    y[-1] = 0
    model.partial_fit(X, y, CLASSES, sample_weight=[1.0] * 200 + [0.01])
    (_, (last,), _) = updates_of(model)[-1]
    assert last == pytest.approx(0.505, abs=0.01)


class Counting(RecordingBandit):
    n_worked_out = 0

    def _distribution(self, state):
        type(self).n_worked_out += 1
        return super()._distribution(state)


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_probabilities_are_computed_once_per_state(rounds):
    model = classifier(algorithm=Counting(), rounds=rounds).partial_fit(*random_rows(1), CLASSES)
    Counting.n_worked_out = 0
    for seed in range(10):
        model.predict(random_rows(50, seed=seed)[0])
        model.partial_fit(*random_rows(1, seed=seed))
    assert Counting.n_worked_out <= 11


# The range of losses ------------------------------------------------------------------------------------------------


def test_observed_range_rescales_losses():
    one = ObservedRange().widened(np.array([3.0]))
    assert one.rescaled(np.array([3.0])).tolist() == [0.0]
    two = one.widened(np.array([5.0]))
    np.testing.assert_allclose(two.rescaled(np.array([2.0, 3.0, 4.0, 5.0, 9.0])), [0.0, 0.0, 0.5, 1.0, 1.0])
    assert two.widened(np.array([5.1])).high == 5.1
    assert two.widened(np.array([2.9])).low == 2.9
    assert ObservedRange(2.0, 2.0 + 1e-15).rescaled(np.array([2.0, 2.0 + 1e-15])).tolist() == [0.0, 0.0]
    settled = ObservedRange(3.0, 5.0, 1000)
    assert settled.widened(np.array([1e9])).high == pytest.approx(5.095)  # one outlier changes little
    assert settled.widened(np.array([-1e9])).low == pytest.approx(2.905)


@pytest.mark.parametrize("n_seen", [1, 3])
def test_observed_range_leaves_out_five_percent_at_each_end(n_seen):
    rng, seen, ends = np.random.default_rng(0), ObservedRange(), []
    for _ in range(2000):
        seen = seen.widened(rng.random(n_seen) ** 2)
        ends.append(seen[:2])
    np.testing.assert_allclose(np.mean(ends[500:], axis=0), [0.05**2, 0.95**2], atol=0.04)


def test_squared_errors_are_rescaled_by_their_root():
    scores = [RegressionScore(loss, average=False) for loss in ("auto", "absolute_error")]
    for error in np.abs(np.random.default_rng(0).normal(size=(50, 2))):
        told = [score.rescale_queried(losses) for score, losses in zip(scores, (error**2, error), strict=True)]
        np.testing.assert_allclose(*told, atol=1e-12)


def test_first_losses_do_not_spoil_the_range():
    model = regressor(2, experts=frozen_readers(ReadsNumber, 2), algorithm=RecordingBandit(), n_queries=2)
    model.partial_fit([[1e12, 0.0]], [0.0])  # one target: no scale, and predictions of any size
    model.partial_fit([[0.0, 2.0]], [1.0])
    model.partial_fit([[0.0, 0.5]], [1.0])
    assert model._engine.score.observed_range.high <= 4.0
