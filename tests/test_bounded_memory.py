"""Memory does not grow with the rounds; ``tests/slow/soak.py`` tests that over ten million rounds."""

import gc
import pickle
import tracemalloc

import numpy as np
import pytest
from slow import soak_loads
from slow.soak_loads import FAST, ROWS, SLOW

from ltm_sklearn import Snapshots

pytestmark = pytest.mark.exhaustive

#: One more number in each round would take more than this over the rounds that are measured.
MOST_BYTES = 20_000

#: Fast enough to be measured with every allocation on record.
TRACED = {**FAST, **{name: lambda seed, of=load: of(seed, Snapshots(20, max_size=3)) for name, load in ROWS.items()}}


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch):
    """Use chunks of a hundred rounds, from tables of their own."""
    tables = [soak_loads.loss_chunks, soak_loads.forecast_chunks, soak_loads.labelled_rows]
    for table in tables:
        table.cache_clear()
    monkeypatch.setattr(soak_loads, "CHUNK", 100)
    yield
    for table in tables:
        table.cache_clear()


def learn(load, n_chunks):
    for _ in range(n_chunks):
        load.learn()
        load.account()


def traced_bytes():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("name", TRACED)
@pytest.mark.filterwarnings("ignore:expert .* slept:UserWarning")
def test_memory_does_not_grow_with_the_rounds(name):
    tracemalloc.start()
    try:
        load = TRACED[name](seed=0)
        learn(load, 12)
        before = traced_bytes()
        learn(load, 8)
        assert traced_bytes() - before < MOST_BYTES
    finally:
        tracemalloc.stop()
    assert load.problems() == []


@pytest.mark.parametrize("name", [name for name in SLOW if "tv" not in name])
def test_states_do_not_grow_with_the_rounds(name):
    load = SLOW[name](seed=0)
    learn(load, 2)
    before = len(pickle.dumps(load.algorithm))
    learn(load, 4)
    assert len(pickle.dumps(load.algorithm)) - before < 32  # larger numbers take more digits
    assert load.problems() == []


def test_pruned_copies_grow_with_the_logarithm_of_the_rounds():
    load = SLOW["experts tv-pruned"](seed=0)
    sizes = []
    for _ in range(4):
        learn(load, 4)
        sizes.append(len(load.algorithm.state_["born"]))
    assert max(sizes) <= 4 * np.log2(load.n_rounds)
    assert load.problems() == []


def test_a_load_that_grows_is_noticed():
    class Hoarder(soak_loads.Load):
        kept = ()

        def learn(self):
            self.kept = [*self.kept, *np.random.default_rng(0).random(100).tolist()]

    load = Hoarder()
    tracemalloc.start()
    learn(load, 12)
    before = traced_bytes()
    learn(load, 12)
    grown = traced_bytes() - before
    tracemalloc.stop()
    assert grown > MOST_BYTES
