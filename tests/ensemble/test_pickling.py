"""Pickles and copies of estimators in mid-stream."""

import copy
import pickle

import joblib
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from support.small_ensembles import X, assert_same, both, classifier, labels, numbers, stream

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots

pytestmark = pytest.mark.fast_cases(1)


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
