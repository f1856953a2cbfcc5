"""River's estimators when only some experts can be asked: feedback="bandit"."""

import pickle
import warnings
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("river")

from river import compose, linear_model, naive_bayes, preprocessing, stream
from support.bandit_experts import Keen, RecordingBandit, updates_of
from support.named_models import named
from support.river_models import ReadsChance, ReadsLabel, ReadsNumber, rivers_checks

from ltm_sklearn import Snapshots
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.experts import FixedShare
from ltm_sklearn.river import LongTermMemoryClassifier, LongTermMemoryRegressor

CALLS, LEARNED = Counter(), Counter()
FEATURES = ["a", "b", "c", "d"]


class SpyChance(ReadsChance):
    def predict_proba_one(self, x):
        CALLS[self.feature] += 1
        return super().predict_proba_one(x)

    def learn_one(self, x, y):
        LEARNED[self.feature] += 1


class SpyNumber(ReadsNumber):
    def predict_one(self, x):
        CALLS[self.feature] += 1
        return super().predict_one(x)


class Moody(ReadsNumber):
    def predict_one(self, x):
        if x[self.feature] < 0:
            raise RuntimeError("no mood")
        return x[self.feature]


def classifier(features=FEATURES, **parameters):
    parameters = {"seed": 0, **parameters}
    return LongTermMemoryClassifier(named([SpyChance(each) for each in features]), feedback="bandit", **parameters)


def regressor(features=FEATURES, **parameters):
    parameters = {"seed": 0, **parameters}
    return LongTermMemoryRegressor(named([SpyNumber(each) for each in features]), feedback="bandit", **parameters)


def random_rows(n_rows, features=FEATURES, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n_rows):
        x = dict(zip(features, rng.uniform(0.01, 0.99, len(features)).tolist(), strict=True))
        yield x, bool(rng.random() < 0.5)


def asked(function, *arguments, **named):
    before = Counter(CALLS)
    function(*arguments, **named)
    return CALLS - before


@pytest.mark.parametrize("n_queries", [1, 2, 4])
@pytest.mark.parametrize("make", [classifier, regressor])
def test_predicted_rows_are_not_queried_again(make, n_queries):
    model = make(algorithm=RecordingBandit([1, 2, 3, 4]), n_queries=n_queries)
    for x, y in random_rows(20):
        in_predict = asked(model.predict_one, x)
        assert sorted(in_predict.values()) == [1] * n_queries
        assert not asked(model.learn_one, dict(x), float(y) if make is regressor else y)
        assert {*updates_of(model)[-1][0]} == {FEATURES.index(each) for each in in_predict}
        assert model._compiled_row() is None  # the compiled round asks all


def test_rows_that_were_not_predicted_are_asked_about_when_they_are_learned():
    model = classifier(algorithm=RecordingBandit())
    LEARNED.clear()
    (x, y), (other, _) = random_rows(2)
    assert sum(asked(model.learn_one, x, y).values()) == 1
    model.predict_one(other)
    assert sum(asked(model.learn_one, x, y).values()) == 1  # another row
    model.predict_one(x)
    model.learn_one(x, y)
    assert sum(asked(model.learn_one, x, y).values()) == 1  # another round
    model.predict_one({**x, "a": 1})
    assert sum(asked(model.learn_one, {**x, "a": True}, y).values()) == 1  # equal, but not the same
    assert {*LEARNED.values()} == {5}  # all learn every row


def test_label_and_probabilities_of_a_row_are_of_one_question():
    model = classifier(algorithm=RecordingBandit([1, 2, 3, 4]))
    for x, y in random_rows(20):
        assert sum(asked(model.predict_one, x).values()) == 1
        assert not asked(model.predict_proba_one, dict(x))
        assert model.predict_one(x) == (model.predict_proba_one(x)[True] > 0.5)
        assert not asked(model.learn_one, x, y)


def test_of_many_rows_nothing_is_kept():
    pandas = pytest.importorskip("pandas")
    model = regressor()
    model.predict_many(pandas.DataFrame([x for x, _ in random_rows(1001)]))
    assert "_last" not in model.__dict__


@pytest.mark.parametrize(("delay", "batch_size"), [(0, 1), (5, 1), (0, 4)])
def test_prequential_asks_once_about_each_row(delay, batch_size):
    calls = Counter(CALLS)
    rows = list(random_rows(60))
    prequential({"bandit": classifier()}, rows, delay=delay, batch_size=batch_size, probabilities=True)
    assert sum((CALLS - calls).values()) == 60


