"""The compiled round of one row gives the same numbers as the engine."""

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("river")

from river import linear_model, naive_bayes, preprocessing
from support.named_models import named
from support.river_models import ReadsChances, ReadsNumber

from ltm_sklearn import Snapshots
from ltm_sklearn.engine import _compiled_row_round
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.experts import BOA, FixedShare, LongTermMemory
from ltm_sklearn.losses import Pinball
from ltm_sklearn.river import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.streams import linear_regressions, stagger

pytestmark = [
    pytest.mark.skipif(_compiled_row_round.kernel is None, reason="without a compiler there is no fast path"),
    pytest.mark.fast_cases(3),
]


def chances(n_rows, labels, seed=0):
    """Yield rows with probabilities of three experts, some of which do not sum to one, and the true labels."""
    rng = np.random.default_rng(seed)
    for at in range(n_rows):
        said = rng.dirichlet(np.full(len(labels), 0.7), size=3) * rng.choice([0.5, 1.0, 1.0, 2.0], size=(3, 1))
        truth = labels[at // 40 % len(labels)] if rng.random() < 0.8 else labels[int(rng.integers(len(labels)))]
        said[at // 40 % 3, labels.index(truth)] += 0.5
        yield {name: tuple(row.tolist()) for name, row in zip("abc", said, strict=True)}, truth


def numbers(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    for at in range(n_rows):
        y = float(100.0 + 10.0 * rng.normal())
        errors = rng.normal(size=3) * np.roll([0.1, 3.0, 100.0], at // 50)
        yield {name: y + float(error) for name, error in zip("abc", errors, strict=True)}, y


def run(model, rows, compiled, monkeypatch):
    """Return the predictions of a model and the number of its compiled rounds."""
    said, taken = [], 0
    learn_row = _compiled_row_round.learn_row

    def counting(*arguments):
        nonlocal taken
        done = learn_row(*arguments)
        taken += done
        return done

    with monkeypatch.context() as patch:
        patch.setattr("ltm_sklearn.river._base.learn_row", counting)
        if not compiled:
            patch.setattr(_compiled_row_round, "kernel", None)
        for x, y in rows:
            answer = model.predict_proba_one(x) if hasattr(model, "predict_proba_one") else model.predict_one(x)
            said.append(list(answer.values()) if isinstance(answer, dict) else [answer])
            model.learn_one(x, y)
    return said, taken


def assert_same(make, rows, monkeypatch, least_compiled):
    fast, plain = make(), make()
    fast_said, taken = run(fast, rows, True, monkeypatch)
    plain_said, none = run(plain, rows, False, monkeypatch)
    assert none == 0
    assert taken >= least_compiled * len(rows)
    for one, other in zip(fast_said, plain_said, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fast.weights_, plain.weights_, rtol=1e-9, atol=1e-12)
    for name, values in vars(fast._engine.pool.stats).items():
        np.testing.assert_allclose(values, vars(plain._engine.pool.stats)[name], rtol=1e-9, atol=1e-9, err_msg=name)
    assert (fast.n_rounds_, fast.n_samples_seen_) == (plain.n_rounds_, plain.n_samples_seen_) == (len(rows),) * 2
    scores = fast._engine.score, plain._engine.score
    for name, value in vars(scores[0]).items():
        if isinstance(value, float | int | np.ndarray):
            np.testing.assert_allclose(value, vars(scores[1])[name], rtol=1e-9, err_msg=name)


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("labels", [(False, True), ("x", "y", "z")], ids=["two classes", "three classes"])
@pytest.mark.parametrize("loss", ["auto", "zero_one", "brier", "log_loss"])
@pytest.mark.parametrize("algorithm", [None, FixedShare(), LongTermMemory(horizon=1000)], ids=["default", "FS", "T"])
def test_classifier_gives_the_same_numbers(labels, loss, algorithm, monkeypatch):
    experts = [ReadsChances(name, labels) for name in "abc"]
    rows = list(chances(300, list(labels)))

    def make():
        return LongTermMemoryClassifier(named(experts), algorithm=algorithm, loss=loss, memory=None)

    assert_same(make, rows, monkeypatch, 0.9)


@pytest.mark.parametrize("loss", ["auto", "absolute_error", "pinball", Pinball(0.9)], ids=str)
@pytest.mark.parametrize("algorithm", [None, BOA()], ids=["default", "BOA"])
def test_regressor_gives_the_same_numbers(loss, algorithm, monkeypatch):
    experts = [ReadsNumber(name) for name in "abc"]

    def make():
        return LongTermMemoryRegressor(named(experts), algorithm=algorithm, loss=loss, memory=None)

    assert_same(make, list(numbers(400)), monkeypatch, 0.9)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e6, 1e160])
def test_regressor_gives_the_same_numbers_on_any_scale(scale, monkeypatch):
    experts = [ReadsNumber(name) for name in "abc"]
    rows = [({name: scale * value for name, value in x.items()}, scale * y) for x, y in numbers(150)]
    with np.errstate(over="ignore"):
        assert_same(lambda: LongTermMemoryRegressor(named(experts), memory=None), rows, monkeypatch, 0.9)


def test_concept_memory_gives_the_same_numbers(monkeypatch):
    rows = list(stagger(order="random", length=100, n_segments=4, noise=0.1, seed=0))
    memory = Snapshots(every=60)
    assert_same(
        lambda: LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=memory), rows, monkeypatch, 0.8
    )
    linear = preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)
    rows = list(linear_regressions(2, length=150, n_segments=3, seed=0))
    assert_same(lambda: LongTermMemoryRegressor(named([linear]), memory=memory), rows, monkeypatch, 0.8)


