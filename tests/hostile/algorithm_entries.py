"""Ways into the public names that have no models: algorithms, bandits, losses, oracles, streams, readers, pictures."""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from hostile.entry import Entry, with_bad_parameters
from matplotlib.figure import Figure
from support.bandit_algorithms import BANDITS
from support.expert_algorithms import ALGORITHMS, HORIZON, K

from ltm_sklearn import bandits, display, losses, recording, streams
from ltm_sklearn.evaluation import crps, oracles

RNG = np.random.default_rng(0)
LOSSES = RNG.random((6, K))
AWAKE = RNG.random((6, K))
TARGETS = RNG.normal(size=30)
FORECASTS = TARGETS[:, np.newaxis] + RNG.normal(size=(30, 3))

# Algorithms ---------------------------------------------------------------------------------------------------------


def _parameters(cls: type) -> dict[str, Any]:
    """Of a class, with values that are good for it where the default is None."""
    usual = {"rate": 0.1, "switching": 0.05, "memory": 0.05, "horizon": HORIZON, "prior": np.full(K, 1.0 / K)}
    usual |= {"n_segments": 2, "window": 10, "discount": 0.9, "exploration": 0.1, "barrier": 5.0, "floor": 0.05}
    usual |= {"constants": "paper", "static": None, "algorithm": None, "random_state": 0}
    given = inspect.signature(cls).parameters
    return {name: value.default if value.default is not None else usual[name] for name, value in given.items()}


def _without_plugs(cls: type) -> dict[str, Any]:
    parameters = _parameters(cls)
    if "static" in parameters:  # the parameters of a reduction are algorithms; None is the default
        parameters |= {"static": None, "switching": None}
    return parameters


def _started(make: Any) -> Any:
    algorithm = make()
    algorithm.run(LOSSES)
    return algorithm


def _run(algorithm: Any) -> Any:
    return algorithm.run(LOSSES[::-1]), algorithm.weights()


def expert_entry(make: Any) -> Entry:
    cls = type(make())
    return Entry(
        partial(_started, make),
        _run,
        {
            "weights": lambda a, bad: a.weights(bad(K), bad(AWAKE[0])),
            "update": lambda a, bad: a.update(bad(LOSSES[0]), bad(AWAKE[0])) and a.weights(),
            "run": lambda a, bad: a.run(bad(LOSSES), bad(AWAKE)),
            "add_expert": lambda a, bad: a.add_expert(bad(0.1)) and a.drop_expert(K),
            "drop_expert": lambda a, bad: a.drop_expert(bad(1)) or a.add_expert(),
            "parameters": with_bad_parameters(cls, _without_plugs(cls), lambda a: _run(a)),
            "first round": lambda a, bad: make().run(bad(LOSSES), bad(AWAKE)),
        },
    )


def _draw_and_update(bandit: Any, bad: Any) -> Any:
    arms = bandit.draw(bad(K), awake=bad(np.array([True, False, True, True])), n_queries=bad(2))
    return bandit.update(arms, bad(np.array([0.5, -0.5]))) and None


def bandit_entry(make: Any) -> Entry:
    cls = type(make())
    return Entry(
        partial(_started, make),
        lambda bandit: (bandit.run(LOSSES), bandit.draw()),
        {
            "draw": lambda bandit, bad: bandit.draw(bad(K), awake=bad(np.ones(K, dtype=bool))),
            "update": lambda bandit, bad: bandit.update(bad(1), bad(0.5), probability=bad(0.5)) and None,
            "reward": lambda bandit, bad: bandit.update(bad(1), reward=bad(0.5), probability=bad(0.5)) and None,
            "run": lambda bandit, bad: bandit.run(bad(LOSSES), bad(2)),
            "rewards": lambda bandit, bad: bandit.run(rewards=bad(-LOSSES)),
            "drop_arm": lambda bandit, bad: bandit.drop_arm(bad(1)) or (bandit.add_arm() and None),
            "parameters": with_bad_parameters(cls, _parameters(cls), lambda b: b.run(LOSSES) * 1.0),
        },
    )


