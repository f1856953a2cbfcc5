"""``FromSklearnClassifier`` and ``FromSklearnRegressor``: scikit-learn estimators as River's models."""

import copy
import pickle
import time
import warnings

import numpy as np
import pytest

river = pytest.importorskip("river")
pd = pytest.importorskip("pandas")
from river import (  # noqa: E402
    compat,
    datasets,
    evaluate,
    metrics,
    naive_bayes,
)
from sklearn.base import clone  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import Perceptron, Ridge, SGDClassifier, SGDRegressor  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402
from support.adapter_models import SGD, as_rows, learned, made, mended_by  # noqa: E402
from support.river_models import rivers_checks  # noqa: E402

from ltm_sklearn.ensemble import (  # noqa: E402
    IncrementalPipeline,
)
from ltm_sklearn.river import FromSklearnClassifier, FromSklearnRegressor  # noqa: E402
from ltm_sklearn.river._from_sklearn import MAX_KEPT_ROWS, as_river_model  # noqa: E402

SGD_REGRESSOR = SGDRegressor(random_state=0)


MODELS = [
    FromSklearnClassifier(SGD),
    FromSklearnClassifier(SGD, classes=[True, False]),
    FromSklearnClassifier(DecisionTreeClassifier(random_state=0), batch_size=25),
    FromSklearnClassifier(Perceptron(random_state=0)),
    FromSklearnRegressor(SGD_REGRESSOR),
    FromSklearnRegressor(Ridge(), batch_size=7),
]


@pytest.mark.parametrize(
    ("model", "check"),
    rivers_checks(MODELS),
)
def test_rivers_checks(model, check):
    check(model.clone())


def test_probabilities_of_unsorted_classes():
    X, y = made()
    models = [
        adapter(GaussianNB(), classes=[True, False]) for adapter in (FromSklearnClassifier, compat.SKL2RiverClassifier)
    ]
    mine, theirs = (learned(model, as_rows(X), y.tolist()).predict_proba_one({"a": 3.0, "b": 0.0}) for model in models)
    assert mine[True] > 0.99
    mended_by(theirs[True] > 0.99)
    assert theirs[True] < 0.01


def test_clone_of_a_trained_model_is_untrained():
    X, y = made()
    models = [
        adapter(GaussianNB(), classes=["no", "yes"]) for adapter in (FromSklearnClassifier, compat.SKL2RiverClassifier)
    ]
    labels = np.where(y, "yes", "no").tolist()
    mine, theirs = (learned(model, as_rows(X), labels).clone() for model in models)
    assert mine.predict_proba_one({"a": 3.0, "b": 0.0}) == {}
    mended_by(theirs.predict_proba_one({"a": 3.0, "b": 0.0})["yes"] == 0.5)
    assert theirs.predict_proba_one({"a": 3.0, "b": 0.0})["yes"] > 0.99


def test_feature_that_vanishes_counts_zero():
    X, y = made()
    models = [
        adapter(GaussianNB(), classes=[False, True]) for adapter in (FromSklearnClassifier, compat.SKL2RiverClassifier)
    ]
    mine, theirs = (learned(model, as_rows(X), y.tolist()) for model in models)
    assert mine.predict_proba_one({"a": 2.0}) == mine.predict_proba_one({"b": 0.0, "a": 2.0})
    try:
        theirs.predict_proba_one({"a": 2.0})
    except KeyError:
        return
    mended_by(True)


def test_predicting_does_not_decide_which_features_there_are():
    X, y = made()
    models = [
        adapter(GaussianNB(), classes=[False, True]) for adapter in (FromSklearnClassifier, compat.SKL2RiverClassifier)
    ]
    for model in models:
        model.predict_proba_one({"b": 1.0})
    mine, theirs = (learned(model, as_rows(X), y.tolist()) for model in models)
    assert mine.predict_proba_one({"a": 3.0, "b": 0.0})[True] > 0.99
    mended_by(theirs.predict_proba_one({"a": 3.0, "b": 0.0})[True] > 0.99)


