"""Accuracy where concepts return: three synthetic streams, and real ones where the data are at hand.

    python benchmarks/recurring.py synthetic            # STAGGER and SEA; about an hour, most of it row by row
    python benchmarks/recurring.py synthetic --batches 10 50
    python benchmarks/recurring.py real                 # reads ../shared/data, or the folder given by --data

Test then train: each batch is predicted, scored, and learned. Everything runs with default settings; the synthetic
streams have Gaussian naive Bayes as the only expert, the real ones the default pool. Seeds 0 to 4 are the ones reported;
defaults were chosen on seeds from 100 on.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from report import RESULTS, provenance, save_table
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier

N_SEGMENTS, SEGMENT, NOISE, N_CONCEPTS = 30, 1000, 0.1, 3
FIRST_ROWS = 50  #: of a returning segment


# Streams ------------------------------------------------------------------------------------------------------------


def synthetic_stream(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and the concept in force: three concepts in random order, never one twice in a row."""
    rng = np.random.default_rng(seed)
    order = [0]
    while len(order) < N_SEGMENTS:
        order.append(int(rng.choice([concept for concept in range(N_CONCEPTS) if concept != order[-1]])))
    concept = np.repeat(order, SEGMENT)
    n_rows = len(concept)
    if name == "STAGGER":
        size, colour, shape = X = rng.integers(0, 3, (3, n_rows)).astype(float)
        labels = [(size == 0) & (colour == 0), (colour == 2) | (shape == 0), size > 0]
        X, y = X.T, np.choose(concept, labels)
    else:
        thresholds = np.array([float(part) for part in name.removeprefix("SEA ").split("/")])
        X = rng.random((n_rows, 3)) * 10
        y = X[:, 0] + X[:, 1] <= thresholds[concept]
    return X, (y ^ (rng.random(n_rows) < NOISE)).astype(int), concept


