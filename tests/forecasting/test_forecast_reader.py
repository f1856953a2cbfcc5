"""ExpertMixture and input that is wrong: the message says which column and which row, and nothing has changed."""

import pickle

import numpy as np
import pandas as pd
import pytest
from support.forecasts import returning

from ltm_sklearn import ExpertMixture
from ltm_sklearn.experts import BOA, Hedge
from ltm_sklearn.losses import Huber

X, y = returning(40)


def table(**columns):
    return pd.DataFrame(X, columns=list("abcd")).assign(**columns)


def changed(values, at, value):
    values = np.array(values, dtype=object if isinstance(value, str) else None)
    values[at] = value
    return values


TIMES = pd.date_range("2024-01-01", periods=40, freq="h")

WRONG_FRAMES = {
    "text": ({}, table(c=changed(X[:, 2], 7, "n/a")), y, r"column 'c' is not numeric: row 7 has 'n/a'"),
    "dates": ({}, table(c=TIMES), y, r"column 'c' is not numeric: row 0 has Timestamp"),
    "infinite": ({}, table(b=changed(X[:, 1], 5, np.inf)), y, r"column 'b' is infinite in row 5"),
    "infinite, with times": (
        {},
        table(b=changed(X[:, 1], 5, -np.inf)).set_index(TIMES),
        y,
        r"column 'b' is infinite in row 5 \(2024-01-01T05:00",
    ),
    "all asleep": (
        {},
        pd.DataFrame(np.where(np.arange(40)[:, np.newaxis] == 9, np.nan, X)),
        y,
        r"no expert has a forecast in row 9",
    ),
    "no experts": ({"time": "t"}, pd.DataFrame({"t": TIMES}), y, r"no column of forecasts among \['t'\]"),
    "time twice": (
        {"time": "t"},
        table(t=TIMES[np.where(np.arange(40) == 30, 29, np.arange(40))]),
        y,
        r"column 't': the time 2024-01-02T05:00:00.* of row 30 is there twice",
    ),
    "time goes back": ({"time": "t"}, table(t=TIMES[::-1]), y, r"column 't': the time .* of row 1 comes after"),
    "no time": (
        {"time": "t"},
        table(t=changed(TIMES.to_numpy(), 3, np.datetime64("NaT"))),
        y,
        r"'t'.* no time in row 3",
    ),
    "no such time": ({"time": "when"}, table(), y, r"there is no column 'when' \(time=\) among \['a', 'b', 'c', 'd'\]"),
    "no such series": ({"series": "id"}, table(), y, r"there is no column 'id' \(series=\)"),
    "no such group": ({"group": "hour"}, table(), y, r"there is no column 'hour' \(group=\)"),
    "no such block": ({"block": "day"}, table(), y, r"there is no column 'day' \(block=\)"),
    "no series in a row": (
        {"series": "id"},
        table(id=[None if row == 4 else "x" for row in range(40)]),
        y,
        r"column 'id' \(series=\) has no value in row 4",
    ),
    "time twice in a series": (
        {"series": "id", "time": "t"},
        table(id=np.arange(40) % 2, t=np.where(np.arange(40) == 31, 29, np.arange(40))),
        y,
        r"the time 29 of row 31 of series 1 is there twice",
    ),
    "columns twice": ({}, pd.DataFrame(X, columns=list("abca")), y, r"unique column names.*\n.*'a' 2 times"),
    "target unknown": ({}, table(), changed(y, 11, np.nan), r"y contains NaN in row 11"),
    "target infinite": ({}, table(), changed(y, 11, np.inf), r"y contains infinity in row 11"),
    "zero percent": ({"loss": "absolute_percentage_error"}, table(), changed(y, 8, 0.0), r"y is zero in row 8"),
    "lengths": ({}, table(), y[:30], r"inconsistent numbers of samples"),
    "prior of another": ({"prior": {"a": 1, "z": 1}}, table(), y, r"prior has 'z', which is none of the experts"),
    "prior incomplete": ({"prior": {"a": 1, "b": 1, "c": 1}}, table(), y, r"prior lacks 'd'"),
    "some of two levels": (
        {},
        pd.DataFrame(X, columns=pd.Index([("a", "x"), ("a", "y"), ("b", "x"), "c"], tupleize_cols=False)),
        np.column_stack([y, y]),
        r"columns must be experts, or pairs",
    ),
    "other outputs": (
        {},
        pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a", "b"], ["x", "y"]])),
        y,
        r"forecasts of 2 outputs, and 1 targets",
    ),
    "names of outputs": (
        {},
        pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a", "b"], ["x", "y"]])),
        pd.DataFrame({"x": y, "z": y}),
        r"y has the columns \['x', 'z'\], and should have \['x', 'y'\]",
    ),
    "other quantiles": (
        {"quantiles": [0.1, 0.9]},
        pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a", "b"], [0.1, 0.8]])),
        y,
        r"quantile 0.8, which is none of",
    ),
}


