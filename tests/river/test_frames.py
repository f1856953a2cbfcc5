"""Frames in River's interface: ``learn_many`` and ``predict_many``."""

import pickle

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

pytest.importorskip("river")
from river import (
    datasets,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
    preprocessing,
    tree,
)
from sklearn.linear_model import SGDClassifier, SGDRegressor
from support.named_models import named
from support.river_models import ReadsLabel, ReadsNumber
from support.river_streams import scaled_linear, scaled_logistic

from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.river import (
    ExpertSelectionClassifier,
    LongTermMemoryClassifier,
    LongTermMemoryRegressor,
)

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


def test_column_names_and_labels_need_not_be_strings():
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


def test_weightless_and_bad_rows_do_not_stop_the_others():
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


def test_invalid_loss_is_refused_by_the_constructor():
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


def test_row_that_no_expert_can_predict_is_an_error():
    model = LongTermMemoryRegressor(named([ReadsNumber("a"), ReadsNumber("b")]))
    model.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    before = pickle.dumps(model)
    for ask in (model.predict_one, lambda x: model.predict_one(x, id=1)):
        with pytest.raises(ValueError, match="no expert could predict these rows: 'a'"):
            ask({"c": 1.0})
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(("frame_of", "series_of"), FRAMES)
def test_untrained_frames_are_predicted_like_rows(frame_of, series_of):
    columns = {"a": [1.0, 2.0]}
    binary = LongTermMemoryClassifier(named([scaled_logistic()]))
    labels = nw.from_native(binary.predict_many(frame_of(columns)), series_only=True)
    assert labels.to_list() == [binary.predict_one({"a": 1.0})] * 2
    chances = nw.from_native(binary.predict_proba_many(frame_of(columns)))
    assert chances.to_numpy().tolist() == [list(binary.predict_proba_one({"a": 1.0}).values())] * 2
    multiclass = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    assert len(multiclass.predict_proba_many(frame_of(columns))) == len(multiclass.predict_many(frame_of(columns))) == 0
