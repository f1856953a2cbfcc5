"""Pickles and copies of estimators in mid-stream."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots

pytestmark = pytest.mark.fast_cases(1)


rng = np.random.default_rng(0)


X = rng.normal(size=(400, 3))


labels = (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int)


numbers = X @ [1.0, -2.0, 0.0] + 0.1 * rng.normal(size=400)


BATCH = 40


def sgd(**parameters):
    return SGDClassifier(loss="log_loss", random_state=0, **parameters)


def classifier(**parameters):
    """Takes several snapshots, of different kinds of experts, in 400 rows."""
    experts = [("bayes", GaussianNB()), ("sgd", sgd()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    parameters = {"memory": Snapshots(every=80), "batch_size": BATCH, "random_state": 0, **parameters}
    return LongTermMemoryClassifier(parameters.pop("estimators", experts), **parameters)


def regressor(**parameters):
    experts = [("sgd", SGDRegressor(random_state=0)), ("ridge", Ridge())]
    parameters = {"memory": Snapshots(every=80), "batch_size": BATCH, "random_state": 0, **parameters}
    return LongTermMemoryRegressor(parameters.pop("estimators", experts), **parameters)


TASKS = {"classifier": (classifier, labels, {"classes": [0, 1]}), "regressor": (regressor, numbers, {})}


both = pytest.mark.parametrize(("make", "y", "first"), TASKS.values(), ids=TASKS)


def stream(model, y, start=0, stop=400, first=None, size=BATCH, X=X, **of_rows):
    for at in range(start, stop, size):
        rows = slice(at, at + size)
        more = {name: values[rows] for name, values in of_rows.items()}
        model.partial_fit(X[rows], y[rows], **(first or {}), **more)
    return model


def numbers_of(model, X=X):
    """Everything a user sees of a model."""
    predict = getattr(model, "predict_proba", model.predict)
    return {
        "predictions": predict(X),
        "weights": model.weights_,
        "transformed": model.transform(X),
        "losses": model.loss_,
        "experts": np.array([tuple(expert) for expert in model.experts_], dtype=object).astype(str),
    }


def assert_same(one, other, X=X):
    one, other = numbers_of(one, X), numbers_of(other, X)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def through_pickle(model, tmp_path):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    return joblib.load(tmp_path / "model.joblib")


def through_deepcopy(model, tmp_path):
    return copy.deepcopy(model)


def through_skops(model, tmp_path):
    io = pytest.importorskip("skops.io")
    io.dump(model, tmp_path / "model.skops")
    return io.load(tmp_path / "model.skops", trusted=io.get_untrusted_types(file=tmp_path / "model.skops"))


@both
@pytest.mark.parametrize("save", [through_pickle, through_joblib, through_deepcopy, through_skops])
@pytest.mark.parametrize("combine", ["average", "sample"])
def test_saved_in_mid_stream_and_taken_up_again(make, y, first, save, combine, tmp_path):
    model = stream(make(combine=combine, record=5), y, first=first, stop=210, size=30)
    resumed = save(model, tmp_path)
    assert_same(resumed, model)
    stream(model, y, start=210)
    assert resumed.n_samples_seen_ == 210  # the two share nothing
    stream(resumed, y, start=210)
    assert_same(resumed, model)
    assert resumed.history_ == model.history_


@pytest.mark.parametrize("make", [LongTermMemoryClassifier, LongTermMemoryRegressor])
def test_default_pool_is_taken_up_again(make):
    y = labels if make is LongTermMemoryClassifier else numbers
    model = make(memory=Snapshots(every=50)).fit(X[:200], y[:200])
    resumed = pickle.loads(pickle.dumps(model))
    assert_same(resumed.partial_fit(X[200:], y[200:]), model.partial_fit(X[200:], y[200:]))


def test_state_saved_before_the_first_row():
    model = pickle.loads(pickle.dumps(classifier()))
    assert_same(model.fit(X, labels), classifier().fit(X, labels))


@both
@pytest.mark.parametrize("written_by", ["0.0.1", None])
def test_file_of_another_version_says_so(make, y, first, written_by):
    state = make().fit(X, y).__getstate__()
    current = state.pop("_ltm_sklearn_version")
    if written_by is not None:
        state["_ltm_sklearn_version"] = written_by
    model = make()
    with pytest.warns(InconsistentVersionWarning, match=written_by or "unknown version") as caught:
        model.__setstate__(state)
    assert current in str(caught[0].message)
    assert type(model).__name__ in str(caught[0].message)
    assert_same(model, make().fit(X, y))


def test_file_of_this_version_is_silent():
    # Warnings are errors here.
    assert not hasattr(pickle.loads(pickle.dumps(classifier())), "_ltm_sklearn_version")
