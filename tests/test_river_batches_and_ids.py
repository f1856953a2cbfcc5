"""Frames, labels that come later, selection of models: what River's users do besides one row after the other."""

import pickle

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

pytest.importorskip("river")

from river import (
    bandit,
    datasets,
    evaluate,
    linear_model,
    metrics,
    model_selection,
    naive_bayes,
    preprocessing,
    stream,
    tree,
)
from river_experts import ReadsChance, ReadsLabel, ReadsNumber
from sklearn.linear_model import SGDClassifier, SGDRegressor
from support.named_models import named

from ltm_sklearn import Snapshots
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.experts import FixedShare, LongTermMemory
from ltm_sklearn.river import (
    ExpertSelectionClassifier,
    ExpertSelectionRegressor,
    LongTermMemoryClassifier,
    LongTermMemoryRegressor,
)
from ltm_sklearn.streams import stagger


def scaled_logistic():
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


def scaled_linear():
    return preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)


# Frames -----------------------------------------------------------------------------------------------------------

FRAMES = [
    pytest.param(pd.DataFrame, pd.Series, id="pandas"),
    pytest.param(pl.DataFrame, pl.Series, id="polars"),
    pytest.param(lambda columns: pa.table(columns), pa.chunked_array, id="pyarrow"),
]


def table(n_rows=40, seed=0):
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=n_rows) for name in "abc"}
    return columns, columns["a"] + 0.3 * rng.normal(size=n_rows)


@pytest.mark.parametrize(("frame", "series"), FRAMES)
def test_frames_of_any_library_go_in_and_come_out(frame, series):
    columns, y = table()
    X, labels = frame(columns), ["up" if value > 0 else "down" for value in y]
    targets = series([labels]) if series is pa.chunked_array else series(labels)
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()]))
    model.learn_many(X, targets)
    model.learn_many(X, targets)
    assert model.n_rounds_ == 2
    assert model.n_samples_seen_ == 80
    said, chances = model.predict_many(X), model.predict_proba_many(X)
    assert type(chances) is type(X)
    said = said.to_pylist() if hasattr(said, "to_pylist") else said.to_list()
    assert said == [
        model.predict_one(dict(zip("abc", row, strict=True))) for row in zip(*columns.values(), strict=True)
    ]
    assert np.mean([one == other for one, other in zip(said, labels, strict=True)]) > 0.8
    names = chances.column_names if hasattr(chances, "column_names") else list(chances.columns)
    assert set(names) == {"up", "down"}
    total = np.asarray(chances["up"]) + np.asarray(chances["down"])
    np.testing.assert_allclose(total, 1.0)


@pytest.mark.parametrize(("frame", "series"), FRAMES[:2])
def test_regression_on_frames(frame, series):
    columns, y = table(200)
    X, targets = frame(columns), series(y)
    model = LongTermMemoryRegressor(named([scaled_linear(), tree.HoeffdingTreeRegressor()]))
    for _ in range(30):
        model.learn_many(X, targets)
    said = model.predict_many(X)
    assert isinstance(said, series)
    one = [model.predict_one(dict(zip("abc", row, strict=True))) for row in zip(*columns.values(), strict=True)]
    np.testing.assert_allclose(said.to_numpy(), one, rtol=1e-6, atol=1e-9)
    assert np.abs(said.to_numpy() - y).mean() < 0.5 * np.abs(y).mean()


def test_index_of_a_frame_is_kept():
    columns, y = table()
    X = pd.DataFrame(columns, index=np.arange(40) * 7)
    model = LongTermMemoryRegressor(named([scaled_linear()]))
    model.learn_many(X, pd.Series(y, index=X.index))
    assert model.predict_many(X).index.tolist() == X.index.tolist()


def test_names_of_columns_need_not_be_strings_and_labels_may_be_anything():
    columns, y = table()
    X = pd.DataFrame(dict(enumerate(columns.values())))
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    model.learn_many(X, pd.Series(y > 0))
    assert set(model.predict_proba_many(X).columns) == {False, True}
    assert set(model.predict_many(X)) <= {False, True}


def test_frames_before_anything_is_known_and_without_rows():
    X = pd.DataFrame(table()[0])
    classifier, regressor = (
        LongTermMemoryClassifier(named([naive_bayes.GaussianNB()])),
        LongTermMemoryRegressor(named([scaled_linear()])),
    )
    assert len(classifier.predict_many(X)) == len(classifier.predict_proba_many(X)) == 0  # as River's own
    assert regressor.predict_many(X).tolist() == [0.0] * 40
    regressor.learn_many(X[:0], pd.Series([], dtype=float))
    assert regressor.n_rounds_ == 0
    assert len(regressor.predict_many(X[:0])) == 0


