"""Parameters: validation, get_params, set_params, clone."""

import copy
import pickle

import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support.small_ensembles import (
    KnowsSome,
    X,
    asks,
    assert_same,
    both,
    classifier,
    labels,
    numbers,
    regressor,
    sgd,
    stream,
    weights,
)

from ltm_sklearn import Snapshots
from ltm_sklearn.ensemble import IncrementalPipeline, SlidingWindow
from ltm_sklearn.experts import FixedShare, Hedge, LongTermMemory

pytestmark = pytest.mark.fast_cases(1)


BAD_PARAMETERS = {
    "algorithm-name": ({"algorithm": "hedges"}, "algorithm='hedges' .* fixed_share, hedge, long_term_memory"),
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
    "n_jobs-huge": ({"n_jobs": 2**63}, "n_jobs=9223372036854775808 must be None or a nonzero integer"),
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
def test_invalid_parameters_are_named_and_nothing_is_started(parameters, match):
    model = classifier(**parameters)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=match):
        model.fit(X, labels)
    with pytest.raises(ValueError, match=match):
        model.partial_fit(X, labels, classes=[0, 1])
    assert vars(model) == before


def test_fit_with_an_invalid_parameter_changes_nothing():
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


def test_nested_parameters_of_experts_memory_and_algorithm():
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


@both
def test_default_memory_has_parameters_as_soon_as_one_is_set(make, y, first):
    model = make(memory="auto").set_params(memory__every=50)
    assert repr(model.memory) == "Snapshots(every=50)"
    assert make(memory="auto").memory == "auto"


def as_dict(model):
    return model.set_params(estimators=dict(model.estimators))


@both
def test_estimators_may_be_a_dictionary(make, y, first):
    model = as_dict(make())
    assert_same(model.fit(X, y), make().fit(X, y))
    assert model.get_params()["sgd__alpha"] == make().get_params()["sgd__alpha"]
    assert model.get_params()["sgd"] is model.estimators["sgd"]


def test_parameters_and_entries_of_a_dictionary_can_be_set():
    model = as_dict(classifier())
    given = model.estimators
    model.set_params(sgd__alpha=0.5, tree="drop")
    assert (model.estimators["sgd"].alpha, model.estimators["tree"]) == (0.5, "drop")
    assert given["tree"] != "drop"  # the dictionary that was given is not changed
    assert [expert.name for expert in model.fit(X, labels).experts_ if expert.kind == "live"] == ["bayes", "sgd"]
    with pytest.raises(ValueError, match="Invalid parameter 'forest'"):
        model.set_params(forest="drop")


def test_clone_of_a_dictionary_is_untrained():
    model = as_dict(classifier()).fit(X, labels)
    copied = clone(model)
    assert list(copied.estimators) == list(model.estimators)
    assert copied.estimators["sgd"] is not model.estimators["sgd"]
    assert not hasattr(copied, "classes_")


def test_invalid_dictionaries_are_named():
    for estimators, message in [({}, "non-empty"), ({1: GaussianNB()}, "need strings"), ({"a@1": GaussianNB()}, "a@1")]:
        with pytest.raises(ValueError, match=message):
            classifier(estimators=estimators).fit(X, labels)
