"""Arguments that were once answered with another error than one that names them, or with no error at all."""

import sys
from decimal import Decimal

import joblib
import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import GaussianNB
from stream_experts import Says

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.bandits import Exp3, LowerBoundAdversary, SlidingWindowUCB
from ltm_sklearn.display import CumulativeLossDisplay
from ltm_sklearn.ensemble import SlidingWindow
from ltm_sklearn.evaluation import crps, prequential
from ltm_sklearn.evaluation.oracles import best_sequence
from ltm_sklearn.experts import BestOfBothWorlds, LongTermMemory, SimpleReduction
from ltm_sklearn.streams import Batches, Hyperplane, LinearRegression, linear_regressions, sea

pytest.importorskip("river")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("sktime")

from river import linear_model, naive_bayes  # noqa: E402

from ltm_sklearn import river  # noqa: E402
from ltm_sklearn.sktime import LongTermMemoryEnsemble  # noqa: E402

pytestmark = pytest.mark.fast_cases(2)

X = np.random.default_rng(0).normal(size=(10, 2))
Y = X[:, 0]
BEYOND = 10**400  #: all floats
ROW = {"a": 0.5, "b": -1.0}


@pytest.mark.parametrize(
    "schedule",
    [
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
    ],
    ids=str,
)
def test_schedules_that_no_stream_could_have_are_named_at_once(schedule):
    for concepts in (linear_regressions, sea):
        with pytest.raises(ValueError, match=list(schedule)[-1]):
            concepts(**schedule)


@pytest.mark.parametrize("deviation", [np.inf, 1e308, None])
def test_deviations_that_leave_no_numbers_are_named(deviation):
    with pytest.raises(ValueError, match="deviation"):
        LinearRegression(deviation=deviation)


@pytest.mark.parametrize("angle", [np.inf, BEYOND, "text", None])
def test_angles_that_are_none_are_named(angle):
    with pytest.raises(ValueError, match="angle"):
        Hyperplane(angle)


def test_lengths_of_small_integers_are_summed():
    stream = sea(length=np.int8([100, 50]), n_segments=4)
    assert stream.n_samples == 300
    assert stream.changes() == [100, 150, 250]


@pytest.mark.parametrize("bad", [3.0, None, "text"])
def test_rows_of_a_stream_that_are_none_are_named(bad):
    good = [({"a": 1.0}, 1.0)] * 2
    with pytest.raises(ValueError, match=rf"source has pairs \({type(bad).__name__}, y\)"):
        list(Batches([*good, (bad, 1.0)]))
    with pytest.raises(ValueError, match=f"source has rows of type {type(bad).__name__}"):
        list(Batches([*good, bad]))


def test_a_name_that_no_file_can_have_is_one_of_no_file():
    with pytest.raises(FileNotFoundError, match="there is no file aaa"):
        Batches("a" * 10_000, "target")


