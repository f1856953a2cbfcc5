"""Pickles, clones, records and displays of ensembles with bandit feedback."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from support.bandit_experts import (
    CALLS,
    CLASSES,
    Keen,
    RecordingBandit,
    asked,
    classifier,
    random_rows,
    regressor,
    updates_of,
)
from support.stream_experts import (
    assert_same_outcome,
)

from ltm_sklearn.evaluation import prequential
from ltm_sklearn.evaluation._model_adapters import StreamRows, adapter_of


@pytest.mark.parametrize("make", [classifier, regressor])
def test_pickled_ensemble_continues_with_the_same_numbers(make):
    model = make(n_queries=2, algorithm=Keen(), record=10)
    for seed in range(20):
        X, y = random_rows(3, seed=seed)
        model.partial_fit(X, y, **({"classes": CLASSES} if make is classifier else {}))
    other = pickle.loads(pickle.dumps(model))
    model.issue(X, "abc"), other.issue(X, "abc")
    for seed in range(20, 40):
        X, y = random_rows(3, seed=seed)
        assert_same_outcome(model.partial_fit(X, y), other.partial_fit(X, y), X)
    assert_same_outcome(model.learn("cab", y), other.learn("cab", y), X)


def test_draws_depend_on_the_seed_only():
    def arms(seed):
        model = classifier(algorithm=RecordingBandit(), random_state=seed)
        for at in range(30):
            model.partial_fit(*random_rows(1, seed=at), CLASSES)
        return [arms for arms, _, _ in updates_of(model)]

    assert arms(1) == arms(1)
    assert arms(1) != arms(2)
    assert arms(None) != arms(None)


def test_parameters_clone_and_html():
    model = classifier(experts=[("bayes", GaussianNB())], algorithm=Keen(), n_queries=1)
    params = model.get_params()
    assert (params["feedback"], params["n_queries"], params["algorithm__rate"]) == ("bandit", 1, 0.3)
    model.fit(*random_rows(50))
    fresh = clone(model)
    assert not hasattr(fresh, "_engine")
    assert fresh.get_params()["feedback"] == "bandit"
    assert not hasattr(model.algorithm, "n_arms_")  # a copy of it runs
    assert "bayes" in model._repr_html_()


def test_losses_are_means_over_the_rounds_with_a_query():
    model = classifier(algorithm=RecordingBandit([1, 2, 3, 4]), record=100)
    asked_in = np.zeros(4)
    wrong = np.zeros(4)
    for seed in range(80):
        X, y = random_rows(2, seed=seed)
        model.partial_fit(X, y, CLASSES)
        (arm,) = updates_of(model)[-1][0]
        asked_in[arm] += 1
        wrong[arm] += np.mean((X[:, arm] > 0.5) != y)
        assert list(model.history_[-1].losses) == [f"column{arm}"]
    np.testing.assert_allclose(model.loss_, wrong / asked_in)
    np.testing.assert_allclose(model.weights_, [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose([expert.long_term_weight for expert in model.experts_], [0.1, 0.2, 0.3, 0.4])
    assert model.leader_ == "column3"
    run_record = model.run_record()
    assert (np.isnan(run_record.losses).sum(axis=1) == 3).all()


def test_long_term_weights_are_means_over_all_rounds():
    model, weights = classifier(algorithm=Keen()), []
    for seed in range(40):
        model.partial_fit(*random_rows(3, seed=seed), CLASSES)
        weights.append(model.weights_)
    assert np.ptp(weights, axis=0).min() > 0.1
    np.testing.assert_allclose([expert.long_term_weight for expert in model.experts_], np.mean(weights, axis=0))


@pytest.mark.parametrize("n_queries", [2, 4])
def test_plain_mean_is_recorded_if_all_experts_were_queried(n_queries):
    model = classifier(n_queries=n_queries, record=10)
    for seed in range(30):
        model.partial_fit(*random_rows(5, seed=seed), CLASSES)
    known = n_queries == 4
    assert [np.isfinite(record.uniform) for record in model.history_] == [known] * len(model.history_)
    run_record = model.run_record().thinned(2)
    assert (run_record.uniform is not None) is run_record.all_were_queried is known


@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_recorded_loss_is_that_of_the_issued_prediction(rounds):
    model = classifier(algorithm=Keen(), rounds=rounds, record=10).partial_fit(*random_rows(30), CLASSES)
    X, y = random_rows(30, seed=1)
    said = model.predict(X)
    model.partial_fit(X, y)
    assert model.history_[-1].loss == pytest.approx(np.mean(said != y))


@pytest.mark.parametrize("combine", ["average", "sample"])
def test_mixture_of_selected_experts_is_not_recomputed_by_row(combine):
    rows, _ = random_rows(60)
    model = regressor(algorithm=Keen(), rounds="row", n_queries=2, combine=combine, loss="absolute_error", record=10)
    model.partial_fit(rows[:30], rows[:30, 1])
    said = model.predict(rows[30:])
    model.partial_fit(rows[30:], rows[30:, 1])
    assert model.history_[-1].loss == pytest.approx(np.abs(said - rows[30:, 1]).mean(), abs=1e-12)


def test_displays_of_a_bandit_ensemble():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from ltm_sklearn import display

    model = regressor(record=50).fit(random_rows(500)[0], random_rows(500)[0][:, 0])
    for kind in (display.WeightStackDisplay, display.ResidualDisplay, display.AverageLossDisplay):
        assert kind.from_estimator(model).ax_ is not None
    assert "plain mean" not in display.CumulativeLossDisplay.from_estimator(model).lines_
    every_row = regressor(record=50, batch_size=1).fit(random_rows(50)[0], random_rows(50)[0][:, 0])
    with pytest.raises(ValueError, match="not all experts were asked"):
        display.MemoryCurveDisplay.from_estimator(every_row)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("n_queries", [1, 2])
def test_prequential_queries_once_per_row_and_scores_one_expert(delay, n_queries):
    X, y = random_rows(120)
    CALLS.clear()
    model = classifier(n_queries=n_queries)
    result = prequential({"bandit": model}, (X, y), delay=delay, classes=CLASSES, probabilities=True)
    assert sum(CALLS.values()) <= n_queries * 120
    if n_queries == 1:  # then a label is wrong where its probability was less than a half, as both are of one expert
        scores = result.scores["bandit"]
        assert scores["accuracy"] > 0.0
        assert _wrong_by_chances(delay) == (0, 115 - delay)


def _wrong_by_chances(delay):
    """Rows in which labels and probabilities do not go together, and rows that were looked at."""
    X, y = random_rows(120)
    adapter = adapter_of("bandit", classifier().partial_fit(X[:5], y[:5], CLASSES), delay, 1)
    apart = n_rows = 0
    for at in range(5, 120 - delay):
        rows = StreamRows(X[at : at + 1], at, 1, None)
        (label,) = adapter.predict(rows)
        (chance,) = adapter.true_label_probabilities(rows, [1])
        apart += (chance > 0.5) != (label == 1)
        n_rows += 1
    return apart, n_rows


def test_issue_proba_and_learn_use_the_same_expert():
    model = classifier(algorithm=RecordingBandit([1, 2, 3, 4])).partial_fit(*random_rows(2), CLASSES)
    for at in range(20):
        X, y = random_rows(1, seed=at)
        said, calls = asked(model.issue_proba, X, [at])
        (arm,) = calls
        np.testing.assert_allclose(said, [[1.0 - X[0, arm], X[0, arm]]])
        model.learn([at], y)
        assert updates_of(model)[-1][:2] == ((arm,), (float((X[0, arm] > 0.5) != y[0]),))
