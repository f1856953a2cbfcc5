"""The stack: a softmax regression on the experts' probabilities."""

import pickle

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from support.named_models import named
from support.stream_experts import ReadsChance

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.aggregation._stack import FIRST_SQUARE, MOST_COEFFICIENTS, RATE, Stack
from ltm_sklearn.losses._classification_score import SMALLEST_PROBABILITY


def rows(n_experts=3, n_rows=200, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    predictions = rng.dirichlet(np.full(n_classes, 0.5), size=(n_experts, n_rows))
    return predictions, rng.integers(0, n_classes, n_rows), rng.uniform(0.1, 1.0, n_rows)


def log_loss(stack, predictions, targets):
    return -np.log(stack.predict(predictions)[np.arange(len(targets)), targets])


def test_fresh_stack_is_the_geometric_mean():
    predictions, _, _ = rows()
    mean = np.exp(np.log(np.maximum(predictions, SMALLEST_PROBABILITY)).mean(axis=0))
    np.testing.assert_allclose(Stack(3).predict(predictions), mean / mean.sum(axis=1, keepdims=True), rtol=1e-12)


def test_step_follows_the_gradient_of_the_log_loss():
    """The slope of each cell by differences, scaled as AdaGrad does."""
    predictions, targets, _ = rows(n_rows=1)
    stack = Stack(3)
    learned = stack.learned(predictions, targets, np.ones(1))
    start, squares = stack.for_classes(4)
    for at in np.ndindex(*start.shape):
        losses = []
        for step in (1e-6, -1e-6):
            other = Stack(3)
            other.coefficients, other.squares = start.copy(), squares
            other.coefficients[at] += step
            losses.append(log_loss(other, predictions, targets)[0])
        slope = (losses[0] - losses[1]) / 2e-6
        expected = start[at] - RATE / 3 * slope / np.sqrt(FIRST_SQUARE + slope**2)
        assert learned.coefficients[at] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_compiled_stack_equals_numpy(n_classes, monkeypatch):
    predictions, targets, weights = rows(n_classes=n_classes)
    predictions[1, :50] = predictions[:, :3] = 0.0  # asleep
    compiled = Stack(3).learned(predictions, targets, weights)
    monkeypatch.setattr("ltm_sklearn.aggregation._stack.kernel", None)
    plain = Stack(3).learned(predictions, targets, weights)
    np.testing.assert_allclose(compiled.coefficients, plain.coefficients, atol=1e-9)
    np.testing.assert_allclose(compiled.predict(predictions), plain.predict(predictions), atol=1e-9)


def test_batch_equals_rows_one_by_one():
    predictions, targets, weights = rows(n_rows=20)
    together, separate = Stack(3).learned(predictions, targets, weights), Stack(3)
    for at in range(20):
        here = slice(at, at + 1)
        separate = separate.learned(predictions[:, here], targets[here], weights[here])
    np.testing.assert_allclose(together.coefficients, separate.coefficients, rtol=1e-12)


def test_learned_leaves_the_stack_unchanged():
    predictions, targets, weights = rows()
    stack = Stack(3).learned(predictions, targets, weights)
    before = stack.coefficients.copy()
    stack.learned(predictions, targets, weights)
    stack.predict(predictions)
    np.testing.assert_array_equal(stack.coefficients, before)


def test_new_classes_keep_the_coefficients_of_old_ones():
    predictions, targets, weights = rows(n_classes=3)
    stack = Stack(3).learned(predictions, targets, weights)
    wider, squares = stack.for_classes(5)
    old, known = (coefficients.reshape(3, -1, coefficients.shape[1]) for coefficients in (stack.coefficients, wider))
    np.testing.assert_array_equal(known[:, :3, :3], old)
    np.testing.assert_array_equal(known[:, 3:, 3:], np.broadcast_to(np.eye(2) / 3, (3, 2, 2)))
    assert squares.shape == wider.shape
    np.testing.assert_array_equal(stack.for_classes(2)[0].reshape(3, 2, 2), old[:, :2, :2])


def test_experts_that_confuse_two_classes_are_corrected():
    """Neither the best expert nor a mixture can be right here: both take class 0 for 1 and the other way round."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = np.column_stack([np.where(rng.random(600) < 0.9, 1 - y, y) * 0.6 + 0.2 for _ in range(2)])
    experts = [(f"{at}", FrozenEstimator(ReadsChance(at))) for at in range(2)]
    accuracy = {}
    for loss in ("auto", "zero_one"):
        model = LongTermMemoryClassifier(experts, loss=loss, memory=None)
        right = []
        for at in range(0, 600, 10):
            here = slice(at, at + 10)
            if at:
                right.append((model.predict(X[here]) == y[here]).mean())
            model.partial_fit(X[here], y[here], classes=[0, 1])
        accuracy[loss] = np.mean(right[20:])
    assert accuracy["zero_one"] < 0.2
    assert accuracy["auto"] > 0.85
    model = pickle.loads(pickle.dumps(model))
    assert [expert.kind for expert in model.experts_] == ["frozen", "frozen"]  # "zero_one" leaves it out


def regret_of(steps):
    """Regret in the log loss against the best coefficients in hindsight, its bound, and the distance from these."""
    rng = np.random.default_rng(0)
    n_rows = 3000
    targets = rng.integers(0, 3, n_rows)
    predictions = np.full((2, n_rows, 3), 0.1)
    for expert, shift in enumerate((1, 0)):  # one takes each class for the next, the other is right, both half the time
        fallback = np.where(rng.random(n_rows) < 0.5, (targets + shift) % 3, rng.integers(0, 3, n_rows))
        predictions[expert, np.arange(n_rows), fallback] = 0.8
    best = Stack(2)
    for _ in range(5):
        best = best.learned(predictions, targets, np.ones(n_rows))
    stack, lost, farthest = Stack(2), 0.0, 0.0
    stack.coefficients, stack.squares = stack.for_classes(3)
    for at in range(n_rows):
        here = slice(at, at + 1)
        farthest = max(farthest, np.abs(stack.coefficients - best.coefficients).max())
        lost += log_loss(stack, predictions[:, here], targets[here])[0]
        before, stack = stack.coefficients, stack.learned(predictions[:, here], targets[here], np.ones(1))
        stack.coefficients = before + steps * (stack.coefficients - before)
    bound = (farthest**2 / (2 * stack.rate) + stack.rate) * np.sqrt(stack.squares).sum()
    return lost - log_loss(best, predictions, targets).sum(), bound, farthest


def test_regret_in_the_log_loss_is_bounded():
    """AdaGrad: Σ f(W_t) - f(W) <= (D²/(2 rate) + rate) Σ_cells √(ε + Σ slope²), with D the farthest from W."""
    regret, bound, farthest = regret_of(1.0)
    assert regret <= bound
    assert farthest < 1.0  # the bound is of its own run: a stack that runs away would have a wide one


@pytest.mark.parametrize("steps", [0.0, -1.0, 10.0])
def test_wrong_steps_break_the_bound(steps):
    regret, bound, farthest = regret_of(steps)
    assert regret > bound or farthest > 1.0


def test_no_stack_for_too_many_classes():
    n_classes = int(np.sqrt(MOST_COEFFICIENTS / 2)) + 1
    assert Stack(2).fits(n_classes - 1)
    assert not Stack(2).fits(n_classes)
    experts = [(f"{at}", FrozenEstimator(ReadsChance(at))) for at in range(2)]
    model = LongTermMemoryClassifier(experts, memory=None)
    model.partial_fit([[0.1, 0.9]] * 3, [0, 1, 1], classes=np.arange(n_classes))
    assert [expert.kind for expert in model.experts_] == ["frozen", "frozen"]


@pytest.mark.parametrize("memory", ["auto", None])
def test_stack_is_removed_when_too_many_classes_appear(memory):
    pytest.importorskip("river")
    from river import naive_bayes

    from ltm_sklearn.river import LongTermMemoryClassifier as RiverClassifier

    model = RiverClassifier(named([naive_bayes.GaussianNB(), naive_bayes.GaussianNB()]), memory=memory)
    n_classes = int(np.sqrt(MOST_COEFFICIENTS / 2)) + 3
    for at in range(5 * n_classes):
        assert ("stack" in [expert.kind for expert in getattr(model, "experts_", [])]) == (0 < at < n_classes - 2)
        model.learn_one({"a": at % n_classes + 0.1 * (at // n_classes % 2)}, at % n_classes)
    assert memory is None or "snapshot" in [expert.kind for expert in model.experts_]
    assert model._compiled_row() is not None  # rounds of one row are compiled again
    assert model.predict_one({"a": 3.0}) == 3


def test_sleeping_experts_do_not_change_the_confidence():
    predictions = np.zeros((10, 1, 3))
    predictions[4, 0] = [0.05, 0.9, 0.05]
    np.testing.assert_allclose(Stack(10).predict(predictions), [[0.05, 0.9, 0.05]], rtol=1e-9)
    np.testing.assert_allclose(Stack(10).predict(np.zeros((10, 1, 3))), [[1 / 3] * 3])


def test_stack_is_scored_with_its_issued_prediction():
    experts = [(f"{at}", FrozenEstimator(ReadsChance(at))) for at in range(2)]
    for rounds in ("batch", "row"):
        model = LongTermMemoryClassifier(experts, memory=None, rounds=rounds)
        model.partial_fit([[0.8, 0.8]], [1], classes=[0, 1])
        assert model.issue([[0.8, 0.8]], ["late"]).tolist() == [1]
        for _ in range(30):
            model.partial_fit([[0.8, 0.8]] * 10, [0] * 10)
        before = model._engine.pool.stats.rounds[2]
        model.learn(["late"], [0])
        assert model._engine.pool.stats.rounds[2] == before + 1.0


def test_one_expert_has_no_stack():
    model = LongTermMemoryClassifier([("0", FrozenEstimator(ReadsChance(0)))], memory=None)
    model.partial_fit([[0.1], [0.9]], [0, 1], classes=[0, 1])
    assert [expert.kind for expert in model.experts_] == ["frozen"]