def test_frames_of_arrow_are_those_of_pandas():
    frame = pd.DataFrame(X, columns=["a", "b"])
    for as_given in (frame, pa.Table.from_pandas(frame)):
        model = LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))])
        for _ in range(3):
            model.partial_fit(as_given, Y)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        said = model.predict(as_given)
        np.testing.assert_allclose(said, model.predict(frame), rtol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(pa.table({"a": [np.nan], "b": [1.0]}))


def test_frames_without_rows_yet_are_named():
    with pytest.raises(ValueError, match="X is a LazyFrame, which has no rows yet"):
        LongTermMemoryRegressor([("sgd", SGDRegressor())]).partial_fit(pl.LazyFrame({"a": X[:, 0], "b": X[:, 1]}), Y)


@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict"])
def test_tables_with_whole_numbers_beyond_all_floats_are_named(call):
    mixture = ExpertMixture().fit(X, Y)
    table = np.column_stack([np.full(10, BEYOND, dtype=object)] * 2)
    with pytest.raises(ValueError, match="X has a number that is too large"):
        getattr(mixture, call)(*((table, Y) if call != "predict" else (table,)))


def river_models():
    yield river.LongTermMemoryRegressor([linear_model.LinearRegression()]), 1.0
    yield river.LongTermMemoryClassifier([naive_bayes.GaussianNB()]), True
    yield river.FromSklearnRegressor(SGDRegressor(), batch_size=2), 1.0
    yield river.FromSklearnClassifier(GaussianNB(), [False, True], batch_size=2), True


@pytest.mark.parametrize("weight", [BEYOND, "1.0", 1j, np.nan])
def test_weights_of_rows_that_are_none_are_named(weight):
    for model, y in river_models():
        model.learn_one(ROW, y)
        with pytest.raises(ValueError, match=r"weights w must be|the weight is"):
            model.learn_one(ROW, y, w=weight)


@pytest.mark.parametrize("row", ["", "text", (), [1.0], {"a": BEYOND, "b": 1.0}], ids=lambda row: str(row)[:20])
@pytest.mark.parametrize("adapter", [2, 3], ids=["regressor", "classifier"])
def test_rows_for_an_estimator_that_are_none_are_named(adapter, row):
    model, y = list(river_models())[adapter]
    for _ in range(4):
        model.learn_one(ROW, y)
    with pytest.raises(ValueError, match=r"the row is|feature 'a' is 1000"):
        model.predict_one(row)
    with pytest.raises(ValueError, match=r"the row is|feature 'a' is 1000"):
        model.learn_one(row, y)


@pytest.mark.parametrize("label", [([1],), [1], Decimal("sNaN")], ids=str)
def test_labels_that_are_not_hashable_are_named(label):
    model = river.LongTermMemoryClassifier([naive_bayes.GaussianNB()])
    for _ in range(3):
        with pytest.raises(ValueError, match=r"the label is .*, which is not hashable"):
            model.learn_one(ROW, label)
        model.learn_one(ROW, True)


@pytest.mark.parametrize("policy", [river.BanditPolicy, river.ExpertPolicy])
def test_rewards_beyond_all_floats_are_named(policy):
    one = policy(seed=0)
    arm = one.pull(["a", "b"])
    with pytest.raises(ValueError, match="the reward has a number that is too large"):
        one.update(arm, BEYOND)


def test_horizons_beyond_all_floats_are_named():
    with pytest.raises(ValueError, match="horizon=1000"):
        LongTermMemory(horizon=BEYOND).weights(3)


def test_a_window_longer_than_the_stream_takes_no_room():
    def windowed(window):
        concept = np.repeat([0, 1, 0, 1], 1000)
        rows = np.tile(X, (400, 1)), np.tile(Y, 400), concept
        result = prequential(SGDRegressor(random_state=0), rows, batch_size=50, window=window)
        return {name: value for name, value in result.scores["SGDRegressor"].items() if "seconds" not in name}

    assert repr(windowed(sys.maxsize)) == repr(windowed(10_000))
    with pytest.raises(ValueError, match="window"):
        windowed(BEYOND)
    assert windowed(1500)["after_change"] > 0.0  # the room for it is made twice


def test_switches_beyond_reason_are_named():
    with pytest.raises(ValueError, match="max_switches=1000000000 must be a whole number from 0 to"):
        prequential(SGDRegressor(), (X, Y), max_switches=10**9)
    with pytest.raises(ValueError, match="max_switches=1000000000 must be a whole number from 0 to"):
        best_sequence(np.abs(X), 10**9)


class SaysLists(Says):
    """Always the same probabilities, in a list of rows."""

    def __init__(self, as_row=list):
        self.as_row = as_row

    def predict_proba(self, X):
        return [self.as_row((0.2, 0.8)) for _ in range(len(X))]


@pytest.mark.parametrize("as_row", [list, tuple, np.array])
def test_rows_of_a_list_are_an_array(as_row):
    model = LongTermMemoryClassifier([("lists", SaysLists(as_row))], memory=None, on_error="raise")
    for _ in range(3):
        model.partial_fit(X, Y > 0.0, classes=[False, True])
    assert model.predict_proba(X)[0].tolist() == [0.2, 0.8]


@pytest.mark.parametrize("row", [[0.2], [0.2, None], [0.2, "text"], [0.2, [0.8]]], ids=str)
def test_rows_of_a_list_that_are_no_table_are_an_error(row):
    model = LongTermMemoryClassifier([("lists", SaysLists(lambda _: row))], memory=None, on_error="raise")
    model.partial_fit(X, Y > 0.0, classes=[False, True])  # in which nobody is asked yet
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        model.partial_fit(X, Y > 0.0)


@pytest.mark.parametrize("count", [np.array([1, 2]), pd.NA, "4"], ids=["array", "NA", "text"])
def test_a_number_of_experts_that_is_none_is_named_when_there_is_a_pool_too(count):
    with pytest.raises(ValueError, match="n_experts"):
        LongTermMemory().update([0.0, 1.0]).weights(count)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: SimpleReduction(bias=None).update([0.0, 1.0]), "bias"),
        (lambda: BestOfBothWorlds(constants=np.array(["paper", "tight"])).update([0.0, 1.0]), "constants"),
        (lambda: SlidingWindowUCB(exploration=None).run(np.zeros((5, 2))), "exploration"),
        (lambda: LowerBoundAdversary(2**62, 2, 3).play(Exp3()), "n_rounds"),
        (lambda: LowerBoundAdversary(10, 2, 3, random_state=-1).play(Exp3()), "random_state"),
        (lambda: crps(Y, X, [0.1, 0.9], mean=Y), "mean"),
        (lambda: Batches(pd.DataFrame(X), drop="a"), "drop"),
        (lambda: Batches(pd.DataFrame(X), drop=3), "drop"),
        (lambda: Batches(pd.DataFrame(X), as_frame=Y), "as_frame"),
        (lambda: Batches(pd.DataFrame({"a": [0], "y": [1]}), target=["y"]), "column"),
        (lambda: Batches(np.array(1.0)), "source"),
        (lambda: ExpertMixture(loss=len).fit(X, Y), "loss"),
        (lambda: LongTermMemoryEnsemble(pd.NA).update(X.T, Y), "n_estimators"),
    ],
)
def test_what_is_no_such_parameter_is_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_horizons_and_segments_beyond_64_bits_are_numbers():
    for algorithm in (SimpleReduction(horizon=10**30, n_segments=10**25), BestOfBothWorlds(horizon=10**60)):
        np.testing.assert_allclose(algorithm.update([0.0, 1.0]).weights().sum(), 1.0)


