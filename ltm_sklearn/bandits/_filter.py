"""A Bayesian filter: how likely is each arm to be the good one now, if good arms change and return?

One arm is good at a time; its losses have the mean of the *good* level, those of the others that of the *bad* one. A
loss of the arm that was pulled multiplies the arm's weight by the ratio of the two likelihoods; as nothing is divided
by the probability of the draw, a rare pull tells no more than a frequent one. Between rounds the weights are shared as
in Share-θ: ``w ← (1-α) ẇ + α v``, ``v ← (1-θ) v + θ ẇ``, which is what Bayes' rule says of arms that return. Cells with
different α run side by side and are believed by Bayes' rule, too.

The levels are learned on the way, by expectation maximisation: each loss counts for the good level as far as its arm is
believed to be the good one. Gains are ``x = (highest - ℓ)/(highest - lowest)`` in the range of the losses of late, and
their log-likelihood is ``[x ln μ + (1-x) ln(1-μ)]/φ``: that of a coin where all gains are 0 or 1, and with the
dispersion φ that of numbers that scatter less around their mean (a quasi-likelihood).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numerics import normalise
from .._typing import Floats, State
from ._validation import Arms

#: Switching rates α of the cells. The first cell's is 1/(t + 2): for good arms that hardly ever change.
SWITCHING = np.array([0.0, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1])
#: Prior belief in the cells: halved from each to the next.
BELIEF = normalise(0.5 ** np.arange(len(SWITCHING), dtype=np.float64))
#: Share of the belief that is spread by the prior after each round.
BELIEF_SHARING = 1e-5
#: Their memory rate θ is 1/(t + 2), the mean of the whole past, but not below this.
MEMORY = 1e-4
#: Part of what is recalled that is spread evenly, for arms that were never good before.
NOVELTY = 0.05

#: What is known of the levels fades by this factor a round.
FADING = 0.9997
#: The levels begin as if so many gains had been seen on each, with these means.
FIRST_COUNT, FIRST_GOOD, FIRST_BAD = 10.0, 0.75, 0.25
#: The least distance between the levels, in units of the square root of the dispersion.
LEAST_DISTANCE = 0.1
#: Levels stay this far from 0 and 1, where one gain alone would decide for ever.
MARGIN = 0.005
#: The least dispersion, and the largest log-ratio that one loss may bring.
LEAST_DISPERSION, LARGEST_RATIO = 1e-3, 5.0

#: Losses that differ by no more than this are the same; counts of no more than this are none.
SAME = 1e-12
#: The range grows at most by this factor in a round, and what lies beyond the levels fades by this part a round: one
#: outlier does not make all else look alike.
GROWTH, SHRINKING = 4.0, 1.0 / 300.0


class Levels(NamedTuple):
    """Mean gains of good and bad arms, and the dispersion of the gains around them."""

    good: float
    bad: float
    dispersion: float


def initial_filter(n_arms: int) -> State:
    """Before the first round."""
    cells = np.full((len(SWITCHING), n_arms), 1.0 / n_arms)
    sums = dict.fromkeys(("good_count", "good_loss", "good_squares", "bad_count", "bad_loss"), 0.0)
    return {"tracked": cells, "remembered": cells, "belief": BELIEF, "lowest": np.inf, "highest": -np.inf, **sums}


def switching(rounds: int) -> Floats:
    """The rates α after so many rounds."""
    return np.where(SWITCHING > 0.0, SWITCHING, 1.0 / (rounds + 2.0))


def levels(state: State) -> Levels:
    """What the levels are now, in units of the range of the losses."""
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
    """The range after these losses."""
    lowest, highest = state["lowest"], state["highest"]
    if not range_is_known(state):
        return {"lowest": min(lowest, float(losses.min())), "highest": max(highest, float(losses.max()))}
    good = state["good_loss"] / state["good_count"]
    bad = state["bad_loss"] / state["bad_count"] if state["bad_count"] > SAME else good  # of one arm just rounding
    lowest += SHRINKING * max(min(good, bad) - lowest, 0.0)
    highest -= SHRINKING * max(highest - max(good, bad), 0.0)
    beyond = (GROWTH - 1.0) * (highest - lowest)
    return {
        "lowest": min(lowest, max(float(losses.min()), lowest - beyond)),
        "highest": max(highest, min(float(losses.max()), highest + beyond)),
    }


def range_is_known(state: State) -> bool:
    """Whether some loss was better than another."""
    return bool(state["highest"] - state["lowest"] > SAME)


def likelihood_ratios(now: Levels, gains: Floats) -> Floats:
    """By how much likelier gains are if their arm is the good one."""
    good, bad, dispersion = now
    logs = gains * np.log(good / bad) + (1.0 - gains) * np.log((1.0 - good) / (1.0 - bad))
    return np.exp(np.clip(logs / dispersion, -LARGEST_RATIO, LARGEST_RATIO))


def shared(posterior: Floats, memory: Floats, alpha: Floats | float, theta: float) -> tuple[Floats, Floats]:
    """``w ← (1-α) ẇ + α v`` and ``v ← (1-θ) v + θ ẇ``, with a little of ``v`` spread evenly."""
    recalled = (1.0 - NOVELTY) * memory + NOVELTY / memory.shape[-1]
    return (1.0 - alpha) * posterior + alpha * recalled, (1.0 - theta) * memory + theta * posterior


def next_filter(state: State, arms: Arms, losses: Floats, gains: Floats) -> State:
    """A round in which these arms were seen, with losses that lie in the range."""
    posterior = state["tracked"].copy()
    expected = state["highest"]  # where all losses are the same, nothing is said by one, but it is counted
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
