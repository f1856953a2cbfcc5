"""Experts of scikit-learn and River in one ensemble."""

import pickle

import numpy as np
import pytest

river = pytest.importorskip("river")
pd = pytest.importorskip("pandas")
from river import (  # noqa: E402
    datasets,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
    neighbors,
    preprocessing,
    tree,
)
from sklearn import config_context  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402
from support.adapter_models import SGD, Hears, WeightedMean, made, scaled  # noqa: E402
from support.named_models import named  # noqa: E402

import ltm_sklearn.river as ours  # noqa: E402
from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots  # noqa: E402
from ltm_sklearn.river._from_sklearn import as_river_model  # noqa: E402
from ltm_sklearn.streams import linear_regressions, stagger  # noqa: E402


@pytest.mark.exhaustive
def test_both_kinds_in_the_classifier_of_scikit_learn():
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
    model = ours.LongTermMemoryClassifier(named(pool), memory=memory)
    stream = stagger(order="random", length=100, n_segments=6, seed=0)
    accuracy = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    assert accuracy.get() > least
    if memory is not None:
        assert any(expert.name.startswith(("GaussianNB-0@", "DecisionTreeClassifier@")) for expert in model.experts_)


def test_both_kinds_in_the_regressor_of_river():
    pool = [as_river_model(Ridge()), scaled(linear_model.LinearRegression(intercept_lr=0.1))]
    model = ours.LongTermMemoryRegressor(named(pool))
    error = evaluate.progressive_val_score(datasets.TrumpApproval().take(500), model, metrics.MAE())
    alone = evaluate.progressive_val_score(datasets.TrumpApproval().take(500), pool[1].clone(), metrics.MAE())
    assert error.get() < alone.get()


def test_ensemble_of_river_models_clones_and_pickles():
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
    inner = ours.LongTermMemoryClassifier(named([naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()]))
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
