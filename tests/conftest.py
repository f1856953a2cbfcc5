"""What applies to all tests."""

from collections import defaultdict
from importlib.util import find_spec
from random import Random

import pytest

# With an editable install, this compiles edited kernels: once, before pytest-xdist starts its workers.
find_spec("ltm_sklearn")


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by markers
def pytest_collection_modifyitems(items):
    """Mark all but a few cases of each test as exhaustive, where ``fast_cases(n)`` says how many are to run by default.

    They are the first one and others drawn with a fixed seed, so that they differ in several parameters.
    """
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("fast_cases"):
            cases[item.parent, item.originalname].append(item)
    for of_one_test in cases.values():
        (n_fast,) = of_one_test[0].get_closest_marker("fast_cases").args
        others = of_one_test[1:]
        for item in Random(0).sample(others, max(len(others) - n_fast + 1, 0)):
            item.add_marker("exhaustive")
