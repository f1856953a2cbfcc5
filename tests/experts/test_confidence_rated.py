"""ConfidenceRated passes on the horizon of the algorithm inside."""

import numpy as np
import pytest

from ltm_sklearn.experts import BestOfBothWorlds, ConfidenceRated, Hedge


def test_horizon_is_that_of_the_inner_algorithm():
    algorithm = ConfidenceRated(Hedge(horizon=3))
    algorithm.run(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="exceed the horizon of 3 rounds"):
        algorithm.update([0.0, 1.0])


def test_reduction_refuses_an_inner_horizon():
    with pytest.raises(ValueError, match="leave its horizon None"):
        BestOfBothWorlds(static=ConfidenceRated(Hedge(horizon=3))).weights(2)
