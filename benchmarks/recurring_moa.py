"""Drawn streams with recurring concepts: LongTermMemoryClassifier beside MOA's forests and its methods for them.

RCD, ADACC, PairedLearners and PEARL keep what they learned of a concept, or anticipate it. Ours runs with default
settings, with naive Bayes alone (as RCD, ADACC and PairedLearners by default) and with the default pool, in batches of
ten rows. Seeds 0 to 2 are reported; our defaults were chosen on seeds from 100 on.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
from joblib import Memory, Parallel, delayed
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier

from . import contest, moa_learners
from .batches import test_then_train
from .contest import Runs
from .labelled_streams import DRAWN, NOISE, DrawnStream, add_segments, drawn_stream
from .report import Report, add_seeds, seeds_in_words, seeds_of

OURS = {"ours, naive Bayes": "bayes", "ours, default pool": "pool"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of streams, seeds, segments and peers."""
    parser.add_argument("--names", nargs="+", choices=DRAWN, default=list(DRAWN))
    parser.add_argument("--ours", nargs="+", choices=OURS, default=list(OURS), metavar="WHO", help="of ours")
    parser.add_argument("--batch", type=int, default=10, help="rows a batch of ours (default: %(default)s)")
    add_seeds(parser, 3)
    add_segments(parser, 30, 1000)
    moa_learners.add_options(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the tables of scores."""
    seeds = seeds_of(options)
    streams = [drawn_stream(name, seed, options) for name in options.names for seed in seeds]
    runs = ours(streams, options) | moa_learners.compete(streams, options)
    everyone = [who for who in (*options.ours, *options.peers) if any(who == each for _, each in runs)]
    notes = [
        f"Test then train; mean over {seeds_in_words(seeds)}. {options.segments} segments of {options.length} rows, "
        f"three concepts in random order, {NOISE:.0%} of labels flipped. Ours has default settings and takes "
        f"{options.batch} rows a batch; MOA's learners run row by row, so that for them labels are fresher.",
        moa_learners.NOTE,
    ]
    contest.save(report, "recurring_moa", options.names, everyone, runs, notes, ("capymoa",))


def ours(streams: list[DrawnStream], options: argparse.Namespace) -> Runs:
    """Return the scores of LongTermMemoryClassifier."""
    run_one = Memory(options.cache, verbose=0).cache(our_run)
    tasks = [(stream, who) for who in options.ours for stream in streams]
    finished = Parallel(options.jobs, verbose=5)(
        delayed(run_one)(stream, OURS[who], options.batch) for stream, who in tasks
    )
    runs: Runs = {}
    for (stream, who), (right, taken) in zip(tasks, finished, strict=True):
        made = contest.scores(right, stream.rows()[2], taken, options.batch)
        runs.setdefault((stream.name, who), []).append(made)
    return runs


def our_run(stream: DrawnStream, experts: str, batch_size: int) -> tuple[np.ndarray, float]:
    """Return the accuracy in each batch, and the seconds."""
    X, y, _ = stream.rows()
    pool = [("bayes", GaussianNB())] if experts == "bayes" else None
    began = process_time()
    model = LongTermMemoryClassifier(pool, random_state=0)
    return test_then_train(model, X, y, batch_size)[0], process_time() - began