def real_stream(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a file."""
    import pandas as pd

    frame = pd.read_csv(folder / f"{name}.csv.gz")
    y = frame.pop(REAL[name][0]).to_numpy()
    X = frame.drop(columns="context_sex", errors="ignore").to_numpy(dtype=float)
    return X, np.unique(y, return_inverse=True)[1]


#: Target, where segments begin, rows a batch, and the best peer's accuracy, test then train row by row, as listed with
#: the data: MOA's learners through CapyMOA 0.15.1 and River's.
REAL: dict[str, tuple[str, list[int], int, float]] = {
    "usenet1": ("interesting", [0, 300, 600, 900, 1200], 10, 0.765),
    "elist_email": ("class", [0, 300, 600, 900, 1200], 10, 0.800),
    "arabic_digits_recurring": ("digit", [0, 2200, 4400, 6600], 10, 0.861),
    "insects_laser_abrupt": ("class", [0, 1775, 3550], 10, 0.861),
    "elec2": ("class", [], 1, 0.923),
    "noaa_weather": ("rain", [], 1, 0.789),
    "bike_demand_class": ("demand", [], 1, 0.773),
}


# Runs ---------------------------------------------------------------------------------------------------------------


def test_then_train(model: Any, X: np.ndarray, y: np.ndarray, batch_size: int) -> np.ndarray:
    """Which rows were predicted rightly; those of the first batch were not predicted, and count as wrong."""
    right = np.zeros(len(y), dtype=bool)
    for start in range(0, len(y), batch_size):
        rows = slice(start, start + batch_size)
        if start:
            right[rows] = model.predict(X[rows]) == y[rows]
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    return right


def oracle(X: np.ndarray, y: np.ndarray, concept: np.ndarray, batch_size: int) -> np.ndarray:
    """The same with one model for each true concept."""
    models = [GaussianNB() for _ in range(N_CONCEPTS)]
    right = np.zeros(len(y), dtype=bool)
    for start in range(0, len(y), batch_size):
        rows, model = slice(start, start + batch_size), models[concept[start]]
        with np.errstate(divide="ignore"):
            if hasattr(model, "classes_"):
                right[rows] = model.predict(X[rows]) == y[rows]
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    return right


def ensemble(memory: str | None) -> LongTermMemoryClassifier:
    return LongTermMemoryClassifier([("bayes", GaussianNB())], memory=memory)


def synthetic_run(name: str, batch_size: int, seed: int, who: str) -> np.ndarray:
    """Rightness of every row, shape (segments, rows)."""
    X, y, concept = synthetic_stream(name, seed)
    if who == "oracle":
        right = oracle(X, y, concept, batch_size)
    else:
        right = test_then_train(ensemble("auto" if who == "with memory" else None), X, y, batch_size)
    return right.reshape(N_SEGMENTS, SEGMENT)


def returning(name: str, seed: int) -> np.ndarray:
    """Which segments are of a concept that was there before."""
    order = synthetic_stream(name, seed)[2][::SEGMENT]
    return np.array([concept in order[:at] for at, concept in enumerate(order)])


STREAMS = ("STAGGER", "SEA 5/10/15", "SEA 8/9/7")
WHO = ("with memory", "without memory", "oracle")


def synthetic(batches: list[int], seeds: list[int], n_jobs: int) -> None:
    tasks = [(name, size, seed, who) for size in batches for name in STREAMS for seed in seeds for who in WHO]
    started = time.perf_counter()
    results = dict(zip(tasks, Parallel(n_jobs)(delayed(synthetic_run)(*task) for task in tasks), strict=True))
    seconds = time.perf_counter() - started
    rows = []
    for size in batches:
        for name in STREAMS:
            line: list[Any] = [size, name]
            for who in WHO:
                runs = {seed: results[name, size, seed, who] for seed in seeds}
                after = [right[returning(name, seed), :FIRST_ROWS].mean() for seed, right in runs.items()]
                accuracy = [right.mean() for right in runs.values()]
                spread = f" ± {np.std(accuracy, ddof=1):.4f}" if len(seeds) > 1 and who == "with memory" else ""
                line += [f"{np.mean(accuracy):.4f}{spread}", f"{np.mean(after):.3f}"]
            rows.append(line)
    label = "_".join(["recurring", *map(str, batches)])
    header = ["rows a batch", "stream", *(f"{who}{part}" for who in WHO for part in ("", f", first {FIRST_ROWS}"))]
    notes = [
        f"Accuracy, test then train, and accuracy in the first {FIRST_ROWS} rows of returning segments; mean (± "
        f"standard deviation) over seeds {seeds}. {N_SEGMENTS} segments of {SEGMENT} rows, {NOISE:.0%} of labels "
        "flipped, Gaussian naive Bayes as the only expert, default settings. The oracle has one naive Bayes for each "
        "true concept. The first batch of a segment is predicted before anyone can know that it has begun.",
        f"Made by `recurring.py synthetic --batches {' '.join(map(str, batches))}` in {seconds:.0f} s.",
        provenance(),
    ]
    print(save_table(label, header, rows, notes))
    draw(results, batches[0], seeds, RESULTS / f"{label}.png")


def draw(results: dict[Any, np.ndarray], batch_size: int, seeds: list[int], picture: Path) -> None:
    """Accuracy in the rows after a return."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.4), layout="constrained")
    rows = np.arange(0, 300, 10)
    colours = {"with memory": "C0", "without memory": "C3", "oracle": "0.5"}
    for axes, name in zip(figure.subplots(1, len(STREAMS), sharey=True), STREAMS, strict=True):
        for who in WHO:
            curves = [results[name, batch_size, seed, who][returning(name, seed), : rows[-1] + 10] for seed in seeds]
            mean = np.concatenate(curves).mean(axis=0).reshape(-1, 10).mean(axis=1)
            axes.plot(rows + 5, mean, color=colours[who], label=who, lw=2 if who == "with memory" else 1.3)
        axes.set(title=name, xlabel="rows since a concept returned", xlim=(0, rows[-1] + 10), ylim=(0.3, 0.95))
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel(f"accuracy, batches of {batch_size}")
    figure.axes[-1].legend(loc="lower right")
    figure.savefig(picture, dpi=130)


# Real data ----------------------------------------------------------------------------------------------------------


def real_run(name: str, who: str, folder: Path) -> np.ndarray:
    """Rightness of every row, for the ensemble or one expert of its pool by itself."""
    X, y = real_stream(name, folder)
    batch_size = REAL[name][2]
    if who in ("with memory", "without memory"):
        model = LongTermMemoryClassifier(memory="auto" if who == "with memory" else None, random_state=0)
    else:
        pool = LongTermMemoryClassifier()._default_pool(0)
        model = LongTermMemoryClassifier([pair for pair in pool if pair[0] == who], memory=None)
    return test_then_train(model, X, y, batch_size)


def after_returns(right: np.ndarray, starts: list[int]) -> str:
    """Accuracy in the first rows of each segment that was there before: the third on, as concepts alternate."""
    return ", ".join(f"{right[start : start + FIRST_ROWS].mean():.2f}" for start in starts[2:]) or "-"


def real(folder: Path, names: list[str], n_jobs: int, label: str) -> None:
    experts = [name for name, _ in LongTermMemoryClassifier()._default_pool(0)]
    tasks = [(name, who) for name in names for who in ("with memory", "without memory", *experts)]
    started = time.perf_counter()
    runs = Parallel(n_jobs, verbose=5)(delayed(real_run)(name, who, folder) for name, who in tasks)
    results = dict(zip(tasks, runs, strict=True))
    rows = []
    for name in names:
        _, starts, batch_size, peer = REAL[name]
        accuracy = {who: results[name, who].mean() for who in ("with memory", "without memory", *experts)}
        best = max(experts, key=accuracy.__getitem__)
        rows.append(
            [
                name,
                batch_size,
                f"{accuracy['with memory']:.4f}",
                f"{accuracy['without memory']:.4f}",
                f"{accuracy['with memory'] - accuracy['without memory']:+.4f}",
                f"{accuracy[best]:.4f} ({best})",
                f"{peer:.3f}",
                after_returns(results[name, "with memory"], starts),
                after_returns(results[name, "without memory"], starts),
            ]
        )
    header = ["data", "rows a batch", "with memory", "without", "margin", "best expert alone", "best peer"]
    header += [f"first {FIRST_ROWS} rows of each return, with memory", "without"]
    notes = [
        "Accuracy, test then train. One pool (the default: "
        + ", ".join(experts)
        + ") and one setting (the default) for all. "
        "The peers' figures are those listed with the data, row by row.",
        f"Made by `python benchmarks/recurring.py real` in {time.perf_counter() - started:.0f} s.",
        provenance("pandas"),
    ]
    print(save_table(label, header, rows, notes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-jobs", type=int, default=-1)
    parts = parser.add_subparsers(dest="part", required=True)
    of_synthetic = parts.add_parser("synthetic")
    of_synthetic.add_argument("--batches", type=int, nargs="+", default=[1, 10, 50])
    of_synthetic.add_argument("--seeds", type=int, default=5)
    of_synthetic.add_argument("--first-seed", type=int, default=0)
    of_real = parts.add_parser("real")
    of_real.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    of_real.add_argument("--names", nargs="+", choices=REAL, default=list(REAL))
    of_real.add_argument("--label", default="recurring_real")
    options = parser.parse_args()
    if options.part == "synthetic":
        seeds = list(range(options.first_seed, options.first_seed + options.seeds))
        synthetic(options.batches, seeds, options.n_jobs)
    elif not options.data.is_dir():
        parser.error(f"there is no folder {options.data}; --data says where the files are")
    else:
        real(options.data, options.names, options.n_jobs, options.label)


if __name__ == "__main__":
    main()
