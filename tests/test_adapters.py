"""River's models as scikit-learn estimators, scikit-learn's as River's, and both kinds in one ensemble."""

import copy
import pickle
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest

river = pytest.importorskip("river")
pd = pytest.importorskip("pandas")

from river import (  # noqa: E402
    base,
    cluster,
    compat,
    datasets,
    evaluate,
    linear_model,
    metrics,
    multiclass,
    naive_bayes,
    neighbors,
    preprocessing,
    tree,
)
from river_experts import rivers_checks  # noqa: E402
from sklearn import config_context  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import Perceptron, Ridge, SGDClassifier, SGDRegressor  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402
from sklearn_checks import sklearn_checks  # noqa: E402

import ltm_sklearn.river as ours  # noqa: E402
from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots  # noqa: E402
from ltm_sklearn.ensemble import (  # noqa: E402
    FromRiverClassifier,
    FromRiverRegressor,
    IncrementalPipeline,
)
from ltm_sklearn.river import FromSklearnClassifier, FromSklearnRegressor  # noqa: E402
from ltm_sklearn.river._from_sklearn import KEPT, as_river_model  # noqa: E402
from ltm_sklearn.streams import linear_regressions, stagger  # noqa: E402

SGD = SGDClassifier(loss="log_loss", random_state=0)
SGD_REGRESSOR = SGDRegressor(random_state=0)


def scaled(model):
    return preprocessing.StandardScaler() | model


