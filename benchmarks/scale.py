"""Seconds and bytes by experts, series, rows and workers, and an extrapolation to a large cluster.

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
from itertools import product
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

BUCKETS, PARTITIONS = 16, 4  #: of panels on Dask, by default


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sizes."""
    parser.add_argument("--experts", type=int, nargs="+", default=[2, 10, 50])
    parser.add_argument("--series", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 20], help="of a series in a call")
    parser.add_argument("--cells", type=int, default=1_000_000, help="leave out what has more rows times experts")
    parser.add_argument("--cluster-series", type=int, nargs="+", default=[500, 2000, 5000])
    parser.add_argument("--cluster-experts", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--cluster-rows", type=int, nargs="+", default=[1, 10], help="of a series in a call there")
    parser.add_argument(
        "--cluster-buckets",
        type=int,
        nargs="+",
        default=[BUCKETS, 10 * BUCKETS],
        help="all but the first with the fewest experts and rows only",
    )
    parser.add_argument("--models", type=int, nargs="+", default=[2, 4, 8], help="of a heavy pool")
    parser.add_argument("--batches", type=int, nargs="+", default=[50, 400], help="rows of a round of such a pool")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the tables of points, fits and extrapolation."""
    in_process = panels_in_process(options)
    with ExitStack() as stack:
        clients = {n_workers: stack.enter_context(client_of(n_workers)) for n_workers in options.workers}
        _count_what_is_written()  # by client and scheduler, which are this process
        for client in clients.values():
            client.run(_count_what_is_written)
        per_task = float(np.median([seconds_of_task(client) for client in clients.values()]))
        per_partition, bytes_of_partition = np.max([of_partition(client) for client in clients.values()], axis=0)
        on_dask, pools = panels_on_dask(clients, options), pools_on_dask(clients, options)
    seconds = fitted(in_process, ("calls", "series", "rows", "rows·experts"), "seconds")
    state = fitted(in_process, ("calls", "series", "series·experts"), "bytes")
    on_worker = fitted(on_dask, ("calls", "workers", "buckets", "series", "rows", "rows·experts"), "seconds")
    on_driver = fitted(on_dask, ("calls", "workers", "buckets", "rows", "rows·experts"), "driver")
    sent = fitted(on_dask, ("calls", "workers", "buckets", "rows", "rows·experts"), "sent")
    moved = fitted(on_dask, ("calls", "workers", "buckets", "rows", "rows·experts"), "moved")
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
        "by client and scheduler": "sent",
        "bytes of the list of files": "listing",
    }
    about = (
        f"A call of `PanelMixture` on a frame of Dask with {PARTITIONS} partitions, which the client sends; processor "
        "seconds of all processes, and of the one that has client and scheduler. Bytes are all that workers write to "
        "Dask's connections (shuffles, to themselves too, and what client and scheduler receive), and all that client "
        "and scheduler write there: the frame, and tasks. The list of a generation's files is read by each worker. "
        f"A partition more has {per_partition:g} tasks, and {bytes_of_partition:,.0f} bytes of client and scheduler."
    )
    report.table(
        "scale_panels",
        *shown(on_dask, ("workers", "series", "experts", "rows", "buckets"), measured),
        [
            *notes,
            about,
            f"Processor seconds ≈ {on_worker}.",
            f"Of these, of client and scheduler ≈ {on_driver}.",
            f"Bytes sent by workers ≈ {moved}.",
            f"Bytes sent by client and scheduler ≈ {sent}.",
            *speed_up(on_dask),
        ],
        PACKAGES,
    )
    about = (
        "A round of `LongTermMemoryClassifier`, queried and trained, over networks with two layers of 256, 20 "
        "features, without snapshots and checkpoints."
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
        "worker: computed from the fits above, not measured, but for the list of files, which was written and read. "
        "An empty task takes the scheduler and its client "
        f"{1e3 * per_task:.2f} ms of processor time, and a call has {per_partition:g} tasks for each partition more. "
        "What the fit has for each worker is not in the seconds of learning. What a shuffle takes for each pair of "
        "workers is nowhere in it."
    )
    listing = seconds_and_bytes_of_list(SERIES // SERIES_A_BUCKET)
    costs = extrapolated(
        seconds, on_worker, on_driver, state, moved, listing, (per_task, per_partition, bytes_of_partition)
    )
    report.table("scale_extrapolated", *costs, [about], PACKAGES)


# In one process -----------------------------------------------------------------------------------------------------


def frame_of(n_series: int, n_experts: int, rows: range) -> pd.DataFrame:
    """Return forecasts of each series at some times, and targets."""
    rng = np.random.default_rng([n_series, n_experts, rows.start])
    y = rng.normal(size=n_series * len(rows))
    forecasts = {f"model {at}": y + rng.normal(size=len(y)) for at in range(n_experts)}
    return pd.DataFrame(
        {"id": np.repeat(np.arange(n_series), len(rows)), "t": np.tile(rows, n_series), "y": y, **forecasts}
    )


def panels_in_process(options: argparse.Namespace) -> list[Point]:
    """Measure the processor seconds of a call that learns, and the bytes of the state, by experts, series and rows."""
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
    """Yield a client of a local cluster with this number of processes of one thread."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def seconds_of_task(client: Any) -> float:
    """Return the processor time of client and scheduler, which are in this process, for an empty task."""
    for n_tasks in (100, 2000):  # the first are slow
        start = time.process_time()
        client.gather([client.submit(_itself, at, pure=False) for at in range(n_tasks)])
    return (time.process_time() - start) / n_tasks


def _itself(at: int) -> int:
    return at


def _processor_seconds(client: Any) -> float:
    """Return the processor seconds of the workers and of this process so far."""
    return float(sum(client.run(time.process_time).values())) + time.process_time()


def _count_what_is_written() -> None:
    """Have this process count the bytes that it writes; what Dask itself counts leaves out shuffles."""
    from distributed.comm import tcp

    of_dask: Any = tcp.TCP
    write, of_dask.bytes_written = of_dask.write, 0

    async def counted(comm: Any, *arguments: Any, **params: Any) -> Any:
        n_bytes = await write(comm, *arguments, **params)
        of_dask.bytes_written += n_bytes
        return n_bytes

    of_dask.write = counted


def _bytes_written() -> float:
    """Return the bytes that this process has written to Dask's connections."""
    from distributed.comm import tcp

    of_dask: Any = tcp.TCP
    return float(of_dask.bytes_written)


def of_partition(client: Any) -> tuple[float, float]:
    """Return the tasks, and the bytes of client and scheduler, for each further partition of a frame."""
    import dask.dataframe as dd

    counts = []
    for n_partitions in (PARTITIONS, 10 * PARTITIONS):
        tasks, written = _tasks_so_far(client), _bytes_written()
        with tempfile.TemporaryDirectory() as folder, client.as_current():
            panel_of(folder).partial_fit(dd.from_pandas(frame_of(1000, 2, range(1)), npartitions=n_partitions))
        counts.append((_tasks_so_far(client) - tasks, _bytes_written() - written))
    tasks, written = np.diff(counts, axis=0)[0] / (9 * PARTITIONS)
    return float(tasks), float(written)


def _tasks_so_far(client: Any) -> int:
    """Return the number of tasks that the scheduler has finished."""

    def done(dask_scheduler: Any) -> int:
        return sum(kind.state_counts["memory"] for kind in dask_scheduler.task_prefixes.values())

    return int(client.run_on_scheduler(done))


@contextmanager
def timed(client: Any, taken: list[dict[str, float]]) -> Iterator[None]:
    """Measure wall seconds, processor seconds of all processes and of this one, and bytes."""
    moved, spent = sum(client.run(_bytes_written).values()), _processor_seconds(client)
    sent, own, start = _bytes_written(), time.process_time(), time.perf_counter()
    yield
    wall, own, sent = time.perf_counter() - start, time.process_time() - own, _bytes_written() - sent
    spent, moved = _processor_seconds(client) - spent, sum(client.run(_bytes_written).values()) - moved
    taken.append({"wall": wall, "seconds": spent, "driver": own, "sent": sent, "moved": moved})


def medians(taken: list[dict[str, float]]) -> dict[str, float]:
    """Return the medians of all measurements."""
    return {name: float(np.median([each[name] for each in taken])) for name in taken[0]}


def seconds_and_bytes_of_list(n_buckets: int) -> tuple[float, float]:
    """Return the seconds to read the list of this number of files, and its bytes."""
    from ltm_sklearn.distributed._generations import Generation, Generations

    with tempfile.TemporaryDirectory() as folder:
        generations = Generations(Path(folder))
        call, buckets = generations.begin(), range(n_buckets)
        now = Generation(
            number=100,
            n_buckets=n_buckets,
            target="y",
            parameters={},
            experts=[f"model {at}" for at in range(EXPERTS)],
            n_first=EXPERTS,
            call=call,
            files={str(bucket): generations.new_file(100, call, bucket) for bucket in buckets},
            n_series={str(bucket): SERIES_A_BUCKET for bucket in buckets},
            n_rows={str(bucket): 100 * SERIES_A_BUCKET for bucket in buckets},
        )
        generations.add(now)
        start = time.process_time()
        generations.read()
        seconds = time.process_time() - start
        (listing,) = Path(folder).glob("generation-*")
        return seconds, float(listing.stat().st_size)


def panel_of(folder: str, n_buckets: int = BUCKETS) -> Any:
    """Return a panel whose state lies in this folder."""
    from ltm_sklearn.distributed import PanelMixture

    return PanelMixture(ExpertMixture(series="id", time="t"), folder, n_buckets=n_buckets, keep=1)


def panels_on_dask(clients: dict[int, Any], options: argparse.Namespace) -> list[Point]:
    """Measure the seconds of a call that learns, the bytes of its state on disk, and the bytes sent."""
    import dask.dataframe as dd

    first, *others = options.cluster_buckets
    few = min(options.cluster_experts), min(options.cluster_rows)
    sizes = [
        (s, k, r, n_buckets)
        for n_buckets in (first, *others)
        for s, k, r in product(options.cluster_series, options.cluster_experts, options.cluster_rows)
        if n_buckets == first or (k, r) == few
    ]
    points = []
    for s, k, r, n_buckets in sizes:
        taken: dict[int, list[dict[str, float]]] = {n_workers: [] for n_workers in clients}
        on_disk = {}
        with ExitStack() as stack:
            folders = {n_workers: stack.enter_context(tempfile.TemporaryDirectory()) for n_workers in clients}
            for repeat in range(options.repeats + 1):  # the first makes the state
                rows = frame_of(s, k, range(r * repeat, r * (repeat + 1)))
                for n_workers, client in clients.items():
                    panel = panel_of(folders[n_workers], n_buckets)
                    with client.as_current(), timed(client, taken[n_workers]):
                        panel.partial_fit(dd.from_pandas(rows, npartitions=PARTITIONS))
            for n_workers, folder in folders.items():
                (listing,) = Path(folder).glob("generation-*")
                state = sum(file.stat().st_size for file in (Path(folder) / "buckets").iterdir())
                on_disk[n_workers] = {"bytes": float(state), "listing": float(listing.stat().st_size)}
        for n_workers in clients:
            of = {"workers": n_workers, "buckets": n_buckets, "series": s, "experts": k}
            of |= {"calls": 1, "rows": s * r, "rows·experts": s * r * k}
            points.append(Point(of, medians(taken[n_workers][1:]) | on_disk[n_workers]))
    return points


def pools_on_dask(clients: dict[int, Any], options: argparse.Namespace) -> list[Point]:
    """Measure the seconds and bytes of a round of models on workers."""
    from sklearn.neural_network import MLPClassifier

    from ltm_sklearn.distributed import DaskWorkers

    points = []
    for k, n_rows in [(k, n_rows) for k in options.models for n_rows in options.batches]:
        rng = np.random.default_rng([k, n_rows])
        homes = {n_workers: DaskWorkers(client, checkpoint_every=10_000) for n_workers, client in clients.items()}
        pool = [(f"network {at}", MLPClassifier((256, 256), random_state=at)) for at in range(k)]
        models = {at: LongTermMemoryClassifier(home.experts(pool), memory=None) for at, home in homes.items()}
        taken: dict[int, list[dict[str, float]]] = {n_workers: [] for n_workers in clients}
        for _ in range(options.repeats + 2):  # the first two bring the models to their workers
            X = rng.normal(size=(n_rows, 20))
            for n_workers, model in models.items():
                before = homes[n_workers].traffic
                with clients[n_workers].as_current(), timed(clients[n_workers], taken[n_workers]):
                    model.partial_fit(X, X[:, 0] > 0, classes=[False, True])
                after = homes[n_workers].traffic
                taken[n_workers][-1]["bytes"] = float(after.sent + after.received - before.sent - before.received)
        for n_workers in clients:
            sizes = {"calls": 1, "workers": n_workers, "models": k, "rows": n_rows, "rows·models": k * n_rows}
            points.append(Point(sizes, medians(taken[n_workers][2:])))
    return points


# Tables -------------------------------------------------------------------------------------------------------------


def shown(points: list[Point], sizes: tuple[str, ...], measured: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table of points."""

    def cell(point: Point, name: str) -> str:
        return f"{point.of(name):.4f}" if name in ("seconds", "wall", "driver") else f"{point.of(name):,.0f}"

    names = [*sizes, *measured.values()]
    rows = [[*(cell(point, name) for name in names), "left out" if point.held_out else ""] for point in points]
    return [*sizes, *measured, "fit"], rows


def speed_up(points: list[Point]) -> list[str]:
    """Return the speed-up of two workers over one, in words."""
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
    in_process: Cost,
    on_dask: Cost,
    on_driver: Cost,
    state: Cost,
    moved: Cost,
    listing: tuple[float, float],
    of_tasks: tuple[float, float, float],
) -> tuple[list[str], list[list[str]]]:
    """Return the table of the extrapolation to a large cluster.

    Of the list of files its seconds and bytes; of tasks their seconds, and the number and bytes for each partition.
    """
    per_task, per_partition, bytes_of_partition = of_tasks
    n_buckets = SERIES / SERIES_A_BUCKET

    def of(n_series: float) -> dict[str, float]:
        """Return the sizes of a call with one row of each of this number of series."""
        sizes = {"calls": 1.0, "workers": 0.0, "series": n_series, "rows": n_series}
        sizes["buckets"] = n_series / SERIES_A_BUCKET
        return sizes | dict.fromkeys(("series·experts", "rows·experts"), n_series * EXPERTS)

    weighing = n_buckets / WORKERS * in_process.at(of(SERIES_A_BUCKET))
    learning = on_dask.at(of(SERIES / WORKERS))
    state_bytes = n_buckets * state.at(of(SERIES_A_BUCKET))
    row_bytes = SERIES * (moved.each["rows"] + EXPERTS * moved.each["rows·experts"])
    list_seconds, list_bytes = listing
    n_partitions = PARTITIONS_A_WORKER * WORKERS
    n_tasks = per_partition * n_partitions
    per_worker = on_dask.each["workers"] * WORKERS
    rows = [
        ["learning, with the state read and written, by all workers at once", f"{learning:.0f} s", ""],
        ["of that, as in one process that has the state", f"{weighing:.0f} s", ""],
        [
            "state over the network, read and written",
            f"{2 * state_bytes / WORKERS / BANDWIDTH:.1f} s",
            f"{state_bytes / 1e12:.2f} TB each way",
        ],
        [
            "the list of the state's files, read by each worker",
            f"{list_seconds + list_bytes / BANDWIDTH:.2f} s",
            f"{list_bytes / 1e6:.1f} MB each",
        ],
        [
            "rows to the workers of their buckets",
            f"{row_bytes / WORKERS / BANDWIDTH:.2f} s",
            f"{row_bytes / 1e9:.1f} GB",
        ],
        ["one scheduler and its client", f"{n_tasks * per_task:.0f} s", f"{n_tasks:,.0f} tasks"],
        [
            "what these send for the partitions",
            f"{bytes_of_partition * n_partitions / BANDWIDTH:.2f} s",
            f"{bytes_of_partition * n_partitions / 1e6:.0f} MB",
        ],
        ["what the fit of these has for the buckets", f"{on_driver.each['buckets'] * n_buckets:.0f} s", ""],
        [
            "what the fit has for each worker, if all of it were the client's or the scheduler's",
            f"{per_worker:.0f} s",
            "",
        ],
        ["files of the state", "", f"{n_buckets:,.0f}"],
    ]
    return ["one call that learns", "seconds", "how much"], rows