def test_frames_and_rows_may_take_turns_without_warnings():
    X, y = made()
    frame = pd.DataFrame(X, columns=["a", "b"])
    models = [
        adapter(GaussianNB(), classes=[False, True]) for adapter in (FromSklearnClassifier, compat.SKL2RiverClassifier)
    ]
    for model in models:
        model.learn_many(frame, pd.Series(y))
    mine, theirs = models
    assert mine.predict_proba_one({"a": 3.0, "b": 0.0})[True] > 0.99  # warnings are errors here
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        theirs.predict_proba_one({"a": 3.0, "b": 0.0})
    mended_by(not caught)
    assert "feature names" in str(caught[0].message)


def test_batches_make_rows_cheap():
    """Ten rows a partial_fit: about a tenth of the time."""
    X, y = made(300)
    rows, seconds = as_rows(X), {}
    for _ in range(3):
        for adapter in (FromSklearnClassifier, compat.SKL2RiverClassifier):
            model = adapter(clone(SGD), classes=[False, True])  # theirs trains what it is given
            start = time.perf_counter()
            learned(model, rows, y.tolist())
            seconds.setdefault(adapter, []).append(time.perf_counter() - start)
    assert min(seconds[FromSklearnClassifier]) < 0.4 * min(seconds[compat.SKL2RiverClassifier])


def test_rows_wait_for_a_batch():
    X, y = made(25)
    alone = SGDClassifier(loss="log_loss", random_state=0)
    model = FromSklearnClassifier(SGD, classes=[False, True])
    for at, (x, label) in enumerate(zip(as_rows(X), y.tolist(), strict=True), 1):
        model.learn_one(x, label)
        if at % 10 == 0:
            alone.partial_fit(X[at - 10 : at], y[at - 10 : at], classes=[False, True])
    assert model.predict_proba_one({"a": 1.0, "b": 0.5})[True] == alone.predict_proba([[1.0, 0.5]])[0, 1]
    assert not hasattr(SGD, "coef_")


def test_frame_is_a_batch_and_comes_after_the_rows_that_wait():
    X, _ = made(25)
    frame = pd.DataFrame(X, columns=["a", "b"])
    alone = clone(SGD_REGRESSOR).partial_fit(X[:4], X[:4, 0]).partial_fit(X[4:], X[4:, 0])
    model = FromSklearnRegressor(SGD_REGRESSOR)
    for x, target in zip(as_rows(X[:4]), X[:4, 0].tolist(), strict=True):
        model.learn_one(x, target)
    model.learn_many(frame[4:], X[4:, 0])
    np.testing.assert_allclose(model.predict_many(frame), alone.predict(X))
    assert model.predict_many(frame[::-1]).index.tolist() == frame.index[::-1].tolist()
    assert model.predict_one({"a": X[0, 0], "b": X[0, 1]}) == pytest.approx(alone.predict(X[:1])[0])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_come_back_in_the_library_they_came_in(library):
    module = pytest.importorskip(library)
    X, y = made()
    columns = {"b": X[:, 1], "c": y.astype(float), "a": X[:, 0]}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    labels = module.chunked_array([y]) if library == "pyarrow" else module.Series(y)
    model = FromSklearnClassifier(GaussianNB())
    model.learn_many(frame, labels)
    assert model.predict_one({"a": 3.0, "b": 0.0, "c": 1.0}) is True
    model = learned(FromSklearnClassifier(GaussianNB()), as_rows(X), np.where(y, "yes", "no").tolist())
    said = model.predict_proba_many(frame)
    assert type(said).__module__.startswith(library)
    one = model.predict_proba_one({"a": X[0, 0], "b": X[0, 1]})
    assert np.asarray(said["yes"])[0] == pytest.approx(one["yes"])
    assert np.asarray(model.predict_many(frame)).tolist()[0] == max(one, key=one.get)


def test_untrained_model_predicts_label_frequencies():
    model = FromSklearnClassifier(SGD)
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_many(frame).shape[1] == 0
    learned(model, [{"a": 1.0}] * 4, ["x", "y", "x", "x"])
    assert model.predict_proba_one({"a": 1.0}) == {"x": 0.75, "y": 0.25}
    assert model.predict_one({"a": 1.0}) == "x"
    assert model.predict_many(frame).tolist() == ["x", "x"]
    assert FromSklearnRegressor(SGD_REGRESSOR).predict_one({"a": 1.0}) == 0.0
    assert FromSklearnRegressor(SGD_REGRESSOR).predict_many(frame).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("labels", [("a", "longer", "b"), (3, 1, 2)])
