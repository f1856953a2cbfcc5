"""Files that earlier versions have written are loaded, and go on to the numbers that they went on to then."""

import json
import runpy
import shutil
import warnings
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

for needed in ("pandas", "river", "skops"):
    pytest.importorskip(needed)

from river_runs import RUNS as RIVER_RUNS  # noqa: E402
from runs import N_ROWS, RUNS, played  # noqa: E402
from sklearn.exceptions import InconsistentVersionWarning  # noqa: E402

import ltm_sklearn  # noqa: E402
from ltm_sklearn.persistence import load  # noqa: E402
from ltm_sklearn.persistence._plain import MADE  # noqa: E402

FIXTURES = Path(__file__).parent / "fixtures"
SCRIPT = runpy.run_path(str(FIXTURES / "write.py"))
FILES = sorted(FIXTURES.glob("*/*.ltm"))
FOLDERS = sorted(path.parent for path in FIXTURES.glob("*/checkpoints.npz"))


def written_with(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("manifest.json"))["versions"]


pytestmark = pytest.mark.filterwarnings("ignore:the file was written with ltm_sklearn:UserWarning")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_an_earlier_version_goes_on_to_its_numbers(path):
    of_models = {name for name in ("scikit-learn", "river", "sktime") if written_with(path).get(name, "") != ""}
    others = [name for name in of_models if written_with(path)[name] != version(name)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        if others:
            warnings.simplefilter("ignore", UserWarning)
        model = load(path)
    run = {**RUNS, **RIVER_RUNS}[path.stem]
    numbers = np.load(path.parent / "numbers.npz")[path.stem]
    said = played(run, N_ROWS // 2, N_ROWS // 2 + SCRIPT["N_MORE"], model)
    if others and not path.stem.startswith(("experts", "bandits", "mixture")):
        assert said.shape == numbers.shape  # other versions of the models may learn otherwise
    else:
        np.testing.assert_allclose(said, numbers, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SCRIPT["CHECKPOINTS"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_a_run_of_an_earlier_version_is_resumed(folder, name, tmp_path):
    shutil.copytree(folder / f"checkpoint-{name}", tmp_path / "run")
    came_to = SCRIPT["CHECKPOINTS"][name](tmp_path / "run", 2 * SCRIPT["HALF"])
    np.testing.assert_allclose(came_to, np.load(folder / "checkpoints.npz")[name], rtol=1e-9)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_values_of_an_earlier_version_come_back(folder):
    for needed in ("polars", "pyarrow"):
        pytest.importorskip(needed)
    path = folder / "values" / "values.ltm"
    loaded, made = load(path), SCRIPT["values"]()
    with zipfile.ZipFile(path) as archive:
        nodes = json.loads(archive.read("state.json"))["nodes"]
    written = {node[1] for node in nodes if node[0] == "made"}
    for name, value in loaded.items():
        if hasattr(value, "random"):
            assert value.random() == made[name].random()
        else:
            assert repr(value) == repr(made[name])
            assert type(value) is type(made[name])
    if folder.name == ltm_sklearn.__version__:
        assert written == {*MADE}


def test_there_are_files_of_this_version_and_they_are_small():
    assert {path.stem for path in FILES if path.parent.name == ltm_sklearn.__version__} == {*SCRIPT["NAMES"]}
    for folder in {path.parent for path in FILES}:
        assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 500_000


def test_files_of_a_version_are_not_written_again():
    with pytest.raises(SystemExit, match="written once"):
        SCRIPT["main"]()
