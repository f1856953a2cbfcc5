"""The estimators for River."""

import copy
import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

river = pytest.importorskip("river")

from river import (  # noqa: E402
    base,
    compose,
    datasets,
    drift,
    dummy,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
    preprocessing,
    stats,
    tree,
)
from support.named_models import named  # noqa: E402
from support.river_models import ReadsChance, ReadsNumber, rivers_checks  # noqa: E402

from ltm_sklearn import LongTermMemoryClassifier as SklearnClassifier  # noqa: E402
from ltm_sklearn import Snapshots  # noqa: E402
from ltm_sklearn.ensemble import ExpertWarning  # noqa: E402
from ltm_sklearn.experts import FixedShare, LongTermMemory  # noqa: E402
from ltm_sklearn.river import LongTermMemoryClassifier, LongTermMemoryRegressor  # noqa: E402
from ltm_sklearn.streams import linear_regressions, stagger  # noqa: E402


def linear(**parameters):
    return preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1, **parameters)


CONFIGURATIONS = [
    LongTermMemoryClassifier(**next(LongTermMemoryClassifier._unit_test_params())),
    LongTermMemoryClassifier(
        named([naive_bayes.GaussianNB(), preprocessing.StandardScaler() | linear_model.SoftmaxRegression()]),
        memory=Snapshots(every=50, max_size=2),
    ),
    LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), algorithm=FixedShare(), combine="leader", memory=None),
    LongTermMemoryRegressor(**next(LongTermMemoryRegressor._unit_test_params())),
    LongTermMemoryRegressor(
        named([linear(), linear(l2=0.1)]), loss="absolute_error", combine="sample", memory=Snapshots(every=30), seed=1
    ),
    LongTermMemoryRegressor(named([linear()]), algorithm=FixedShare(), memory=None, record=10),
]


@pytest.mark.parametrize(
    ("model", "check"),
    rivers_checks(CONFIGURATIONS),
)
def test_rivers_checks(model, check):
    check(model.clone())


def test_constant_experts_are_weighted_as_the_algorithm_does():
    model = LongTermMemoryClassifier(
        named([ReadsChance("a"), ReadsChance("b"), ReadsChance("c")]), loss="zero_one", memory=None
    )
    algorithm = LongTermMemory()
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, y = dict(zip("abc", rng.random(3).tolist(), strict=True)), bool(rng.integers(2))
        if hasattr(model, "_engine"):
            weights = algorithm.weights()
            np.testing.assert_allclose(model.predict_proba_one(x)[True], weights @ list(x.values()))
        model.learn_one(x, y)
        algorithm.update([float((chance > 0.5) != y) for chance in x.values()])
        np.testing.assert_allclose(model.weights_, algorithm.weights())


def test_each_return_of_a_concept_costs_less():
    """The peers' test: two constant experts, squared loss; River's EWA pays 498 in every second phase."""
    model = LongTermMemoryRegressor(named([ReadsNumber("a"), ReadsNumber("b")]), memory=None)
    x, costs = {"a": 0.0, "b": 1.0}, []
    for phase in range(6):
        y, cost = float(phase % 2), 0.0
        for _ in range(500):
            cost += (model.predict_one(x) - y) ** 2
            model.learn_one(x, y)
        costs.append(cost)
    assert max(costs) < 5.0
    assert costs[3] < costs[1]
    assert costs[5] <= costs[3] + 1e-9


def test_memory_improves_accuracy_on_recurring_concepts():
    stream = stagger(order="random", length=200, n_segments=8, noise=0.1, seed=0)
    alone = evaluate.progressive_val_score(stream, naive_bayes.GaussianNB(), metrics.Accuracy()).get()
    without, with_memory = (
        evaluate.progressive_val_score(
            stream, LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=memory), metrics.Accuracy()
        ).get()
        for memory in (None, "auto")
    )
    assert without == pytest.approx(alone, abs=0.005)
    assert with_memory > alone + 0.1


def test_regression_with_coefficients_that_return():
    stream = linear_regressions(2, length=300, n_segments=6, seed=0)
    alone = evaluate.progressive_val_score(stream, linear(), metrics.MAE()).get()
    ours = evaluate.progressive_val_score(stream, LongTermMemoryRegressor(named([linear()])), metrics.MAE()).get()
    assert ours < 0.9 * alone


