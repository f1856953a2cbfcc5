"""Local clusters, one after the other: each with two workers, and a way to find the processes of its workers."""

import os
import sys
from contextlib import chdir, contextmanager
from types import SimpleNamespace

import psutil
import pytest


def _children(of, holds):
    """Processes below one whose command or name has a text."""
    found = []
    for process in psutil.Process(of).children(recursive=True):
        try:
            if holds in " ".join([process.name(), *process.cmdline()]):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


@contextmanager
def dask_cluster():
    pytest.importorskip("fugue_dask")
    dd = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield SimpleNamespace(
            frame=lambda rows: dd.from_pandas(rows, npartitions=3),
            collect=lambda frame: frame.compute(),
            workers=lambda: list(client.run(os.getpid).values()),
        )


@contextmanager
def ray_cluster():
    pytest.importorskip("fugue_ray")
    ray = pytest.importorskip("ray")
    os.environ.setdefault("RAY_worker_niceness", "0")  # or they wait for all else that the machine does
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().default_hash_shuffle_parallelism = 8  # not 200, which take long on two cores

    def workers():
        # one that works has the name of its task; others wait, or are Ray's own actors
        busy = [process for process in _children(os.getpid(), "ray::") if "_udf" in " ".join(process.cmdline())]
        return [process.pid for process in busy]

    try:
        yield SimpleNamespace(
            frame=lambda rows: ray.data.from_pandas([rows[at::3] for at in range(3)]),
            collect=lambda frame: frame.to_pandas(),
            workers=workers,
        )
    finally:
        ray.shutdown()


@contextmanager
def spark_cluster():
    pytest.importorskip("fugue_spark")
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]")  # two threads, and a task may fail three times
    session = builder.config("spark.sql.shuffle.partitions", 4).config("spark.ui.enabled", "false").getOrCreate()

    def workers():
        daemons = {process.pid for process in _children(os.getpid(), "pyspark.daemon")}
        return [pid for pid in daemons if psutil.Process(pid).ppid() in daemons]

    try:
        yield SimpleNamespace(
            frame=lambda rows: session.createDataFrame(rows).repartition(3),
            collect=lambda frame: frame.toPandas(),
            workers=workers,
        )
    finally:
        session.stop()


@pytest.fixture(scope="session", params=[dask_cluster, ray_cluster, spark_cluster], ids=["dask", "ray", "spark"])
def cluster(request, tmp_path_factory):
    # Workers look for packages in the folder in which the cluster was started; the root has the uncompiled sources.
    with chdir(tmp_path_factory.mktemp("started-in")), request.param() as started:
        yield started
