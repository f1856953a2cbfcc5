import copy
import pickle
from collections import Counter

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.aggregation._follow_or_blend import SingleAlgorithm
from ltm_sklearn.engine import Engine, Expert
from ltm_sklearn.engine._recent_rounds import RecentRounds
from ltm_sklearn.engine._snapshot_memory import RisingLoss, SnapshotMemory
from ltm_sklearn.experts import LongTermMemory
from ltm_sklearn.losses._regression_score import RegressionScore
from ltm_sklearn.streams import stagger

pytestmark = pytest.mark.fast_cases(3)

# Models that predict the last target that they learned ----------------------------------------------------------


class LastTarget:
    def __init__(self):
        self.says, self.rows_learned = np.nan, 0


class LastTargets:
    def fresh(self, source):
        return LastTarget()

    def copy(self, model):
        return copy.deepcopy(model)

    def last_rows(self, X, most):
        return X[-most:].copy()

    def concatenated(self, batches):
        return np.concatenate(batches)

    def predict(self, model, X):
        return np.full((len(X), 1), model.says)

    def salvaged(self, source, model):
        return model

    def learn(self, source, model, X, y, first):
        model.says, model.rows_learned = float(y[-1]), model.rows_learned + len(X)
        return model


class Threshold:
    """Drift detector with River's interface that records the losses."""

    def __init__(self, threshold):
        self.threshold, self.heard, self.drift_detected = threshold, [], False

    def update(self, x):
        self.heard.append(x)
        self.drift_detected = x > self.threshold


def engine_with(n_learners=1, **parameters):
    memory = SnapshotMemory(Snapshots(**{"merge": None, "on_drift": False, **parameters}))
    weighting = SingleAlgorithm(LongTermMemory(), linear=False)
    engine = Engine(
        weighting, RegressionScore("absolute_error", average=False), "average", False, False, memory, None, 0
    )
    names = [f"learner{at}" for at in range(n_learners)]
    engine.begin([Expert(name, name, "live", LastTarget(), 0) for name in names], LastTargets())
    return engine


def learn(engine, level, n_rows=10):
    y = np.full(n_rows, float(level))
    engine.learn(np.zeros((n_rows, 1)), y, y, None, LastTargets())


def of_kind(engine, kind):
    return [expert for expert in engine.pool.experts if expert.kind == kind]


# When snapshots are taken -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "born"), [(1, [100, 200, 300]), (7, [105, 210, 315]), (50, [100, 200, 300]), (150, [150, 300, 450])]
)
def test_snapshots_are_taken_every_n_rows_for_any_batch_size(n_rows, born):
    engine = engine_with(every=100)
    while engine.n_rows < 320:
        learn(engine, engine.n_rows, n_rows)
    assert [expert.born for expert in of_kind(engine, "snapshot")] == born
    assert [expert.name for expert in of_kind(engine, "snapshot")] == [f"learner0@{row}" for row in born]


class OneKnows(LastTargets):
    """Models of which only one is good; the others are off by one."""

    def __init__(self, good):
        self.good = good

    def learn(self, source, model, X, y, first):
        return super().learn(source, model, X, y + (source != self.good), first)


def test_learner_with_the_least_recent_loss_is_copied():
    engine = engine_with(n_learners=3, every=50)
    y = np.ones(10)
    for good in ("learner1", "learner2", "learner0"):
        for _ in range(5):
            engine.learn(np.zeros((10, 1)), y, y, None, OneKnows(good))
    assert [expert.source for expert in of_kind(engine, "snapshot")] == ["learner1", "learner2", "learner0"]
    assert [expert.model.says for expert in of_kind(engine, "snapshot")] == [1.0, 1.0, 1.0]


def test_every_none_takes_snapshots_at_alarms_only():
    engine = engine_with(every=None, on_drift=Threshold(5.0))
    for level in [0.0] * 60 + [10.0] * 3 + [20.0] * 2:
        learn(engine, level)
    assert [expert.born for expert in of_kind(engine, "snapshot")] == [610, 640]


def test_detector_gets_the_median_loss_and_is_a_copy():
    given = Threshold(50.0)
    engine = engine_with(n_learners=3, every=None, on_drift=given)
    for level in [0.0, 1.0, 1.0, 3.0]:
        learn(engine, level)
    assert engine.memory.detector.heard == [1.0, 0.0, 2.0]
    assert given.heard == []