def test_labels_are_learned_as_they_come(labels):
    rng = np.random.default_rng(0)
    model = FromSklearnClassifier(GaussianNB())
    for at in range(600):
        kind = 0 if at < 50 else int(rng.integers(2 if at < 300 else 3))
        model.learn_one({"a": kind + 0.1 * rng.normal(), "b": rng.normal()}, labels[kind])
        if at == 45:
            assert model.predict_proba_one({"a": 0.0}) == {labels[0]: 1.0}  # of one label there is nothing to learn
    assert [model.predict_one({"a": kind, "b": 0.0}) for kind in range(3)] == list(labels)
    said = model.predict_proba_one({"a": 1.0, "b": 0.0})
    assert set(said) == set(labels)
    assert sum(said.values()) == pytest.approx(1.0)
    assert [type(label) for label in said] == [type(label) for label in model._model.classes_.tolist()]


def test_fresh_estimator_learns_a_bounded_number_of_kept_rows():
    X, y = made(3 * MAX_KEPT_ROWS)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = FromSklearnClassifier(GaussianNB())
    model.learn_many(frame[: 2 * MAX_KEPT_ROWS], y[: 2 * MAX_KEPT_ROWS].astype(int))
    for x, label in zip(as_rows(X[2 * MAX_KEPT_ROWS :]), y[2 * MAX_KEPT_ROWS :].tolist(), strict=True):
        model.learn_one(x, int(label))
    assert sum(len(labels) for _, labels, _ in model._kept) < 2 * MAX_KEPT_ROWS
    learned(model, [{"a": 9.0, "b": 9.0}] * 10, [2] * 10)
    alone = GaussianNB().fit(
        np.vstack([X[10 - MAX_KEPT_ROWS :], np.full((10, 2), 9.0)]),
        np.append(y[10 - MAX_KEPT_ROWS :].astype(int), [2] * 10),
    )
    for x in as_rows(X[:5]):
        said = model.predict_proba_one(x)
        np.testing.assert_allclose([said[label] for label in range(3)], alone.predict_proba([list(x.values())])[0])
    given = learned(FromSklearnClassifier(GaussianNB(), classes=[0, 1]), as_rows(X[:100]), y[:100].astype(int).tolist())
    assert not given._kept


@pytest.mark.parametrize(
    ("x", "y", "w", "message"),
    [
        ({"a": 1.0}, "other", 1.0, "'other', which is not among the classes"),
        ({"a": 1.0}, ["no"], 1.0, "the label is \\['no'\\]"),
        ({"a": 1.0}, None, 1.0, "the label is None"),
        ({"a": "red"}, "no", 1.0, "feature 'a' is 'red'"),
        ({"a": np.nan}, "no", 1.0, "feature 'a' is nan"),
        ({"a": None}, "no", 1.0, "feature 'a' is None"),
        ({"a": 1.0}, "no", -1.0, "the weight is -1"),
    ],
)
def test_bad_row_is_named_and_changes_nothing(x, y, w, message):
    X, truth = made(25)
    model = learned(
        FromSklearnClassifier(SGD, classes=["yes", "no"]), as_rows(X), np.where(truth, "yes", "no").tolist()
    )
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, y, w)
    if w == 1.0 and y == "no":
        with pytest.raises(ValueError, match="feature 'a'"):
            model.predict_proba_one(x)
    frame = pd.DataFrame([{"a": 1.0, "b": 1.0}, x])
    with pytest.raises(ValueError, match=r"feature 'a' of row 1|no numbers|the label is|the weight is"):
        model.learn_many(frame, ["no", y], w)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("label", [None, np.nan, 0.5, (1, 2), "a string"])
def test_labels_of_another_kind_are_named_and_change_nothing(label):
    model = learned(FromSklearnClassifier(SGD), [{"a": 1.0}] * 3, [1, 2, 1])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="the label is"):
        model.learn_one({"a": 1.0}, label)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="the label is"):
        FromSklearnClassifier(SGD).learn_many(pd.DataFrame({"a": [1.0, 2.0]}), [1, label])


@pytest.mark.parametrize("target", [None, np.nan, np.inf, "1"])
def test_target_that_is_no_number_is_named(target):
    with pytest.raises(ValueError, match="the target is"):
        FromSklearnRegressor(SGD_REGRESSOR).learn_one({"a": 1.0}, target)


