"""Ways into the public names that hold models: estimators, mixtures, River's and sktime's, prequential runs."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from hostile.entry import Entry, with_bad_parameters
from river import linear_model, naive_bayes, time_series
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sktime.forecasting.naive import NaiveForecaster
from support.named_models import named

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots, river, sktime
from ltm_sklearn.ensemble import FromRiverClassifier, FromRiverRegressor, IncrementalPipeline, SlidingWindow
from ltm_sklearn.evaluation import prequential

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
NUMBERS = X @ [1.0, -1.0]
LABELS = np.array(["no", "yes"], dtype=object)[(NUMBERS > 0).astype(int)]
WEIGHTS = np.linspace(0.5, 1.5, 12)
IDS = [f"id {at}" for at in range(12)]

# scikit-learn's -----------------------------------------------------------------------------------------------------


def _classifier(**parameters: Any) -> Any:
    pool = [("nb", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
    return LongTermMemoryClassifier(**{"estimators": pool, "random_state": 0, **parameters})


def _regressor(**parameters: Any) -> Any:
    pool = [("sgd", SGDRegressor(random_state=0)), ("window", SlidingWindow(LinearRegression(), window=50))]
    return LongTermMemoryRegressor(**{"estimators": pool, "random_state": 0, **parameters})


def _learned(make: Any, y: Any, **first: Any) -> Any:
    model = make()
    for _ in range(3):
        model.partial_fit(X, y, **first)
    if hasattr(model, "issue"):
        model.issue(X, IDS)
    return model


def _goes_on(y: Any, model: Any) -> Any:
    model.partial_fit(X, y)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


SHARED = {"combine": "average", "loss": "auto", "memory": "auto", "rounds": "batch", "batch_size": 5, "record": None}
SHARED |= {"feedback": "full", "n_queries": 1, "on_error": "warn", "max_pending": 10, "n_jobs": None, "algorithm": None}


DIVERGED = "under-/overflow occurred"  #: what scikit-learn's gradient descent says in the midst of a batch


def estimator_entry(
    make: Any,
    y: Any,
    *,
    with_ids: bool = True,
    with_weights: bool = True,
    forgets: tuple[str, ...] = ("fit",),
    others: str = "(?!)",
    **first: Any,
) -> Entry:
    def weights(bad: Any) -> dict[str, Any]:
        return {"sample_weight": bad(WEIGHTS)} if with_weights else {}

    calls: dict[str, Any] = {
        "fit": lambda m, bad: m.fit(bad(X), bad(y), **weights(bad)) and None,
        "partial_fit": lambda m, bad: m.partial_fit(bad(X), bad(y), **weights(bad)) and None,
        "first partial_fit": lambda _, bad: (
            make().partial_fit(bad(X), bad(y), **{name: bad(value) for name, value in first.items()}) and None
        ),
        "predict": lambda m, bad: m.predict(bad(X)),
    }
    if first:
        calls["predict_proba"] = lambda m, bad: m.predict_proba(bad(X))
    if with_ids:
        calls["issue"] = lambda m, bad: m.issue(bad(X), bad(np.arange(12).astype(str)))
        calls["learn"] = lambda m, bad: m.learn(bad(np.array(IDS)), bad(y), **weights(bad)) and None
        calls["transform"] = lambda m, bad: m.transform(bad(X))
        calls["parameters"] = with_bad_parameters(
            make, {**SHARED, "random_state": 0}, lambda m: m.partial_fit(X, y, **first).predict(X)
        )
    # An adapter says what its model says, which may be NaN or infinite; an ensemble lets such a model sleep.
    nan: Any = ("transform",) if with_ids else "all"
    # Whole numbers beyond all floats, in frames of objects, are looked at by the models alone.
    errors = (OverflowError,)
    return Entry(
        partial(_learned, make, y, **first),
        partial(_goes_on, y),
        calls,
        nan=nan,
        forgets=forgets,
        errors=errors,
        others=others,
    )


CLASSES = np.array(["no", "yes"], dtype=object)
MEMORY = {"every": 10, "on_drift": True, "max_size": 3, "restart": True, "merge": 0.9}
ENTRIES: dict[str, Entry] = {
    "ltm_sklearn.LongTermMemoryClassifier": estimator_entry(_classifier, LABELS, classes=CLASSES),
    "ltm_sklearn.LongTermMemoryRegressor": estimator_entry(_regressor, NUMBERS),
    "ltm_sklearn.LongTermMemoryClassifier (bandit)": estimator_entry(
        partial(_classifier, feedback="bandit"), LABELS, classes=CLASSES
    ),
    # A model that has diverged raises from then on.
    "ltm_sklearn.LongTermMemoryRegressor (raise)": estimator_entry(
        partial(_regressor, on_error="raise"), NUMBERS, forgets=("fit", "partial_fit", "learn")
    ),
    "ltm_sklearn.Snapshots": Entry(
        lambda: None,
        lambda _: _goes_on(LABELS, _learned(partial(_classifier, memory=Snapshots(**MEMORY)), LABELS, classes=CLASSES)),
        {
            "parameters": with_bad_parameters(
                Snapshots, MEMORY, lambda memory: _regressor(memory=memory).partial_fit(X, NUMBERS).predict(X)
            )
        },
    ),
    "ltm_sklearn.ensemble.FromRiverClassifier": estimator_entry(
        lambda: FromRiverClassifier(naive_bayes.GaussianNB()), LABELS, with_ids=False, classes=CLASSES
    ),
    "ltm_sklearn.ensemble.FromRiverRegressor": estimator_entry(
        lambda: FromRiverRegressor(linear_model.LinearRegression()),
        NUMBERS,
        with_ids=False,
        others="VectorDict",  # of River's model, at a row: it has learned those before
    ),
    "ltm_sklearn.ensemble.IncrementalPipeline": estimator_entry(
        lambda: IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGDRegressor(random_state=0))]),
        NUMBERS,
        with_ids=False,
        with_weights=False,
        others=DIVERGED,
    ),
    "ltm_sklearn.ensemble.SlidingWindow": estimator_entry(
        lambda: SlidingWindow(LinearRegression(), window=20), NUMBERS, with_ids=False
    ),
}

for inherited in ("fit", "predict"):  # which are scikit-learn's own
    del ENTRIES["ltm_sklearn.ensemble.IncrementalPipeline"].calls[inherited]

# Forecasts ----------------------------------------------------------------------------------------------------------

FORECASTS = NUMBERS[:, np.newaxis] + RNG.normal(size=(12, 3))
PANEL = pd.DataFrame(FORECASTS, columns=["a", "b", "c"]).assign(
    series=["u", "v"] * 6, time=pd.date_range("2024-01-01", periods=6).repeat(2), hour=[1, 1, 2, 2] * 3
)


def _panel() -> Any:
    return ExpertMixture(series="series", time="time", group="hour", record=5)


def mixture_entry(make: Any, table: Any, as_table: Any) -> Entry:
    def spoiled(bad: Any) -> Any:
        return as_table(bad(table))

    return Entry(
        lambda: make().fit(table, NUMBERS),
        lambda mixture: mixture.fit(table, NUMBERS).predict(table),
        {
            "fit": lambda m, bad: m.fit(spoiled(bad), bad(NUMBERS), bad(WEIGHTS), bad(np.ones((12, 3)))) and None,
            "partial_fit": lambda m, bad: m.partial_fit(spoiled(bad), bad(NUMBERS), bad(WEIGHTS)) and None,
            "predict": lambda m, bad: m.predict(spoiled(bad), bad(np.ones((12, 3)))),
            "weigh": lambda m, bad: m.weigh(spoiled(bad), bad(np.ones((12, 3)))),
            # R² of targets that are nearly alike is beyond all floats.
            "score": lambda m, bad: min(m.score(spoiled(bad), bad(NUMBERS), bad(WEIGHTS)), 0.0) < 1.0,
            "summary": lambda m, bad: m.summary(bad("u"), bad(3)) and None,
            "run_record": lambda m, bad: m.run_record(bad("u")) and None,
        },
        nan=True,  # where all experts sleep there is no prediction
    )


MIXTURE = {"loss": "squared_error", "gradient": True, "lag": 0, "block": 1, "bias": False, "prior": None, "record": 10}
MIXTURE |= {"algorithm": None, "group": None, "pooled": False, "series": None, "time": None, "quantiles": None}
ENTRIES["ltm_sklearn.ExpertMixture"] = mixture_entry(ExpertMixture, FORECASTS, lambda table: table)
ENTRIES["ltm_sklearn.ExpertMixture"].calls["parameters"] = with_bad_parameters(
    ExpertMixture, MIXTURE, lambda m: m.fit(FORECASTS, NUMBERS).predict(FORECASTS)
)


def _spoiled_panel(numbers: Any) -> Any:
    """The frame with other forecasts, if these are a table of the right height; otherwise them alone."""
    if isinstance(numbers, np.ndarray) and numbers.ndim == 2 and len(numbers) == 12:
        frame = pd.DataFrame(numbers, columns=list("abcdefgh")[: numbers.shape[1]])
        return frame.assign(series=PANEL["series"], time=PANEL["time"], hour=PANEL["hour"])
    return numbers


ENTRIES["ltm_sklearn.ExpertMixture (panel)"] = Entry(
    lambda: _panel().fit(PANEL, NUMBERS),
    lambda mixture: mixture.fit(PANEL, NUMBERS).predict(PANEL.assign(time=PANEL["time"] + pd.Timedelta(days=9))),
    {
        "forecasts": lambda m, bad: m.fit(_spoiled_panel(bad(FORECASTS)), bad(NUMBERS)) and None,
        "series": lambda m, bad: m.fit(PANEL.assign(series=_column(bad(PANEL["series"]))), NUMBERS) and None,
        "time": lambda m, bad: m.fit(PANEL.assign(time=_column(bad(np.arange(12.0)))), NUMBERS) and None,
        "group": lambda m, bad: m.fit(PANEL.assign(hour=_column(bad(np.arange(12.0)))), NUMBERS) and None,
        "predict time": lambda m, bad: m.predict(PANEL.assign(time=_column(bad(np.arange(12.0))))),
        "run_record": lambda m, bad: m.run_record(bad("u"), bad(0)) and None,
        "summary": lambda m, bad: m.summary(bad("u"), bad(3)) and None,
    },
    nan=True,
)


def _column(values: Any) -> Any:
    """Values as a column of 12, or a good one where they cannot be one."""
    try:
        return pd.Series(list(values)[:12] + [None] * (12 - len(values)), dtype=object).infer_objects()
    except Exception:
        return pd.Series(range(12))


# River's ------------------------------------------------------------------------------------------------------------

ROW = {"a": 0.5, "b": -1.0}
PAIRS = [({"a": float(a), "b": float(b)}, y) for (a, b), y in zip(X, NUMBERS, strict=True)]


def _river(make: Any, labels: bool) -> Any:
    model = make()
    for x, y in PAIRS:
        model.predict_one(x)
        model.learn_one(x, y > 0 if labels else y)
    return model


def river_entry(
    make: Any, labels: bool, *, batches: bool, extra: tuple[str, ...], errors: Any = (), others: str = "(?!)"
) -> Entry:
    target = True if labels else 1.0
    frame = pd.DataFrame(X, columns=["a", "b"])

    def good(model: Any) -> Any:
        model.learn_one(ROW, target)
        return model.predict_proba_one(ROW) if labels else model.predict_one(ROW)

    def learn(model: Any, bad: Any) -> Any:
        named = {"w": 1.0, "id": "c"}
        return model.learn_one(bad(ROW), bad(target), **{name: bad(named[name]) for name in extra if name != "id"})

    def issue_and_learn(model: Any, bad: Any) -> Any:
        one = bad("c")
        answer = model.predict_one(bad(ROW), id=one)
        assert answer is not None
        return model.learn_one(ROW, target, id=one)

    calls: dict[str, Any] = {"learn_one": learn, "predict_one": lambda m, bad: m.predict_one(bad(ROW)) and None}
    if labels:
        calls["predict_proba_one"] = lambda m, bad: m.predict_proba_one(bad(ROW))
    if batches:
        y = pd.Series(NUMBERS > 0 if labels else NUMBERS)
        calls["learn_many"] = lambda m, bad: m.learn_many(_framed(bad(X)), bad(y.to_numpy()), bad(WEIGHTS))
        calls["predict_many"] = lambda m, bad: m.predict_many(_framed(bad(X)))
        assert len(frame) == len(y)
    if "id" in extra:
        calls["learn unknown id"] = lambda m, bad: m.learn_one(ROW, target, id=bad("c"))
    # Models of River diverge on what they are given; an ensemble lets them sleep, a selector or adapter says what they
    # say.
    nan = False if "id" in extra else "all"
    return Entry(partial(_river, make, labels), good, calls, errors=errors, nan=nan, others=others)


def _framed(table: Any) -> Any:
    is_table = isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] == 2
    with suppress(OverflowError):  # of pandas itself
        return pd.DataFrame(table, columns=["a", "b"]) if is_table else table
    return table


def _river_classifiers() -> list[Any]:
    return [naive_bayes.GaussianNB(), linear_model.LogisticRegression()]


def _river_regressors() -> list[Any]:
    return [linear_model.LinearRegression(), linear_model.PARegressor()]


RIVER = "ltm_sklearn.river."
BOTH = ("w", "id")
OF_RIVER = (AttributeError,)  #: what its models raise at what is no row, which a selector hands on: it may be a text
ENTRIES |= {
    f"{RIVER}LongTermMemoryClassifier": river_entry(
        lambda: river.LongTermMemoryClassifier(named(_river_classifiers()), seed=0), True, batches=True, extra=BOTH
    ),
    f"{RIVER}LongTermMemoryRegressor": river_entry(
        lambda: river.LongTermMemoryRegressor(named(_river_regressors()), seed=0), False, batches=True, extra=BOTH
    ),
    f"{RIVER}ExpertSelectionClassifier": river_entry(
        lambda: river.ExpertSelectionClassifier(_river_classifiers()), True, batches=False, extra=(), errors=OF_RIVER
    ),
    f"{RIVER}ExpertSelectionRegressor": river_entry(
        lambda: river.ExpertSelectionRegressor(_river_regressors()), False, batches=False, extra=(), errors=OF_RIVER
    ),
    f"{RIVER}FromSklearnClassifier": river_entry(
        lambda: river.FromSklearnClassifier(GaussianNB(), [False, True], batch_size=3), True, batches=True, extra=("w",)
    ),
    f"{RIVER}FromSklearnRegressor": river_entry(
        lambda: river.FromSklearnRegressor(SGDRegressor(random_state=0), batch_size=3),
        False,
        batches=True,
        extra=("w",),
        others=DIVERGED,
    ),
}


def _pulled(policy: Any) -> Any:
    for at in range(30):
        policy.update(policy.pull(["a", "b"]), float(at % 3))
    return policy


def _next_pulls(policy: Any) -> Any:
    return [policy.pull(["a", "b"]) for _ in range(3)], [str(arm) for arm in _pulled(policy).ranking]


for cls in (river.BanditPolicy, river.ExpertPolicy):
    ENTRIES[RIVER + cls.__name__] = Entry(
        partial(lambda cls: _pulled(cls(seed=0)), cls),
        _next_pulls,
        {
            "update": lambda policy, bad: policy.update(bad("a"), bad(1.0)),
            # what is not hashable is refused by River itself, before the policy sees it
            "pull": lambda policy, bad: (
                policy.pull([arm for arm in (bad("a"), bad("b")) if isinstance(arm, Hashable)]) and None
            ),
        },
    )


def _forecaster() -> Any:
    model = river.LongTermMemoryForecaster(
        named([time_series.HoltWinters(alpha=0.3), time_series.HoltWinters(alpha=0.9)])
    )
    for y in [*NUMBERS, *NUMBERS]:
        model.learn_one(float(y))
        model.forecast(2)
    return model


ENTRIES[f"{RIVER}LongTermMemoryForecaster"] = Entry(
    _forecaster,
    lambda model: (model.learn_one(1.0), model.forecast(2)),
    {
        "learn_one": lambda model, bad: model.learn_one(bad(1.0), bad(ROW)),
        "forecast": lambda model, bad: model.forecast(bad(2), bad(ROW)),
    },
)

# sktime's and prequential -------------------------------------------------------------------------------------------

SERIES = pd.Series(NUMBERS, index=pd.period_range("2024-01", periods=12, freq="M"))


def _sktime() -> Any:
    pool = [("last", NaiveForecaster()), ("mean", NaiveForecaster("mean"))]
    return sktime.LongTermMemoryForecaster(pool).fit(SERIES, fh=[1, 2])


def _weights_of(algorithm: Any) -> Any:
    algorithm.update(FORECASTS[:4].T, NUMBERS[:4])
    return algorithm.weights


def _told(y_pred: Any, y_true: Any) -> Any:
    algorithm = sktime.LongTermMemoryEnsemble(3)
    algorithm.update(y_pred, y_true)
    return algorithm.weights


ENTRIES |= {
    "ltm_sklearn.sktime.LongTermMemoryForecaster": Entry(
        _sktime,
        lambda model: model.predict(),
        {"predict": lambda model, bad: model.predict(fh=bad(np.array([1, 2])))},
        errors=(NotImplementedError, OverflowError, MemoryError),  # of sktime and pandas
        keeps=False,  # sktime notes the horizon before it looks at it
    ),
    "ltm_sklearn.sktime.LongTermMemoryEnsemble": Entry(
        lambda: sktime.LongTermMemoryEnsemble(3),
        _weights_of,
        {
            "update": lambda a, bad: a.update(bad(FORECASTS[:4].T), bad(NUMBERS[:4])),
            "parameters": with_bad_parameters(
                sktime.LongTermMemoryEnsemble,
                {"n_estimators": 3, "loss": "squared_error", "algorithm": None},
                _weights_of,
            ),
        },
    ),
    "ltm_sklearn.evaluation.prequential": Entry(
        lambda: None,
        lambda _: prequential(SGDRegressor(random_state=0), (X, NUMBERS)).n_rows,
        {
            "arrays": lambda _, bad: prequential(_classifier(), (bad(X), bad(LABELS)), classes=bad(CLASSES)) and None,
            "pairs": lambda _, bad: (
                prequential({"lr": linear_model.LinearRegression()}, [*PAIRS, (bad(ROW), bad(1.0))], delay=bad(2))
                and None
            ),
            "parameters": lambda _, bad: (
                prequential(
                    bad(SGDRegressor(random_state=0)),
                    (X, NUMBERS),
                    batch_size=bad(3),
                    n_samples=bad(10),
                    window=bad(5),
                    tolerance=bad(0.1),
                    max_switches=bad(2),
                    experts=bad(None),
                )
                and None
            ),
        },
    ),
}