def test_one_outlier_among_three_learners_is_no_alarm():
    engine = engine_with(n_learners=3, every=None, on_drift=Threshold(5.0))
    y = np.ones(10)
    for at in range(10):
        engine.learn(np.zeros((10, 1)), y, y, None, LastTargets())
        engine.pool.experts[0].model.says = float(100 * at)
    assert of_kind(engine, "snapshot") == []


def test_snapshot_at_an_alarm_is_from_before_it():
    engine = engine_with(every=None, on_drift=Threshold(5.0))
    for level in [0.0] * 30 + [10.0]:
        learn(engine, level)
    (taken,) = of_kind(engine, "snapshot")
    assert of_kind(engine, "live")[0].model.says == 10.0  # it has learned the rows that caused the alarm
    assert taken.model.says == 0.0
    assert taken.model.rows_learned < 300


def test_snapshot_at_an_alarm_is_from_before_a_slow_rise():
    engine = engine_with(every=200, on_drift=Threshold(5.0))
    for level in [0.0] * 15 + [1.0, 2.0, 3.0, 4.0, 10.0]:  # 40 rows of creeping before the alarm
        learn(engine, level)
    (taken,) = of_kind(engine, "snapshot")
    assert taken.model.says == 0.0


def test_alarm_postpones_the_next_scheduled_snapshot():
    engine = engine_with(every=100, on_drift=Threshold(5.0))
    for level in [0.0] * 5 + [10.0] * 20:
        learn(engine, level)
    assert [expert.born for expert in of_kind(engine, "snapshot")] == [60, 160]


def test_river_detector_can_be_used():
    drift = pytest.importorskip("river.drift")
    engine = engine_with(every=None, on_drift=drift.ADWIN(), restart=False)
    noise = np.random.default_rng(0).random(300) < 0.05  # rare mistakes, then one in each round
    level = 0.0
    for wrong in [*noise, *[True] * 100]:
        level += float(wrong)
        learn(engine, level, 1)
    births = [expert.born for expert in of_kind(engine, "snapshot")]
    assert births
    assert births[0] > 300
    pickle.loads(pickle.dumps(engine))


# The built-in detector --------------------------------------------------------------------------------------------


def alarms(losses):
    detector, at = RisingLoss(), []
    for t, loss in enumerate(losses):
        detector.update(float(loss))
        if detector.drift_detected:
            at.append(t)
    return at


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("before", "after", "within"), [(0.1, 0.5, 60), (0.0, 0.5, 20), (0.3, 0.7, 60), (0.0, 1.0, 5)])
def test_rising_loss_is_detected_soon(before, after, within, seed):
    rng = np.random.default_rng(seed)
    found = alarms([*(rng.random(500) < before), *(rng.random(100) < after)])
    assert any(500 <= at < 500 + within for at in found)


STATIONARY = {
    "rare mistakes": lambda rng: rng.random(10_000) < 0.01,
    "mistakes": lambda rng: rng.random(10_000) < 0.1,
    "coin": lambda rng: rng.random(10_000) < 0.5,
    "means of ten": lambda rng: rng.binomial(10, 0.2, 10_000) / 10,
    "squares": lambda rng: 1e-6 * rng.normal(size=10_000) ** 2,
    "normal": lambda rng: rng.normal(size=10_000),
}


@pytest.mark.parametrize("noise", STATIONARY.values(), ids=STATIONARY.keys())
def test_false_alarms_are_rare(noise):
    per_stream = [len(alarms(noise(np.random.default_rng(seed)))) for seed in range(3)]
    assert np.mean(per_stream) <= 10  # one in a thousand, of a distribution as skewed as that of rare mistakes


@pytest.mark.parametrize(
    "losses", [[0.0] * 500, [0.3] * 500, [1.0] * 100 + [0.0] * 100, [0.0] * 500 + [1.0] + [0.0] * 99]
)
def test_constant_or_falling_loss_and_one_mistake_are_no_alarm(losses):
    assert alarms(losses) == []


def test_detector_restarts_after_an_alarm():
    losses = [*[0.0] * 100, *[1.0] * 100, *[5.0] * 100]
    found = alarms(losses)
    assert len(found) == 2  # the second level is soon the usual one
    assert found[0] < 110
    assert 200 <= found[1] < 210


# Dropped snapshots --------------------------------------------------------------------------------------------------


