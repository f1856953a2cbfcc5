"""Metadata routing and sample weights."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support.small_ensembles import BATCH, Listens, X, asks, assert_same, classifier, labels, sgd, stream, weights

from ltm_sklearn.ensemble import IncrementalPipeline, SlidingWindow

pytestmark = pytest.mark.fast_cases(1)


LISTENERS = {"yes": asks(Listens()), "no": asks(Listens(), sample_weight=False)}


def train(model, method, y=labels, **of_rows):
    """The same rounds by ``fit`` or by ``partial_fit``."""
    if method == "fit":
        return model.fit(X, y, **of_rows)
    return stream(model, y, first={"classes": [0, 1]}, size=model.batch_size, **of_rows)


fit_or_partial_fit = pytest.mark.parametrize("method", ["fit", "partial_fit"])


@fit_or_partial_fit
def test_with_routing_weights_go_to_requesting_experts_only(method):
    with config_context(enable_metadata_routing=True):
        experts = list(LISTENERS.items())
        model = train(classifier(estimators=experts, batch_size=200), method, sample_weight=weights)
    np.testing.assert_array_equal([part for part, _ in model.named_estimators_.yes.heard_], weights.reshape(2, 200))
    assert model.named_estimators_.no.heard_ == [(None, None)] * 2


@fit_or_partial_fit
def test_with_routing_experts_must_set_a_request_for_weights(method):
    with config_context(enable_metadata_routing=True):
        model = classifier(estimators=[("silent", GaussianNB())])
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            train(model, method, sample_weight=weights)
        assert not model.__sklearn_is_fitted__()


@fit_or_partial_fit
def test_with_routing_metadata_is_passed_on_in_rounds(method):
    shift = np.arange(400)
    with config_context(enable_metadata_routing=True):
        experts = [("a", asks(Listens(), shift=True)), ("b", asks(Listens(), shift=False))]
        model = train(classifier(estimators=experts, batch_size=200), method, shift=shift)
    np.testing.assert_array_equal([part for _, part in model.named_estimators_.a.heard_], shift.reshape(2, 200))
    assert model.named_estimators_.b.heard_ == [(None, None)] * 2


def test_metadata_that_is_not_of_the_rows_goes_to_all_rounds():
    with config_context(enable_metadata_routing=True):
        model = classifier(estimators=[("a", asks(Listens(), shift=True))], batch_size=200).fit(X, labels, shift=0.5)
    assert model.named_estimators_.a.heard_ == [(None, 0.5)] * 2


class OnlyFits(ClassifierMixin, BaseEstimator):
    def fit(self, X, y, shift=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@fit_or_partial_fit
def test_experts_without_partial_fit_take_no_other_metadata(method):
    with config_context(enable_metadata_routing=True):
        model = classifier(estimators=[("fits", OnlyFits().set_fit_request(shift=True))])
        with pytest.raises(ValueError, match=r"'fits' \(OnlyFits\) has no partial_fit.*not \['shift'\]"):
            train(model, method, shift=np.arange(400))


@fit_or_partial_fit
def test_without_routing_all_experts_get_the_weights(method):
    model = train(classifier(estimators=[("a", Listens()), ("b", Listens())]), method, sample_weight=weights)
    for expert in model.estimators_:
        np.testing.assert_array_equal(np.concatenate([part for part, _ in expert.heard_]), weights)


@fit_or_partial_fit
def test_without_routing_experts_without_weights_are_named(method):
    model = classifier(estimators=[("bayes", GaussianNB()), ("near", KNeighborsClassifier())])
    with pytest.raises(ValueError, match=r"expert 'near' \(KNeighborsClassifier\) takes no sample_weight"):
        train(model, method, sample_weight=weights)
    with pytest.raises(ValueError, match="routing"):
        train(model, method, shift=weights)


@fit_or_partial_fit
def test_routing_reaches_the_model_at_the_end_of_a_pipeline(method):
    def pipeline(model):
        return IncrementalPipeline([("scale", StandardScaler()), ("model", model)])

    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_partial_fit_request(sample_weight=False)
        pipelines = [(name, pipeline(model).set_params(scale=clone(scaler))) for name, model in LISTENERS.items()]
        model = train(classifier(estimators=pipelines), method, sample_weight=weights)
    np.testing.assert_array_equal(
        np.concatenate([part for part, _ in model.named_estimators_.yes["model"].heard_]), weights
    )
    assert model.named_estimators_.no["model"].heard_ == [(None, None)] * (400 // BATCH)


@pytest.mark.parametrize("routing", [False, True])
def test_sample_weights_in_pipelines_with_and_without_routing(routing):
    def make():
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        with config_context(enable_metadata_routing=True):
            scaler = StandardScaler().set_partial_fit_request(sample_weight=False)
            tree.set_fit_request(sample_weight=True)
        scaled = IncrementalPipeline([("scale", scaler), ("sgd", asks(sgd()))])
        return classifier(estimators=[("scaled", scaled), ("tree", tree), ("window", asks(SlidingWindow(tree)))])

    expected = make().fit(X, labels, sample_weight=weights)
    with config_context(enable_metadata_routing=routing):
        model = make().fit(X, labels, sample_weight=weights)
    assert_same(model, expected)
    with pytest.raises(AssertionError):  # the weights do matter
        assert_same(make().fit(X, labels), expected)


def test_incremental_pipeline_routes_weights_to_its_scaler_too():
    with config_context(enable_metadata_routing=True):
        model = IncrementalPipeline([("scale", asks(StandardScaler())), ("sgd", asks(sgd()))])
        model.partial_fit(X, labels, classes=[0, 1], sample_weight=weights)
    np.testing.assert_allclose(model["scale"].mean_, np.average(X, axis=0, weights=weights))


def test_search_routes_weights_through_the_ensemble():
    with config_context(enable_metadata_routing=True):
        model = classifier(estimators=[("a", asks(Listens())), ("b", asks(Listens(), sample_weight=False))])
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"combine": ["leader"]}, cv=2).fit(X, labels, sample_weight=weights)
    best = search.best_estimator_.named_estimators_
    assert np.concatenate([part for part, _ in best.a.heard_]).tolist() == weights.tolist()
    assert best.b.heard_[0] == (None, None)
