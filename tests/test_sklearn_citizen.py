"""What scikit-learn's own checks leave out: parameters, column names, routing, saved states, life inside its tools."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from pandas import DataFrame
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import InconsistentVersionWarning, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, learning_curve
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_html_repr

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.ensemble import IncrementalPipeline, SlidingWindow
from ltm_sklearn.experts import FixedShare, Hedge, LongTermMemory

pytestmark = pytest.mark.fast_cases(1)

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
labels = (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int)
numbers = X @ [1.0, -2.0, 0.0] + 0.1 * rng.normal(size=400)
weights = rng.uniform(0.5, 2.0, size=400)
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


# Parameters -------------------------------------------------------------------------------------------------------

BAD_PARAMETERS = {
    "algorithm-name": ({"algorithm": "hedge"}, "algorithm='hedge'"),
    "algorithm-class": ({"algorithm": Hedge}, "algorithm="),
    "algorithm-parameter": ({"algorithm": FixedShare(switching=2.0)}, "switching=2.0"),
    "loss": ({"loss": "hinge"}, "loss='hinge'"),
    "loss-number": ({"loss": 1}, "loss=1"),
    "combine": ({"combine": "vote"}, "combine='vote'"),
    "memory-name": ({"memory": "long"}, "memory='long'"),
    "memory-number": ({"memory": 3}, "memory=3"),
    "memory-every": ({"memory": Snapshots(every=0)}, "every=0"),
    "memory-max_size": ({"memory": Snapshots(max_size=-1)}, "max_size=-1"),
    "memory-merge": ({"memory": Snapshots(merge=1.5)}, "merge=1.5"),
    "memory-restart": ({"memory": Snapshots(restart="yes")}, "restart='yes'"),
    "memory-on_drift": ({"memory": Snapshots(on_drift="ADWIN")}, "on_drift='ADWIN'"),
    "memory-never": ({"memory": Snapshots(every=None, on_drift=False)}, "every=None and on_drift=False"),
    "rounds": ({"rounds": "day"}, "rounds='day'"),
    "rounds-list": ({"rounds": ["row"]}, "rounds="),
    "batch_size-zero": ({"batch_size": 0}, "batch_size=0"),
    "batch_size-float": ({"batch_size": 10.5}, "batch_size=10.5"),
    "on_error": ({"on_error": "ignore"}, "on_error='ignore'"),
    "n_jobs-zero": ({"n_jobs": 0}, "n_jobs=0"),
    "n_jobs-huge": ({"n_jobs": 2**63}, "n_jobs=9223372036854775808 is neither"),
    "n_jobs-word": ({"n_jobs": "all"}, "n_jobs='all'"),
    "random_state": ({"random_state": "lucky"}, "random_state='lucky'"),
    "record": ({"record": 0}, "record=0"),
    "record-true": ({"record": True}, "record=True"),
    "no-estimators": ({"estimators": []}, "estimators="),
    "estimators-without-names": ({"estimators": [GaussianNB()]}, "estimators="),
    "one-estimator": ({"estimators": GaussianNB()}, "estimators="),
    "estimators-numbered": ({"estimators": [(0, GaussianNB())]}, "estimators need strings"),
    "estimators-same-name": ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, r"not unique: \['a', 'a'\]"),
    "estimators-dunder": ({"estimators": [("a__b", GaussianNB())]}, "a__b"),
    "estimators-like-parameter": ({"estimators": [("loss", GaussianNB())]}, "loss"),
    "estimators-like-snapshot": ({"estimators": [("a@3", GaussianNB())]}, "a@3"),
    "estimators-word": ({"estimators": [("a", "dropped")]}, "expert 'a' is 'dropped'"),
    "estimators-class": ({"estimators": [("a", GaussianNB)]}, "expert 'a'"),
    "estimators-scaler": ({"estimators": [("a", StandardScaler())]}, "expert 'a'"),
    "estimators-dropped": ({"estimators": [("a", "drop")]}, "dropped"),
    "estimators-frozen": ({"estimators": [("a", FrozenEstimator(GaussianNB()))]}, "expert 'a' is frozen but not"),
    "estimators-regressor": ({"estimators": [("a", Ridge())]}, r"expert 'a' \(Ridge\) should be a classifier"),
}


@pytest.mark.parametrize(("parameters", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_wrong_parameter_is_named_and_nothing_is_begun(parameters, match):
    model = classifier(**parameters)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=match):
        model.fit(X, labels)
    with pytest.raises(ValueError, match=match):
        model.partial_fit(X, labels, classes=[0, 1])
    assert vars(model) == before


def test_fit_with_a_wrong_parameter_keeps_what_was_learned_before():
    model = classifier().fit(X, labels)
    expected, good = copy.deepcopy(model), model.get_params(deep=False)
    for parameters, match in BAD_PARAMETERS.values():
        model.set_params(**parameters)
        with pytest.raises(ValueError, match=match):
            model.fit(X[:100], labels[:100])
        model.set_params(**{name: good[name] for name in parameters})
    assert_same(model, expected)


def test_regressor_refuses_classifiers_and_class_losses():
    with pytest.raises(ValueError, match=r"expert 'a' \(GaussianNB\) should be a regressor"):
        regressor(estimators=[("a", GaussianNB())]).fit(X, numbers)
    with pytest.raises(ValueError, match="loss='zero_one'"):
        regressor(loss="zero_one").fit(X, numbers)


@pytest.mark.parametrize("parameters", [{"window": 0}, {"refit": 1.5}, {"refit": -0.1}, {"window": 2.5}], ids=str)
def test_sliding_window_names_its_wrong_parameter(parameters):
    name, value = next(iter(parameters.items()))
    with pytest.raises(ValueError, match=f"{name}={value}"):
        SlidingWindow(DecisionTreeClassifier(), **parameters).fit(X, labels)


def test_memory_without_merging_is_a_choice():
    always_the_same = [
        ("frozen", FrozenEstimator(GaussianNB().fit(X, labels))),
        ("constant", KnowsSome([0, 1], [0.5, 0.5])),
    ]
    for merge, n_kept in ((None, 5), (0.98, 1)):
        model = classifier(estimators=always_the_same, memory=Snapshots(every=80, merge=merge, on_drift=False))
        model.fit(X, labels)
        assert sum(expert.kind == "snapshot" for expert in model.experts_) == n_kept


def test_nested_parameters_reach_the_experts_the_memory_and_the_algorithm():
    model = classifier(algorithm=FixedShare())
    model.set_params(
        sgd__alpha=0.5, memory__every=50, memory__merge=None, algorithm__switching=0.25, tree=DecisionTreeClassifier()
    )
    model.set_params(tree__max_depth=1)
    params = model.get_params()
    assert (params["sgd__alpha"], params["memory__every"], params["algorithm__switching"]) == (0.5, 50, 0.25)
    model.fit(X, labels)
    assert model.named_estimators_.sgd.alpha == 0.5
    assert model.named_estimators_.tree.estimator_.get_depth() == 1
    assert any(expert.name.endswith("@80") for expert in model.experts_)  # after the first round with 50 rows


def test_parameters_of_a_step_of_an_expert():
    model = classifier(estimators=[("pipe", IncrementalPipeline([("scale", StandardScaler()), ("sgd", sgd())]))])
    model.set_params(pipe__sgd__alpha=0.25).fit(X, labels)
    assert model.named_estimators_.pipe["sgd"].alpha == 0.25


def test_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="bogus"):
        classifier().set_params(bogus=1)
    with pytest.raises(ValueError, match="bogus"):
        classifier().set_params(sgd__bogus=1)


def test_dropped_expert_takes_no_part():
    dropped = classifier().set_params(tree="drop").fit(X, labels)
    without = classifier(estimators=[("bayes", GaussianNB()), ("sgd", sgd())]).fit(X, labels)
    assert_same(dropped, without)
    assert list(dropped.named_estimators_) == ["bayes", "sgd"]
    assert dropped.get_params()["tree"] == "drop"


@pytest.mark.parametrize("routing", [False, True])
def test_expert_dropped_in_mid_stream_stays_until_the_next_fit(routing):
    with config_context(enable_metadata_routing=routing):
        model = classifier(estimators=[("bayes", asks(GaussianNB())), ("sgd", asks(sgd()))])
        model.partial_fit(X, labels, classes=[0, 1], sample_weight=weights)
        model.set_params(sgd="drop")
        model.partial_fit(X, labels, sample_weight=weights)
        assert list(model.named_estimators_) == ["bayes", "sgd"]
        assert list(model.fit(X, labels, sample_weight=weights).named_estimators_) == ["bayes"]


@both
def test_clone_has_the_parameters_and_nothing_learned(make, y, first):
    model = make(algorithm=FixedShare()).fit(X, y)
    copied = clone(model)
    assert repr(copied) == repr(model)
    assert not copied.__sklearn_is_fitted__()
    assert copied.memory is not model.memory
    assert copied.algorithm is not model.algorithm
    assert copied.estimators[0][1] is not model.estimators[0][1]
    assert_same(copied.fit(X, y), model)


@both
def test_learning_leaves_what_was_given_alone(make, y, first):
    model = make(algorithm=LongTermMemory())
    before = pickle.dumps(model.get_params(deep=False))
    model.fit(X, y)
    stream(model, y)
    assert pickle.dumps(model.get_params(deep=False)) == before


def test_attributes_exist_only_when_there_is_something_to_show():
    model = classifier()
    names = ["weights_", "leader_", "experts_", "loss_", "n_rounds_", "n_samples_seen_", "estimators_", "history_"]
    assert not [name for name in names if hasattr(model, name)]
    model.fit(X, labels)
    assert [name for name in names if not hasattr(model, name)] == ["history_"]  # without record=


# Column names -----------------------------------------------------------------------------------------------------

frame = DataFrame(X, columns=["a", "b", "c"])
towns = np.array(["Oslo", "Rome", "Lima"])
mixed = DataFrame({"a": X[:, 0], "b": X[:, 1], "town": towns[np.arange(400) % 3]})


@both
def test_frames_give_the_same_numbers_as_arrays(make, y, first):
    of_frames, of_arrays = stream(make(), y, X=frame, first=first), stream(make(), y, first=first)
    # Frames lie in memory by columns: sums are taken in another order.
    np.testing.assert_allclose(of_frames.transform(frame), of_arrays.transform(X), rtol=1e-9)
    np.testing.assert_allclose(of_frames.weights_, of_arrays.weights_, rtol=1e-9)
    assert of_frames.feature_names_in_.tolist() == ["a", "b", "c"]


@both
@pytest.mark.parametrize("other", [["b", "a", "c"], ["a", "b", "d"]], ids=["reordered", "renamed"])
def test_other_column_names_are_refused_and_change_nothing(make, y, first, other):
    model = make().fit(frame, y)
    expected = numbers_of(model, frame)
    wrong = frame.set_axis(other, axis=1)
    for call in (model.predict, model.transform, lambda X: model.partial_fit(X, y)):
        with pytest.raises(ValueError, match="feature names should match"):
            call(wrong)
    for name, value in numbers_of(model, frame).items():
        np.testing.assert_array_equal(value, expected[name])


@both
def test_nameless_rows_after_named_ones_warn(make, y, first):
    model = make().fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@both
def test_fit_takes_new_column_names(make, y, first):
    model = make().fit(frame[:50], y[:50]).fit(frame[50:90].rename(columns=str.upper), y[50:90])
    assert model.feature_names_in_.tolist() == ["A", "B", "C"]


def of_columns(model):
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["town"]), remainder="passthrough")
    return make_pipeline(encode, model)


def test_expert_picks_columns_of_text_by_name():
    y = np.where(mixed["town"] == "Rome", "south", "north")
    model = classifier(estimators=[("towns", of_columns(DecisionTreeClassifier()))])
    model = stream(model, y, X=mixed, first={"classes": ["north", "south"]}, stop=200)
    assert (model.predict(mixed) == y).all()
    assert any(expert.kind == "snapshot" for expert in model.experts_)


def test_missing_number_beside_text_is_not_learned_in_silence():
    # The numbers of such a frame are not checked beforehand, so the experts must.
    holed = mixed.copy()
    holed.loc[3, "a"] = np.nan
    for model in (LogisticRegression(), GaussianNB()):
        ensemble = classifier(
            estimators=[("towns", of_columns(model).set_params(columntransformer__sparse_threshold=0))]
        )
        with pytest.raises(ValueError, match="NaN"):
            ensemble.fit(holed, labels)


# Metadata routing -------------------------------------------------------------------------------------------------


class Listens(ClassifierMixin, BaseEstimator):
    """Remembers with what it was trained."""

    def partial_fit(self, X, y, classes=None, sample_weight=None, shift=None):
        if not hasattr(self, "heard_"):
            self.classes_, self.heard_ = np.unique(classes), []
        self.heard_.append((sample_weight, shift))
        return self

    fit = partial_fit

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def asks(estimator, **requests):
    """An expert that asks for weights, or for what is told; harmless where routing is off."""
    with config_context(enable_metadata_routing=True):
        return estimator.set_partial_fit_request(**(requests or {"sample_weight": True}))


LISTENERS = {"yes": asks(Listens()), "no": asks(Listens(), sample_weight=False)}


def train(model, method, y=labels, **of_rows):
    """The same rounds by ``fit`` or by ``partial_fit``."""
    if method == "fit":
        return model.fit(X, y, **of_rows)
    return stream(model, y, first={"classes": [0, 1]}, size=model.batch_size, **of_rows)


fit_or_partial_fit = pytest.mark.parametrize("method", ["fit", "partial_fit"])


@fit_or_partial_fit
def test_with_routing_weights_go_only_to_the_experts_that_ask(method):
    with config_context(enable_metadata_routing=True):
        experts = list(LISTENERS.items())
        model = train(classifier(estimators=experts, batch_size=200), method, sample_weight=weights)
    np.testing.assert_array_equal([part for part, _ in model.named_estimators_.yes.heard_], weights.reshape(2, 200))
    assert model.named_estimators_.no.heard_ == [(None, None)] * 2


@fit_or_partial_fit
def test_with_routing_an_expert_must_say_whether_it_wants_the_weights(method):
    with config_context(enable_metadata_routing=True):
        model = classifier(estimators=[("silent", GaussianNB())])
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            train(model, method, sample_weight=weights)
        assert not model.__sklearn_is_fitted__()


@fit_or_partial_fit
def test_with_routing_metadata_of_any_name_is_handed_on_in_rounds(method):
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
def test_expert_that_only_fits_can_be_given_no_metadata_but_weights(method):
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
def test_without_routing_an_expert_that_takes_no_weights_is_named(method):
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
def test_weights_through_pipelines_and_windows_give_the_same_with_routing_on_and_off(routing):
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


# fit and partial_fit ----------------------------------------------------------------------------------------------


WAYS = [("average", "batch"), ("average", "row"), ("leader", "batch"), ("sample", "batch"), ("sample", "row")]


@both
@pytest.mark.parametrize(("combine", "rounds"), WAYS)
def test_fit_is_a_loop_of_partial_fit(make, y, first, combine, rounds):
    parameters = {"combine": combine, "rounds": rounds, "batch_size": 30}  # the last batch is a short one
    in_one = make(**parameters).fit(X, y, sample_weight=weights)
    in_parts = stream(make(**parameters), y, first=first, size=30, sample_weight=weights)
    assert_same(in_one, in_parts)


@both
def test_fit_forgets_what_was_before(make, y, first):
    model = stream(make(), y[::-1].copy(), first=first)
    assert_same(model.fit(X, y), make().fit(X, y))
    assert model.n_samples_seen_ == 400


def test_fit_takes_other_features_and_other_classes_than_before():
    model = classifier().fit(X, labels)
    words = np.array(["no", "yes", "maybe"])[np.arange(400) % 3]
    model.fit(X[:, :2], words)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert_same(model, classifier().fit(X[:, :2], words), X[:, :2])


@both
def test_partial_fit_after_fit_goes_on(make, y, first):
    model = stream(make().fit(X[:200], y[:200]), y, start=200)
    assert_same(model, make().fit(X, y))
    assert model.n_samples_seen_ == 400


@both
def test_rows_without_weight_in_a_round_of_fit(make, y, first):
    # Some rounds of fit may have no weight at all, though partial_fit would refuse them.
    some = np.where(np.arange(400) // BATCH % 2, 0.0, 1.0)
    model = make().fit(X, y, sample_weight=some)
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.predict(X)).all()


def test_window_that_failed_once_works_afterwards():
    window = SlidingWindow(KNeighborsClassifier(3)).fit(X[:100], labels[:100])
    expected = copy.deepcopy(window).partial_fit(X[100:], labels[100:]).predict_proba(X)
    with pytest.raises(TypeError, match="sample_weight"):
        window.partial_fit(X[100:], labels[100:], sample_weight=weights[100:])
    np.testing.assert_array_equal(window.partial_fit(X[100:], labels[100:]).predict_proba(X), expected)


@both
def test_callers_may_use_their_arrays_again(make, y, first):
    model, expected = make(), stream(make(), y, first=first)
    rows, targets = np.empty((BATCH, 3)), np.empty(BATCH, dtype=y.dtype)
    for at in range(0, 400, BATCH):
        rows[:], targets[:] = X[at : at + BATCH], y[at : at + BATCH]
        model.partial_fit(rows, targets, **first)
    assert_same(model, expected)


# Saved states -----------------------------------------------------------------------------------------------------


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


# Output -----------------------------------------------------------------------------------------------------------


@both
def test_transform_gives_frames_with_the_experts_names(make, y, first):
    model = make().set_output(transform="pandas").fit(frame, y)
    table = model.transform(frame)
    assert table.columns.tolist() == model.get_feature_names_out().tolist()
    assert table.index.equals(frame.index)
    np.testing.assert_array_equal(table, model.set_output(transform="default").transform(frame))


def test_columns_of_transform_are_the_experts_probabilities():
    model = classifier(memory=None).fit(X, np.where(labels, "yes", "no"))
    names = model.get_feature_names_out().tolist()
    assert names[:3] == [f"longtermmemoryclassifier_{end}" for end in ("bayes_no", "bayes_yes", "sgd_no")]
    columns = dict(zip(names, model.transform(X).T, strict=True))
    for name, expert in model.named_estimators_.items():
        np.testing.assert_array_equal(columns[f"longtermmemoryclassifier_{name}_yes"], expert.predict_proba(X)[:, 1])


def test_columns_of_transform_are_the_experts_predictions():
    model = regressor().fit(X, numbers)
    names = model.get_feature_names_out().tolist()
    assert names == [f"longtermmemoryregressor_{expert.name}" for expert in model.experts_]
    assert len(names) > 4  # snapshots among them
    np.testing.assert_array_equal(
        model.transform(X)[:, names.index("longtermmemoryregressor_sgd")], model.estimators_[0].predict(X)
    )


@both
@pytest.mark.parametrize("fitted", [False, True])
def test_html_shows_the_experts(make, y, first, fitted):
    model = make(estimators=[("first one", "drop"), *make().estimators])
    page = estimator_html_repr(model.fit(X, y) if fitted else model)
    for name, estimator in make().estimators:
        assert name in page
        assert type(estimator).__name__ in page
    assert "first one" in page


@pytest.mark.parametrize("fitted", [False, True])
def test_html_shows_the_default_pool(fitted):
    page = estimator_html_repr(LongTermMemoryClassifier().fit(X, labels) if fitted else LongTermMemoryClassifier())
    for name in ("bayes", "logistic", "nimble", "forest", "GaussianNB", "StandardScaler", "ExtraTreesClassifier"):
        assert name in page
    assert "ExtraTreesRegressor" in estimator_html_repr(LongTermMemoryRegressor())


# Inside scikit-learn's tools --------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_parallel_gives_the_numbers_of_serial(make, y, first, backend):
    with joblib.parallel_config(backend):
        parallel = make(n_jobs=2, batch_size=50).fit(X, y, sample_weight=weights)
        stream(parallel, y, stop=100, size=50)
        predicted = parallel.predict(X)
    serial = stream(make(batch_size=50).fit(X, y, sample_weight=weights), y, stop=100, size=50)
    np.testing.assert_array_equal(predicted, serial.predict(X))
    assert_same(parallel.set_params(n_jobs=None), serial)


@both
def test_last_step_of_a_pipeline(make, y, first):
    pipeline = Pipeline([("scale", StandardScaler()), ("ensemble", make())]).fit(10.0 + X, y)
    scaled = StandardScaler().fit_transform(10.0 + X)
    np.testing.assert_array_equal(pipeline.predict(10.0 + X), make().fit(scaled, y).predict(scaled))
    assert pipeline.score(10.0 + X, y) > 0.8


@both
def test_middle_step_of_a_pipeline(make, y, first):
    last = LogisticRegression() if first else Ridge()
    pipeline = make_pipeline(make(memory=None), last).fit(X, y)
    assert pipeline[-1].n_features_in_ == len(pipeline[0].get_feature_names_out())


@both
def test_default_memory_has_parameters_as_soon_as_one_is_set(make, y, first):
    model = make(memory="auto").set_params(memory__every=50)
    assert repr(model.memory) == "Snapshots(every=50)"
    assert make(memory="auto").memory == "auto"


@both
def test_search_over_algorithm_memory_and_expert(make, y, first):
    grid = {"algorithm": [None, FixedShare()], "memory__every": [50, 100], "sgd__alpha": [1e-4, 10.0]}
    search = GridSearchCV(make(), grid, cv=2, error_score="raise").fit(X[:200], y[:200])
    assert len(search.cv_results_["params"]) == 8
    best = make().set_params(**search.best_params_).fit(X[:200], y[:200])
    assert_same(search.best_estimator_, best)


@both
def test_incremental_learning_curve(make, y, first):
    sizes, _, test = learning_curve(
        make(), X, y, cv=2, train_sizes=[20, 100, 200], exploit_incremental_learning=True, error_score="raise"
    )
    assert sizes.tolist() == [20, 100, 200]
    assert test[-1].mean() > 0.8


class Hears:
    """A callback that remembers what it was told."""

    def __init__(self, stop_after=None):
        self.told, self.n_seen, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.told.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name} {context.task_id}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.told.append(f"end {context.task_name} {context.task_id}")
        if fitted_estimator is not None:
            self.n_seen.append(fitted_estimator.n_samples_seen_)
            fitted_estimator.predict(X)
        return self.stop_after == context.task_id and context.task_name == "round"

    def teardown(self, estimator, context):
        self.told.append("teardown")


@both
def test_callbacks_hear_of_each_round(make, y, first):
    pytest.importorskip("sklearn.callback")
    callback = Hears()
    model = make(batch_size=150).set_callbacks(callback).fit(X, y)
    rounds = [f"{verb} round {at}" for at in range(3) for verb in ("begin", "end")]
    assert callback.told == ["setup", "begin fit 0", *rounds, "end fit 0", "teardown"]
    assert_same(model, make(batch_size=150).fit(X, y))


@both
def test_callbacks_may_look_at_the_model_so_far(make, y, first):
    pytest.importorskip("sklearn.callback")
    callback = Hears()
    make(batch_size=150).set_callbacks(callback).fit(X, y)
    assert callback.n_seen == [150, 300, 400, 400]


@both
def test_callback_may_end_the_fit(make, y, first):
    pytest.importorskip("sklearn.callback")
    callback = Hears(stop_after=1)
    model = make(batch_size=100).set_callbacks(callback).fit(X, y)
    assert_same(model, stream(make(), y, first=first, size=100, stop=200))
    assert callback.told[-3:] == ["end round 1", "end fit 0", "teardown"]


def test_callbacks_are_told_of_the_end_also_when_fit_fails():
    pytest.importorskip("sklearn.callback")
    callback = Hears()
    model = classifier(estimators=[("bad", Raises())]).set_callbacks(callback)
    with pytest.raises(OSError, match="no more"):
        model.fit(X, labels)
    assert callback.told[-1] == "teardown"
    assert not [name for name in vars(model) if "callback" in name and name != "_skl_callbacks"]


def test_progress_bar_of_scikit_learn(capsys):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    classifier().set_callbacks(callback.ProgressBar()).fit(X, labels)
    assert "LongTermMemoryClassifier" in capsys.readouterr().out


class Raises(Listens):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        raise OSError("no more")


# Classes ----------------------------------------------------------------------------------------------------------

words = np.array(["yes", "no", "maybe"])
three = words[np.digitize(X[:, 0], [-0.5, 0.5])]


def test_words_for_classes_give_the_numbers_of_numbers_for_classes():
    of_words = stream(classifier(), three, first={"classes": ["yes", "no", "maybe"]})
    of_numbers = stream(classifier(), np.searchsorted(np.unique(words), three), first={"classes": [0, 1, 2]})
    np.testing.assert_array_equal(of_words.predict_proba(X), of_numbers.predict_proba(X))
    np.testing.assert_array_equal(of_words.predict(X), np.unique(words)[of_numbers.predict(X)])
    assert of_words.classes_.tolist() == ["maybe", "no", "yes"]


def test_order_in_which_the_classes_are_given_does_not_matter():
    one = stream(classifier(), three, first={"classes": ["yes", "no", "maybe"]})
    other = stream(classifier(), three, first={"classes": ["maybe", "yes", "no"]})
    assert_same(one, other)


def test_class_that_comes_late():
    y = np.where(np.arange(400) < 200, np.minimum(labels, 1), 2 * labels)
    model = stream(classifier(), y, first={"classes": [0, 1, 2]}, stop=200)
    assert model.predict_proba(X).shape == (400, 3)
    stream(model, y, start=200)
    assert (model.predict(X) == 2).sum() > 100


def test_experts_without_probabilities_vote():
    model = classifier(estimators=[("hinge", SGDClassifier(random_state=0)), ("sgd", sgd())], memory=None)
    model = stream(model, three, first={"classes": words})
    votes = model.transform(X)[:, :3]
    np.testing.assert_array_equal(model.classes_[votes.argmax(axis=1)], model.named_estimators_.hinge.predict(X))
    assert np.unique(votes).tolist() == [0.0, 1.0]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


class KnowsSome(ClassifierMixin, BaseEstimator):
    """Says that rows belong to the classes it knows, with probabilities that are given."""

    def __init__(self, classes=(), probabilities=()):
        self.classes = classes
        self.probabilities = probabilities

    def fit(self, X, y=None):
        self.classes_ = np.array(self.classes)
        return self

    def predict_proba(self, X):
        return np.tile(self.probabilities, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class KnowsSomeVotes(KnowsSome):
    predict_proba = property()  # not there

    def predict(self, X):
        return np.repeat(self.classes_[np.argmax(self.probabilities)], len(X))


@pytest.mark.parametrize(
    ("classes", "probabilities", "aligned"),
    [
        (["no", "yes"], [0.25, 0.75], [0.0, 0.25, 0.75]),
        (["yes"], [1.0], [0.0, 0.0, 1.0]),
        (["alas", "no", "zero"], [0.5, 0.25, 0.25], [0.0, 0.25, 0.0]),
        (["yes", "maybe", "no"], [0.5, 0.125, 0.375], [0.125, 0.375, 0.5]),
    ],
    ids=["two-of-three", "one", "strangers", "unsorted"],
)
def test_frozen_expert_with_classes_of_its_own(classes, probabilities, aligned):
    stranger = FrozenEstimator(KnowsSome(classes, probabilities).fit(X))
    model = classifier(estimators=[("stranger", stranger), ("bayes", GaussianNB())], memory=None)
    model = stream(model, three, first={"classes": words})
    np.testing.assert_array_equal(model.transform(X)[:, :3], np.tile(aligned, (400, 1)))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", [KnowsSome, KnowsSomeVotes])
def test_expert_that_names_a_class_which_is_none_is_wrong(kind):
    # A row of zeros has its maximum in the first column: that must not count as a vote for the first class.
    stranger = FrozenEstimator(kind(["nobody", "none"], [0.4, 0.6]).fit(X))
    model = classifier(estimators=[("stranger", stranger), ("bayes", GaussianNB())], memory=None)
    stream(model, np.repeat(["maybe", "no"], 200), first={"classes": words}, stop=200)
    assert model.loss_[0] == 1.0
    alone = classifier(estimators=[("stranger", stranger)], memory=None)
    alone = stream(alone, three, first={"classes": words})
    np.testing.assert_allclose(alone.predict_proba(X), 1.0 / 3.0)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_rows_give_the_numbers_of_dense_ones(make):
    thin = np.maximum(X, 0.0)
    experts = [("bernoulli", BernoulliNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    sparse = classifier(estimators=experts).fit(make(thin), labels)
    stream(sparse, labels, X=sp.csr_array(thin), stop=100)
    dense = stream(classifier(estimators=experts).fit(thin, labels), labels, X=thin, stop=100)
    np.testing.assert_allclose(sparse.predict_proba(make(thin)), dense.predict_proba(thin), rtol=1e-9)
    np.testing.assert_allclose(sparse.weights_, dense.weights_, rtol=1e-9)


def test_sparse_rows_are_refused_if_one_expert_cannot_take_them():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        classifier().fit(sp.csr_array(X), labels)  # naive Bayes


# Predicting changes nothing ---------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(("combine", "rounds"), WAYS)
def test_predicting_stores_nothing(make, y, first, combine, rounds):
    model = make(combine=combine, rounds=rounds).fit(X, y)
    before, names = pickle.dumps(model), set(vars(model))
    predicted = model.predict(X)
    for _ in range(3):
        np.testing.assert_array_equal(model.predict(X), predicted)
        numbers_of(model)
        model.get_feature_names_out()
        repr(model)
        estimator_html_repr(model)
    assert set(vars(model)) == names
    assert pickle.dumps(model) == before


@both
def test_draws_follow_the_seed(make, y, first):
    def draw(seed):
        model = make(combine="sample", rounds="row", random_state=seed, algorithm=Hedge(rate=1e-9)).fit(X, y)
        return np.asarray(model.predict(X), dtype=float)

    np.testing.assert_array_equal(draw(1), draw(1))
    assert (draw(1) != draw(2)).any()


@both
def test_frozen_expert_is_never_changed(make, y, first):
    inner = sgd().fit(X[:100], labels[:100]) if first else SGDRegressor(random_state=0).fit(X[:100], numbers[:100])
    before = pickle.dumps(inner)
    model = make(estimators=[("frozen", FrozenEstimator(inner)), make().estimators[1]]).fit(X, y, sample_weight=weights)
    stream(model, y)
    model.predict(X)
    assert pickle.dumps(inner) == before
    assert model.named_estimators_.frozen.estimator is inner
    kinds = {expert.name: expert.kind for expert in model.experts_ if "frozen" in expert.name}
    assert kinds == {"frozen": "frozen"}  # no copies: it will stay as it is anyway


def test_frozen_experts_alone_are_weighted():
    good, bad = (FrozenEstimator(GaussianNB().fit(X, labels ^ turned)) for turned in (0, 1))
    model = stream(classifier(estimators=[("bad", bad), ("good", good)]), labels, first={"classes": [0, 1]})
    assert model.leader_ == "good"
    np.testing.assert_array_equal(model.predict(X), good.predict(X))


# Streaming through a scaler ---------------------------------------------------------------------------------------


def test_incremental_pipeline_is_its_steps_one_after_the_other():
    pipeline = stream(
        IncrementalPipeline([("shift", FunctionTransformer(np.negative)), ("scale", StandardScaler()), ("sgd", sgd())]),
        labels,
        first={"classes": [0, 1]},
    )
    scaler, model = StandardScaler(), sgd()
    for at in range(0, 400, BATCH):
        rows = slice(at, at + BATCH)
        scaler.partial_fit(-X[rows])
        model.partial_fit(scaler.transform(-X[rows]), labels[rows], classes=[0, 1])
    np.testing.assert_array_equal(pipeline.predict_proba(X), model.predict_proba(scaler.transform(-X)))


def test_incremental_pipeline_names_the_step_that_cannot_follow():
    pipeline = IncrementalPipeline([("code", OneHotEncoder()), ("sgd", sgd())])
    with pytest.raises(TypeError, match=r"step 'code' \(OneHotEncoder\) has no partial_fit"):
        pipeline.partial_fit(X, labels, classes=[0, 1])


def test_incremental_pipeline_offers_partial_fit_only_if_its_model_does():
    assert not hasattr(
        IncrementalPipeline([("scale", StandardScaler()), ("tree", DecisionTreeClassifier())]), "partial_fit"
    )


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")  # these rows are far from those it knows
def test_snapshot_of_a_pipeline_keeps_its_scaler():
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("bayes", GaussianNB())])
    model = classifier(estimators=[("scaled", pipeline)], memory=Snapshots(every=100, on_drift=False, merge=None))
    model.fit(X[:100], labels[:100])
    copies = [name for name in model.get_feature_names_out() if "@100" in name]
    assert len(copies) == 2

    def said():
        table = DataFrame(model.transform(X), columns=model.get_feature_names_out())
        return table[copies].to_numpy()

    before = said()
    stream(model, 1 - labels, start=100, X=1000.0 + 50.0 * X)
    np.testing.assert_array_equal(said(), before)
    assert model.named_estimators_.scaled["scale"].mean_.min() > 500.0
    assert not hasattr(pipeline["scale"], "mean_")


def test_window_of_a_regressor_streams_frames():
    window = stream(SlidingWindow(Ridge(), window=50, refit=0.0), numbers, X=frame)
    np.testing.assert_allclose(window.predict(frame), Ridge().fit(frame[-50:], numbers[-50:]).predict(frame))


class Mean(RegressorMixin, BaseEstimator):
    """The least that an expert must have."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_expert_with_the_bare_minimum_takes_part():
    model = stream(regressor(estimators=[("mean", Mean())], memory=None), numbers)
    np.testing.assert_allclose(model.predict(X), model.estimators_[0].estimator_.mean_)