def test_what_was_said_is_scored_though_the_answer_would_be_another_now():
    class Fickle(ReadsNumber):
        n_asked = 0

        def predict_one(self, x):
            type(self).n_asked += 1
            return float(self.n_asked)

    model = LongTermMemoryRegressor(named([Fickle("a")]), feedback="bandit", loss="absolute_error", record=10)
    model.learn_one({"a": 0.0}, 0.0)
    model.learn_one({"a": 0.0}, 10.0)
    said = model.predict_one({"a": 0.0})
    model.learn_one({"a": 0.0}, 10.0)
    assert model.history_[-1].losses == {"Fickle": 10.0 - said}
    assert Fickle.n_asked == 3


def test_ids_have_draws_of_their_own_and_ask_once():
    model = classifier(algorithm=RecordingBandit([1, 2, 3, 4]))
    drawn = {}
    calls = Counter(CALLS)
    for at, x, y in stream.simulate_qa(random_rows(60), moment=None, delay=15):
        if y is None:
            drawn[at] = asked(model.predict_one, x, id=at)
        else:
            assert not asked(model.learn_one, x, y, id=at)
            (feature,) = drawn[at]
            seat = FEATURES.index(feature)
            assert updates_of(model)[-1] == ((seat,), updates_of(model)[-1][1], (pytest.approx((seat + 1) / 10),))
    assert sum((CALLS - calls).values()) == 60
    assert len({feature for each in list(drawn.values())[:15] for feature in each}) > 1


def test_frames_are_rounds_and_ask_once():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([x for x, _ in random_rows(10)])
    model = classifier(algorithm=RecordingBandit())
    targets = [y for _, y in random_rows(10)]
    for _ in range(5):
        assert sum(asked(model.predict_many, frame).values()) == 10
        assert not asked(model.learn_many, frame.copy(), targets)
    assert len(updates_of(model)) == 5
    weights = np.arange(10.0)
    model.predict_many(frame)
    assert sum(asked(model.learn_many, frame, targets, weights).values()) == 9  # without the row of weight 0


