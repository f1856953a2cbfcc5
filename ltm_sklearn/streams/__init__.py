"""Data streams: generators of recurring concepts, and readers that turn tables and files into mini-batches."""

from ._batch_stream import BatchStream as BatchStream
from ._batch_stream import open_stream as open_stream
from ._batches import Batch
from ._batches import BatchQueue as BatchQueue
from ._builtin_streams import agrawal, led, linear_regressions, random_trees, rotating_hyperplane, sea, sine, stagger
from ._concept_sources import dicts_as_array as dicts_as_array
from ._concepts import Agrawal, Hyperplane, Led, LinearRegression, RandomTree, Sea, Sine, Stagger
from ._readers import CSV as CSV
from ._readers import Batches
from ._recurring_concepts import RecurringConcepts, Segment

# Names that are imported "as" themselves are for the other packages of ltm_sklearn.
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
