"""Rounds in which only selected experts are queried: feedback="bandit"."""

import itertools
import pickle

import joblib
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from support.bandit_experts import (
    CALLS,
    CLASSES,
    ROWS,
    Keen,
    RecordingBandit,
    SpyChance,
    SpyNumber,
    asked,
    classifier,
    first_of,
    frozen_spies,
    random_rows,
    regressor,
    updates_of,
)
from support.stream_experts import (
    RAISES_IN_LEARN,
    RAISES_IN_PREDICT,
    SAYS_NAN,
    MoodyChance,
    MoodyNumber,
    assert_same_outcome,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.aggregation._bandit import BanditWeighting
from ltm_sklearn.bandits import Exp3, Exp3S
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.experts import FixedShare

# Queries -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_queries", [1, 2, 4])
@pytest.mark.parametrize("combine", ["average", "leader", "sample"])
def test_learning_queries_the_experts_that_predicted(n_queries, combine):
    model = classifier(algorithm=RecordingBandit([1, 2, 3, 4]), n_queries=n_queries, combine=combine)
    for seed in range(12):
        X, y = random_rows(5, seed=seed)
        if seed:
            _, in_predict = asked(model.predict, X)
            _, again = asked(model.predict_proba, X[:2])
            assert set(in_predict) == set(again)
            assert sorted(in_predict.values()) == [1] * n_queries
        _, in_learn = asked(model.partial_fit, X, y, CLASSES)
        assert sorted(in_learn.values()) == [1] * n_queries
        if seed:
            assert in_learn == in_predict
        assert {*updates_of(model)[-1][0]} == {*in_learn}
    assert len({arms for arms, _, _ in updates_of(model)}) > 1 or n_queries == 4


def test_fit_queries_one_expert_per_batch():
    X, y = random_rows(95)
    model, calls = asked(classifier(batch_size=10).fit, X, y)
    assert sum(calls.values()) == 10
    assert model.n_rounds_ == 10


def test_delayed_labels_cost_one_query_per_row():
    model = classifier().partial_fit(*random_rows(1), CLASSES)
    before = sum(CALLS.values())
    for at in range(60):
        X, y = random_rows(1, seed=at)
        model.issue(X, [at])
        if at >= 10:
            model.learn([at - 10], y)
    assert sum(CALLS.values()) - before == 60


def test_rounds_of_one_row_have_their_own_draws_in_one_call():
    X, y = random_rows(200)
    model = classifier(algorithm=RecordingBandit([1, 2, 3, 4]), rounds="row").partial_fit(X, y, CLASSES)
    rows_before = dict(ROWS)
    said, calls = asked(model.transform, X)
    assert calls == dict.fromkeys(range(4), 1)
    assert sum(ROWS.values()) - sum(rows_before.values()) == 200
    heard = ~np.isnan(said.reshape(200, 4, 2)[:, :, 1])
    assert (heard.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(said.reshape(200, 4, 2)[:, :, 1][heard], X[heard])
    np.testing.assert_allclose(heard.mean(axis=0), [0.1, 0.2, 0.3, 0.4], atol=0.1)
    model.partial_fit(X, y)
    told = updates_of(model)[-200:]
    assert [arms for arms, _, _ in told] == [(int(at),) for at in heard.argmax(axis=1)]
    wrong = (X[heard] > 0.5) != y
    assert [losses for _, losses, _ in told] == [(float(each),) for each in wrong]
    assert model.n_rounds_ == 400


def test_rounds_of_one_row_with_several_queries():
    X, _ = random_rows(50)
    model = regressor(rounds="row", n_queries=3, combine="sample").partial_fit(X, X[:, 0])
    heard = ~np.isnan(model.transform(X))
    assert (heard.sum(axis=1) == 3).all()
    assert (model.predict(X)[:, np.newaxis] == np.where(heard, X, np.nan)).sum() == 50


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_frames_and_n_jobs_give_the_same_results(rounds):
    pandas = pytest.importorskip("pandas")
    X, y = random_rows(30)
    plain = classifier(n_queries=2, rounds=rounds).partial_fit(X, y, CLASSES)
    with joblib.parallel_config(backend="threading"):
        parallel = classifier(n_queries=2, rounds=rounds, n_jobs=2).partial_fit(X, y, CLASSES)
        assert_same_outcome(plain, parallel, X)
    frame = classifier(n_queries=2, rounds=rounds).partial_fit(pandas.DataFrame(X, columns=list("abcd")), y, CLASSES)
    np.testing.assert_array_equal(
        plain.predict_proba(X), frame.predict_proba(pandas.DataFrame(X, columns=list("abcd")))
    )


def test_only_trained_experts_are_queried_and_all_learn():
    learners = [("bayes", GaussianNB()), ("sgd", SGDClassifier(random_state=0)), ("never", Never())]
    model = classifier(experts=learners, algorithm=RecordingBandit([1, 1, 100]), n_queries=3)
    for seed in range(5):
        X, y = random_rows(20, seed=seed)
        with pytest.warns(ExpertWarning, match="'never'") if seed == 0 else no_warning():
            model.partial_fit(X, y, CLASSES)
        assert not np.isnan(model.transform(X)[:, :4]).any()
        assert np.isnan(model.transform(X)[:, 4:]).all()
    assert model.named_estimators_["bayes"].class_count_.sum() == 100
    assert [{*arms} for arms, _, _ in updates_of(model)] == 4 * [{0, 1}]  # in the first round nobody was trained


class Never(DummyClassifier):
    def partial_fit(self, X, y, classes=None):
        raise RuntimeError("no mood at all")


class no_warning:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


# Predictions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("combine", ["average", "leader", "sample"])
def test_one_query_returns_the_prediction_of_the_selected_expert(combine):
    model = classifier(combine=combine)
    for seed in range(6):
        X, y = random_rows(3, seed=seed)
        model.partial_fit(X, y, CLASSES)
        chances = model.predict_proba(X)[:, 1]
        np.testing.assert_allclose(chances, X[:, first_of(model)])


def test_several_queries_are_combined_over_the_selected_experts():
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    models = {
        combine: regressor(algorithm=RecordingBandit(shares), n_queries=2, combine=combine)
        for combine in ("average", "leader", "sample")
    }
    firsts = []
    for seed in range(30):
        X, _ = random_rows(2, seed=seed)
        for model in models.values():
            model.partial_fit(X, [-9.0, 9.0])
        heard = ~np.isnan(models["average"].transform(X)[0])
        weights = np.where(heard, shares, 0.0) / shares[heard].sum()
        np.testing.assert_allclose(models["average"].predict(X), X @ weights)
        np.testing.assert_array_equal(models["leader"].predict(X), X[:, weights.argmax()])
        (first,) = np.flatnonzero(X[0] == models["sample"].predict(X)[0])
        assert heard[first]
        firsts.append(first == weights.argmax())
    assert 0.4 < np.mean(firsts) < 0.95  # by its share, while the leader always is the heaviest


def test_losses_are_not_linearised_and_there_is_no_stack():
    X, y = random_rows(50)
    model = classifier(algorithm=RecordingBandit()).partial_fit(X, y, CLASSES)
    assert [expert.kind for expert in model.experts_] == ["frozen"] * 4
    ((arms, losses, _),) = updates_of(model)
    assert losses == pytest.approx([np.mean((X[:, arms[0]] > 0.5) != y)])
    numbers = regressor(algorithm=RecordingBandit())
    for seed in range(3):
        X, _ = random_rows(5, seed=seed)
        numbers.partial_fit(X, X[:, 0])
    assert numbers.loss_[updates_of(numbers)[-1][0][0]] >= 0.0


# Importance weights -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_queries", [1, 2, 3])
@pytest.mark.parametrize("able", [(True, True, True, True), (True, False, True, True)])
def test_query_probabilities_are_sums_over_all_draws(n_queries, able):
    """The first by its share of those able, the others even: the sum over all such draws that have an expert."""
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    candidates = np.flatnonzero(able)
    exact = np.zeros(4)
    for first in candidates:
        others = list(itertools.combinations(candidates[candidates != first], n_queries - 1))
        for rest in others:
            exact[[first, *rest]] += shares[first] / shares[candidates].sum() / len(others)
    drawing = BanditWeighting(RecordingBandit(shares), n_queries)
    drawing.begin(4)
    estimates = np.zeros(4)
    n_draws = 1000
    for seed in range(n_draws):
        drawn = drawing.select_experts(np.array(able), 1, [np.random.default_rng(seed)])
        chances = drawn.probabilities[:, 0]
        assert (chances > 0.0).sum() == n_queries
        np.testing.assert_allclose(chances[chances > 0.0], exact[chances > 0.0])
        estimates[chances > 0.0] += 1.0 / chances[chances > 0.0]
    np.testing.assert_allclose(estimates[candidates] / n_draws, 1.0, atol=0.3)


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_importance_weighted_losses_are_unbiased(rounds):
    model = classifier(algorithm=RecordingBandit([4, 3, 2, 1]), n_queries=2, rounds=rounds)
    rng = np.random.default_rng(0)
    wrong = np.array([0.1, 0.8, 0.4, 0.6])
    estimates, losses = np.zeros(4), np.zeros(4)
    n_rounds = 0
    while n_rounds < 400:
        y = rng.integers(0, 2, 20)
        X = np.where(rng.random((20, 4)) < wrong, 1 - y[:, np.newaxis], y[:, np.newaxis]).astype(float)
        model.partial_fit(X, y, CLASSES)
        losses += (y[:, np.newaxis] != X).sum(axis=0)
        n_rounds = model.n_rounds_
    for arms, seen, chances in updates_of(model):
        estimates[list(arms)] += np.array(seen) / np.array(chances)
    rows = 20 if rounds == "batch" else 1
    np.testing.assert_allclose(estimates / n_rounds, losses / n_rounds / rows, atol=0.15)


# Failures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mood", [RAISES_IN_PREDICT, SAYS_NAN])
@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
def test_failed_query_costs_the_worst_loss(mood):
    moody = [("moody", FrozenEstimator(MoodyChance(1))), ("other", FrozenEstimator(SpyChance(2)))]
    model = classifier(experts=moody, algorithm=RecordingBandit([1e6, 1]))
    X, y = np.array([[0.0, 0.9, 0.5]] * 4), np.array([1, 1, 1, 0])
    model.partial_fit(X, y, CLASSES)
    X[:, 0] = mood
    with pytest.warns(ExpertWarning, match="'moody' could not predict"):
        said = model.predict(X)
    assert said.tolist() == [1] * 4  # the class that came most
    model.partial_fit(X, np.array([0, 0, 0, 1]))
    assert updates_of(model)[-1][:2] == ((0,), (1.0,))
    assert model.loss_[0] == 0.25  # of the round in which it answered
    assert model.n_rounds_ == 2


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
@pytest.mark.parametrize("combine", ["average", "sample"])
def test_failure_in_some_rows_costs_the_worst_loss_in_these_rows(combine):
    moody = [("moody", FrozenEstimator(MoodyNumber(1))), ("other", FrozenEstimator(SpyNumber(2)))]
    model = regressor(
        experts=moody, algorithm=RecordingBandit([1e6, 1]), n_queries=2, combine=combine, loss="absolute_error"
    )
    model.partial_fit(np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 4.0]]), np.array([0.0, 8.0]))
    X = np.array([[SAYS_NAN, 0.0, 3.0], [0.0, 1.0, 3.0]])
    assert model.predict(X)[0] == 3.0
    model.partial_fit(X, np.array([2.0, 2.0]))
    _, (first, second), chances = updates_of(model)[-1]
    assert chances == (1.0, 1.0)
    # the first lost 1 where it answered, which is half of the round, and so did the other one in all of it
    low, high, _ = model._engine.score.observed_range
    rescaled = (1.0 - low) / (high - low)
    assert (first, second) == pytest.approx([(1.0 + rescaled) / 2.0, rescaled])


