"""Values and objects that a saved state consists of come back to the last bit."""

import datetime as dt
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from river import tree
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from support.interrupted_runs import LABELS, X

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import _archive, dumps, loads


def reloaded(thing):
    """Return a copy through bytes in which nothing is pickled."""
    return loads(dumps(thing, allow_pickle=False))


VALUES = [
    None,
    True,
    -0.0,
    5e-324,
    float("nan"),
    float("-inf"),
    0.1 + 0.2,
    10**400,
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
    defaultdict(list, a=[1]),
    dt.datetime(2024, 10, 27, 2, 30, fold=1),
    dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2), "two")),
    dt.datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")),
    dt.date(2024, 2, 29),
    dt.timedelta(1, 2, 3),
    pd.Timestamp("2024-01-01 10:11:12.123456789"),
    pd.Timestamp("2024-07-01 10:00", tz="Europe/Berlin"),
    Decimal("0.10"),
    Path("a/b"),
    np.float32(0.1),
    np.str_("é"),
    np.bool_(True),
    np.datetime64("2024-01-01T00", "h"),
    np.dtype("f4"),
    float,
    Hedge,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_come_back_to_the_last_bit(value):
    found = reloaded(value)
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
        np.array(["a", "ü"]),
        np.array([[1, None], ["a", [1, 2]]], dtype=object),
        np.array(["2024-01", "NaT"], dtype="M8[M]"),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_arrays_come_back_as_they_lie_in_memory(array):
    found = reloaded(array)
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())
    assert found.flags.f_contiguous == (array.flags.f_contiguous or array.ndim < 2)
    assert found.flags.writeable


@pytest.mark.parametrize(
    "make", [lambda: np.random.default_rng(3), lambda: np.random.RandomState(3), lambda: Random(3)]
)
def test_random_generators_go_on(make):
    generator = make()
    generator.random()
    found = reloaded(generator)
    assert [found.random() for _ in range(5)] == [generator.random() for _ in range(5)]
    if isinstance(generator, np.random.Generator):
        generator.spawn(1)
        assert reloaded(generator).spawn(1)[0].random() == generator.spawn(1)[0].random()


def test_one_object_with_several_references_stays_one():
    array, hedge, model, tree_model = np.zeros(3), Hedge(), GaussianNB().fit(X, LABELS), tree.HoeffdingTreeClassifier()
    cycle = [array, array, hedge, {"hedge": hedge}, model, (model,), tree_model, {"tree": tree_model}]
    cycle.append(cycle)
    found = loads(dumps(cycle), trusted=True)
    assert found[0] is found[1]
    assert found[2] is found[3]["hedge"]
    assert found[4] is found[5][0]
    assert found[6] is found[7]["tree"]
    assert found[8] is found


def test_models_of_scikit_learn_share_what_they_shared():
    state = np.random.RandomState(0)
    found = reloaded([SGDClassifier(random_state=state), SGDClassifier(random_state=state)])
    assert found[0].random_state is found[1].random_state


def test_functions_methods_and_partial_functions_come_back():
    hedge = Hedge()
    found = reloaded({"partial": partial(Hedge, rate=0.5), "method": hedge.update, "of": hedge})
    assert found["partial"]().rate == 0.5
    assert found["method"].__self__ is found["of"]


def test_a_tuple_that_contains_itself_is_refused():
    cycle = []
    cycle.append((cycle,))
    assert type(reloaded(cycle)[0]) is tuple
    with pytest.raises(ValueError, match="a tuple that contains itself cannot be saved"):
        dumps(cycle[0])


@pytest.mark.parametrize(
    ("model", "elsewhere"),
    [(Hedge(), b"ltm_sklearn.elsewhere"), (LongTermMemoryClassifier(), b"ltm_sklearn.ensemble.elsewhere")],
    ids=["unique name", "name with a twin for River"],
)
def test_a_class_that_has_moved_within_the_package_is_found(model, elsewhere):
    manifest, members = _archive.unpack(dumps(model))
    members["state.json"] = members["state.json"].replace(type(model).__module__.encode(), elsewhere)
    assert type(loads(_archive.pack(manifest, members))) is type(model)
