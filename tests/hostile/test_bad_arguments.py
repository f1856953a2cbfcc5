"""Arguments of every kind of object that are refused with a ValueError that names them."""

import sys
from decimal import Decimal

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as LinearModel
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from support.named_models import named

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.bandits import Exp3, LowerBoundAdversary, SlidingWindowUCB
from ltm_sklearn.display import CumulativeLossDisplay
from ltm_sklearn.ensemble import IncrementalPipeline, SlidingWindow
from ltm_sklearn.evaluation import crps, prequential
from ltm_sklearn.evaluation.oracles import best_sequence
from ltm_sklearn.experts import BestOfBothWorlds, LongTermMemory, SimpleReduction
from ltm_sklearn.streams import Batches, Hyperplane, Led, LinearRegression, RandomTree, led, linear_regressions, sea

pytest.importorskip("river")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("sktime")

from river import linear_model, naive_bayes  # noqa: E402

from ltm_sklearn import river  # noqa: E402
from ltm_sklearn.sktime import LongTermMemoryEnsemble  # noqa: E402

X = np.random.default_rng(0).normal(size=(10, 2))
Y = X[:, 0]
BEYOND = 10**400  #: larger than all floats
HUGE = np.array([BEYOND] * 10, dtype=object)
TOO_LARGE = "has a number that is too large"
ROW = {"a": 0.5, "b": -1.0}
PAIRS = [({"a": 1.0}, 1.0)] * 2


def regressor():
    return LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))]).partial_fit(X, Y)


def classifier():
    return LongTermMemoryClassifier([("nb", GaussianNB())])


def mixture():
    return ExpertMixture().fit(X, Y)


def stream_with(row):
    return lambda: list(Batches([*PAIRS, row]))


SCHEDULES = [
    {"length": 2**63},
    {"length": [10, BEYOND]},
    {"n_segments": 2**63},
    {"width": BEYOND},
    {"width": np.ma.masked},
    {"noise": np.inf},
    {"noise": 1e308},
    {"noise": None},
    {"seed": np.ma.masked},
    {"seed": 0.5},
    {"order": "markov", "transitions": [[BEYOND, 1.0]] * 2},
]