def _of_each_class(table: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The makers of each class: one for the class's name, all others under it with their own."""
    found: dict[str, Any] = {}
    for name, make in table.items():
        found[f"{prefix}.{type(make()).__name__} ({name})"] = make
    return found


ENTRIES: dict[str, Entry] = {
    **{name: expert_entry(make) for name, make in _of_each_class(ALGORITHMS, "ltm_sklearn.experts").items()},
    **{name: bandit_entry(make) for name, make in _of_each_class(BANDITS, "ltm_sklearn.bandits").items()},
}

GAME = {"n_rounds": 40, "n_segments": 4, "n_arms": 3, "n_simulations": 2, "random_state": 0}
ENTRIES["ltm_sklearn.bandits.LowerBoundAdversary"] = Entry(
    lambda: None,
    lambda _: bandits.LowerBoundAdversary(**GAME).play(bandits.Exp3(random_state=0)).regret,
    {
        "parameters": with_bad_parameters(
            bandits.LowerBoundAdversary, GAME, lambda game: game.play(bandits.Exp3(random_state=0)).regret
        ),
        "play": lambda _, bad: bandits.LowerBoundAdversary(**GAME).play(bad(0)),
    },
    errors=(MemoryError,),  # for a billion rounds
)

# Losses --------------------------------------------------------------------------------------------


def loss_entry(cls: Any, parameters: dict[str, Any]) -> Entry:
    made = cls(**parameters)

    def asked(loss: Any) -> Any:
        # as an estimator does, which checks what it is given first: losses themselves take arrays of floats
        loss.check_targets(TARGETS + 5.0)
        return loss(TARGETS + 5.0, FORECASTS[:, 0]), loss.gradient(TARGETS + 5.0, FORECASTS[:, 0])

    return Entry(lambda: made, asked, {"parameters": with_bad_parameters(cls, parameters, asked)})


PARAMETERS_OF_LOSSES = {"Huber": {"delta": 1.0}, "Pinball": {"quantile": 0.3}}
for name in ["AbsoluteError", "Huber", "LogCosh", "AbsolutePercentageError", "Pinball", "SquaredError"]:
    ENTRIES[f"ltm_sklearn.losses.{name}"] = loss_entry(getattr(losses, name), PARAMETERS_OF_LOSSES.get(name, {}))


# Oracles ------------------------------------------------------------------------------------------------------------


def _oracle(name: str) -> Entry:
    oracle = getattr(oracles, name)
    of_losses = next(iter(inspect.signature(oracle).parameters)) == "losses"
    first = np.abs(FORECASTS) if of_losses else FORECASTS
    others = {"best_sequence": (2,), "best_sequence_among": (2, 2), "memory_curve": (3, 2)}.get(name, ())
    if not of_losses:
        others = (TARGETS,)

    def numbers(found: Any) -> Any:
        return list(vars(found).values()) if hasattr(found, "__dict__") else list(found)

    return Entry(
        lambda: None,
        lambda _: numbers(oracle(first, *others)),
        {"call": lambda _, bad: numbers(oracle(bad(first), *(bad(each) for each in others)))},
    )


for name in ["best_convex", "best_expert", "best_linear", "best_sequence", "best_sequence_among", "memory_curve"]:
    ENTRIES[f"ltm_sklearn.evaluation.oracles.{name}"] = _oracle(name)

LEVELS = np.array([0.1, 0.5, 0.9])
ENTRIES["ltm_sklearn.evaluation.crps"] = Entry(
    lambda: None,
    lambda _: crps(TARGETS, np.sort(FORECASTS, axis=1), LEVELS),
    {"call": lambda _, bad: crps(bad(TARGETS), bad(np.sort(FORECASTS, axis=1)), bad(LEVELS), mean=bad(True))},
)

# Streams ------------------------------------------------------------------------------------------------------------


def _rows(stream: Any) -> Any:
    return [(list(x.values()), y) for x, y in stream.take(30)]


def _concept_rows(concept: Any) -> Any:
    return _rows(streams.RecurringConcepts([concept, concept], length=10, seed=0))


def stream_entry(make: Any, parameters: dict[str, Any]) -> Entry:
    schedule = {**parameters, "length": 10, "n_segments": 3, "noise": 0.1, "width": 2, "order": "cyclic", "seed": 0}
    return Entry(
        lambda: None,
        lambda _: _rows(make(**schedule)),
        {"parameters": with_bad_parameters(make, schedule, _rows)},
    )


STREAMS: dict[str, dict[str, Any]] = {
    "agrawal": {"rules": [0, 1, 2]},
    "led": {"n_concepts": 3},
    "linear_regressions": {"n_concepts": 3},
    "random_trees": {"n_concepts": 3},
    "rotating_hyperplane": {"n_concepts": 3},
    "sea": {"thresholds": [8.0, 9.0]},
    "sine": {},
    "stagger": {},
}
CONCEPTS: dict[str, dict[str, Any]] = {
    "Agrawal": {"rule": 1},
    "Hyperplane": {"angle": 0.5, "n_features": 4},
    "Led": {"seed": 1, "flipped": 0.1},
    "LinearRegression": {"seed": 1, "n_features": 3, "deviation": 0.1},
    "RandomTree": {"seed": 1, "n_features": 3, "n_classes": 2, "depth": 3},
    "Sea": {"threshold": 8.0},
    "Sine": {"rule": 1},
    "Stagger": {"rule": 1},
}
for name, parameters in STREAMS.items():
    ENTRIES[f"ltm_sklearn.streams.{name}"] = stream_entry(getattr(streams, name), parameters)
for name, parameters in CONCEPTS.items():
    cls = getattr(streams, name)
    ENTRIES[f"ltm_sklearn.streams.{name}"] = Entry(
        lambda: None,
        lambda _, cls=cls: _concept_rows(cls()),
        {"parameters": with_bad_parameters(cls, parameters, _concept_rows)},
    )
ENTRIES["ltm_sklearn.streams.RecurringConcepts"] = Entry(
    lambda: streams.stagger(length=10, n_segments=3, seed=0),
    _rows,
    {
        "concepts": lambda _, bad: _rows(streams.RecurringConcepts(bad(np.array([1.0, 2.0])), length=bad(10))),
        "transitions": lambda _, bad: _rows(
            streams.RecurringConcepts(
                [streams.Sea(8.0), streams.Sea(9.0)], order="markov", transitions=bad(np.full((2, 2), 0.5)), seed=0
            )
        ),
        "take": lambda stream, bad: list(stream.take(bad(3))) and None,
        "batches": lambda stream, bad: list(stream.batches(bad(3))) and None,
    },
)


def _batches(bad: Any) -> Any:
    table = bad(np.column_stack([TARGETS, FORECASTS[:, 0]]))
    if isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] == 2:
        with suppress(OverflowError):  # of pandas itself
            table = pd.DataFrame(table, columns=["a", "target"])
    batches = streams.Batches(table, bad("target"), batch_size=bad(7), drop=bad(()), as_frame=bad(True))
    return [len(batch.y) for batch in batches]