class Dead(SpyChance):
    def predict_proba(self, X):
        CALLS["dead"] += 1
        raise ConnectionError("nobody there")


class DeadNumber(SpyNumber):
    def predict(self, X):
        CALLS["dead"] += 1
        raise ConnectionError("nobody there")


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
@pytest.mark.parametrize("seed", [0, 3])
def test_dead_classifier_is_avoided_though_the_fallback_is_better(seed):
    rng = np.random.default_rng(seed)
    experts = [("dead", FrozenEstimator(Dead(0))), *frozen_spies(4)[1:]]
    model = classifier(experts=experts, random_state=seed)
    CALLS.clear()
    for _ in range(500):
        y = (rng.random(1) < 0.02).astype(int)  # the fallback is right in 98 of 100
        X = np.where(rng.random((1, 4)) < 0.04, 1 - y, y).astype(float)
        model.partial_fit(X, y, CLASSES)
    assert CALLS["dead"] < 50


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
def test_dead_regressor_is_avoided_though_the_fallback_is_better():
    rng = np.random.default_rng(0)
    model = regressor(experts=[("dead", FrozenEstimator(DeadNumber(0))), *frozen_spies(4, SpyNumber)[1:]])
    CALLS.clear()
    for _ in range(500):
        y = 5.0 + 0.01 * rng.normal(size=1)
        model.partial_fit(y[:, np.newaxis] + 0.3 * rng.normal(size=(1, 4)), y)
    assert CALLS["dead"] < 50


