"""Streams whose concepts go and return."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from .._frames import listed
from .._param_checks import as_floats, check_count, check_option, check_real
from ._batches import Batch, as_frames, as_pairs, rebatched, sorted_labels, targets_of
from ._concepts import MOST_DEVIATION, check_index, check_seed
from ._sources import Draw, source_of

#: Rows are drawn in blocks of at most this many, each with a generator of its own, whatever the size of the batches.
BLOCK = 1024

MOST_ROWS = sys.maxsize  #: of a segment; and most segments


class Segment(NamedTuple):
    """A stretch in which one concept is in force."""

    concept: int
    start: int
    length: int


class RecurringConcepts:
    """A stream put together from concepts, which take turns and return.

    It can be gone through again and again and is the same each time. Row by row it is a dataset for River;
    :meth:`batches` are for scikit-learn. No more than a block of rows is held at a time.

    Parameters
    ----------
    concepts : list or dict
        Each is a function ``concept(rng, n_rows)`` that returns X and y, such as those of this module; a pair
        ``(X, y)`` of arrays, or of a frame and its targets; or an iterable of pairs ``(x, y)``, as River's datasets.
        Of the latter two, a concept that returns goes on where it stopped, and begins anew when it is used up. River's
        generators need a seed of their own, or they give other rows each time.
    order : {"cyclic", "random", "markov"} or sequence, default="cyclic"
        In turn; at random, but never one twice in a row; by ``transitions``; or as given, by the names of a dictionary
        or the numbers of a list. The first three begin with the first concept.
    length : int or sequence of int, default=1000
        Rows of a segment; of a sequence, each in turn.
    n_segments : int, optional
        How many segments. None: as many as a given order has, otherwise the stream has no end.
    transitions : array-like of shape (n_concepts, n_concepts), optional
        For "markov": row i has the probabilities of what follows concept i.
    width : int, default=0
        Rows over which a change is gradual: rows around it are of the new concept with a probability that rises as a
        sigmoid, from 0.12 to 0.88 over the width. 0: the change is abrupt.
    noise : float, default=0.0
        Share of the labels that are replaced by another class; where targets are real, the standard deviation of what
        is added, at most 1e300.
    classes : sequence, optional
        All classes, for the noise. None: those that the concepts name.
    seed : int, optional
        None: a stream of its own for each object.

    Attributes
    ----------
    feature_names : list
        Names of the features.
    n_features : int
    n_samples : int or None
        Number of rows; None if there is no end.

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
        named = dict(concepts) if isinstance(concepts, Mapping) else dict(enumerate(listed(concepts, "concepts")))
        if not named:
            raise ValueError("concepts is empty: at least one is needed")
        self.concept_names = list(named)
        self._sources = [source_of(concept, name) for name, concept in named.items()]
        self.feature_names = self._sources[0].names
        for name, source in zip(self.concept_names, self._sources, strict=True):
            if set(source.names) != set(self.feature_names):
                raise ValueError(f"concept {name!r} has features {source.names}, the first has {self.feature_names}")
        self.order = order if isinstance(order, str) else [self._number(name) for name in listed(order, "order")]
        if isinstance(self.order, str):
            check_option("order", self.order, ("cyclic", "random", "markov"))
        elif not self.order:
            raise ValueError("order is empty: it must name at least one concept")
        lengths: list[Any] = list(length) if isinstance(length, Sequence | np.ndarray) and np.ndim(length) else [length]
        for each in lengths or [0]:
            check_count("length", each, high=MOST_ROWS)
        self.lengths = [int(each) for each in lengths]  # small integers of NumPy would overflow where they are summed
        if n_segments is not None:
            check_count("n_segments", n_segments, high=MOST_ROWS)
        elif not isinstance(self.order, str):
            n_segments = len(self.order)
        self.n_segments = n_segments
        self.transitions = self._check_transitions(transitions)
        check_index("width", width, MOST_ROWS)
        self.width = width
        check_real("noise", noise, 0.0, MOST_DEVIATION)
        self.noise = noise
        self.classes = self._all_classes() if classes is None else list(classes)
        if self.classes is not None and noise > 1.0:
            raise ValueError(f"noise={noise!r} is a share of labels: it must be at most 1")
        if seed is not None:
            check_seed(seed)
        self.seed = int(np.random.default_rng().integers(2**62)) if seed is None else int(seed)

    # The schedule ------------------------------------------------------------------------------------------------

    def segments(self) -> Iterator[Segment]:
        """The segments, in their order."""
        start = 0
        for concept, length in islice(zip(self._order(), cycle(self.lengths), strict=False), self.n_segments):
            yield Segment(concept, start, length)
            start += length

    def changes(self) -> list[int]:
        """The rows at which another concept comes into force; of a stream without end they cannot be listed."""
        if self.n_segments is None:
            raise ValueError("a stream without end has no list of changes: give n_segments")
        return [after.start for before, after in pairwise(self.segments()) if after.concept != before.concept]

    def _order(self) -> Iterator[int]:
        n_concepts = len(self._sources)
        if not isinstance(self.order, str):
            yield from cycle(self.order)
        if self.order == "cyclic":
            yield from cycle(range(n_concepts))
        rng = np.random.default_rng([self.seed, 0])
        concept = 0
        while True:
            yield concept
            if self.order == "markov":
                concept = int(rng.choice(n_concepts, p=self.transitions[concept]))
            elif n_concepts > 1:
                concept = int((concept + rng.integers(1, n_concepts)) % n_concepts)

    # Rows --------------------------------------------------------------------------------------------------------

    def batches(self, batch_size: int, as_frame: bool = False) -> Iterator[Batch]:
        """Mini-batches: X, y, and which concept each row is of.

        Parameters
        ----------
        batch_size : int
            Rows a batch; the last may have fewer.
        as_frame : bool, default=False
            Whether X is a pandas frame with the features' names, not an array.
        """
        check_count("batch_size", batch_size)
        batches = rebatched(self._blocks(), batch_size)
        return as_frames(batches, self.feature_names) if as_frame else batches

    def __iter__(self) -> Iterator[tuple[dict[Any, Any], Any]]:
        for block in self._blocks():
            yield from as_pairs(block, self.feature_names)

    def take(self, k: int) -> Iterator[tuple[dict[Any, Any], Any]]:
        """The first k rows, as River's datasets give them."""
        return islice(self, k)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def n_samples(self) -> int | None:
        """Number of rows; None if there is no end."""
        return None if self.n_segments is None else sum(segment.length for segment in self.segments())

    def _blocks(self) -> Iterator[Batch]:
        draws = [source.start() for source in self._sources]
        columns = [[source.names.index(name) for name in self.feature_names] for source in self._sources]
        coming = self.segments()
        before: Segment | None = None
        segment: Segment | None = next(coming)
        number = 0
        while segment is not None:
            after = next(coming, None)
            for start in range(0, segment.length, BLOCK):
                rng = np.random.default_rng([self.seed, 1, number, start])
                rows = np.arange(start, min(start + BLOCK, segment.length))
                concept = self._mixed(rng, rows, before, segment, after)
                yield self._drawn(rng, concept, draws, columns)
            before, segment, number = segment, after, number + 1

    def _mixed(
        self,
        rng: np.random.Generator,
        rows: NDArray[np.intp],
        before: Segment | None,
        segment: Segment,
        after: Segment | None,
    ) -> NDArray[np.intp]:
        """Which concept each row of a segment is of: near its ends perhaps a neighbour's."""
        concept = np.full(len(rows), segment.concept)
        if self.width:
            chance = rng.random((2, len(rows)))
            if before is not None:
                concept[chance[0] < expit(-4.0 * (rows + 0.5) / self.width)] = before.concept
            if after is not None:
                concept[chance[1] < expit(-4.0 * (segment.length - rows - 0.5) / self.width)] = after.concept
        return concept

    def _drawn(
        self, rng: np.random.Generator, concept: NDArray[np.intp], draws: list[Draw], columns: list[list[int]]
    ) -> Batch:
        parts = {}
        for which in np.unique(concept).tolist():
            X, y = draws[which](rng, int((concept == which).sum()))
            parts[which] = X[:, columns[which]], y
        kinds = [X.dtype for X, _ in parts.values()], [y.dtype for _, y in parts.values()]
        X = np.empty((len(concept), self.n_features), dtype=np.result_type(*kinds[0]))
        mixed = len({kind.kind in "US" for kind in kinds[1]}) > 1  # labels stay what they are
        y = np.empty(len(concept), dtype=object if mixed else np.result_type(*kinds[1]))
        for which, (its_X, its_y) in parts.items():
            X[concept == which], y[concept == which] = its_X, its_y
        return Batch(X, self._with_noise(rng, y), concept)

    def _with_noise(self, rng: np.random.Generator, y: NDArray[Any]) -> NDArray[Any]:
        if not self.noise:
            return y
        if self.classes is None:
            if y.dtype.kind != "f":
                raise ValueError("noise replaces labels by other classes, which are not known: give classes")
            return y + self.noise * rng.normal(size=len(y))
        classes, places = targets_of(self.classes), {label: at for at, label in enumerate(self.classes)}
        labels = y.tolist()
        if not places.keys() >= {*labels}:
            strange = next(label for label in labels if label not in places)
            raise ValueError(f"a row has the label {strange!r}, which is none of the classes {self.classes}")
        replaced = rng.random(len(y)) < self.noise
        index = np.array([places[label] for label in labels])
        other = (index + rng.integers(1, max(len(classes), 2), len(y))) % len(classes)
        return np.where(replaced, classes[other], y)

    # Checks ------------------------------------------------------------------------------------------------------

    def _number(self, name: Any) -> int:
        if name not in self.concept_names:
            raise ValueError(f"order names {name!r}, which is none of the concepts {self.concept_names}")
        return self.concept_names.index(name)

    def _check_transitions(self, transitions: ArrayLike | None) -> Any:
        if (transitions is None) != (self.order != "markov"):
            raise ValueError('transitions go with order="markov", and only with it')
        if transitions is None:
            return None
        matrix = as_floats(transitions, "transitions")
        n_concepts = len(self._sources)
        if matrix.shape != (n_concepts, n_concepts) or not (matrix >= 0.0).all():
            raise ValueError(f"transitions must be a table of {n_concepts} x {n_concepts} probabilities")
        if not np.allclose(matrix.sum(axis=1), 1.0):
            raise ValueError(f"each row of transitions must sum to 1; they sum to {matrix.sum(axis=1)}")
        return matrix / matrix.sum(axis=1, keepdims=True)

    def _all_classes(self) -> list[Any] | None:
        if any(source.classes is None for source in self._sources):
            return None
        return sorted_labels(label for source in self._sources for label in source.classes or ())