def test_old_snapshot_with_the_least_weight_is_dropped():
    engine = engine_with(n_learners=2, every=30, max_size=4)
    rng = np.random.default_rng(0)
    evictions, weights, remove_expert = 0, {}, engine.pool.remove_expert

    def noting_the_weights(expert):
        weights.update(zip(engine.pool.experts, engine.pool.stats.mean_weights(), strict=True))
        remove_expert(expert)

    engine.pool.remove_expert = noting_the_weights
    for _ in range(150):
        before = of_kind(engine, "snapshot")
        learn(engine, rng.integers(5))
        after = of_kind(engine, "snapshot")
        assert len(after) <= 4
        assert len(of_kind(engine, "live")) == 2
        assert len(of_kind(engine, "restarted")) == 2
        assert len(engine.pool.experts) == len(engine.pool.weights())
        gone, kept = [e for e in before if e not in after], [e for e in before if e in after]
        if len(gone) == 1:
            evictions += 1
            grown = [e for e in before if engine.n_rows - e.born >= 60]
            assert gone[0] in (grown or before)
            rivals = [e for e in kept if e in grown] if grown else kept
            assert all(weights[gone[0]] <= weights[rival] for rival in rivals)
    assert evictions > 5


def test_dropping_a_snapshot_keeps_the_weights_of_others():
    # the one that is right keeps its weight while others come and go around it
    engine = engine_with(every=20, max_size=3, restart=False)
    for level in [0.0, 7.0, 7.0]:
        learn(engine, level)
    for at in range(60):
        y, level = np.full(10, 7.0), float(at % 3)
        engine.learn(np.zeros((10, 1)), np.full(10, level), y, None, LastTargets())  # it learns what is not scored
    right = next(expert for expert in engine.pool.experts if expert.kind == "snapshot" and expert.model.says == 7.0)
    assert engine.pool.weights()[engine.pool.experts.index(right)] > 0.9
    assert len(of_kind(engine, "snapshot")) == 3


def test_live_and_frozen_experts_are_never_dropped():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(int)
    bad = FrozenEstimator(GaussianNB().fit(X, 1 - y))
    model = LongTermMemoryClassifier([("bad", bad), ("nb", GaussianNB())], memory=Snapshots(every=20, max_size=2))
    for at in range(0, 400, 10):
        model.partial_fit(X[at : at + 10], y[at : at + 10], classes=[0, 1])
        kinds = [expert.kind for expert in model.experts_]
        assert kinds[:4] == ["frozen", "live", "stack", "restarted"]
        assert kinds.count("snapshot") <= 2
    assert kinds.count("snapshot") > 0


# Restarts -----------------------------------------------------------------------------------------------------------


def test_restarted_learner_starts_anew_after_each_snapshot():
    engine = engine_with(every=50)
    ages = []
    for _ in range(12):
        learn(engine, 1.0)
        ages.append(of_kind(engine, "restarted")[0].model.rows_learned)
    assert ages == [10, 20, 30, 40, 0] * 2 + [10, 20]
    assert of_kind(engine, "live")[0].model.rows_learned == 120


def test_restarted_learner_shares_the_prior_of_its_live_learner():
    engine = engine_with(n_learners=2)
    np.testing.assert_allclose(engine.pool.weights(), np.full(4, 0.25))
    memory = SnapshotMemory(Snapshots(on_drift=False))
    algorithm = LongTermMemory(prior=[0.9, 0.1])
    weighting = SingleAlgorithm(algorithm, linear=False)
    engine = Engine(
        weighting, RegressionScore("absolute_error", average=False), "average", False, False, memory, None, 0
    )
    engine.begin([Expert(name, name, "live", LastTarget(), 0) for name in ("often", "seldom")], LastTargets())
    assert [expert.name for expert in engine.pool.experts] == ["often", "seldom", "often@restarted", "seldom@restarted"]
    np.testing.assert_allclose(engine.pool.weighting.algorithm.prior_, [0.45, 0.05, 0.45, 0.05])
    np.testing.assert_allclose(engine.pool.weights()[:2], engine.pool.weights()[2:])
    assert engine.pool.weights()[0] > engine.pool.weights()[1]


def test_untrained_restarted_learner_sleeps():
    engine = engine_with(every=10)
    for _ in range(3):
        learn(engine, 1.0)
        assert not engine.predict(np.zeros((2, 1)), 2, LastTargets()).awake[1].any()


def test_failures_of_a_learner_that_was_just_restarted_are_not_reported():
    class NeedsRows(LastTargets):
        def predict(self, model, X):
            if model.rows_learned < 20:
                raise ValueError("too few rows")
            return super().predict(model, X)

    engine, y, reports = engine_with(every=50), np.ones(10), []
    for _ in range(12):
        reports += engine.learn(np.zeros((10, 1)), y, y, None, NeedsRows())
    assert [report.expert for report in reports] == ["'learner0'"]


