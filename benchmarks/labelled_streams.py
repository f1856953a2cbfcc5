"""Labelled streams with recurring concepts: drawn ones, and real ones if their files exist."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ltm_sklearn import streams

from .real_files import LABELLED, path_of

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  #: features, labels 0, 1, ... and the concept in force

FIRST_ROWS = 50  #: of a segment whose concept was there before
NOISE = 0.1  #: share of labels flipped in drawn streams

DRAWN: dict[str, Callable[..., streams.RecurringConcepts]] = {
    "STAGGER": streams.stagger,
    "SEA 5/10/15": lambda **schedule: streams.sea([5.0, 10.0, 15.0], **schedule),
    "SEA 8/9/7": lambda **schedule: streams.sea([8.0, 9.0, 7.0], **schedule),
    "random trees": lambda seed, **schedule: streams.RecurringConcepts(
        [streams.RandomTree(3 * seed + at) for at in range(3)], seed=seed, **schedule
    ),
}


@dataclass(frozen=True)
class DrawnStream:
    """A drawn stream of three concepts in random order, never one twice in a row."""

    name: str
    seed: int
    n_segments: int
    length: int

    def concepts(self) -> streams.RecurringConcepts:
        """Return the stream of the package."""
        schedule = {"order": "random", "length": self.length, "n_segments": self.n_segments, "noise": NOISE}
        return DRAWN[self.name](seed=self.seed, **schedule)

    def rows(self) -> Rows:
        """Return all rows."""
        (batch,) = self.concepts().batches(self.length * self.n_segments)
        assert batch.concept is not None
        return batch.X, batch.y.astype(int), batch.concept


@dataclass(frozen=True)
class RealStream:
    """A stream of the first rows of a file, or of all."""

    name: str
    folder: Path
    n_rows: int | None = None
    seed: int = 0  #: of the learners

    @property
    def path(self) -> Path:
        """The path of the file."""
        return path_of(self.folder, self.name)

    def frame(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return the rows as a frame, the labels, and the concepts."""
        import pandas as pd

        file = LABELLED[self.name]
        frame = pd.read_csv(self.path, nrows=self.n_rows).drop(columns="context_sex", errors="ignore")  # the concept
        y = np.unique(frame.pop(file.target), return_inverse=True)[1]
        segment = np.searchsorted(file.starts, np.arange(len(y)), side="right")
        return frame, y, segment % 2

    def rows(self) -> Rows:
        """Return all rows."""
        frame, y, concept = self.frame()
        return frame.to_numpy(dtype=float), y, concept


def returns(concept: np.ndarray) -> list[int]:
    """Return the rows at which a concept returns."""
    starts = [0, *(np.flatnonzero(np.diff(concept)) + 1).tolist()]
    return [start for at, start in enumerate(starts) if concept[start] in concept[starts[:at]]]


def after_returns(right: np.ndarray, starts: list[int], batch_size: int = 1) -> list[float]:
    """Return the accuracy in the first rows after each start; ``right`` has the accuracy of each batch."""
    return [float(right[start // batch_size :][: FIRST_ROWS // batch_size].mean()) for start in starts]


def add_segments(parser: argparse.ArgumentParser, n_segments: int, length: int) -> None:
    """Add the options of drawn streams."""
    parser.add_argument("--segments", type=int, default=n_segments, help="of drawn streams (default: %(default)s)")
    parser.add_argument("--length", type=int, default=length, help="rows a segment (default: %(default)s)")


def drawn_stream(name: str, seed: int, options: argparse.Namespace) -> DrawnStream:
    """Return the drawn stream that the options ask for."""
    return DrawnStream(name, seed, options.segments, options.length)
