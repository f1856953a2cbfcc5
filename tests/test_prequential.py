"""Models side by side on a stream."""

import itertools
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss, mean_absolute_error, root_mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn._frames import column_names
from ltm_sklearn.evaluation import PrequentialDisplay, prequential
from ltm_sklearn.evaluation._changes import Changes
from ltm_sklearn.evaluation._curve import MOST_POINTS, MOST_SEGMENTS, Curve, Schedule
from ltm_sklearn.evaluation._leaders import MOST_LEADERS, Leaders
from ltm_sklearn.evaluation._regret import Comparators
from ltm_sklearn.streams import Batches, RecurringConcepts, linear_regressions, sea, stagger

pytestmark = pytest.mark.fast_cases(2)


class Says:
    """Answers with one feature, in River's way; remembers what it was asked and taught."""

    def __init__(self, feature="a"):
        self.feature = feature
        self.events = []

    def predict_one(self, x):
        self.events.append(("predict", x))
        return x[self.feature]

    def learn_one(self, x, y):
        self.events.append(("learn", x, y))


class SaysColumn(ClassifierMixin, BaseEstimator):
    """Answers with one column, in scikit-learn's way; remembers what it was asked and taught."""

    def __init__(self, column=0):
        self.column = column

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = np.asarray(classes)
            self.events_ = []
        self.events_.append(("learn", X, y))
        return self

    def predict(self, X):
        self.events_.append(("predict", X))
        return np.asarray(X)[:, self.column]


