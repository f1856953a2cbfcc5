"""What is saved goes on to the same numbers, to the last bit, whatever it is and whenever it is saved."""

import copy
import datetime as dt
import math
import zipfile
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import scipy.sparse as sp
from runs import LABELS, N_ROWS, RUNS, X, played
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier, bandits, experts
from ltm_sklearn.ensemble import FromRiverClassifier, SlidingWindow
from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import load, save
from ltm_sklearn.persistence._file import _dump, _load

pd = pytest.importorskip("pandas")
pytest.importorskip("skops")
pytest.importorskip("river")

from river import datasets, naive_bayes  # noqa: E402
from river_runs import RUNS as RIVER_RUNS  # noqa: E402

ALL_RUNS = {**RUNS, **RIVER_RUNS}
HALF = N_ROWS // 2


def again(thing):
    return _load(_dump(thing))


@pytest.mark.parametrize("run", ALL_RUNS.values(), ids=ALL_RUNS)
def test_what_is_loaded_goes_on_to_the_same_numbers(run, tmp_path):
    model = run[0]()
    played(run, 0, HALF, model)
    save(model, tmp_path / "model.ltm")
    uninterrupted = played(run, HALF, N_ROWS, model)
    loaded = load(tmp_path / "model.ltm")
    assert np.array_equal(played(run, HALF, N_ROWS, loaded), uninterrupted)
    assert type(loaded) is type(model)


def test_every_algorithm_and_bandit_is_among_the_runs():
    made = {type(make()).__name__ for make, _ in RUNS.values()}
    abstract = {"ExpertAlgorithm", "BanditAlgorithm", "LowerBoundAdversary"}
    assert {*experts.__all__, *bandits.__all__} - abstract <= made


@pytest.mark.parametrize("run", ALL_RUNS.values(), ids=ALL_RUNS)
def test_what_is_not_fitted_is_loaded_too(run):
    model = run[0]()
    assert repr(again(model)) == repr(model)


@pytest.mark.parametrize("name", ["classifier", "mixture", "experts-long-term-memory", "river-classifier"])
def test_what_is_not_fitted_begins_as_it_would_have(name):
    run = ALL_RUNS[name]
    assert np.array_equal(played(run, 0, 40, again(run[0]())), played(run, 0, 40, run[0]()))


def test_the_history_goes_on():
    model, run = ALL_RUNS["classifier"][0](), ALL_RUNS["classifier"]
    played(run, 0, HALF, model)
    loaded = again(model)
    for each in (model, loaded):
        played(run, HALF, N_ROWS, each)
    for one, other in zip(loaded.history_, model.history_, strict=True):
        assert repr(one) == repr(other)


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        ExtraTreesClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
        MLPClassifier((3,), max_iter=5, random_state=0),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_of_scikit_learn_are_loaded_without_more_being_trusted(estimator):
    window = SlidingWindow(estimator).fit(X[:HALF], LABELS[:HALF])
    loaded = again(window)
    for each in (window, loaded):
        each.partial_fit(X[HALF:], LABELS[HALF:])
    assert np.array_equal(loaded.predict_proba(X), window.predict_proba(X))


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        (make_pipeline(SimpleImputer(), DecisionTreeClassifier(random_state=0)), X),
        (make_pipeline(SelectKBest(f_classif, k=1), LogisticRegression()), X),
        (CalibratedClassifierCV(GaussianNB()), X),
        (GaussianProcessClassifier(), X),
        (KNeighborsClassifier(), sp.csr_array(X)),
        (SVC(), sp.csr_matrix(X)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_estimators_of_scikit_learn_have_inside_is_trusted(estimator, rows):
    loaded = again(estimator.fit(rows, LABELS))
    assert np.array_equal(loaded.predict(rows), estimator.predict(rows))


def test_what_experts_ask_of_metadata_comes_back():
    with config_context(enable_metadata_routing=True):
        asking = GaussianNB().set_partial_fit_request(sample_weight=True)
        model = LongTermMemoryClassifier([("bayes", asking)]).set_partial_fit_request(sample_weight=True)
        for each in (model, model.fit(X, LABELS)):
            found = again(each)
            assert repr(found.get_metadata_routing()) == repr(model.get_metadata_routing())
        assert np.array_equal(found.predict_proba(X), model.predict_proba(X))


def test_counts_in_a_table_come_back_and_what_would_not_be_loaded_is_not_written():
    frame = pd.DataFrame({"words": [Counter("abca"), Counter("b")], "last": [deque([1], 2), deque()]})
    found = again({"frame": frame})["frame"]
    assert found.map(repr).equals(frame.map(repr))
    with pytest.raises(ValueError, match=r"Hedge, is in a table"):
        _dump({"frame": pd.DataFrame({"models": [Hedge()]})})


def test_many_small_objects_may_share_a_large_one():
    shared = [float(at) for at in range(2000)]
    found = again([partial(int, shared) for _ in range(100)])
    assert found[0].args[0] is found[-1].args[0]
    found = _load(_dump([Pair(at, shared) for at in range(100)]), trusted=OWN)
    assert found[0].second is found[-1].second


def test_frames_that_are_kept_are_loaded():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(np.float32), "c": X[:, 2]})
    model = LongTermMemoryClassifier(
        [("bayes", GaussianNB()), ("from river", FromRiverClassifier(naive_bayes.GaussianNB()))]
    )
    model.partial_fit(frame[:HALF], LABELS[:HALF], classes=[False, True])
    loaded = again(model)
    assert np.array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


