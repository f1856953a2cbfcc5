"""Well-known streams with recurring concepts.

The concepts of each are the same whatever the seed, which is that of the rows, the order and the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._concepts import Agrawal, Hyperplane, Led, LinearRegression, RandomTree, Sea, Sine, Stagger
from ._recurring import RecurringConcepts


def stagger(**schedule: Any) -> RecurringConcepts:
    """STAGGER's three rules; see :class:`RecurringConcepts` for the schedule.

    >>> from ltm_sklearn.streams import stagger
    >>> stagger(order="random", n_segments=30, noise=0.1, seed=0).n_samples
    30000
    """
    return RecurringConcepts([Stagger(rule) for rule in range(3)], **schedule)


def sea(thresholds: Sequence[float] = (8.0, 9.0, 7.0, 9.5), **schedule: Any) -> RecurringConcepts:
    """SEA with these thresholds."""
    return RecurringConcepts([Sea(threshold) for threshold in thresholds], **schedule)


def sine(**schedule: Any) -> RecurringConcepts:
    """Four rules in the unit square, each the opposite of another."""
    return RecurringConcepts([Sine(rule) for rule in range(4)], **schedule)


def agrawal(rules: Sequence[int] = (0, 1, 2), **schedule: Any) -> RecurringConcepts:
    """Loan applications by some of the ten rules."""
    return RecurringConcepts([Agrawal(rule) for rule in rules], **schedule)


def led(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """A digit's display whose segments change places."""
    return RecurringConcepts([Led(seed) for seed in range(n_concepts)], **schedule)


def random_trees(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """Random trees: hard."""
    return RecurringConcepts([RandomTree(seed) for seed in range(n_concepts)], **schedule)


def rotating_hyperplane(n_concepts: int = 8, **schedule: Any) -> RecurringConcepts:
    """A plane that turns by equal steps and, in cyclic order, comes round again."""
    angles = 2.0 * np.pi * np.arange(n_concepts) / n_concepts
    return RecurringConcepts([Hyperplane(angle) for angle in angles.tolist()], **schedule)


def linear_regressions(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """Regression with coefficients that return."""
    return RecurringConcepts([LinearRegression(seed) for seed in range(n_concepts)], **schedule)