@pytest.mark.parametrize("first", ["at once", "in mid-stream"])
@pytest.mark.parametrize("case", WRONG_FRAMES)
def test_message_names_the_column_and_the_row(case, first):
    parameters, frame, targets, message = WRONG_FRAMES[case]
    mixture = ExpertMixture(record=50, **parameters)
    if first == "in mid-stream":
        good = {name: column for name in ("t", "id") if name in frame for column in [frame[name]]}
        try:
            start = table(**{name: column.iloc[:2].reindex(range(40), method="ffill") for name, column in good.items()})
            mixture.partial_fit(start[:1], y[:1] + 5.0)
        except ValueError:
            pytest.skip("these parameters never fit such a table")
        message = f"{message}|was there before|of an output|2 targets|an expert|names|forecasts of 1 outputs"
    before = pickle.dumps(mixture)
    with pytest.raises(ValueError, match=message):
        mixture.partial_fit(frame, targets)
    assert pickle.dumps(mixture) == before


def test_history_needs_every_expert_and_more_rows_than_lag():
    silent = table(c=np.nan)
    with pytest.raises(ValueError, match=r"column 'c' has no forecast in any row"):
        ExpertMixture().fit(silent, y)
    ExpertMixture().partial_fit(silent, y)  # it may come later
    with pytest.raises(ValueError, match=r"column 1 has no forecast in any row"):
        ExpertMixture().fit(np.where(np.arange(4) == 1, np.nan, X), y)
    with pytest.raises(ValueError, match=r"lag=40, but there are only 40 rows"):
        ExpertMixture(lag=40).fit(X, y)
    ExpertMixture(lag=40).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"column 2 is infinite in row 3"):
        ExpertMixture().fit(changed(X, (3, 2), np.inf), y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "BOA"}, "algorithm='BOA' is neither an instance"),
        ({"algorithm": BOA(prior=[1, 1, 1, 1]), "prior": [1, 1, 1, 1]}, "prior is given twice"),
        ({"algorithm": Hedge(rate=-1.0)}, "rate"),
        (
            {"loss": "cubic"},
            "loss='cubic' is not one of 'squared_error', 'absolute_error', 'absolute_percentage_error'",
        ),
        ({"gradient": "yes"}, "gradient='yes' must be True or False"),
        ({"lag": -1}, "lag=-1 must be a whole number"),
        ({"lag": 1.5}, "lag=1.5 must be a whole number"),
        ({"block": 0}, "block=0 must be a positive integer"),
        ({"pooled": True}, "pooled=True is for groups"),
        ({"record": 0}, "record=0"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"series": "a", "time": "a"}, "column 'a' cannot be two of"),
        ({"series": "id"}, "series='id' is the name of a column: the forecasts must be a frame"),
        ({"quantiles": []}, "quantiles"),
        ({"quantiles": [0.5, 1.0]}, "quantiles=1.0 must lie in"),
        ({"quantiles": [0.5, 0.5]}, "a level twice"),
        ({"quantiles": [0.5], "loss": "absolute_error"}, "leave loss alone"),
        ({"prior": [1, 1]}, "prior has shape"),
        ({"prior": [1, 1, 1, 0]}, "prior must be positive"),
    ],
)
def test_message_names_a_parameter_outside_its_domain(parameters, message):
    mixture = ExpertMixture(**parameters)
    with pytest.raises(ValueError, match=message):
        mixture.fit(X, y)
    assert not hasattr(mixture, "_panel")


