"""What a new user meets first: the README, the documents' code, the command line. The examples run with the site."""

import logging
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from ltm_sklearn.__main__ import main

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


def test_the_demo_prints_a_table_and_writes_a_picture(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    regrets = {line[:34].strip(): float(line[34:42]) for line in lines if re.match(r".{34} +\d+ ", line)}
    assert min(regrets, key=regrets.get) == "LongTermMemory (default)"
    assert len(regrets) == 9
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_demo_says_what_is_wrong(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "nowhere" / "demo.png")]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert main(["demo", "--seed", "-1"]) == 2
    assert "-1" in capsys.readouterr().err


def test_the_demo_names_the_missing_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo"]) == 1
    assert "ltm_sklearn[plot]" in capsys.readouterr().err


def test_help_and_version_from_the_command_line(tmp_path):
    for option in ("--help", "--version"):
        run = subprocess.run(
            [sys.executable, "-m", "ltm_sklearn", option], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert "ltm" in run.stdout
