"""Packed series: panels are pickled, copied and saved as a few arrays, and continue with the same numbers."""

import copy
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from ltm_sklearn import ExpertMixture
from ltm_sklearn.experts import BOA, Hedge, LongTermMemory, SimpleReduction
from ltm_sklearn.forecasting._packed_series import packed_series, unpacked_series
from ltm_sklearn.persistence import load, save


def panel(n_series=10, n_rounds=6, **parameters):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"shop": np.tile(np.arange(n_series), n_rounds)})
    y = rng.normal(size=len(rows))
    for expert in "abc":
        rows[expert] = y + rng.normal(size=len(rows))
    return ExpertMixture(series="shop", **parameters).partial_fit(rows, y), rows, y


def restored(mixture, way, folder):
    if way == "save":
        save(mixture, folder / "panel.ltm")
        return load(folder / "panel.ltm", trusted=True)
    return pickle.loads(pickle.dumps(mixture)) if way == "pickle" else copy.deepcopy(mixture)


class Odd(Hedge):
    """Algorithm with arrays that np.stack would change."""

    def _start(self, prior, rate=None, horizon=None):
        self.strided_ = np.arange(8.0)[::2]
        self.turned_ = np.asfortranarray(np.arange(6.0).reshape(2, 3))
        self.single_ = np.array(0.5)
        self.foreign_ = np.arange(3.0).astype(">f8")
        self.pair_ = (1, "a")
        return super()._start(prior, rate, horizon)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"lag": 2},
        {"quantiles": [0.1, 0.9]},
        {"bias": True, "block": 2},
        {"gradient": False},
        {"algorithm": LongTermMemory()},
        {"algorithm": SimpleReduction()},
        {"algorithm": BOA()},
        {"algorithm": Odd()},
    ],
    ids=repr,
)
@pytest.mark.parametrize("way", ["pickle", "copy", "save"])
def test_restored_panel_continues_with_the_same_numbers(parameters, way, tmp_path):
    mixture, rows, y = panel(**parameters)
    mixture.partial_fit(rows[:7], y[:7])  # some series have more rows than others
    mixture.partial_fit(rows[:3].assign(shop=99), y[:3])
    back = restored(mixture, way, tmp_path)
    for each in (mixture, back):
        each.partial_fit(rows, y)
        each.partial_fit(rows.assign(newcomer=y), y)
    assert back.cells_ == mixture.cells_
    assert back.weights_.tobytes() == mixture.weights_.tobytes()
    assert back.predict(rows.assign(newcomer=y)).tobytes() == mixture.predict(rows.assign(newcomer=y)).tobytes()


def algorithms(mixture):
    """Return the algorithms of the members of each state."""
    return [[member.algorithm for member in state.aggregator.members] for state in mixture._panel.states.values()]


@pytest.mark.parametrize("way", ["pickle", "copy", "save"])
def test_restored_series_share_no_memory(way, tmp_path):
    back = restored(panel()[0], way, tmp_path)
    (first, first_poly), (second, second_poly), *_ = algorithms(back)
    assert first.state_["potential"].base is None  # a view would keep the numbers of all series in memory
    for name, mine in [*first.state_.items(), *first_poly.state_.items()]:
        yours = second.state_.get(name, second_poly.state_.get(name))
        assert not isinstance(mine, np.ndarray) or not np.shares_memory(mine, yours)
    assert isinstance(second_poly.state_["largest"], np.ndarray)  # without a dimension


@pytest.mark.parametrize("way", ["pickle", "copy", "save"])
def test_unknown_objects_in_a_state_are_not_packed(way, tmp_path):
    for (algorithm,) in algorithms(restored(panel(algorithm=Odd())[0], way, tmp_path)):
        assert isinstance(algorithm.single_, np.ndarray)
        assert algorithm.pair_ == (1, "a")
        assert algorithm.turned_.flags.f_contiguous
        np.testing.assert_array_equal(algorithm.foreign_, [0.0, 1.0, 2.0])
        np.testing.assert_array_equal(algorithm.strided_, [0.0, 2.0, 4.0, 6.0])


def test_many_series_are_saved_as_few_objects(tmp_path):
    def n_nodes(n_series):
        save(panel(n_series)[0], tmp_path / "panel.ltm")
        with zipfile.ZipFile(tmp_path / "panel.ltm") as archive:
            return len(json.loads(archive.read("state.json"))["nodes"])

    assert n_nodes(400) == n_nodes(200)


def test_panel_without_series():
    assert unpacked_series(*packed_series({})) == {}
