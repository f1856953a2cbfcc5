"""Learners of MOA, through CapyMOA: forests, bagging, boosting, and methods for recurring concepts.

They run row by row, test then train, inside the Java machine, which reads the rows from a file. Settings are MOA's own
defaults, but for the base learner and the number of trees, of which there are two each where time allows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from time import process_time

import numpy as np
from joblib import Memory, Parallel, delayed

from .contest import Runs, Scores, scores
from .labelled_streams import DrawnStream, RealStream

#: Class below ``moa.classifiers``, and its options.
LEARNERS: dict[str, tuple[str, str]] = {
    "last label": ("functions.NoChange", ""),
    "majority class": ("functions.MajorityClass", ""),
    "naive Bayes": ("bayes.NaiveBayes", ""),
    "Hoeffding adaptive tree": ("trees.HoeffdingAdaptiveTree", ""),
    "OzaBoost(10)": ("meta.OzaBoost", "-s 10"),
    "leveraging bagging(10)": ("meta.LeveragingBag", "-s 10"),
    "ARF(10)": ("meta.AdaptiveRandomForest", "-s 10"),
    "ARF(100)": ("meta.AdaptiveRandomForest", "-s 100"),
    "SRP(10)": ("meta.StreamingRandomPatches", "-s 10"),
    "SRP(100)": ("meta.StreamingRandomPatches", "-s 100"),
    "PairedLearners (NB)": ("meta.PairedLearners", "-s bayes.NaiveBayes -r bayes.NaiveBayes"),
    "ADACC (NB)": ("meta.ADACC", "-l bayes.NaiveBayes"),
    "ADACC (HT)": ("meta.ADACC", "-l trees.HoeffdingTree"),
    "RCD (NB)": ("meta.RCD", "-l bayes.NaiveBayes"),
    "RCD (HT)": ("meta.RCD", "-l trees.HoeffdingTree"),
    "PEARL(10)": ("meta.PEARL", "-s 10"),
}
#: Those made for concepts that return.
RECURRING = tuple(name for name in LEARNERS if name.startswith(("ADACC", "RCD", "PEARL", "PairedLearners")))
#: Those that take an answer from the labels alone.
WITHOUT_FEATURES = ("last label", "majority class")

#: Said of them below a table.
NOTE = (
    "MOA's learners run row by row with MOA's default settings, but for the base learner (NB naive Bayes, HT Hoeffding "
    "tree) and the number of trees; where all features have at most three values they run with numbers and with "
    "categories, and the better of the two is shown. PEARL's default is 100 trees, with which it takes 40 ms a row: "
    "too long for these streams."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of the learners to run."""
    parser.add_argument("--peers", nargs="+", choices=LEARNERS, default=list(LEARNERS), help="of MOA (default: all)")


def why_not() -> str:
    """Return what is missing to run MOA; an empty text if nothing is."""
    if find_spec("capymoa") is None:
        return "CapyMOA is not installed"
    return "" if which("java") else "there is no Java"


def is_nominal(X: np.ndarray) -> bool:
    """Return whether all features have few values, so that MOA may also take them as categories."""
    return all(len(np.unique(column)) <= 3 for column in X.T)


def write_arff(path: Path, X: np.ndarray, y: np.ndarray, nominal: bool) -> None:
    """Write the rows as an ARFF file, the label last."""

    def kind(values: np.ndarray) -> str:
        return "{" + ",".join(f"{value:g}" for value in np.unique(values)) + "}"

    with path.open("w") as file:
        file.write("@relation stream\n")
        for at, column in enumerate(X.T):
            file.write(f"@attribute x{at} {kind(column) if nominal else 'numeric'}\n")
        file.write(f"@attribute label {kind(y)}\n@data\n")
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            file.write(",".join(f"{value:g}" if nominal else repr(value) for value in row) + f",{label}\n")


def right_answers(who: str, stream: DrawnStream | RealStream, nominal: bool) -> tuple[np.ndarray, float]:
    """Return whether each row was predicted correctly before it was learned, and the processor seconds."""
    from capymoa.base import MOAClassifier
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import ARFFStream
    from jpype import JClass

    X, y, _ = stream.rows()
    kind, options = LEARNERS[who]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.arff"
        write_arff(path, X, y, nominal)
        rows = ARFFStream(path)
        learner = MOAClassifier(JClass(f"moa.classifiers.{kind}"), rows.get_schema(), options or None, stream.seed + 1)
        began = process_time()
        results = prequential_evaluation(rows, learner, store_predictions=True)
        taken = process_time() - began
    answers = np.array([-1 if answer is None else int(answer) for answer in results.predictions()])
    return answers == y, taken


def _attempt(run: Callable[..., tuple[np.ndarray, float]], *task: object) -> tuple[np.ndarray, float] | str:
    """Return the result of a run, or the error of a learner that fails or that this MOA does not have."""
    try:
        return run(*task)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def compete(streams: Sequence[DrawnStream | RealStream], options: argparse.Namespace) -> Runs:
    """Return the scores of the learners on each stream; the better ones if MOA can take the features in two ways."""
    missing = why_not()
    if missing:
        print(f"MOA's learners are left out, as {missing}", flush=True)
        return {}
    run = Memory(options.cache, verbose=0).cache(right_answers)
    tasks = []
    for stream in streams:
        X, _, _ = stream.rows()
        tasks += [(who, stream, False) for who in options.peers]
        if is_nominal(X):
            tasks += [(who, stream, True) for who in options.peers if who not in WITHOUT_FEATURES]
    finished = Parallel(options.jobs, verbose=5, batch_size=1)(delayed(_attempt)(run, *task) for task in tasks)
    concepts = {stream: stream.rows()[2] for stream in streams}
    best: dict[tuple[str, str, int], Scores] = {}
    for (who, stream, _), result in zip(tasks, finished, strict=True):
        made = {"error": result} if isinstance(result, str) else scores(result[0], concepts[stream], result[1])
        key = stream.name, who, stream.seed
        if key not in best or made.get("accuracy", 0.0) > best[key].get("accuracy", 0.0):
            best[key] = made
    runs: Runs = {}
    for (name, who, _), made in best.items():
        runs.setdefault((name, who), []).append(made)
    return runs