def test_labels_that_come_later_and_models_that_know_nothing_yet():
    readers = [ReadsLabel("a"), naive_bayes.GaussianNB(), ReadsLabel("b")]
    model = LongTermMemoryClassifier(named(readers), feedback="bandit", algorithm=Keen(), seed=3)
    rng = np.random.default_rng(0)
    right = []
    for at in range(300):
        y = ["red", "green", "blue"][rng.integers(0, min(at // 20 + 1, 3))]
        x = {"a": y, "b": "red" if rng.random() < 0.5 else "grey"}
        right.append(model.predict_one(x) == y)
        with pytest.warns(ExpertWarning, match="GaussianNB") if at == 0 else _quiet():
            model.learn_one(x, y)
    assert np.mean(right[-100:]) > 0.7
    assert model.leader_ == "ReadsLabel-0"


class _quiet:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def test_in_a_pipeline_the_row_that_is_learned_is_the_one_that_was_predicted_if_nothing_learns_before():
    model = compose.Select("a", "b", "c", "d") | classifier(algorithm=RecordingBandit())
    calls = Counter(CALLS)
    for x, y in random_rows(20):
        model.predict_one(x)
        model.learn_one(x, y)
    assert sum((CALLS - calls).values()) == 20


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
def test_a_drawn_model_that_fails_is_charged_the_worst_loss():
    models = [Moody("a"), ReadsNumber("b")]
    model = LongTermMemoryRegressor(
        named(models), feedback="bandit", loss="absolute_error", algorithm=RecordingBandit([1e9, 1]), seed=0
    )
    for target in (0.0, 8.0):
        model.learn_one({"a": 4.0, "b": 0.0}, target)
    with pytest.warns(ExpertWarning, match="Moody"):
        assert model.predict_one({"a": -1.0, "b": 0.0}) == 4.0  # the mean of the targets
    model.learn_one({"a": -1.0, "b": 0.0}, 7.0)
    (arm,), (loss,), _ = updates_of(model)[-1]
    assert (arm, loss) == (0, 1.0)


def test_a_failure_that_was_seen_in_a_prediction_is_noted_when_the_row_is_learned():
    models = [Moody("a"), Moody("a")]
    model = LongTermMemoryRegressor(named(models), feedback="bandit", algorithm=RecordingBandit([1e9, 1]), seed=0)
    for target in (0.0, 8.0):
        model.learn_one({"a": 4.0}, target)
    counts = []
    for at in range(5):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.predict_one({"a": -1.0 - at})
            n_predicted = len(caught)
            model.learn_one({"a": -1.0 - at}, 4.0)
        counts.append((n_predicted, len(caught) - n_predicted))
    assert counts == [(1, 1)] + 4 * [(0, 0)]


@pytest.mark.parametrize("combine", ["average", "leader", "sample"])
def test_the_good_one_of_five_is_found(combine):
    features = [*FEATURES, "e"]
    model = regressor(features, algorithm=Keen(), combine=combine)
    rng = np.random.default_rng(1)
    for _ in range(400):
        y = rng.normal()
        model.learn_one({each: y + rng.choice([-1, 1]) * (0.1 if each == "d" else 1.0) for each in features}, y)
    assert model.leader_ == "SpyNumber-3"
    assert model.weights_[3] > 0.6


@pytest.mark.parametrize("make", [classifier, regressor])
def test_with_defaults_good_models_are_found_again(make):
    """Two of four take turns."""
    model, rng, right = make(), np.random.default_rng(0), []
    for at in range(800):
        y = bool(rng.random() < 0.5)
        x = {each: float(y if rng.random() < 0.3 else not y) for each in FEATURES}
        x["bd"[at // 200 % 2]] = float(y)
        right.append(abs(float(model.predict_one(x)) - y) < 0.5)
        model.learn_one(x, y if make is classifier else float(y))
    assert np.mean(right[400:]) > 0.85  # 0.48 drawn evenly


def test_snapshots_that_are_not_merged_are_arms():
    memory = Snapshots(every=20, on_drift=False, merge=None, max_size=2)
    model = LongTermMemoryClassifier(
        named([naive_bayes.GaussianNB(), naive_bayes.GaussianNB()]),
        feedback="bandit",
        algorithm=Keen(),
        memory=memory,
        seed=0,
    )
    for x, y in random_rows(150):
        model.predict_one(x)
        model.learn_one(x, y)
    assert [expert.kind for expert in model.experts_].count("snapshot") == 2


def test_saved_in_mid_stream_it_goes_on_the_same():
    model = classifier(algorithm=Keen(), n_queries=2)
    rows = list(random_rows(60))
    for x, y in rows[:30]:
        model.learn_one(x, y)
    model.predict_one(rows[30][0])
    other, fresh = pickle.loads(pickle.dumps(model)), model.clone()
    for x, y in rows[30:]:
        assert model.predict_proba_one(x) == other.predict_proba_one(x)
        model.learn_one(x, y)
        other.learn_one(x, y)
    np.testing.assert_array_equal(model.weights_, other.weights_)
    assert (fresh.feedback, fresh.n_queries) == ("bandit", 2)
    assert not hasattr(fresh, "_engine")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feedback": "none"}, "feedback='none'"),
        ({"feedback": "bandit", "n_queries": 3}, "n_queries=3 is more than the 2 experts"),
        ({"n_queries": 2}, "n_queries=2 needs feedback='bandit'"),
        ({"feedback": "bandit", "algorithm": FixedShare()}, "feedback='bandit' needs"),
        ({"algorithm": Keen()}, "feedback='full' needs"),
        ({"feedback": "bandit", "memory": Snapshots()}, "merge=None"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    for ensemble, spy in ((LongTermMemoryClassifier, SpyChance), (LongTermMemoryRegressor, SpyNumber)):
        with pytest.raises(ValueError, match=message):
            ensemble({"a": spy("a"), "b": spy("b")}, **parameters)


def _scaled(model):
    return preprocessing.StandardScaler() | model


@pytest.mark.parametrize(
    ("model", "check"),
    rivers_checks(
        [
            LongTermMemoryClassifier(
                named([_scaled(linear_model.LogisticRegression()), naive_bayes.GaussianNB()]), feedback="bandit", seed=1
            ),
            LongTermMemoryRegressor(
                named([_scaled(linear_model.LinearRegression()), _scaled(linear_model.PARegressor())]),
                feedback="bandit",
                n_queries=2,
                algorithm=Keen(),
                seed=1,
            ),
        ]
    ),
)
@pytest.mark.exhaustive
def test_rivers_checks(model, check):
    check(model.clone())