def test_labels_of_any_kind_appear_as_they_come():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    assert model.predict_one({"a": 1.0}) is None
    for at in range(90):
        label = ["one", 2, (3,)][at % 3 if at > 30 else at % 2]
        model.learn_one({"a": float(at % 3 if at > 30 else at % 2) + 0.01 * at % 0.1}, label)
    assert set(model.predict_proba_one({"a": 0.0})) == {"one", 2, (3,)}
    assert [model.predict_one({"a": value}) for value in (0.05, 1.05, 2.05)] == ["one", 2, (3,)]


def test_models_that_only_know_labels():
    model = LongTermMemoryClassifier(named([dummy.PriorClassifier(), compose.Pipeline(linear_model.Perceptron())]))
    accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    assert accuracy.get() > 0.6


def test_features_may_appear_and_vanish():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=Snapshots(every=20))
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for at in range(100):
            x = {name: float(rng.normal()) for name in "abcd" if rng.random() < 0.7}
            model.predict_proba_one(x)
            model.learn_one(x, bool(at % 2))
    assert model.n_rounds_ == 100


def test_given_models_stay_as_they_are_and_clones_are_untrained():
    given = naive_bayes.GaussianNB()
    given.learn_one({"a": 1.0}, True)
    before = pickle.dumps(given)
    model = LongTermMemoryClassifier(named([given, naive_bayes.GaussianNB()]))
    assert [name for name, *_ in (model.learn_one({"a": 2.0}, False), model)[1].experts_][:2] == [
        "GaussianNB-0",
        "GaussianNB-1",
    ]
    assert pickle.dumps(given) == before
    trained, fresh = model.named_estimators_["GaussianNB-0"], model.named_estimators_["GaussianNB-1"]
    assert set(trained.class_counts) == {True, False}  # what it knew, and what it has learned
    assert set(fresh.class_counts) == {False}
    assert not model.clone()[0].class_counts
    assert model.clone({"combine": "leader"}).combine == "leader"


def test_state_pickles_and_goes_on_to_the_same_numbers():
    model = LongTermMemoryRegressor(named([linear(), linear(l2=0.1)]), memory=Snapshots(every=25))
    rows = list(datasets.TrumpApproval().take(200))
    for x, y in rows[:100]:
        model.learn_one(x, y)
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model]
    for each in copies:
        for x, y in rows[100:]:
            each.learn_one(x, y)
    said = [[each.predict_one(x) for x, _ in rows[::10]] for each in copies]
    assert said[0] == said[1] == said[2]


def test_it_is_an_expert_among_others_and_a_step_of_a_pipeline():
    inner = LongTermMemoryClassifier(named([naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()]))
    model = preprocessing.StandardScaler() | LongTermMemoryClassifier(named([inner, linear_model.LogisticRegression()]))
    accuracy = evaluate.progressive_val_score(datasets.Phishing().take(400), model, metrics.Accuracy())
    assert accuracy.get() > 0.8


def test_detector_of_river_goes_into_the_memory():
    model = LongTermMemoryClassifier(
        named([naive_bayes.GaussianNB()]), memory=Snapshots(every=None, on_drift=drift.ADWIN())
    )
    for x, y in stagger(length=400, n_segments=4, seed=0):
        model.learn_one(x, y)
    assert any(expert.kind == "snapshot" for expert in model.experts_)


class Weighs(base.Regressor):
    """The mean of the targets, with weights."""

    def __init__(self):
        self.mean = stats.Mean()

    def learn_one(self, x, y, w=1.0):
        self.mean.update(y, w)

    def predict_one(self, x):
        return self.mean.get()


def test_weights_go_to_models_that_take_them():
    model = LongTermMemoryRegressor(named([Weighs(), ReadsNumber()]), memory=None)
    model.learn_one({"a": 0.0}, 1.0, w=3.0)
    model.learn_one({"a": 0.0}, 5.0, w=1.0)
    assert model.named_estimators_["Weighs"].mean.get() == 2.0
    before = model.n_rounds_
    model.learn_one({"a": 0.0}, 1e9, w=0.0)  # as good as none
    assert model.n_rounds_ == before
    with pytest.raises(ValueError, match="the weight is -1"):
        model.learn_one({"a": 0.0}, 1.0, w=-1.0)


