"""Checkpoints on a disk that is full, and in folders that are read-only: old files stay, errors say what is wrong.

    python tests/slow/disks.py

It mounts a small file system of its own, so it needs Linux and root; without, it says so and fails.
"""

import argparse
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn.persistence import Checkpoint, CheckpointWarning


@contextmanager
def mounted(*arguments):
    """A file system for a while."""
    subprocess.run(["mount", *map(str, arguments)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(arguments[-1])], check=True)


def fitted(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 200))
    return GaussianNB().fit(X, X[:, 0] > 0)


def check(what, is_true):
    print(f"{'ok  ' if is_true else 'NOT '} {what}", flush=True)
    return is_true


def attempt(checkpoint, model, n_rows=10):
    """What came of it: an error, a warning, or neither."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            checkpoint.step(model, n_rows)
        except OSError as error:
            return error
    ours = [each.message for each in caught if issubclass(each.category, CheckpointWarning)]
    return ours[0] if ours else None


def rows_of(folder):
    paths = sorted(folder.glob("checkpoint-*.ltm"), reverse=True)
    return [int(path.stem.removeprefix("checkpoint-")) for path in paths]


def full_disk(place, seed):
    """Room for a file and a half: the next one does not fit beside the old one."""
    right = []
    with tempfile.TemporaryDirectory() as elsewhere:
        probe = Checkpoint(elsewhere)
        probe.resume(fitted(seed))
        size = probe.path.stat().st_size
    with mounted("-t", "tmpfs", "-o", f"size={max(size * 3 // 2, 8192)}", "tmpfs", place):
        for on_error in ("raise", "warn"):
            folder = place / on_error
            checkpoint = Checkpoint(folder, every=10, keep=1, on_error=on_error)
            checkpoint.extra["said"] = on_error
            model, _ = checkpoint.resume(fitted(seed))
            came = attempt(checkpoint, model)
            kind = OSError if on_error == "raise" else CheckpointWarning
            right.append(
                check(f"full disk, {on_error}: {came}", isinstance(came, kind) and "No space left" in str(came))
            )
            right.append(check("the old file is the only one, with no half beside it", rows_of(folder) == [0]))
            right.append(check("nothing else is there", len(list(folder.iterdir())) == 1))
            again = Checkpoint(folder)
            again.resume(fitted(seed))
            right.append(check("and it is gone on from", again.extra == {"said": on_error}))
            for path in folder.iterdir():
                path.unlink()
    return right


def read_only(place, seed):
    """At the start, and in mid-run."""
    right = []
    with mounted("-t", "tmpfs", "-o", "size=4m", "tmpfs", place):
        folder = place / "run"
        checkpoint = Checkpoint(folder, every=10, on_error="warn")
        model, _ = checkpoint.resume(fitted(seed))
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        came = attempt(checkpoint, model)
        right.append(check(f"read-only in mid-run, warn: {came}", "Read-only" in str(came) and rows_of(folder) == [0]))
        checkpoint.on_error = "raise"
        came = attempt(checkpoint, model)
        right.append(check(f"read-only in mid-run, raise: {came}", isinstance(came, OSError)))
        try:
            Checkpoint(folder, on_error="warn").resume(fitted(seed))
            came = None
        except OSError as error:
            came = error
        right.append(check(f"read-only at the start: {came}", "cannot be written to" in str(came)))
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)
        came = attempt(checkpoint, model)
        right.append(check("once it can be written to, it is", came is None and rows_of(folder) == [30, 0]))
    return right


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="of the model that is saved (default: %(default)s)")
    options = parser.parse_args(arguments)
    right = []
    with tempfile.TemporaryDirectory() as folder:
        for number, test in enumerate((full_disk, read_only)):
            place = Path(folder) / str(number)
            place.mkdir()
            try:
                right += test(place, options.seed)
            except subprocess.CalledProcessError as error:
                print(f"a file system could not be mounted (it needs Linux and root): {error}")
                return 1
    print(f"{sum(right)} of {len(right)} as they should be")
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
