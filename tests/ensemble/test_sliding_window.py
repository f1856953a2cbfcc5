"""``SlidingWindow``: estimators that are refitted on recent rows."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier
from support.numbered_rows import numbered

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.ensemble import SlidingWindow


def held(model):
    """The rows a nearest neighbour was fitted on."""
    return model.estimator_._fit_X.ravel().tolist()


@pytest.mark.parametrize("n_rows", [1, 4, 10, 25])
def test_window_holds_the_latest_rows_for_any_batch_size(n_rows):
    model = SlidingWindow(KNeighborsRegressor(1), window=10, refit=0.0)
    for first in range(0, 50, n_rows):
        model.partial_fit(*numbered(first, n_rows))
        newest = first + n_rows
        assert held(model) == list(range(max(0, newest - 10), newest))
        assert model.predict([[newest - 1.0]]) == [newest - 1.0]


def test_refit_goes_by_the_share_of_new_rows():
    model = SlidingWindow(KNeighborsRegressor(1), window=100, refit=0.1)
    refits, before = [], None
    for at in range(150):
        model.partial_fit(*numbered(at, 1))
        if model.estimator_ is not before:
            refits.append(at + 1)
            before = model.estimator_
    assert refits[:10] == list(range(1, 11))  # with few rows, each is more than a tenth
    assert all(refits[at + 1] - refits[at] <= -(-refits[at + 1] // 10) for at in range(len(refits) - 1))
    assert set(np.diff([at for at in refits if at > 100])) == {10}


def test_refit_of_zero_is_with_every_call():
    model = SlidingWindow(KNeighborsRegressor(1), window=1000, refit=0.0).partial_fit(*numbered(0, 500))
    first = model.estimator_
    assert model.partial_fit(*numbered(500, 1)).estimator_ is not first


def test_fit_forgets_what_was_before():
    model = SlidingWindow(KNeighborsRegressor(1), window=10).partial_fit(*numbered(0, 5)).fit(*numbered(100, 15))
    assert held(model) == list(range(105, 115))


def test_given_estimator_is_unchanged_and_rows_are_copied():
    given = KNeighborsRegressor(1)
    model = SlidingWindow(given, window=10, refit=0.0)
    X, y = np.empty((4, 1)), np.empty(4)
    for first in (0, 4, 8):
        X[:], y[:] = numbered(first, 4)
        model.partial_fit(X, y)
    assert held(model) == list(range(2, 12))
    assert not hasattr(given, "n_samples_fit_")


def test_window_of_one_class_says_that_class():
    model = SlidingWindow(LogisticRegression(), window=5, refit=0.0)
    X = np.arange(10.0)[:, np.newaxis]
    model.partial_fit(X[:5], ["b"] * 5, classes=["c", "a", "b"])
    assert model.predict(X[:2]).tolist() == ["b", "b"]
    assert model.predict_proba(X[:2]).tolist() == [[0.0, 1.0, 0.0]] * 2
    model.partial_fit(X[5:], ["a", "c", "a", "c", "a"])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.0)  # none of b left
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_probabilities_are_offered_by_those_that_have_them():
    assert not hasattr(SlidingWindow(Ridge()), "predict_proba")
    assert not hasattr(SlidingWindow(SGDClassifier(loss="hinge")), "predict_proba")
    assert hasattr(SlidingWindow(LogisticRegression()), "predict_proba")


def test_classes_are_needed_first_and_labels_must_be_among_them():
    X, y = np.arange(4.0)[:, np.newaxis], [0, 1, 0, 1]
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        SlidingWindow(KNeighborsClassifier(1)).partial_fit(X, y)
    model = SlidingWindow(KNeighborsClassifier(1), refit=0.0).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"label .*7.* of row \d+ is not among the classes \[0, 1\]"):
        model.partial_fit(X, [0, 7, 0, 1])
    assert model.estimator_.n_samples_fit_ == 4
    model.partial_fit(X, y)
    assert model.estimator_.n_samples_fit_ == 8


def test_window_takes_sparse_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.5), rng.normal(size=60)
    dense, sparse = (SlidingWindow(Ridge(solver="sparse_cg", tol=1e-10), window=35, refit=0.0) for _ in range(2))
    for rows in (slice(0, 20), slice(20, 40), slice(40, 60)):
        dense.partial_fit(X[rows], y[rows])
        sparse.partial_fit(sp.csr_array(X[rows]), y[rows])
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), dense.predict(X), atol=1e-6)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_window_passes_column_names_to_the_estimator(library):
    frames = pytest.importorskip(library)
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60.0)
    plain, named = SlidingWindow(LinearRegression(), window=35), SlidingWindow(LinearRegression(), window=35)
    frame = frames.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    for rows in (slice(0, 20), slice(20, 40), slice(40, 60)):
        plain.partial_fit(X[rows], y[rows])
        named.partial_fit(frame[rows], y[rows])
    assert named.estimator_.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_allclose(named.predict(frame), plain.predict(X))


def test_rows_may_come_in_several_kinds_of_container():
    frames = pytest.importorskip("pandas")
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
    plain, mixed = (SlidingWindow(Ridge(), window=35, refit=0.0) for _ in range(2))
    kinds = [np.asarray, sp.csr_array, lambda rows: frames.DataFrame(rows, columns=["a", "b"]), np.asarray]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*feature names")
        for at, kind in enumerate(kinds):
            rows = slice(10 * at, 10 * at + 10)
            plain.partial_fit(X[rows], y[rows])
            mixed.partial_fit(kind(X[rows]), y[rows])
    np.testing.assert_allclose(mixed.predict(X), plain.predict(X), rtol=1e-6)


def test_frames_and_arrays_in_turn():
    frames = pytest.importorskip("pandas")
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    plain, mixed = (SlidingWindow(LinearRegression(), window=25, refit=0.0) for _ in range(2))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*feature names")
        for at, kind in enumerate([lambda rows: frames.DataFrame(rows, columns=["a", "b"]), np.asarray, np.asarray]):
            rows = slice(10 * at, 10 * at + 10)
            plain.partial_fit(X[rows], y[rows])
            mixed.partial_fit(kind(X[rows]), y[rows])
        np.testing.assert_allclose(mixed.predict(X), plain.predict(X))


def test_sample_weights_stay_with_their_rows():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 2)), rng.normal(size=30), rng.random(30)
    model = SlidingWindow(LinearRegression(), window=15, refit=0.0)
    model.partial_fit(X[:10], y[:10])  # weight 1 each
    for rows in (slice(10, 20), slice(20, 30)):
        model.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    alone = LinearRegression().fit(X[15:], y[15:], sample_weight=weight[15:])
    np.testing.assert_allclose(model.estimator_.coef_, alone.coef_)


def test_copy_without_rows_predicts_the_same_and_does_not_follow():
    model = SlidingWindow(KNeighborsRegressor(1), window=10, refit=0.0).partial_fit(*numbered(0, 10))
    kept = model.without_rows()
    model.partial_fit(*numbered(100, 10))
    assert kept.predict([[200.0]]) == [9.0]
    assert model.predict([[200.0]]) == [109.0]
    assert not hasattr(kept, "_held")


def test_error_in_a_batch_leaves_the_window_as_it_was():
    model = SlidingWindow(KNeighborsRegressor(1), window=10, refit=0.0).partial_fit(*numbered(0, 10))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan]], [1.0])
    with pytest.raises(ValueError, match="2 features"):
        model.partial_fit([[1.0, 2.0]], [1.0])
    assert held(model.partial_fit(*numbered(10, 1))) == list(range(1, 11))


def test_saved_window_goes_on_as_without():
    model = SlidingWindow(KNeighborsRegressor(1), window=10).partial_fit(*numbered(0, 7))
    again = pickle.loads(pickle.dumps(model))
    assert held(again.partial_fit(*numbered(7, 9))) == held(model.partial_fit(*numbered(7, 9)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 0}, "window=0 must be a positive integer"),
        ({"window": 2.5}, "window=2.5 must be a positive integer"),
        ({"refit": -0.1}, r"refit=-0.1 must lie in \[0, 1\]"),
        ({"refit": "often"}, "refit='often' must be a number"),
    ],
)
def test_bad_parameters_of_the_window_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SlidingWindow(Ridge(), **parameters).partial_fit(*numbered(0, 3))


def test_ensemble_puts_a_window_around_what_only_knows_fit():
    rng = np.random.default_rng(0)
    model = LongTermMemoryClassifier([("tree", DecisionTreeClassifier(max_depth=2)), ("sgd", SGDClassifier())])
    for _ in range(5):
        X = rng.normal(size=(20, 2))
        model.partial_fit(X, (X[:, 0] > 0).astype(int), classes=[0, 1])
    assert isinstance(model.named_estimators_.tree, SlidingWindow)
    assert isinstance(model.named_estimators_.sgd, SGDClassifier)
    assert model.named_estimators_.tree._held[0].shape == (100, 2)


def test_snapshots_of_a_window_hold_no_rows():
    rng = np.random.default_rng(0)
    model = LongTermMemoryRegressor([("ridge", Ridge())])
    for _ in range(60):
        X = rng.normal(size=(10, 2))
        model.partial_fit(X, X[:, 0])
    kept = [expert.model for expert in model._engine.pool.experts if expert.kind == "snapshot"]
    assert kept
    assert not any(hasattr(one, "_held") for one in kept)


class Picky(LinearRegression):
    """Refuses the number 7."""

    def fit(self, X, y):
        if (X == 7.0).any():
            raise ValueError("no sevens")
        return super().fit(X, y)


def test_window_that_cannot_be_fitted_on_new_rows_is_as_it_was():
    X, y = numbered(0, 30)
    window = SlidingWindow(Picky(), window=20).partial_fit(X / 100.0, y)
    before = joblib.hash(window)
    with pytest.raises(ValueError, match="no sevens") as caught:
        window.partial_fit(np.full((5, X.shape[1]), 7.0), np.zeros(5))
    assert caught.value.__notes__ == ["raised by Picky, fitted on these rows"]
    assert joblib.hash(window) == before
    fresh = SlidingWindow(Picky())
    with pytest.raises(ValueError, match="y contains NaN"):
        fresh.partial_fit(X, np.full(len(y), np.nan))
    assert vars(fresh) == vars(SlidingWindow(fresh.estimator))
