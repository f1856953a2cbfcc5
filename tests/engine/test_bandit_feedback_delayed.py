"""Delayed labels with bandit feedback."""

import copy

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from support.bandit_experts import (
    CLASSES,
    Keen,
    RecordingBandit,
    asked,
    classifier,
    first_of,
    random_rows,
    updates_of,
)

from ltm_sklearn import Snapshots
from ltm_sklearn.engine import Expert, RoundPredictions


def test_delayed_labels_use_the_probabilities_of_their_issue():
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
    listening = ListeningBandit(model._engine.pool.weighting.algorithm)
    model._engine.pool.weighting.algorithm = listening
    for at, arm, chance in reversed(issued):
        model.learn([at], [1])
        assert listening.heard[-1][0] == [arm]
        assert listening.heard[-1][1] == pytest.approx([chance])


class ListeningBandit:
    """A bandit that records its updates; copies share the record."""

    def __init__(self, bandit, heard=None):
        self.bandit, self.heard = bandit, [] if heard is None else heard

    def __copy__(self):
        return ListeningBandit(copy.copy(self.bandit), self.heard)

    def __getattr__(self, name):
        return getattr(self.bandit, name)

    def update(self, arms, losses, probability):
        self.heard.append((arms.tolist(), probability.tolist()))
        self.bandit.update(arms, losses, probability=probability)


def test_each_issue_has_its_own_draw():
    model = classifier(algorithm=RecordingBandit()).partial_fit(*random_rows(2), CLASSES)
    arms = [next(iter(asked(model.issue, random_rows(1, seed=at)[0], [at])[1])) for at in range(30)]
    assert {*arms} == {0, 1, 2, 3}
    assert first_of(model) == first_of(model)  # without an issue, the round has one draw


def test_query_probabilities_follow_their_expert_when_others_leave():
    experts = [Expert(name, name, "frozen", None, 0, trained=True) for name in "abc"]
    chances, said = np.array([[0.0], [0.3], [0.7]]), np.array([[[1.0]], [[2.0]], [[3.0]]])
    even = np.full(3, 1.0 / 3.0)
    issued = RoundPredictions(experts, [0] * 3, said, chances > 0.0, even, even[np.newaxis], said[2], chances)
    later = issued.recalled(np.array([0]), [experts[1], experts[2]], 1)
    assert later.chances.tolist() == [[0.3], [0.7]]
    assert later.predictions.ravel().tolist() == [2.0, 3.0]
    newcomer = Expert("d", "d", "frozen", None, 0, trained=True)
    assert issued.recalled(np.array([0]), [experts[2], newcomer], 1).chances.tolist() == [[0.7], [0.0]]


def test_labels_of_a_batch_share_a_draw_in_any_number_of_parts():
    model = classifier(algorithm=RecordingBandit()).partial_fit(*random_rows(2), CLASSES)
    X, y = random_rows(6, seed=5)
    _, calls = asked(model.issue, X, range(6))
    assert sum(calls.values()) == 1
    model.learn([4, 1], y[[4, 1]])
    model.learn([0, 2, 3, 5], y[[0, 2, 3, 5]])
    (arm,) = calls
    wrong = ((X[:, arm] > 0.5) != y).astype(float)
    for (arms, losses, chances), rows in zip(updates_of(model)[-2:], ([4, 1], [0, 2, 3, 5]), strict=True):
        assert (arms, chances) == ((arm,), (0.25,))
        assert losses == pytest.approx([wrong[rows].mean()])


def test_delayed_rounds_of_one_row_have_their_own_draws():
    model = classifier(algorithm=RecordingBandit([1, 2, 3, 4]), rounds="row").partial_fit(*random_rows(2), CLASSES)
    X, y = random_rows(12, seed=5)
    said = model.issue(X, range(12))
    chances = model._pending.due([0])[0].issued.chances
    arms = chances.argmax(axis=0)
    assert len({*arms.tolist()}) > 1
    assert said.tolist() == (X[np.arange(12), arms] > 0.5).tolist()
    for at in [3, 0, 8, 11, 5, 6, 7, 1, 2, 10, 9, 4]:  # of which few are held in the end
        model.learn([at], y[[at]])
        (arm,), (loss,), (chance,) = updates_of(model)[-1]
        assert (arm, loss) == (arms[at], float(said[at] != y[at]))
        assert chance == pytest.approx((arm + 1) / 10)


def test_labels_for_arms_that_have_left_change_nothing():
    memory = Snapshots(every=10, on_drift=False, restart=False, merge=None, max_size=2)
    model = classifier(experts=[("bayes", GaussianNB())], memory=memory, algorithm=RecordingBandit([1e-9, 1.0]))
    for seed in range(3):
        model.partial_fit(*random_rows(10, seed=seed), CLASSES)
    model.issue(random_rows(1, seed=9)[0], ["late"])
    held = model._pending.due(["late"])[0].issued
    gone = held.experts[int(held.chances[:, 0].argmax())]
    for seed in range(3, 12):
        model.partial_fit(*random_rows(10, seed=seed))
    assert gone not in model._engine.pool.experts
    told = updates_of(model)
    model.learn(["late"], [1])
    assert updates_of(model) == told
    assert model.n_rounds_ == 13
