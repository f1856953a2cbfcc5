"""Time and bytes against experts, series, rows and workers, and what follows for a cluster.

Three things are measured: mixtures of many series in one process, the same panels on Dask with one and two workers, and
pools of heavy models on Dask with one and two workers. A cost that is linear in the sizes is fitted to two thirds of
the points, and checked on the rest. The last table says what it comes to on a thousand workers, if the fit held so far.
"""

from __future__ import annotations

import argparse
import logging
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier

from .cost_model import Cost, Point, fitted
from .report import Report

PACKAGES = ("pandas", "dask", "distributed", "fugue")

#: Assumed of the cluster of the last table; nothing here measures them.
WORKERS, SERIES, EXPERTS, BANDWIDTH = 1000, 100_000_000, 10, 1e9

#: Series in a bucket of that table, and partitions of its frame for each worker.
SERIES_A_BUCKET, PARTITIONS_A_WORKER = 1000, 4

ROWS_A_CALL = 10  #: of each series, there
BUCKETS, PARTITIONS = 16, 4  #: of the panels that are measured on Dask


def add_options(parser: argparse.ArgumentParser) -> None:
    """Sizes."""
    parser.add_argument("--experts", type=int, nargs="+", default=[2, 5, 10, 20, 50])
    parser.add_argument("--series", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 20], help="of a series in a call")
    parser.add_argument("--cells", type=int, default=1_000_000, help="leave out what has more rows times experts")
    parser.add_argument("--cluster-series", type=int, nargs="+", default=[500, 2000, 8000])
    parser.add_argument("--cluster-experts", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--models", type=int, nargs="+", default=[2, 4, 8], help="of a heavy pool")
    parser.add_argument("--batches", type=int, nargs="+", default=[50, 200, 800], help="rows of a round of such a pool")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)


def run(report: Report, options: argparse.Namespace) -> None:
    """The tables."""
    in_process = panels_in_process(options)
    with ExitStack() as stack:
        clients = {n_workers: stack.enter_context(client_of(n_workers)) for n_workers in options.workers}
        for client in clients.values():
            client.run(_count_what_is_sent)
        per_task = float(np.median([seconds_of_task(client) for client in clients.values()]))
        per_partition = max(tasks_of_partition(client) for client in clients.values())
        on_dask, pools = panels_on_dask(clients, options), pools_on_dask(clients, options)
    seconds = fitted(in_process, ("calls", "series", "rows", "rows·experts"), "seconds")
    state = fitted(in_process, ("calls", "series", "series·experts"), "bytes")
    on_worker = fitted(on_dask, ("calls", "workers", "series", "rows·experts"), "seconds")
    on_driver = fitted(on_dask, ("calls", "workers", "rows·experts"), "driver")
    heavy = fitted(pools, ("calls", "workers", "models", "rows·models"), "seconds")
    notes = [f"Medians of {options.repeats} repeats, taken in turns. The fits are to the points that are not left out."]
    report.table(
        "scale_process",
        *shown(in_process, ("series", "experts", "rows"), {"processor seconds": "seconds", "bytes of state": "bytes"}),
        [*notes, f"Processor seconds ≈ {seconds}.", f"Bytes, pickled ≈ {state}."],
        PACKAGES,
    )
    both = {"seconds on the wall": "wall", "processor seconds": "seconds"}
    measured = {
        **both,
        "of client and scheduler": "driver",
        "bytes of state": "bytes",
        "bytes sent by workers": "moved",
    }
    about = (
        f"A call of `PanelMixture` on a frame of Dask, with {BUCKETS} buckets and {PARTITIONS} partitions; processor "
        "seconds of all processes, and of the one that has client and scheduler. Bytes are all that workers write to "
        "Dask's connections: shuffles, to themselves too, and what client and scheduler are told."
    )
    report.table(
        "scale_panels",
        *shown(on_dask, ("workers", "series", "experts", "rows"), measured),
        [
            *notes,
            about,
            f"Processor seconds ≈ {on_worker}.",
            f"Of these, of client and scheduler ≈ {on_driver}.",
            *speed_up(on_dask),
        ],
        PACKAGES,
    )
    about = (
        "A round of `LongTermMemoryClassifier`, asked and trained, over networks with two layers of 256, 20 features, "
        "without snapshots and checkpoints."
    )
    report.table(
        "scale_pools",
        *shown(pools, ("workers", "models", "rows"), {**both, "bytes moved": "bytes"}),
        [*notes, about, f"Processor seconds ≈ {heavy}.", *speed_up(pools)],
        PACKAGES,
    )
    about = (
        f"One row of each of {SERIES:,} series, {EXPERTS} experts, {WORKERS:,} workers, buckets of {SERIES_A_BUCKET:,} "
        f"series, {PARTITIONS_A_WORKER} partitions of the frame a worker, {BANDWIDTH / 1e9:g} GB/s to and from each "
        f"worker: computed from the fits above, not measured. An empty task takes the scheduler and its client "
        f"{1e3 * per_task:.2f} ms of processor time, and a call has {per_partition:g} tasks for each partition more. "
        "What the fit has for each worker is not in the seconds of learning. What a shuffle takes for each pair of "
        "workers is nowhere in it."
    )
    costs = extrapolated(seconds, on_worker, state, per_task, per_partition)
    report.table("scale_extrapolated", *costs, [about], PACKAGES)


