"""Labels that arrive after later predictions."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from support.stream_experts import ReadsChance, ReadsNumber, assert_same_outcome, frozen_readers

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.aggregation import FollowOrBlend
from ltm_sklearn.experts import LongTermMemory

K = 3


def learning_classifier(**parameters):
    experts = [("nb", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
    return LongTermMemoryClassifier(experts, **{"memory": Snapshots(every=40), **parameters})


def learning_regressor(**parameters):
    return LongTermMemoryRegressor(
        [("sgd", SGDRegressor(random_state=0))], **{"memory": Snapshots(every=40), **parameters}
    )


def batches(n_batches, n_rows=10, seed=0, numbers=False):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        X = rng.normal(size=(n_rows, K))
        yield X, X[:, 0] if numbers else (X[:, 0] > 0).astype(int)


def begun(make, numbers=False, **parameters):
    model = make(**parameters)
    X, y = next(batches(1, seed=9, numbers=numbers))
    return model.partial_fit(X, y, **({} if numbers else {"classes": [0, 1]}))


@pytest.mark.parametrize("rounds", ["batch", "row"])
@pytest.mark.parametrize("make", [learning_classifier, learning_regressor])
def test_issue_and_learn_without_delay_equal_partial_fit(make, rounds):
    numbers = make is learning_regressor
    at_once, later = (begun(make, numbers, rounds=rounds, record=50) for _ in range(2))
    for at, (X, y) in enumerate(batches(20, numbers=numbers)):
        np.testing.assert_array_equal(later.issue(X, range(10 * at, 10 * at + 10)), at_once.predict(X))
        at_once.partial_fit(X, y)
        later.learn(range(10 * at, 10 * at + 10), y)
    assert_same_outcome(at_once, later, next(batches(1, seed=1))[0])
    if rounds == "batch":  # otherwise it was issued with one and the same weights, not with those of each row's round
        np.testing.assert_allclose([r.loss for r in later.history_], [r.loss for r in at_once.history_])


@pytest.mark.parametrize("delay", [1, 5])
def test_delayed_round_scores_the_issued_predictions(delay):
    model = LongTermMemoryClassifier(frozen_readers(ReadsChance, K), loss="zero_one", memory=None)
    model.partial_fit(np.full((1, K), 0.5), [0], classes=[0, 1])
    algorithm = LongTermMemory()
    algorithm.update(np.zeros(K))
    rng = np.random.default_rng(0)
    waiting = []
    for at in range(30):
        X, y = rng.random((4, K)), rng.integers(0, 2, 4)
        model.issue(X, [(at, row) for row in range(4)])
        waiting.append((at, X, y))
        if len(waiting) > delay:
            then, said, truth = waiting.pop(0)
            model.learn([(then, row) for row in range(4)], truth)
            algorithm.update(((said > 0.5) != truth[:, np.newaxis]).mean(axis=0))
            np.testing.assert_allclose(model.weights_, algorithm.weights())


def test_delayed_round_updates_with_the_weights_of_its_issue(monkeypatch):
    model = LongTermMemoryClassifier(frozen_readers(ReadsChance, K), memory=None)
    rng = np.random.default_rng(0)
    rows = [(rng.random((10, K)), rng.integers(0, 2, 10)) for _ in range(20)]
    model.partial_fit(*rows[0], classes=[0, 1])
    model.issue(rows[1][0], range(10))
    issued = model._pending.due(range(10))[0].issued.parts
    for X, y in rows[2:]:
        model.partial_fit(X, y)
    assert not np.allclose(model._engine.pool.weighting.member_weights(), issued)
    update, used = FollowOrBlend.update, []
    monkeypatch.setattr(
        FollowOrBlend,
        "update",
        lambda self, losses, parts, mixture: (used.append(parts), update(self, losses, parts, mixture)),
    )
    model.learn(range(10), rows[1][1])
    np.testing.assert_array_equal(used[0], issued)


def test_gradient_and_recorded_loss_use_the_issued_mixture():
    model = LongTermMemoryRegressor(frozen_readers(ReadsNumber, 2), memory=None, record=100)
    model.partial_fit([[0.0, 1.0], [0.0, 1.0]], [0.0, 1.0])
    said = model.issue([[0.0, 1.0]], ["early"])
    for _ in range(20):
        model.partial_fit([[0.0, 1.0]], [1.0])
    assert abs(model.predict([[0.0, 1.0]])[0] - said[0]) > 0.2
    model.learn(["early"], [0.5])
    assert model.history_[-1].loss == pytest.approx((said[0] - 0.5) ** 2)


def test_labels_arrive_in_any_order_in_part_or_never():
    model = begun(learning_classifier)
    stream = list(batches(6))
    for at, (X, _) in enumerate(stream):
        model.issue(X, [f"{at}-{row}" for row in range(10)])
    before = model.n_rounds_
    model.learn(["3-4", "1-2", "3-0"], [stream[3][1][4], stream[1][1][2], stream[3][1][0]])
    assert model.n_rounds_ == before + 2  # rows that were issued together are a round
    assert model.n_samples_seen_ == 13
    model.learn([f"5-{row}" for row in range(10)], stream[5][1])
    with pytest.raises(ValueError, match=r"id '5-0' is not waiting.*has been learned"):
        model.learn(["5-0"], [1])
    assert model.n_rounds_ == before + 3


def test_experts_are_trained_on_the_issued_rows():
    model = begun(learning_classifier, memory=None)
    X, y = next(batches(1))
    mine = X.copy()
    model.issue(mine, range(10))
    mine[:] = 1e6  # the caller may use its array again
    model.learn([7, 2], y[[7, 2]])
    alone = GaussianNB().partial_fit(*next(batches(1, seed=9)), classes=[0, 1]).partial_fit(X[[7, 2]], y[[7, 2]])
    np.testing.assert_allclose(model.named_estimators_.nb.theta_, alone.theta_)


def test_experts_that_joined_after_the_issue_sleep():
    model = begun(learning_classifier, memory=Snapshots(every=20, max_size=2, merge=None, on_drift=False))
    X, y = next(batches(1, seed=3))
    then = {expert.name for expert in model.experts_}
    model.issue(X, range(10))
    for rows, labels in batches(12):
        model.partial_fit(rows, labels)

    def rounds():
        names = [expert.name for expert in model.experts_]
        return dict(zip(names, model._engine.pool.stats.rounds.tolist(), strict=True))

    before = rounds()
    model.learn(range(10), y)
    after = rounds()
    newcomers = (set(before) & set(after)) - then
    assert newcomers
    assert all(after[name] == before[name] for name in newcomers)  # they slept
    assert after["nb"] == 13


def test_oldest_rows_are_dropped_beyond_max_pending():
    model = begun(learning_classifier, max_pending=15)
    first, second = batches(2)
    model.issue(first[0], range(10))
    model.issue(second[0], range(10, 20))
    with pytest.raises(ValueError, match=r"id 4 is not waiting.*dropped when more than 15 rows waited"):
        model.learn([4], [0])
    model.learn(range(5, 20), np.concatenate([first[1][5:], second[1]]))
    assert model.n_samples_seen_ == 25


def test_waiting_rows_are_pickled_and_dropped_by_fit():
    model = begun(learning_classifier)
    X, y = next(batches(1))
    model.issue(X, range(10))
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        each.learn(range(10), y)
    assert_same_outcome(model, again, X)
    model.issue(X, range(10))
    model.fit(X, y)
    with pytest.raises(ValueError, match="id 0 is not waiting"):
        model.learn([0], [0])


def test_sample_weights_are_parts_of_a_round():
    models = [begun(learning_classifier, memory=None) for _ in range(2)]
    X, y = next(batches(1))
    for model in models:
        model.issue(X, range(10))
    weights = np.array([1.0, 0.0] * 5)
    models[0].learn(range(10), y, sample_weight=weights)
    models[1].partial_fit(X, y, sample_weight=weights)
    assert_same_outcome(*models, X)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda model, X, y: model.issue(X, range(3)), "3 ids for 10 rows"),
        (lambda model, X, y: model.issue(X, [0] * 10), "id 0 is given twice"),
        (lambda model, X, y: model.issue(X, range(100, 110)), "id 100 is waiting for its target already"),
        (lambda model, X, y: model.issue(X[:, :2], range(10)), "features"),
        (lambda model, X, y: model.learn([100, 100], [0, 1]), "given twice"),
        (lambda model, X, y: model.learn([100, 7], [0, 1]), "id 7 is not waiting for a target: it was never issued"),
        (lambda model, X, y: model.learn([100], [5]), "label .*5"),
        (lambda model, X, y: model.learn([100], None), "requires y"),
        (lambda model, X, y: model.learn([100, 101], [0]), "2 ids for 1 targets"),
        (lambda model, X, y: model.learn([100], [0], sample_weight=[0.0]), "non-zero"),
    ],
)
def test_invalid_input_is_named_and_changes_nothing(spoil, message):
    model, untouched = begun(learning_classifier), begun(learning_classifier)
    X, y = next(batches(1))
    for each in (model, untouched):
        each.issue(X, range(100, 110))
    with pytest.raises(ValueError, match=message):
        spoil(model, X, y)
    for each in (model, untouched):
        each.learn(range(100, 110), y)
    assert_same_outcome(model, untouched, X)


def test_issue_needs_a_fitted_model_and_a_positive_buffer():
    with pytest.raises(NotFittedError):
        learning_classifier().issue(np.zeros((1, K)), [0])
    with pytest.raises(ValueError, match="max_pending=0"):
        begun(learning_classifier, max_pending=0)


def test_waiting_rows_do_not_keep_their_whole_batch():
    model = LongTermMemoryClassifier([("bayes", GaussianNB())], memory=None)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] > 0).astype(int)
    model.partial_fit(X, y, classes=[0, 1])
    sizes = []
    for batch in range(4):
        ids = [(batch, row) for row in range(100)]
        model.issue(X, ids)
        kept = model._pending._waiting[batch, 42]
        expected = kept.issued.mixture[42].copy()
        model.learn([each for each in ids if each[1] not in (7, 42)], np.delete(y, [7, 42]))
        assert len(kept.X) == len(kept.issued.mixture) <= 4
        np.testing.assert_array_equal(kept.X[kept.rows[batch, 42]], X[42])
        np.testing.assert_array_equal(kept.issued.mixture[kept.rows[batch, 42]], expected)
        sizes.append(len(pickle.dumps(model)))
    assert sizes[-1] - sizes[0] < 3 * X.nbytes
    rounds = model.n_rounds_
    model.learn([(2, 42), (1, 7)], y[[42, 7]])
    assert model.n_rounds_ == rounds + 2
    assert len(model._pending) == 6


def test_complete_rounds_are_not_repeated_if_a_later_one_fails():
    class Refuses(GaussianNB):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            if (X < 0).any():
                raise RuntimeError("negative")
            return super().partial_fit(X, y, classes, sample_weight)

    model = LongTermMemoryClassifier([("picky", Refuses())], memory=None, on_error="raise")
    model.partial_fit([[0.5], [0.7], [0.1], [0.2]], [1, 1, 0, 0], classes=[0, 1])
    model.issue([[0.4]], ["a"])
    model.issue([[-0.4]], ["b"])
    with pytest.raises(RuntimeError):
        model.learn(["a", "b"], [0, 1])
    assert model.n_rounds_ == 2
    with pytest.raises(ValueError, match="id 'a' is not waiting"):
        model.learn(["a"], [0])
    assert len(model._pending) == 1