def test_on_error_raise_changes_nothing():
    moody = [("moody", FrozenEstimator(MoodyChance(1))), ("other", FrozenEstimator(SpyChance(2)))]
    model = classifier(experts=moody, algorithm=Keen(), on_error="raise")
    model.partial_fit(*random_rows(4, 3), CLASSES)
    before = pickle.dumps(model)
    X, y = random_rows(4, 3, seed=1)
    X[:, 0] = RAISES_IN_PREDICT
    n_raised = 0
    for _ in range(30):
        drawn = first_of(model)
        if drawn == 0:
            with pytest.raises(RuntimeError, match="no mood to predict"):
                model.partial_fit(X, y)
            n_raised += 1
            assert_same_outcome(model, pickle.loads(before), np.full((2, 3), 0.5))
        else:
            model.partial_fit(X, y)
            before = pickle.dumps(model)
        if n_raised == 2:
            break
    assert n_raised == 2


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
def test_expert_without_predictions_loses_its_probability():
    moody = [("moody", FrozenEstimator(MoodyChance(1))), ("good", FrozenEstimator(SpyChance(2)))]
    model = classifier(experts=moody, algorithm=Keen())
    rng = np.random.default_rng(0)
    for _ in range(100):
        y = rng.integers(0, 2, 5)
        X = np.column_stack([np.full(5, SAYS_NAN), y, y])
        model.partial_fit(X, y, CLASSES)
    assert model.leader_ == "good"
    assert model.weights_[1] > 0.8
    assert np.isnan(model.loss_[0])


