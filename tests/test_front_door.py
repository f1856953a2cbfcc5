"""What a new user meets first: the README, the documents' code. The examples run with the site."""

import logging
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def as_it_was(monkeypatch):
    """No windows, no figures left open, and the logging of the next test untouched."""
    plt.switch_backend("Agg")
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    yield
    plt.close("all")
    logging.getLogger("ltm_sklearn").setLevel(logging.NOTSET)


def code_blocks(document):
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/getting_started.md",
        "docs/which_algorithm.md",
        "docs/memory.md",
        "docs/delays.md",
        "docs/production.md",
        "docs/distributed.md",
        "docs/monitoring.md",
        "docs/own_algorithm.md",
        "docs/ensemble.md",
        "docs/streams.md",
        "docs/river.md",
        "docs/evaluation.md",
        "docs/oracles.md",
        "docs/forecasting.md",
        "docs/display.md",
        "docs/forecasters.md",
        "docs/bandits.md",
    ],
)
@pytest.mark.usefixtures("as_it_was")
def test_the_code_in_the_documents_runs(document, capsys):
    names = {}
    blocks = code_blocks(document)
    assert blocks
    for block in blocks:
        exec(compile(block, document, "exec"), names)
    assert capsys.readouterr().out
