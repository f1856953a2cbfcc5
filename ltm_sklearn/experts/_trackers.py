"""Trackers: small memory algorithms that run beside the models and are offered to Algorithm 2 as further experts.

For each learning rate η there is a *bundle* of Share-θ cells with different switching rates α and memory rates θ. A cell
keeps weights ``w`` and a memory ``v``; a round does ``ẇ ∝ w·exp(-η ℓ)``, ``w ← (1-α) ẇ + α v``, ``v ← (1-θ) v + θ ẇ``.
The bundle believes in its cells by Bayes' rule, ``belief(c) ∝ belief(c) · Σ_i w_c(i) exp(-η ℓ(i))``: against the mix
loss, the best cell costs no more than ln(number of cells)/η. Its mixture ``b = Σ_c belief(c) w_c`` is a posterior over
which expert is best now. As the loss is linear in what is played, the best answer to a posterior is its mode and not
its mean, so the tracker plays ``b^8``, normalised.

Nothing here is needed for Algorithm 2's theorem, which holds for whatever experts it is given.
"""

from __future__ import annotations

import numpy as np

from ._base import State, normalise
from ._sharing import WEIGHT_FLOOR
from ._validation import Floats

#: Learning rates η; each is twice the one before, so that the kernel needs one exponential for all of them.
RATES = 0.25 * 2.0 ** np.arange(7)
#: Switching rates α of a bundle's cells.
SWITCHING = np.array([2e-3, 4e-2, 5e-4])
#: Memory rates θ of the same cells; 0 stands for 1/(t + 2), the mean of the whole past.
MEMORY = np.array([0.0, 0.0, 1e-5])
#: The power of a bundle's mixture that its tracker plays.
SHARPNESS = 8
#: No cell's belief falls below this, so that a bundle can change its mind when the pace of switching changes.
BELIEF_FLOOR = 1e-9


def initial_trackers(prior: Floats, n_rates: int) -> State:
    """Weights and memories of all cells, shape (rates, cells, K), and the beliefs in them, (rates, cells)."""
    cells = np.tile(normalise(prior), (n_rates, len(SWITCHING), 1))
    return {"tracked": cells, "remembered": cells, "belief": np.full(cells.shape[:2], 1.0 / len(SWITCHING))}


def tracker_weights(state: State) -> Floats:
    """What each tracker plays, shape (trackers, K)."""
    mixture = (state["belief"][..., np.newaxis] * state["tracked"]).sum(axis=1)
    return normalise(mixture**SHARPNESS)


def next_trackers(state: State, losses: Floats, rates: Floats) -> State:
    """One round of every cell and bundle."""
    likelihood = np.exp(-rates[:, np.newaxis] * losses)[:, np.newaxis]
    posterior = state["tracked"] * likelihood
    evidence = posterior.sum(axis=-1)
    posterior /= evidence[..., np.newaxis]
    memory_rate = np.where(MEMORY > 0.0, MEMORY, 1.0 / (state["rounds"] + 3))[:, np.newaxis]
    switching = SWITCHING[:, np.newaxis]
    remembered = state["remembered"]
    return {
        "tracked": (1.0 - switching) * posterior + switching * remembered,
        "remembered": np.maximum((1.0 - memory_rate) * remembered + memory_rate * posterior, WEIGHT_FLOOR),
        "belief": np.maximum(normalise(state["belief"] * evidence), BELIEF_FLOOR),
    }