# In one process -----------------------------------------------------------------------------------------------------


def frame_of(n_series: int, n_experts: int, rows: range) -> pd.DataFrame:
    """Forecasts of each series at some times, and targets."""
    rng = np.random.default_rng([n_series, n_experts, rows.start])
    y = rng.normal(size=n_series * len(rows))
    said = {f"model {at}": y + rng.normal(size=len(y)) for at in range(n_experts)}
    return pd.DataFrame({"id": np.repeat(np.arange(n_series), len(rows)), "t": np.tile(rows, n_series), "y": y, **said})


def panels_in_process(options: argparse.Namespace) -> list[Point]:
    """Processor seconds of a call that learns, and bytes of the state, against experts, series and rows."""
    sizes = [
        (s, k, r) for s in options.series for k in options.experts for r in options.rows if s * k * r <= options.cells
    ]
    taken: dict[tuple[int, int, int], list[float]] = {size: [] for size in sizes}
    n_bytes = {}
    for _ in range(options.repeats):
        for s, k, r in sizes:
            first, then = frame_of(s, k, range(1)), frame_of(s, k, range(1, r + 1))
            mixture = ExpertMixture(series="id", time="t").fit(first.drop(columns="y"), first.y)
            X = then.drop(columns="y")
            start = time.process_time()
            mixture.partial_fit(X, then.y)
            taken[s, k, r].append(time.process_time() - start)
            if (s, k, r) not in n_bytes:
                n_bytes[s, k, r] = len(pickle.dumps(mixture))
    return [
        Point(
            {"calls": 1, "series": s, "experts": k, "rows": s * r, "rows·experts": s * r * k, "series·experts": s * k},
            {"seconds": float(np.median(taken[s, k, r])), "bytes": n_bytes[s, k, r]},
        )
        for s, k, r in sizes
    ]


# On Dask ------------------------------------------------------------------------------------------------------------