class Moody(ReadsNumber):
    """Model that fails in some rows: it raises, predicts NaN, or cannot learn."""

    def learn_one(self, x, y):
        if x["mood"] == "unteachable":
            raise RuntimeError("not now")

    def predict_one(self, x):
        if x["mood"] == "silent":
            raise RuntimeError("no comment")
        return float("nan") if x["mood"] == "absent" else x["a"]


@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
def test_failures_give_the_same_numbers(monkeypatch):
    moods = np.random.default_rng(0).choice(
        ["fine", "silent", "absent", "unteachable"], 300, p=[0.97, 0.01, 0.01, 0.01]
    )
    rows = [({**x, "mood": str(mood)}, y) for (x, y), mood in zip(numbers(300), moods, strict=True)]
    experts = [Moody(), ReadsNumber("b"), ReadsNumber("c")]
    assert_same(lambda: LongTermMemoryRegressor(named(experts), memory=None), rows, monkeypatch, 0.3)


def test_failure_to_learn_is_reported():
    model = LongTermMemoryRegressor(named([Moody(), ReadsNumber("b")]), memory=None)
    for x, y in numbers(10):
        model.learn_one({**x, "mood": "fine"}, y)
    assert model._engine.pool.compiled_round is not None
    with pytest.warns(ExpertWarning, match="'Moody' could not learn and slept: RuntimeError: not now"):
        model.learn_one({"a": 1.0, "b": 1.0, "mood": "unteachable"}, 1.0)


def test_row_dictionary_may_be_reused_for_another_row():
    model, other = (LongTermMemoryRegressor(named([ReadsNumber("a"), ReadsNumber("b")]), memory=None) for _ in range(2))
    reused = {}
    for x, y in numbers(50):
        reused.update(x)
        model.predict_one(reused)  # this prediction ...
        reused.update(a=reused["b"], b=reused["a"])  # ... must not be scored for another row
        model.learn_one(reused, y)
        other.learn_one({"a": x["b"], "b": x["a"]}, y)
    np.testing.assert_allclose(model.weights_, other.weights_, rtol=1e-9)


def test_invalid_target_changes_nothing():
    model = LongTermMemoryRegressor(named([ReadsNumber("a"), ReadsNumber("b")]), memory=None)
    for x, y in numbers(20):
        model.learn_one(x, y)
    before = pickle.dumps(model)
    for target in (None, float("nan"), float("inf"), "much"):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(x, target)
    assert pickle.dumps(model) == before


def test_rounds_beyond_the_horizon_are_an_error():
    model = LongTermMemoryClassifier(
        named([ReadsChances("a"), ReadsChances("b")]), algorithm=LongTermMemory(horizon=20), memory=None
    )
    rows = list(chances(21, [False, True]))
    for x, y in rows[:20]:
        model.learn_one(x, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="exceed the horizon of 20"):
        model.learn_one(*rows[20])
    assert pickle.dumps(model) == before


class Strict(naive_bayes.GaussianNB):
    """Model that refuses rows with text."""

    def predict_proba_one(self, x):
        if isinstance(x["a"], str):
            raise TypeError("no numbers")
        return super().predict_proba_one(x)

    def learn_one(self, x, y):
        if isinstance(x["a"], str):
            raise TypeError("no numbers")
        super().learn_one(x, y)


@pytest.mark.parametrize("on_error", ["warn", "raise"])
@pytest.mark.filterwarnings("ignore::ltm_sklearn.ensemble.ExpertWarning")
def test_label_of_a_row_that_raises_is_forgotten(on_error):
    model = LongTermMemoryClassifier(named([Strict(), Strict()]), memory=None, on_error=on_error)
    for at in range(60):
        model.learn_one({"a": float(at % 2)}, at % 2)
    model.predict_one({"a": 0.0})  # the compiled round is in use now
    before = pickle.dumps(model)
    for label in range(2, 60):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one({"a": "bad"}, label)
    assert pickle.dumps(model) == before
    for label in range(59, 1, -1):
        model.learn_one({"a": float(label)}, label)
    assert set(model.predict_proba_one({"a": 0.0})) == set(range(60))


def test_invalid_label_changes_nothing():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=None)
    for at in range(30):
        model.learn_one({"a": float(at % 2)}, at % 2)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="not hashable"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), ["new", [1]])
    for missing in (None, float("nan"), np.float32("nan"), pd.NA, pd.NaT):
        with pytest.raises(ValueError, match="the label is"):
            model.learn_one({"a": 1.0}, missing)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.int64, int])
def test_numpy_targets_use_the_compiled_round(kind):
    model = LongTermMemoryRegressor(named([ReadsNumber("a"), ReadsNumber("b")]), memory=None)
    for x, y in numbers(30):
        model.learn_one(x, kind(y))
    assert model._engine.pool.compiled_round is not None


def test_row_with_a_mutated_value_is_predicted_again():
    class Lists(ReadsNumber):
        def predict_one(self, x):
            return float(x["list"][0])

    model = LongTermMemoryRegressor(named([Lists()]), memory=None)
    for at in range(10):
        model.learn_one({"list": [at]}, float(at))
    values = [3.0]
    x = {"list": values}
    assert model.predict_one(x) == pytest.approx(3.0)
    values[0] = 5.0
    assert model.predict_one(x) == pytest.approx(5.0)
