"""Coverage-guided fuzzing of the kernels and of the readers, with atheris (``pip install atheris``).

    python tests/slow/fuzz.py kernel --seconds 60 --seed 1
    python tests/slow/fuzz.py --list

A kernel is run beside the NumPy code that defines it, on numbers made of the fuzzer's bytes: both must say the same. A
reader is given the bytes as a file: it must read them, or raise what it documents. The fuzzer begins with no corpus and
is guided by the branches of the package's Python code; the kernels themselves are not instrumented (that takes clang),
tests/slow/sanitize.py looks into them. At the end libFuzzer says how many runs there were; a failure ends the run with
the bytes in a file, and an exit code other than 0.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris
import numpy as np
import pandas as pd

with atheris.instrument_imports(include=["ltm_sklearn"]):
    from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, bandits
    from ltm_sklearn.aggregation import _round_losses, _stack
    from ltm_sklearn.bandits import _long_term_memory_bandit, _scaled, _sparse
    from ltm_sklearn.cli._forecast_file import read_forecasts
    from ltm_sklearn.cli._stream_file import StreamOptions, read_stream
    from ltm_sklearn.engine import _compiled_row_round as _one_row
    from ltm_sklearn.evaluation import _sequences, oracles
    from ltm_sklearn.experts import FixedShare, LongTermMemory, MixingPastPosteriors, ShareTheta
    from ltm_sklearn.experts import _base as experts_base
    from ltm_sklearn.forecasting import _series_state
    from ltm_sklearn.persistence import dumps, loads
    from ltm_sklearn.recording import read_log
    from ltm_sklearn.river import LongTermMemoryRegressor as RiverRegressor
    from ltm_sklearn.streams import Batches

from river import linear_model
from sklearn.naive_bayes import GaussianNB

FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))

# Numbers made of bytes ----------------------------------------------------------------------------------------------


def table(data: atheris.FuzzedDataProvider, n_columns: int, low: float, high: float, nan: bool = False) -> Any:
    """Rows of numbers between bounds: the bounds, their neighbours, denormals and any others."""
    special = [low, high, np.nextafter(low, high), np.nextafter(high, low), 0.5 * (low + high), max(low, 5e-324)]
    n_cells = n_columns * data.ConsumeIntInRange(1, 40)
    cells = []
    for _ in range(n_cells):
        which = data.ConsumeIntInRange(0, 2 * len(special) + 1)
        if which < len(special):
            cells.append(special[which])
        elif which == len(special) and nan:
            cells.append(np.nan)
        else:
            cells.append(data.ConsumeFloatInRange(low, high))
    return np.array(cells, dtype=np.float64).reshape(-1, n_columns)


def both_ways(modules: list[Any], run: Callable[..., Any], *tables: Any) -> None:
    """The same with the kernels and without, as far as the last digits of the tables do not decide."""
    compiled = run(*tables)
    kept = [module.kernel for module in modules]
    try:
        for module in modules:
            module.kernel = None
        defined = run(*tables)
        if any(not np.allclose(*pair, rtol=1e-8, atol=1e-8) for pair in zip(compiled, defined, strict=True)):
            random = np.random.default_rng(0)
            others = [run(*(nudged(table, random) for table in tables)) for _ in range(8)]
    finally:
        for module, kernel in zip(modules, kept, strict=True):
            module.kernel = kernel
    for at, (one, other) in enumerate(zip(compiled, defined, strict=True)):
        if not np.allclose(one, other, rtol=1e-8, atol=1e-8):
            rounding = max(np.abs(np.subtract(nearby[at], other)).max() for nearby in others)
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 + 10.0 * rounding)


def nudged(table: Any, random: np.random.Generator) -> Any:
    """The same numbers but for their last digits, within the same bounds."""
    if np.isnan(table).all():
        return table
    last = random.integers(-1, 2, np.shape(table)) * np.spacing(np.abs(table))
    return np.clip(table + last, np.nanmin(table), np.nanmax(table))


def experts(data: atheris.FuzzedDataProvider) -> None:
    make = data.PickValueInList([LongTermMemory, FixedShare, ShareTheta, MixingPastPosteriors])
    losses = table(data, data.ConsumeIntInRange(1, 9), 0.0, 1.0, nan=True)
    awake = table(data, 1, 0.0, 1.0)
    confidences = np.resize(awake, losses.shape) if data.ConsumeBool() else None

    def run(losses: Any) -> Any:
        algorithm = make()
        return algorithm.run(losses, confidences), algorithm.weights(losses.shape[1])

    both_ways([experts_base], run, losses)


def arms(makers: list[Any], module: Any) -> Callable[[atheris.FuzzedDataProvider], None]:
    def target(data: atheris.FuzzedDataProvider) -> None:
        make, seed = data.PickValueInList(makers), data.ConsumeIntInRange(0, 1000)
        losses = table(data, data.ConsumeIntInRange(1, 6), -1.0, 1.0)

        def run(losses: Any) -> Any:
            bandit = make(random_state=seed)
            return bandit.run(losses), bandit.probabilities

        both_ways([module], run, losses)

    return target


def switching(data: atheris.FuzzedDataProvider) -> None:
    losses = table(data, data.ConsumeIntInRange(1, 5), 0.0, 1e6)
    n_switches, n_distinct = data.ConsumeIntInRange(0, 6), data.ConsumeIntInRange(1, 3)

    def run() -> Any:
        among = oracles.best_sequence_among(losses, n_switches, min(n_distinct, losses.shape[1]))
        return np.ravel(oracles.best_sequence(losses, n_switches).losses), [among.lower, among.upper]

    both_ways([_sequences], run)


def mixing(data: atheris.FuzzedDataProvider) -> None:
    forecasts = table(data, data.ConsumeIntInRange(2, 5), -1e3, 1e3)
    y = np.resize(table(data, 1, -1e3, 1e3), len(forecasts))
    loss = data.PickValueInList(["squared_error", "absolute_error"])
    lag, block = data.ConsumeIntInRange(0, 3), data.ConsumeIntInRange(1, 3)
    if len(forecasts) <= lag + block:
        return

    def run(forecasts: Any, y: Any) -> Any:
        mixture = ExpertMixture(loss=loss, lag=lag, block=block).fit(forecasts, y)
        return mixture.predict(forecasts), mixture.weights_

    both_ways([_series_state], run, forecasts, y)


def blend(data: atheris.FuzzedDataProvider) -> None:
    X = table(data, 2, -10.0, 10.0)
    y = np.resize(np.frombuffer(data.ConsumeBytes(len(X)) or b"\0\1", dtype=np.uint8) % 3, len(X))

    def run() -> Any:
        model = LongTermMemoryClassifier([("a", GaussianNB()), ("b", GaussianNB(var_smoothing=0.1))], batch_size=5)
        for start in range(0, len(X), 5):
            model.partial_fit(X[start : start + 5], y[start : start + 5], classes=[0, 1, 2])
        return model.predict_proba(X), model.weights_

    both_ways([_round_losses, _stack], run)


def row(data: atheris.FuzzedDataProvider) -> None:
    rows = table(data, 3, -10.0, 10.0)

    def run() -> Any:
        model = RiverRegressor({"line": linear_model.LinearRegression(), "passive": linear_model.PARegressor()}, seed=0)
        said = []
        for a, b, y in rows.tolist():
            said.append(model.predict_one({"a": a, "b": b}))
            model.learn_one({"a": a, "b": b}, y)
        return said, model.weights_

    both_ways([_one_row], run)


# Files of bytes -----------------------------------------------------------------------------------------------------


def file_of(data: atheris.FuzzedDataProvider, name: str, head: bytes) -> Path:
    """A file with these bytes, perhaps after a good beginning."""
    path = FOLDER / name
    begins = data.ConsumeBool()
    path.write_bytes((head if begins else b"") + data.ConsumeBytes(sys.maxsize))
    return path


def csv(data: atheris.FuzzedDataProvider) -> None:
    options = StreamOptions("y", [], "t" if data.ConsumeBool() else None, None, [], "auto", None)
    rows = "".join(f"{at},{at % 7},{at % 2}\n" for at in range(25))
    path = file_of(data, "x.csv", f"t,a,y\n{rows}".encode())
    for read in (
        lambda: read_stream(path, options),
        lambda: read_forecasts(path, ExpertMixture(), "y", []),
        lambda: [batch.X.shape for batch in Batches(path, "y")],
    ):
        refused_with(ValueError, read)


def parquet(data: atheris.FuzzedDataProvider) -> None:
    good = FOLDER / "good.parquet"
    if not good.exists():
        pd.DataFrame({"a": range(25), "y": [at % 2 for at in range(25)]}).to_parquet(good)
    whole = bytearray(good.read_bytes())
    for _ in range(data.ConsumeIntInRange(0, 8)):
        whole[data.ConsumeIntInRange(0, len(whole) - 1)] = data.ConsumeIntInRange(0, 255)
    path = FOLDER / "x.parquet"
    path.write_bytes(bytes(whole[: data.ConsumeIntInRange(0, len(whole))]) if data.ConsumeBool() else bytes(whole))
    refused_with(ValueError, lambda: read_stream(path, StreamOptions("y", [], None, None, [], "auto", None)))


def log(data: atheris.FuzzedDataProvider) -> None:
    record = b'{"row": 1, "n_rows": 1, "round": 1, "n_rounds": 1, "loss": 0.5, "uniform": 0.5, "weights": {"a": 1.0}, '
    record += b'"losses": {"a": 0.5}, "at": 1.0, "now": {}}\n'
    head = b'{"log": "ltm_sklearn", "format": 1}\n' + (record if data.ConsumeBool() else b"")
    path = file_of(data, "x.log", head)
    refused_with(ValueError, lambda: read_log(path).run_record())


def saved(data: atheris.FuzzedDataProvider) -> None:
    """Saved files with other bytes: refused, as damaged files are."""
    changed = other_bytes(data, data.PickValueInList(GOOD))
    refused_with(ValueError, lambda: loads(changed))


def other_bytes(data: atheris.FuzzedDataProvider, good: bytes) -> bytes:
    """Some are replaced, by any or by those of another place."""
    changed = bytearray(good)
    for _ in range(data.ConsumeIntInRange(1, 6)):
        at, length = data.ConsumeIntInRange(0, len(changed)), data.ConsumeIntInRange(0, 12)
        start = data.ConsumeIntInRange(0, len(good))
        there = data.ConsumeBytes(length) if data.ConsumeBool() else good[start : start + length]
        changed[at : at + data.ConsumeIntInRange(0, 12)] = there
    return bytes(changed)


def refused_with(documented: type[Exception], read: Callable[[], Any]) -> None:
    try:
        read()
    except documented as error:
        if not str(error):
            raise AssertionError("an error without a message") from error


def good_files() -> list[bytes]:
    """Of an algorithm, a mixture, an ensemble of River's models, and one with a model that skops writes."""
    rng = np.random.default_rng(0)
    forecasts = rng.normal(size=(40, 3))
    river = RiverRegressor({"line": linear_model.LinearRegression(), "passive": linear_model.PARegressor()}, seed=0)
    for a, b, y in forecasts.tolist():
        river.learn_one({"a": a, "b": b}, y)
    bayes = LongTermMemoryClassifier([("a", GaussianNB())]).fit(forecasts, forecasts[:, 0] > 0.0)
    mixture = ExpertMixture(lag=2).fit(forecasts, forecasts[:, 0])
    return [dumps(each) for each in (FixedShare().update([0.1, 0.9]), mixture, river, bayes)]