def test_message_names_what_differs_from_earlier_tables():
    mixture = ExpertMixture().fit(X, y)
    with pytest.raises(ValueError, match="3 features, but ExpertMixture is expecting 4"):
        mixture.predict(X[:, :3])
    with pytest.raises(ValueError, match="were an array without names"):
        mixture.partial_fit(table(), y)
    with pytest.raises(ValueError, match="y has 2 targets, but there were 1"):
        mixture.partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"4 dim|shape"):
        mixture.partial_fit(X.reshape(10, 4, 2, 2), y[:10])
    named = ExpertMixture().fit(table(), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X)
    with pytest.raises(ValueError, match="only experts that were never learned"):
        named.predict(pd.DataFrame({"z": [1.0]}))
    with pytest.raises(ValueError, match=r"awake must lie in \[0, 1\]: column 2 has 2.0 in row 1"):
        mixture.predict(X[:3], awake=changed(np.ones((3, 4)), (1, 2), 2.0))
    with pytest.raises(ValueError, match="awake has shape"):
        mixture.predict(X[:3], awake=np.ones(4))
    with pytest.raises(ValueError, match="one target"):
        ExpertMixture(quantiles=[0.5]).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="no series 'z'"):
        ExpertMixture(record=50, series="id").fit(table(id="q"), y).run_record(series="z")
    with pytest.raises(ValueError, match="no output 3"):
        ExpertMixture(record=50).fit(X, y).run_record(output=3)
    with pytest.raises(ValueError, match="no output <NA>"):
        ExpertMixture(record=50).fit(X, y).run_record(output=pd.NA)
    with pytest.raises(ValueError, match=r"no series \(1, \[2\]\)"):
        ExpertMixture(record=50).fit(X, y).run_record(series=(1, [2]))
    with pytest.raises(ValueError, match="record="):
        mixture.run_record()


def test_times_must_go_up_from_call_to_call():
    mixture = ExpertMixture(time="t").partial_fit(table(t=TIMES)[:20], y[:20])
    with pytest.raises(ValueError, match="of row 0 was there before, in an earlier call"):
        mixture.partial_fit(table(t=TIMES)[19:], y[19:])
    mixture.partial_fit(table(t=TIMES)[20:], y[20:])
    mixture.predict(table())  # for which no times are needed
    with pytest.raises(ValueError, match=r"no column 't' \(time=\)"):
        mixture.partial_fit(table(), y)
    with pytest.raises(ValueError, match=r"the index: the time .* of row 1 is there twice"):
        ExpertMixture().fit(table().set_index(TIMES[np.maximum(np.arange(40) - 1, 0)]), y)
    with pytest.raises(ValueError, match=r"'soon' in row 3, which is not a time"):
        ExpertMixture(time="t").fit(table(t=["soon" if at == 3 else str(TIMES[at]) for at in range(40)]), y)
    with pytest.raises(ValueError, match="no times to take the hour from"):
        ExpertMixture(group="hour").fit(table(), y)
    with pytest.raises(ValueError, match="loss=Huber is a class"):
        ExpertMixture(loss=Huber).fit(X, y)
    named = ExpertMixture().fit(table(), pd.DataFrame({"p": y, "q": -y}))
    turned = pd.DataFrame({"q": -y, "p": y})
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(named)).partial_fit(table(), turned).weights_,
        named.partial_fit(table(), turned[["p", "q"]]).weights_,
    )


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_targets_of_any_library_are_matched_by_name(library):
    frames = pytest.importorskip(library)
    columns = {"q": -y, "p": y}
    targets = frames.DataFrame(columns) if library == "polars" else frames.table(columns)
    named = ExpertMixture().fit(table(), pd.DataFrame({"p": y, "q": -y}))
    expected = pickle.loads(pickle.dumps(named)).partial_fit(table(), pd.DataFrame({"p": y, "q": -y}))
    np.testing.assert_array_equal(named.partial_fit(table(), targets).weights_, expected.weights_)


def test_a_lazy_frame_must_be_collected_first():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="LazyFrame of polars has no rows yet: collect"):
        ExpertMixture().fit(polars.LazyFrame({"a": X[:, 0]}), y)