#: Call, and what its message must say.
REFUSED = {
    # algorithms
    "horizon": (lambda: LongTermMemory(horizon=BEYOND).weights(3), "horizon=1000"),
    "n_experts array": (lambda: LongTermMemory().update([0.0, 1.0]).weights(np.array([1, 2])), "n_experts"),
    "n_experts NA": (lambda: LongTermMemory().update([0.0, 1.0]).weights(pd.NA), "n_experts"),
    "n_experts text": (lambda: LongTermMemory().update([0.0, 1.0]).weights("4"), "n_experts"),
    "bias": (lambda: SimpleReduction(bias=None).update([0.0, 1.0]), "bias"),
    "constants": (
        lambda: BestOfBothWorlds(constants=np.array(["paper", "tight"])).update([0.0, 1.0]),
        "constants",
    ),
    "exploration": (lambda: SlidingWindowUCB(exploration=None).run(np.zeros((5, 2))), "exploration"),
    "n_seeds": (lambda: Exp3().run(np.zeros((2, 2)), n_seeds=2**63), "n_seeds"),
    "n_rounds": (lambda: LowerBoundAdversary(2**62, 2, 3).play(Exp3()), "n_rounds"),
    "random_state": (lambda: LowerBoundAdversary(10, 2, 3, random_state=-1).play(Exp3()), "random_state"),
    # estimators
    "y too large": (lambda: regressor().partial_fit(X, HUGE), f"y {TOO_LARGE}"),
    "X too large": (lambda: regressor().predict(np.column_stack([HUGE, HUGE])), f"X {TOO_LARGE}"),
    "sample_weight too large": (
        lambda: regressor().partial_fit(X, Y, sample_weight=HUGE),
        f"sample_weight {TOO_LARGE}",
    ),
    "time differences": (
        lambda: regressor().partial_fit(X.astype("int64").astype("m8[s]"), Y),
        "X must be numbers",
    ),
    "dates": (lambda: regressor().partial_fit(X.astype("int64").astype("M8[s]"), Y), "X must be numbers"),
    "lazy frame": (
        lambda: regressor().partial_fit(pl.LazyFrame({"a": X[:, 0], "b": X[:, 1]}), Y),
        "X is a LazyFrame, which has no rows yet",
    ),
    "labels of several kinds": (
        lambda: classifier().partial_fit(X, np.array(["a", 1] * 5, dtype=object), classes=["a", 1, None]),
        "labels of one kind",
    ),
    "no labels": (lambda: classifier().fit(X[:0], np.array([])), r"y has none|0 sample"),
    **{
        f"ids of {name} {ids!r:.5}": (lambda call=call, ids=ids: call(regressor(), ids), message)
        for ids, message in [(3, "ids=3 must be a sequence"), ([[1]] * 10, "is not hashable")]
        for name, call in {
            "issue": lambda model, ids: model.issue(X, ids),
            "learn": lambda model, ids: model.learn(ids, Y),
        }.items()
    },
    **{
        f"{name} {number}": (lambda model=model, call=call: call(model()), message)
        for name, model in {"ensemble": classifier, "window": lambda: SlidingWindow(GaussianNB())}.items()
        for number, (call, message) in enumerate(
            [
                (lambda model: model.partial_fit(X, Y > 0, classes=np.inf), r"\bclasses\b"),
                (lambda model: model.partial_fit(X, Y > 0, classes=[]), r"\bclasses\b"),
                (lambda model: model.partial_fit(X[np.newaxis], Y > 0, classes=[0, 1]), r"\bX\b"),
                (lambda model: model.partial_fit(X.astype(complex), Y > 0, classes=[0, 1]), r"\bX\b"),
                (lambda model: model.partial_fit(X, Y[:, None, None] > 0, classes=[0, 1]), r"\by\b"),
            ]
        )
    },
    # forecasts
    "mixture y": (lambda: ExpertMixture().fit(X, HUGE), f"y {TOO_LARGE}"),
    "mixture fit": (lambda: mixture().fit(np.column_stack([HUGE, HUGE]), Y), f"X {TOO_LARGE}"),
    "mixture partial_fit": (lambda: mixture().partial_fit(np.column_stack([HUGE, HUGE]), Y), f"X {TOO_LARGE}"),
    "mixture predict": (lambda: mixture().predict(np.column_stack([HUGE, HUGE])), f"X {TOO_LARGE}"),
    "mixture loss": (lambda: ExpertMixture(loss=len).fit(X, Y), "loss"),
    "n_estimators": (lambda: LongTermMemoryEnsemble(pd.NA).update(X.T, Y), "n_estimators"),
    # streams
    **{
        f"{concepts.__name__} {schedule!r:.40}": (
            lambda concepts=concepts, schedule=schedule: concepts(**schedule),
            list(schedule)[-1],
        )
        for concepts in (linear_regressions, sea)
        for schedule in SCHEDULES
    },
    **{
        f"deviation {value}": (lambda value=value: LinearRegression(deviation=value), "deviation")
        for value in (np.inf, 1e308, None)
    },
    **{
        f"angle {value!r:.9}": (lambda value=value: Hyperplane(value), "angle")
        for value in (np.inf, BEYOND, "text", None)
    },
    "n_concepts": (lambda: led(2**63), "n_concepts"),
    "depth": (lambda: RandomTree(depth=2**63), "depth"),
    "seed": (lambda: Led(seed=np.nan), "seed"),
    **{
        f"rows {bad}": (stream_with((bad, 1.0)), rf"source has pairs \({type(bad).__name__}, y\)")
        for bad in (3.0, None, "text")
    },
    **{
        f"pairs {bad}": (stream_with(bad), f"source has rows of type {type(bad).__name__}")
        for bad in (3.0, None, "text")
    },
    "drop": (lambda: Batches(pd.DataFrame(X), drop="a"), "drop"),
    "drop a number": (lambda: Batches(pd.DataFrame(X), drop=3), "drop"),
    "as_frame": (lambda: Batches(pd.DataFrame(X), as_frame=Y), "as_frame"),
    "column": (lambda: Batches(pd.DataFrame({"a": [0], "y": [1]}), target=["y"]), "column"),
    "source": (lambda: Batches(np.array(1.0)), "source"),
    # evaluation
    "crps mean": (lambda: crps(Y, X, [0.1, 0.9], mean=Y), "mean"),
    "window": (lambda: prequential(SGDRegressor(), (X, Y), window=BEYOND), "window"),
    "classes": (
        lambda: prequential(GaussianNB(), (X, Y > 0), classes=[0.5, [0.5]]),
        r"class \[0.5\] is not hashable",
    ),
    "max_switches": (
        lambda: prequential(SGDRegressor(), (X, Y), max_switches=10**9),
        "max_switches=1000000000 must be a whole number from 0 to",
    ),
    "oracle max_switches": (
        lambda: best_sequence(np.abs(X), 10**9),
        "max_switches=1000000000 must be a whole number from 0 to",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Calls that must leave something as it was --------------------------------------------------------------------------


def test_a_pipeline_whose_last_step_refuses_has_learned_nothing():
    model = IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGDRegressor())]).partial_fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(X + 100.0, Y[:-1])
    assert model["scale"].n_samples_seen_ == 10