def test_weights_of_a_frame_reach_the_losses_and_the_models():
    X = pd.DataFrame({"a": [True, True, True, False], "b": [False, False, False, True]})
    y = pd.Series([True, True, True, True])
    models = [ReadsLabel("a"), ReadsLabel("b")]
    even, uneven = (LongTermMemoryClassifier(named(models), loss="zero_one", memory=None) for _ in range(2))
    even.learn_many(X, y)
    uneven.learn_many(X, y, w=[0.1, 0.1, 0.1, 1.0])
    assert even.weights_[0] > 0.5 > uneven.weights_[0]
    np.testing.assert_allclose(uneven.loss_, [1.0 / 1.3, 0.3 / 1.3])


@pytest.mark.parametrize(
    ("y", "w", "message"),
    [
        ([1.0, 2.0], None, "3 rows and 2 targets"),
        ([1.0, None, 2.0], None, "the target is None"),
        ([1.0, float("nan"), 2.0], None, "the target is nan"),
        ([1.0, 2.0, 3.0], [1.0, 2.0], "2 weights for 3 rows"),
        ([1.0, 2.0, 3.0], [1.0, -2.0, 1.0], "must be a finite number, 0 or more"),
    ],
)
def test_bad_frames_are_named_and_change_nothing(y, w, message):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    model = LongTermMemoryRegressor(named([scaled_linear()]))
    model.learn_many(X, pd.Series([1.0, 2.0, 3.0]))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn_many(X, pd.Series(y, dtype=object), w)
    assert pickle.dumps(model) == before


def test_rows_without_weight_are_passed_over_and_a_bad_row_does_not_stop_the_others():
    class Learns(ReadsLabel):
        def __init__(self, feature="a"):
            super().__init__(feature)
            self.learned = []

        def predict_proba_one(self, x):
            return {1: 1.0}

        def learn_one(self, x, y):
            if "a" not in x:
                raise KeyError("a")
            self.learned.append(x["a"])

    X = pd.DataFrame({"a": [1.0, 2.0, None, 4.0]})
    model = LongTermMemoryClassifier(named([Learns(), ReadsLabel("b")]), memory=None)
    with pytest.warns(ExpertWarning, match="could not learn"):
        model.learn_many(X.assign(b=1.0), [1, 1, 1, 1], w=[1.0, 0.0, 1.0, 1.0])
    assert model.estimators_[0].learned == [1.0, 4.0]


@pytest.mark.parametrize(
    ("make", "wrong"),
    [(LongTermMemoryClassifier, scaled_linear), (LongTermMemoryRegressor, naive_bayes.GaussianNB)],
)
def test_model_of_the_wrong_kind_is_named(make, wrong):
    with pytest.raises(ValueError, match=r"model 'wrong' \(\w+\) is no (classifier|regressor)"):
        make({"wrong": wrong()})


def test_frames_pass_through_a_pipeline():
    columns, y = table(100)
    X = pd.DataFrame(columns)
    model = preprocessing.StandardScaler() | LongTermMemoryClassifier(
        named([naive_bayes.GaussianNB(), linear_model.LogisticRegression()])
    )
    for _ in range(10):
        model.learn_many(X, pd.Series(y > 0))
    assert (model.predict_many(X) == (y > 0)).mean() > 0.85


# Labels that come later -------------------------------------------------------------------------------------------


def test_round_is_charged_what_was_said_when_it_was_issued():
    models = [ReadsChance("a"), ReadsChance("b")]  # which know the labels beforehand
    model, alone = LongTermMemoryClassifier(named(models), loss="zero_one", memory=None), LongTermMemory()
    rng = np.random.default_rng(0)
    waiting, labels = {}, {}
    for at in range(200):
        x = {"a": bool(rng.integers(2)), "b": bool(rng.integers(2))}
        model.predict_one(x, id=at)
        waiting[at], labels[at] = x, x["b"] if at > 100 else x["a"]
        if len(waiting) > 20:
            due = int(rng.choice(list(waiting)))  # in any order
            model.learn_one({"a": None, "b": None}, labels[due], id=due)  # what the experts would say now is not asked
            x = waiting.pop(due)
            alone.update([float(x["a"] != labels[due]), float(x["b"] != labels[due])])
    assert model.n_rounds_ == 180
    np.testing.assert_allclose(model.weights_, alone.weights(2))


