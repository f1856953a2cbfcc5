"""Check that a bad call is refused and changes nothing."""

import pytest
from support.expert_algorithms import same, snapshot


def assert_refused(algorithm, call, match):
    """Assert that a call raises a ValueError with this message and leaves the algorithm's state as it was."""
    before = snapshot(algorithm)
    with pytest.raises(ValueError, match=match):
        call(algorithm)
    assert same(snapshot(algorithm), before)
