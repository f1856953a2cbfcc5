"""Training of experts: first rounds, windows, invalid rows, weights, and errors."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.stream_experts import RAISES_IN_LEARN, RAISES_IN_PREDICT, SAYS_NAN, MoodyNumber

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.engine import able_to_travel, call_function
from ltm_sklearn.ensemble import ExpertWarning, IncrementalPipeline

pytestmark = pytest.mark.fast_cases(1)


class Stubborn(Exception):
    """Error that cannot be unpickled, as it needs two arguments."""

    def __init__(self, what, why):
        super().__init__(what)


def stubborn(n):
    raise Stubborn("no", "because")


class OddShape(ClassifierMixin, BaseEstimator):
    """Classifier with probabilities of a wrong shape or size."""

    def __init__(self, answer):
        self.answer = answer

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(classes) if classes is not None else self.classes_
        return self

    def fit(self, X, y):
        return self.partial_fit(X, y, y)

    def predict_proba(self, X):
        return self.answer(len(X))


def learn_all(model, batches):
    known = {"classes": [0, 1]} if is_classifier(model) else {}
    for X, y in batches:
        model.partial_fit(X, y, **known)


def stream_of_blobs(n_batches, size=10, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        y = rng.integers(0, 2, size)
        yield rng.normal(size=(size, 2)) + 3.0 * y[:, np.newaxis], y


@pytest.mark.parametrize(
    "answer",
    [lambda n: np.ones((n, 5)), lambda n: np.ones(n), lambda n: np.ones((n, 2, 1)), lambda n: None, lambda n: 0.5],
    ids=["wide", "flat", "deep", "none", "scalar"],
)
def test_expert_with_predictions_of_a_wrong_shape_sleeps(answer):
    model = LongTermMemoryClassifier([("nb", GaussianNB()), ("odd", OddShape(answer))], memory=None)
    with pytest.warns(ExpertWarning, match="'odd' could not predict"):
        learn_all(model, stream_of_blobs(5))
    assert np.isnan(model.loss_[1])
    X, y = next(stream_of_blobs(1, size=50, seed=1))
    assert (model.predict(X) == y).mean() >= 0.9


def test_probabilities_beyond_one_are_scaled():
    big = OddShape(lambda n: np.tile([0.0, 1e6], (n, 1)))
    model = LongTermMemoryClassifier([("nb", GaussianNB()), ("big", big)], memory=None)
    learn_all(model, stream_of_blobs(40))
    X, y = next(stream_of_blobs(1, size=50, seed=1))
    assert (model.predict(X) == y).mean() > 0.9


def test_learner_that_failed_in_its_first_round_starts_anew():
    experts = [("nb", GaussianNB()), ("trees", HistGradientBoostingClassifier(max_iter=2))]
    model = LongTermMemoryClassifier(experts, memory=None)
    for at, (X, y) in enumerate(stream_of_blobs(12)):
        if at == 0:
            X[0, 0] = np.nan
            with pytest.warns(ExpertWarning, match="'nb' could not learn"):
                model.partial_fit(X, y, classes=[0, 1])
        else:
            model.partial_fit(X, y)
    assert model.loss_[0] < 0.2


def balanced_batches(n_batches, size=4):
    rng = np.random.default_rng(0)
    for _ in range(n_batches):
        y = np.arange(size) % 2
        yield y[:, np.newaxis] + rng.normal(scale=0.3, size=(size, 2)), y


@pytest.mark.parametrize("memory", [None, "auto"])
@pytest.mark.parametrize("backend", [None, "threading", "loky"])
@pytest.mark.exhaustive
def test_expert_that_needs_many_rows_gets_them(memory, backend):
    experts = [("nb", GaussianNB()), ("cal", CalibratedClassifierCV(LogisticRegression(), cv=5))]
    model = LongTermMemoryClassifier(experts, memory=memory, n_jobs=None if backend is None else 2)
    with joblib.parallel_config(backend or "sequential"), pytest.warns(ExpertWarning, match="'cal' could not learn"):
        learn_all(model, balanced_batches(15))
    window = model.named_estimators_.cal
    assert isinstance(window.estimator_, CalibratedClassifierCV)
    assert len(window._held[1]) == 60
    alone = LongTermMemoryClassifier(experts, memory=memory)
    with pytest.warns(ExpertWarning):
        learn_all(alone, balanced_batches(15))
    np.testing.assert_array_equal(model.weights_, alone.weights_)


def test_invalid_row_leaves_the_sliding_window():
    model = LongTermMemoryRegressor([("poisson", PoissonRegressor()), ("sgd", SGDRegressor())], memory=None)
    rng = np.random.default_rng(0)
    batches = [(X, np.exp(X[:, 0])) for X in rng.normal(size=(30, 10, 2))]
    batches += [(X, np.exp(-X[:, 0])) for X in rng.normal(size=(30, 10, 2))]
    batches[29][1][3] = -1.0
    with pytest.warns(ExpertWarning, match="'poisson' could not learn and slept: ValueError"):
        learn_all(model, batches)
    window = model.named_estimators_.poisson
    assert (window._held[1] > 0.0).all()
    assert len(window._held[1]) >= 500
    assert window.estimator_.coef_[0] < 0.5  # it has learned from what came later


class Counts(TransformerMixin, BaseEstimator):
    """Counts the rows, and lets them pass."""

    n_seen_ = 0

    def fit(self, X, y=None):
        return self

    def partial_fit(self, X, y=None):
        self.n_seen_ += len(X)
        return self

    def transform(self, X):
        return X


def test_rows_that_all_experts_refuse_change_nothing():
    fails = IncrementalPipeline([("counts", Counts()), ("moody", MoodyNumber())])
    model = LongTermMemoryRegressor([("fails", fails)], memory=None)
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0)
    model.partial_fit(X, y)
    bad = X.copy()
    bad[0, 0], bad[1, 0] = RAISES_IN_PREDICT, RAISES_IN_LEARN
    before = pickle.dumps(model.named_estimators_.fails)
    with pytest.raises(ValueError, match="no expert could predict these rows"):
        model.partial_fit(bad, y)
    assert pickle.dumps(model.named_estimators_.fails) == before
    assert model.n_rounds_ == 1


@pytest.mark.parametrize("n_rows", [10, 100])
def test_rows_that_no_expert_can_predict_raise_during_warm_up(n_rows):
    model = LongTermMemoryRegressor([("moody", MoodyNumber())])
    X, y = np.random.default_rng(0).normal(size=(n_rows, 2)), np.arange(float(n_rows))
    for rows in (slice(0, 5), slice(5, n_rows)):
        model.partial_fit(X[rows], y[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)
        with pytest.raises(ValueError, match="no expert could predict these rows"):
            model.predict([[RAISES_IN_PREDICT, 0.0]])


def test_expert_and_its_snapshots_have_separate_warnings():
    model = LongTermMemoryRegressor([("moody", MoodyNumber()), ("other", MoodyNumber(1))], memory=Snapshots(every=5))
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.arange(10.0)
    for rows in (slice(0, 5), slice(5, 10)):
        model.partial_fit(X[rows], y[rows])
    X[0, 0] = SAYS_NAN
    with pytest.warns(ExpertWarning) as caught:
        model.predict(X)
    said = {str(warning.message).partition(" could")[0] for warning in caught}
    assert {"expert 'moody'", "expert 'moody' (snapshot)"} <= said


def test_classes_of_an_expert_may_be_a_list():
    class Listed(GaussianNB):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            super().partial_fit(X, y, None if classes is None else np.array(classes), sample_weight)
            self.classes_ = list(self.classes_)
            return self

        def predict_proba(self, X):
            chance = (np.asarray(X)[:, 0] > 0.5).astype(float)
            return np.column_stack([1.0 - chance, chance])

    model = LongTermMemoryClassifier([("listed", Listed())], memory=None)
    X, y = next(balanced_batches(1, size=20))
    model.partial_fit(X, y, classes=[0, 1])
    assert (model.predict(X) == (X[:, 0] > 0.5)).all()


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")  # with fewer rows than neighbours
def test_neighbours_learn_single_rows():
    model = LongTermMemoryClassifier([("knn", KNeighborsClassifier(9))])
    learn_all(model, stream_of_blobs(60, size=1))
    assert model.n_samples_seen_ == 60
    X, y = next(stream_of_blobs(1, size=50, seed=1))
    assert (model.predict(X) == y).mean() > 0.9


def test_restarted_learner_with_few_rows_raises_no_error():
    model = LongTermMemoryClassifier([("knn", KNeighborsClassifier()), ("nb", GaussianNB())], on_error="raise")
    model.partial_fit(*next(stream_of_blobs(1, size=50)), classes=[0, 1])
    for X, y in stream_of_blobs(100, size=3):
        model.partial_fit(X, y)
    assert model.n_samples_seen_ == 350


def test_statistics_count_rounds_of_one_row():
    right, wrong = (
        FrozenEstimator(DummyClassifier(strategy="constant", constant=c).fit([[0.0]] * 2, [0, 1])) for c in (0, 1)
    )
    experts = [("right", right), ("wrong", wrong)]
    model = LongTermMemoryClassifier(experts, loss="zero_one", memory=None, rounds="row")
    model.partial_fit([[0.0]], [1], classes=[0, 1]).partial_fit(np.zeros((99, 1)), np.zeros(99, dtype=int))
    np.testing.assert_allclose(model.loss_, [0.01, 0.99])
    assert model.experts_[0].long_term_weight > 0.9


def test_model_that_cannot_be_copied_has_no_snapshots():
    class Uncopied(GaussianNB):
        def __deepcopy__(self, memo):
            if hasattr(self, "theta_"):
                raise RuntimeError("not to be copied")
            return type(self)()

    model = LongTermMemoryClassifier([("nb", Uncopied())], memory=Snapshots(every=50))
    with pytest.warns(ExpertWarning, match="no snapshot could be taken: RuntimeError: not to be copied"):
        learn_all(model, stream_of_blobs(20))
    assert model.n_rounds_ == 20
    assert all(expert.kind != "snapshot" for expert in model.experts_)


@pytest.mark.filterwarnings("error")
def test_warnings_as_errors_come_after_a_complete_round():
    model = LongTermMemoryClassifier([("nb", GaussianNB()), ("odd", OddShape(lambda n: None))], memory=None)
    for at, (X, y) in enumerate(stream_of_blobs(4)):
        if at:
            with pytest.raises(ExpertWarning):
                model.partial_fit(X, y)
        else:
            model.partial_fit(X, y, classes=[0, 1])
        assert model.n_rounds_ == at + 1


def test_recorded_loss_is_that_of_predict():
    model = LongTermMemoryClassifier([("nb", GaussianNB())], record=100)
    wrong = []
    for at, (X, y) in enumerate(stream_of_blobs(60)):
        if at:
            wrong.append((model.predict(X) != y).mean())
        model.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose([record.loss for record in model.history_], wrong, atol=1e-15)


@pytest.mark.parametrize("make", [LongTermMemoryClassifier, LongTermMemoryRegressor])
def test_default_pool_takes_weights_with_metadata_routing(make):
    X, y = next(stream_of_blobs(1, size=300))
    with config_context(enable_metadata_routing=True):
        model = make(random_state=0).fit(X, y, sample_weight=np.full(300, 2.0))
    assert not np.isnan(model.loss_[:3]).any()


def test_pipeline_without_weight_requests_is_an_error():
    X, y = next(stream_of_blobs(1, size=100))
    with config_context(enable_metadata_routing=True):
        sgd = SGDClassifier(loss="log_loss").set_partial_fit_request(sample_weight=True)
        pipeline = IncrementalPipeline([("scale", StandardScaler()), ("sgd", sgd)])
        model = LongTermMemoryClassifier([("sgd", pipeline)])
        with pytest.raises(UnsetMetadataPassedError, match="StandardScaler"):
            model.fit(X, y, sample_weight=np.ones(100))


def test_pipeline_that_takes_no_weights_is_named():
    X, y = next(stream_of_blobs(1, size=100))
    model = LongTermMemoryClassifier([("pipe", make_pipeline(StandardScaler(), LogisticRegression()))])
    with pytest.raises(ValueError, match=r"expert 'pipe' .* takes no sample_weight"):
        model.fit(X, y, sample_weight=np.ones(100))


def test_frozen_steps_of_a_pipeline_are_never_trained():
    X, y = next(stream_of_blobs(1, size=100))
    scaler, sgd = StandardScaler().fit(X), SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    mean, coef = scaler.mean_.copy(), sgd.coef_.copy()
    for steps in ([FrozenEstimator(scaler), SGDClassifier()], [StandardScaler(), FrozenEstimator(sgd)]):
        IncrementalPipeline([("first", steps[0]), ("last", steps[1])]).partial_fit(X + 100.0, 1 - y, classes=[0, 1])
    np.testing.assert_array_equal(scaler.mean_, mean)
    np.testing.assert_array_equal(sgd.coef_, coef)


def test_pipeline_with_imputer_accepts_nan():
    model = LongTermMemoryClassifier([("pipe", make_pipeline(SimpleImputer(), LogisticRegression()))])
    for X, y in stream_of_blobs(10):
        X[0, 0] = np.nan
        model.partial_fit(X, y, classes=[0, 1])
    assert (model.predict(X) == y).mean() >= 0.8


def test_error_that_cannot_be_unpickled_is_replaced():
    came_back = pickle.loads(pickle.dumps(able_to_travel(call_function(1, stubborn))))
    assert isinstance(came_back.error, RuntimeError)
    assert str(came_back.error) == "Stubborn: no"
