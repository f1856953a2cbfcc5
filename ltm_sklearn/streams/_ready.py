"""Well-known streams with recurring concepts.

The concepts of each are the same whatever the seed, which is that of the rows, the order and the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._frames import listed
from .._param_checks import check_count
from ._concepts import Agrawal, Hyperplane, Led, LinearRegression, RandomTree, Sea, Sine, Stagger
from ._recurring import RecurringConcepts

MOST_CONCEPTS = 10_000


def stagger(**schedule: Any) -> RecurringConcepts:
    """STAGGER's three rules.

    Parameters
    ----------
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.

    Examples
    --------
    >>> from ltm_sklearn.streams import stagger
    >>> stagger(order="random", n_segments=30, noise=0.1, seed=0).n_samples
    30000
    """
    return RecurringConcepts([Stagger(rule) for rule in range(3)], **schedule)


def sea(thresholds: Sequence[float] = (8.0, 9.0, 7.0, 9.5), **schedule: Any) -> RecurringConcepts:
    """SEA with these thresholds.

    Parameters
    ----------
    thresholds : sequence of float, default=(8.0, 9.0, 7.0, 9.5)
        One for each concept.
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Sea(threshold) for threshold in listed(thresholds, "thresholds")], **schedule)


def sine(**schedule: Any) -> RecurringConcepts:
    """Four rules in the unit square, each the opposite of another.

    Parameters
    ----------
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Sine(rule) for rule in range(4)], **schedule)


def agrawal(rules: Sequence[int] = (0, 1, 2), **schedule: Any) -> RecurringConcepts:
    """Loan applications by some of the ten rules.

    Parameters
    ----------
    rules : sequence of int, default=(0, 1, 2)
        One for each concept, from 0 to 9.
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Agrawal(rule) for rule in listed(rules, "rules")], **schedule)


def led(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """A digit's display whose segments change places.

    Parameters
    ----------
    n_concepts : int, default=3
        How many different ones.
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Led(seed) for seed in _numbered(n_concepts)], **schedule)


def random_trees(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """Random trees: hard.

    Parameters
    ----------
    n_concepts : int, default=3
        How many different ones.
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([RandomTree(seed) for seed in _numbered(n_concepts)], **schedule)


def rotating_hyperplane(n_concepts: int = 8, **schedule: Any) -> RecurringConcepts:
    """A plane that turns by equal steps and, in cyclic order, comes round again.

    Parameters
    ----------
    n_concepts : int, default=8
        How many different ones.
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.
    """
    angles = 2.0 * np.pi * np.array(_numbered(n_concepts)) / n_concepts
    return RecurringConcepts([Hyperplane(angle) for angle in angles.tolist()], **schedule)


def linear_regressions(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """Regression with coefficients that return.

    Parameters
    ----------
    n_concepts : int, default=3
        How many different ones.
    **schedule
        When which is in force, for how long, and with how much noise: as of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([LinearRegression(seed) for seed in _numbered(n_concepts)], **schedule)


def _numbered(n_concepts: int) -> range:
    check_count("n_concepts", n_concepts, high=MOST_CONCEPTS)
    return range(n_concepts)
