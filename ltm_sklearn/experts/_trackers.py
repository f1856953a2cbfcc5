"""Trackers: small memory algorithms that run beside the models and are offered to Algorithm 2 as further experts.

For each learning rate η there is a *bundle* of Share-θ cells with different switching rates α and memory rates θ. A
cell keeps weights ``w`` and a memory ``v``; a round does ``ẇ ∝ w·exp(-η ℓ)``, ``w ← (1-α) ẇ + α v`` and
``v ← (1-θ) v + θ ẇ``. The bundle believes in its cells by Bayes' rule, in proportion to ``Σ_i w_c(i) exp(-η ℓ(i))``
in each round: against the mix loss, the best cell costs no more than ln(number of cells)/η. Its mixture
``b = Σ_c belief(c) w_c`` is a posterior over which expert is best now. As the loss is linear in what is played, the
best answer to a posterior is its mode and not its mean, so besides ``b`` itself there is a tracker that plays
``prior·(b/prior)^8``, normalised.

Nothing here is needed for Algorithm 2's theorem, which holds for whatever experts it is given.
"""

from __future__ import annotations

import numpy as np

from .._numerics import normalise
from .._typing import Floats, State
from ._sharing import WEIGHT_FLOOR

#: Learning rates η: powers of two, so that the kernel needs one exponential for all of them; dense around those that
#: suit losses in all of [0, 1], and up to 128 for losses that use little of it, as means over batches do.
RATES = 2.0 ** np.array([-4, -2, -1, 0, 1, 2, 3, 4, 5, 7])
#: Prior over the bundles, largest at η = 2, halved with every fourfold rate.
PRIOR = normalise(2.0 ** (-np.abs(np.log2(RATES) - 1.0) / 2.0))
#: Switching rates α of a bundle's cells. The first two remember; the last is Fixed Share, whose memory is the prior.
SWITCHING = np.array([3e-3, 3e-2, 3e-4])
#: Their memory rate θ is 1/(t + 2), the mean of the whole past, but not below this.
MEMORY = 1e-4
#: The power of a bundle's mixture that its second tracker plays.
SHARPNESS = 8
#: Ratios to the prior are raised to that power from here up, which keeps denormal numbers away.
SHARPENED_FROM = 1e-30
#: No cell's belief falls below this, so that a bundle can change its mind when the pace of switching changes.
BELIEF_FLOOR = 1e-9


def initial_cells(prior: Floats, n_bundles: int) -> State:
    """Weights of all cells, (bundles, cells, K), and memories of those that remember."""
    cells = np.tile(normalise(prior), (n_bundles, len(SWITCHING), 1))
    return {"tracked": cells, "remembered": cells[:, :-1]}


def initial_trackers(prior: Floats, n_bundles: int) -> State:
    """The cells, the beliefs in them, (bundles, cells), and what the trackers play."""
    cells = initial_cells(prior, n_bundles)
    state = {**cells, "belief": np.full((n_bundles, len(SWITCHING)), 1.0 / len(SWITCHING))}
    return {**state, **mixtures(state, prior)}


def sharpening_prior(prior: Floats) -> Floats:
    """The prior as a distribution, but not so small anywhere that the power of a ratio to it would overflow."""
    return np.maximum(prior / prior.sum(), SHARPENED_FROM)


def mixtures(state: State, prior: Floats) -> State:
    """What the trackers play: each bundle's mixture, and its power with the scale that makes it sum to one."""
    mixture = (state["belief"][..., np.newaxis] * state["tracked"]).sum(axis=1)
    start = sharpening_prior(prior)
    sharpened = start * np.maximum(mixture / start, SHARPENED_FROM) ** SHARPNESS
    return {"mixture": mixture, "sharpened": sharpened, "sharpened_scale": 1.0 / sharpened.sum(axis=-1)}


def tracker_weights(state: State) -> Floats:
    """What the trackers play, shape (2 · bundles, K): the mixtures, then the sharpened ones."""
    return np.concatenate([state["mixture"], state["sharpened_scale"][:, np.newaxis] * state["sharpened"]])


def next_trackers(state: State, losses: Floats, rates: Floats) -> State:
    """One round of every cell and bundle."""
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