# Memory -------------------------------------------------------------------------------------------------------------


def test_memory_auto_is_none_with_bandit_feedback():
    model = classifier(experts=[("bayes", GaussianNB())])
    for seed in range(6):
        model.partial_fit(*random_rows(100, seed=seed), CLASSES)
    assert [expert.name for expert in model.experts_] == ["bayes"]


@pytest.mark.parametrize("on_drift", [False, True])
def test_snapshots_are_arms_and_comparing_them_costs_no_query(on_drift):
    memory = Snapshots(every=50, on_drift=on_drift, merge=None, max_size=3)
    model = classifier(experts=[("spy", SpyLearner())], memory=memory, algorithm=Keen())
    rng = np.random.default_rng(0)
    for at in range(60):
        X = rng.normal(size=(10, 2))
        y = ((X[:, 0] > 0) ^ (at // 15 % 2 == 1)).astype(int)
        _, calls = asked(model.partial_fit, X, y, CLASSES)
        assert sum(calls.values()) == (at > 0)
    kinds = [expert.kind for expert in model.experts_]
    assert kinds.count("snapshot") == 3
    assert "restarted" in kinds
    assert model.weights_.sum() == pytest.approx(1.0)
    assert len(model.weights_) == len(kinds)


class SpyLearner(GaussianNB):
    def predict_proba(self, X):
        CALLS["learner"] += 1
        return super().predict_proba(X)


# Wrong input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feedback": "partial"}, "feedback='partial'"),
        ({"feedback": "bandit", "n_queries": 0}, "n_queries=0"),
        ({"feedback": "bandit", "n_queries": 1.5}, "n_queries=1.5"),
        ({"feedback": "bandit", "n_queries": 4}, "n_queries=4 is more than the 3 experts"),
        ({"n_queries": 2}, "n_queries=2 needs feedback='bandit'"),
        ({"feedback": "bandit", "algorithm": FixedShare()}, r"algorithm=FixedShare\(\) .* feedback='bandit' needs"),
        ({"algorithm": Exp3S()}, r"algorithm=Exp3S\(\) .* feedback='full' needs"),
        ({"feedback": "bandit", "algorithm": "hedge"}, "algorithm='hedge' .* The names are discounted_ucb, exp3,"),
        ({"feedback": "bandit", "memory": Snapshots()}, r"use Snapshots\(merge=None\)"),
        ({"feedback": "bandit", "algorithm": Exp3S(exploration=2.0)}, "exploration=2.0"),
        ({"feedback": "bandit", "algorithm": Exp3(loss_range=(-1, 0))}, "from -1 to 0; the losses of experts"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    for ensemble, spy in ((LongTermMemoryClassifier, SpyChance), (LongTermMemoryRegressor, SpyNumber)):
        model = ensemble(frozen_spies(3, spy), **parameters)
        with pytest.raises(ValueError, match=message):
            model.fit(*random_rows(20))
        assert not hasattr(model, "n_features_in_")


def test_n_queries_counts_without_dropped_experts():
    model = classifier(3, n_queries=3).set_params(column1="drop")
    with pytest.raises(ValueError, match="n_queries=3 is more than the 2 experts"):
        model.fit(*random_rows(20))


def test_round_that_raises_does_not_change_the_bandit():
    model = classifier(experts=[("moody", MoodyChance(1)), ("too", MoodyChance(2))], algorithm=RecordingBandit())
    model.partial_fit(*random_rows(3, 3), CLASSES)
    X, y = random_rows(3, 3, seed=1)
    model.partial_fit(X, y)
    told = updates_of(model)
    X[:2, 0] = RAISES_IN_PREDICT, RAISES_IN_LEARN
    with pytest.raises(RuntimeError, match="no mood to learn"):  # nobody answered, and nobody could learn
        model.partial_fit(X, y)
    assert updates_of(model) == told
    assert model.n_rounds_ == 2
