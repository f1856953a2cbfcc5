"""Files that earlier versions have written are loaded, and go on to the numbers that they went on to then."""

import json
import runpy
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

FIXTURES = Path(__file__).parent / "fixtures"
SCRIPT = runpy.run_path(str(FIXTURES / "write.py"))
FILES = sorted(FIXTURES.glob("*/*.ltm"))


def written_with(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("manifest.json"))["versions"]


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


def test_there_are_files_of_this_version_and_they_are_small():
    assert {path.stem for path in FILES if path.parent.name == ltm_sklearn.__version__} == {*SCRIPT["NAMES"]}
    for folder in {path.parent for path in FILES}:
        assert sum(path.stat().st_size for path in folder.iterdir()) < 500_000


def test_files_of_a_version_are_not_written_again():
    with pytest.raises(SystemExit, match="written once"):
        SCRIPT["main"]()
