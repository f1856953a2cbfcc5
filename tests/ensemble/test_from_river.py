"""``FromRiverClassifier`` and ``FromRiverRegressor``: River's models as scikit-learn estimators."""

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

river = pytest.importorskip("river")
pd = pytest.importorskip("pandas")
from river import (  # noqa: E402
    cluster,
    compat,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    preprocessing,
    tree,
)
from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from support.adapter_models import Hears, WeightedMean, as_rows, learned, made, mended_by, scaled  # noqa: E402
from support.sklearn_checks import sklearn_checks  # noqa: E402

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor  # noqa: E402
from ltm_sklearn.ensemble import (  # noqa: E402
    FromRiverClassifier,
    FromRiverRegressor,
)


class OnlyLabels(Hears):
    """Says the label it heard first."""

    def predict_proba_one(self, x):
        raise NotImplementedError

    def predict_one(self, x):
        return self.labels[0]


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


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2), (False, True)])
def test_probabilities_of_string_labels_sum_to_one(labels):
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
    with pytest.raises(ValueError, match=r"Hears\.learn_one takes no weights, so .* row 1 has sample_weight=1e\+16"):
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


def test_third_class_for_a_binary_model_is_refused():
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        FromRiverClassifier(linear_model.LogisticRegression()).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])


@pytest.mark.parametrize(
    "model", [3, linear_model.LinearRegression(), preprocessing.StandardScaler(), cluster.KMeans()]
)
def test_what_is_no_classifier_of_river_is_named(model):
    with pytest.raises(ValueError, match="must be a classifier of River"):
        FromRiverClassifier(model).fit([[1.0], [2.0]], [0, 1])


def test_columns_of_the_same_name_are_an_error():
    with pytest.raises(ValueError, match=r"different names|unique column names"):
        FromRiverClassifier(Hears()).fit(pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]), [0, 1])


def test_duck_typed_models_work_without_importing_river():
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