def table(n_rows=200, n_classes=3, seed=0):
    """Rows whose columns are answers, right three times in four; and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = np.where(rng.random((n_rows, 3)) < 0.75, y[:, np.newaxis], rng.integers(0, n_classes, (n_rows, 3)))
    return X, y


def pairs(X, y):
    return [(dict(zip("abc", row, strict=False)), label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]


# Scores -----------------------------------------------------------------------------------------------------------


def test_accuracy_and_kappa_are_those_of_scikit_learn():
    X, y = table()
    scores = prequential({name: Says(name) for name in "abc"}, pairs(X, y)).scores
    for at, name in enumerate("abc"):
        assert scores[name]["rows"] == 200
        assert scores[name]["accuracy"] == pytest.approx(accuracy_score(y, X[:, at]))
        assert scores[name]["kappa"] == pytest.approx(cohen_kappa_score(y, X[:, at]))


def test_kappa_m_compares_with_the_most_frequent_class_so_far():
    y = np.array([0, 0, 1, 1, 1, 1, 2])  # which is 0 in rows 1 to 4 (at a tie, the older) and 1 in rows 5 and 6
    scores = prequential(Says(), pairs(np.array([[0]] * 7), y)).scores["Says"]
    assert scores["kappa_m"] == pytest.approx((2 / 7 - 2 / 6) / (1 - 2 / 6))
    late = prequential(Says(), pairs(np.array([[0]] * 7), y), delay=2).scores["Says"]  # 0 in rows 3 to 6
    assert late["kappa_m"] == pytest.approx(2 / 7)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_scikit_learn_models_score_as_in_a_loop_by_hand(batch_size):
    stream = sea(length=100, n_segments=3, noise=0.1, seed=0)
    model, same = (SGDClassifier(loss="log_loss", random_state=0) for _ in range(2))
    scores = prequential({"sgd": same}, stream, batch_size=batch_size).scores["sgd"]
    labels, answers, chances = [], [], []
    for batch in stream.batches(batch_size):
        if hasattr(model, "classes_"):
            labels.append(batch.y)
            answers.append(model.predict(batch.X))
            chances.append(model.predict_proba(batch.X))
        model.partial_fit(batch.X, batch.y, classes=[0, 1])
    labels, answers = np.concatenate(labels), np.concatenate(answers)
    assert scores["rows"] == len(labels) == 300 - batch_size
    assert scores["accuracy"] == accuracy_score(labels, answers)
    assert scores["log_loss"] == pytest.approx(log_loss(labels, np.concatenate(chances)))


def test_regressors_are_scored_by_their_errors():
    stream = linear_regressions(length=100, n_segments=3, seed=0)
    scores = prequential(SGDRegressor(random_state=0), stream, batch_size=5).scores["SGDRegressor"]
    model, targets, answers = SGDRegressor(random_state=0), [], []
    for batch in stream.batches(5):
        if hasattr(model, "coef_"):
            targets.append(batch.y)
            answers.append(model.predict(batch.X))
        model.partial_fit(batch.X, batch.y)
    targets, answers = np.concatenate(targets), np.concatenate(answers)
    assert scores["mae"] == pytest.approx(mean_absolute_error(targets, answers))
    assert scores["rmse"] == pytest.approx(root_mean_squared_error(targets, answers))
    assert "accuracy" not in scores


@pytest.mark.parametrize("delay", [0, 4])
def test_river_models_score_as_in_river(delay):
    pytest.importorskip("river")
    from river import datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing

    def models():
        return {
            "bayes": naive_bayes.GaussianNB(),
            "linear": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        }

    scores = prequential(models(), datasets.Phishing(), delay=delay).scores
    for name, model in models().items():
        metric = metrics.Accuracy() + metrics.CohenKappa()
        # River counts the row itself, and takes no delay for a delay of one row
        evaluate.progressive_val_score(datasets.Phishing(), model, metric, delay=delay + 1 if delay else None)
        assert scores[name]["accuracy"] == pytest.approx(metric[0].get())
        assert scores[name]["kappa"] == pytest.approx(metric[1].get())
    metric = metrics.LogLoss()
    evaluate.progressive_val_score(datasets.Phishing(), models()["linear"], metric, delay=delay + 1 if delay else None)
    assert scores["linear"]["log_loss"] == pytest.approx(metric.get())


def test_river_regressors_score_as_in_river():
    pytest.importorskip("river")
    from river import datasets, evaluate, linear_model, metrics, preprocessing

    def model():
        return preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)

    scores = prequential({"linear": model()}, datasets.TrumpApproval()).scores["linear"]
    metric = metrics.MAE() + metrics.RMSE()
    evaluate.progressive_val_score(datasets.TrumpApproval(), model(), metric)
    assert [scores["mae"], scores["rmse"]] == pytest.approx([metric[0].get(), metric[1].get()])


def test_probabilities_need_not_be_asked_for():
    class NoProbabilities(GaussianNB):
        def predict_proba(self, X):
            raise AssertionError

    stream = stagger(length=50, n_segments=2, seed=0)
    scores = prequential(NoProbabilities(), stream, batch_size=10, probabilities=False).scores["NoProbabilities"]
    assert np.isnan(scores["log_loss"])
    with pytest.raises(AssertionError):
        prequential(NoProbabilities(), stream, batch_size=10)


def test_label_with_no_chance_is_charged_a_finite_loss():
    class Sure(Says):
        def predict_proba_one(self, x):
            return {x["a"]: 1.0}

    scores = prequential(Sure(), pairs(np.array([[0], [0]]), np.array([0, 1]))).scores["Sure"]
    assert scores["log_loss"] == pytest.approx(-np.log(np.finfo(float).eps) / 2)


# Both kinds, all streams ------------------------------------------------------------------------------------------


def streams_of(X, y):
    """The same rows in every form."""
    columns = list("abc")
    frame = pd.DataFrame(X, columns=columns)
    concept = np.repeat([0, 1], [80, 120])
    return {
        "arrays": (X, y),
        "lists": (X.tolist(), y.tolist()),
        "frame": (frame, pd.Series(y)),
        "polars": (pl.DataFrame(X, schema=columns), y),
        "pyarrow": (pa.Table.from_pandas(frame), y),
        "triple": (X, y, concept),
        "pairs": pairs(X, y),
        "generator": (pair for pair in pairs(X, y)),
        "pairs with concepts": [(*pair, c) for pair, c in zip(pairs(X, y), concept.tolist(), strict=True)],
        "batches": [(X[:90], y[:90]), (X[90:90], y[90:90]), (X[90:], y[90:])],
        "batches with concepts": [(X[:90], y[:90], concept[:90]), (X[90:], y[90:], concept[90:])],
        "reader": Batches(frame.assign(y=y), "y", batch_size=64),
        "reader of frames": Batches(frame.assign(y=y), "y", batch_size=64, as_frame=True),
    }


@pytest.mark.parametrize("form", streams_of(*table()))
@pytest.mark.parametrize(("batch_size", "delay"), [(1, 0), (30, 0), (7, 17)])
def test_all_streams_give_the_same_rows_to_both_kinds(form, batch_size, delay):
    X, y = table()
    one, other = Says(), SaysColumn()
    unnamed = ("arrays", "lists", "triple", "batches", "batches with concepts", "reader")
    one.feature = "x0" if form in unnamed else "a"
    result = prequential(
        {"one": one, "other": other}, streams_of(X, y)[form], batch_size=batch_size, delay=delay, classes=[0, 1, 2]
    )
    assert result.n_rows == 200
    assert result.scores["one"]["accuracy"] == accuracy_score(y, X[:, 0])
    n_learned = 200 - delay
    learned = [event for event in one.events if event[0] == "learn"]
    assert [list(x.values()) for _, x, _ in learned] == X[:n_learned].tolist()
    assert [label for _, _, label in learned] == y[:n_learned].tolist()
    learned = [event for event in other.events_ if event[0] == "learn"]
    np.testing.assert_array_equal(np.concatenate([np.asarray(rows) for _, rows, _ in learned]), X[:n_learned])
    np.testing.assert_array_equal(np.concatenate([labels for _, _, labels in learned]), y[:n_learned])
    if form in ("frame", "polars", "pyarrow", "reader of frames"):
        assert all(column_names(rows) == ["a", "b", "c"] for _, rows, _ in learned)
    assert bool(result.segments) == ("concepts" in form or form == "triple")
    alone = Says()  # then all rows are dictionaries from the start
    alone.feature = one.feature
    again = prequential(alone, streams_of(X, y)[form], batch_size=batch_size, delay=delay)
    assert alone.events == one.events
    assert again.scores["Says"]["accuracy"] == result.scores["one"]["accuracy"]
    assert again.segments == result.segments


def test_rows_are_predicted_before_they_are_learned_and_learned_when_due():
    X, y = table(20)
    model = Says()
    prequential(model, pairs(X, y), batch_size=4, delay=6)
    seen = [event[0] for event in model.events]
    n_predicted, n_learned = 0, 0
    for event in seen:
        n_predicted += event == "predict"
        n_learned += event == "learn"
        assert n_learned <= max(n_predicted - 6, 0)
        if event == "predict" and n_predicted % 4 == 1:  # a new batch: everything due has been learned
            assert n_learned == max(n_predicted - 1 - 6, 0)
    assert (n_predicted, n_learned) == (20, 14)


def test_features_of_river_streams_may_come_and_go():
    stream = [({"a": 1, "b": 2}, 1), ({"a": 0}, 1), ({"a": 1, "c": 5}, 1)]
    assert prequential(Says(), stream).scores["Says"]["accuracy"] == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"features \['a'\]"):
        prequential(GaussianNB(), stream, classes=[0, 1])


def test_labels_may_be_text():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    scores = prequential({"bayes": GaussianNB(), "sgd": SGDClassifier(random_state=0)}, (X, y), batch_size=10).scores
    assert scores["bayes"]["accuracy"] > 0.8
    assert np.isnan(scores["sgd"]["log_loss"])  # it has no probabilities


def test_labels_of_several_kinds_stay_what_they_are():
    batches = [(np.ones((3, 1)), ["a", "b", "a"]), (np.ones((3, 1)), [0, 1, 0])]
    for batch_size in (2, 4, 6):
        model = Says("x0")
        prequential(model, batches, batch_size=batch_size)
        assert [event[2] for event in model.events if event[0] == "learn"] == ["a", "b", "a", 0, 1, 0]


def test_no_more_rows_are_asked_for_than_are_gone_through():
    drawn = []

    def endless():
        while True:
            drawn.append(1)
            yield {"a": 1}, 1

    assert prequential(Says(), endless(), n_samples=15, batch_size=10).n_rows == 15
    assert len(drawn) == 15


def test_stream_without_end_is_cut():
    model = Says("size")
    result = prequential(model, stagger(length=30, seed=0), n_samples=100, batch_size=7)
    assert result.n_rows == 100
    assert sum(event[0] == "learn" for event in model.events) == 100
    assert sum(segment.length for segment in result.segments) == 100
    endless = ((x, y) for x, y in stagger(length=30, seed=0))
    assert prequential(Says("size"), endless, n_samples=50).n_rows == 50


def test_model_that_is_fitted_already_answers_at_once():
    X, y = table(n_classes=2)
    model = GaussianNB().fit(X, y)
    assert prequential(model, [(X, y)], batch_size=10).scores["GaussianNB"]["rows"] == 200  # no classes needed


# Targets that come later ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 8])
def test_estimators_with_ids_are_told_them(batch_size):
    stream, delay = stagger(length=60, n_segments=2, seed=0), 20
    experts = [(f"sgd {at}", SGDClassifier(loss="log_loss", random_state=at)) for at in range(2)]
    model, by_hand = (LongTermMemoryClassifier(experts, memory=None, random_state=0) for _ in range(2))
    prequential(model, stream, batch_size=batch_size, delay=delay, probabilities=False)
    (whole,) = stream.batches(1000)
    issued_from = -(-(delay + 1) // batch_size) * batch_size
    n_learned = 0
    for start in range(0, 120, batch_size):
        rows = slice(start, start + batch_size)
        if start >= issued_from:
            by_hand.issue(whole.X[rows], range(start, start + batch_size))
        due = max(min(start + batch_size, 120) - delay, 0)
        first = min(due, issued_from)
        if n_learned < first:
            by_hand.partial_fit(whole.X[n_learned:first], whole.y[n_learned:first], classes=[0, 1])
            n_learned = first
        if n_learned < due:
            by_hand.learn(range(n_learned, due), whole.y[n_learned:due])
            n_learned = due
    assert model.n_samples_seen_ == n_learned == 100
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)
    assert len(model._pending) == delay


def test_river_estimators_with_ids_are_told_them():
    pytest.importorskip("river")
    from river import naive_bayes

    from ltm_sklearn.river import LongTermMemoryClassifier as RiverClassifier

    stream = stagger(length=60, n_segments=2, seed=0)
    model, by_hand = (RiverClassifier([naive_bayes.GaussianNB()], seed=0) for _ in range(2))
    prequential(model, stream, delay=20, probabilities=False)
    waiting = []
    for at, (x, y) in enumerate(stream):
        by_hand.predict_one(x, id=at)
        waiting.append((x, y))
        if at >= 20:
            by_hand.learn_one(*waiting[at - 20], id=at - 20)
    assert model.n_samples_seen_ == by_hand.n_samples_seen_ == 100
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)


def test_river_estimators_are_charged_with_the_weights_that_a_batch_was_predicted_with():
    pytest.importorskip("river")
    from river import naive_bayes

    from ltm_sklearn.river import LongTermMemoryClassifier as RiverClassifier

    stream = stagger(length=60, n_segments=2, seed=0)
    model, by_hand = (RiverClassifier([naive_bayes.GaussianNB()], seed=0) for _ in range(2))
    prequential(model, stream, batch_size=30, probabilities=False)
    rows = list(stream)
    for start in range(0, 120, 30):
        for at in range(start, start + 30):
            by_hand.predict_one(rows[at][0], id=at)
        for at in range(start, start + 30):
            by_hand.learn_one(*rows[at], id=at)
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)


def test_models_with_ids_in_rivers_way_get_the_numbers_of_the_rows():
    class WithIds(Says):
        def predict_one(self, x, id=None):
            self.events.append(("predict", id))
            return x["a"]

        def learn_one(self, x, y, id=None):
            self.events.append(("learn", id))

    late, at_once = WithIds(), WithIds()
    prequential(late, pairs(*table(10)), delay=3)
    assert late.events[:8] == [("predict", at) for at in range(4)] + [
        ("learn", 0),
        ("predict", 4),
        ("learn", 1),
        ("predict", 5),
    ]
    prequential(at_once, pairs(*table(10)))
    assert {event[1] for event in at_once.events} == {None}


# Concepts ---------------------------------------------------------------------------------------------------------


def test_rows_after_a_change_and_after_a_return():
    concept = np.repeat([0, 1, 0, 2], [10, 10, 10, 3])
    wrong = np.zeros(33, dtype=int)
    wrong[[9, 10, 11, 20, 25, 30]] = 1
    stream = [({"a": answer}, 0, each) for answer, each in zip(wrong.tolist(), concept.tolist(), strict=True)]
    result = prequential(Says(), stream, window=5)
    found = result.scores["Says"]
    assert (result.n_changes, result.n_returns) == (3, 1)
    assert found["after_change"] == pytest.approx(1 - 4 / 13)  # 5 rows, 5 rows, 3 rows
    assert found["after_return"] == pytest.approx(1 - 1 / 5)


def recovery(losses, in_force, window, tolerance=0.0, relative=False):
    changes = Changes(1, window, tolerance, relative)
    changes.add(np.array(losses, dtype=float)[:, np.newaxis], np.array(in_force))
    changes.end()
    return changes.recovery_times()[0]


def test_recovery_ends_where_a_good_window_begins():
    before = [0] * 10
    assert recovery([*before, 0, 0, 0, 0], [0] * 10 + [1] * 4, window=4) == 0
    assert recovery([*before, 1, 1, 0, 1, 0, 0, 0, 0, 1], [0] * 10 + [1] * 9, window=4) == 4
    assert recovery([*before, 1, 1, 0, 1, 0, 0, 0, 0, 1], [0] * 10 + [1] * 9, window=4, tolerance=0.25) == 2
    assert recovery([*before, 1, 1, 0], [0] * 10 + [1] * 3, window=4) == np.inf
    assert np.isnan(recovery(before, [0] * 10, window=4))


def test_recovery_of_errors_is_relative_to_the_level_before():
    losses = [2.0] * 6 + [9.0, 4.0, 2.2, 2.0, 2.0]
    assert recovery(losses, [0] * 6 + [1] * 5, window=2, tolerance=0.05, relative=True) == 2
    assert recovery(losses, [0] * 6 + [1] * 5, window=2, tolerance=0.0, relative=True) == 3


def test_recovery_is_the_median_and_never_is_longer_than_any():
    in_force = np.repeat([0, 1, 0, 1], 6)
    good, late, never = [0] * 6, [1, 1, 0, 0, 0, 0], [1] * 6
    assert recovery([*good, *late, *good, *late], in_force, window=3) == 2
    assert recovery([*good, *late, *good, *never], in_force, window=3) == 2
    assert recovery([0] * 6 + [1] * 6 + [1] * 6 + [1] * 6, in_force, window=3) == 0  # nothing was lost after the first


def test_gradual_changes_are_those_of_the_schedule():
    stream = stagger(length=200, n_segments=4, width=60, seed=0)
    result = prequential(Says("size"), stream, batch_size=32)
    assert [tuple(segment) for segment in result.segments] == [(0, 0, 200), (1, 200, 200), (2, 400, 200), (0, 600, 200)]
    assert (result.n_changes, result.n_returns) == (3, 1)


def test_c_f1_by_hand():
    leaders = Leaders()
    leaders.add(["a", "a", "b", "b", "b", None], [0, 0, 0, 1, 1, 1])
    # concept 0: a has precision 1 and recall 2/3; concept 1: b has precision 2/3 and recall 2/3
    assert leaders.score() == pytest.approx((4 / 5 + 4 / 6) / 2)
    assert np.isnan(Leaders().score())


def test_leaders_of_few_rows_are_forgotten_when_there_are_too_many():
    leaders = Leaders()
    leaders.add(["main"] * 50, [0] * 50)
    for start in range(0, 5 * MOST_LEADERS, 100):
        leaders.add([f"snapshot {start + at}" for at in range(100)], [1] * 100)
    assert len(leaders._led) <= MOST_LEADERS
    assert leaders.score() == pytest.approx((1.0 + 2 / (1 + 5 * MOST_LEADERS)) / 2)


def test_leader_is_read_before_learning():
    class Led(Says):
        """Led by whatever it learned last."""

        def learn_one(self, x, y):
            self.leader_ = str(y)

    y = np.repeat([0, 1, 0, 1], 5)
    stream = [({"a": 0}, label, label) for label in y.tolist()]
    scores = prequential({"led": Led(), "not": Says()}, stream).scores
    led = np.array([None, *y[:-1].tolist()])
    f1 = [2 * ((led == c) & (y == c)).sum() / ((led == c).sum() + (y == c).sum()) for c in (0, 1)]
    assert scores["led"]["c_f1"] == pytest.approx(np.mean(f1))
    assert np.isnan(scores["not"]["c_f1"])


def test_leader_at_the_end_of_a_pipeline_is_read():
    pytest.importorskip("river")
    from river import naive_bayes, preprocessing

    from ltm_sklearn.river import LongTermMemoryClassifier as RiverClassifier

    def model():
        return RiverClassifier([naive_bayes.GaussianNB()], seed=0)

    models = {"alone": model(), "in a pipeline": preprocessing.MinMaxScaler() | model()}
    scores = prequential(models, stagger(length=200, n_segments=4, seed=0)).scores
    assert 0.0 < scores["in a pipeline"]["c_f1"] <= 1.0


def test_streams_without_concepts_have_no_columns_for_them():
    result = prequential(Says(), pairs(*table(20)))
    assert "c_f1" not in result.scores["Says"]
    assert "concept_oracle" not in result.regret()


# Regret -----------------------------------------------------------------------------------------------------------


def best_sequence(losses, switches):
    """By going through all of them."""
    n_rows, n_experts = losses.shape
    return min(
        losses[np.arange(n_rows), path].sum()
        for path in itertools.product(range(n_experts), repeat=n_rows)
        if np.count_nonzero(np.diff(path)) <= switches
    )


@pytest.mark.parametrize("seed", range(5))
def test_switching_oracle_is_the_best_of_all_sequences(seed):
    rng = np.random.default_rng(seed)
    losses = rng.random((7, 3)) if seed % 2 else rng.integers(0, 2, (7, 3)).astype(float)
    comparators = Comparators(3, [0, 1, 2], 4)
    comparators.add(losses[:3], None)
    comparators.add(losses[3:], None)
    totals = list(comparators.totals().values())
    assert totals == pytest.approx([best_sequence(losses, switches) for switches in range(5)])


def test_regret_is_what_a_model_lost_more_than_the_comparators():
    X, y = table(60)
    concept = np.repeat([0, 1, 0], 20)
    stream = [(X, y, concept)]
    models = {name: Says(f"x{at}") for at, name in enumerate("abc")}
    result = prequential(models, stream, experts=["a", "c"], max_switches=2)
    losses = (y[:, None] != X).astype(float)
    regret = result.regret()
    assert list(regret.columns) == ["loss", "best_expert", "switches_1", "switches_2", "concept_oracle"]
    np.testing.assert_array_equal(regret["loss"], losses.sum(axis=0))
    best = losses.sum(axis=0)[[0, 2]].min()
    np.testing.assert_allclose(regret["best_expert"], losses.sum(axis=0) - best)
    oracle = sum(losses[concept == c].sum(axis=0)[[0, 2]].min() for c in (0, 1))
    np.testing.assert_allclose(regret["concept_oracle"], losses.sum(axis=0) - oracle)
    assert (regret["switches_2"] >= regret["switches_1"]).all()


def test_regret_of_numbers_is_in_squared_errors():
    X, y = np.array([[1.0, 2.0], [0.0, 5.0]]), np.array([0.0, 3.0])
    stream = [({"a": a, "b": b}, target) for (a, b), target in zip(X.tolist(), y.tolist(), strict=True)]
    result = prequential({"a": Says("a"), "b": Says("b")}, stream, max_switches=1)
    assert result.losses == {"a": 1.0 + 9.0, "b": 4.0 + 4.0}
    assert result.comparators == {"best_expert": 8.0, "switches_1": 1.0 + 4.0}


def test_regret_is_about_rows_that_all_models_answered():
    X, y = table(30, n_classes=2)
    result = prequential({"late": GaussianNB(), "says": Says("x0")}, (X, y), batch_size=10)
    assert result.n_compared == 20
    assert result.losses["says"] == (X[10:, 0] != y[10:]).sum()


# Memory -----------------------------------------------------------------------------------------------------------


def test_curve_covers_the_whole_run_with_few_points():
    rng = np.random.default_rng(0)
    losses = rng.random((7 * MOST_POINTS, 2))
    losses[5] = np.nan
    curve = Curve(2, 2)
    for part in np.array_split(losses, 13):
        curve.add(part)
    rows, values = curve.points()
    assert rows[-1] == len(losses)
    np.testing.assert_array_equal(rows, 8 * np.arange(1, 876))
    np.testing.assert_allclose(values, np.nanmean(losses.reshape(-1, 8, 2), axis=1))


def test_schedule_of_many_segments_is_thinned():
    schedule = Schedule()
    for _ in range(MOST_SEGMENTS):
        schedule.add(np.repeat(["a", "b"], [3, 1]))
    assert len(schedule.segments) <= MOST_SEGMENTS
    assert sum(segment.length for segment in schedule.segments) == 4 * MOST_SEGMENTS
    starts = [segment.start for segment in schedule.segments]
    assert starts == [0, *np.cumsum([segment.length for segment in schedule.segments])[:-1]]
    assert schedule.segments[0].concept == "a"


@pytest.mark.exhaustive
def test_memory_does_not_grow_with_the_stream():
    class Right:
        leader_ = "me"

        def predict_one(self, x):
            return 1

        def predict_proba_one(self, x):
            return {0: 0.5, 1: 0.5}

        def learn_one(self, x, y):
            pass

    def peak(n_samples):
        stream = stagger(order="random", length=100, seed=0)
        tracemalloc.start()
        prequential({name: Right() for name in "ab"}, stream, n_samples=n_samples, delay=100, batch_size=5)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(1000)
    assert peak(30_000) < peak(10_000) + 100_000


# What is shown ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    experts = [("bayes", GaussianNB())]
    models = {"ltm": LongTermMemoryClassifier(experts, random_state=0), "bayes": GaussianNB(), "says": Says("size")}
    stream = stagger(order="random", length=100, n_segments=8, noise=0.1, seed=0)
    return prequential(models, stream, batch_size=10)


def test_frame_has_a_row_for_each_model(result):
    frame = result.frame()
    assert list(frame.index) == ["ltm", "bayes", "says"]
    assert frame.loc["ltm", "accuracy"] == result.scores["ltm"]["accuracy"]
    assert frame.loc["ltm", "accuracy"] > frame.loc["bayes", "accuracy"]
    assert 0.0 < frame.loc["ltm", "c_f1"] <= 1.0
    assert frame["rows"].tolist() == [790, 790, 800]
    assert (frame[["predict_seconds", "learn_seconds"]] > 0.0).all(axis=None)


def test_curve_has_a_column_for_each_model(result):
    curve = result.curve()
    assert list(curve.columns) == ["ltm", "bayes", "says"]
    np.testing.assert_array_equal(curve.index, np.arange(50, 801, 50))
    assert curve["says"].mean() == pytest.approx(result.scores["says"]["accuracy"])


def test_printed_result_is_a_table(result):
    lines = repr(result).splitlines()
    assert lines[0].startswith("800 rows; 7 changes of concept")
    assert lines[1].split()[:3] == ["rows", "accuracy", "kappa"]
    assert [line.split()[0] for line in lines[2:]] == ["ltm", "bayes", "says"]
    assert len({len(line) for line in lines[1:]}) == 1
    assert lines[3].split()[-3] == "-"  # nobody leads naive Bayes


def test_picture_has_a_line_for_each_model_and_one_colour_for_each_concept(result):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    display = result.plot()
    assert isinstance(display, PrequentialDisplay)
    assert display.figure_ is display.ax_.figure
    assert [line.get_label() for line in display.lines_] == ["ltm", "bayes", "says"]
    colours = {}
    for segment, band in zip(result.segments, display.ax_.patches, strict=True):
        colours.setdefault(segment.concept, set()).add(band.get_facecolor())
    assert all(len(each) == 1 for each in colours.values())
    assert len(set.union(*colours.values())) == len(colours) == 3
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[:3] == ["ltm", "bayes", "says"]
    assert sorted(labels[3:]) == ["concept 0", "concept 1", "concept 2"]
    figure, ax = pyplot.subplots()
    assert PrequentialDisplay.from_result(result, ax=ax).figure_ is figure
    pyplot.close("all")


def test_run_of_one_point_can_be_seen():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    (line,) = prequential(Says(), pairs(*table(10))).plot().lines_
    assert line.get_marker() == "o"
    pyplot.close("all")


def test_a_dozen_models_look_different(result):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    stream = stagger(length=500, n_segments=20, seed=0)
    display = prequential({f"model {at}": Says("size") for at in range(12)}, stream, batch_size=100, window=10).plot()
    looks = {(line.get_color(), line.get_linestyle()) for line in display.lines_}
    assert len(looks) == 12
    assert len(display.lines_[0].get_xdata()) <= 50
    pyplot.close("all")


def test_concepts_are_called_by_their_names():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    def concept(rng, n_rows):
        return rng.random((n_rows, 1)), np.zeros(n_rows, dtype=int)

    stream = RecurringConcepts({"day": concept, "night": concept}, length=50, n_segments=3, seed=0)
    display = prequential(Says("x0"), stream, classes=[0]).plot()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["Says", "concept day", "concept night"]
    pyplot.close("all")


@pytest.mark.parametrize("rich", [True, False])
def test_progress_is_shown_on_demand(rich, monkeypatch, capsys):
    if rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setattr("ltm_sklearn.recording._progress.find_spec", lambda name: None)
    prequential(Says(), pairs(*table(30)), n_samples=20, progress=True)
    out, err = capsys.readouterr()
    assert "20" in out + err
    prequential(Says(), pairs(*table(30)))
    assert capsys.readouterr() == ("", "")


def test_neither_river_nor_matplotlib_is_imported_unless_needed():
    code = """
        import sys
        from ltm_sklearn.evaluation import prequential
        from ltm_sklearn.streams import stagger
        from sklearn.naive_bayes import GaussianNB
        print(prequential(GaussianNB(), stagger(length=20, n_segments=2, seed=0), batch_size=5))
        print([name for name in ("river", "matplotlib") if name in sys.modules])
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, cwd="/"
    )
    assert "GaussianNB" in run.stdout
    assert run.stdout.endswith("[]\n")


# Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delay": -1}, "delay=-1"),
        ({"delay": 1.5}, "delay=1.5"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"window": 0}, "window=0"),
        ({"max_switches": -1}, "max_switches=-1"),
        ({"tolerance": -0.1}, "tolerance=-0.1"),
        ({"n_samples": 0}, "n_samples=0"),
        ({"experts": ["a", "zebra"]}, "zebra"),
        ({"experts": []}, r"experts=\[\]"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        prequential({"a": Says()}, pairs(*table(5)), **options)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ([], "no rows"),
        (iter([]), "no rows"),
        ((np.empty((0, 2)), np.empty(0, dtype=int)), "no rows"),
        ((np.ones((3, 2)), [0, 1]), "3 rows and 2 targets"),
        ([(pd.DataFrame({"a": [1]}), [0]), (np.ones((3, 2)), [0, 1])], "batch 1 has 3 rows and 2 targets"),
        ((np.ones((2, 2)), [0, 1], [0]), r"concepts of shape \(1,\)"),
        ((np.ones((2, 2)), np.ones((2, 2))), "targets of shape"),
        ("rows.csv", "type str"),
        (pd.DataFrame({"a": [1]}), "type DataFrame"),
        (3, "type int"),
        ([1, 2], "batch 0 is of type int"),
        ([([{"a": 1}], [0], [0]), ([{"a": 1}], [0])], "batch 1 has no concept, unlike"),
        ([([{"a": 1}], [0]), ([{"a": 1}], [0], [0])], "batch 1 has a concept, unlike"),
        ([({"a": 1}, 1), 5], "row 1 of the stream is of type int"),
        ([({"a": 1}, 1), ({"a": 1}, None)], "row 1 of the stream has no target: it is None"),
        ([({"a": 1}, "x"), ({"a": 1}, float("nan"))], "row 1 of the stream has no target"),
        (stagger(length=5, seed=0), "n_samples"),
    ],
)
def test_bad_streams_are_named(stream, message):
    with pytest.raises(ValueError, match=message):
        prequential(Says(), stream)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, "models is empty"),
        ({"text": "GaussianNB"}, "'text' is of type str"),
        ({"kind": GaussianNB}, "the class GaussianNB"),
        ({"pipeline": make_pipeline(StandardScaler(), GaussianNB())}, "'pipeline' is of type Pipeline"),
        ({"a": GaussianNB(), "b": SGDRegressor()}, r"\['a'\] are classifiers and \['b'\] are regressors"),
    ],
)
def test_bad_models_are_named(models, message):
    with pytest.raises(ValueError, match=message):
        prequential(models, table(5))


