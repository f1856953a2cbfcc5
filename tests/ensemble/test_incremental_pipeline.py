"""``IncrementalPipeline``: a pipeline with ``partial_fit``."""

import numpy as np
import pytest
from pandas import DataFrame
from sklearn.base import clone
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, PowerTransformer, StandardScaler
from support.numbered_rows import numbered
from support.small_ensembles import X, classifier, labels, stream

from ltm_sklearn import LongTermMemoryRegressor, Snapshots
from ltm_sklearn.ensemble import IncrementalPipeline, SlidingWindow


def test_pipeline_learns_as_its_steps_would_one_by_one():
    rng = np.random.default_rng(0)
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGDRegressor(random_state=0))])
    scale, sgd = StandardScaler(), SGDRegressor(random_state=0)
    for _ in range(5):
        X = 1e3 * rng.normal(size=(20, 3))
        y = X[:, 0]
        pipeline.partial_fit(X, y)
        sgd.partial_fit(scale.partial_fit(X).transform(X), y)
    np.testing.assert_array_equal(pipeline.predict(X), sgd.predict(scale.transform(X)))


def test_steps_that_need_no_fitting_are_passed_through():
    steps = [
        ("norm", Normalizer()),
        ("log", FunctionTransformer(np.abs)),
        ("none", "passthrough"),
        ("minmax", MinMaxScaler()),
    ]
    pipeline = IncrementalPipeline([*steps, ("sgd", SGDClassifier(random_state=0))])
    X = np.random.default_rng(0).normal(size=(50, 2))
    pipeline.partial_fit(X, X[:, 0] > 0, classes=[False, True], sample_weight=np.ones(50))
    assert len(pipeline.predict(X)) == 50


def test_step_without_partial_fit_is_named():
    pipeline = IncrementalPipeline(
        [("scale", StandardScaler()), ("power", PowerTransformer()), ("sgd", SGDRegressor(random_state=0))]
    )
    with pytest.raises(TypeError, match=r"step 'power' \(PowerTransformer\) has no partial_fit"):
        pipeline.partial_fit(*numbered(0, 5))
    assert not hasattr(pipeline["scale"], "n_samples_seen_")


def test_pipeline_without_partial_fit_gets_a_window():
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("ridge", Ridge())])
    assert not hasattr(pipeline, "partial_fit")
    for last in (pipeline, make_pipeline(StandardScaler(), Ridge())):
        model = LongTermMemoryRegressor([("piped", last)]).partial_fit(*numbered(0, 20))
        assert isinstance(model.named_estimators_.piped, SlidingWindow)


@pytest.mark.parametrize(
    ("rows", "message", "step"),
    [(np.zeros((2, 2, 2)), "array with dim 3", "scale"), (np.ones((2, 2)), "y contains NaN", "sgd")],
)
def test_step_that_refuses_the_rows_is_named(rows, message, step):
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGDRegressor(random_state=0))])
    with pytest.raises(ValueError, match=message) as caught:
        pipeline.partial_fit(rows, [1.0, np.nan])
    assert caught.value.__notes__ == [f"raised by step {step!r} of the pipeline"]


def test_pipeline_is_still_a_pipeline():
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGDRegressor(random_state=0))])
    assert isinstance(clone(pipeline).set_params(sgd__alpha=0.5), Pipeline)
    assert len(pipeline.fit(*numbered(0, 30)).predict(numbered(0, 3)[0])) == 3


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")  # these rows are far from those it knows
def test_snapshot_of_a_pipeline_keeps_its_scaler():
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("bayes", GaussianNB())])
    model = classifier(estimators=[("scaled", pipeline)], memory=Snapshots(every=100, on_drift=False, merge=None))
    model.fit(X[:100], labels[:100])
    copies = [name for name in model.get_feature_names_out() if "@100" in name]
    assert len(copies) == 2

    def copies_predict():
        table = DataFrame(model.transform(X), columns=model.get_feature_names_out())
        return table[copies].to_numpy()

    before = copies_predict()
    stream(model, 1 - labels, start=100, X=1000.0 + 50.0 * X)
    np.testing.assert_array_equal(copies_predict(), before)
    assert model.named_estimators_.scaled["scale"].mean_.min() > 500.0
    assert not hasattr(pipeline["scale"], "mean_")