def test_restart_false_has_no_restarted_learner():
    engine = engine_with(every=50, restart=False)
    for _ in range(12):
        learn(engine, 1.0)
    assert [expert.kind for expert in engine.pool.experts] == ["live", "snapshot", "snapshot"]


def test_better_of_live_and_restarted_learner_is_copied():
    class OldFool(LastTargets):
        """Live learners, which are never restarted, get worse with age."""

        def predict(self, model, X):
            return super().predict(model, X) + (model.rows_learned > 50)

    engine = engine_with(every=50)
    y = np.ones(10)
    for _ in range(10):
        engine.learn(np.zeros((10, 1)), y, y, None, OldFool())
    assert [expert.model.rows_learned for expert in of_kind(engine, "snapshot")] == [50, 50]


# Merging ------------------------------------------------------------------------------------------------------------


def test_snapshot_replaces_an_old_one_that_it_agrees_with():
    engine = engine_with(every=50, merge=0.98)
    for level in [0.0] * 5 + [10.0] * 5:
        learn(engine, level)
    first, second = of_kind(engine, "snapshot")
    index = engine.pool.experts.index(first)
    joined, rounds = first.joined, engine.pool.stats.rounds[index]
    weights = engine.pool.weights()
    for _ in range(4):
        learn(engine, 0.0)
        assert len(of_kind(engine, "snapshot")) == 2
    learn(engine, 0.0)
    assert of_kind(engine, "snapshot") == [first, second]
    assert (first.name, first.born, first.joined) == ("learner0@150", 150, joined)
    assert engine.pool.stats.rounds[index] == rounds + 5  # its past goes on
    assert first.model.rows_learned in (50, 150)  # the new model
    assert len(engine.pool.weights()) == len(weights)


@pytest.mark.parametrize(("merge", "n_snapshots"), [(0.98, 2), (0.5, 1), (None, 6), (1.0, 6)])
def test_merge_is_the_agreement_beyond_which_snapshots_merge(merge, n_snapshots):
    # the targets' range is 10; snapshots say 0 and 4 in turn: they agree to 0.6
    engine = engine_with(every=20, merge=merge, restart=False)
    learn(engine, 10.0)
    learn(engine, 0.0)
    for level in [4.0, 0.0, 4.0, 0.0, 4.0]:
        learn(engine, level)
        learn(engine, level)
    assert len(of_kind(engine, "snapshot")) == n_snapshots


@pytest.mark.parametrize(("says", "kept"), [(0.1, "learner0@50"), (0.0, "learner0@100")])
def test_better_one_of_two_similar_snapshots_is_kept(says, kept):
    # the targets' range is 10 and lately they are 0; the new snapshot has learned something else, or just the same
    engine = engine_with(every=50, merge=0.98, restart=False)
    for level in [10.0] + [0.0] * 8:
        learn(engine, level)
    engine.learn(np.zeros((10, 1)), np.full(10, says), np.zeros(10), None, LastTargets())
    assert [expert.name for expert in of_kind(engine, "snapshot")] == [kept]


def test_snapshots_of_different_learners_are_not_merged():
    engine = engine_with(n_learners=2, every=50, merge=0.5)
    y = np.ones(10)
    for at in range(20):
        engine.learn(np.zeros((10, 1)), y, y, None, OneKnows("learner0" if at < 10 else "learner1"))
    assert [expert.source for expert in of_kind(engine, "snapshot")] == ["learner0", "learner1"]


def test_recent_rows_are_bounded_copies():
    engine = engine_with(every=50, merge=0.9)
    buffer = np.zeros((30, 1))
    y = np.ones(30)
    for at in range(50):
        buffer[:] = at
        engine.learn(buffer, y, y, None, LastTargets())
    assert 200 <= sum(len(each.X) for each in engine.memory.recent.rounds) < 230
    assert [int(each.X[0, 0]) for each in engine.memory.recent.rounds] == list(range(43, 50))


@pytest.mark.parametrize("batch_size", [7, 250])
def test_comparing_snapshots_uses_their_stored_predictions(batch_size, monkeypatch):
    stream = stagger(order="random", length=150, n_segments=6, noise=0.05, seed=0)
    asked = Counter()

    class Counts(GaussianNB):
        def predict_proba(self, X):
            asked[id(self)] += len(X)
            return super().predict_proba(X)

    def outcome():
        asked.clear()
        model = LongTermMemoryClassifier([("bayes", Counts())], memory=Snapshots(every=40, max_size=4), random_state=0)
        for X, y, _ in stream.batches(batch_size):
            model.partial_fit(X, y, classes=[0, 1])
        return [expert.name for expert in model.experts_], model.weights_.tolist(), asked.total()

    names, weights, n_asked = outcome()
    monkeypatch.setattr(RecentRounds, "follow", lambda self, experts: self.__dict__.update(indices=[], experts=[]))
    same_names, same_weights, n_asked_again = outcome()
    assert (names, weights) == (same_names, same_weights)
    assert len([name for name in names if "@" in name]) > 2
    assert n_asked < (0.7 if batch_size < 100 else 0.9) * n_asked_again


