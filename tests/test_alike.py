"""Objects taken apart into one of them and the values of the others, and put together again."""

import copy
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from ltm_sklearn import ExpertMixture
from ltm_sklearn._alike import Alike, alike, unlike
from ltm_sklearn.persistence import load, save


class Node:
    """With attributes, as it is asked for."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Counted(Node):
    """Says itself what it is made of, anew each time."""

    def __getstate__(self):
        return {**self.__dict__, "made": np.arange(self.n)}

    def __setstate__(self, state):
        self.__dict__.update({name: value for name, value in state.items() if name != "made"}, came_back=True)


def again(things):
    groups, which = alike(things)
    return unlike(groups, which), len(groups)


def test_values_come_back_to_the_last_bit_and_in_their_order():
    values = [0.0, -0.0, np.nan, np.inf, 5e-324, 0.1, 2**70, True, None, "a", np.float32(0.1), (1, "b")]
    things = [
        Node(value=value, array=np.array([at, -0.0]), deep={"list": [value, at]}) for at, value in enumerate(values)
    ]
    back, n_plans = again(things)
    assert n_plans == 2  # a tuple is made of others
    for one, other in zip(things, back, strict=True):
        assert pickle.dumps(one.value) == pickle.dumps(other.value)
        assert one.array.tobytes() == other.array.tobytes()
        assert repr(one.deep) == repr(other.deep)


def test_what_differs_in_more_than_values_is_put_apart():
    things = [
        Node(a=np.zeros(3)),
        Node(a=np.zeros(4)),
        Node(a=np.zeros(3)),
        Node(a=np.zeros(3, dtype=np.float32)),
        Node(b=np.zeros(3)),
        Counted(n=3),
        Node(a=[np.zeros(3)]),
    ]
    back, n_plans = again(things)
    assert n_plans == 6
    for one, other in zip(things, back, strict=True):
        assert type(one) is type(other)
        assert repr({**vars(other), "came_back": 0}) == repr({**vars(one), "came_back": 0})


def test_an_array_in_another_order_of_memory_stays_in_it():
    things = [Node(a=np.asfortranarray(np.arange(6.0).reshape(2, 3) + at)) for at in range(3)]
    for one, other in zip(things, again(things)[0], strict=True):
        assert other.a.flags.f_contiguous
        np.testing.assert_array_equal(one.a, other.a)


def test_what_is_one_in_an_object_stays_one_and_what_all_share_is_shared():
    prior = np.ones(2)
    things = []
    for at in range(3):
        own = np.full(2, float(at))
        things.append(Node(own=own, same=[own], prior=prior))
        things[-1].itself = things[-1]
    back, n_plans = again(things)
    assert n_plans == 1
    for at, node in enumerate(back):
        assert node.own is node.same[0]
        assert node.prior is prior
        assert node.itself is node
        np.testing.assert_array_equal(node.own, float(at))
    assert back[1].own.base is None  # else it would keep the values of all others


def test_twins_in_one_object_only_are_not_made_of_the_others():
    shared, apart = np.zeros(2), [np.zeros(2), np.zeros(2)]
    back, n_plans = again([Node(a=shared, b=shared), Node(a=apart[0], b=apart[1])])
    assert n_plans == 2
    assert back[0].a is back[0].b
    assert back[1].a is not back[1].b


def test_objects_with_a_way_of_their_own_come_back_that_way():
    back, n_plans = again([Counted(n=3), Counted(n=3)])
    assert n_plans == 1
    assert back[1].n == 3
    assert back[1].came_back


def test_objects_that_pickle_makes_in_another_way_are_kept_as_they_are():
    dates = [pd.Timestamp("2026-01-01"), pd.Timestamp("2026-01-02")]
    back, n_plans = again([Node(date=date, kinds={int, str}) for date in dates])
    assert n_plans == 1
    assert [node.date for node in back] == dates


def test_none_and_one():
    assert again([]) == ([], 0)
    (one,), n_plans = again([Node(a=1)])
    assert (one.a, n_plans) == (1, 1)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([np.zeros((2, 3))], "some have no values"),
        ([np.zeros((1, 4))], "the arrays are not"),
        ([np.zeros((1, 3), dtype=np.float32)], "the arrays are not"),
        ([], "shorter"),
    ],
)
def test_values_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        unlike([Alike(Node(a=np.zeros(3)), columns)], [0, 0])


# Panels --------------------------------------------------------------------------------------------------------------


def panel(n_series, n_rounds=6, **parameters):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"shop": np.tile(np.arange(n_series), n_rounds)})
    y = rng.normal(size=len(rows))
    for expert in "abc":
        rows[expert] = y + rng.normal(size=len(rows))
    return ExpertMixture(series="shop", **parameters).partial_fit(rows, y), rows, y


@pytest.mark.parametrize("parameters", [{}, {"lag": 2}, {"quantiles": [0.1, 0.9]}, {"bias": True, "block": 2}])
@pytest.mark.parametrize("way", ["pickle", "copy", "save"])
def test_a_panel_whose_series_are_of_several_plans_goes_on_to_the_last_bit(parameters, way, tmp_path):
    mixture, rows, y = panel(10, **parameters)
    mixture.partial_fit(rows[:7], y[:7])  # some series are ahead of the others, and a new one has just begun
    mixture.partial_fit(rows[:3].assign(shop=99), y[:3])
    if way == "save":
        save(mixture, tmp_path / "panel.ltm")
        back = load(tmp_path / "panel.ltm")
    else:
        back = pickle.loads(pickle.dumps(mixture)) if way == "pickle" else copy.deepcopy(mixture)
    for each in (mixture, back):
        each.partial_fit(rows, y)
    assert back.cells_ == mixture.cells_
    assert back.weights_.tobytes() == mixture.weights_.tobytes()
    assert back.predict(rows).tobytes() == mixture.predict(rows).tobytes()


def test_a_panel_of_many_series_is_written_as_few_objects(tmp_path):
    def n_nodes(n_series):
        save(panel(n_series)[0], tmp_path / "panel.ltm")
        with zipfile.ZipFile(tmp_path / "panel.ltm") as archive:
            return len(json.loads(archive.read("state.json"))["nodes"])

    assert n_nodes(400) == n_nodes(200)