def test_rivers_counts_of_false_and_true_are_not_confused():
    model = naive_bayes.BernoulliNB()
    for x, y in datasets.Phishing().take(50):
        model.learn_one(x, y)
    loaded = again(model)
    assert loaded.class_counts == model.class_counts
    assert [*loaded.class_counts] == [*model.class_counts]


PLAIN = [
    None,
    True,
    -0.0,
    5e-324,
    float("nan"),
    float("-inf"),
    0.1 + 0.2,
    10**400,
    -(2**63),
    2 + 3j,
    "é\ud800\0",
    b"\0\xff",
    bytearray(b"ab"),
    slice(1, None, 2),
    range(3, 9, 2),
    {True: 1, 1.5: 2, None: 3, (1, "a"): 4, frozenset([1]): 5},
    {1, 2, "a"},
    (1, (2, [3.0])),
    OrderedDict(b=1, a=2),
    Counter("abca"),
    deque([1, 2, 3], maxlen=3),
    [0.1 * at for at in range(100)],
    tuple(range(100)),
    dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2), "two")),
    dt.date(2024, 2, 29),
    dt.time(1, 2, 3, 4),
    dt.timedelta(1, 2, 3),
    Decimal("0.10"),
    Fraction(1, 3),
    UUID(int=7),
    Path("a/b"),
    NormalDist(1.0, 2.0),
    np.float32(0.1),
    np.int8(-3),
    np.str_("é"),
    np.bool_(True),
    np.datetime64("2024-01-01T00", "h"),
    np.timedelta64(5, "D"),
    np.dtype("f4"),
    float,
    pd.Timestamp("2024-01-01 10:11:12.123456789"),
    pd.Timestamp("2024-07-01 10:00", tz="Europe/Berlin"),
    pd.Timedelta("3h"),
    pd.Period("2024-01", "M"),
    pd.offsets.MonthEnd(2),
    pd.NaT,
    pd.NA,
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)  # the same in all processes
def test_values_come_back_to_the_last_bit(value):
    found = again(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(X[:5]),
        X[:10:2, ::-1],
        np.zeros((0, 3)),
        np.array(1.5),
        np.array([1, 2], dtype=">i4"),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        np.array(["a", "ü"]),
        np.array([[1, None], ["a", [1, 2]]], dtype=object),
        np.array(["2024-01", "NaT"], dtype="M8[M]"),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_arrays_come_back_as_they_lie_in_memory(array):
    found = again(array)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tolist() == array.tolist()
    assert found.flags.f_contiguous == (array.flags.f_contiguous or array.ndim < 2)
    assert found.flags.writeable


@pytest.mark.parametrize(
    "make", [lambda: np.random.default_rng(3), lambda: np.random.RandomState(3), lambda: Random(3)]
)
def test_random_generators_go_on(make):
    generator = make()
    generator.random()
    found = again(generator)
    assert [found.random() for _ in range(5)] == [generator.random() for _ in range(5)]
    if isinstance(generator, np.random.Generator):
        generator.spawn(1)
        assert again(generator).spawn(1)[0].random() == generator.spawn(1)[0].random()


def test_tables_of_pandas_come_back():
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["p", None])
    columns = {
        "text": ["x", None, "z"],
        "kind": pd.Categorical(["u", "v", "u"], ordered=True),
        "when": pd.to_datetime(["2020", "2021", "2022"]),
        "zone": pd.to_datetime(["2020", "2021", "2022"]).tz_localize("Europe/Berlin"),
        "some": pd.array([1, None, 3], dtype="Int64"),
        "month": pd.period_range("2020-01", periods=3, freq="M"),
        "any": np.array([1, "a", None], dtype=object),
    }
    for frame in (pd.DataFrame(columns, index=index), pd.DataFrame(X), pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})):
        found = again(frame)
        pd.testing.assert_frame_equal(found, frame)
        assert found.to_numpy().flags.c_contiguous == frame.to_numpy().flags.c_contiguous
    for index in (pd.date_range("2020", periods=4, freq="MS", name="t"), pd.timedelta_range("1h", periods=3, freq="h")):
        pd.testing.assert_index_equal(again(index), index)
        assert again(index).freq == index.freq