def test_a_window_that_cannot_be_fitted_keeps_its_rows():
    model = SlidingWindow(LinearModel()).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.fit(np.nan, Y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("weight", [np.inf, np.nan])
@pytest.mark.parametrize("make", [lambda: SlidingWindow(GaussianNB()), classifier], ids=["window", "ensemble"])
def test_a_single_weight_for_all_rows_must_be_finite(make, weight):
    model = make().fit(X, Y > 0)
    before = joblib.hash(model)
    with pytest.raises(ValueError, match="sample_weight"):
        model.partial_fit(X, Y > 0, sample_weight=weight)
    assert joblib.hash(model) == before


# River --------------------------------------------------------------------------------------------------------------


def river_models():
    yield river.LongTermMemoryRegressor(named([linear_model.LinearRegression()])), 1.0
    yield river.LongTermMemoryClassifier(named([naive_bayes.GaussianNB()])), True
    yield river.FromSklearnRegressor(SGDRegressor(random_state=0), batch_size=2), 1.0
    yield river.FromSklearnClassifier(GaussianNB(), [False, True], batch_size=2), True


@pytest.mark.parametrize("weight", [BEYOND, "1.0", 1j, np.nan, pd.NA, np.array([1.0, 2.0]), -1.0], ids=range(7))
def test_bad_weights_of_rows_are_named(weight):
    for model, y in river_models():
        model.learn_one(ROW, y)
        with pytest.raises(ValueError, match="weight"):
            model.learn_one(ROW, y, w=weight)


@pytest.mark.parametrize("row", ["", "text", (), [1.0], {"a": BEYOND, "b": 1.0}], ids=lambda row: str(row)[:20])
@pytest.mark.parametrize("adapter", [2, 3], ids=["regressor", "classifier"])
def test_bad_rows_for_an_estimator_are_named(adapter, row):
    model, y = list(river_models())[adapter]
    for _ in range(4):
        model.learn_one(ROW, y)
    for call in (lambda: model.predict_one(row), lambda: model.learn_one(row, y)):
        with pytest.raises(ValueError, match=r"the row is|feature 'a' is 1000"):
            call()


def test_bad_targets_for_an_adapter_are_named():
    model = river.FromSklearnRegressor(SGDRegressor(random_state=0))
    with pytest.raises(ValueError, match="target"):
        model.learn_one(ROW, np.timedelta64(5, "ns"))
    with pytest.raises(ValueError, match="y must be a sequence"):
        model.learn_many(pd.DataFrame([ROW]), 1.0)


@pytest.mark.parametrize("label", [([1],), [1], Decimal("sNaN")], ids=str)
def test_labels_that_are_not_hashable_are_named(label):
    model = river.LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    for _ in range(3):
        with pytest.raises(ValueError, match=r"the label is .*, which is not hashable"):
            model.learn_one(ROW, label)
        model.learn_one(ROW, True)


@pytest.mark.parametrize("policy", [river.BanditPolicy, river.ExpertPolicy])
def test_bad_arms_and_rewards_of_a_policy_are_named(policy):
    policy = policy(seed=0)
    policy.update(policy.pull(["a", "b"]), 1.0)
    for arm in ([], np.array([1, 2]), np.nan, pd.NA):
        with pytest.raises(ValueError, match="arm"):
            policy.update(arm, 1.0)
    with pytest.raises(ValueError, match="arm"):
        policy.pull(["a", np.nan])
    for reward in (np.array([1.0, 2.0]), np.array([]), np.inf, BEYOND):
        with pytest.raises(ValueError, match="reward"):
            policy.update("a", reward)
    assert sorted(policy.ranking) == ["a", "b"]


# Errors of other kinds ----------------------------------------------------------------------------------------------


def test_a_name_too_long_for_a_file_is_not_found():
    with pytest.raises(FileNotFoundError, match="there is no file aaa"):
        Batches("a" * 10_000, "target")


def test_scalars_and_arrays_record_no_run():
    for other in (np.ma.masked, np.zeros(3), np.datetime64("2024-01-01")):
        with pytest.raises(TypeError, match="records no run"):
            CumulativeLossDisplay.from_estimator(other)


# Unusual arguments that are right -----------------------------------------------------------------------------------


def test_lengths_of_small_integer_types_are_summed():
    stream = sea(length=np.int8([100, 50]), n_segments=4)
    assert stream.n_samples == 300
    assert stream.changes() == [100, 150, 250]


def test_horizons_beyond_64_bits_are_numbers():
    for algorithm in (SimpleReduction(horizon=10**30, n_segments=10**25), BestOfBothWorlds(horizon=10**60)):
        np.testing.assert_allclose(algorithm.update([0.0, 1.0]).weights().sum(), 1.0)


def test_arrow_tables_are_used_as_pandas_frames():
    frame = pd.DataFrame(X, columns=["a", "b"])
    for table in (frame, pa.Table.from_pandas(frame)):
        model = LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))])
        for _ in range(3):
            model.partial_fit(table, Y)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        np.testing.assert_allclose(model.predict(table), model.predict(frame), rtol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(pa.table({"a": [np.nan], "b": [1.0]}))


def test_a_window_longer_than_the_stream_takes_no_memory():
    def scores(window):
        concept = np.repeat([0, 1, 0, 1], 1000)
        rows = np.tile(X, (400, 1)), np.tile(Y, 400), concept
        result = prequential(SGDRegressor(random_state=0), rows, batch_size=50, window=window)
        return {name: value for name, value in result.scores["SGDRegressor"].items() if "seconds" not in name}

    assert repr(scores(sys.maxsize)) == repr(scores(10_000))
    assert scores(1500)["after_change"] > 0.0  # its memory is allocated twice
