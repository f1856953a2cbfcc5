"""The parser, the help, exit codes, and the commands of the documentation."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ltm_sklearn.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", [[], ["demo"], ["evaluate"], ["mixture"], ["watch"]])
def test_the_help_has_an_example_and_fits_a_terminal(capsys, command):
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    words = capsys.readouterr().out
    assert all(len(line) <= 100 for line in words.splitlines())
    if command != ["demo"]:
        assert f"ltm-sklearn {' '.join(command)}" in words.partition("options:")[2]
        assert "exit codes" in words


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["evaluate", "stream.csv"], ["mixture", "forecasts.csv"]])
def test_wrong_usage_is_exit_code_2(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_the_commands_in_the_documentation_are_parsed(monkeypatch):
    parsed = []
    for command in ("demo", "evaluate", "mixture", "watch"):
        monkeypatch.setattr(f"ltm_sklearn.cli._{command}.run", parsed.append)
    document = (ROOT / "docs" / "command_line.md").read_text()
    shell = "".join(re.findall(r"```sh\n(.*?)```", document, flags=re.DOTALL)).replace("\\\n", " ")
    lines = [line for line in shell.splitlines() if line.startswith("ltm-sklearn")]
    assert len(lines) >= 8
    for line in lines:
        assert main(shlex.split(line, comments=True)[1:]) == 0
    assert len(parsed) == len(lines)


def test_the_module_is_a_command():
    run = subprocess.run([sys.executable, "-P", "-m", "ltm_sklearn", "--version"], capture_output=True, text=True)
    assert run.stdout.startswith("ltm_sklearn ")