def test_tables_of_polars_and_pyarrow_come_back():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame, table = pl.DataFrame({"a": [1, 2], "b": ["x", None]}), pa.table({"a": [1.5, None]})
    assert again(frame).equals(frame)
    assert again(table).equals(table)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_sparse_matrices_come_back(kind):
    matrix = kind(np.where(X > 0, X, 0.0))
    assert type(again(matrix)) is kind
    assert np.array_equal(again(matrix).toarray(), matrix.toarray())


def test_what_is_one_object_stays_one():
    array, hedge, model = np.zeros(3), Hedge(), GaussianNB().fit(X, LABELS)
    cycle = [array, array, hedge, {"hedge": hedge}, model, (model,)]
    cycle.append(cycle)
    found = again(cycle)
    assert found[0] is found[1]
    assert found[2] is found[3]["hedge"]
    assert found[4] is found[5][0]
    assert found[6] is found


def test_deep_chains_need_no_deep_recursion():
    chain = None
    for _ in range(20_000):
        chain = [chain]
    found, depth = again(chain), 0
    while found is not None:
        (found,), depth = found, depth + 1
    assert depth == 20_000
    while chain is not None:  # lest Python does it, recursively
        (chain,) = chain


def test_factories_and_bound_methods_come_back():
    hedge = Hedge()
    given = {"list": defaultdict(list, a=[1]), "partial": partial(Hedge, rate=0.5), "method": hedge.update, "of": hedge}
    found = again(given)
    assert found["list"]["new"] == []
    assert found["partial"]().rate == 0.5
    assert found["method"].__self__ is found["of"]


def test_the_same_state_gives_the_same_bytes():
    model = Hedge().update([0.1, 0.2])
    assert _dump(model) == _dump(copy.deepcopy(model))


def test_the_file_is_an_ordinary_archive_that_says_what_it_is(tmp_path):
    save(LongTermMemoryClassifier([("bayes", GaussianNB())]).fit(X, LABELS), tmp_path / "model.ltm")
    with zipfile.ZipFile(tmp_path / "model.ltm") as archive:
        assert archive.testzip() is None
        assert {"manifest.json", "state.json", "arrays/0.npy", "models.skops"} <= {*archive.namelist()}
        manifest = archive.read("manifest.json").decode()
    for word in ("LongTermMemoryClassifier", '"format_version":1', "scikit-learn", "skops", "python"):
        assert word in manifest


# What others would change ---------------------------------------------------------------------------------------------


class Phase(Enum):
    WARM = 1
    RUN = 2


class Holder(BaseEstimator):
    """A model of one's own, with any attribute."""


class Calling(dict):
    """It refers to itself."""

    def __init__(self):
        self.call = self.answer

    def answer(self):
        return len(self)


