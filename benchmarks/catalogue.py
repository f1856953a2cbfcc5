"""The list of all benchmarks, with what each needs and shows."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from .real_files import DEMAND, LABELLED, LOAD, PRICES, path_of


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: a module with ``add_options(parser)`` and ``run(report, options)``, and what it needs."""

    name: str  #: as it is called by, in one or two words
    module: str
    shows: str
    takes: str  #: on two cores
    packages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()  #: packages that are compared with, and left out where they are absent
    quick: str = ""  #: options of a smoke run

    def load(self) -> ModuleType:
        """Import the module of the benchmark."""
        return import_module(f"{__package__}.{self.module}")

    def missing(self, data: Path) -> str:
        """Return what the benchmark needs and does not find, in words; an empty text if it can run."""
        for package in self.packages:
            if find_spec(package) is None:
                return f"it needs {package}, which is not installed"
        for file in self.files:
            if not path_of(data, file).is_file():
                return f"there is no {file}.csv.gz in {data}; --data says where the files are"
        return ""

    @property
    def needs(self) -> str:
        """What the benchmark needs, in words."""
        parts = [*self.packages, *(["data"] if self.files else []), *(f"({peer})" for peer in self.peers)]
        return ", ".join(parts) or "-"


SMALL_STREAM = "--segments 4 --length 60"

BENCHMARKS = [
    Benchmark(
        "regret",
        "regret",
        "regret of the default weights against rivals at their best setting in hindsight",
        "10 min",
        ("matplotlib",),
        quick="--regimes 2 --rounds 300 --seeds 1",
    ),
    Benchmark(
        "ablation",
        "ablation",
        "what each part of the default weights is worth",
        "1 min",
        quick="--regimes 2 --rounds 1000 --seeds 1",
    ),
    Benchmark(
        "steady",
        "steady",
        "regret of the algorithms that need no setting where one expert is best throughout",
        "2 min",
        quick="--regimes 1 --rounds 300 --seeds 1",
    ),
    Benchmark(
        "speed",
        "speed",
        "microseconds a round of every algorithm, NumPy and compiled",
        "minutes",
        peers=("river",),
        quick="--sweeps 1 --repeats 1 --experts 10 --late 20000",
    ),
    Benchmark(
        "import_time",
        "import_time",
        "seconds that importing the package takes, beside scikit-learn",
        "3 min",
        ("river",),
        quick="--repeats 1",
    ),
    Benchmark(
        "oracles", "oracles", "seconds that the best sequence of experts takes", "minutes", quick="--rows 500 1000"
    ),
    Benchmark(
        "recurring synthetic",
        "recurring_synthetic",
        "accuracy with and without memory where concepts return, beside an oracle",
        "an hour, most of it row by row",
        ("matplotlib",),
        quick="--batches 10 --seeds 1 --segments 5 --length 300",
    ),
    Benchmark(
        "recurring real",
        "recurring_real",
        "the same on real streams, beside learners of MOA and River",
        "an hour",
        ("pandas",),
        tuple(LABELLED),
        ("capymoa", "river"),
        quick="--names usenet1 --rows 400 --peers 'naive Bayes' 'RCD (NB)'",
    ),
    Benchmark(
        "recurring moa",
        "recurring_moa",
        "drawn streams, beside MOA's forests and its methods for concepts that return",
        "an hour",
        peers=("capymoa",),
        quick=f"--names STAGGER --seeds 1 --peers 'naive Bayes' 'RCD (NB)' {SMALL_STREAM}",
    ),
    Benchmark(
        "recurring river",
        "recurring_river",
        "River's models as experts, beside River's ensembles and selectors",
        "an hour",
        ("river", "pandas"),
        quick=f"--names STAGGER --seeds 1 {SMALL_STREAM}",
    ),
    Benchmark(
        "overhead",
        "overhead",
        "time of the ensemble itself beside that of its experts",
        "minutes",
        quick="--batches 10 --repeats 1 --sizes 1 100",
    ),
    Benchmark(
        "river_speed",
        "river_speed",
        "what a round costs beyond the experts, beside River's ensembles",
        "minutes",
        ("river",),
        quick="--rounds 100 --repeats 1",
    ),
    Benchmark(
        "scale",
        "scale",
        "seconds and bytes against experts, series, rows and workers, and what follows for a cluster",
        "10 min",
        ("pandas", "distributed", "fugue"),
        quick="--experts 2 5 --series 20 50 --rows 1 3 --cluster-series 20 40 --cluster-experts 2 "
        "--cluster-buckets 2 4 --models 2 --batches 20 40 --repeats 1",
    ),
    Benchmark(
        "checkpoints",
        "checkpoints",
        "what checkpoints of a run cost",
        "10 min",
        ("skops",),
        quick="--rows 200 --every 100 --repeats 1",
    ),
    Benchmark(
        "forecasting prices",
        "forecasting_prices",
        "day-ahead prices: eight models' forecasts combined, at once and with lags",
        "minutes",
        ("pandas",),
        tuple(PRICES.values()),
        ("sktime",),
        quick="--rows 96",
    ),
    Benchmark(
        "forecasting load",
        "forecasting_load",
        "daily French load: 65 experts combined",
        "1 min",
        ("pandas",),
        (LOAD,),
        ("sktime",),
        quick="--rows 60",
    ),
    Benchmark(
        "forecasting demand",
        "forecasting_demand",
        "half-hourly demand: forecasters trained on the way, issued at noon for the next day",
        "minutes",
        ("pandas",),
        (DEMAND,),
        quick="--rows 2900",
    ),
    Benchmark(
        "forecasting members",
        "forecasting_members",
        "the aggregator behind ExpertMixture taken apart",
        "minutes",
        ("pandas",),
        (*PRICES.values(), LOAD),
        quick="--rows 100 --seeds 1",
    ),
    Benchmark(
        "forecasting panel",
        "forecasting_panel",
        "seconds and bytes of many series side by side",
        "2 min",
        ("pandas",),
        quick="--series 20 --rounds 50",
    ),
    Benchmark(
        "bandits regret",
        "bandits_regret",
        "regret where only one arm is seen, against rivals at their best setting in hindsight",
        "an hour",
        ("matplotlib",),
        quick="--worlds 2 --rounds 500 --seeds 2",
    ),
    Benchmark(
        "bandits parts",
        "bandits_parts",
        "what each part of the default bandit is good for",
        "minutes",
        quick="--worlds 2 --rounds 500 --seeds 2",
    ),
    Benchmark("bandits speed", "bandits_speed", "seconds of 100,000 rounds", "1 min", quick="--rounds 1000"),
    Benchmark(
        "bandits models",
        "bandits_models",
        "what asking one model a row costs against asking all",
        "minutes",
        quick="--seeds 2 --visits 1 --rows 20",
    ),
]
