"""Values and objects that a saved state consists of come back to the last bit."""

import datetime as dt
from collections import Counter, defaultdict, deque
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from river import tree
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from support.interrupted_runs import LABELS, X

from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import BadFileError, _archive, dumps, loads


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
    "é\ud800\0",
    {True: 1, 1.5: 2, None: 3, (1, "a"): 4},
    {1, 2, "a"},
    (1, (2, [3.0])),
    Counter("abca"),
    deque([1, 2, 3], maxlen=3),
    dt.date(2024, 2, 29),
    dt.datetime(2024, 10, 27, 2, 30),
    pd.Timestamp("2024-01-01 10:11:12.123456789"),
    pd.Timestamp("2024-10-27 02:30").tz_localize("Europe/Berlin", ambiguous=False),
    pd.Timestamp("2024-07-01").as_unit("s"),
    Path("a/b"),
    np.float32(0.1),
    np.str_("é"),
    np.bool_(True),
    np.datetime64("2024-01-01T00", "h"),
    np.dtype("f4"),
    Hedge,
]
PICKLED = [
    b"\0\xff",
    2 + 3j,
    slice(1, None, 2),
    defaultdict(list, a=[1]),
    dt.datetime(2024, 10, 27, 2, 30, fold=1),
    dt.datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")),
    pd.Timestamp("2024-07-01", tz=dt.timezone(dt.timedelta(hours=2), "two")),
    Decimal("0.10"),
    float,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_come_back_to_the_last_bit(value):
    found = reloaded(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize("value", PICKLED, ids=lambda value: type(value).__name__)
def test_other_values_are_pickled(value):
    with pytest.raises(ValueError, match="can only be pickled"):
        dumps([value], allow_pickle=False)
    assert repr(loads(dumps([value]), trusted=True)) == repr([value])


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
    "make", [lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)], ids=["Generator", "RandomState"]
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


def test_models_of_scikit_learn_share_a_random_state():
    state = np.random.RandomState(0)
    found = reloaded([SGDClassifier(random_state=state), SGDClassifier(random_state=state), state])
    assert found[0].random_state is found[1].random_state is found[2]


def test_a_list_in_a_tuple_that_it_contains_is_saved():
    cycle = []
    cycle.append((cycle,))
    found = reloaded(cycle)
    assert found[0][0] is found


def test_a_class_that_is_not_in_the_package_is_named():
    manifest, members = _archive.unpack(dumps(Hedge()))
    members["state.json"] = members["state.json"].replace(b":Hedge", b":Absent")
    with pytest.raises(BadFileError, match="Absent', which this version of ltm_sklearn does not know"):
        loads(_archive.pack(manifest, members))