def test_questions_and_answers_of_river():
    """`simulate_qa` gives (i, x, None) and later (i, x, y)."""
    rows = stagger(order="random", length=100, n_segments=6, seed=0)
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=Snapshots(every=50, max_size=5))
    right, asked, answered = [], {}, 0
    for i, x, y in stream.simulate_qa(rows, moment=None, delay=lambda x, y: 5 + int(x["size"]) * 10):
        if y is None:
            asked[i] = model.predict_one(x, id=i)
        else:
            right.append(asked.pop(i) == y)
            model.learn_one(x, y, id=i)
            answered += 1
    assert answered == model.n_samples_seen_ == 600
    assert not asked
    assert np.mean(right) > 0.6


def test_regression_with_ids_and_in_a_pipeline():
    model = preprocessing.StandardScaler() | LongTermMemoryRegressor(
        named([linear_model.LinearRegression(intercept_lr=0.1)])
    )
    rows = list(datasets.TrumpApproval().take(200))
    errors = []
    for at, (x, y) in enumerate(rows):
        errors.append(abs(model.predict_one(x, id=at) - y))
        if at >= 3:
            model.learn_one(*rows[at - 3], id=at - 3)
    assert model["LongTermMemoryRegressor"].n_rounds_ == 197
    assert np.mean(errors[50:]) < 0.5 * np.mean(errors[:20])


def test_label_that_was_not_known_when_the_row_was_issued():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    assert model.predict_proba_one({"a": 0.0}, id="first") == {}
    model.predict_proba_one({"a": 1.0}, id="second")
    model.learn_one({"a": 1.0}, "late", id="second")
    model.learn_one({"a": 0.0}, "early", id="first")
    model.predict_proba_one({"a": 2.0}, id="third")
    model.learn_one({"a": 2.0}, "new", id="third")
    assert set(model.predict_proba_one({"a": 0.0})) == {"late", "early", "new"}
    assert model.n_rounds_ == 3


def test_only_so_many_wait():
    model = LongTermMemoryClassifier(named([ReadsLabel("a")]), max_pending=3)
    for at in range(5):
        model.predict_one({"a": 1}, id=at)
    with pytest.raises(ValueError, match=r"id 1 is not waiting.*more than 3 rows waited"):
        model.learn_one({"a": 1}, 1, id=1)
    model.learn_one({"a": 1}, 1, id=2)


@pytest.mark.parametrize("make", [LongTermMemoryClassifier, LongTermMemoryRegressor])
def test_ids_never_issued_or_used_twice_are_named_and_change_nothing(make):
    model = make(named([naive_bayes.GaussianNB() if make is LongTermMemoryClassifier else scaled_linear()]))
    with pytest.raises(ValueError, match="id 'never' is not waiting"):
        model.learn_one({"a": 1.0}, 1.0, id="never")
    assert not hasattr(model, "_engine")
    model.predict_one({"a": 1.0}, id="once")
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="id 'once' is waiting for its target already"):
        model.predict_one({"a": 2.0}, id="once")
    with pytest.raises(ValueError, match="id 'never' is not waiting"):
        model.learn_one({"a": 1.0}, 1.0, id="never")
    with pytest.raises(ValueError, match="is None"):
        model.learn_one({"a": 1.0}, None, id="once")
    assert pickle.dumps(model) == before
    model.learn_one({"a": 1.0}, 1.0, id="once")
    with pytest.raises(ValueError, match="id 'once' is not waiting"):
        model.learn_one({"a": 1.0}, 1.0, id="once")


def test_what_waits_is_saved():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    for at, (x, y) in enumerate(stagger(length=30, n_segments=1, seed=0)):
        model.learn_one(x, y)
        model.predict_one(x, id=at)
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        for at in range(30):
            each.learn_one(x, y, id=at)
    assert model.weights_.tolist() == again.weights_.tolist()
    assert model.predict_proba_one(x) == again.predict_proba_one(x)


