"""Streams whose concepts return, and readers that turn tables into mini-batches."""

from ._batches import Batch
from ._concepts import Agrawal, Hyperplane, Led, LinearRegression, RandomTree, Sea, Sine, Stagger
from ._readers import Batches
from ._ready import agrawal, led, linear_regressions, random_trees, rotating_hyperplane, sea, sine, stagger
from ._recurring import RecurringConcepts, Segment

__all__ = [
    "Agrawal",
    "Batch",
    "Batches",
    "Hyperplane",
    "Led",
    "LinearRegression",
    "RandomTree",
    "RecurringConcepts",
    "Sea",
    "Segment",
    "Sine",
    "Stagger",
    "agrawal",
    "led",
    "linear_regressions",
    "random_trees",
    "rotating_hyperplane",
    "sea",
    "sine",
    "stagger",
]
