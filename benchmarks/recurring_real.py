"""Accuracy on real streams, with memory and without, beside learners of MOA and River that run row by row.

Test then train, with the default pool and default settings, in batches of ten rows or, where labels come that quickly,
row by row.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed

from ltm_sklearn import LongTermMemoryClassifier

from . import contest, moa_learners, recurring_river
from .batches import test_then_train
from .contest import Runs
from .labelled_streams import FIRST_ROWS, RealStream, after_returns, returns
from .real_files import LABELLED
from .report import Report

OURS = {"ours": "auto", "ours without memory": None}
#: Of River's models, the two that do best by themselves on most of these streams.
OF_RIVER = {"River: scaled logistic": "logistic", "River: scaled passive-aggressive / softmax": recurring_river.LINEAR}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of streams, loss and peers."""
    parser.add_argument("--names", nargs="+", choices=LABELLED, default=list(LABELLED))
    parser.add_argument("--rows", type=int, help="only the first so many of each stream")
    parser.add_argument("--loss", choices=("auto", "zero_one"), default="auto")
    moa_learners.add_options(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write a table of LongTermMemoryClassifier beside the best of the others, and tables of all."""
    streams = [RealStream(name, options.data, options.rows) for name in options.names]
    run_one = Memory(options.cache, verbose=0).cache(our_run)
    tasks = [(stream, who) for stream in streams for who in OURS]
    finished = Parallel(options.jobs, verbose=5)(
        delayed(run_one)(stream, OURS[who], options.loss) for stream, who in tasks
    )
    ours = dict(zip(tasks, finished, strict=True))
    runs: Runs = {}
    for (stream, who), (right, _, taken) in ours.items():
        batch_size = LABELLED[stream.name].batch_size
        runs[stream.name, who] = [contest.scores(right, stream.rows()[2], taken, batch_size)]
    runs |= of_river(streams, options)
    runs |= moa_learners.compete(streams, options)
    everyone = [who for who in (*OURS, *OF_RIVER, *options.peers) if any(who == each for _, each in runs)]
    but = "" if options.loss == "auto" else f" but for loss={options.loss!r}"
    pool = ", ".join(ours[tasks[0]][1])
    notes = [
        f"Accuracy, test then train. Ours has one pool (the default: {pool}) and one setting (the default{but}, "
        "random_state=0) for all, and takes so many rows a batch; the peers run row by row, so that for them labels "
        "are fresher. For each stream the best of them in hindsight is named; the last label repeated is no learner, "
        "and stands by itself.",
        "Not all of this is untouched data: that snapshots are taken every 200 rows was chosen with a prototype run on "
        "the first four too, besides drawn streams of seeds from 100 on, and the forest's window on them and on "
        "noaa_weather.",
        moa_learners.NOTE,
    ]
    packages = ("pandas", "river", "capymoa")
    rows = [line(stream, {who: ours[stream, who][:2] for who in OURS}, runs) for stream in streams]
    report.table("recurring_real", HEADER, rows, notes, packages)
    full = [
        "Row by row, test then train, but for ours, which takes batches of 10 rows on all but elec2 and "
        "bike_demand_class. Seed 0; River's models are those of the table recurring_river.",
        *notes[1:],
    ]
    contest.save(report, "recurring_real_peers", options.names, everyone, runs, full, packages)


def our_run(stream: RealStream, memory: str | None, loss: str) -> tuple[np.ndarray, dict[str, np.ndarray], float]:
    """Return the accuracy in each batch, of the ensemble and of each expert alone, and the seconds."""
    X, y, _ = stream.rows()
    began = process_time()
    model = LongTermMemoryClassifier(loss=loss, memory=memory, random_state=0)
    return *test_then_train(model, X, y, LABELLED[stream.name].batch_size), process_time() - began


def of_river(streams: list[RealStream], options: argparse.Namespace) -> Runs:
    """Return the accuracy in each batch of River's models, and the seconds."""
    if find_spec("river") is None:
        print("River's models are left out, as River is not installed", flush=True)
        return {}
    run_one = Memory(options.cache, verbose=0).cache(recurring_river.one_run)
    tasks = [(stream, who) for stream in streams for who in OF_RIVER]
    finished = Parallel(options.jobs, verbose=5)(delayed(run_one)(stream, OF_RIVER[who]) for stream, who in tasks)
    return {(stream.name, who): [made] for (stream, who), made in zip(tasks, finished, strict=True)}


HEADER = [
    "data",
    "rows a batch",
    "with memory",
    "without",
    "margin",
    "best expert alone",
    "best of MOA and River",
    "best of MOA's for returns",
    "last label repeated",
    f"first {FIRST_ROWS} rows of each return, with memory",
    "without",
    "mean of these, with memory",
    "best of MOA and River",
]


def line(stream: RealStream, ours: dict[str, tuple[np.ndarray, dict[str, np.ndarray]]], runs: Runs) -> list[Any]:
    """Return the line of one stream."""
    size = LABELLED[stream.name].batch_size
    (right, experts), (without, _) = ours.values()
    alone = {name: float(shares.mean()) for name, shares in experts.items()}
    peers = {
        who: made[0]
        for (name, who), made in runs.items()
        if name == stream.name and who not in OURS and "error" not in made[0]
    }
    last = peers.pop("last label", None)
    recurring = {who: made for who, made in peers.items() if who in moa_learners.RECURRING}
    starts = returns(stream.rows()[2])
    after = [", ".join(f"{share:.2f}" for share in after_returns(each, starts, size)) for each in (right, without)]
    return [
        stream.name,
        size,
        f"{right.mean():.4f}",
        f"{without.mean():.4f}",
        f"{right.mean() - without.mean():+.4f}",
        best({name: {"accuracy": share} for name, share in alone.items()}, "accuracy"),
        best(peers, "accuracy"),
        best(recurring, "accuracy"),
        f"{last['accuracy']:.4f}" if last else "-",
        *(each or "-" for each in after),
        contest.shown(runs[stream.name, "ours"], "after_return"),
        best(peers, "after_return"),
    ]


def best(runs: dict[str, contest.Scores], field: str) -> str:
    """Return the highest score and its learner."""
    known = {who: made[field] for who, made in runs.items() if not np.isnan(made[field])}
    if not known:
        return "-"
    who = max(known, key=known.__getitem__)
    return f"{known[who]:.4f} ({who})"
