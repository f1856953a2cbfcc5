"""Prequential runs: scores, forms of streams, delayed labels, errors."""

import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss, mean_absolute_error, root_mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.echo_models import EchoRiver, EchoSklearn, noisy_labels, pairs_of
from support.named_models import named

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.streams import Batches, linear_regressions, sea, stagger

# Scores -----------------------------------------------------------------------------------------------------------


def test_accuracy_and_kappa_equal_those_of_sklearn():
    X, y = noisy_labels()
    scores = prequential({name: EchoRiver(name) for name in "abc"}, pairs_of(X, y)).scores
    for column, name in enumerate("abc"):
        assert scores[name]["rows"] == 200
        assert scores[name]["accuracy"] == pytest.approx(accuracy_score(y, X[:, column]))
        assert scores[name]["kappa"] == pytest.approx(cohen_kappa_score(y, X[:, column]))


def test_kappa_m_compares_with_the_most_frequent_class_so_far():
    y = np.array([0, 0, 1, 1, 1, 1, 2])  # most frequent: 0 in rows 1 to 4 (the older in a tie), 1 in rows 5 and 6
    stream = pairs_of(np.array([[0]] * 7), y)
    scores = prequential({"m": EchoRiver()}, stream).scores["m"]
    assert scores["kappa_m"] == pytest.approx((2 / 7 - 2 / 6) / (1 - 2 / 6))
    scores = prequential({"m": EchoRiver()}, stream, delay=2).scores["m"]  # 0 in rows 3 to 6
    assert scores["kappa_m"] == pytest.approx(2 / 7)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_sklearn_classifier_scores_as_in_a_loop(batch_size):
    stream = sea(length=100, n_segments=3, noise=0.1, seed=0)
    model, other = (SGDClassifier(loss="log_loss", random_state=0) for _ in range(2))
    scores = prequential({"sgd": other}, stream, batch_size=batch_size).scores["sgd"]
    labels, predictions, probabilities = [], [], []
    for batch in stream.batches(batch_size):
        if hasattr(model, "classes_"):
            labels.append(batch.y)
            predictions.append(model.predict(batch.X))
            probabilities.append(model.predict_proba(batch.X))
        model.partial_fit(batch.X, batch.y, classes=[0, 1])
    labels, predictions = np.concatenate(labels), np.concatenate(predictions)
    assert scores["rows"] == len(labels) == 300 - batch_size
    assert scores["accuracy"] == accuracy_score(labels, predictions)
    assert scores["log_loss"] == pytest.approx(log_loss(labels, np.concatenate(probabilities)))


def test_sklearn_regressor_scores_as_in_a_loop():
    stream = linear_regressions(length=100, n_segments=3, seed=0)
    scores = prequential({"sgd": SGDRegressor(random_state=0)}, stream, batch_size=5).scores["sgd"]
    model, targets, predictions = SGDRegressor(random_state=0), [], []
    for batch in stream.batches(5):
        if hasattr(model, "coef_"):
            targets.append(batch.y)
            predictions.append(model.predict(batch.X))
        model.partial_fit(batch.X, batch.y)
    targets, predictions = np.concatenate(targets), np.concatenate(predictions)
    assert scores["mae"] == pytest.approx(mean_absolute_error(targets, predictions))
    assert scores["rmse"] == pytest.approx(root_mean_squared_error(targets, predictions))
    assert "accuracy" not in scores


@pytest.mark.parametrize("delay", [0, 4])
def test_river_classifiers_score_as_in_river(delay):
    pytest.importorskip("river")
    from river import datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing

    def models():
        return {
            "bayes": naive_bayes.GaussianNB(),
            "linear": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        }

    scores = prequential(models(), datasets.Phishing(), delay=delay).scores
    for name, model in models().items():
        metric = metrics.Accuracy() + metrics.CohenKappa() + metrics.LogLoss()
        # River counts the row itself: its delay of one row is none
        evaluate.progressive_val_score(datasets.Phishing(), model, metric, delay=delay + 1 if delay else None)
        found = [scores[name][column] for column in ("accuracy", "kappa")]
        assert found == pytest.approx([metric[0].get(), metric[1].get()])
        if name == "linear":  # naive Bayes has probabilities near 0, which River clips at another value
            assert scores[name]["log_loss"] == pytest.approx(metric[2].get())


