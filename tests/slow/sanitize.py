"""The compiled kernels under AddressSanitizer and UndefinedBehaviorSanitizer (gcc's).

Builds the package with both into a folder of its own, and runs there the tests that touch every kernel. A report of a
sanitizer ends the run with an exit code other than 0.

    python tests/slow/sanitize.py
    python tests/slow/sanitize.py --break      # writes beyond an array on purpose: must fail
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Files of tests, and which of theirs: those that run a kernel beside what defines it.
TESTS = {
    "experts/test_compiled_kernel.py": "compiled or saved or avx2",
    "bandits/test_base.py": "compiled",
    "bandits/test_sparse.py": "compiled",
    "forecasting/test_series_state.py": "compiled",
    "evaluation/test_oracles.py": "compiled",
    "engine/test_compiled_row_round.py": "",
    "aggregation/test_stack.py": "compiled",
    "aggregation/test_follow_or_blend.py": "compiled",
    "hostile/test_public_entries.py": "experts or bandits or river or Mixture or oracles",
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--break", dest="broken", action="store_true", help="break a kernel in a copy: must fail")
    parser.add_argument("--folder", type=Path, help="where the build is kept; used again if it is there")
    parser.add_argument("--only", choices=sorted(TESTS), help="one file of tests")
    parser.add_argument("--seed", type=int, default=0, help="of Hypothesis")
    return parser.parse_args()


def build(source: Path, target: Path) -> None:
    """Install the package with sanitizers into a folder."""
    settings = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dbuildtype=debugoptimized"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target)]
    subprocess.run([*command, *(f"-Csetup-args={setting}" for setting in settings), str(source)], check=True)
    missing = [path.stem for path in source.glob("ltm_sklearn/**/*.pyx") if not list(target.rglob(f"{path.stem}*.so"))]
    if missing:
        raise SystemExit(f"kernels {missing} were not built: a C compiler and Python's headers are needed")


def broken_copy(folder: Path) -> Path:
    """The sources, with a kernel that writes one number too far."""
    copy = folder / "source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", "docs", "benchmarks"))
    kernel = copy / "ltm_sklearn" / "evaluation" / "_switching.pyx"
    text = kernel.read_text()
    loop = "for s in range(n_levels{}):\n        total"
    beyond = text.replace(loop.format(""), loop.format(" + 1"))
    if beyond == text:
        raise SystemExit(f"{kernel.name} has no line that --break knows how to break")
    kernel.write_text(beyond)
    return copy


def library(name: str) -> str:
    """Where the compiler has a library."""
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return os.path.realpath(found.stdout.strip())


def environment(target: Path) -> dict[str, str]:
    """In which the interpreter, which is not built with sanitizers, can load what is."""
    return {
        **os.environ,
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:allocator_may_return_null=1",  # Python itself leaks at its end
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # Python's own pools would hide what is beyond an array
        "PYTHONPATH": str(target),
    }


def run(target: Path, files: list[str], seed: int) -> int:
    """The tests, in the build; the largest exit code."""
    env, failed = environment(target), 0
    where = "import ltm_sklearn, os; print(os.path.dirname(ltm_sklearn.__file__))"
    found = subprocess.run([sys.executable, "-P", "-c", where], env=env, capture_output=True, text=True, cwd=target)
    if Path(found.stdout.strip()) != target / "ltm_sklearn":
        raise SystemExit(f"the build does not load: {found.stdout}{found.stderr}")
    for name in files:
        start = time.perf_counter()
        command = [sys.executable, "-P", "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        command += ["-n", "0", "-m", "", "-q", "--capture=sys", "-p", "no:cacheprovider", f"--hypothesis-seed={seed}"]
        command += [*(["-k", TESTS[name]] if TESTS[name] else []), str(ROOT / "tests" / name)]
        done = subprocess.run(command, env=env, cwd=target, capture_output=True, text=True)
        lines = done.stdout.strip().splitlines()
        print(f"{name}: {lines[-1] if lines else ''} ({time.perf_counter() - start:.0f} s, exit {done.returncode})")
        if done.returncode:
            print("\n".join(lines[-40:]), done.stderr[-12000:], sep="\n")
            failed = max(failed, abs(done.returncode))
    return failed


def main() -> int:
    args = options()
    with tempfile.TemporaryDirectory() as temporary:
        target = args.folder or Path(temporary) / "build"
        if not (target / "ltm_sklearn").is_dir():
            build(broken_copy(Path(temporary)) if args.broken else ROOT, target)
        files = ["evaluation/test_oracles.py"] if args.broken else [args.only] if args.only else list(TESTS)
        failed = run(target.resolve(), files, args.seed)
    print("reports of a sanitizer, or failed tests" if failed else "no report of a sanitizer")
    return failed


if __name__ == "__main__":
    sys.exit(main())