class Refuses(GaussianNB):
    """Cannot stand the number 13."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if (X == 13.0).any():
            raise RuntimeError("not this number")
        return super().partial_fit(X, y, classes, sample_weight)


@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_batch_that_is_refused_is_given_up(classes):
    model = FromSklearnClassifier(Refuses(), classes, batch_size=2)
    model.learn_one({"a": 13.0}, 0)
    with pytest.raises(RuntimeError, match="not this number"):
        model.learn_one({"a": 1.0, "b": 2.0}, 1)
    learned(model, [{"a": 1.0}, {"a": 2.0}], [0, 1])
    assert model.predict_one({"a": 2.0}) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"estimator": Ridge()}, "must be a classifier"),
        ({"estimator": FrozenEstimator(GaussianNB())}, "is frozen"),
        ({"classes": ["one"]}, "at least two"),
        ({"batch_size": 0}, "batch_size"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        FromSklearnClassifier(**{"estimator": GaussianNB(), **arguments})


def test_new_features_and_other_orders_make_no_difference():
    X, y = made()
    rng = np.random.default_rng(1)
    plain, other = FromSklearnClassifier(SGD), FromSklearnClassifier(SGD)
    for at, (x, label) in enumerate(zip(as_rows(X), y.tolist(), strict=True)):
        plain.learn_one(x, label)
        names = list(rng.permutation(list(x)))
        late = {"new": rng.normal()} if at >= 10 else {}
        other.learn_one({**late, **{str(name): x[name] for name in names}}, label)
    assert plain.predict_proba_one({"a": 1.0, "b": 2.0}) == other.predict_proba_one({"new": 7.0, "b": 2.0, "a": 1.0})
    assert other.predict_proba_one({}) == plain.predict_proba_one({"a": 0.0, "b": 0.0})


def test_weights_go_to_estimators_that_take_them():
    rows, targets = as_rows(made(10)[0]), [0.0] * 5 + [1.0] * 5
    weights = np.arange(10) % 3
    X = np.array([[x["a"], x["b"]] for x in rows])
    heavy = weights > 0
    model = FromSklearnRegressor(Ridge(), batch_size=int(heavy.sum()))
    for x, y, w in zip(rows, targets, weights.tolist(), strict=True):
        model.learn_one(x, y, w=w)
    alone = Ridge().fit(X[heavy], np.array(targets)[heavy], sample_weight=weights[heavy])
    assert model.predict_one(rows[0]) == pytest.approx(alone.predict(X[:1])[0])


def test_estimator_that_takes_nan_is_given_nan():
    model = FromSklearnRegressor(DecisionTreeRegressor(random_state=0))
    learned(model, [{"a": value} for value in (None, 1.0, np.nan, 2.0, None) * 4], [5.0, 1.0, 5.0, 2.0, 5.0] * 4)
    assert model.predict_one({"a": None}) == pytest.approx(5.0, abs=0.5)
    assert model.predict_one({"a": 1.0}) == pytest.approx(1.0, abs=0.5)


def test_incremental_pipeline_goes_into_river():
    model = FromSklearnClassifier(IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGD)]))
    accuracy = evaluate.progressive_val_score(datasets.Phishing().take(500), model, metrics.Accuracy())
    assert accuracy.get() > 0.8


def test_state_pickles_and_goes_on_to_the_same_numbers():
    rows = list(datasets.Phishing().take(205))
    model = FromSklearnClassifier(SGD)
    for x, y in rows[:105]:
        model.learn_one(x, y)
    copies = [model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for each in copies:
        for x, y in rows[105:]:
            each.learn_one(x, y)
    said = [[each.predict_proba_one(x) for x, _ in rows[::20]] for each in copies]
    assert said[0] == said[1] == said[2]


def test_as_river_model_wraps_what_is_of_scikit_learn():
    bayes = naive_bayes.GaussianNB()
    assert as_river_model(bayes) is bayes
    assert as_river_model("drop") == "drop"
    assert isinstance(as_river_model(GaussianNB()), FromSklearnClassifier)
    assert isinstance(as_river_model(Ridge()), FromSklearnRegressor)
    scaler = StandardScaler()
    assert as_river_model(scaler) is scaler