def test_river_regressors_score_as_in_river_also_with_whole_targets():
    pytest.importorskip("river")
    from river import datasets, evaluate, linear_model, metrics, preprocessing

    def model():
        return preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)

    rounded = [(x, round(y)) for x, y in datasets.TrumpApproval()]
    for stream in (datasets.TrumpApproval(), rounded):
        scores = prequential({"linear": model()}, stream).scores["linear"]
        metric = metrics.MAE() + metrics.RMSE()
        evaluate.progressive_val_score(stream, model(), metric)
        assert [scores["mae"], scores["rmse"]] == pytest.approx([metric[0].get(), metric[1].get()])


def test_probabilities_are_optional():
    class NoProbabilities(GaussianNB):
        def predict_proba(self, X):
            raise AssertionError

    stream = stagger(length=50, n_segments=2, seed=0)
    scores = prequential(NoProbabilities(), stream, batch_size=10, probabilities=False).scores["NoProbabilities"]
    assert np.isnan(scores["log_loss"])
    with pytest.raises(AssertionError):
        prequential(NoProbabilities(), stream, batch_size=10)


def test_log_loss_of_probability_zero_is_finite():
    class Certain(EchoRiver):
        def predict_proba_one(self, x):
            return {x["a"]: 1.0}

    scores = prequential({"m": Certain()}, pairs_of(np.array([[0], [0]]), np.array([0, 1]))).scores["m"]
    assert scores["log_loss"] == pytest.approx(-np.log(np.finfo(float).eps) / 2)


def test_unknown_class_has_probability_zero():
    class KnowsTwoClasses(EchoSklearn):
        def partial_fit(self, X, y, classes=None):
            return super().partial_fit(X, y, None if classes is None else classes[:2])

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    stream = np.zeros((3, 1)), np.array([0, 1, 2])
    scores = prequential({"m": KnowsTwoClasses()}, stream).scores["m"]
    assert scores["log_loss"] == pytest.approx((np.log(2) - np.log(np.finfo(float).eps)) / 2)


def test_rows_without_a_finite_prediction_do_not_count():
    stream = [({"a": prediction}, 1.0) for prediction in (1.5, None, np.nan, np.inf, 0.0)]
    scores = prequential({"m": EchoRiver()}, stream).scores["m"]
    assert (scores["rows"], scores["mae"]) == (2, 0.75)


# Streams ----------------------------------------------------------------------------------------------------------


def streams_of(X, y):
    """The same rows as every kind of stream."""
    columns = list("abc")
    frame = pd.DataFrame(X, columns=columns)
    concept = np.repeat([0, 1], [80, 120])
    return {
        "arrays": (X, y),
        "lists": (X.tolist(), y.tolist()),
        "frame": (frame, pd.Series(y)),
        "polars": (pl.DataFrame(X, schema=columns), y),
        "pyarrow": (pa.Table.from_pandas(frame), y),
        "triple": (X, y, concept),
        "pairs": pairs_of(X, y),
        "generator": (pair for pair in pairs_of(X, y)),
        "pairs with concepts": [(*pair, c) for pair, c in zip(pairs_of(X, y), concept.tolist(), strict=True)],
        "batches": [(X[:90], y[:90]), (X[90:90], y[90:90]), (X[90:], y[90:])],
        "batches with concepts": [(X[:90], y[:90], concept[:90]), (X[90:], y[90:], concept[90:])],
        "reader": Batches(frame.assign(y=y), "y", batch_size=64),
        "reader of frames": Batches(frame.assign(y=y), "y", batch_size=64, as_frame=True),
    }


UNNAMED = ("arrays", "lists", "triple", "batches", "batches with concepts", "reader")


@pytest.mark.fast_cases(12)
@pytest.mark.parametrize("form", streams_of(*noisy_labels()))
@pytest.mark.parametrize(("batch_size", "delay"), [(1, 0), (30, 0), (7, 17)])
def test_all_forms_of_streams_give_both_kinds_of_models_the_same_rows(form, batch_size, delay):
    X, y = noisy_labels()
    feature = "x0" if form in UNNAMED else "a"
    river, sklearn = EchoRiver(feature), EchoSklearn()
    options = {"batch_size": batch_size, "delay": delay}
    result = prequential({"river": river, "sklearn": sklearn}, streams_of(X, y)[form], classes=[0, 1, 2], **options)
    n_learned = 200 - delay
    assert result.n_rows == 200
    assert result.scores["river"]["accuracy"] == accuracy_score(y, X[:, 0])
    assert [list(x.values()) for x, _ in river.learned] == X[:n_learned].tolist()
    assert [label for _, label in river.learned] == y[:n_learned].tolist()
    tables, labels = zip(*sklearn.learned_, strict=True)
    np.testing.assert_array_equal(np.concatenate([np.asarray(table) for table in tables]), X[:n_learned])
    np.testing.assert_array_equal(np.concatenate(labels), y[:n_learned])
    if form in ("frame", "polars", "pyarrow", "reader of frames"):
        assert all(list(getattr(table, "column_names", None) or table.columns) == ["a", "b", "c"] for table in tables)
    assert bool(result.segments) == ("concepts" in form or form == "triple")
    alone = EchoRiver(feature)  # without a scikit-learn model, rows are converted to dictionaries beforehand
    again = prequential({"river": alone}, streams_of(X, y)[form], **options)
    assert alone.events == river.events
    assert again.scores["river"]["accuracy"] == result.scores["river"]["accuracy"]
    assert again.segments == result.segments