class Pair(NamedTuple):
    """Two things."""

    first: int
    second: list


OWN = [f"{__name__}.{kind.__qualname__}" for kind in (Phase, Holder, Calling, Pair)]


def held_again(value):
    """By an estimator, which skops may write."""
    holder = Holder()
    holder.state_ = value
    return _load(_dump({"holder": holder}), trusted=OWN)["holder"].state_


@pytest.mark.parametrize(
    "value",
    [
        Phase.RUN,
        [Phase.WARM],
        pd.Timestamp("2020-01-01"),
        pd.Timedelta("1s"),
        pd.Interval(0, 1, closed="left"),
        {1: 0.5, "1": 0.7},
        {float("nan"): 1, "NaN": 2},
        dt.datetime(2020, 10, 25, 2, fold=1),
        np.bytes_(b"a"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_an_estimator_come_back(value):
    assert repr(held_again(value)) == repr(value)
    assert getattr(held_again(value), "fold", 0) == getattr(value, "fold", 0)


def test_numbers_that_are_none_keep_their_sign_and_stay_apart():
    for sign in (1.0, -1.0):
        value = math.copysign(float("nan"), sign)
        assert math.copysign(1.0, again([value])[0]) == sign
        assert math.copysign(1.0, held_again(value)) == sign
    two = {float("nan"): 1, -float("nan"): 2, float("nan") * 1: 3}
    assert [*again(two).values()] == [*held_again(two).values()] == [1, 2, 3]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series([1.0, 2.0]),
        pd.Series(pd.cut([1, 2, 3], 2)),
    ],
    ids=lambda series: str(series.dtype),
)
def test_series_of_an_estimator_come_back(series):
    pd.testing.assert_series_equal(held_again(series), series)


@pytest.mark.parametrize(
    "value",
    [
        pd.offsets.CustomBusinessDay(holidays=["2020-01-03"]),
        pd.offsets.BusinessHour(start="10:00"),
        pd.offsets.Week(weekday=None),
        pd.DateOffset(months=3),
        pd.date_range("2020", periods=3, freq=pd.offsets.CustomBusinessDay(holidays=["2020-01-03"])),
        np.dtype("S"),
        np.dtype("U"),
        np.dtype((float, (2,))),
        np.zeros(3, "V0"),
        np.zeros(2, {"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [8, 0], "itemsize": 16}),
        np.rec.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.matrix([[1, 2]]),
        np.ma.MaskedArray([1.0, 2.0], mask=[0, 1], fill_value=-7.0),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("dumps", [lambda value: _dump({"v": value}), held_again], ids=["itself", "in an estimator"])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_what_would_come_back_otherwise_is_not_written(value, dumps):
    with pytest.raises(ValueError, match=r"v'\]|state_"):
        dumps(value)


def test_tables_that_are_no_python_inside_are_not_written():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    strings = pd.Series(["a", None], dtype=pd.StringDtype("python"))
    for value in (pa.array([1]), pl.Series([1]), pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), strings):
        with pytest.raises(ValueError, match=r"\['v'\].*cannot be written"):
            _dump({"v": value})


def test_objects_that_refer_to_themselves():
    found = _load(_dump(Calling()), trusted=OWN)
    assert type(found) is Calling
    assert found.call.__self__ is found
    cycle = []
    cycle.append((cycle,))
    assert again(cycle)[0][0] is not None
    with pytest.raises(ValueError, match=r"a tuple, is a part of itself"):
        _dump({"v": cycle[0]})


def test_what_a_model_shares_with_one_that_is_written_otherwise_stays_one():
    state = np.random.RandomState(0)
    weighted = SGDClassifier(random_state=state, class_weight={False: 1.0, True: 2.0})  # which skops would change
    found = again({"state": state, "weighted": weighted, "other": SGDClassifier(random_state=state)})
    assert found["weighted"].random_state is found["other"].random_state is found["state"]


def test_an_attribute_that_would_not_be_loaded_is_not_written():
    algorithm = Hedge()
    algorithm.update = np.log
    with pytest.raises(ValueError, match="'update', a method"):
        _dump({"v": algorithm})
