"""Streams of segments, in each of which one of several recurring concepts is in force."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from .._frames import as_dicts, as_list
from .._param_checks import as_floats, check_count, check_option, check_required_number
from .._typing import Floats
from ._batches import Batch, as_frames, distinct_labels, rebatch, target_array
from ._concept_sources import Draw, source_of
from ._concepts import MOST_DEVIATION, check_index, check_seed

#: Rows are drawn in blocks of at most this size, each with its own generator, whatever the batch size.
BLOCK = 1024

MOST_ROWS = sys.maxsize  #: of a segment; also the largest number of segments


class Segment(NamedTuple):
    """Consecutive rows in which one concept is in force."""

    concept: int
    start: int
    length: int


class RecurringConcepts:
    """Stream that switches between concepts and returns to earlier ones.

    Each iteration yields the same rows. Iterating over the stream yields pairs ``(x, y)``, as River's datasets do;
    :meth:`batches` yields arrays or frames for scikit-learn. At most one block of 1,024 rows is in memory at a time.

    Parameters
    ----------
    concepts : list or dict
        Each concept is a function ``concept(rng, n_rows)`` that returns X and y, such as those of this module; a pair
        ``(X, y)`` of arrays, or of a frame and its targets; or an iterable of pairs ``(x, y)``, as River's datasets.
        Pairs ``(X, y)`` and iterables continue after their last drawn row when the concept returns, and begin again
        after their last row. Set the seed of River's generators: without it they yield other rows each time.
    order : {"cyclic", "random", "markov"} or sequence, default="cyclic"
        Order of the concepts: in turn; at random, but never one twice in a row; by ``transitions``; or a sequence of
        the keys of a dictionary or the indices of a list. The first three begin with the first concept.
    length : int or sequence of int, default=1000
        Number of rows in a segment; a sequence is cycled through.
    n_segments : int, optional
        Number of segments. None: the length of a given order; with the other orders the stream is endless.
    transitions : array-like of shape (n_concepts, n_concepts), optional
        Transition probabilities for ``order="markov"``: row i has those from concept i.
    width : int, default=0
        Width of a gradual change in rows. Around a change, the probability that a row is drawn from the new concept
        rises as a sigmoid, from 0.12 to 0.88 over the width. 0: changes are abrupt.
    noise : float, default=0.0
        Share of the labels that are replaced by another class; for real targets, the standard deviation of Gaussian
        noise that is added to them, at most 1e300.
    classes : sequence, optional
        All classes, for the noise. None: the classes that the concepts name.
    seed : int, optional
        Seed of the rows, the order and the noise. None: chosen at random for each object.

    Attributes
    ----------
    feature_names : list
        Names of the features.
    n_features : int
        Number of features.
    n_samples : int or None
        Number of rows; None if the stream is endless.

    Examples
    --------
    >>> from ltm_sklearn.streams import RecurringConcepts, Sea
    >>> stream = RecurringConcepts({"low": Sea(5.0), "high": Sea(15.0)}, length=300, n_segments=3, seed=0)
    >>> for batch in stream.batches(400):
    ...     print(batch.X.shape, batch.y.mean().round(2), batch.concept[[0, -1]])
    (400, 3) 0.31 [0 1]
    (400, 3) 0.5 [1 0]
    (100, 3) 0.1 [0 0]
    >>> stream.changes()
    [300, 600]
    """

    def __init__(
        self,
        concepts: Sequence[Any] | Mapping[Any, Any],
        *,
        order: str | Sequence[Any] = "cyclic",
        length: int | Sequence[int] = 1000,
        n_segments: int | None = None,
        transitions: ArrayLike | None = None,
        width: int = 0,
        noise: float = 0.0,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        named = dict(concepts) if isinstance(concepts, Mapping) else dict(enumerate(as_list(concepts, "concepts")))
        if not named:
            raise ValueError("concepts is empty: pass at least one concept")
        self.concept_names = list(named)
        self._sources = [source_of(concept, name) for name, concept in named.items()]
        self.feature_names = self._sources[0].names
        self._check_features()
        self.order = self._check_order(order)
        self.lengths = _check_lengths(length)
        if n_segments is not None:
            check_count("n_segments", n_segments, high=MOST_ROWS)
        elif not isinstance(self.order, str):
            n_segments = len(self.order)
        self.n_segments = n_segments
        self.transitions = self._check_transitions(transitions)
        check_index("width", width, MOST_ROWS)
        self.width = width
        self.classes = self._known_classes() if classes is None else list(classes)
        check_required_number("noise", noise, 0.0, MOST_DEVIATION)
        if self.classes is not None and noise > 1.0:
            raise ValueError(f"noise={noise!r} is a share of the labels: it must be at most 1")
        self.noise = noise
        if seed is not None:
            check_seed(seed)
        self.seed = int(np.random.default_rng().integers(2**62)) if seed is None else int(seed)

    def _check_features(self) -> None:
        for name, source in zip(self.concept_names, self._sources, strict=True):
            if set(source.names) != set(self.feature_names):
                raise ValueError(
                    f"concept {name!r} has features {source.names}, the first concept has {self.feature_names}: "
                    "all concepts must have the same features"
                )

    def _check_order(self, order: str | Sequence[Any]) -> str | list[int]:
        """Return a known order, or the indices of the concepts in a given order."""
        if isinstance(order, str):
            check_option("order", order, ("cyclic", "random", "markov"))
            return order
        names = as_list(order, "order")
        if not names:
            raise ValueError("order is empty: it must name at least one concept")
        for name in names:
            if name not in self.concept_names:
                raise ValueError(f"order contains {name!r}, which is none of the concepts {self.concept_names}")
        return [self.concept_names.index(name) for name in names]

    def _check_transitions(self, transitions: ArrayLike | None) -> Floats | None:
        if (transitions is None) != (self.order != "markov"):
            raise ValueError('transitions must be given with order="markov", and only with it')
        if transitions is None:
            return None
        matrix = as_floats(transitions, "transitions")
        n_concepts = len(self._sources)
        if matrix.shape != (n_concepts, n_concepts) or not (matrix >= 0.0).all():
            raise ValueError(f"transitions must be a table of {n_concepts} x {n_concepts} probabilities")
        if not np.allclose(matrix.sum(axis=1), 1.0):
            raise ValueError(f"each row of transitions must sum to 1; the sums are {matrix.sum(axis=1)}")
        return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))

    def _known_classes(self) -> list[Any] | None:
        """Return the classes of all concepts; None if a concept does not name its classes."""
        if any(source.classes is None for source in self._sources):
            return None
        return distinct_labels(label for source in self._sources for label in source.classes or ())

    # The schedule ------------------------------------------------------------------------------------------------

    def segments(self) -> Iterator[Segment]:
        """Iterate over the segments in order."""
        start = 0
        for concept, length in islice(zip(self._concept_order(), cycle(self.lengths), strict=False), self.n_segments):
            yield Segment(concept, start, length)
            start += length

    def changes(self) -> list[int]:
        """Return the rows at which another concept comes into force; an endless stream raises a ValueError."""
        if self.n_segments is None:
            raise ValueError("an endless stream has no list of changes: set n_segments")
        return [after.start for before, after in pairwise(self.segments()) if after.concept != before.concept]

    def _concept_order(self) -> Iterator[int]:
        n_concepts = len(self._sources)
        if not isinstance(self.order, str):
            yield from cycle(self.order)
        if self.order == "cyclic":
            yield from cycle(range(n_concepts))
        rng = np.random.default_rng([self.seed, 0])
        concept = 0
        while True:
            yield concept
            if self.transitions is not None:
                concept = int(rng.choice(n_concepts, p=self.transitions[concept]))
            elif n_concepts > 1:
                concept = int((concept + rng.integers(1, n_concepts)) % n_concepts)

    # Rows --------------------------------------------------------------------------------------------------------

    def batches(self, batch_size: int, as_frame: bool = False) -> Iterator[Batch]:
        """Iterate over mini-batches ``(X, y, concept)``; ``concept`` has the concept that each row is drawn from.

        Parameters
        ----------
        batch_size : int
            Number of rows in a batch; the last batch may have fewer.
        as_frame : bool, default=False
            Whether X is a pandas frame with the names of the features. False: X is an array.
        """
        check_count("batch_size", batch_size)
        batches = rebatch(self._blocks(), batch_size)
        return as_frames(batches, self.feature_names) if as_frame else batches

    def __iter__(self) -> Iterator[tuple[dict[Any, Any], Any]]:
        for block in self._blocks():
            yield from zip(as_dicts(block.X, self.feature_names), block.y.tolist(), strict=True)

    def take(self, k: int) -> Iterator[tuple[dict[Any, Any], Any]]:
        """Iterate over the first k rows as pairs ``(x, y)``, as the method of River's datasets does."""
        return islice(self, k)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def n_samples(self) -> int | None:
        """Number of rows; None if the stream is endless."""
        return None if self.n_segments is None else sum(segment.length for segment in self.segments())

    def _blocks(self) -> Iterator[Batch]:
        draws = [source.start() for source in self._sources]
        columns = [[source.names.index(name) for name in self.feature_names] for source in self._sources]
        following = self.segments()
        before: Segment | None = None
        segment: Segment | None = next(following)
        number = 0
        while segment is not None:
            after = next(following, None)
            for start in range(0, segment.length, BLOCK):
                rng = np.random.default_rng([self.seed, 1, number, start])
                rows = np.arange(start, min(start + BLOCK, segment.length))
                concept = self._concept_of_rows(rng, rows, before, segment, after)
                yield self._draw_block(rng, concept, draws, columns)
            before, segment, number = segment, after, number + 1

    def _concept_of_rows(
        self,
        rng: np.random.Generator,
        rows: NDArray[np.intp],
        before: Segment | None,
        segment: Segment,
        after: Segment | None,
    ) -> NDArray[np.intp]:
        """Choose the concept of each row of a segment; near its ends it may be that of the neighbouring segment."""
        concept = np.full(len(rows), segment.concept)
        if self.width:
            uniform = rng.random((2, len(rows)))
            if before is not None:
                concept[uniform[0] < expit(-4.0 * (rows + 0.5) / self.width)] = before.concept
            if after is not None:
                concept[uniform[1] < expit(-4.0 * (segment.length - rows - 0.5) / self.width)] = after.concept
        return concept

    def _draw_block(
        self, rng: np.random.Generator, concept: NDArray[np.intp], draws: list[Draw], columns: list[list[int]]
    ) -> Batch:
        """Draw one row from the concept of each row."""
        parts = {}
        for index in np.unique(concept).tolist():
            X, y = draws[index](rng, int((concept == index).sum()))
            parts[index] = X[:, columns[index]], y
        label_types = [y.dtype for _, y in parts.values()]
        has_text_and_numbers = len({dtype.kind in "US" for dtype in label_types}) > 1  # NumPy would make it all text
        X = np.empty((len(concept), self.n_features), dtype=np.result_type(*(X.dtype for X, _ in parts.values())))
        y = np.empty(len(concept), dtype=object if has_text_and_numbers else np.result_type(*label_types))
        for index, (part_X, part_y) in parts.items():
            X[concept == index], y[concept == index] = part_X, part_y
        return Batch(X, self._add_noise(rng, y), concept)

    def _add_noise(self, rng: np.random.Generator, y: NDArray[Any]) -> NDArray[Any]:
        if not self.noise:
            return y
        if self.classes is None:
            if y.dtype.kind != "f":
                raise ValueError("noise replaces labels by other classes, but the classes are unknown: pass classes")
            return y + self.noise * rng.normal(size=len(y))
        classes, positions = target_array(self.classes), {label: at for at, label in enumerate(self.classes)}
        labels = y.tolist()
        if not positions.keys() >= {*labels}:
            unknown = next(label for label in labels if label not in positions)
            raise ValueError(f"a row has the label {unknown!r}, which is none of the classes {self.classes}")
        is_replaced = rng.random(len(y)) < self.noise
        index = np.array([positions[label] for label in labels])
        other = (index + rng.integers(1, max(len(classes), 2), len(y))) % len(classes)
        return np.where(is_replaced, classes[other], y)


def _check_lengths(length: int | Sequence[int]) -> list[int]:
    lengths: list[Any] = list(length) if isinstance(length, Sequence | np.ndarray) and np.ndim(length) else [length]
    for each in lengths or [0]:
        check_count("length", each, high=MOST_ROWS)
    return [int(each) for each in lengths]  # NumPy's small integer types would overflow in the sum