def test_rows_are_predicted_before_they_are_learned_and_learned_when_due():
    model = EchoRiver()
    prequential(model, pairs_of(*noisy_labels(20)), batch_size=4, delay=6)
    n_predicted, n_learned = 0, 0
    for kind, *_ in model.events:
        n_predicted += kind == "predict"
        n_learned += kind == "learn"
        assert n_learned <= max(n_predicted - 6, 0)
        if kind == "predict" and n_predicted % 4 == 1:  # a new batch: all due rows have been learned
            assert n_learned == max(n_predicted - 1 - 6, 0)
    assert (n_predicted, n_learned) == (20, 14)


def test_features_of_rows_may_differ_for_river_models_only():
    stream = [({"a": 1, "b": 2}, 1), ({"a": 0}, 1), ({"a": 1, "c": 5}, 1)]
    assert prequential({"m": EchoRiver()}, stream).scores["m"]["accuracy"] == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"features \['a'\]"):
        prequential(GaussianNB(), stream, classes=[0, 1])


def test_labels_may_be_text():
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    scores = prequential({"bayes": GaussianNB(), "sgd": SGDClassifier(random_state=0)}, (X, y), batch_size=10).scores
    assert scores["bayes"]["accuracy"] > 0.8
    assert np.isnan(scores["sgd"]["log_loss"])  # the hinge loss gives no probabilities


@pytest.mark.parametrize("batch_size", [2, 4, 6])
def test_text_and_number_labels_keep_their_types(batch_size):
    model = EchoRiver("x0")
    prequential(model, [(np.ones((3, 1)), ["a", "b", "a"]), (np.ones((3, 1)), [0, 1, 0])], batch_size=batch_size)
    assert [label for _, label in model.learned] == ["a", "b", "a", 0, 1, 0]


def test_n_samples_limits_the_rows_that_are_read():
    n_drawn = 0

    def endless():
        nonlocal n_drawn
        while True:
            n_drawn += 1
            yield {"a": 1}, 1

    assert prequential(EchoRiver(), endless(), n_samples=15, batch_size=10).n_rows == n_drawn == 15
    batches = iter([([{"a": 1}] * 10, [1] * 10)] * 3)
    assert prequential(EchoRiver(), batches, n_samples=20, batch_size=10).n_rows == 20
    assert len(list(batches)) == 1
    model = EchoRiver("size")
    result = prequential(model, stagger(length=30, seed=0), n_samples=100, batch_size=7)
    assert result.n_rows == len(model.learned) == sum(segment.length for segment in result.segments) == 100


def test_fitted_model_predicts_from_the_first_row_and_needs_no_classes():
    X, y = noisy_labels(n_classes=2)
    model = GaussianNB().fit(X, y)
    assert prequential({"m": model}, [(X, y)], batch_size=10).scores["m"]["rows"] == 200


# Delayed labels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 8])
def test_delayed_rows_of_estimators_are_issued_and_learned_by_ids(batch_size):
    stream, delay = stagger(length=60, n_segments=2, seed=0), 20
    experts = [(f"sgd {seed}", SGDClassifier(loss="log_loss", random_state=seed)) for seed in range(2)]
    model, by_hand = (LongTermMemoryClassifier(experts, memory=None, random_state=0) for _ in range(2))
    prequential(model, stream, batch_size=batch_size, delay=delay, probabilities=False)
    (batch,) = stream.batches(1000)
    first_issued = -(-(delay + 1) // batch_size) * batch_size
    n_learned = 0
    for start in range(0, 120, batch_size):
        rows = slice(start, start + batch_size)
        if start >= first_issued:
            by_hand.issue(batch.X[rows], range(start, start + batch_size))
        n_due = max(min(start + batch_size, 120) - delay, 0)
        n_not_issued = min(n_due, first_issued)
        if n_learned < n_not_issued:
            by_hand.partial_fit(batch.X[n_learned:n_not_issued], batch.y[n_learned:n_not_issued], classes=[0, 1])
            n_learned = n_not_issued
        if n_learned < n_due:
            by_hand.learn(range(n_learned, n_due), batch.y[n_learned:n_due])
            n_learned = n_due
    assert model.n_samples_seen_ == n_learned == 100
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)
    assert len(model._pending) == delay


