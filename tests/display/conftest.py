"""Settings of all display tests: no windows, and no figure outlives its test."""

import pytest

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")
