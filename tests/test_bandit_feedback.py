"""The estimators when only some experts can be asked: feedback="bandit"."""

import copy
import itertools
import pickle

import joblib
import numpy as np
import pytest
from bandit_experts import CALLS, ROWS, Keen, SpyChance, SpyNumber, Told, asked, frozen_spies, told_by
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from stream_experts import (
    RAISES_IN_LEARN,
    RAISES_IN_PREDICT,
    SAYS_NAN,
    MoodyChance,
    MoodyNumber,
    ReadsNumber,
    assert_same_outcome,
    frozen_readers,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn._drawing import Drawing
from ltm_sklearn._engine import ExpertWarning
from ltm_sklearn._models import Expert
from ltm_sklearn._round import Issued
from ltm_sklearn.bandits import Exp3, Exp3S
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.evaluation._contestants import Rows, contestant_of
from ltm_sklearn.experts import FixedShare
from ltm_sklearn.losses import SeenRange, TargetScore

CLASSES = [0, 1]


def classifier(n_experts=4, experts=None, algorithm=None, **parameters):
    experts = frozen_spies(n_experts) if experts is None else experts
    parameters = {"random_state": 0, **parameters}
    return LongTermMemoryClassifier(experts, feedback="bandit", algorithm=algorithm, **parameters)


def regressor(n_experts=4, experts=None, algorithm=None, **parameters):
    experts = frozen_spies(n_experts, SpyNumber) if experts is None else experts
    parameters = {"random_state": 0, **parameters}
    return LongTermMemoryRegressor(experts, feedback="bandit", algorithm=algorithm, **parameters)


def random_rows(n_rows, n_columns=4, seed=0):
    """Chances of class 1 that are not tied, and classes."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.01, 0.99, (n_rows, n_columns)), rng.integers(0, 2, n_rows)


def first_of(model):
    """The expert that is asked in this round, of a model that asks one."""
    row = np.full((1, model.n_features_in_), 0.5)
    said = model.transform(row)[0].reshape(len(model.experts_), -1)[:, 0]
    (seat,) = np.flatnonzero(~np.isnan(said))
    return int(seat)


# Who is asked -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [1, 2, 4])
@pytest.mark.parametrize("combine", ["average", "leader", "sample"])
def test_so_many_experts_are_asked_and_learning_asks_the_same_ones(query, combine):
    model = classifier(algorithm=Told([1, 2, 3, 4]), query=query, combine=combine)
    for seed in range(12):
        X, y = random_rows(5, seed=seed)
        if seed:
            _, in_predict = asked(model.predict, X)
            _, again = asked(model.predict_proba, X[:2])
            assert set(in_predict) == set(again)
            assert sorted(in_predict.values()) == [1] * query
        _, in_learn = asked(model.partial_fit, X, y, CLASSES)
        assert sorted(in_learn.values()) == [1] * query
        if seed:
            assert in_learn == in_predict
        assert {*told_by(model)[-1][0]} == {*in_learn}
    assert len({arms for arms, _, _ in told_by(model)}) > 1 or query == 4


def test_fit_asks_one_expert_a_batch():
    X, y = random_rows(95)
    model, calls = asked(classifier(batch_size=10).fit, X, y)
    assert sum(calls.values()) == 10
    assert model.n_rounds_ == 10


def test_targets_that_come_later_cost_one_question_a_row():
    model = classifier().partial_fit(*random_rows(1), CLASSES)
    before = sum(CALLS.values())
    for at in range(60):
        X, y = random_rows(1, seed=at)
        model.issue(X, [at])
        if at >= 10:
            model.learn([at - 10], y)
    assert sum(CALLS.values()) - before == 60


def test_rows_that_are_rounds_have_draws_of_their_own_and_each_expert_is_asked_once():
    X, y = random_rows(200)
    model = classifier(algorithm=Told([1, 2, 3, 4]), rounds="row").partial_fit(X, y, CLASSES)
    rows_before = dict(ROWS)
    said, calls = asked(model.transform, X)
    assert calls == dict.fromkeys(range(4), 1)
    assert sum(ROWS.values()) - sum(rows_before.values()) == 200
    heard = ~np.isnan(said.reshape(200, 4, 2)[:, :, 1])
    assert (heard.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(said.reshape(200, 4, 2)[:, :, 1][heard], X[heard])
    np.testing.assert_allclose(heard.mean(axis=0), [0.1, 0.2, 0.3, 0.4], atol=0.1)
    model.partial_fit(X, y)
    told = told_by(model)[-200:]
    assert [arms for arms, _, _ in told] == [(int(at),) for at in heard.argmax(axis=1)]
    wrong = (X[heard] > 0.5) != y
    assert [losses for _, losses, _ in told] == [(float(each),) for each in wrong]
    assert model.n_rounds_ == 400


def test_rows_that_are_rounds_with_several_questions_each():
    X, _ = random_rows(50)
    model = regressor(rounds="row", query=3, combine="sample").partial_fit(X, X[:, 0])
    heard = ~np.isnan(model.transform(X))
    assert (heard.sum(axis=1) == 3).all()
    assert (model.predict(X)[:, np.newaxis] == np.where(heard, X, np.nan)).sum() == 50


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_frames_and_parallel_experts_are_the_same(rounds):
    pandas = pytest.importorskip("pandas")
    X, y = random_rows(30)
    plain = classifier(query=2, rounds=rounds).partial_fit(X, y, CLASSES)
    with joblib.parallel_config(backend="threading"):
        parallel = classifier(query=2, rounds=rounds, n_jobs=2).partial_fit(X, y, CLASSES)
        assert_same_outcome(plain, parallel, X)
    frame = classifier(query=2, rounds=rounds).partial_fit(pandas.DataFrame(X, columns=list("abcd")), y, CLASSES)
    np.testing.assert_array_equal(
        plain.predict_proba(X), frame.predict_proba(pandas.DataFrame(X, columns=list("abcd")))
    )


def test_only_trained_experts_are_drawn_and_all_learners_learn():
    learners = [("bayes", GaussianNB()), ("sgd", SGDClassifier(random_state=0)), ("never", Never())]
    model = classifier(experts=learners, algorithm=Told([1, 1, 100]), query=3)
    for seed in range(5):
        X, y = random_rows(20, seed=seed)
        with pytest.warns(ExpertWarning, match="'never'") if seed == 0 else no_warning():
            model.partial_fit(X, y, CLASSES)
        assert not np.isnan(model.transform(X)[:, :4]).any()
        assert np.isnan(model.transform(X)[:, 4:]).all()
    assert model.named_estimators_["bayes"].class_count_.sum() == 100
    assert [{*arms} for arms, _, _ in told_by(model)] == 4 * [{0, 1}]  # in the first round nobody was trained


class Never(DummyClassifier):
    def partial_fit(self, X, y, classes=None):
        raise RuntimeError("no mood at all")


class no_warning:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


# What is issued -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("combine", ["average", "leader", "sample"])
def test_with_one_question_what_is_issued_is_what_the_drawn_expert_said(combine):
    model = classifier(combine=combine)
    for seed in range(6):
        X, y = random_rows(3, seed=seed)
        model.partial_fit(X, y, CLASSES)
        chances = model.predict_proba(X)[:, 1]
        np.testing.assert_allclose(chances, X[:, first_of(model)])


def test_with_several_questions_they_are_combined_as_ever_of_those_that_were_asked():
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    models = {
        combine: regressor(algorithm=Told(shares), query=2, combine=combine)
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


def test_plain_losses_are_charged_and_there_is_no_stack():
    X, y = random_rows(50)
    model = classifier(algorithm=Told()).partial_fit(X, y, CLASSES)
    assert [expert.kind for expert in model.experts_] == ["frozen"] * 4
    ((arms, losses, _),) = told_by(model)
    assert losses == pytest.approx([np.mean((X[:, arms[0]] > 0.5) != y)])
    numbers = regressor(algorithm=Told())
    for seed in range(3):
        X, _ = random_rows(5, seed=seed)
        numbers.partial_fit(X, X[:, 0])
    assert numbers.loss_[told_by(numbers)[-1][0][0]] >= 0.0


# Importance weights -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [1, 2, 3])
@pytest.mark.parametrize("able", [(True, True, True, True), (True, False, True, True)])
def test_chances_are_those_of_all_possible_draws(query, able):
    """The first by its share of those able, the others even: the sum over all such draws that have an expert."""
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    candidates = np.flatnonzero(able)
    exact = np.zeros(4)
    for first in candidates:
        others = list(itertools.combinations(candidates[candidates != first], query - 1))
        for rest in others:
            exact[[first, *rest]] += shares[first] / shares[candidates].sum() / len(others)
    drawing = Drawing(Told(shares), query)
    drawing.begin(4)
    experts = [Expert(str(at), str(at), "frozen", None, 0, trained=able[at]) for at in range(4)]
    estimates = np.zeros(4)
    n_draws = 1000
    for seed in range(n_draws):
        drawn = drawing.draws(experts, 1, [np.random.default_rng(seed)])
        chances = drawn.chances[:, 0]
        assert (chances > 0.0).sum() == query
        np.testing.assert_allclose(chances[chances > 0.0], exact[chances > 0.0])
        estimates[chances > 0.0] += 1.0 / chances[chances > 0.0]
    np.testing.assert_allclose(estimates[candidates] / n_draws, 1.0, atol=0.3)


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_estimated_losses_are_right_in_the_mean(rounds):
    model = classifier(algorithm=Told([4, 3, 2, 1]), query=2, rounds=rounds)
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
    for arms, seen, chances in told_by(model):
        estimates[list(arms)] += np.array(seen) / np.array(chances)
    rows = 20 if rounds == "batch" else 1
    np.testing.assert_allclose(estimates / n_rounds, losses / n_rounds / rows, atol=0.15)


# Failures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mood", [RAISES_IN_PREDICT, SAYS_NAN])
@pytest.mark.filterwarnings("ignore::ltm_sklearn._engine.ExpertWarning")
def test_a_drawn_expert_that_fails_is_charged_the_worst_loss_whatever_the_guess_lost(mood):
    moody = [("moody", FrozenEstimator(MoodyChance(1))), ("other", FrozenEstimator(SpyChance(2)))]
    model = classifier(experts=moody, algorithm=Told([1e6, 1]))
    X, y = np.array([[0.0, 0.9, 0.5]] * 4), np.array([1, 1, 1, 0])
    model.partial_fit(X, y, CLASSES)
    X[:, 0] = mood
    with pytest.warns(ExpertWarning, match="'moody' could not predict"):
        said = model.predict(X)
    assert said.tolist() == [1] * 4  # the class that came most
    model.partial_fit(X, np.array([0, 0, 0, 1]))
    assert told_by(model)[-1][:2] == ((0,), (1.0,))
    assert model.loss_[0] == 0.25  # of the round in which it answered
    assert model.n_rounds_ == 2


@pytest.mark.filterwarnings("ignore::ltm_sklearn._engine.ExpertWarning")
@pytest.mark.parametrize("combine", ["average", "sample"])
def test_one_that_fails_in_some_rows_is_charged_the_worst_loss_in_these(combine):
    moody = [("moody", FrozenEstimator(MoodyNumber(1))), ("other", FrozenEstimator(SpyNumber(2)))]
    model = regressor(experts=moody, algorithm=Told([1e6, 1]), query=2, combine=combine, loss="absolute")
    model.partial_fit(np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 4.0]]), np.array([0.0, 8.0]))
    X = np.array([[SAYS_NAN, 0.0, 3.0], [0.0, 1.0, 3.0]])
    assert model.predict(X)[0] == 3.0
    model.partial_fit(X, np.array([2.0, 2.0]))
    _, (first, second), chances = told_by(model)[-1]
    assert chances == (1.0, 1.0)
    # the first lost 1 where it answered, which is half of the round, and so did the other one in all of it
    low, high, _ = model._engine.score.seen
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


@pytest.mark.filterwarnings("ignore::ltm_sklearn._engine.ExpertWarning")
@pytest.mark.parametrize("seed", [0, 3])
def test_one_that_is_dead_is_not_the_favourite_where_guesses_are_better_than_the_experts(seed):
    rng = np.random.default_rng(seed)
    experts = [("dead", FrozenEstimator(Dead(0))), *frozen_spies(4)[1:]]
    model = classifier(experts=experts, random_state=seed)
    CALLS.clear()
    for _ in range(500):
        y = (rng.random(1) < 0.02).astype(int)  # the guess is right in 98 of 100
        X = np.where(rng.random((1, 4)) < 0.04, 1 - y, y).astype(float)
        model.partial_fit(X, y, CLASSES)
    assert CALLS["dead"] < 50


@pytest.mark.filterwarnings("ignore::ltm_sklearn._engine.ExpertWarning")
def test_one_that_is_dead_is_not_the_favourite_where_the_mean_is_better_than_the_experts():
    rng = np.random.default_rng(0)
    model = regressor(experts=[("dead", FrozenEstimator(DeadNumber(0))), *frozen_spies(4, SpyNumber)[1:]])
    CALLS.clear()
    for _ in range(500):
        y = 5.0 + 0.01 * rng.normal(size=1)
        model.partial_fit(y[:, np.newaxis] + 0.3 * rng.normal(size=(1, 4)), y)
    assert CALLS["dead"] < 50


def test_errors_are_raised_if_so_wished_and_nothing_has_changed():
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


@pytest.mark.filterwarnings("ignore::ltm_sklearn._engine.ExpertWarning")
def test_one_who_never_answers_is_given_up():
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


# Targets that come later --------------------------------------------------------------------------------------------


def test_late_targets_are_learned_with_the_chances_of_their_issue():
    model = classifier(algorithm=Keen(switching=0.1)).partial_fit(*random_rows(2), CLASSES)
    rng = np.random.default_rng(3)
    issued = []
    for at in range(40):
        X = rng.uniform(size=(1, 4))
        probabilities = model.weights_
        said, calls = asked(model.issue, X, [at])
        (arm,) = calls
        issued.append((at, arm, probabilities[arm]))
        assert said[0] == (X[0, arm] > 0.5)
        if at % 3 == 0:
            model.partial_fit(*random_rows(2, seed=at))
    assert len({arm for _, arm, _ in issued}) == 4  # each issue has a draw of its own
    listening = ListeningBandit(model._engine.weighting.algorithm)
    model._engine.weighting.algorithm = listening
    for at, arm, chance in reversed(issued):
        model.learn([at], [1])
        assert listening.heard[-1][0] == [arm]
        assert listening.heard[-1][1] == pytest.approx([chance])


class ListeningBandit:
    """A bandit, with all that it is told written down; copies write in the same book."""

    def __init__(self, bandit, heard=None):
        self.bandit, self.heard = bandit, [] if heard is None else heard

    def __copy__(self):
        return ListeningBandit(copy.copy(self.bandit), self.heard)

    def __getattr__(self, name):
        return getattr(self.bandit, name)

    def update(self, arms, losses, probability):
        self.heard.append((arms.tolist(), probability.tolist()))
        self.bandit.update(arms, losses, probability=probability)


def test_each_issue_has_a_draw_of_its_own_with_nothing_learned_in_between():
    model = classifier(algorithm=Told()).partial_fit(*random_rows(2), CLASSES)
    arms = [next(iter(asked(model.issue, random_rows(1, seed=at)[0], [at])[1])) for at in range(30)]
    assert {*arms} == {0, 1, 2, 3}
    assert first_of(model) == first_of(model)  # while a round that is asked about again has one


def test_chances_go_with_their_expert_when_another_one_has_gone_meanwhile():
    experts = [Expert(name, name, "frozen", None, 0, trained=True) for name in "abc"]
    chances, said = np.array([[0.0], [0.3], [0.7]]), np.array([[[1.0]], [[2.0]], [[3.0]]])
    even = np.full(3, 1.0 / 3.0)
    issued = Issued(experts, [0] * 3, said, chances > 0.0, even, even[np.newaxis], said[2], [], [], chances)
    later = issued.recalled(np.array([0]), [experts[1], experts[2]], 1)
    assert later.chances.tolist() == [[0.3], [0.7]]
    assert later.predictions.ravel().tolist() == [2.0, 3.0]
    newcomer = Expert("d", "d", "frozen", None, 0, trained=True)
    assert issued.recalled(np.array([0]), [experts[2], newcomer], 1).chances.tolist() == [[0.7], [0.0]]


def test_late_targets_of_a_batch_are_of_one_draw_in_however_many_parts():
    model = classifier(algorithm=Told()).partial_fit(*random_rows(2), CLASSES)
    X, y = random_rows(6, seed=5)
    _, calls = asked(model.issue, X, range(6))
    assert sum(calls.values()) == 1
    model.learn([4, 1], y[[4, 1]])
    model.learn([0, 2, 3, 5], y[[0, 2, 3, 5]])
    (arm,) = calls
    wrong = ((X[:, arm] > 0.5) != y).astype(float)
    for (arms, losses, chances), rows in zip(told_by(model)[-2:], ([4, 1], [0, 2, 3, 5]), strict=True):
        assert (arms, chances) == ((arm,), (0.25,))
        assert losses == pytest.approx([wrong[rows].mean()])


def test_late_targets_of_rows_that_are_rounds_are_each_of_their_own_draw():
    model = classifier(algorithm=Told([1, 2, 3, 4]), rounds="row").partial_fit(*random_rows(2), CLASSES)
    X, y = random_rows(12, seed=5)
    said = model.issue(X, range(12))
    chances = model._pending.due([0])[0].issued.chances
    arms = chances.argmax(axis=0)
    assert len({*arms.tolist()}) > 1
    assert said.tolist() == (X[np.arange(12), arms] > 0.5).tolist()
    for at in [3, 0, 8, 11, 5, 6, 7, 1, 2, 10, 9, 4]:  # of which few are held in the end
        model.learn([at], y[[at]])
        (arm,), (loss,), (chance,) = told_by(model)[-1]
        assert (arm, loss) == (arms[at], float(said[at] != y[at]))
        assert chance == pytest.approx((arm + 1) / 10)


def test_arms_that_have_gone_when_their_targets_come_teach_nothing():
    memory = Snapshots(every=10, on_drift=False, restart=False, merge=None, max_size=2)
    model = classifier(experts=[("bayes", GaussianNB())], memory=memory, algorithm=Told([1e-9, 1.0]))
    for seed in range(3):
        model.partial_fit(*random_rows(10, seed=seed), CLASSES)
    model.issue(random_rows(1, seed=9)[0], ["late"])
    held = model._pending.due(["late"])[0].issued
    gone = held.experts[int(held.chances[:, 0].argmax())]
    for seed in range(3, 12):
        model.partial_fit(*random_rows(10, seed=seed))
    assert gone not in model._engine.experts
    told = told_by(model)
    model.learn(["late"], [1])
    assert told_by(model) == told
    assert model.n_rounds_ == 13


# Memory -------------------------------------------------------------------------------------------------------------


def test_memory_is_none_unless_asked_for():
    model = classifier(experts=[("bayes", GaussianNB())])
    for seed in range(6):
        model.partial_fit(*random_rows(100, seed=seed), CLASSES)
    assert [expert.name for expert in model.experts_] == ["bayes"]


@pytest.mark.parametrize("on_drift", [False, True])
def test_snapshots_are_arms_too_and_nobody_is_asked_to_compare_them(on_drift):
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
    assert "young" in kinds
    assert model.weights_.sum() == pytest.approx(1.0)
    assert len(model.weights_) == len(kinds)


class SpyLearner(GaussianNB):
    def predict_proba(self, X):
        CALLS["learner"] += 1
        return super().predict_proba(X)


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


def test_the_good_one_of_five_is_found_and_found_again_after_a_switch():
    experts = frozen_spies(5)
    algorithm = Keen(switching=0.03)
    runs = [right_by_phase(classifier(5, experts, algorithm, random_state=seed)) for seed in range(2)]
    assert (np.mean(runs, axis=0)[:, 1] > 0.7).all()  # 0.44 with experts drawn evenly


def test_with_defaults_the_good_one_is_found_again_sooner_with_more_questions():
    """Two of six take turns; none of the others is right more often than by chance."""
    right = [
        right_by_phase(classifier(6, query=query, combine="leader"), n_phases=4, length=150, n_experts=6)
        for query in (1, 3, 6)
    ]
    means = [each.mean() for each in right]
    assert means[0] < means[1] + 0.01 < means[2] + 0.03
    assert (right[0][1:, 1] > 0.75).all()  # in the later half of each phase; 0.42 drawn evenly
    assert right[0][2:].mean() > 0.75  # both have been seen before


def test_the_good_regressor_is_found_whatever_the_scale():
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


def test_asking_all_is_as_good_as_full_information():
    bandit = right_by_phase(classifier(5, frozen_readers_of_chances(5), Keen(rate=1.0), query=5, combine="leader"))
    full = LongTermMemoryClassifier(frozen_readers_of_chances(5), memory=None, combine="leader", loss="zero_one")
    np.testing.assert_allclose(bandit.mean(axis=0), right_by_phase(full).mean(axis=0), atol=0.05)


def frozen_readers_of_chances(n_columns):
    return frozen_readers(SpyChance, n_columns)


@pytest.mark.parametrize(("noise", "heavy"), [(0.3, False), (0.1, True)])
def test_with_defaults_a_regressor_finds_the_good_one_again_one_row_a_round(noise, heavy):
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
def test_weights_of_rows_count(rounds):
    X, y = random_rows(6)
    weights = np.array([2.0, 0.0, 1.0, 2.0, 0.0, 0.0])
    model = classifier(algorithm=Told(), rounds=rounds)
    model.partial_fit(X, y, CLASSES, sample_weight=weights)
    arms = [arm for (arm,), _, _ in told_by(model)]
    losses = np.array([loss for _, (loss,), _ in told_by(model)])
    wrong = ((X > 0.5) != y[:, np.newaxis]).astype(float)
    if rounds == "batch":
        assert losses == pytest.approx(weights @ wrong[:, arms] / 5.0)
    else:
        lost = wrong[[0, 2, 3], arms]
        assert losses == pytest.approx([lost[0], (lost[0] + lost[1]) / 2.0, lost[2]])  # half of it is the usual loss


def test_a_mistake_in_a_row_of_little_weight_is_no_praise():
    model = classifier(1, algorithm=Told(), rounds="row")
    X, y = np.full((201, 1), 0.9), np.tile([0, 1], 101)[:201]  # wrong in every other row
    y[-1] = 0
    model.partial_fit(X, y, CLASSES, sample_weight=[1.0] * 200 + [0.01])
    (_, (last,), _) = told_by(model)[-1]
    assert last == pytest.approx(0.505, abs=0.01)


class Counting(Told):
    n_worked_out = 0

    def _distribution(self, state):
        type(self).n_worked_out += 1
        return super()._distribution(state)


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_probabilities_are_worked_out_once_for_each_state(rounds):
    model = classifier(algorithm=Counting(), rounds=rounds).partial_fit(*random_rows(1), CLASSES)
    Counting.n_worked_out = 0
    for seed in range(10):
        model.predict(random_rows(50, seed=seed)[0])
        model.partial_fit(*random_rows(1, seed=seed))
    assert Counting.n_worked_out <= 11


# Saving, copying, showing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [classifier, regressor])
def test_saved_in_mid_stream_it_goes_on_the_same(make):
    model = make(query=2, algorithm=Keen(), record=10)
    for seed in range(20):
        X, y = random_rows(3, seed=seed)
        model.partial_fit(X, y, **({"classes": CLASSES} if make is classifier else {}))
    other = pickle.loads(pickle.dumps(model))
    model.issue(X, "abc"), other.issue(X, "abc")
    for seed in range(20, 40):
        X, y = random_rows(3, seed=seed)
        assert_same_outcome(model.partial_fit(X, y), other.partial_fit(X, y), X)
    assert_same_outcome(model.learn("cab", y), other.learn("cab", y), X)


def test_draws_are_those_of_the_seed():
    def arms(seed):
        model = classifier(algorithm=Told(), random_state=seed)
        for at in range(30):
            model.partial_fit(*random_rows(1, seed=at), CLASSES)
        return [arms for arms, _, _ in told_by(model)]

    assert arms(1) == arms(1)
    assert arms(1) != arms(2)
    assert arms(None) != arms(None)


def test_parameters_clones_and_pictures():
    model = classifier(experts=[("bayes", GaussianNB())], algorithm=Keen(), query=1)
    params = model.get_params()
    assert (params["feedback"], params["query"], params["algorithm__rate"]) == ("bandit", 1, 0.3)
    model.fit(*random_rows(50))
    fresh = clone(model)
    assert not hasattr(fresh, "_engine")
    assert fresh.get_params()["feedback"] == "bandit"
    assert not hasattr(model.algorithm, "n_arms_")  # a copy of it runs
    assert "bayes" in model._repr_html_()


def test_what_is_shown_speaks_of_the_rounds_in_which_each_was_asked():
    model = classifier(algorithm=Told([1, 2, 3, 4]), record=100)
    asked_in = np.zeros(4)
    wrong = np.zeros(4)
    for seed in range(80):
        X, y = random_rows(2, seed=seed)
        model.partial_fit(X, y, CLASSES)
        (arm,) = told_by(model)[-1][0]
        asked_in[arm] += 1
        wrong[arm] += np.mean((X[:, arm] > 0.5) != y)
        assert list(model.history_[-1].losses) == [f"column{arm}"]
    np.testing.assert_allclose(model.loss_, wrong / asked_in)
    np.testing.assert_allclose(model.weights_, [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose([expert.long_term_weight for expert in model.experts_], [0.1, 0.2, 0.3, 0.4])
    assert model.leader_ == "column3"
    trace = model.trace()
    assert (np.isnan(trace.losses).sum(axis=1) == 3).all()


def test_weights_on_the_whole_are_those_of_all_rounds():
    model, weights = classifier(algorithm=Keen()), []
    for seed in range(40):
        model.partial_fit(*random_rows(3, seed=seed), CLASSES)
        weights.append(model.weights_)
    assert np.ptp(weights, axis=0).min() > 0.1
    np.testing.assert_allclose([expert.long_term_weight for expert in model.experts_], np.mean(weights, axis=0))


@pytest.mark.parametrize("query", [2, 4])
def test_the_plain_mean_is_on_record_if_all_were_asked(query):
    model = classifier(query=query, record=10)
    for seed in range(30):
        model.partial_fit(*random_rows(5, seed=seed), CLASSES)
    known = query == 4
    assert [np.isfinite(record.uniform) for record in model.history_] == [known] * len(model.history_)
    trace = model.trace().thinned(2)
    assert (trace.uniform is not None) is trace.all_were_asked is known


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_the_loss_on_record_is_that_of_what_was_issued(rounds):
    model = classifier(algorithm=Keen(), rounds=rounds, record=10).partial_fit(*random_rows(30), CLASSES)
    X, y = random_rows(30, seed=1)
    said = model.predict(X)
    model.partial_fit(X, y)
    assert model.history_[-1].loss == pytest.approx(np.mean(said != y))


@pytest.mark.parametrize("combine", ["average", "sample"])
def test_what_was_drawn_for_rows_that_are_rounds_is_not_combined_anew(combine):
    rows, _ = random_rows(60)
    model = regressor(algorithm=Keen(), rounds="row", query=2, combine=combine, loss="absolute", record=10)
    model.partial_fit(rows[:30], rows[:30, 1])
    said = model.predict(rows[30:])
    model.partial_fit(rows[30:], rows[30:, 1])
    assert model.history_[-1].loss == pytest.approx(np.abs(said - rows[30:, 1]).mean(), abs=1e-12)


def test_displays_draw_what_was_recorded():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from ltm_sklearn import display

    model = regressor(record=50).fit(random_rows(500)[0], random_rows(500)[0][:, 0])
    for kind in (display.WeightStackDisplay, display.ResidualDisplay, display.AverageLossDisplay):
        assert kind.from_estimator(model).ax_ is not None
    assert "plain mean" not in display.CumulativeLossDisplay.from_estimator(model).lines_  # nobody knows it
    every_row = regressor(record=50, batch_size=1).fit(random_rows(50)[0], random_rows(50)[0][:, 0])
    with pytest.raises(ValueError, match="not all experts were asked"):
        display.MemoryCurveDisplay.from_estimator(every_row)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("delay", [0, 7])
def test_prequential_runs_it(delay):
    X, y = random_rows(200)
    X[:, 2:] = y[:, np.newaxis]
    result = prequential({"bandit": classifier(algorithm=Keen())}, (X, y), batch_size=2, delay=delay, classes=CLASSES)
    assert result.scores["bandit"]["accuracy"] > 0.6


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("query", [1, 2])
def test_prequential_asks_once_about_each_row_and_scores_one_expert(delay, query):
    X, y = random_rows(120)
    CALLS.clear()
    model = classifier(query=query)
    result = prequential({"bandit": model}, (X, y), delay=delay, classes=CLASSES, probabilities=True)
    assert sum(CALLS.values()) <= query * 120
    if query == 1:  # then a label is wrong where its probability was less than a half, as both are of one expert
        scores = result.scores["bandit"]
        assert scores["accuracy"] > 0.0
        assert _wrong_by_chances(delay) == (0, 115 - delay)


def _wrong_by_chances(delay):
    """Rows in which labels and probabilities do not go together, and rows that were looked at."""
    X, y = random_rows(120)
    contestant = contestant_of("bandit", classifier().partial_fit(X[:5], y[:5], CLASSES), delay, 1)
    apart = n_rows = 0
    for at in range(5, 120 - delay):
        rows = Rows(X[at : at + 1], at, 1, None)
        (label,) = contestant.predict(rows)
        (chance,) = contestant.chances(rows, [1])
        apart += (chance > 0.5) != (label == 1)
        n_rows += 1
    return apart, n_rows


def test_probabilities_of_rows_whose_targets_come_later_are_of_what_is_learned():
    model = classifier(algorithm=Told([1, 2, 3, 4])).partial_fit(*random_rows(2), CLASSES)
    for at in range(20):
        X, y = random_rows(1, seed=at)
        said, calls = asked(model.issue_proba, X, [at])
        (arm,) = calls
        np.testing.assert_allclose(said, [[1.0 - X[0, arm], X[0, arm]]])
        model.learn([at], y)
        assert told_by(model)[-1][:2] == ((arm,), (float((X[0, arm] > 0.5) != y[0]),))


# Wrong input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feedback": "partial"}, "feedback='partial'"),
        ({"feedback": "bandit", "query": 0}, "query=0"),
        ({"feedback": "bandit", "query": 1.5}, "query=1.5"),
        ({"feedback": "bandit", "query": 4}, "query=4 is more than the 3 experts"),
        ({"query": 2}, "query=2 needs feedback='bandit'"),
        ({"feedback": "bandit", "algorithm": FixedShare()}, r"algorithm=FixedShare\(\) .* feedback='bandit' needs"),
        ({"algorithm": Exp3S()}, r"algorithm=Exp3S\(\) .* feedback='full' needs"),
        ({"feedback": "bandit", "algorithm": "exp3"}, "algorithm='exp3' is no bandit algorithm"),
        ({"feedback": "bandit", "memory": Snapshots()}, r"use Snapshots\(merge=None\)"),
        ({"feedback": "bandit", "algorithm": Exp3S(exploration=2.0)}, "exploration=2.0"),
        ({"feedback": "bandit", "algorithm": Exp3(loss_range=(-1, 0))}, "losses from -1 to 0, but those of experts"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    for ensemble, spy in ((LongTermMemoryClassifier, SpyChance), (LongTermMemoryRegressor, SpyNumber)):
        model = ensemble(frozen_spies(3, spy), **parameters)
        with pytest.raises(ValueError, match=message):
            model.fit(*random_rows(20))
        assert not hasattr(model, "n_features_in_")


def test_dropped_experts_cannot_be_asked():
    model = classifier(3, query=3).set_params(column1="drop")
    with pytest.raises(ValueError, match="query=3 is more than the 2 experts"):
        model.fit(*random_rows(20))


def test_a_round_that_raises_leaves_the_bandit_as_it_was():
    model = classifier(experts=[("moody", MoodyChance(1)), ("too", MoodyChance(2))], algorithm=Told())
    model.partial_fit(*random_rows(3, 3), CLASSES)
    X, y = random_rows(3, 3, seed=1)
    model.partial_fit(X, y)
    told = told_by(model)
    X[:2, 0] = RAISES_IN_PREDICT, RAISES_IN_LEARN
    with pytest.raises(RuntimeError, match="no mood to learn"):  # nobody answered, and nobody could learn
        model.partial_fit(X, y)
    assert told_by(model) == told
    assert model.n_rounds_ == 2


# The range of losses ------------------------------------------------------------------------------------------------


def test_range_of_what_is_seen():
    one = SeenRange().widened(np.array([3.0]))
    assert one.rescaled(np.array([3.0])).tolist() == [0.0]
    two = one.widened(np.array([5.0]))
    np.testing.assert_allclose(two.rescaled(np.array([2.0, 3.0, 4.0, 5.0, 9.0])), [0.0, 0.0, 0.5, 1.0, 1.0])
    assert two.widened(np.array([5.1])).high == 5.1
    assert two.widened(np.array([2.9])).low == 2.9
    assert SeenRange(2.0, 2.0 + 1e-15).rescaled(np.array([2.0, 2.0 + 1e-15])).tolist() == [0.0, 0.0]
    settled = SeenRange(3.0, 5.0, 1000)
    assert settled.widened(np.array([1e9])).high == pytest.approx(5.095)  # one outlier changes little
    assert settled.widened(np.array([-1e9])).low == pytest.approx(2.905)


@pytest.mark.parametrize("n_seen", [1, 3])
def test_range_of_what_is_seen_leaves_one_of_twenty_out_at_each_end(n_seen):
    rng, seen, ends = np.random.default_rng(0), SeenRange(), []
    for _ in range(2000):
        seen = seen.widened(rng.random(n_seen) ** 2)
        ends.append(seen[:2])
    np.testing.assert_allclose(np.mean(ends[500:], axis=0), [0.05**2, 0.95**2], atol=0.04)


def test_of_squared_errors_the_root_is_measured():
    scores = [TargetScore(loss, average=False) for loss in ("auto", "absolute")]
    for error in np.abs(np.random.default_rng(0).normal(size=(50, 2))):
        told = [score.rescale_seen(losses) for score, losses in zip(scores, (error**2, error), strict=True)]
        np.testing.assert_allclose(*told, atol=1e-12)


def test_losses_before_anything_was_known_of_the_targets_do_not_spoil_the_range():
    model = regressor(2, experts=frozen_readers(ReadsNumber, 2), algorithm=Told(), query=2)
    model.partial_fit([[1e12, 0.0]], [0.0])  # one target: no scale, and predictions of any size
    model.partial_fit([[0.0, 2.0]], [1.0])
    model.partial_fit([[0.0, 0.5]], [1.0])
    assert model._engine.score.seen.high <= 4.0
