"""River's models as experts, where concepts return and on real streams, beside River's own ensembles and selectors.

Run through `recurring.py river`. Row by row, test then train, by `ltm_sklearn.evaluation.prequential`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed
from report import provenance, save_table

from ltm_sklearn import streams
from ltm_sklearn.evaluation import prequential

#: Segments of the recurring streams; three concepts in random order, one label in ten flipped.
SEGMENTS = {"order": "random", "length": 500, "n_segments": 20, "noise": 0.1}

SYNTHETIC: dict[str, Callable[[int], Any]] = {
    "STAGGER": lambda seed: streams.stagger(seed=seed, **SEGMENTS),
    "SEA 5/10/15": lambda seed: streams.sea([5.0, 10.0, 15.0], seed=seed, **SEGMENTS),
    "random trees": lambda seed: streams.RecurringConcepts(
        [streams.RandomTree(3 * seed + at) for at in range(3)], seed=seed, **SEGMENTS
    ),
}


def pool(n_classes: int) -> dict[str, Callable[[], Any]]:
    """Five models of different kinds, two of them scaled linear ones."""
    from river import linear_model, multiclass, naive_bayes, neighbors, optim, preprocessing, tree

    def logistic() -> Any:
        model = linear_model.LogisticRegression(optim.SGD(0.1))
        return preprocessing.StandardScaler() | (model if n_classes == 2 else multiclass.OneVsRestClassifier(model))

    def other_linear() -> Any:
        model = linear_model.PAClassifier() if n_classes == 2 else linear_model.SoftmaxRegression()
        return preprocessing.StandardScaler() | model

    return {
        "logistic": logistic,
        "passive-aggressive / softmax": other_linear,
        "naive Bayes": naive_bayes.GaussianNB,
        "Hoeffding tree": tree.HoeffdingTreeClassifier,
        # an exact search: River's default one, which is not, draws without a seed
        "neighbours": lambda: (
            preprocessing.StandardScaler() | neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=1000))
        ),
    }


def contestants(n_classes: int) -> dict[str, Callable[[], Any]]:
    """Everything that is compared."""
    from river import bandit, ensemble, forest, linear_model, metrics, model_selection, preprocessing

    from ltm_sklearn.river import LongTermMemoryClassifier

    experts = pool(n_classes)

    def fresh() -> list[Any]:
        return [make() for make in experts.values()]

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
        "ours": lambda: LongTermMemoryClassifier(fresh()),
        "ours, followed only": lambda: LongTermMemoryClassifier(fresh(), loss="zero_one"),
        "ours without memory": lambda: LongTermMemoryClassifier(fresh(), memory=None),
        "ours with the forest": lambda: LongTermMemoryClassifier([*fresh(), forest_of_ten()]),
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


def real_rows(name: str, target: str, starts: list[int], folder: Path) -> tuple[Any, Any, Any]:
    """Rows, labels and the concept in force: two that take turns, where it is known."""
    import pandas as pd

    frame = pd.read_csv(folder / f"{name}.csv.gz").drop(columns="context_sex", errors="ignore")
    labels, y = np.unique(frame.pop(target), return_inverse=True)
    concept = np.searchsorted(starts, np.arange(len(y)), side="right") % 2 if starts else np.zeros(len(y), dtype=int)
    return frame, y == 1 if len(labels) == 2 else y, concept


def one_run(stream: str, who: str, seed: int, files: dict[str, tuple[str, list[int]]], folder: Path) -> dict[str, Any]:
    """Scores of one contestant on one stream."""
    warnings.simplefilter("ignore")  # some of the peers warn on their own account
    rows: Any = SYNTHETIC[stream](seed) if stream in SYNTHETIC else real_rows(stream, *files[stream], folder)
    n_classes = 2 if stream in SYNTHETIC else len(np.unique(rows[1]))
    try:
        model = contestants(n_classes)[who]()
        began = process_time()  # of this process alone, whatever else the machine does
        scores = prequential({who: model}, rows, probabilities=False).scores[who]
        return {**scores, "cpu_seconds": process_time() - began}
    except Exception as error:  # a peer that cannot do it is said to be so
        if who.startswith("ours"):
            raise
        return {"error": f"{type(error).__name__}: {error}"}


def river(names: list[str], files: dict[str, Any], folder: Path, seeds: list[int], n_jobs: int, cache: Memory) -> None:
    """The tables: accuracy, accuracy after a return, seconds."""
    run = cache.cache(one_run)
    everyone = list(contestants(2))
    tasks = [
        (name, who, seed) for name in names for who in everyone for seed in (seeds if name in SYNTHETIC else seeds[:1])
    ]
    results = Parallel(n_jobs, verbose=10)(delayed(run)(*task, files, folder) for task in tasks)
    scores = dict(zip(tasks, results, strict=True))
    for field, title in (("accuracy", ""), ("after_return", "_returns"), ("cpu_seconds", "_seconds")):
        rows = []
        for who in everyone:
            line = [who]
            for name in names:
                runs = [scores[task] for task in tasks if task[0] == name and task[1] == who]
                line.append("-" if any("error" in each for each in runs) else _shown(runs, field))
            rows.append(line)
        notes = [
            f"{WHAT[field]}; row by row, test then train; mean over seeds {seeds} where the stream is drawn.",
            f"The pool: {', '.join(pool(2))} (two classes / more); its members alone, then River's ensembles and "
            "selectors over the same pool, then forests by themselves. Ours has default settings; stacking, bandits "
            "and halving, which must be told what to do, have two settings each.",
            "Not all of this is untouched data: the rate of the stack, one of our experts, was chosen with the five "
            "real streams in view, and drawn ones of another seed.",
            *[f"{task[1]} on {task[0]}: {each['error']}" for task, each in scores.items() if "error" in each],
            "Made by `recurring.py river`.",
            provenance("river", "pandas"),
        ]
        print(save_table(f"recurring_river{title}", ["", *names], rows, notes))


WHAT = {
    "accuracy": "Accuracy",
    "after_return": "Accuracy in the first 50 rows after a concept returned",
    "cpu_seconds": "Seconds of the processor, for predicting, scoring and learning the whole stream",
}


def _shown(runs: list[dict[str, Any]], field: str) -> str:
    mean = np.mean([each[field] for each in runs])
    if np.isnan(mean):
        return "-"
    return f"{mean:.0f}" if field == "cpu_seconds" else f"{mean:.4f}"
