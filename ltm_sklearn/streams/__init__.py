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

# for the other packages
from ._batches import joined as joined
from ._batches import part as part
from ._feed import feed_of as feed_of
from ._readers import CSV as CSV
from ._sources import table_of as table_of