def test_pipeline_of_river_without_a_model_is_refused():
    preprocessing = pytest.importorskip("river.preprocessing")
    with pytest.raises(ValueError, match="'scaler' is of type Pipeline"):
        prequential({"scaler": preprocessing.StandardScaler() | preprocessing.MinMaxScaler()}, pairs(*table(5)))


def test_one_model_under_two_names_is_refused():
    model = Says()
    with pytest.raises(ValueError, match="same object"):
        prequential({"a": model, "b": model}, pairs(*table(5)))
    assert model.events == []


def test_scikit_learn_classifiers_must_know_the_classes():
    X, y = table(10)
    with pytest.raises(ValueError, match="'GaussianNB' must be told all classes"):
        prequential(GaussianNB(), [(X, y)])
    with pytest.raises(ValueError, match="row 0 of the stream has the label"):
        prequential(GaussianNB(), [(X, y)], classes=[7, 8])


def test_numbers_to_predict_must_be_finite():
    for target in (np.inf, np.nan):
        model = LongTermMemoryRegressor([("sgd", SGDRegressor())])
        with pytest.raises(ValueError, match="row 2 of the stream has"):
            prequential(model, (np.ones((3, 1)), np.array([1.0, 2.0, target])), batch_size=3)
        assert not hasattr(model, "_engine")


def test_text_features_for_scikit_learn_ask_for_frames():
    with pytest.raises(ValueError, match="as_frame=True"):
        prequential(GaussianNB(), [({"a": "red"}, 0)], classes=[0, 1])


def test_more_rows_in_waiting_than_a_model_can_hold_are_refused():
    model = LongTermMemoryClassifier([("bayes", GaussianNB())], max_pending=10)
    with pytest.raises(ValueError, match="max_pending=10"):
        prequential(model, stagger(length=20, n_segments=2, seed=0), delay=10)
    assert prequential(model, stagger(length=20, n_segments=2, seed=0), batch_size=20).n_rows == 40  # none waits


def test_error_of_a_model_names_it_and_the_rows():
    class Fails(Says):
        def predict_one(self, x):
            raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order") as caught:
        prequential({"good": Says(), "bad": Fails()}, pairs(*table(5)), batch_size=3)
    assert caught.value.__notes__ == ["model 'bad', rows 0 to 2 of the stream"]
