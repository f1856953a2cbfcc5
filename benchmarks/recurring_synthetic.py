"""Accuracy on STAGGER and SEA with recurring concepts: with memory, without, and of an oracle.

Test then train: each batch is predicted, scored, and learned. Everything runs with default settings, with Gaussian
naive Bayes as the only expert. Seeds 0 to 4 are reported; the defaults were chosen on seeds from 100 on.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.ensemble import ExpertWarning

from .batches import test_then_train
from .labelled_streams import FIRST_ROWS, NOISE, DrawnStream, add_segments, drawn_stream, returns
from .report import Report, add_seeds, seeds_in_words, seeds_of

STREAMS = ("STAGGER", "SEA 5/10/15", "SEA 8/9/7")
WHO = ("with memory", "the expert alone", "oracle")

Shares = dict[str, np.ndarray]  #: of right answers, of each contestant, shape (segments, batches)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of batches, loss, seeds and segments."""
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 10, 50], help="rows a batch, a table each")
    parser.add_argument("--loss", choices=("auto", "zero_one"), default="auto")
    add_seeds(parser, 5)
    add_segments(parser, 30, 1000)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write a table and a picture for each batch size."""
    run_one = Memory(options.cache, verbose=0).cache(synthetic_run)
    seeds = seeds_of(options)
    drawn = {(name, seed): drawn_stream(name, seed, options) for name in STREAMS for seed in seeds}
    back = {key: returning(stream) for key, stream in drawn.items()}
    for size in options.batches:
        tasks = (delayed(run_one)(stream, size, options.loss) for stream in drawn.values())
        results = dict(zip(drawn, Parallel(options.jobs, verbose=5)(tasks), strict=True))
        save(report, results, back, size, seeds, options)
        draw(report, results, back, size, seeds)


def synthetic_run(stream: DrawnStream, batch_size: int, loss: str) -> Shares:
    """Return the accuracies of the ensemble, its only expert alone, and the oracle."""
    warnings.simplefilter("ignore", ExpertWarning)  # row by row, naive Bayes has no variance to go by at first
    X, y, concept = stream.rows()
    model = LongTermMemoryClassifier([("bayes", GaussianNB())], loss=loss)
    with_memory, experts = test_then_train(model, X, y, batch_size)
    runs = zip(WHO, (with_memory, experts["bayes"], oracle(X, y, concept, batch_size)), strict=True)
    return {who: right.reshape(stream.n_segments, -1) for who, right in runs}


def oracle(X: np.ndarray, y: np.ndarray, concept: np.ndarray, batch_size: int) -> np.ndarray:
    """Return the accuracy in each batch with one model for each true concept."""
    models = [GaussianNB() for _ in range(concept.max() + 1)]
    right = []
    for start in range(0, len(y), batch_size):
        rows, model = slice(start, start + batch_size), models[concept[start]]
        with np.errstate(all="ignore"):
            right.append((model.predict(X[rows]) == y[rows]).mean() if hasattr(model, "classes_") else 0.0)
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    return np.array(right)


def returning(stream: DrawnStream) -> list[int]:
    """Return the segments whose concept returns."""
    return [start // stream.length for start in returns(stream.rows()[2])]


def save(
    report: Report,
    results: dict[tuple[str, int], Shares],
    back: dict[tuple[str, int], list[int]],
    size: int,
    seeds: range,
    options: argparse.Namespace,
) -> None:
    """Write the table of accuracies."""
    rows = []
    for name in STREAMS:
        line: list[Any] = [name]
        for who in WHO:
            runs = {seed: results[name, seed][who] for seed in seeds}
            after = [right[back[name, seed], : FIRST_ROWS // size].mean() for seed, right in runs.items()]
            accuracy = [right.mean() for right in runs.values()]
            spread = f" ± {np.std(accuracy, ddof=1):.4f}" if len(seeds) > 1 and who == "with memory" else ""
            line += [f"{np.mean(accuracy):.4f}{spread}", f"{np.mean(after):.3f}"]
        rows.append(line)
    header = ["stream", *(f"{who}{part}" for who in WHO for part in ("", f", first {FIRST_ROWS}"))]
    but = "" if options.loss == "auto" else f" but for loss={options.loss!r}"
    notes = [
        f"{'Row by row' if size == 1 else f'Batches of {size}'}: accuracy, test then train, and accuracy in the first "
        f"{FIRST_ROWS} rows of returning segments; mean (± standard deviation) over {seeds_in_words(seeds)}. "
        f"{options.segments} segments of {options.length} rows, {NOISE:.0%} of labels flipped, naive Bayes as the only "
        f"expert, default settings{but}. The oracle has one naive Bayes for each true concept. The first batch of a "
        "segment is predicted before anyone can know that it has begun.",
    ]
    report.table(f"recurring_{size}", header, rows, notes)


def draw(
    report: Report,
    results: dict[tuple[str, int], Shares],
    back: dict[tuple[str, int], list[int]],
    batch_size: int,
    seeds: range,
) -> None:
    """Draw the accuracy in the rows after a return."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.4), layout="constrained")
    step = max(batch_size, 10)
    colours = {"with memory": "C0", "the expert alone": "C3", "oracle": "0.5"}
    for axes, name in zip(figure.subplots(1, len(STREAMS), sharey=True), STREAMS, strict=True):
        for who in WHO:
            curves = [results[name, seed][who][back[name, seed], : 300 // batch_size] for seed in seeds]
            mean = np.concatenate(curves).mean(axis=0).reshape(-1, step // batch_size).mean(axis=1)
            rows = step * np.arange(len(mean)) + step / 2
            axes.plot(rows, mean, color=colours[who], label=who, lw=2 if who == "with memory" else 1.3)
        axes.set(title=name, xlabel="rows since a concept returned", xlim=(0, 300), ylim=(0.3, 0.95))
        axes.grid(alpha=0.3)
    rows_are = "row by row" if batch_size == 1 else f"batches of {batch_size}"
    figure.axes[0].set_ylabel(f"accuracy, {rows_are}")
    figure.axes[-1].legend(loc="lower right")
    report.picture(f"recurring_{batch_size}", figure)
