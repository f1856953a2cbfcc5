"""Accuracy where concepts return: three synthetic streams, and real ones where the data are at hand.

    python benchmarks/recurring.py synthetic            # STAGGER and SEA; about an hour, most of it row by row
    python benchmarks/recurring.py synthetic --batches 10 50
    python benchmarks/recurring.py real                 # reads ../shared/data, or the folder given by --data
    python benchmarks/recurring.py river                # River's models as experts, on both kinds of streams

Test then train: each batch is predicted, scored, and learned. Everything runs with default settings; the synthetic
streams have Gaussian naive Bayes as the only expert, the real ones the default pool. Seeds 0 to 4 are reported; the
defaults were chosen on seeds from 100 on.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed
from recurring_river import SYNTHETIC, river
from report import RESULTS, provenance, save_table
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier, streams
from ltm_sklearn.ensemble import ExpertWarning

N_SEGMENTS, SEGMENT, NOISE, N_CONCEPTS = 30, 1000, 0.1, 3
FIRST_ROWS = 50  #: of a returning segment


# Streams ------------------------------------------------------------------------------------------------------------


def synthetic_stream(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and the concept in force: three concepts in random order, never one twice in a row."""
    schedule = {"order": "random", "length": SEGMENT, "n_segments": N_SEGMENTS, "noise": NOISE, "seed": seed}
    thresholds = name.removeprefix("SEA ").split("/")
    stream = streams.stagger(**schedule) if name == "STAGGER" else streams.sea(list(map(float, thresholds)), **schedule)
    (batch,) = stream.batches(N_SEGMENTS * SEGMENT)
    assert batch.concept is not None
    return batch.X, batch.y.astype(int), batch.concept


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
    "noaa_weather": ("rain", [], 10, 0.789),
    "bike_demand_class": ("demand", [], 1, 0.773),
}

#: Those on which River's models are compared.
RIVER = ("usenet1", "arabic_digits_recurring", "insects_laser_abrupt", "noaa_weather", "elec2")


# Runs ---------------------------------------------------------------------------------------------------------------


def test_then_train(model: LongTermMemoryClassifier, X: Any, y: Any, batch_size: int) -> tuple[np.ndarray, dict]:
    """Share of right answers in each batch, of the ensemble and of each live expert by itself.

    A round's record has the loss of what ``predict`` would have said before the batch was learned, so that the experts
    need not be asked twice. Batches for which nobody had an answer, such as the first, count as wrong.
    """
    starts = range(0, len(y), batch_size)
    model.set_params(record=len(starts))
    classes = np.unique(y)
    for start in starts:
        rows = slice(start, start + batch_size)
        model.partial_fit(X[rows], y[rows], classes=classes)
    right = np.zeros(len(starts))
    experts = {expert.name: np.zeros(len(starts)) for expert in model.experts_ if expert.kind == "live"}
    for record in model.history_:
        right[record.round - 1] = 1.0 - record.loss
        for name, of_expert in experts.items():
            of_expert[record.round - 1] = 1.0 - record.losses.get(name, 1.0)
    return right, experts


def oracle(X: np.ndarray, y: np.ndarray, concept: np.ndarray, batch_size: int) -> np.ndarray:
    """The same with one model for each true concept."""
    models = [GaussianNB() for _ in range(N_CONCEPTS)]
    right = []
    for start in range(0, len(y), batch_size):
        rows, model = slice(start, start + batch_size), models[concept[start]]
        with np.errstate(all="ignore"):
            right.append((model.predict(X[rows]) == y[rows]).mean() if hasattr(model, "classes_") else 0.0)
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    return np.array(right)


def synthetic_run(name: str, batch_size: int, seed: int, loss: str) -> dict[str, np.ndarray]:
    """Share of right answers, shape (segments, batches), of the ensemble, its only expert by itself, and the oracle."""
    warnings.simplefilter("ignore", ExpertWarning)  # row by row, naive Bayes has no variance to go by at first
    X, y, concept = synthetic_stream(name, seed)
    model = LongTermMemoryClassifier([("bayes", GaussianNB())], loss=loss)
    with_memory, experts = test_then_train(model, X, y, batch_size)
    runs = zip(WHO, (with_memory, experts["bayes"], oracle(X, y, concept, batch_size)), strict=True)
    return {who: right.reshape(N_SEGMENTS, -1) for who, right in runs}


