"""Files that this version and earlier ones have written are loaded, and go on to the same predictions."""

import json
import re
import warnings

import numpy as np
import pytest
from fixtures.write import ALL_RUNS, FOLDER, HALF, SAVED, VERSION, environment
from support.interrupted_runs import N_ROWS

from ltm_sklearn.persistence import load

FILES = sorted(FOLDER.glob("*/*.ltm"))


def test_there_are_files_of_this_version():
    names = {path.stem for path in FILES if path.parent.name == VERSION}
    assert names == {*SAVED}, "run tests/fixtures/write.py"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_goes_on_to_the_same_predictions(path):
    expected = np.load(path.with_name("predictions.npz"))[path.stem]
    with warnings.catch_warnings():  # of other versions
        warnings.filterwarnings("ignore", re.escape("the file was written with"))
        model = load(path, trusted="river" in path.stem)
    predictions = ALL_RUNS[path.stem](HALF, N_ROWS, model)
    if json.loads(path.with_name("environment.json").read_text()) == environment():
        np.testing.assert_array_equal(predictions, expected)
    else:  # other versions of models, and other processors, round differently
        np.testing.assert_allclose(predictions, expected, rtol=1e-6, atol=1e-9)