ENTRIES["ltm_sklearn.streams.Batches"] = Entry(
    lambda: None,
    lambda _: [batch.y for batch in streams.Batches([({"a": 1.0}, 1.0), ({"a": 2.0}, 2.0)], batch_size=2)],
    {
        "frame": lambda _, bad: _batches(bad),
        "pairs": lambda _, bad: [
            len(batch.y) for batch in streams.Batches([(bad({"a": 1.0, "b": 2.0}), bad(1.0)) for _ in range(3)])
        ],
    },
    errors=(FileNotFoundError,),
)

# Pictures -----------------------------------------------------------------------------------------------------------


def _trace_parts() -> dict[str, Any]:
    weights = np.full((30, 3), 1.0 / 3.0)
    return {
        "names": ["a", "b", "c"],
        "ends": np.arange(1, 31),
        "counts": np.ones(30, dtype=int),
        "times": np.arange(30.0),
        "weights": weights,
        "losses": np.abs(FORECASTS),
        "loss": np.abs(FORECASTS[:, 0]),
        "forecasts": FORECASTS,
        "targets": TARGETS,
        "predictions": FORECASTS[:, 1],
        "loss_name": "absolute_error",
        "uniform": np.abs(FORECASTS[:, 2]),
    }


def _drawn(cls: Any, run_record: Any) -> Any:
    """A picture of a run_record, as bytes: what cannot be drawn shows only then."""
    figure = Figure(figsize=(2, 2), dpi=20)
    cls(run_record).plot(figure.subplots())
    figure.canvas.draw()


def picture_entry(cls: Any) -> Entry:
    return Entry(
        lambda: recording.RunRecord(**_trace_parts()),
        lambda run_record: _drawn(cls, run_record),
        {
            "run_record": with_bad_parameters(recording.RunRecord, _trace_parts(), partial(_drawn, cls)),
            "no run_record": lambda run_record, bad: _drawn(cls, bad(run_record)),
            "from_estimator": lambda run_record, bad: cls.from_estimator(bad(0)),
            "from_result": lambda run_record, bad: cls.from_result(bad(0)),
        },
        errors=(AttributeError,),
    )


PICTURES = [
    "AverageLoss",
    "Contribution",
    "CumulativeLoss",
    "Recurrence",
    "Residual",
    "RunningLoss",
    "WeightBox",
    "WeightStack",
]
for name in PICTURES:
    ENTRIES[f"ltm_sklearn.display.{name}Display"] = picture_entry(getattr(display, f"{name}Display"))
ENTRIES["ltm_sklearn.recording.RunRecord"] = Entry(
    lambda: recording.RunRecord(**_trace_parts()),
    lambda run_record: run_record.thinned(5).loss,
    {
        "parameters": with_bad_parameters(recording.RunRecord, _trace_parts(), lambda run_record: None),
        "thinned": lambda run_record, bad: run_record.thinned(bad(5)) and None,
    },
)