@pytest.mark.parametrize("delayed", [False, True])
def test_round_that_is_complete_is_not_done_again_if_warnings_are_errors(delayed):
    class Fails(ReadsLabel):
        def learn_one(self, x, y):
            raise RuntimeError("not now")

    model = LongTermMemoryClassifier(named([ReadsLabel("a"), Fails("a")]), memory=None)
    x = {"a": True}
    if delayed:
        model.predict_one(x, id=1)
    with pytest.raises(ExpertWarning, match="'Fails' could not learn"):
        model.learn_one(x, True, id=1 if delayed else None)
    assert model.n_rounds_ == 1
    if delayed:
        with pytest.raises(ValueError, match="id 1 is not waiting"):
            model.learn_one(x, True, id=1)


def test_failure_is_reported_once_under_ids():
    class Mute(ReadsLabel):
        def predict_proba_one(self, x):
            raise RuntimeError("no comment")

    model = LongTermMemoryClassifier(named([ReadsLabel("a"), Mute("a")]), memory=None)
    with pytest.warns(ExpertWarning, match="'Mute' could not predict"):
        model.predict_one({"a": True}, id=0)
    for at in range(30):  # where warnings are errors
        model.learn_one({"a": True}, True, id=at)
        model.predict_one({"a": True}, id=at + 1)


def test_clone_with_attributes_goes_on_by_itself():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=None)
    for at in range(40):
        model.learn_one({"a": float(at % 2)}, "pq"[at % 2])
    model.predict_one({"a": 0.0}, id="waits")
    copied = model.clone(include_attributes=True)
    for _ in range(60):
        copied.learn_one({"a": 5.0}, "new")
    copied.learn_one({"a": 0.0}, "p", id="waits")
    assert copied.predict_one({"a": 5.0}) == "new"
    assert copied.n_rounds_ == 101
    assert set(model.predict_proba_one({"a": 5.0})) == {"p", "q"}


# Selection --------------------------------------------------------------------------------------------------------


def test_selection_plays_the_algorithm_on_the_losses_of_the_metric():
    model = ExpertSelectionClassifier([ReadsLabel("a"), ReadsLabel("b"), ReadsLabel("c")], algorithm=FixedShare())
    alone = FixedShare()
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, y = {name: bool(rng.integers(2)) for name in "abc"}, bool(rng.integers(2))
        model.learn_one(x, y)
        alone.update([float(said != y) for said in x.values()])
        np.testing.assert_allclose(model.weights, alone.weights())
        assert model.best_model is model.models[int(alone.weights().argmax())]


def test_error_of_any_size_selects_the_better_regressor():
    """River's BanditRegressor takes the largest error for the best."""

    x = {"a": 0.0, "b": 1000.0, "c": 3000.0}
    for metric in (None, metrics.MSE(), metrics.RMSE()):
        model = ExpertSelectionRegressor([ReadsNumber(name) for name in x], metric=metric)
        for y in [900.0] * 30:
            model.learn_one(x, y)
        assert model.predict_one(x) == 1000.0
        for y in [0.0] * 30:
            model.learn_one(x, y)
        assert model.predict_one(x) == 0.0


def test_selection_by_a_metric_of_probabilities_and_with_models_that_have_nothing_to_say():
    model = ExpertSelectionClassifier([naive_bayes.GaussianNB(), scaled_logistic()], metric=metrics.LogLoss())
    accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    assert accuracy.get() > 0.8
    assert not model.clone()[0].class_counts


def test_model_that_has_nothing_to_say_is_not_selected():
    class Silent(ReadsLabel):
        def predict_proba_one(self, x):
            return {}

    model = ExpertSelectionClassifier([Silent("a"), ReadsLabel("a")])
    for _ in range(5):
        model.learn_one({"a": True}, True)
    assert model.predict_one({"a": True}) is True


def test_selection_refuses_targets_that_are_missing():
    classifier, regressor = (
        ExpertSelectionClassifier([ReadsLabel("a"), ReadsLabel("b")]),
        ExpertSelectionRegressor([scaled_linear(), scaled_linear()]),
    )
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match="the label is"):
            classifier.learn_one({"a": True, "b": True}, missing)
        with pytest.raises(ValueError, match="the target is"):
            regressor.learn_one({"a": 1.0}, missing)


def test_selection_refuses_what_is_no_algorithm():
    with pytest.raises(ValueError, match=r"algorithm='hedges' .* nor the name"):
        ExpertSelectionClassifier([ReadsLabel("a"), ReadsLabel("b")], algorithm="hedges")