def test_predictions_are_those_of_the_scikit_learn_estimator():
    """Naive Bayes of River and of scikit-learn are the same model: so are the ensembles of them, but for rounding."""
    from sklearn.naive_bayes import GaussianNB

    ours = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=None)
    theirs = SklearnClassifier([("nb", GaussianNB(var_smoothing=0.0))], memory=None)
    rng = np.random.default_rng(0)
    agree = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)  # with few rows scikit-learn's has no variance to go by
        for at in range(200):
            X = rng.normal(size=(1, 2))
            y = int(X[0, 0] + 0.5 * rng.normal() > 0)
            if at > 50:
                agree.append(ours.predict_one({"a": X[0, 0], "b": X[0, 1]}) == theirs.predict(X)[0])
            ours.learn_one({"a": X[0, 0], "b": X[0, 1]}, y)
            theirs.partial_fit(X, [y], classes=[0, 1])
    assert np.mean(agree) > 0.97


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": []}, "At least 1 models"),
        ({"models": {"three": 3}}, "model 'three' is 3"),
        ({"models": [naive_bayes.GaussianNB()]}, r"write models=\[\(\"GaussianNB\", GaussianNB\(...\)\)\]"),
        ({"models": 2 * [("nb", naive_bayes.GaussianNB())]}, r"unique: \['nb'\]"),
        ({"models": {"nb@3": naive_bayes.GaussianNB()}}, "must not contain @"),
        ({"models": 3}, "models=3 must be a list"),
        ({"combine": "all"}, "combine"),
        ({"on_error": "ignore"}, "on_error"),
        ({"memory": "long"}, "memory='long'"),
        ({"algorithm": "hedges"}, "algorithm='hedges' .* The names are ada_normal_hedge,"),
        ({"record": 0}, "record=0"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        LongTermMemoryClassifier(**{"models": {"nb": naive_bayes.GaussianNB()}, **arguments})


@pytest.mark.parametrize("label", [None, float("nan")])
def test_missing_label_is_named_and_changes_nothing(label):
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    with pytest.raises(ValueError, match="the label is"):
        model.learn_one({"a": 1.0}, label)
    assert model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 1.0}, 1)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="the label is"):
        model.learn_one({"a": 1.0}, label)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("target", [None, float("nan"), float("inf")])
def test_target_that_is_no_number_is_named_and_changes_nothing(target):
    model = LongTermMemoryRegressor(named([linear()]))
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="the target is"):
        model.learn_one({"a": 1.0}, target)
    assert pickle.dumps(model) == before


def test_without_river_the_message_names_the_extra():
    code = """
        import sys
        sys.modules["river"] = None
        import ltm_sklearn, ltm_sklearn.streams
        try:
            import ltm_sklearn.river
        except ImportError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert "pip install 'ltm_sklearn[river]'" in done.stdout


def test_model_that_does_not_pickle_is_remembered_all_the_same():
    rule = compose.FuncTransformer(lambda x: {"a": x["size"]}) | naive_bayes.GaussianNB()
    model = LongTermMemoryClassifier(named([rule]), memory=Snapshots(every=20))
    for x, y in stagger(length=50, n_segments=4, seed=0):
        model.learn_one(x, y)
    assert len([expert for expert in model.experts_ if expert.kind == "snapshot"]) > 1


def test_models_keep_their_names_and_container_in_clones():
    models = {"nb": naive_bayes.GaussianNB(), "line": linear_model.LogisticRegression()}
    for given in (models, list(models.items())):
        model = LongTermMemoryClassifier(given)
        model.learn_one({"a": 1.0}, True)
        assert [expert.name for expert in model.experts_ if expert.kind == "live"] == ["nb", "line"]
        for each in (model, model.clone()):
            assert type(each.models) is type(given)
            assert list(dict(each.models)) == ["nb", "line"]
        assert model.clone({"models": [("one", naive_bayes.GaussianNB())]}).models[0][0] == "one"