def returning(name: str, seed: int) -> np.ndarray:
    """Which segments are of a concept that was there before."""
    order = synthetic_stream(name, seed)[2][::SEGMENT]
    return np.array([concept in order[:at] for at, concept in enumerate(order)])


STREAMS = ("STAGGER", "SEA 5/10/15", "SEA 8/9/7")
WHO = ("with memory", "the expert alone", "oracle")


def synthetic(batches: list[int], seeds: list[int], loss: str, n_jobs: int, cache: Memory) -> None:
    run = cache.cache(synthetic_run)
    for size in batches:
        tasks = [(name, size, seed) for name in STREAMS for seed in seeds]
        finished = Parallel(n_jobs, verbose=5)(delayed(run)(*task, loss) for task in tasks)
        results = dict(zip(tasks, finished, strict=True))
        rows = []
        for name in STREAMS:
            line: list[Any] = [name]
            for who in WHO:
                runs = {seed: results[name, size, seed][who] for seed in seeds}
                after = [right[returning(name, seed), : FIRST_ROWS // size].mean() for seed, right in runs.items()]
                accuracy = [right.mean() for right in runs.values()]
                spread = f" ± {np.std(accuracy, ddof=1):.4f}" if len(seeds) > 1 and who == "with memory" else ""
                line += [f"{np.mean(accuracy):.4f}{spread}", f"{np.mean(after):.3f}"]
            rows.append(line)
        header = ["stream", *(f"{who}{part}" for who in WHO for part in ("", f", first {FIRST_ROWS}"))]
        notes = [
            f"Batches of {size}: accuracy, test then train, and accuracy in the first {FIRST_ROWS} rows of returning "
            f"segments; mean (± standard deviation) over seeds {seeds}. {N_SEGMENTS} segments of {SEGMENT} rows, "
            f"{NOISE:.0%} of labels flipped, Gaussian naive Bayes as the only expert, default settings"
            f"{_said(loss)}. The oracle has one naive Bayes for each true concept. The first batch of a segment is "
            "predicted before anyone can know that it has begun.",
            f"Made by `recurring.py synthetic --batches {size} --loss {loss}`.",
            provenance(),
        ]
        print(save_table(f"recurring_{size}", header, rows, notes))
        draw({(name, seed): results[name, size, seed] for name, _, seed in tasks}, size, seeds)


def draw(results: dict[Any, dict[str, np.ndarray]], batch_size: int, seeds: list[int]) -> None:
    """Accuracy in the rows after a return."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.4), layout="constrained")
    step = max(batch_size, 10)
    colours = {"with memory": "C0", "the expert alone": "C3", "oracle": "0.5"}
    for axes, name in zip(figure.subplots(1, len(STREAMS), sharey=True), STREAMS, strict=True):
        for who in WHO:
            curves = [results[name, seed][who][returning(name, seed), : 300 // batch_size] for seed in seeds]
            mean = np.concatenate(curves).mean(axis=0).reshape(-1, step // batch_size).mean(axis=1)
            rows = step * np.arange(len(mean)) + step / 2
            axes.plot(rows, mean, color=colours[who], label=who, lw=2 if who == "with memory" else 1.3)
        axes.set(title=name, xlabel="rows since a concept returned", xlim=(0, 300), ylim=(0.3, 0.95))
        axes.grid(alpha=0.3)
    rows_are = "row by row" if batch_size == 1 else f"batches of {batch_size}"
    figure.axes[0].set_ylabel(f"accuracy, {rows_are}")
    figure.axes[-1].legend(loc="lower right")
    figure.savefig(RESULTS / f"recurring_{batch_size}.png", dpi=130)


# Real data ----------------------------------------------------------------------------------------------------------


def _said(loss: str) -> str:
    return "" if loss == "auto" else f" but for loss={loss!r}"


def real_run(name: str, memory: str | None, loss: str, folder: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Share of right answers in each batch, of the ensemble and of each expert by itself."""
    X, y = real_stream(name, folder)
    return test_then_train(LongTermMemoryClassifier(loss=loss, memory=memory, random_state=0), X, y, REAL[name][2])


def after_returns(right: np.ndarray, starts: list[int], batch_size: int) -> str:
    """Accuracy in the first rows of each segment that was there before: the third on, as concepts alternate."""
    first = [right[start // batch_size :][: FIRST_ROWS // batch_size].mean() for start in starts[2:]]
    return ", ".join(f"{share:.2f}" for share in first) or "-"


def real(folder: Path, names: list[str], loss: str, n_jobs: int, cache: Memory) -> None:
    run = cache.cache(real_run)
    tasks = [(name, memory) for name in names for memory in ("auto", None)]
    runs = Parallel(n_jobs, verbose=5)(delayed(run)(name, memory, loss, folder) for name, memory in tasks)
    results = dict(zip(tasks, runs, strict=True))
    rows = []
    for name in names:
        _, starts, size, peer = REAL[name]
        (right, experts), (without, _) = results[name, "auto"], results[name, None]
        best = max(experts, key=lambda expert: experts[expert].mean())
        rows.append(
            [
                name,
                size,
                f"{right.mean():.4f}",
                f"{without.mean():.4f}",
                f"{right.mean() - without.mean():+.4f}",
                f"{experts[best].mean():.4f} ({best})",
                f"{peer:.3f}",
                after_returns(right, starts, size),
                after_returns(without, starts, size),
            ]
        )
    header = ["data", "rows a batch", "with memory", "without", "margin", "best expert alone", "best peer"]
    header += [f"first {FIRST_ROWS} rows of each return, with memory", "without"]
    notes = [
        f"Accuracy, test then train. One pool (the default: {', '.join(experts)}) and one setting "
        f"(the default{_said(loss)}) for all. The peers' figures are those listed with the data, row by row. Not all "
        "of this is untouched data: that snapshots are taken every 200 rows was chosen with a prototype run on "
        "the first four too, besides synthetic seeds from 100 on, and the forest's window on them and on noaa_weather.",
        f"Made by `recurring.py real --loss {loss} --names {' '.join(names)}`.",
        provenance("pandas"),
    ]
    print(save_table("recurring_real" if names == list(REAL) else f"recurring_{'_'.join(names)}", header, rows, notes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument(
        "--cache",
        type=Path,
        help="folder for finished runs, so that a stopped one can go on; empty it when the code has changed",
    )
    parts = parser.add_subparsers(dest="part", required=True)
    of_synthetic = parts.add_parser("synthetic")
    of_synthetic.add_argument("--batches", type=int, nargs="+", default=[1, 10, 50])
    of_synthetic.add_argument("--seeds", type=int, default=5)
    of_synthetic.add_argument("--first-seed", type=int, default=0)
    of_real = parts.add_parser("real")
    of_real.add_argument("--names", nargs="+", choices=REAL, default=list(REAL))
    of_river = parts.add_parser("river")
    everything = [*SYNTHETIC, *RIVER]
    of_river.add_argument("--names", nargs="+", choices=everything, default=everything)
    of_river.add_argument("--seeds", type=int, default=3)
    for part in (of_synthetic, of_real):
        part.add_argument("--loss", choices=("auto", "zero_one"), default="auto")
    for part in (of_real, of_river):
        part.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    options = parser.parse_args()
    cache = Memory(options.cache, verbose=0)
    if options.part == "synthetic":
        seeds = list(range(options.first_seed, options.first_seed + options.seeds))
        synthetic(options.batches, seeds, options.loss, options.n_jobs, cache)
    elif not options.data.is_dir():
        parser.error(f"there is no folder {options.data}; --data says where the files are")
    elif options.part == "real":
        real(options.data, options.names, options.loss, options.n_jobs, cache)
    else:
        files = {name: REAL[name][:2] for name in RIVER}
        river(options.names, files, options.data, list(range(options.seeds)), options.n_jobs, cache)


if __name__ == "__main__":
    main()