@pytest.mark.parametrize("kind", [river.BanditPolicy, river.ExpertPolicy])
def test_policies_name_arms_and_rewards_that_are_none(kind):
    policy = kind(seed=0)
    policy.update(policy.pull(["a", "b"]), 1.0)
    for arm in ([], np.array([1, 2]), np.nan, pd.NA):
        with pytest.raises(ValueError, match="arm"):
            policy.update(arm, 1.0)
    with pytest.raises(ValueError, match="arm"):
        policy.pull(["a", np.nan])
    for reward in (np.array([1.0, 2.0]), np.array([]), np.inf):
        with pytest.raises(ValueError, match="reward"):
            policy.update("a", reward)
    assert sorted(policy.ranking) == ["a", "b"]


def test_adapters_name_weights_and_targets_that_are_none():
    model = river.FromSklearnRegressor(SGDRegressor(random_state=0))
    for weight in (pd.NA, np.array([1.0, 2.0]), "1", -1.0):
        with pytest.raises(ValueError, match="weight"):
            model.learn_one(ROW, 1.0, w=weight)
    with pytest.raises(ValueError, match="target"):
        model.learn_one(ROW, np.timedelta64(5, "ns"))
    with pytest.raises(ValueError, match="y must be a sequence"):
        model.learn_many(pd.DataFrame([ROW]), 1.0)


def test_classes_that_cannot_be_told_apart_are_named():
    with pytest.raises(ValueError, match=r"class \[0.5\] is not hashable"):
        prequential(GaussianNB(), (X, Y > 0), classes=[0.5, [0.5]])


@pytest.mark.parametrize("weight", [np.inf, np.nan])
@pytest.mark.parametrize(
    "model", [SlidingWindow(GaussianNB()), LongTermMemoryClassifier([("bayes", GaussianNB()), ("other", GaussianNB())])]
)
def test_one_weight_for_all_rows_is_a_number(model, weight):
    model.fit(X, Y > 0)
    before = joblib.hash(model)
    with pytest.raises(ValueError, match="sample_weight"):
        model.partial_fit(X, Y > 0, sample_weight=weight)
    assert joblib.hash(model) == before


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda model: model.partial_fit(X, Y > 0, classes=np.inf), "classes"),
        (lambda model: model.partial_fit(X, Y > 0, classes=[]), "classes"),
        (lambda model: model.partial_fit(X[np.newaxis], Y > 0, classes=[0, 1]), "X"),
        (lambda model: model.partial_fit(X.astype(complex), Y > 0, classes=[0, 1]), "X"),
        (lambda model: model.partial_fit(X, Y[:, np.newaxis, np.newaxis] > 0, classes=[0, 1]), "y"),
    ],
)
def test_what_scikit_learn_does_not_name_is_named(call, name):
    for model in (LongTermMemoryClassifier([("bayes", GaussianNB())]), SlidingWindow(GaussianNB())):
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            call(model)


def test_scores_of_quantiles_stay_finite():
    assert np.isfinite(crps([1e308, -1e308], [[-1e308, 1e308]] * 2, [0.1, 0.9]))


def test_scalars_and_arrays_have_no_record_though_they_have_a_trace():
    for other in (np.ma.masked, np.zeros(3), np.datetime64("2024-01-01")):
        with pytest.raises(TypeError, match="keeps no history"):
            CumulativeLossDisplay.from_estimator(other)