def made(n_rows=200, seed=0):
    """Rows, and whether their first feature is positive."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    return X, X[:, 0] > 0


def as_rows(X, names="ab"):
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def learned(model, rows, labels):
    for x, y in zip(rows, labels, strict=True):
        model.learn_one(x, y)
    return model


class WeightedMean(base.Regressor):
    """The mean of the targets, with weights."""

    def __init__(self):
        self.total = self.weight = 0.0

    def learn_one(self, x, y, w=1.0):
        self.total += w * y
        self.weight += w

    def predict_one(self, x):
        return self.total / self.weight if self.weight else None


class Hears(base.Classifier):
    """Keeps what it is told; says nothing."""

    def __init__(self):
        self.rows, self.labels = [], []

    @property
    def _multiclass(self):
        return True

    def learn_one(self, x, y):
        self.rows.append(x)
        self.labels.append(y)

    def predict_proba_one(self, x):
        return {}


class OnlyLabels(Hears):
    """Says the label it heard first."""

    def predict_proba_one(self, x):
        raise NotImplementedError

    def predict_one(self, x):
        return self.labels[0]


# The libraries' own checks -----------------------------------------------------------------------------------

ESTIMATORS = [
    FromRiverClassifier(naive_bayes.GaussianNB()),
    FromRiverClassifier(tree.HoeffdingTreeClassifier()),
    FromRiverClassifier(scaled(linear_model.LogisticRegression())),
    FromRiverClassifier(multiclass.OneVsRestClassifier(scaled(linear_model.LogisticRegression()))),
    FromRiverRegressor(scaled(linear_model.LinearRegression())),
    FromRiverRegressor(tree.HoeffdingTreeRegressor()),
    FromRiverRegressor(neighbors.KNNRegressor()),
    LongTermMemoryClassifier([("tree", tree.HoeffdingTreeClassifier()), ("bayes", GaussianNB())]),
    LongTermMemoryRegressor([("linear", scaled(linear_model.LinearRegression())), ("ridge", Ridge())]),
]


def expected_failed_checks(estimator):
    """The check that fails openly, and why."""
    model = estimator.estimators[0][1] if hasattr(estimator, "estimators") else estimator.model
    if isinstance(model, naive_bayes.GaussianNB | tree.HoeffdingTreeClassifier | neighbors.KNNRegressor):
        return {}  # they do not mind the order
    reason = "the rows are shuffled in one arm of the comparison only, and to an online learner their order matters"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@pytest.mark.parametrize(("estimator", "check"), sklearn_checks(ESTIMATORS, expected_failed_checks))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


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


# What River's own adapters get wrong ---------------------------------------------------------------------------


def mended_by(condition):
    """Ours is right, which has been asserted; if theirs is too by now, say so."""
    if condition:
        pytest.skip("River has mended this")


def test_probabilities_belong_to_their_classes_however_these_are_ordered():
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


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2), (False, True)])
def test_two_classes_of_any_kind_have_probabilities_that_sum_to_one(labels):
    X, y = made()
    y = np.array(labels)[y.astype(int)]
    mine, theirs = (
        adapter(linear_model.LogisticRegression()).fit(X, y)
        for adapter in (FromRiverClassifier, compat.River2SKLClassifier)
    )
    said = mine.predict_proba(X)
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert mine.classes_.tolist() == list(labels)
    np.testing.assert_array_equal(mine.classes_[said.argmax(axis=1)], mine.predict(X))
    assert mine.score(X, y) > 0.9
    if labels != (False, True):
        mended_by(np.allclose(theirs.predict_proba(X).sum(axis=1), 1.0))


def test_classes_are_sorted_whatever_their_order():
    X, y = made()
    y = np.where(y, "yes", "no")
    mine, theirs = (
        adapter(naive_bayes.GaussianNB()).partial_fit(X, y, classes=["yes", "no"])
        for adapter in (FromRiverClassifier, compat.River2SKLClassifier)
    )
    assert mine.classes_.tolist() == ["no", "yes"]
    assert mine.predict_proba([[3.0, 0.0]])[0, 1] > 0.9
    mended_by(list(theirs.classes_) == ["no", "yes"])


def test_names_of_columns_reach_the_model():
    X, y = made()
    frame = pd.DataFrame(X, columns=["heat", "wind"])
    mine, theirs = (
        adapter(linear_model.LogisticRegression()).fit(frame, y)
        for adapter in (FromRiverClassifier, compat.River2SKLClassifier)
    )
    assert set(mine.model_.weights) == {"heat", "wind"}
    mended_by(set(theirs.instance_.weights) == {"heat", "wind"})
    assert set(theirs.instance_.weights) == {0, 1}


def test_weights_reach_the_model():
    X, y, weights = np.zeros((3, 1)), np.array([1.0, 5.0, 100.0]), [3.0, 1.0, 0.0]
    assert FromRiverRegressor(WeightedMean()).fit(X, y, sample_weight=weights).predict(X[:1]) == [2.0]
    try:
        compat.River2SKLRegressor(WeightedMean()).fit(X, y, sample_weight=weights)
    except TypeError:
        return
    mended_by(True)


def test_fit_forgets_what_the_given_model_knew():
    X, y = made()
    given = learned(linear_model.LogisticRegression(), as_rows(X), y.tolist())
    before = pickle.dumps(given)
    mine, theirs = (
        clone(adapter(given)).fit(X[:2], [False, True]) for adapter in (FromRiverClassifier, compat.River2SKLClassifier)
    )
    assert set(mine.model_.weights) == {"x0", "x1"}
    assert pickle.dumps(given) == before
    mended_by("a" not in theirs.instance_.weights)


def test_pipeline_of_river_follows_a_stream():
    X, y = made()
    model = scaled(linear_model.LogisticRegression())
    mine = FromRiverClassifier(model).partial_fit(X[:100], y[:100], classes=[False, True]).partial_fit(X[100:], y[100:])
    assert mine.score(X, y) > 0.9
    mended_by(hasattr(compat.convert_river_to_sklearn(model), "partial_fit"))


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


# River's models in scikit-learn ----------------------------------------------------------------------------------


def test_rows_are_given_with_what_is_missing_left_out():
    model = FromRiverClassifier(Hears()).partial_fit([[1.0, np.nan], [np.nan, 2.0]], ["p", "q"], classes=["p", "q"])
    assert model.model_.rows == [{"x0": 1.0}, {"x1": 2.0}]
    assert model.model_.labels == ["p", "q"]
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "s": ["red", None], "f": [np.nan, 0.5]})
    model = FromRiverClassifier(Hears()).fit(frame, [True, False])
    assert model.model_.rows == [{"n": 1, "s": "red"}, {"f": 0.5}]


def test_frames_of_polars_are_the_same_as_those_of_pandas():
    pl = pytest.importorskip("polars")
    columns = {"a": [1.0, None, 3.0], "b": ["x", "y", None]}
    rows = [
        FromRiverClassifier(Hears()).fit(frame(columns), [0, 1, 0]).model_.rows
        for frame in (pd.DataFrame, pl.DataFrame)
    ]
    assert rows[0] == rows[1] == [{"a": 1.0, "b": "x"}, {"b": "y"}, {"a": 3.0}]


def test_probabilities_are_even_before_the_model_has_any():
    model = FromRiverClassifier(Hears()).partial_fit([[1.0]], ["b"], classes=["a", "b", "c"])
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[1 / 3, 1 / 3, 1 / 3]])
    assert model.predict([[1.0]]) == ["a"]
    known_in_part = FromRiverClassifier(naive_bayes.GaussianNB()).partial_fit([[1.0]], ["b"], classes=["a", "b", "c"])
    np.testing.assert_allclose(known_in_part.predict_proba([[1.0]]), [[0.0, 1.0, 0.0]])


def test_model_that_only_knows_labels_gives_all_to_its_label():
    model = FromRiverClassifier(OnlyLabels()).fit([[1.0], [2.0]], ["b", "a"])
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[0.0, 1.0]])


def test_model_without_weights_learns_a_row_of_weight_two_twice():
    model = FromRiverClassifier(Hears()).fit([[1.0], [2.0], [3.0]], ["a", "b", "a"], sample_weight=[2, 0, 1])
    assert [x["x0"] for x in model.model_.rows] == [1.0, 1.0, 3.0]
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"Hears\.learn_one takes no weights, so .* row 1, with sample_weight=1e\+16"):
        model.partial_fit([[1.0], [2.0]], ["a", "b"], sample_weight=[1.0, 1e16])
    with pytest.raises(ValueError, match=r"Hears\.learn_one takes no weights"):
        model.partial_fit([[1.0]], ["a"], sample_weight=[0.5])
    assert pickle.dumps(model) == before


def test_weight_reaches_the_last_step_of_a_pipeline():
    X, y = made()
    model = scaled(linear_model.LogisticRegression())
    plain, heavy = (
        FromRiverClassifier(model).fit(X, y, sample_weight=weights)
        for weights in (np.ones(len(y)), np.full(len(y), 5.0))
    )
    assert heavy.model_["LogisticRegression"].weights["x0"] > 1.5 * plain.model_["LogisticRegression"].weights["x0"]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.inf]], ["no"], "infinity: row 0, column 'x1'"),
        ([[1.0, 2.0]], ["perhaps"], r"'perhaps'.* of row 0 is not among the classes"),
        ([[1.0]], ["no"], "1 features"),
        ([[1.0, 2.0]], ["no", "no"], "inconsistent"),
    ],
)
def test_bad_rows_are_named_and_change_nothing(X, y, message):
    model = FromRiverClassifier(naive_bayes.GaussianNB()).fit([[1.0, 2.0], [2.0, 1.0]], ["no", "yes"])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y)
    assert pickle.dumps(model) == before


def test_third_class_for_a_binary_model_is_an_error_that_tells_the_way_out():
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        FromRiverClassifier(linear_model.LogisticRegression()).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])


@pytest.mark.parametrize(
    "model", [3, linear_model.LinearRegression(), preprocessing.StandardScaler(), cluster.KMeans()]
)
def test_what_is_no_classifier_of_river_is_named(model):
    with pytest.raises(ValueError, match="is no classifier of River"):
        FromRiverClassifier(model).fit([[1.0], [2.0]], [0, 1])


def test_columns_of_the_same_name_are_an_error():
    with pytest.raises(ValueError, match=r"different names|unique column names"):
        FromRiverClassifier(Hears()).fit(pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]), [0, 1])


def test_anything_that_behaves_like_a_model_of_river_will_do_and_river_is_not_imported():
    code = """
        import sys
        from ltm_sklearn import LongTermMemoryRegressor

        class Last:
            def clone(self):
                return Last()
            def learn_one(self, x, y):
                self.said = y
            def predict_one(self, x):
                return self.said

        model = LongTermMemoryRegressor([("last", Last())]).partial_fit([[1.0]], [2.0]).partial_fit([[1.0]], [3.0])
        print(model.named_estimators_["last"].predict([[1.0]]), "river" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[3.] False"


# scikit-learn's estimators in River ------------------------------------------------------------------------------


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


def test_untrained_model_says_nothing_then_how_often_each_label_came():
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


def test_fresh_estimator_learns_the_rows_that_were_kept_and_they_are_bounded():
    X, y = made(3 * KEPT)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = FromSklearnClassifier(GaussianNB())
    model.learn_many(frame[: 2 * KEPT], y[: 2 * KEPT].astype(int))
    for x, label in zip(as_rows(X[2 * KEPT :]), y[2 * KEPT :].tolist(), strict=True):
        model.learn_one(x, int(label))
    assert sum(len(labels) for _, labels, _ in model._kept) < 2 * KEPT
    learned(model, [{"a": 9.0, "b": 9.0}] * 10, [2] * 10)
    alone = GaussianNB().fit(
        np.vstack([X[10 - KEPT :], np.full((10, 2), 9.0)]), np.append(y[10 - KEPT :].astype(int), [2] * 10)
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
def test_label_that_does_not_go_with_the_others_is_named_and_changes_nothing(label):
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
        ({"estimator": Ridge()}, "is no classifier"),
        ({"estimator": FrozenEstimator(GaussianNB())}, "is frozen"),
        ({"classes": ["one"]}, "at least two"),
        ({"batch_size": 0}, "batch_size"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        FromSklearnClassifier(**{"estimator": GaussianNB(), **arguments})


def test_features_that_appear_or_change_their_order_make_no_difference():
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


# Both kinds in one ensemble --------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_both_kinds_in_the_classifier_of_scikit_learn_with_memory():
    rows = list(stagger(order="random", length=100, n_segments=8, seed=0))
    X, y = pd.DataFrame([x for x, _ in rows]), np.array([y for _, y in rows])
    pool = [("bayes", naive_bayes.GaussianNB()), ("sgd", SGD)]
    right = {}
    for memory in (None, Snapshots(every=50)):
        model, hits = LongTermMemoryClassifier(pool, memory=memory), []
        for at in range(0, len(y), 10):
            if at:
                hits.append((model.predict(X[at : at + 10]) == y[at : at + 10]).mean())
            model.partial_fit(X[at : at + 10], y[at : at + 10], classes=np.unique(y))
        right[memory is None] = np.mean(hits)
    assert right[False] > right[True] + 0.05
    kept = [expert for expert in model._engine.pool.experts if expert.kind == "snapshot" and expert.source == "bayes"]
    assert kept
    assert all(expert.model.model_ is not model.named_estimators_["bayes"].model_ for expert in kept)
    assert set(model.named_estimators_["bayes"].model_.class_counts) == set(y.tolist())


def test_both_kinds_in_the_regressor_of_scikit_learn():
    rows = list(linear_regressions(2, length=200, n_segments=4, seed=0))
    X, y = pd.DataFrame([x for x, _ in rows]), np.array([y for _, y in rows])
    model = LongTermMemoryRegressor([("river", scaled(linear_model.LinearRegression())), ("ridge", Ridge())])
    errors = []
    for at in range(0, len(y), 10):
        if at:
            errors.append(np.abs(model.predict(X[at : at + 10]) - y[at : at + 10]).mean())
        model.partial_fit(X[at : at + 10], y[at : at + 10])
    assert np.mean(errors) < 0.5 * np.abs(y - y.mean()).mean()


@pytest.mark.parametrize(("memory", "least"), [(None, 0.6), (Snapshots(every=50), 0.75)])
def test_both_kinds_in_the_classifier_of_river(memory, least):
    pool = [
        as_river_model(GaussianNB()),
        naive_bayes.GaussianNB(),
        as_river_model(DecisionTreeClassifier(random_state=0)),
    ]
    model = ours.LongTermMemoryClassifier(pool, memory=memory)
    stream = stagger(order="random", length=100, n_segments=6, seed=0)
    accuracy = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    assert accuracy.get() > least
    if memory is not None:
        assert any(expert.name.startswith(("GaussianNB-0@", "DecisionTreeClassifier@")) for expert in model.experts_)


def test_both_kinds_in_the_regressor_of_river():
    pool = [as_river_model(Ridge()), scaled(linear_model.LinearRegression(intercept_lr=0.1))]
    model = ours.LongTermMemoryRegressor(pool)
    error = evaluate.progressive_val_score(datasets.TrumpApproval().take(500), model, metrics.MAE())
    alone = evaluate.progressive_val_score(datasets.TrumpApproval().take(500), pool[1].clone(), metrics.MAE())
    assert error.get() < alone.get()


def test_ensemble_with_models_of_river_is_an_estimator_like_any_other():
    X, y = made()
    model = LongTermMemoryClassifier([("tree", tree.HoeffdingTreeClassifier()), ("bayes", GaussianNB())])
    assert model.get_params()["tree"].grace_period == 200
    assert isinstance(model.get_params()["estimators"][0][1], tree.HoeffdingTreeClassifier)
    model.set_params(tree=tree.HoeffdingTreeClassifier(grace_period=50), bayes__var_smoothing=1e-3).fit(X, y)
    assert model.named_estimators_["tree"].model_.grace_period == 50
    assert model.estimators[0][1].n_nodes is None  # the one that was given has not been trained
    assert clone(model).fit(X, y).predict(X[:5]).tolist() == model.predict(X[:5]).tolist()
    assert "HoeffdingTreeClassifier" in model._repr_html_()
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


def test_ensembles_of_river_are_experts_of_scikit_learns():
    X, y = made()
    inner = ours.LongTermMemoryClassifier([naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()])
    model = LongTermMemoryClassifier([("inner", inner), ("bayes", GaussianNB())]).fit(X, np.where(y, "yes", "no"))
    assert model.score(X, np.where(y, "yes", "no")) > 0.9


@pytest.mark.parametrize(
    ("expert", "message"),
    [
        (linear_model.LinearRegression(), r"'x' \(LinearRegression\) should be a classifier"),
        (scaled(linear_model.LinearRegression()), "should be a classifier"),
        (preprocessing.StandardScaler(), "which is no estimator and not 'drop'"),
        (tree.HoeffdingTreeClassifier, "which is no estimator and not 'drop'"),
        (3, "which is no estimator and not 'drop'"),
    ],
)
def test_expert_of_the_wrong_kind_is_named(expert, message):
    with pytest.raises(ValueError, match=message):
        LongTermMemoryClassifier([("x", expert)]).fit([[1.0], [2.0]], [0, 1])


def test_weights_go_to_models_of_river_that_take_them():
    X, y = np.zeros((4, 1)), np.array([1.0, 5.0, 1.0, 5.0])
    model = LongTermMemoryRegressor([("mean", WeightedMean())], memory=None).fit(X, y, sample_weight=[3, 1, 3, 1])
    assert model.named_estimators_["mean"].predict(X[:1]) == [2.0]
    with pytest.raises(ValueError, match=r"expert 'hears' .* takes no sample_weight"):
        LongTermMemoryClassifier([("hears", Hears())]).fit(X, [0, 1, 0, 1], sample_weight=[3, 1, 3, 1])


def test_weights_are_routed_to_models_of_river_that_take_them():
    X, y, weights = np.zeros((4, 1)), np.array([1.0, 5.0, 1.0, 5.0]), [3, 1, 3, 1]
    with config_context(enable_metadata_routing=True):
        pool = [("mean", WeightedMean()), ("knn", neighbors.KNNRegressor())]
        model = LongTermMemoryRegressor(pool, memory=None)
        model.set_fit_request(sample_weight=True).fit(X, y, sample_weight=weights)
    assert model.named_estimators_["mean"].predict(X[:1]) == [2.0]