@pytest.mark.parametrize(
    "selector",
    [
        lambda models: model_selection.GreedyRegressor(models, metrics.MAE()),
        lambda models: model_selection.SuccessiveHalvingRegressor(models, metrics.MAE(), budget=200),
        lambda models: model_selection.BanditRegressor(models, metrics.MAE(), bandit.EpsilonGreedy(0.2, seed=1)),
        ExpertSelectionRegressor,
    ],
)
def test_the_estimators_are_selected_among_others(selector):
    ours = LongTermMemoryRegressor(named([linear_model.LinearRegression(intercept_lr=0.1), linear_model.PARegressor()]))
    model = preprocessing.StandardScaler() | selector(
        [ours, linear_model.LinearRegression(), LongTermMemoryRegressor(named([ours]))]
    )
    error = evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    assert np.isfinite(error.get())


# Experts of the other kind ----------------------------------------------------------------------------------------


def test_estimators_of_scikit_learn_are_taken_as_they_are():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB(), SGDClassifier(loss="log_loss", random_state=0)]))
    accuracy = evaluate.progressive_val_score(datasets.Phishing().take(400), model, metrics.Accuracy())
    assert accuracy.get() > 0.8
    assert {expert.name for expert in model.experts_} >= {"GaussianNB", "SGDClassifier"}
    regressor = preprocessing.StandardScaler() | LongTermMemoryRegressor(
        named([SGDRegressor(random_state=0), scaled_linear()])
    )
    error = evaluate.progressive_val_score(datasets.TrumpApproval().take(300), regressor, metrics.MAE())
    assert error.get() < 10
    assert not hasattr(model.clone()[1].estimator, "coef_")


def test_what_is_of_neither_kind_is_named():
    with pytest.raises(ValueError, match="model 'tree' is 'tree', which is neither River's nor scikit-learn's"):
        LongTermMemoryClassifier({"bayes": naive_bayes.GaussianNB(), "tree": "tree"})


# Wrong input ------------------------------------------------------------------------------------------------------


def test_loss_that_is_none_is_refused_at_once():
    for estimator in (
        LongTermMemoryClassifier(named([scaled_logistic()])),
        LongTermMemoryRegressor(named([scaled_linear()])),
    ):
        with pytest.raises(ValueError, match="loss='no'"):
            type(estimator)(estimator.models, loss="no")


@pytest.mark.parametrize("estimator", [LongTermMemoryClassifier, ExpertSelectionClassifier])
def test_label_that_a_binary_model_cannot_learn_is_refused(estimator):
    """River's logistic regression raises an error at a string, and learns nonsense from a 2."""
    models = [tree.HoeffdingTreeClassifier(), scaled_logistic()]
    model = estimator(named(models) if estimator is LongTermMemoryClassifier else models)
    for at in range(10):
        model.learn_one({"a": float(at)}, bool(at % 2))
    before = pickle.dumps(model)
    for label in ("yes", 2):
        with pytest.raises(ValueError, match=f"the label is {label!r}, but LogisticRegression only learns.*OneVsRest"):
            model.learn_one({"a": 1.0}, label)
    assert pickle.dumps(model) == before
    for label in (0, 1, np.True_):
        model.learn_one({"a": 1.0}, label)


def test_row_that_no_expert_can_predict_is_an_error_as_with_a_model_alone():
    model = LongTermMemoryRegressor(named([ReadsNumber("a"), ReadsNumber("b")]))
    model.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    before = pickle.dumps(model)
    for ask in (model.predict_one, lambda x: model.predict_one(x, id=1)):
        with pytest.raises(ValueError, match="no expert could predict these rows: 'a'"):
            ask({"c": 1.0})
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(("frame_of", "series_of"), FRAMES)
def test_frames_before_anything_was_learned_are_answered_like_rows(frame_of, series_of):
    columns = {"a": [1.0, 2.0]}
    binary = LongTermMemoryClassifier(named([scaled_logistic()]))
    labels = nw.from_native(binary.predict_many(frame_of(columns)), series_only=True)
    assert labels.to_list() == [binary.predict_one({"a": 1.0})] * 2
    chances = nw.from_native(binary.predict_proba_many(frame_of(columns)))
    assert chances.to_numpy().tolist() == [list(binary.predict_proba_one({"a": 1.0}).values())] * 2
    multiclass = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    assert len(multiclass.predict_proba_many(frame_of(columns))) == len(multiclass.predict_many(frame_of(columns))) == 0
