"""Hostile arguments of every public name, in any number: the property of tests/hostile/test_public_entries.py.

    python tests/slow/hostile.py --examples 1000 --seed 1
    python tests/slow/hostile.py --examples 5000 --only river
    python tests/slow/hostile.py --singly --only parameters

With ``--singly`` each argument is replaced by each hostile value in turn, while all others are good. Prints what each
way in accepted and refused, and each violation of the property; exit code 1 if there is any of that.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import sys
import time
import traceback
from collections import Counter
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hostile.algorithm_entries import ENTRIES as OF_NUMBERS
from hostile.estimator_entries import ENTRIES as OF_MODELS
from hostile.values import VALUES, OneBad, Spoiler
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ENTRIES = OF_NUMBERS | OF_MODELS
MEMORY = 8 << 30  #: bytes that may be asked for, lest the machine ends the run: beyond it there is a MemoryError
HANGS = 120  #: seconds after which a single input counts as a hang: the stack is shown, and the run ends


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=200, help="inputs a way in")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="ways in whose name has this in it")
    parser.add_argument("--singly", action="store_true", help="spoil one argument at a time, by all values in turn")
    parser.add_argument("--list", action="store_true", help="only name them")
    return parser.parse_args()


def tried(name: str, call: str, n_examples: int, which: int) -> tuple[Counter[str], list[str]]:
    """Return how many inputs were accepted and refused, and the first violation."""
    count: Counter[str] = Counter()

    @seed(which)
    @settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate],  # to find a smaller input for the same failure takes longer than to find the others
        suppress_health_check=[*HealthCheck],
    )
    @given(data=st.data())
    def hold(data: st.DataObject) -> None:
        faulthandler.dump_traceback_later(HANGS, exit=True)
        bad = Spoiler(data.draw)
        try:
            count["accepted" if ENTRIES[name].check(call, bad) else "refused"] += 1
        except Exception:
            done[:] = bad.done
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()

    done: list[str] = []  # to what failed
    try:
        hold()
    except Exception as error:
        return count, [described(error, done)]
    return count, []


def tried_singly(name: str, call: str) -> tuple[Counter[str], list[str]]:
    """Return how many single bad arguments were accepted and refused, and all violations."""
    count: Counter[str] = Counter()
    failures = []
    entry = ENTRIES[name]
    for at, value in product(range(entry.n_arguments(call)), VALUES):
        faulthandler.dump_traceback_later(HANGS, exit=True)
        bad = OneBad(at, value)
        try:
            count["accepted" if entry.check(call, bad) else "refused"] += 1
        except Exception as error:
            failures.append(described(error, bad.done))
        finally:
            faulthandler.cancel_dump_traceback_later()
    return count, failures


def described(error: Exception, done: list[str]) -> str:
    at = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
    return f"{type(error).__name__}: {str(error)[:600]}\n    at {' '.join(at)}\n    after {str(done)[:1000]}"


def main() -> int:
    args = options()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    ways = [(name, call) for name, entry in ENTRIES.items() for call in entry.calls if args.only in f"{name} {call}"]
    if args.list:
        print(*(f"{name} {call}" for name, call in ways), sep="\n")
        return 0
    total: Counter[str] = Counter()
    failures = 0
    start = time.perf_counter()
    for name, call in ways:
        count, found = tried_singly(name, call) if args.singly else tried(name, call, args.examples, args.seed)
        total += count
        failures += len(found)
        for failure in found:
            print(f"FAILED {name} {call}: {failure}", flush=True)
    seconds = time.perf_counter() - start
    print(f"{len(ways)} calls, {total.total():,} inputs: {total['accepted']:,} accepted, {total['refused']:,} refused")
    print(f"{failures} failures, seed {args.seed}, {seconds:.0f} s")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
