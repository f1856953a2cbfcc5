"""kill -9 at random instants of checkpointed runs, each resumed to its end: the same numbers, to the last bit.

    python tests/slow/kills.py --kills 200

A child forked from this process, which has imported everything, runs; the parent kills it after a random time, looks
whether the newest checkpoint can be read, and starts the next child in the same folder. When a run has come to its end,
what it found is compared with that of a run without checkpoints and kills, and the next one begins.
"""

import argparse
import mmap
import os
import pickle
import random
import signal
import sys
import tempfile
import time
import warnings
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from river import linear_model, naive_bayes, tree
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, Snapshots
from ltm_sklearn import river as ours
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.persistence import Checkpoint, _checkpoint, loads
from ltm_sklearn.streams import stagger

LEARNING, PACKING, WRITING = range(3)  #: what a child does, told by a byte that it shares with the parent
PLACES = {LEARNING: "while learning", PACKING: "while packing a checkpoint", WRITING: "while writing its file"}


# Runs: each takes a checkpoint, or None, and returns all it found -------------------------------------------------


def prequential_run(checkpoint, n_segments):
    """A mixed pool with snapshots and a record, beside models of both libraries, with targets that come late."""
    experts = [("bayes", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
    models = {
        "ours": LongTermMemoryClassifier(experts, memory=Snapshots(every=100), random_state=0, record=50),
        "bayes": GaussianNB(),
        "tree": tree.HoeffdingTreeClassifier(grace_period=50),
    }
    stream = stagger(order="random", length=100, n_segments=n_segments, noise=0.1, seed=0)
    result = prequential(models, stream, batch_size=10, delay=15, checkpoint=checkpoint)
    scores = {
        name: {column: value for column, value in row.items() if not column.endswith("seconds")}
        for name, row in result.scores.items()
    }
    run_record = result.run_records["ours"]
    probe = np.random.default_rng(1).normal(size=(5, 3))
    found = [
        scores,
        result.curve_values,
        result.losses,
        result.comparators,
        run_record.weights,
        run_record.losses,
        run_record.ends,
    ]
    return [*found, models["ours"].predict_proba(probe), models["bayes"].predict_proba(probe)]


def river_run(checkpoint, n_segments):
    """Row by row in a loop of one's own; a checksum of all that was said goes along."""
    fresh = ours.LongTermMemoryClassifier(
        {"bayes": naive_bayes.GaussianNB(), "line": linear_model.LogisticRegression()}
    )
    model, n_done = (fresh, 0) if checkpoint is None else checkpoint.resume(fresh)
    extra = {} if checkpoint is None else checkpoint.extra
    stream = stagger(order="random", length=100, n_segments=n_segments, noise=0.1, seed=1)
    for row, (x, y) in enumerate(stream):
        if row < n_done:
            continue
        said = model.predict_proba_one(x)
        extra["said"] = zlib.crc32(repr(sorted(said.items())).encode(), extra.get("said", 0))
        model.learn_one(x, y)
        if checkpoint is not None:
            checkpoint.step(model)
    return [extra["said"], [(each.name, each.weight) for each in model.experts_], model.n_rounds_]


def mixture_run(checkpoint, n_segments):
    """Forecasts of three models, two of which take turns in being right."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=n_segments * 100).cumsum()
    turn = np.arange(len(y)) // 100 % 2
    table = y[:, np.newaxis] + rng.normal(size=(len(y), 3)) * np.column_stack([1 + 4 * turn, 5 - 4 * turn, turn + 2])
    mixture, start = ExpertMixture(loss="absolute_error", record=50), 0
    if checkpoint is not None:
        mixture, start = checkpoint.resume(mixture)
    extra = {} if checkpoint is None else checkpoint.extra
    for at in range(start, len(y), 5):
        if at:
            said = mixture.predict(table[at : at + 5])
            extra["said"] = zlib.crc32(said.tobytes(), extra.get("said", 0))
        mixture.partial_fit(table[at : at + 5], y[at : at + 5])
        if checkpoint is not None:
            checkpoint.step(mixture, 5)
    return [extra["said"], mixture.run_record().weights, mixture.predict(table[:5])]


#: With how often each is saved, so that a good share of kills falls into it.
RUNS = {"prequential": (prequential_run, 50), "River, a loop": (river_run, 25), "mixture": (mixture_run, 25)}


# Kills ------------------------------------------------------------------------------------------------------------


def tell_the_parent(shared):
    """In a child: say through the shared byte when a checkpoint is packed, and when its file is written."""

    def telling(function, place):
        def told(*arguments):
            before, shared[0] = shared[0], place
            try:
                return function(*arguments)
            finally:
                shared[0] = before

        return told

    Checkpoint._write = telling(Checkpoint._write, PACKING)
    _checkpoint.write_atomically = telling(_checkpoint.write_atomically, WRITING)


def start_child(run, n_segments, folder, every, shared, result):
    """A fork that runs to its end, or to that of its life."""
    shared[0] = LEARNING
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        tell_the_parent(shared)
        result.write_bytes(pickle.dumps(run(checkpoint_in(folder, every), n_segments)))
        code = 0
    except BaseException as error:
        print(f"a child failed: {error!r}", file=sys.stderr)
    finally:
        os._exit(code)


def checkpoint_in(folder, every):
    return Checkpoint(folder, every=every, keep=2, trusted=True)


def readable(folder):
    """How many of the files that are there can be read, the newest first."""
    able = []
    for path in sorted(folder.glob("checkpoint-*.ltm"), reverse=True):
        try:
            able.append("model" in loads(path.read_bytes(), trusted=True))
        except ValueError:
            able.append(False)
    return able


def same(one, other):
    """To the last bit."""
    return pickle.dumps(one) == pickle.dumps(other)


def seconds_of(run, n_segments, every, folder):
    """Of a run with checkpoints that nobody kills."""
    start = time.monotonic()
    run(checkpoint_in(folder, every), n_segments)
    return time.monotonic() - start


def kill_runs(name, n_kills, n_segments, rng, folder):
    """Kill one kind of run so often; returns what to count."""
    run, every = RUNS[name]
    expected = run(None, n_segments)
    span = seconds_of(run, n_segments, every, folder / "timed") / 4
    shared = mmap.mmap(-1, 1)
    counts = Counter()
    at = 0
    while counts["kills"] < n_kills or counts["running"]:
        place, result = folder / str(at), folder / f"{at}.result"
        child = start_child(run, n_segments, place, every, shared, result)
        counts["running"] = 1
        if counts["kills"] < n_kills:
            time.sleep(rng.uniform(0.0, span))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            counts["kills"] += 1
            counts[PLACES[shared[0]]] += 1
            counts["half-written files left"] += len(list(place.glob(".*")) if place.is_dir() else [])
            able = readable(place)
            counts["newest file not readable"] += bool(able) and not able[0]
            counts["no file readable"] += bool(able) and not any(able)
            continue
        assert os.waitstatus_to_exitcode(status) == 0, "a child failed"
        counts["runs to their end"] += 1
        counts["runs with other numbers"] += not same(pickle.loads(result.read_bytes()), expected)
        counts["running"] = 0
        at += 1
    del counts["running"]
    return counts


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="in all (default: %(default)s)")
    parser.add_argument("--segments", type=int, default=10, help="of 100 rows, of each run (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the instants (default: %(default)s)")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", RuntimeWarning)  # of naive Bayes, whose first rows are of one class
    rng = random.Random(options.seed)
    total = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(RUNS):
            n_kills = (options.kills + number) // len(RUNS)
            place = Path(folder) / str(number)
            place.mkdir()
            counts = kill_runs(name, n_kills, options.segments, rng, place)
            print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in counts.items()), flush=True)
            total.update(counts)
    print("in all: " + ", ".join(f"{count} {what}" for what, count in total.items()))
    wrong = ("newest file not readable", "no file readable", "runs with other numbers")
    return int(any(total[what] for what in wrong))


if __name__ == "__main__":
    sys.exit(main())
