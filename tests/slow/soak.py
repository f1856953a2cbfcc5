"""Soak: ten million rounds of everything that has no end, and a million rows of the estimators.

    python tests/slow/soak.py                                 # half an hour of processor time
    python tests/slow/soak.py --rounds 1000000 --rows 100000  # some three minutes of it
    python tests/slow/soak.py --only River

Each load runs in a process of its own, in 20 blocks of at least 10,000 rounds. A line a block says how much memory the
process holds, and how much processor time a round took. Machines are shared, and a round takes longer when others are
busy: so in turns with it runs a copy of the load as it was after the first tenth, which does the same kind of work, and
the ratio of the two, the median of a block's slices, is what must be flat. Exits with 1 if memory or time grow by more
than 5 % over the last half, or if weights, counters or regret are not what they must be at the end. Reads /proc, so it
runs on Linux.
"""

import argparse
import copy
import os
import shlex
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT)]  # behind the installed package

from soak_loads import CHUNK, FAST, ROWS, SLOW  # noqa: E402

from benchmarks.report import Report  # noqa: E402

N_BLOCKS = 20
SLICES = 10  #: of a block, each followed by a quarter as many rounds of the young copy
MOST = 0.05  #: by which the last half may grow


@dataclass
class Block:
    """So many rounds."""

    rounds: int  #: at its end
    megabytes: float  #: that the process holds then
    microseconds: float  #: of processor time a round
    ratio: float  #: of it to the young copy's, the median of the slices; NaN while it is itself young


@dataclass
class Run:
    """Of a load."""

    name: str
    blocks: list
    problems: list

    def last_half(self):
        """The blocks of the last half."""
        return self.blocks[len(self.blocks) // 2 :]

    def memory_growth(self):
        """From the first to the last block of the last half, as a part."""
        held = [block.megabytes for block in self.last_half()]
        return held[-1] / held[0] - 1.0

    def time_growth(self):
        """Of the ratios over the last half, as a part: along the median of all slopes between two blocks."""
        ratios = np.array([block.ratio for block in self.last_half()])
        first, last = np.triu_indices(len(ratios), 1)
        slope = np.median((ratios[last] - ratios[first]) / (last - first))
        return slope * (len(ratios) - 1) / np.median(ratios)

    def failures(self):
        """What is wrong, in words."""
        grown = {"memory": self.memory_growth(), "time": self.time_growth()}
        return self.problems + [f"{what} grows by {part:.1%}" for what, part in grown.items() if part > MOST]


def resident():
    """Megabytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def seconds_of(load, n_chunks):
    """Processor time of so many chunks."""
    spent = 0.0
    for _ in range(n_chunks):
        start = time.process_time()
        load.learn()
        spent += time.process_time() - start
        load.account()
    return spent


def soaked(name, n_rounds, seed):
    """Run the load of that name."""
    warnings.simplefilter("ignore")  # experts fail, and a million rows would warn of it often
    load, young, blocks = {**ROWS, **FAST, **SLOW}[name](seed), None, []
    in_slice = max(n_rounds // CHUNK // N_BLOCKS // SLICES, 1)
    of_young = max(in_slice // 4, 1)
    for at in range(N_BLOCKS):
        own = np.empty(SLICES)
        youngs = np.full(SLICES, np.nan)
        for slice_at in range(SLICES):
            own[slice_at] = seconds_of(load, in_slice) / (in_slice * CHUNK)
            if young is not None:
                youngs[slice_at] = seconds_of(copy.deepcopy(young), of_young) / (of_young * CHUNK)
        blocks.append(Block(load.n_rounds, resident(), 1e6 * own.mean(), np.median(own / youngs)))
        if at == N_BLOCKS // 10 - 1:
            young = copy.deepcopy(load)
    return Run(name, blocks, load.problems())


def show(run):
    """Print the blocks."""
    print(f"\n{run.name}\n{'rounds':>12} {'MB':>8} {'µs a round':>11} {'to the young':>13}")
    for block in run.blocks:
        print(f"{block.rounds:12,} {block.megabytes:8.1f} {block.microseconds:11.2f} {block.ratio:13.3f}")
    print(f"last half: memory {run.memory_growth():+.2%}, time {run.time_growth():+.2%}")
    for failure in run.failures():
        print(f"FAILED: {failure}")
    sys.stdout.flush()


def main():
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10_000_000, help="of experts, bandits and mixtures")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the estimators")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[""], help="loads whose names begin so, or so")
    parser.add_argument("--jobs", type=int, default=2, help="loads side by side (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="folder for the table, as CSV and Markdown")
    options = parser.parse_args()
    rounds = {**dict.fromkeys(ROWS, options.rows), **dict.fromkeys(FAST, options.rounds)}
    rounds |= dict.fromkeys(SLOW, options.rounds // 100)
    names = [name for name in rounds if name.startswith(tuple(options.only))]
    runs = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as processes:
        tasks = [processes.submit(soaked, name, rounds[name], options.seed) for name in names]
        for task in as_completed(tasks):
            runs.append(task.result())
            show(runs[-1])
            if options.out is not None:  # after each, so that one that is stopped leaves what it has found
                save(sorted(runs, key=lambda run: names.index(run.name)), options)
    failed = [run.name for run in runs if run.failures()]
    print(f"\n{len(runs)} loads, failed: {', '.join(failed) or 'none'}")
    return 1 if failed or not runs else 0


def save(runs, options):
    """The tables: of the estimators, and of all else."""
    for name, mine in (("soak_rows", [*ROWS]), ("soak_rounds", [*FAST, *SLOW])):
        if any(run.name in mine for run in runs):
            save_table(name, [run for run in runs if run.name in mine], options)


def save_table(name, runs, options):
    """One of them."""
    rows = []
    for run in runs:
        last, half, early = run.blocks[-1], run.last_half(), run.blocks[N_BLOCKS // 10]
        held = [f"{block.megabytes:.1f}" for block in (early, half[0], last)]
        growth = [f"{100 * part:+.1f}" for part in (run.memory_growth(), run.time_growth())]
        typical = np.median([block.microseconds for block in half])
        rows.append(
            [run.name, f"{last.rounds:,}", *held, f"{typical:.2f}", *growth, "; ".join(run.failures()) or "none"]
        )
    header = [
        "",
        "rounds",
        "MB after a tenth",
        "at half",
        "at the end",
        "µs a round",
        "memory, %",
        "time, %",
        "problems",
    ]
    notes = [
        "Resident memory of a process of its own; median processor time a round in the last half; growth over the last "
        "half of the memory, and of the time relative to that of a copy of the same load as it was after the first "
        "tenth, which runs in turns with it. Concepts return, experts sleep, fail, come and go; of the rows of the two "
        f"estimators some labels come late and some never. Seed {options.seed}.",
    ]
    given = ["--rounds", str(options.rounds), "--rows", str(options.rows), "--seed", str(options.seed)]
    given += ["--only", *options.only] if options.only != [""] else []
    command = shlex.join(["python", "tests/slow/soak.py", *given])
    Report(options.out, command).table(name, header, rows, notes, ("river", "pandas"))


if __name__ == "__main__":
    sys.exit(main())
