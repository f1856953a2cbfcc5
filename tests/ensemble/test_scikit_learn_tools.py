"""Pipelines, searches, callbacks, HTML and parallel backends of scikit-learn."""

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, learning_curve
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr
from support.small_ensembles import (
    Listens,
    X,
    assert_same,
    both,
    classifier,
    frame,
    labels,
    numbers,
    regressor,
    stream,
    weights,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.experts import FixedShare

pytestmark = pytest.mark.fast_cases(1)


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


def test_callbacks_end_even_if_fit_fails():
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
