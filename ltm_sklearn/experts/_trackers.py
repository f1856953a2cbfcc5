"""Trackers: Share-θ algorithms over the models that LongTermMemory uses as additional experts.

For each learning rate η there is a *bundle* of Share-θ cells with different switching rates α and memory rates θ. A
cell keeps weights ``w`` and a memory ``v``; a round computes ``ẇ ∝ w·exp(-η ℓ)``, ``w ← (1-α) ẇ + α v`` and
``v ← (1-θ) v + θ ẇ``. The bundle averages its cells with weights (``belief``) that follow Bayes' rule: in each round
they are multiplied by ``Σ_i w_c(i) exp(-η ℓ(i))``. The mix loss of the bundle exceeds that of its best cell by at most
ln(number of cells)/η.

The mixture ``b = Σ_c belief(c) w_c`` is a posterior probability of each model to be the best in the current regime. The
loss is linear in the weights, so the best decision under a posterior is its mode and not its mean. Each bundle
therefore provides two trackers: ``b`` itself and a sharpened version in proportion to ``prior·(b/prior)^8``.

The theorem of Algorithm 2 does not depend on the trackers: it holds for any experts.
"""

from __future__ import annotations

import numpy as np

from .._numerics import normalise
from .._typing import Floats, State
from ._weight_sharing import WEIGHT_FLOOR

#: Learning rates η of the bundles. They are powers of two, so that the kernel needs one exponential for all of them.
#: The grid is dense where losses fill [0, 1] and extends to 128 for losses in a small part of it, such as batch means.
RATES = 2.0 ** np.array([-4, -2, -1, 0, 1, 2, 3, 4, 5, 7])
#: Prior of the bundles: largest at η = 2, halved when the rate is multiplied or divided by four.
PRIOR = normalise(2.0 ** (-np.abs(np.log2(RATES) - 1.0) / 2.0))
#: Switching rates α of the cells of a bundle. The first two have a memory; the last is Fixed Share.
SWITCHING = np.array([3e-3, 3e-2, 3e-4])
#: Lower limit of the memory rate θ = 1/(t + 2), with which the memory is the mean of the whole past.
MEMORY = 1e-4
#: Power to which the sharpened tracker raises the mixture of its bundle.
SHARPNESS = 8
#: Lower limit of the ratios that are raised to this power, to avoid denormal numbers.
SHARPENED_FROM = 1e-30
#: Lower limit of the weight of a cell in its bundle, so that it can recover when switches become more or less frequent.
BELIEF_FLOOR = 1e-9


def initial_cells(prior: Floats, n_bundles: int) -> State:
    """Return initial weights of all cells, (bundles, cells, K), and the memories of the cells that have one."""
    cells = np.tile(normalise(prior), (n_bundles, len(SWITCHING), 1))
    return {"tracked": cells, "remembered": cells[:, :-1]}


def initial_trackers(prior: Floats, n_bundles: int) -> State:
    """Return the initial cells, their weights in the bundles (``belief``), and the weights of the trackers."""
    cells = initial_cells(prior, n_bundles)
    state = {**cells, "belief": np.full((n_bundles, len(SWITCHING)), 1.0 / len(SWITCHING))}
    return {**state, **mixtures(state, prior)}


def sharpening_prior(prior: Floats) -> Floats:
    """Return the normalised prior with a lower limit, so that powers of ratios to it do not overflow."""
    return np.maximum(prior / prior.sum(), SHARPENED_FROM)


def mixtures(state: State, prior: Floats) -> State:
    """Return the mixture of each bundle, and its sharpened version with the factor that normalises it."""
    mixture = (state["belief"][..., np.newaxis] * state["tracked"]).sum(axis=1)
    start = sharpening_prior(prior)
    sharpened = start * np.maximum(mixture / start, SHARPENED_FROM) ** SHARPNESS
    return {"mixture": mixture, "sharpened": sharpened, "sharpened_scale": 1.0 / sharpened.sum(axis=-1)}


def tracker_weights(state: State) -> Floats:
    """Return the weights of all trackers, shape (2 · bundles, K): first the mixtures, then the sharpened ones."""
    return np.concatenate([state["mixture"], state["sharpened_scale"][:, np.newaxis] * state["sharpened"]])


def next_trackers(state: State, losses: Floats, rates: Floats) -> State:
    """Return the cells and bundles after one round."""
    likelihood = np.exp(-rates[:, np.newaxis] * losses)[:, np.newaxis]
    posterior = state["tracked"] * likelihood
    evidence = posterior.sum(axis=-1)
    posterior /= evidence[..., np.newaxis]
    memory_rate = max(MEMORY, 1.0 / (state["rounds"] + 3))
    switching = SWITCHING[:, np.newaxis]
    start = np.broadcast_to(normalise(state["prior"]), (len(rates), 1, len(losses)))
    remembered = state["remembered"]
    recalled = np.concatenate([remembered, start], axis=1)
    after = {
        "tracked": (1.0 - switching) * posterior + switching * recalled,
        "remembered": np.maximum((1.0 - memory_rate) * remembered + memory_rate * posterior[:, :-1], WEIGHT_FLOOR),
        "belief": normalise(np.maximum(normalise(state["belief"] * evidence), BELIEF_FLOOR)),
    }
    return {**after, **mixtures(after, state["prior"])}
