"""The command ``demo``."""

import re
import sys

import pytest

from ltm_sklearn.cli import main

pytest.importorskip("matplotlib")


def test_the_demo_prints_a_table_and_writes_a_picture(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    regrets = {line[:34].strip(): float(line[34:42]) for line in lines if re.match(r".{34} +\d+ ", line)}
    assert min(regrets, key=regrets.get) == "LongTermMemory (default)"
    assert len(regrets) == 9
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_demo_names_wrong_options(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "nowhere" / "demo.png")]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert main(["demo", "--seed", "-1"]) == 2
    assert "-1" in capsys.readouterr().err


def test_the_demo_names_the_missing_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo"]) == 1
    assert "ltm_sklearn[plot]" in capsys.readouterr().err