# Properties of snapshots ---------------------------------------------------------------------------------------------


def switching(n_batches, seed=0):
    """Yield batches whose labels are flipped every 30 batches."""
    rng = np.random.default_rng(seed)
    for at in range(n_batches):
        X = rng.normal(size=(10, 2))
        yield X, ((X[:, 0] > 0) ^ (at // 30 % 2 == 1)).astype(int)


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), SGDClassifier(random_state=0), DecisionTreeClassifier(max_depth=3)]
)
def test_snapshots_are_never_trained(estimator):
    memory = Snapshots(every=100, max_size=50, merge=None)
    model = LongTermMemoryClassifier([("one", estimator)], memory=memory)
    as_taken = {}
    for X, y in switching(90):
        model.partial_fit(X, y, classes=[0, 1])
        for expert in of_kind(model._engine, "snapshot"):
            as_taken.setdefault(expert.name, pickle.dumps(expert.model))
    assert len(as_taken) > 5
    assert {e.name: pickle.dumps(e.model) for e in of_kind(model._engine, "snapshot")} == as_taken


def test_ensembles_do_not_share_the_snapshots_parameter():
    memory = Snapshots(every=20, on_drift=Threshold(0.5))
    one, other = (LongTermMemoryClassifier([("nb", GaussianNB())], memory=memory) for _ in range(2))
    for X, y in switching(10):
        one.partial_fit(X, y, classes=[0, 1])
    assert vars(memory).keys() == {"every", "on_drift", "max_size", "restart", "merge"}
    assert memory.on_drift.heard == []
    other.partial_fit(*next(switching(1)), classes=[0, 1])
    assert len(other.experts_) == 2


def test_memory_none_keeps_only_the_learners():
    model = LongTermMemoryClassifier([("nb", GaussianNB())], memory=None)
    for X, y in switching(60):
        model.partial_fit(X, y, classes=[0, 1])
    assert [expert.name for expert in model.experts_] == ["nb"]


@pytest.mark.parametrize("memory", ["auto", Snapshots(every=20, max_size=5, merge=None)])
def test_memory_is_bounded_on_a_long_stream(memory):
    model = LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))], memory=memory, record=20)
    rng = np.random.default_rng(0)
    sizes = []
    for at in range(600):
        X = rng.normal(size=(20, 2))
        model.partial_fit(X, X[:, 0] * (1 if at // 25 % 2 else -1) + at % 7)
        if at % 50 == 49:
            sizes.append(len(pickle.dumps(model)))
    limit = 20 if memory == "auto" else 5
    assert len(model.experts_) <= limit + 2
    assert max(sizes[8:]) < 1.1 * max(sizes[4:8])


# Bad parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"every": 0}, "every=0 must be a positive integer"),
        ({"every": 2.5}, "every=2.5 must be a positive integer"),
        ({"every": True}, "every=True must be a positive integer"),
        ({"max_size": 0}, "max_size=0 must be a positive integer"),
        ({"max_size": None}, "max_size=None must be a positive integer"),
        ({"merge": 1.5}, "merge=1.5 must lie in"),
        ({"merge": "often"}, "merge='often' must be a number"),
        ({"restart": "yes"}, "restart='yes' must be True or False"),
        ({"on_drift": "ADWIN"}, "on_drift='ADWIN' is neither True, False nor a drift detector"),
        ({"on_drift": None}, "on_drift=None is neither True, False nor a drift detector"),
        ({"on_drift": RisingLoss}, "is neither True, False nor a drift detector"),
        ({"on_drift": Threshold}, "is neither True, False nor a drift detector"),
        ({"every": None, "on_drift": False}, "would never take one: use memory=None"),
        ({"every": None, "on_drift": np.False_}, "would never take one: use memory=None"),
    ],
)
def test_invalid_parameters_are_named(parameters, message):
    model = LongTermMemoryClassifier([("nb", GaussianNB())], memory=Snapshots(**parameters))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*next(switching(1)), classes=[0, 1])
    assert not hasattr(model, "classes_")