GOOD = good_files()
RIVALS = [bandits.Exp3, bandits.Exp3S, bandits.Exp3IX, bandits.SlidingWindowUCB, bandits.DiscountedUCB]
TARGETS: dict[str, Callable[[Any], None]] = {
    "kernel": experts,
    "mixing": mixing,
    "row": row,
    "blend": blend,
    "switching": switching,
    "memory_rounds": arms([bandits.LongTermMemoryBandit], _long_term_memory_bandit),
    "rival_rounds": arms(RIVALS, _scaled),
    "sparse_rounds": arms([bandits.SparseLongTermMemory, bandits.SparseHybrid], _sparse),
    "csv": csv,
    "parquet": parquet,
    "log": log,
    "saved": saved,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes", type=Path, help="a file that a failure left: only that is tried")
    parser.add_argument("--list", action="store_true", help="only name the targets")
    args = parser.parse_args()
    if args.list or args.target is None:
        print(*TARGETS, sep="\n")
        return
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

    def one(data: bytes) -> None:
        TARGETS[args.target](atheris.FuzzedDataProvider(data))

    limits = [f"-max_total_time={args.seconds}", f"-seed={args.seed}", "-max_len=4096", "-len_control=0"]
    limits += ["-timeout=60", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], *([str(args.bytes)] if args.bytes else limits), f"-artifact_prefix={FOLDER}/"], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