@contextmanager
def client_of(n_workers: int) -> Iterator[Any]:
    """Of a cluster here, with so many processes of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def seconds_of_task(client: Any) -> float:
    """Processor time of the client and the scheduler, which are this process, for an empty one."""
    for n_tasks in (100, 2000):  # the first are slow
        start = time.process_time()
        client.gather([client.submit(_itself, at, pure=False) for at in range(n_tasks)])
    return (time.process_time() - start) / n_tasks


def _itself(at: int) -> int:
    return at


def _processor_seconds(client: Any) -> float:
    """Of the workers and of this process so far."""
    return float(sum(client.run(time.process_time).values())) + time.process_time()


def _count_what_is_sent(dask_worker: Any) -> None:
    """Have a worker count the bytes that it writes; what Dask itself counts leaves out shuffles."""
    from distributed.comm import tcp

    of_dask: Any = tcp.TCP
    write, dask_worker.bytes_written = of_dask.write, 0

    async def counted(comm: Any, *arguments: Any, **params: Any) -> Any:
        n_bytes = await write(comm, *arguments, **params)
        dask_worker.bytes_written += n_bytes
        return n_bytes

    of_dask.write = counted


def _bytes_sent_by_workers(client: Any) -> float:
    return float(sum(client.run(lambda dask_worker: dask_worker.bytes_written).values()))


def tasks_of_partition(client: Any) -> float:
    """Tasks of a call that learns, for each partition that its frame has more."""
    import dask.dataframe as dd

    counts = []
    for n_partitions in (PARTITIONS, 10 * PARTITIONS):
        before = _tasks_so_far(client)
        with tempfile.TemporaryDirectory() as folder, client.as_current():
            panel_of(folder).partial_fit(dd.from_pandas(frame_of(1000, 2, range(1)), npartitions=n_partitions))
        counts.append(_tasks_so_far(client) - before)
    return (counts[1] - counts[0]) / (9 * PARTITIONS)


def _tasks_so_far(client: Any) -> int:
    """Those that were done."""

    def done(dask_scheduler: Any) -> int:
        return sum(kind.state_counts["memory"] for kind in dask_scheduler.task_prefixes.values())

    return int(client.run_on_scheduler(done))


@contextmanager
def timed(client: Any, taken: list[tuple[float, ...]]) -> Iterator[None]:
    """Note seconds on the wall, of all processors, and of this process, which has client and scheduler."""
    spent, own, start = _processor_seconds(client), time.process_time(), time.perf_counter()
    yield
    wall, own = time.perf_counter() - start, time.process_time() - own
    taken.append((wall, _processor_seconds(client) - spent, own))


def medians(taken: list[tuple[float, ...]]) -> dict[str, float]:
    """Of all three."""
    return dict(zip(("wall", "seconds", "driver"), np.median(taken, axis=0).tolist(), strict=True))


def panel_of(folder: str) -> Any:
    """A panel whose state is there."""
    from ltm_sklearn.distributed import PanelMixture

    return PanelMixture(ExpertMixture(series="id", time="t"), folder, n_buckets=BUCKETS, keep=1)


def panels_on_dask(clients: dict[int, Any], options: argparse.Namespace) -> list[Point]:
    """Seconds of a call that learns, bytes of its state on disk, and bytes that workers sent."""
    import dask.dataframe as dd

    points = []
    for s, k in [(s, k) for s in options.cluster_series for k in options.cluster_experts]:
        taken: dict[int, list[tuple[float, ...]]] = {n_workers: [] for n_workers in clients}
        moved, state = dict.fromkeys(clients, 0.0), dict.fromkeys(clients, 0.0)
        with ExitStack() as stack:
            folders = {n_workers: stack.enter_context(tempfile.TemporaryDirectory()) for n_workers in clients}
            for repeat in range(options.repeats + 1):  # the first makes the state
                rows = frame_of(s, k, range(ROWS_A_CALL * repeat, ROWS_A_CALL * (repeat + 1)))
                for n_workers, client in clients.items():
                    before = _bytes_sent_by_workers(client)
                    with client.as_current(), timed(client, taken[n_workers]):
                        panel_of(folders[n_workers]).partial_fit(dd.from_pandas(rows, npartitions=PARTITIONS))
                    moved[n_workers] = _bytes_sent_by_workers(client) - before
            for n_workers, folder in folders.items():
                state[n_workers] = float(sum(file.stat().st_size for file in (Path(folder) / "buckets").iterdir()))
        for n_workers in clients:
            n_rows = ROWS_A_CALL * s
            sizes = {"workers": n_workers, "series": s, "experts": k, "rows": n_rows, "rows·experts": n_rows * k}
            measured = {**medians(taken[n_workers][1:]), "bytes": state[n_workers], "moved": moved[n_workers]}
            points.append(Point({"calls": 1, **sizes}, measured))
    return points


def pools_on_dask(clients: dict[int, Any], options: argparse.Namespace) -> list[Point]:
    """Seconds and bytes of a round of models on workers."""
    from sklearn.neural_network import MLPClassifier

    from ltm_sklearn.distributed import DaskWorkers

    points = []
    for k, n_rows in [(k, n_rows) for k in options.models for n_rows in options.batches]:
        rng = np.random.default_rng([k, n_rows])
        homes = {n_workers: DaskWorkers(client, checkpoint_every=10_000) for n_workers, client in clients.items()}
        pool = [(f"network {at}", MLPClassifier((256, 256), random_state=at)) for at in range(k)]
        models = {at: LongTermMemoryClassifier(home.experts(pool), memory=None) for at, home in homes.items()}
        taken: dict[int, list[tuple[float, ...]]] = {n_workers: [] for n_workers in clients}
        moved = dict.fromkeys(clients, 0.0)
        for _ in range(options.repeats + 2):  # the first two bring the models to their workers
            X = rng.normal(size=(n_rows, 20))
            for n_workers, model in models.items():
                before = homes[n_workers].traffic
                with clients[n_workers].as_current(), timed(clients[n_workers], taken[n_workers]):
                    model.partial_fit(X, X[:, 0] > 0, classes=[False, True])
                after = homes[n_workers].traffic
                moved[n_workers] = float(after.sent + after.received - before.sent - before.received)
        for n_workers in clients:
            sizes = {"calls": 1, "workers": n_workers, "models": k, "rows": n_rows, "rows·models": k * n_rows}
            points.append(Point(sizes, {**medians(taken[n_workers][2:]), "bytes": moved[n_workers]}))
    return points


# Tables -------------------------------------------------------------------------------------------------------------


def shown(points: list[Point], sizes: tuple[str, ...], measured: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of points."""

    def cell(point: Point, name: str) -> str:
        return f"{point.of(name):.4f}" if name in ("seconds", "wall", "driver") else f"{point.of(name):,.0f}"

    names = [*sizes, *measured.values()]
    rows = [[*(cell(point, name) for name in names), "left out" if point.held_out else ""] for point in points]
    return [*sizes, *measured, "fit"], rows


