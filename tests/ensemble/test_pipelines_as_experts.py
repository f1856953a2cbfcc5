"""Incremental pipelines and windows as experts."""

import numpy as np
import pytest
from pandas import DataFrame
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support.small_ensembles import BATCH, X, classifier, frame, labels, numbers, sgd, stream

from ltm_sklearn import Snapshots
from ltm_sklearn.ensemble import IncrementalPipeline, SlidingWindow

pytestmark = pytest.mark.fast_cases(1)


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


def test_pipeline_has_partial_fit_only_if_its_model_has():
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
