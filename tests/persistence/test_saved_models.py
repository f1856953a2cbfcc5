"""Saved models go on to the same numbers, to the last bit; pickled ones need trust."""

import math
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from river import naive_bayes
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support.interrupted_river_runs import RUNS as RIVER_RUNS
from support.interrupted_runs import LABELS, N_ROWS, RUNS, X

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, bandits, experts
from ltm_sklearn.ensemble import SlidingWindow
from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import BadFileError, _archive, dumps, load, loads, save
from ltm_sklearn.persistence._models import is_same

pytest.importorskip("skops")

ALL_RUNS = {**RUNS, **RIVER_RUNS}
HALF = N_ROWS // 2


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ltm"


def reloaded(thing):
    """Return a copy through bytes in which nothing is pickled."""
    return loads(dumps(thing, allow_pickle=False))


@pytest.mark.parametrize("name", ALL_RUNS)
@pytest.mark.fast_cases(24)
def test_a_loaded_model_goes_on_to_the_same_numbers(name, path):
    run = ALL_RUNS[name]
    model = run.make()
    run(0, HALF, model)
    save(model, path)
    loaded = load(path, trusted=name in RIVER_RUNS or name == "classifier-weights-of-classes")
    assert type(loaded) is type(model)
    assert np.array_equal(run(HALF, N_ROWS, loaded), run(HALF, N_ROWS, model))
    if hasattr(model, "history_"):
        assert [repr(record) for record in loaded.history_] == [repr(record) for record in model.history_]


def test_every_algorithm_and_bandit_is_among_the_runs():
    made = {type(run.make()).__name__ for run in RUNS.values()}
    abstract = {"ExpertAlgorithm", "BanditAlgorithm", "LowerBoundAdversary"}
    assert {*experts.__all__, *bandits.__all__} - abstract <= made


@pytest.mark.parametrize("run", ALL_RUNS.values(), ids=ALL_RUNS)
@pytest.mark.fast_cases(12)
def test_an_unfitted_model_is_loaded_with_its_parameters(run):
    model = run.make()
    assert repr(loads(dumps(model), trusted=True)) == repr(model)


# Models of other libraries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        ExtraTreesClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
        MLPClassifier((3,), max_iter=5, random_state=0),
        make_pipeline(SelectKBest(f_classif, k=1), DecisionTreeClassifier(random_state=0)),
        CalibratedClassifierCV(GaussianNB()),
        GaussianProcessClassifier(),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.fast_cases(3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_of_scikit_learn_are_loaded_without_pickle(estimator):
    window = SlidingWindow(estimator).fit(X[:HALF], LABELS[:HALF])
    loaded = reloaded(window)
    for each in (window, loaded):
        each.partial_fit(X[HALF:], LABELS[HALF:])
    assert np.array_equal(loaded.predict_proba(X), window.predict_proba(X))


def test_a_model_that_skops_would_change_is_pickled():
    model = SGDClassifier(class_weight={False: 1.0, True: 2.0}, random_state=0).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"only be pickled.*SGDClassifier"):
        dumps(model, allow_pickle=False)
    assert loads(dumps(model), trusted=True).class_weight == model.class_weight


def test_metadata_requests_come_back():
    with config_context(enable_metadata_routing=True):
        asking = GaussianNB().set_partial_fit_request(sample_weight=True)
        model = LongTermMemoryClassifier([("bayes", asking)]).set_partial_fit_request(sample_weight=True)
        found = loads(dumps(model.fit(X, LABELS)), trusted=True)
        assert repr(found.get_metadata_routing()) == repr(model.get_metadata_routing())
        assert np.array_equal(found.predict_proba(X), model.predict_proba(X))


def test_a_pipeline_with_an_estimator_of_this_package_needs_no_trust():
    model = make_pipeline(StandardScaler(), LongTermMemoryClassifier([("bayes", GaussianNB())])).fit(X, LABELS)
    assert np.array_equal(reloaded(model).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1.0], [1]),
        (0.0, -0.0),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.asfortranarray(np.eye(2)), np.eye(2)),
        ({1: 2}, {"1": 2}),
        (GaussianNB(), GaussianNB(priors=[0.5, 0.5])),
        ([[], []], [[]] * 2),
        ([[]] * 2, [[], []]),
        (math.sin, math.cos),
    ],
    ids=str,
)
def test_a_copy_that_differs_is_noticed(one, other):
    assert is_same(one, one)
    assert not is_same(one, other)


def own_loss(y, predictions):
    return np.abs(y - predictions)


class OwnAlgorithm(Hedge):
    """An algorithm of the user's own."""


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (naive_bayes.GaussianNB(), r"the object itself \(river\.naive_bayes\.gaussian\.GaussianNB\)"),
        (LongTermMemoryRegressor(loss=own_loss), rf"LongTermMemoryRegressor\.loss \({__name__}\.own_loss\)"),
        (OwnAlgorithm(), rf"the object itself \({__name__}\.OwnAlgorithm\)"),
        ([1, FunctionTransformer(StandardScaler().fit(X).transform)], r"\[1\] \(sklearn.*FunctionTransformer\)"),
    ],
    ids=["River", "loss", "algorithm", "method"],
)
def test_pickled_models_are_named_and_need_trust(thing, name, path, monkeypatch):
    save(thing, path)
    with monkeypatch.context() as patch:
        patch.setattr(pickle, "loads", None)
        with pytest.raises(BadFileError, match=rf"model\.ltm cannot be loaded: .*pickled: {name}.*trusted=True"):
            load(path)
    assert type(load(path, trusted=True)) is type(thing)


def test_a_model_that_cannot_be_saved_is_named(path):
    save(Hedge(), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"LongTermMemoryRegressor\.loss .*lambda.* cannot be saved"):
        save(LongTermMemoryRegressor(loss=lambda y, predictions: predictions), path)
    assert path.read_bytes() == before


class Evil:
    def __reduce__(self):
        return os.mkdir, ("harm",)


def test_skops_models_of_other_types_need_trust(path, monkeypatch, tmp_path):
    skops = pytest.importorskip("skops.io")
    monkeypatch.chdir(tmp_path)
    manifest, members = _archive.unpack(dumps(GaussianNB()))
    members["models.skops"] = skops.dumps([FunctionTransformer(os.mkdir)])
    path.write_bytes(_archive.pack(manifest, members))
    with pytest.raises(BadFileError, match=r"objects of .*mkdir"):
        load(path)
    manifest, members = _archive.unpack(dumps(naive_bayes.GaussianNB()))
    members["models.pickle"] = pickle.dumps([Evil()])
    path.write_bytes(_archive.pack(manifest, members))
    with pytest.raises(BadFileError, match="are pickled"):
        load(path)
    assert not Path("harm").exists()


def test_skops_is_needed_only_for_models_of_scikit_learn(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    save(Hedge(), path)
    assert load(path).get_params() == Hedge().get_params()
    with pytest.raises(ImportError, match=r"ltm_sklearn\[persistence\]"):
        save(LongTermMemoryClassifier([("bayes", GaussianNB())]), path)