@pytest.mark.parametrize(("batch_size", "delay"), [(1, 20), (30, 0)])
def test_rows_of_river_estimators_are_passed_with_ids(batch_size, delay):
    pytest.importorskip("river")
    from river import naive_bayes

    from ltm_sklearn.river import LongTermMemoryClassifier as RiverClassifier

    stream = stagger(length=60, n_segments=2, seed=0)
    model, by_hand = (RiverClassifier(named([naive_bayes.GaussianNB()]), seed=0) for _ in range(2))
    prequential(model, stream, batch_size=batch_size, delay=delay, probabilities=False)
    rows, n_learned = list(stream), 0
    for start in range(0, 120, batch_size):
        for at in range(start, start + batch_size):
            by_hand.predict_one(rows[at][0], id=at)
        for at in range(n_learned, start + batch_size - delay):
            by_hand.learn_one(*rows[at], id=at)
            n_learned = at + 1
    assert model.n_samples_seen_ == by_hand.n_samples_seen_ == 120 - delay
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)


def test_ids_are_row_numbers_and_only_passed_if_rows_wait():
    class WithIds(EchoRiver):
        def predict_one(self, x, id=None):
            self.events.append(("predict", id))
            return x["a"]

        def learn_one(self, x, y, id=None):
            self.events.append(("learn", id))

    delayed, at_once = WithIds(), WithIds()
    prequential(delayed, pairs_of(*noisy_labels(10)), delay=3)
    first_four = [("predict", row) for row in range(4)]
    assert delayed.events[:8] == [*first_four, ("learn", 0), ("predict", 4), ("learn", 1), ("predict", 5)]
    prequential(at_once, pairs_of(*noisy_labels(10)))
    assert {event[1] for event in at_once.events} == {None}


# Memory and progress ----------------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_stream():
    class Constant:
        leader_ = "only"

        def predict_one(self, x):
            return 1

        def predict_proba_one(self, x):
            return {0: 0.5, 1: 0.5}

        def learn_one(self, x, y):
            pass

    def peak(n_samples):
        stream = stagger(order="random", length=100, seed=0)
        tracemalloc.start()
        prequential({name: Constant() for name in "ab"}, stream, n_samples=n_samples, delay=100, batch_size=5)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(1000)
    assert peak(12_000) < peak(4_000) + 100_000


@pytest.mark.parametrize("has_rich", [True, False])
def test_progress_is_shown_on_demand(has_rich, monkeypatch, capsys):
    if has_rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setattr("ltm_sklearn.recording._progress.find_spec", lambda name: None)
    prequential(EchoRiver(), pairs_of(*noisy_labels(30)), n_samples=20, progress=True)
    out, err = capsys.readouterr()
    assert "20" in out + err
    prequential(EchoRiver(), pairs_of(*noisy_labels(30)))
    assert capsys.readouterr() == ("", "")


