"""The estimators for River where something is unusual: models, rows, labels that never come."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("river")

from river import (
    base,
    compose,
    feature_extraction,
    linear_model,
    metrics,
    multiclass,
    naive_bayes,
    preprocessing,
    tree,
)
from sklearn.linear_model import SGDClassifier, SGDRegressor
from support.named_models import named
from support.river_models import ReadsChance, ReadsNumber

from ltm_sklearn import LongTermMemoryClassifier as SklearnClassifier
from ltm_sklearn import Snapshots
from ltm_sklearn.ensemble import FromRiverClassifier
from ltm_sklearn.river import (
    ExpertSelectionRegressor,
    FromSklearnClassifier,
    LongTermMemoryClassifier,
    LongTermMemoryRegressor,
)
from ltm_sklearn.streams import sea


def frame_of_signs(n_rows=50, seed=0):
    X = pd.DataFrame(np.random.default_rng(seed).normal(size=(n_rows, 2)), columns=["a", "b"])
    return X, pd.Series(np.where(X.a > 0, "p", "q"))


def scaled_sgd():
    return preprocessing.StandardScaler() | FromSklearnClassifier(SGDClassifier(loss="log_loss", random_state=0))


# Frames ---------------------------------------------------------------------------------------------------------------


def test_pipeline_of_an_adapter_learns_and_predicts_frames():
    model = LongTermMemoryClassifier(named([scaled_sgd(), naive_bayes.GaussianNB()]), memory=None)
    alone = LongTermMemoryClassifier(named([scaled_sgd()]), memory=None)
    for seed in range(5):
        X, y = frame_of_signs(seed=seed)
        model.learn_many(X, y)
        alone.learn_many(X, y)
    assert model.loss_[0] < 0.3
    X, y = frame_of_signs(seed=9)
    assert (alone.predict_many(X) == y).mean() > 0.9


def test_frame_with_a_weightless_row_is_learned_in_one_call():
    X, y = frame_of_signs(5)
    model = LongTermMemoryClassifier(named([FromSklearnClassifier(SGDClassifier(loss="log_loss"))]), memory=None)
    model.learn_many(X, y, w=[1.0, 1.0, 1.0, 1.0, 0.0])
    adapter = model.estimators_[0]
    assert adapter._model is not None
    assert not adapter._waiting
    assert model.n_samples_seen_ == 4


# Weights --------------------------------------------------------------------------------------------------------------


def test_weights_reach_models_inside_wrappers():
    alone, inside, third = (multiclass.OneVsRestClassifier(linear_model.LogisticRegression()) for _ in range(3))
    model = LongTermMemoryClassifier(named([inside]), memory=None)
    for each in (alone, model):
        each.learn_one({"a": 1.0}, "x")
        each.learn_one({"a": 2.0}, "y", w=50.0)
    assert model.predict_proba_one({"a": 1.0}) == pytest.approx(alone.predict_proba_one({"a": 1.0}))
    X = np.array([[1.0], [2.0]] * 5)
    as_sklearn = SklearnClassifier([("ovr", third)], memory=None)
    as_sklearn.partial_fit(X, ["x", "y"] * 5, classes=["x", "y"], sample_weight=[1.0, 2.0] * 5)
    assert as_sklearn.n_rounds_ == 1


# Models that know something already ---------------------------------------------------------------------------------


def test_trained_models_predict_at_once():
    trained = linear_model.LinearRegression()
    for _ in range(200):
        trained.learn_one({"a": 1.0}, 5.0)
    expected = trained.predict_one({"a": 1.0})
    model = LongTermMemoryRegressor(named([trained]))
    assert model.predict_one({"a": 1.0}) == pytest.approx(expected)
    assert model.predict_one({"a": 1.0}, id=1) == pytest.approx(expected)
    assert model.predict_many(pd.DataFrame({"a": [1.0]})).tolist() == pytest.approx([expected])


def test_labels_of_trained_models_are_known_at_once():
    trained = naive_bayes.GaussianNB()
    X, y = frame_of_signs()
    for x, label in zip(X.to_dict("records"), y, strict=True):
        trained.learn_one(x, label)
    model = LongTermMemoryClassifier(named([trained, naive_bayes.GaussianNB()]))
    assert model.predict_one({"a": 3.0, "b": 0.0}) == "p"
    assert model.predict_proba_one({"a": 3.0, "b": 0.0}, id=7)["p"] > 0.9
    model.learn_one({"a": 3.0, "b": 0.0}, "p", id=7)
    assert model.loss_[0] == 0.0


# Rows -----------------------------------------------------------------------------------------------------------------


def test_rows_may_be_text():
    def bag():
        return feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()

    model = LongTermMemoryClassifier(named([bag()]), memory=Snapshots(every=20, on_drift=False, merge=None))
    right = []
    for at in range(120):
        row = "free money now" if at % 2 else "lunch at noon"
        right.append(model.predict_one(row) == bool(at % 2))
        model.learn_one(row, bool(at % 2))
    assert np.mean(right[5:]) == 1.0
    assert sum(expert.kind == "snapshot" for expert in model.experts_) == 6


def test_values_that_are_equal_are_not_the_same():
    model = LongTermMemoryClassifier(
        named([compose.Select("a") | preprocessing.OneHotEncoder() | naive_bayes.BernoulliNB()]), memory=None
    )
    for at in range(40):
        model.learn_one({"a": True if at % 2 else 1}, "tf"[at % 2])
    assert model.predict_one({"a": 1}) == "t"
    assert model.predict_one({"a": True}) == "f"


def test_first_row_that_no_expert_can_learn_is_an_error():
    for models in ([naive_bayes.GaussianNB()], [naive_bayes.GaussianNB(), naive_bayes.GaussianNB()]):
        model = LongTermMemoryClassifier(named(models))
        with pytest.raises(TypeError):
            model.learn_one({"a": "text"}, "x")
        assert model.n_rounds_ == 0
        assert model.predict_one({"a": 1.0}) is None
        model.learn_one({"a": 1.0}, "y")
        assert model.predict_one({"a": 1.0}) == "y"


@pytest.mark.parametrize("n_before", [0, 5])
def test_bad_targets_are_the_same_error_on_every_path(n_before):
    classifier = LongTermMemoryClassifier(named([ReadsChance()]), memory=None)
    regressor = LongTermMemoryRegressor(named([ReadsNumber()]), memory=None)
    for at in range(n_before):
        classifier.learn_one({"a": 0.5}, True)
        regressor.learn_one({"a": 0.5}, float(at))
    for model, target in ((classifier, ["x"]), (regressor, 10**400)):
        with pytest.raises(ValueError, match=r"the (label|target) is"):
            model.learn_one({"a": 0.5}, target)


def test_words_that_mean_nothing_are_errors():
    model = LongTermMemoryClassifier(named([ReadsChance()]))
    with pytest.raises(TypeError):
        model.predict_one({"a": 0.5}, ids=5)
    with pytest.raises(TypeError):
        model.predict_proba_one({"a": 0.5}, ids=5)


def test_shown_with_class_and_parameters():
    text = repr(LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), combine="leader"))
    assert text.startswith("LongTermMemoryClassifier (")
    assert 'combine="leader"' in text
    assert "GaussianNB" in text


# Labels that come late, or never -------------------------------------------------------------------------------------


def test_rows_whose_labels_never_come_keep_no_models_alive():
    model = LongTermMemoryClassifier(
        named([tree.HoeffdingTreeClassifier(grace_period=20)]), memory=Snapshots(every=50, max_size=3, merge=None)
    )
    sizes = []
    for at, (x, y) in enumerate(sea(length=200, n_segments=10, seed=0)):
        if at % 20 == 0:
            model.predict_one(x, id=at)
        else:
            model.learn_one(x, y)
        if at in (999, 1999):
            held = {expert for issue in model._pending._waiting.values() for expert in issue.issued.experts}
            sizes.append(sum(expert.model is not None for expert in held))
    assert len(model._pending) == 100
    assert sizes[1] <= sizes[0] <= len(model.experts_)


def test_restarted_model_is_not_scored_with_older_predictions():
    model = LongTermMemoryRegressor(
        named([ReadsNumber("a"), ReadsNumber("b")]), memory=Snapshots(every=20, on_drift=False, merge=None)
    )
    rng = np.random.default_rng(0)

    def row():
        return dict(zip("ab", rng.random(2).tolist(), strict=True))

    for _ in range(10):
        model.learn_one(row(), 1.0)
    x = row()
    model.predict_one(x, id="late")
    for _ in range(10):
        model.learn_one(row(), 1.0)
    young = [at for at, expert in enumerate(model.experts_) if expert.kind == "restarted"]
    assert [model.experts_[at].born for at in young] == [20, 20]
    before = model._engine.pool.stats.rounds[young].copy()
    model.learn_one(x, 1.0, id="late")
    np.testing.assert_array_equal(model._engine.pool.stats.rounds[young], before)


# Adapters and selection ---------------------------------------------------------------------------------------------


def test_adapter_is_unchanged_if_its_first_batch_fails():
    model = FromRiverClassifier(linear_model.LogisticRegression())
    bad, good = pd.DataFrame({"a": ["x", "y"] * 3}), pd.DataFrame({"b": [1.0, 2.0] * 3})
    with pytest.raises(TypeError):
        model.partial_fit(bad, [0, 1] * 3, classes=[0, 1])
    assert not model.__sklearn_is_fitted__()
    model.partial_fit(good, [0, 1] * 3, classes=[0, 1])
    before, weights = model.model_, copy.deepcopy(model.model_.weights)
    with pytest.raises(TypeError):
        model.fit(bad, [0, 1] * 3)
    assert model.model_ is before
    assert dict(model.model_.weights) == dict(weights)
    assert model.feature_names_in_.tolist() == ["b"]


def test_classes_of_several_kinds_are_refused():
    with pytest.raises(ValueError, match="strings or numbers, not both"):
        FromSklearnClassifier(SGDClassifier(), classes=[1, "a"])


def test_estimators_of_scikit_learn_can_be_selected():
    model = ExpertSelectionRegressor([SGDRegressor(random_state=0), linear_model.LinearRegression()])
    for at in range(100):
        model.learn_one({"a": at % 7}, 2.0 * (at % 7))
    assert model.clone().weights.tolist() == [0.5, 0.5]
    assert np.isfinite(model.predict_one({"a": 3}))


def test_rows_without_columns_are_refused():
    model = LongTermMemoryRegressor(named([linear_model.LinearRegression()]))
    for ask in (model.predict_many, LongTermMemoryClassifier(named([naive_bayes.GaussianNB()])).predict_proba_many):
        with pytest.raises(ValueError, match="the frame X has 3 rows and no columns"):
            ask(pd.DataFrame(index=range(3)))


def test_metric_that_cannot_go_back_is_taken_all_the_same():
    model = ExpertSelectionRegressor([ReadsNumber("a"), ReadsNumber("b")], metric=metrics.R2())
    for at in range(5):
        model.learn_one({"a": 1.0 * at, "b": 0.0}, 1.0 * at)
    assert np.isfinite(model.weights).all()


def test_selector_whose_model_fails_has_the_weights_that_it_had():
    class Picky(base.Regressor):
        def predict_one(self, x):
            return 0.0

        def learn_one(self, x, y):
            if "bad" in x:
                raise RuntimeError("no")

    model = ExpertSelectionRegressor([ReadsNumber("a"), Picky()])
    model.learn_one({"a": 1.0}, 1.0)
    before = model.weights.copy()
    with pytest.raises(RuntimeError) as caught:
        model.learn_one({"a": 1.0, "bad": 1.0}, 1.0)
    assert caught.value.__notes__ == ["raised by the model Picky, given the row {'a': 1.0, 'bad': 1.0}"]
    np.testing.assert_array_equal(model.weights, before)


def test_model_without_a_finite_prediction_is_not_selected():
    model = ExpertSelectionRegressor([ReadsNumber("a"), ReadsNumber("b")])
    for _ in range(50):
        model.learn_one({"a": 1.0, "b": 0.0}, 1.0)
    model.learn_one({"a": np.inf, "b": 0.0}, 1.0)  # it has nearly all the weight
    assert model.predict_one({"a": np.inf, "b": 0.0}) == 0.0
    model.learn_one({"a": 1.0, "b": 0.0}, 1.0)
    assert model.predict_one({"a": 1.0, "b": 0.0}) == 1.0


def test_metric_of_one_row_is_not_that_of_the_rows_before():
    model = ExpertSelectionRegressor([ReadsNumber("a"), ReadsNumber("b")], metric=metrics.RMSE())
    other = ExpertSelectionRegressor([ReadsNumber("a"), ReadsNumber("b")], metric=metrics.MAE())
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b, y = rng.normal(size=3).tolist()
        model.learn_one({"a": a, "b": b}, y)  # of one row, the root of the mean square is the absolute error
        other.learn_one({"a": a, "b": b}, y)
    np.testing.assert_allclose(model.weights, other.weights, atol=1e-9)
    assert pickle.loads(pickle.dumps(model)).weights.tolist() == model.weights.tolist()
