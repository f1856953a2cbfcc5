"""Well-known streams with recurring concepts.

The concepts of a stream do not depend on ``seed``, which sets the rows, the random order and the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._frames import as_list
from .._param_checks import check_count
from ._concepts import Agrawal, Hyperplane, Led, LinearRegression, RandomTree, Sea, Sine, Stagger
from ._recurring_concepts import RecurringConcepts

MOST_CONCEPTS = 10_000


def stagger(**schedule: Any) -> RecurringConcepts:
    """Return a STAGGER stream: three rules over three nominal attributes recur.

    Parameters
    ----------
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.

    Examples
    --------
    >>> from ltm_sklearn.streams import stagger
    >>> stagger(order="random", n_segments=30, noise=0.1, seed=0).n_samples
    30000
    """
    return RecurringConcepts([Stagger(rule) for rule in range(3)], **schedule)


def sea(thresholds: Sequence[float] = (8.0, 9.0, 7.0, 9.5), **schedule: Any) -> RecurringConcepts:
    """Return a SEA stream: the threshold on the sum of two features recurs.

    Parameters
    ----------
    thresholds : sequence of float, default=(8.0, 9.0, 7.0, 9.5)
        Threshold of each concept.
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Sea(threshold) for threshold in as_list(thresholds, "thresholds")], **schedule)


def sine(**schedule: Any) -> RecurringConcepts:
    """Return a stream of four rules in the unit square: two sine curves, each with both labellings.

    Parameters
    ----------
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Sine(rule) for rule in range(4)], **schedule)


def agrawal(rules: Sequence[int] = (0, 1, 2), **schedule: Any) -> RecurringConcepts:
    """Return a stream of loan applications: some of the ten rules of Agrawal and others recur.

    Parameters
    ----------
    rules : sequence of int, default=(0, 1, 2)
        Rule of each concept, from 0 to 9.
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Agrawal(rule) for rule in as_list(rules, "rules")], **schedule)


def led(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """Return a stream of LED digits: the places of the seven segments among 24 features recur.

    Parameters
    ----------
    n_concepts : int, default=3
        Number of different concepts.
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([Led(seed) for seed in _concept_numbers(n_concepts)], **schedule)


def random_trees(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """Return a stream labelled by random trees that recur; it is hard to learn.

    Parameters
    ----------
    n_concepts : int, default=3
        Number of different concepts.
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([RandomTree(seed) for seed in _concept_numbers(n_concepts)], **schedule)


def rotating_hyperplane(n_concepts: int = 8, **schedule: Any) -> RecurringConcepts:
    """Return a stream labelled by a hyperplane that turns by equal steps; in cyclic order it completes full circles.

    Parameters
    ----------
    n_concepts : int, default=8
        Number of different concepts.
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.
    """
    angles = 2.0 * np.pi * np.array(_concept_numbers(n_concepts)) / n_concepts
    return RecurringConcepts([Hyperplane(angle) for angle in angles.tolist()], **schedule)


def linear_regressions(n_concepts: int = 3, **schedule: Any) -> RecurringConcepts:
    """Return a regression stream: vectors of linear coefficients recur.

    Parameters
    ----------
    n_concepts : int, default=3
        Number of different concepts.
    **schedule
        ``order``, ``length``, ``n_segments``, ``noise``, ``seed``, ...: parameters of :class:`RecurringConcepts`.
    """
    return RecurringConcepts([LinearRegression(seed) for seed in _concept_numbers(n_concepts)], **schedule)


def _concept_numbers(n_concepts: int) -> range:
    check_count("n_concepts", n_concepts, high=MOST_CONCEPTS)
    return range(n_concepts)