def test_neither_river_nor_matplotlib_is_imported_unless_needed():
    code = """
        import sys
        from ltm_sklearn.evaluation import prequential
        from ltm_sklearn.streams import stagger
        from sklearn.naive_bayes import GaussianNB
        print(prequential(GaussianNB(), stagger(length=20, n_segments=2, seed=0), batch_size=5))
        print([name for name in ("river", "matplotlib") if name in sys.modules])
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, cwd="/"
    )
    assert "GaussianNB" in run.stdout
    assert run.stdout.endswith("[]\n")


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delay": -1}, "delay=-1"),
        ({"delay": 1.5}, "delay=1.5"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"window": 0}, "window=0"),
        ({"max_switches": -1}, "max_switches=-1"),
        ({"tolerance": -0.1}, "tolerance=-0.1"),
        ({"n_samples": 0}, "n_samples=0"),
        ({"experts": ["a", "zebra"]}, "zebra"),
        ({"experts": []}, r"experts=\[\]"),
    ],
)
def test_invalid_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        prequential({"a": EchoRiver()}, pairs_of(*noisy_labels(5)), **options)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ([], "no rows"),
        (iter([]), "no rows"),
        ((np.empty((0, 2)), np.empty(0, dtype=int)), "no rows"),
        ((np.ones((3, 2)), [0, 1]), "3 rows and 2 targets"),
        ([(pd.DataFrame({"a": [1]}), [0]), (np.ones((3, 2)), [0, 1])], "batch 1 has 3 rows and 2 targets"),
        ((np.ones((2, 2)), [0, 1], [0]), r"concepts of shape \(1,\)"),
        ((np.ones((2, 2)), np.ones((2, 2))), "targets of shape"),
        ("rows.csv", "type str"),
        (pd.DataFrame({"a": [1]}), "type DataFrame"),
        (3, "type int"),
        ([1, 2], "batch 0 is of type int"),
        ([([{"a": 1}], [0], [0]), ([{"a": 1}], [0])], "batch 1 has no concept, unlike"),
        ([([{"a": 1}], [0]), ([{"a": 1}], [0], [0])], "batch 1 has a concept, unlike"),
        ([({"a": 1}, 1), 5], "row 1 of the stream is of type int"),
        ([({"a": 1}, 1), ({"a": 1}, None)], "row 1 of the stream has no target: it is None"),
        ([({"a": 1}, "x"), ({"a": 1}, float("nan"))], "row 1 of the stream has no target"),
        (stagger(length=5, seed=0), "pass n_samples"),
    ],
)
def test_invalid_streams_are_named(stream, message):
    with pytest.raises(ValueError, match=message):
        prequential(EchoRiver(), stream)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, "models is empty"),
        ({"text": "GaussianNB"}, "'text' is of type str"),
        ({"kind": GaussianNB}, "the class GaussianNB"),
        ({"pipeline": make_pipeline(StandardScaler(), GaussianNB())}, "'pipeline' is of type Pipeline"),
        ({"a": GaussianNB(), "b": SGDRegressor()}, r"\['a'\] are classifiers and \['b'\] are regressors"),
        (dict.fromkeys("ab", EchoRiver()), "same object"),
    ],
)
def test_invalid_models_are_named(models, message):
    with pytest.raises(ValueError, match=message):
        prequential(models, noisy_labels(5))


def test_river_pipeline_without_a_model_is_refused():
    preprocessing = pytest.importorskip("river.preprocessing")
    with pytest.raises(ValueError, match="'scaler' is of type Pipeline"):
        prequential({"scaler": preprocessing.StandardScaler() | preprocessing.MinMaxScaler()}, noisy_labels(5))


def test_sklearn_classifiers_need_all_classes():
    X, y = noisy_labels(10)
    with pytest.raises(ValueError, match="'GaussianNB' needs all classes"):
        prequential(GaussianNB(), [(X, y)])
    with pytest.raises(ValueError, match="row 0 of the stream has the label"):
        prequential(GaussianNB(), [(X, y)], classes=[7, 8])


@pytest.mark.parametrize("target", [np.inf, np.nan])
def test_real_targets_must_be_finite(target):
    model = LongTermMemoryRegressor([("sgd", SGDRegressor())])
    with pytest.raises(ValueError, match="row 2 of the stream has"):
        prequential(model, (np.ones((3, 1)), np.array([1.0, 2.0, target])), batch_size=3)
    assert not hasattr(model, "_engine")


def test_text_features_for_sklearn_models_need_frames():
    with pytest.raises(ValueError, match="as_frame=True"):
        prequential(GaussianNB(), [({"a": "red"}, 0)], classes=[0, 1])


def test_more_pending_rows_than_max_pending_are_refused():
    model = LongTermMemoryClassifier([("bayes", GaussianNB())], max_pending=10)
    stream = stagger(length=20, n_segments=2, seed=0)
    with pytest.raises(ValueError, match="max_pending=10"):
        prequential(model, stream, delay=10)
    assert prequential(model, stream, batch_size=20).n_rows == 40  # no row waits without a delay


def test_error_of_a_model_names_it_and_the_rows():
    class Fails(EchoRiver):
        def predict_one(self, x):
            raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order") as caught:
        prequential({"good": EchoRiver(), "bad": Fails()}, pairs_of(*noisy_labels(5)), batch_size=3)
    assert caught.value.__notes__ == ["model 'bad', rows 0 to 2 of the stream"]