def speed_up(points: list[Point]) -> list[str]:
    """Of two workers over one, in words."""
    by_size: dict[Any, dict[int, float]] = {}
    for point in points:
        key = tuple(value for name, value in point.sizes.items() if "worker" not in name)
        by_size.setdefault(key, {})[int(point.of("workers"))] = point.of("wall")
    ratios = [times[1] / times[2] for times in by_size.values() if {1, 2} <= times.keys()]
    if not ratios:
        return []
    span = f"median {np.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"
    return [f"Two workers against one, how many times as fast on the wall: {span}."]


def extrapolated(
    in_process: Cost, on_dask: Cost, state: Cost, per_task: float, per_partition: float
) -> tuple[list[str], list[list[str]]]:
    """What the fits say of a large cluster."""
    n_buckets = SERIES / SERIES_A_BUCKET

    def of(n_series: float) -> dict[str, float]:
        """Sizes of a call with one row of each of so many series."""
        sizes = {"calls": 1.0, "workers": 0.0, "series": n_series, "rows": n_series}
        return sizes | dict.fromkeys(("series·experts", "rows·experts"), n_series * EXPERTS)

    weighing = n_buckets / WORKERS * in_process.at(of(SERIES_A_BUCKET))
    learning = on_dask.at(of(SERIES / WORKERS))
    state_bytes = n_buckets * state.at(of(SERIES_A_BUCKET))
    row_bytes = SERIES * 8.0 * (EXPERTS + 3)  # and the columns of series, times and targets
    n_tasks = per_partition * PARTITIONS_A_WORKER * WORKERS
    per_worker = on_dask.each["workers"] * WORKERS
    rows = [
        ["learning, with the state read and written, by all workers at once", f"{learning:.0f} s", ""],
        ["of that, as in one process that has the state", f"{weighing:.0f} s", ""],
        [
            "state over the network, both ways",
            f"{2 * state_bytes / WORKERS / BANDWIDTH:.0f} s",
            f"{state_bytes / 1e12:.2f} TB",
        ],
        [
            "rows to the workers of their buckets",
            f"{row_bytes / WORKERS / BANDWIDTH:.2f} s",
            f"{row_bytes / 1e9:.1f} GB",
        ],
        ["one scheduler and its client", f"{n_tasks * per_task:.0f} s", f"{n_tasks:,.0f} tasks"],
        [
            "what the fit has for each worker, if all of it were the client's or the scheduler's",
            f"{per_worker:.0f} s",
            "",
        ],
        ["files of the state", "", f"{n_buckets:,.0f}"],
    ]
    return ["one call that learns", "seconds", "how much"], rows
