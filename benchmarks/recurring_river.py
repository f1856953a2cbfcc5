"""River's models as experts on streams with recurring concepts, beside River's own ensembles and selectors.

Row by row, test then train, by `ltm_sklearn.evaluation.prequential`. Without data only drawn streams are run.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed

from ltm_sklearn.evaluation import prequential

from . import contest
from .contest import Runs, Scores
from .labelled_streams import DrawnStream, RealStream, add_segments, drawn_stream
from .report import Report, add_seeds, seeds_in_words, seeds_of

DRAWN_ONES = ("STAGGER", "SEA 5/10/15", "random trees")
REAL_ONES = ("usenet1", "arabic_digits_recurring", "insects_laser_abrupt", "noaa_weather", "elec2")
LINEAR = "passive-aggressive / softmax"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of streams, seeds and segments."""
    everything = [*DRAWN_ONES, *REAL_ONES]
    parser.add_argument("--names", nargs="+", choices=everything, default=everything)
    add_seeds(parser, 3)
    add_segments(parser, 20, 500)


def pool(n_classes: int) -> dict[str, Callable[[], Any]]:
    """Return five models of different kinds, two of them scaled linear ones."""
    from river import linear_model, multiclass, naive_bayes, neighbors, optim, preprocessing, tree

    def logistic() -> Any:
        model = linear_model.LogisticRegression(optim.SGD(0.1))
        return preprocessing.StandardScaler() | (model if n_classes == 2 else multiclass.OneVsRestClassifier(model))

    def other_linear() -> Any:
        model = linear_model.PAClassifier() if n_classes == 2 else linear_model.SoftmaxRegression()
        return preprocessing.StandardScaler() | model

    return {
        "logistic": logistic,
        LINEAR: other_linear,
        "naive Bayes": naive_bayes.GaussianNB,
        "Hoeffding tree": tree.HoeffdingTreeClassifier,
        # an exact search: River's default one, which is not, draws without a seed
        "neighbours": lambda: (
            preprocessing.StandardScaler() | neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=1000))
        ),
    }


def contestants(n_classes: int) -> dict[str, Callable[[], Any]]:
    """Return functions that make each model that is compared."""
    from river import bandit, ensemble, forest, linear_model, metrics, model_selection, preprocessing

    from ltm_sklearn.river import LongTermMemoryClassifier

    experts = pool(n_classes)

    def named() -> dict[str, Any]:
        return {name: make() for name, make in experts.items()}

    def fresh() -> list[Any]:
        return list(named().values())

    def forest_of_ten() -> Any:
        return forest.ARFClassifier(n_models=10, seed=1)

    def stacked(include_features: bool) -> Any:
        meta = linear_model.LogisticRegression() if n_classes == 2 else linear_model.SoftmaxRegression()
        scaled = preprocessing.StandardScaler() | meta
        return ensemble.StackingClassifier(fresh(), meta_classifier=scaled, include_features=include_features)

    def one_arm(policy: Any) -> Any:
        return model_selection.BanditClassifier(fresh(), metric=metrics.Accuracy(), policy=policy)

    def halved(budget: int) -> Any:
        return model_selection.SuccessiveHalvingClassifier(fresh(), metric=metrics.Accuracy(), budget=budget)

    return {
        "ours": lambda: LongTermMemoryClassifier(named()),
        "ours, followed only": lambda: LongTermMemoryClassifier(named(), loss="zero_one"),
        "ours without memory": lambda: LongTermMemoryClassifier(named(), memory=None),
        "ours with the forest": lambda: LongTermMemoryClassifier({**named(), "forest": forest_of_ten()}),
        **experts,
        "Voting": lambda: ensemble.VotingClassifier(fresh()),
        "Stacking, features too": lambda: stacked(True),
        "Stacking, answers only": lambda: stacked(False),
        "Bandit, epsilon-greedy": lambda: one_arm(bandit.EpsilonGreedy(0.1, decay=0.001, burn_in=100, seed=1)),
        "Bandit, UCB": lambda: one_arm(bandit.UCB(delta=1.0, burn_in=100, seed=1)),
        "SuccessiveHalving(2000)": lambda: halved(2000),
        "SuccessiveHalving(10000)": lambda: halved(10_000),
        "ARF(10)": forest_of_ten,
        "SRP(10)": lambda: ensemble.SRPClassifier(n_models=10, seed=1),
    }


def one_run(stream: DrawnStream | RealStream, who: str) -> Scores:
    """Return the scores of one model on one stream."""
    warnings.simplefilter("ignore")  # some of the peers warn on their own account
    rows: Any
    if isinstance(stream, DrawnStream):
        rows, n_classes = stream.concepts(), 2
    else:
        frame, y, concept = stream.frame()
        n_classes = len(np.unique(y))
        rows = frame, y == 1 if n_classes == 2 else y, concept
    try:
        model = contestants(n_classes)[who]()
        began = process_time()  # of this process alone, whatever else the machine does
        made = prequential({who: model}, rows, probabilities=False).scores[who]
        return {**made, "cpu_seconds": process_time() - began}
    except Exception as error:  # the table shows the error of a peer that fails
        if who.startswith("ours"):
            raise
        return {"error": f"{type(error).__name__}: {error}"}


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the tables of accuracy, accuracy after a return, and seconds."""
    seeds = seeds_of(options)
    streams: list[DrawnStream | RealStream] = []
    names = []
    for name in options.names:
        if name in DRAWN_ONES:
            streams += [drawn_stream(name, seed, options) for seed in seeds]
        elif (stream := RealStream(name, options.data)).path.is_file():
            streams.append(stream)
        else:
            print(f"{name} is left out, as there is no file {stream.path}", flush=True)
            continue
        names.append(name)
    run_one = Memory(options.cache, verbose=0).cache(one_run)
    everyone = list(contestants(2))
    tasks = [(stream, who) for stream in streams for who in everyone]
    finished = Parallel(options.jobs, verbose=10)(delayed(run_one)(*task) for task in tasks)
    runs: Runs = {}
    for (stream, who), made in zip(tasks, finished, strict=True):
        runs.setdefault((stream.name, who), []).append(made)
    notes = [
        f"Row by row, test then train; mean over {seeds_in_words(seeds)} where the stream is drawn.",
        f"The pool: {', '.join(pool(2))} (two classes / more); its members alone, then River's ensembles and "
        "selectors over the same pool, then forests by themselves. Ours has default settings; stacking, bandits "
        "and halving, which have no defaults, have two settings each.",
        "Not all of this is untouched data: the rate of the stack, one of our experts, was chosen with the five "
        "real streams in view, and drawn ones of another seed.",
    ]
    contest.save(report, "recurring_river", names, everyone, runs, notes, ("river", "pandas"))
