"""The schedules of Fixed Share and Share-θ: α and θ are 1/horizon, or 1/(t + 2) after round t."""

import numpy as np
import pytest

from ltm_sklearn.experts import FixedShare, ShareTheta
from ltm_sklearn.experts import _compiled as compiled_module


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("horizon", [None, 10])
@pytest.mark.parametrize("kind", [FixedShare, ShareTheta])
def test_sharing_rates_follow_their_schedule(kind, horizon, is_compiled, monkeypatch):
    if not is_compiled:
        monkeypatch.setattr(compiled_module, "kernel", None)
    losses = np.random.default_rng(0).random((6, 3))
    algorithm = kind(rate=1.0, horizon=horizon)
    played = algorithm.run(losses)
    weights = memory = np.full(3, 1 / 3)
    for t, loss in enumerate(losses, start=1):
        np.testing.assert_allclose(played[t - 1], weights, rtol=1e-12)
        share = 1 / 10 if horizon else 1 / (t + 2)
        posterior = weights * np.exp(-loss) / (weights @ np.exp(-loss))
        weights = (1 - share) * posterior + share * memory
        if kind is ShareTheta:
            memory = (1 - share) * memory + share * posterior
    np.testing.assert_allclose(algorithm.weights(), weights, rtol=1e-12)
