"""Bayesian filter for bandits: the posterior probability that each arm is the good one, if good arms change and return.

The model has one good arm at a time. Its losses have the mean of the *good* level, those of the other arms that of the
*bad* level. A loss of the drawn arm multiplies the arm's weight by the likelihood ratio of the two levels. No loss is
divided by the probability of the draw, so a rare draw counts no more than a frequent one. Between rounds the weights
are shared as in Share-θ: ``w ← (1-α) ẇ + α v``, ``v ← (1-θ) v + θ ẇ``. This is Bayes' rule for good arms that return.
Several cells with different switching rates α run in parallel and are weighted by Bayes' rule, too.

The levels are learned by expectation maximisation: each loss counts for the good level in proportion to the posterior
probability that its arm is the good one. Gains are ``x = (highest - ℓ)/(highest - lowest)`` in the range of recent
losses. Their quasi-log-likelihood is ``[x ln μ + (1-x) ln(1-μ)]/φ`` with dispersion φ: exact for gains of 0 and 1 with
φ = 1; numbers that vary less around their mean have a smaller φ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numerics import normalise
from .._typing import Floats, State
from ._validation import Arms

#: Switching rates α of the cells. 0 stands for 1/(t + 2), for good arms that rarely change.
SWITCHING = np.array([0.0, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1])
#: Prior weights of the cells: each is half of the one before.
BELIEF = normalise(0.5 ** np.arange(len(SWITCHING), dtype=np.float64))
#: Share of the weights of the cells that returns to the prior after each round.
BELIEF_SHARING = 1e-5
#: Least memory rate θ. Above it θ is 1/(t + 2), so that v is the mean of all past posteriors.
MEMORY = 1e-4
#: Share of the recalled weight that is spread uniformly, for arms that were never good before.
NOVELTY = 0.05

#: Factor per round by which the statistics of the levels fade.
FADING = 0.9997
#: The prior of the levels: so many gains on each, with these means.
FIRST_COUNT, FIRST_GOOD, FIRST_BAD = 10.0, 0.75, 0.25
#: Least distance between the levels, in units of the square root of the dispersion.
LEAST_DISTANCE = 0.1
#: Levels stay this far from 0 and 1, where no later gain could change the posterior.
MARGIN = 0.005
#: Least dispersion, and the limit of the log-likelihood ratio of one loss.
LEAST_DISPERSION, LARGEST_RATIO = 1e-3, 5.0

#: Losses that differ by no more than this are equal; counts up to this are 0.
SAME = 1e-12
#: The range grows by at most this factor in a round. What lies beyond the levels shrinks by this share per round. Both
#: limit how long an outlier makes all other losses look alike.
GROWTH, SHRINKING = 4.0, 1.0 / 300.0


class Levels(NamedTuple):
    """Mean gains of good and bad arms, and the dispersion of the gains around them."""

    good: float
    bad: float
    dispersion: float


def initial_filter(n_arms: int) -> State:
    """Return the state of the filter before the first round."""
    cells = np.full((len(SWITCHING), n_arms), 1.0 / n_arms)
    sums = dict.fromkeys(("good_count", "good_loss", "good_squares", "bad_count", "bad_loss"), 0.0)
    return {"tracked": cells, "remembered": cells, "belief": BELIEF, "lowest": np.inf, "highest": -np.inf, **sums}


def switching(rounds: int) -> Floats:
    """Return the switching rates α of the cells after so many rounds."""
    return np.where(SWITCHING > 0.0, SWITCHING, 1.0 / (rounds + 2.0))


def levels(state: State) -> Levels:
    """Return the current levels, as gains in the range of the losses."""
    width = state["highest"] - state["lowest"]

    def mean(kind: str, first: float) -> float:
        count = state[f"{kind}_count"]
        gains = (state["highest"] * count - state[f"{kind}_loss"]) / width
        return float((FIRST_COUNT * first + gains) / (FIRST_COUNT + count))

    good, bad = mean("good", FIRST_GOOD), mean("bad", FIRST_BAD)
    inside = min(max(good, MARGIN), 1.0 - MARGIN)
    squares = state["good_squares"] / width**2 / (inside * (1.0 - inside))
    dispersion = (FIRST_COUNT + squares) / (FIRST_COUNT + state["good_count"])
    dispersion = min(max(dispersion, LEAST_DISPERSION), 1.0)
    least = LEAST_DISTANCE * np.sqrt(dispersion)
    if good - bad < least:
        of_good, of_bad = FIRST_COUNT + state["good_count"], FIRST_COUNT + state["bad_count"]
        middle = (good * of_good + bad * of_bad) / (of_good + of_bad)
        good, bad = middle + least / 2.0, middle - least / 2.0
    bad = min(max(bad, MARGIN), 1.0 - MARGIN - least / 2.0)
    good = min(max(good, bad + least / 2.0), 1.0 - MARGIN)
    return Levels(good, bad, dispersion)


def widened(state: State, losses: Floats) -> State:
    """Return the ends of the range after these losses."""
    lowest, highest = state["lowest"], state["highest"]
    if not range_is_known(state):
        return {"lowest": min(lowest, float(losses.min())), "highest": max(highest, float(losses.max()))}
    good = state["good_loss"] / state["good_count"]
    bad = (
        state["bad_loss"] / state["bad_count"] if state["bad_count"] > SAME else good
    )  # a single arm has only rounding errors
    lowest += SHRINKING * max(min(good, bad) - lowest, 0.0)
    highest -= SHRINKING * max(highest - max(good, bad), 0.0)
    beyond = (GROWTH - 1.0) * (highest - lowest)
    return {
        "lowest": min(lowest, max(float(losses.min()), lowest - beyond)),
        "highest": max(highest, min(float(losses.max()), highest + beyond)),
    }


def range_is_known(state: State) -> bool:
    """Return whether two losses have differed."""
    return bool(state["highest"] - state["lowest"] > SAME)


def likelihood_ratios(now: Levels, gains: Floats) -> Floats:
    """Return the likelihood ratios of gains between a good and a bad arm."""
    good, bad, dispersion = now
    logs = gains * np.log(good / bad) + (1.0 - gains) * np.log((1.0 - good) / (1.0 - bad))
    return np.exp(np.clip(logs / dispersion, -LARGEST_RATIO, LARGEST_RATIO))


def shared(posterior: Floats, memory: Floats, alpha: Floats | float, theta: float) -> tuple[Floats, Floats]:
    """Return ``w ← (1-α) ẇ + α v`` and ``v ← (1-θ) v + θ ẇ``, with a small share of v spread uniformly."""
    recalled = (1.0 - NOVELTY) * memory + NOVELTY / memory.shape[-1]
    return (1.0 - alpha) * posterior + alpha * recalled, (1.0 - theta) * memory + theta * posterior


def next_filter(state: State, arms: Arms, losses: Floats, gains: Floats) -> State:
    """Return the filter after a round with the losses, and the gains in the range, of some arms."""
    posterior = state["tracked"].copy()
    expected = state["highest"]  # while all losses are equal, they are only counted
    if range_is_known(state):
        now = levels(state)
        posterior[:, arms] *= likelihood_ratios(now, gains)
        expected -= (state["highest"] - state["lowest"]) * now.good
    evidence = posterior.sum(axis=1, keepdims=True)
    posterior /= evidence
    belief = normalise(state["belief"] * evidence[:, 0])
    are_good = belief @ posterior[:, arms]

    alpha = switching(state["rounds"])[:, np.newaxis]
    theta = max(MEMORY, 1.0 / (state["rounds"] + 2.0))
    tracked, remembered = shared(posterior, state["remembered"], alpha, theta)
    return {
        **state,
        "tracked": tracked,
        "remembered": remembered,
        "belief": (1.0 - BELIEF_SHARING) * belief + BELIEF_SHARING * BELIEF,
        "good_count": FADING * state["good_count"] + float(are_good.sum()),
        "good_loss": FADING * state["good_loss"] + float(are_good @ losses),
        "good_squares": FADING * state["good_squares"] + float(are_good @ (losses - expected) ** 2),
        "bad_count": FADING * state["bad_count"] + float((1.0 - are_good).sum()),
        "bad_loss": FADING * state["bad_loss"] + float((1.0 - are_good) @ losses),
    }
