"""Panels of series in buckets: same numbers as in one mixture, state that survives, errors that help."""

import enum
import json
import pickle
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from support.panels import assert_same_numbers, in_memory, in_three, own_loss, panel_frame

from ltm_sklearn import ExpertMixture
from ltm_sklearn.distributed import PanelMixture, _generations
from ltm_sklearn.distributed._bucket_work import Work
from ltm_sklearn.distributed._buckets import bucket_of, buckets_of, plain_name
from ltm_sklearn.experts import LongTermMemory

pytestmark = pytest.mark.fast_cases(1)

N_BUCKETS = 3


def panel_in(folder, n_buckets=N_BUCKETS, target="y", keep=2, **parameters):
    mixture = ExpertMixture(**{"series": "shop", "time": "day", **parameters})
    return PanelMixture(mixture, folder, n_buckets=n_buckets, target=target, keep=keep)


def own_power(targets, forecasts, power):
    return np.abs(targets - forecasts) ** power


class OwnPower:
    """A loss that holds a function."""

    def __init__(self, function, power):
        self.function, self.power = function, power

    def __call__(self, targets, forecasts):
        return self.function(targets, forecasts, self.power)

    def __repr__(self):
        return f"OwnPower({self.power})"


class Text(str):
    """A text of another class."""


class Shop(str, enum.Enum):  # noqa: UP042  of which str() is not its value
    ZERO = "shop-0"


class Number(enum.IntEnum):
    ZERO = 0


def files_in(folder):
    return {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


# Numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss": "absolute_error", "bias": True},
        {"lag": 2, "block": 2},
        {"loss": own_loss},
        {"group": "weekday", "gradient": False},
    ],
    ids=lambda parameters: " ".join(parameters) or "default",
)
@pytest.mark.parametrize("kind", [lambda rows: rows, pl.from_pandas], ids=["pandas", "polars"])
def test_predictions_equal_those_of_one_mixture(kind, parameters, tmp_path):
    first, second, last = in_three(panel_frame())
    panel_in(tmp_path, **parameters).partial_fit(kind(first))
    panel = panel_in(tmp_path, **parameters)  # which has only the folder
    panel.partial_fit(kind(second.sample(frac=1.0, random_state=0)))
    said = panel.predict(kind(last))
    assert type(said) is type(kind(last))
    said = said if isinstance(said, pd.DataFrame) else said.to_pandas()
    np.testing.assert_array_equal(said["shop"], last["shop"])
    mixture = in_memory(parameters, first, second)
    if "group" in parameters:
        np.testing.assert_array_equal(said["mixture"], mixture.predict(last.drop(columns="y")))
        assert list(panel.weights().columns) == ["shop", "weekday", *mixture.experts_]
    else:
        assert_same_numbers(panel, said, mixture, last)


def test_each_quantile_has_a_column(tmp_path):
    rows = panel_frame(n_series=6)
    levels = [0.1, 0.5, 0.975]
    panel = panel_in(tmp_path, quantiles=levels, bias=True).partial_fit(rows)
    said = panel.predict(rows.drop(columns="y"))
    assert list(said.columns) == ["shop", "day", "mixture_q10", "mixture_q50", "mixture_q97_5"]
    mixture = in_memory({"quantiles": levels, "bias": True}, rows)
    np.testing.assert_array_equal(said.iloc[:, 2:], mixture.predict(rows.drop(columns="y")))
    assert set(panel.weights()["quantile"]) == set(levels)


def test_hours_of_arrow_times_are_local(tmp_path):
    rows = panel_frame(n_series=2, n_times=30)
    hours = pd.date_range("2026-03-28 12:00", periods=30, freq="h", tz="Europe/Berlin")  # clocks are put forward
    rows = rows.assign(day=np.repeat(hours, 2))
    of_arrow = rows.assign(day=rows["day"].astype(pd.ArrowDtype(pa.timestamp("us", tz="Europe/Berlin"))))
    panel = panel_in(tmp_path / "plain", group="hour").partial_fit(rows)
    same = panel_in(tmp_path / "arrow", group="hour").partial_fit(of_arrow)
    pd.testing.assert_frame_equal(same.weights(), panel.weights(), check_exact=True)
    assert set(panel.weights()["hour"]) == set(hours.hour)
    np.testing.assert_array_equal(panel.predict(of_arrow)["mixture"], panel.predict(rows)["mixture"])
    by_index = ExpertMixture(series="shop", group="hour")
    by_index.partial_fit(of_arrow.set_index("day").drop(columns="y"), of_arrow["y"])
    assert {hour for _, hour, _ in by_index.cells_} == set(hours.hour)


def test_dates_of_arrow_are_times(tmp_path):
    rows = panel_frame(n_series=3)
    of_arrow = rows.assign(day=rows["day"].dt.date.astype(pd.ArrowDtype(pa.date32())))
    panel = panel_in(tmp_path, group="weekday").partial_fit(of_arrow)
    mixture = in_memory({"group": "weekday"}, rows)
    np.testing.assert_array_equal(panel.predict(of_arrow)["mixture"], mixture.predict(rows.drop(columns="y")))


def test_expert_must_not_be_named_like_a_column_of_weights(tmp_path):
    rows = panel_frame(n_series=2).rename(columns={"model 1": "quantile"})
    with pytest.raises(ValueError, match="column 'quantile' has the name of a column of the weights"):
        panel_in(tmp_path / "quantiles", quantiles=[0.1, 0.9]).partial_fit(rows)
    assert list(panel_in(tmp_path).partial_fit(rows).weights().columns)[:3] == ["shop", "model 0", "quantile"]


def test_bucket_without_rows_gets_new_experts(tmp_path):
    first, second, last = in_three(panel_frame())
    shops = second["shop"].unique()
    alone = second[second["shop"] == shops[0]].assign(latecomer=0.5)  # all others meet the newcomer and it later
    rest = second[second["shop"] != shops[0]].drop(columns="newcomer")
    prior = {f"model {at}": 0.1 * (at + 1) for at in range(4)}
    new = last.assign(shop="new shop").drop_duplicates("day")
    panel = panel_in(tmp_path, prior=prior)
    for rows in (first, alone, rest, new):
        panel.partial_fit(rows)
    mixture = in_memory({"prior": prior}, first, alone, rest, new)
    assert_same_numbers(panel, panel.predict(last), mixture, last)


def test_predictions_keep_index_and_order_of_pandas(tmp_path):
    first, _, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    shuffled = last.sample(frac=1.0, random_state=0)
    said = panel.predict(shuffled)
    pd.testing.assert_index_equal(said.index, shuffled.index)
    pd.testing.assert_frame_equal(said.loc[last.index], panel.predict(last), check_exact=True)


def test_pandas_rows_without_times_are_learned_in_order(tmp_path):
    rows = panel_frame(n_series=5).drop(columns="day")
    panel = panel_in(tmp_path, time=None).partial_fit(rows)
    mixture = ExpertMixture(series="shop").partial_fit(rows.drop(columns="y"), rows["y"])
    np.testing.assert_array_equal(panel.predict(rows)["mixture"], mixture.predict(rows.drop(columns="y")))


def test_numpy_numbers_and_any_text_are_accepted(tmp_path):
    rows = panel_frame(n_series=4)
    rows = rows.assign(shop=rows["shop"] + "é\0")
    panel = panel_in(tmp_path, n_buckets=np.int64(2)).partial_fit(rows)
    again = panel_in(tmp_path, n_buckets=2)
    assert again.n_series_ == 4
    assert set(again.weights()["shop"]) == set(rows["shop"])
    assert panel.predict(rows)["mixture"].notna().all()


@pytest.mark.parametrize("name", [Shop.ZERO, Number.ZERO, Text("shop-0")], ids=repr)
def test_series_names_of_subclasses_equal_plain_names(name, tmp_path):
    first, second, last = in_three(panel_frame(n_series=4).replace({"shop": {"shop-0": plain_name(name)}}))

    def named(rows):
        return rows.assign(shop=rows["shop"].map(lambda given: name if given == name else given))

    panel_in(tmp_path, n_buckets=2).partial_fit(named(first))
    panel = panel_in(tmp_path, n_buckets=2).partial_fit(second)
    assert_same_numbers(panel, panel.predict(named(last)), in_memory({}, first, second), last)
    assert {type(each) for each in panel.mixture_of(name)._labels.series} <= {str, int}
    assert panel.n_series_ == 4


def test_expert_names_of_subclasses_equal_plain_names(tmp_path):
    first, second, last = in_three(panel_frame(n_series=4))
    panel = panel_in(tmp_path).partial_fit(first)
    panel.partial_fit(second.rename(columns={name: Text(name) for name in ("model 1", "newcomer")}))
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


def test_new_series_starts_with_the_prior(tmp_path):
    first, _, last = in_three(panel_frame(n_series=3))
    panel = panel_in(tmp_path).partial_fit(first)
    unknown = last.assign(shop=[f"unknown-{at}" for at in range(len(last))]).dropna().drop(columns="newcomer")
    plain = unknown[[f"model {at}" for at in range(4)]].mean(axis=1)
    np.testing.assert_allclose(panel.predict(unknown)["mixture"], plain, rtol=1e-12)


def test_mixture_of_a_series(tmp_path):
    rows = panel_frame(n_series=20)
    panel = panel_in(tmp_path, record=50).partial_fit(rows)
    mixture = panel.mixture_of("shop-3")
    np.testing.assert_array_equal(mixture.run_record("shop-3").targets.ravel(), rows.loc[rows["shop"] == "shop-3", "y"])
    with pytest.raises(ValueError, match="no series 'shop-99'"):
        panel.mixture_of("shop-99")
    with pytest.raises(ValueError, match=r"series=1\.5 is neither"):
        panel.mixture_of(1.5)


# Buckets --------------------------------------------------------------------------------------------------------------


def test_bucket_of_a_name_never_changes():
    names = ("a", "shop-17", "Größe", 5, "5", -3)
    assert [bucket_of(name, 1000) for name in names] == [907, 369, 813, 566, 566, 214]


@pytest.mark.parametrize("dtype", ["int64", "int32", "Int64", "int64[pyarrow]"])
def test_integers_of_any_dtype_have_the_same_bucket(dtype):
    names = pd.Series([3, -7, 3, 12345678], dtype=dtype)
    assert buckets_of(names, 64).tolist() == [bucket_of(name, 64) for name in (3, -7, 3, 12345678)]


@pytest.mark.parametrize("dtype", [object, "string", "string[pyarrow]", "category"])
def test_texts_of_any_dtype_have_the_same_bucket(dtype):
    names = pd.Series(["a", "b", "a"], dtype=dtype)
    assert buckets_of(names, 64).tolist() == [bucket_of(name, 64) for name in "aba"]


@pytest.mark.parametrize("name", [Shop.ZERO, Number.ZERO, Text("a"), np.str_("a"), np.int8(5)], ids=repr)
def test_names_of_subclasses_have_the_bucket_of_plain_names(name):
    plain = plain_name(name)
    assert type(plain) in (str, int)
    assert plain == name
    assert bucket_of(name, 1000) == bucket_of(plain, 1000)
    columns = [pd.Series([name, plain], dtype=object), pd.Series([name]).astype("category")]
    assert {bucket for column in columns for bucket in buckets_of(column, 1000)} == {bucket_of(plain, 1000)}


@pytest.mark.parametrize("name", [True, np.True_, 1.0, None, np.nan, np.timedelta64(1), pd.Timedelta(1)], ids=repr)
def test_values_that_only_equal_a_number_are_no_names(name):
    assert buckets_of(pd.Series([1, name, 1], dtype=object), 64).tolist() == [bucket_of(1, 64), -1, bucket_of(1, 64)]


def test_buckets_are_filled_evenly():
    counts = np.bincount(buckets_of(pd.Series([f"store_{at:06d}" for at in range(64_000)]), 64), minlength=64)
    assert counts.min() > 800
    assert counts.max() < 1200


# State ----------------------------------------------------------------------------------------------------------------


def test_bucket_without_rows_is_not_written(tmp_path):
    first, second, _ = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    before = set(files_in(tmp_path / "buckets"))
    panel.partial_fit(second[second["shop"] == "shop-0"])
    new = set(files_in(tmp_path / "buckets")) - before
    assert {int(path.name[:6]) for path in new} == {bucket_of("shop-0", N_BUCKETS)}
    assert panel.generation_ == 2


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_keep_limits_the_generations(keep, tmp_path):
    rows = panel_frame(n_times=5)
    panel = panel_in(tmp_path, keep=keep)
    for _, of_day in rows.groupby("day"):
        panel.partial_fit(of_day)
    assert panel._generations.numbers() == list(range(6 - keep, 6))
    assert len(list((tmp_path / "buckets").iterdir())) == keep * N_BUCKETS


def test_interrupted_call_changes_nothing(tmp_path, monkeypatch):
    first, second, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    before = files_in(tmp_path)
    learn, learned = Work.learn, []

    def broken_off(work, bucket, rows):
        if len(learned) == 2:
            raise KeyboardInterrupt
        learned.append(bucket)
        return learn(work, bucket, rows)

    with monkeypatch.context() as patched:
        patched.setattr(Work, "learn", broken_off)
        with pytest.raises(KeyboardInterrupt):
            panel.partial_fit(second)
    assert files_in(tmp_path) == before
    panel.partial_fit(second)
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError], ids=lambda error: error.__name__)
def test_error_after_the_generation_counts_keeps_it(error, tmp_path, monkeypatch):
    first, second, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)

    def broken_off(folder):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(_generations, "sync_folder", broken_off)
        with pytest.raises(error):
            panel.partial_fit(second)
    assert panel.generation_ == 2
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


KILLED = """
import os, signal, sys
import pandas as pd
from ltm_sklearn import ExpertMixture
from ltm_sklearn.distributed import PanelMixture
from ltm_sklearn.distributed._bucket_work import Work

learn, learned = Work.learn, []

def killed(work, bucket, rows):
    learned.append(learn(work, bucket, rows))
    if len(learned) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return learned[-1]

Work.learn = killed
mixture = ExpertMixture(series="shop", time="day")
PanelMixture(mixture, sys.argv[1], n_buckets=int(sys.argv[2])).partial_fit(pd.read_pickle(sys.argv[3]))
"""


def test_killed_process_leaves_the_last_generation(tmp_path):
    first, second, last = in_three(panel_frame())
    state, rows = tmp_path / "state", tmp_path / "rows.pickle"
    panel = panel_in(state).partial_fit(first)
    before = files_in(state)
    second.to_pickle(rows)
    run = subprocess.run([sys.executable, "-c", KILLED, str(state), str(N_BUCKETS), str(rows)], cwd=tmp_path)
    assert run.returncode == -signal.SIGKILL
    left = files_in(state)
    assert len(left) == len(before) + 2
    assert left.items() >= before.items()
    panel.partial_fit(second)
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)
    assert len(list((state / "buckets").iterdir())) == 2 * N_BUCKETS


def test_repeated_task_writes_the_same(tmp_path, monkeypatch):
    first, second, last = in_three(panel_frame())
    learn = Work.learn

    def twice(work, bucket, rows):
        report = learn(work, bucket, rows)
        assert learn(work, bucket, rows) == report
        return report

    monkeypatch.setattr(Work, "learn", twice)
    panel = panel_in(tmp_path).partial_fit(first).partial_fit(second)
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


def test_concurrent_learning_is_an_error(tmp_path, monkeypatch):
    first, second, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    learn, calls = Work.learn, []

    def with_another(work, bucket, rows):
        calls.append(bucket)
        if len(calls) == 1:
            panel_in(tmp_path, keep=1).partial_fit(second)  # which removes what the other goes on from
        return learn(work, bucket, rows)

    monkeypatch.setattr(Work, "learn", with_another)
    with pytest.raises(RuntimeError, match="another process has learned"):
        panel.partial_fit(second)
    assert panel.generation_ == 2
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


def test_learning_behind_several_generations_is_an_error(tmp_path, monkeypatch):
    rows = panel_frame()
    days = [rows[rows["day"] == day] for day in sorted(rows["day"].unique())]
    panel = panel_in(tmp_path, keep=1).partial_fit(days[0])
    learn, calls = Work.learn, []

    def with_others(work, bucket, rows):
        calls.append(bucket)
        report = learn(work, bucket, rows)
        if len(calls) == 1:
            for day in days[1:4]:  # the first of these generations is removed when the others are there
                panel_in(tmp_path, keep=1).partial_fit(day)
        return report

    monkeypatch.setattr(Work, "learn", with_others)
    with pytest.raises(RuntimeError, match=r"another process has learned .* up to generation 4"):
        panel.partial_fit(days[1])
    assert panel.generation_ == 4


def test_damaged_older_generation_is_ignored(tmp_path):
    rows = panel_frame(n_series=5)
    days = [rows[rows["day"] == day] for day in sorted(rows["day"].unique())]
    panel = panel_in(tmp_path, keep=3).partial_fit(days[0]).partial_fit(days[1])
    (tmp_path / "generation-00000001.json").write_text("")
    for day in days[2:5]:
        panel.partial_fit(day)
    assert panel.generation_ == 5
    assert panel._generations.numbers() == [3, 4, 5]


def test_equal_parameters_are_the_same_panel(tmp_path):
    rows = panel_frame(n_series=5)
    panel_in(tmp_path, quantiles=[0.1, 0.9], algorithm=LongTermMemory()).partial_fit(rows)
    with config_context(print_changed_only=False):
        for quantiles in ((0.1, 0.9), np.array([0.1, 0.9])):
            again = panel_in(tmp_path, quantiles=quantiles, algorithm=LongTermMemory(prior=None))
            assert again.n_series_ == 5


OF_MAIN = """
import sys
from functools import partial
from ltm_sklearn import ExpertMixture
from ltm_sklearn.distributed import PanelMixture

def own(y, p):
    return abs(y - p)

class Own:
    def __call__(self, y, p):
        return own(y, p)

losses = {"function": own, "partial": partial(own), "object": Own(), "argument": partial(abs, Own())}
PanelMixture(ExpertMixture(series="shop", loss=losses[sys.argv[2]]), sys.argv[1]).partial_fit(None)
"""


@pytest.mark.parametrize("which", ["function", "partial", "object", "argument"])
def test_loss_of_main_is_refused(which, tmp_path):
    run = subprocess.run(
        [sys.executable, "-P", "-c", OF_MAIN, str(tmp_path), which], capture_output=True, text=True, timeout=60
    )
    assert "is of __main__, where workers do not find it: put it into a module" in run.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "loss",
    [partial(own_power, power=1.5), partial(partial(own_power, power=3.0), power=1.5), OwnPower(own_power, 1.5)],
    ids=["partial", "partial of a partial", "object"],
)
def test_loss_of_the_caller_is_trusted(loss, tmp_path):
    first, second, last = in_three(panel_frame())
    panel_in(tmp_path, loss=loss).partial_fit(first)
    panel = panel_in(tmp_path, loss=loss).partial_fit(second)
    mixture = in_memory({"loss": partial(own_power, power=1.5)}, first, second)
    assert_same_numbers(panel, panel.predict(last), mixture, last)


@pytest.mark.parametrize("loss", [lambda y, p: np.abs(y - p), partial(lambda y, p: np.abs(y - p))])
def test_loss_that_cannot_be_stored_is_refused(loss, tmp_path):
    with pytest.raises(ValueError, match=r"lambda.* cannot be written so that all can read it"):
        panel_in(tmp_path, loss=loss).partial_fit(panel_frame())
    assert list(tmp_path.iterdir()) == []


def test_state_must_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file, not a folder"):
        panel_in(tmp_path / "file").partial_fit(panel_frame())
    with pytest.raises(ValueError, match="state=None must be the path of a folder"):
        panel_in(None).partial_fit(panel_frame())


def test_failing_call_keeps_files_of_another_process(tmp_path, monkeypatch):
    first, second, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    learn, calls = Work.learn, []

    def with_another(work, bucket, rows):
        report = learn(work, bucket, rows)
        calls.append(bucket)
        if len(calls) == 2:  # when two buckets are written, which do not count yet
            with pytest.raises(ValueError, match="infinite"):
                panel_in(tmp_path).partial_fit(changed(second, "newcomer", np.inf))
        return report

    monkeypatch.setattr(Work, "learn", with_another)
    panel.partial_fit(second)
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


def test_one_of_simultaneous_processes_learns(tmp_path):
    generations = panel_in(tmp_path).partial_fit(panel_frame(n_series=2))._generations
    at_once, outcomes = threading.Barrier(4), []

    def add(last):
        at_once.wait()
        try:
            generations.add(replace(last, number=last.number + 1))
            outcomes.append("added")
        except RuntimeError:
            outcomes.append("too late")

    for _ in range(10):
        threads = [threading.Thread(target=add, args=(generations.read(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert outcomes.count("added") == 10
    assert outcomes.count("too late") == 30
    assert generations.read().number == 11
    assert {path.name[:11] for path in tmp_path.iterdir()} == {"buckets", "generation-"}


def test_tidy_keeps_files_of_running_calls(tmp_path):
    first, second, _ = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    work = replace(panel._work(panel._now()), call="another")
    assert work.learn(0, second[buckets_of(second["shop"], N_BUCKETS) == 0]).error == ""
    written = files_in(tmp_path)
    panel._generations.tidy(1, 1)
    assert files_in(tmp_path) == written
    panel.partial_fit(second)  # which was faster
    assert work.new_file(0) not in {path.name for path in files_in(tmp_path)}


def test_reading_while_another_learns(tmp_path):
    days = [of_day for _, of_day in panel_frame(n_series=4, n_times=12).groupby("day")]
    panel, numbers, errors = panel_in(tmp_path, keep=1).partial_fit(days[0]), [], []
    done = threading.Event()

    def read():
        while not done.is_set():
            try:
                numbers.append(panel_in(tmp_path, keep=1).generation_)
            except Exception as error:
                errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for rows in days[1:]:
        panel.partial_fit(rows)
    done.set()
    reader.join()
    assert errors == []
    assert numbers == sorted(numbers)


def test_predicting_from_a_removed_generation_is_an_error(tmp_path):
    rows = panel_frame(n_times=5)
    days = [of_day for _, of_day in rows.groupby("day")]
    panel = panel_in(tmp_path).partial_fit(days[0])
    work = panel._work(panel._now())  # what a cluster has been given, and has not begun with
    said = work.predict(0, days[1][days[1]["shop"].map(lambda name: bucket_of(name, N_BUCKETS)) == 0])
    panel.partial_fit(days[1])
    still = work.predict(0, days[1][days[1]["shop"].map(lambda name: bucket_of(name, N_BUCKETS)) == 0])
    np.testing.assert_array_equal(said, still)
    panel.partial_fit(days[2])
    with pytest.raises(ValueError, match=r"generation 1 in .* is gone"):
        work.predict(0, days[1])


# Errors ---------------------------------------------------------------------------------------------------------------


def changed(rows, column, value):
    return rows.assign(**{column: rows[column].astype(object).where(np.arange(len(rows)) != 7, value)})


def of_pyspark_pandas(rows):
    class DataFrame:
        columns = tuple(rows.columns)

    DataFrame.__module__ = "pyspark.pandas.frame"
    return DataFrame()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda rows: changed(rows, "model 1", np.inf), r"series 'shop-7' \(bucket \d\): column 'model 1' is infinite"),
        (lambda rows: changed(rows, "y", np.nan), r"series 'shop-7' .*y contains NaN in row 0"),
        (lambda rows: changed(rows, "model 1", "much"), r"series 'shop-7' .*'model 1' is not numeric"),
        (lambda rows: changed(rows, "shop", None), r"column 'shop' \(series=\): None is neither text"),
        (lambda rows: changed(rows, "shop", 1.5), r"column 'shop' \(series=\): 1.5 is neither text"),
        (lambda rows: changed(rows, "shop", True), r"column 'shop' \(series=\): True is neither text"),
        (
            lambda rows: changed(rows, "day", pd.NaT),
            r"series 'shop-7' \(bucket \d\): column 'day'.* has no time in row",
        ),
        (lambda rows: pd.concat([rows, rows[7:8]]), r"series 'shop-7' .*is there twice"),
        (lambda rows: rows.assign(day=rows["day"] - pd.Timedelta("99D")), "was there before, in an earlier call"),
        (lambda rows: rows.assign(day=np.arange(len(rows))), r"series 'shop-\d' .*cannot be compared with 2026-01-03"),
        (lambda rows: rows.drop(columns="shop"), r"no column 'shop' \(series=\)"),
        (lambda rows: rows.drop(columns="day"), r"no column 'day' \(time=\)"),
        (lambda rows: rows.drop(columns="y"), r"no column 'y' \(target=\)"),
        (lambda rows: rows.rename(columns={"model 1": 1}), "named by text; there is 1"),
        (lambda rows: pd.concat([rows, rows["y"]], axis=1), "two columns 'y'"),
        (lambda rows: rows[:0], "the frame has no rows"),
        (lambda rows: rows.to_dict(), "a frame of pandas, Polars, Dask, Ray or Spark is needed"),
        (of_pyspark_pandas, r"frames of pyspark\.pandas are not taken: give frame\.to_spark\(\)"),
        (lambda rows: pl.from_pandas(rows).lazy(), "a frame of pandas, Polars, Dask, Ray or Spark is needed"),
    ],
)
def test_invalid_rows_are_named_and_nothing_is_learned(wrong, message, tmp_path):
    first, second, _ = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    before = files_in(tmp_path)
    with pytest.raises(ValueError, match=message):
        panel.partial_fit(wrong(second))
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("label", [Shop.ZERO, Text("one"), PurePosixPath("one")], ids=repr)
@pytest.mark.parametrize("which", ["group", "block"])
def test_labels_that_cannot_be_stored_are_refused(which, label, tmp_path):
    first, second, last = in_three(panel_frame(n_series=4))
    panel = panel_in(tmp_path, **{which: "of it"}).partial_fit(first.assign(**{"of it": first["day"].dt.day}))
    before = files_in(tmp_path)
    wrong = second.assign(**{"of it": pd.Series([label] * len(second), dtype=object, index=second.index)})
    with pytest.raises(ValueError, match=rf"column 'of it' \({which}=\): .*{type(label).__name__}.* cannot be written"):
        panel.partial_fit(wrong)
    assert files_in(tmp_path) == before
    panel.partial_fit(second.assign(**{"of it": second["day"]}))
    assert panel.predict(last.assign(**{"of it": last["day"]}))["mixture"].notna().all()


def test_message_names_series_that_are_numbers(tmp_path):
    rows = panel_frame(n_series=3)
    rows = rows.assign(shop=rows["shop"].str.slice(5).astype(int))
    panel = panel_in(tmp_path).partial_fit(rows[:9])
    with pytest.raises(ValueError, match=r"series 1 \(bucket \d\): column 'model 1' is infinite"):
        panel.partial_fit(changed(rows[9:], "model 1", np.inf))
    with pytest.raises(ValueError, match=r"series 1 \(bucket \d\): column 'model 1' is infinite"):
        panel.predict(changed(rows[9:], "model 1", np.inf))
    with pytest.raises(ValueError, match=r"'shop' \(series=\): 1\.5 is neither"):
        panel.predict(rows[9:].assign(shop=1.5))


def test_any_expert_name_is_accepted(tmp_path):
    rows = panel_frame(n_series=2).rename(columns={"model 1": "self", "model 2": "columns"})
    panel = panel_in(tmp_path).partial_fit(rows[:6])
    without = rows[6:].drop(columns=["self", "columns"])
    mixture = in_memory({}, rows[:6])
    with_gaps = rows[6:].drop(columns="y")
    with_gaps[["self", "columns"]] = np.nan
    np.testing.assert_array_equal(panel.predict(without)["mixture"], mixture.predict(with_gaps))
    assert panel.partial_fit(without).experts_ == mixture.experts_


def test_number_and_text_are_different_series(tmp_path):
    rows = panel_frame(n_series=2)
    rows = rows.assign(shop=rows["shop"].map({"shop-0": 5, "shop-1": "5"}))
    panel = panel_in(tmp_path).partial_fit(rows[rows["shop"] == 5]).partial_fit(rows[rows["shop"] == "5"])
    assert panel.n_series_ == 2


def test_invalid_first_call_leaves_no_panel(tmp_path):
    panel = panel_in(tmp_path)
    with pytest.raises(ValueError, match="infinite"):
        panel.partial_fit(changed(panel_frame(), "model 1", np.inf))
    assert files_in(tmp_path) == {}
    with pytest.raises(NotFittedError, match="no panel in"):
        panel.predict(panel_frame())
    with pytest.raises(ValueError, match="no column of forecasts"):
        panel.partial_fit(panel_frame()[["shop", "day", "y"]])


def test_invalid_rows_to_predict_are_named(tmp_path):
    first, _, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    with pytest.raises(ValueError, match=r"series 'shop-7' \(bucket \d\): .*'model 1' is infinite"):
        panel.predict(changed(last, "model 1", np.inf))
    with pytest.raises(ValueError, match="None is neither text"):
        panel.predict(changed(last, "shop", None))
    with pytest.raises(ValueError, match="no column 'shop'"):
        panel.predict(last.drop(columns="shop"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"series": None}, "the mixture needs series="),
        ({"lag": -1}, "lag=-1"),
        ({"target": "day"}, "target='day' must be"),
        ({"series": "mixture"}, "'mixture' has the name of what is predicted"),
        ({"quantiles": [0.1], "target": "mixture_q10"}, "'mixture_q10' has the name of what is predicted"),
        ({"n_buckets": 0}, "n_buckets=0"),
        ({"keep": 0}, "keep=0"),
        ({"n_buckets": 8}, "has n_buckets=3, not 8"),
        ({"target": "z"}, "has target='y', not 'z'"),
        ({"loss": "absolute_error"}, "have loss='squared_error', not 'absolute_error'"),
    ],
)
def test_invalid_parameters_are_named(parameters, message, tmp_path):
    rows = panel_frame(n_series=5)
    panel_in(tmp_path).partial_fit(rows)
    with pytest.raises(ValueError, match=message):
        panel_in(tmp_path, **parameters).partial_fit(rows)


def test_mixture_must_be_an_expert_mixture(tmp_path):
    with pytest.raises(ValueError, match="must be an ExpertMixture"):
        PanelMixture("mixture", tmp_path).partial_fit(panel_frame())


@pytest.mark.parametrize("content", ["", "{}", '{"format": 99}', "[]"])
def test_damaged_generation_is_named(content, tmp_path):
    panel = panel_in(tmp_path).partial_fit(panel_frame(n_series=5))
    (tmp_path / "generation-00000001.json").write_text(content)
    with pytest.raises(ValueError, match=r"generation-00000001\.json is not the state of a panel"):
        panel.predict(panel_frame(n_series=5))


def test_generation_file_is_json(tmp_path):
    panel_in(tmp_path).partial_fit(panel_frame(n_series=5))
    content = json.loads((tmp_path / "generation-00000001.json").read_text())
    assert content["experts"] == [f"model {at}" for at in range(4)]
    assert sum(content["n_series"].values()) == 5


def test_folder_of_the_first_format_is_read(tmp_path):
    first, second, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    of_now = tmp_path / "generation-00000001.json"
    content = json.loads(of_now.read_text())
    del content["call"]
    of_now.write_text(json.dumps(content | {"format": 1}))
    panel.partial_fit(second)
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


def test_messages_to_workers_do_not_grow_with_buckets(tmp_path):
    rows, sent = panel_frame(n_series=300), []
    for n_buckets in (2, 200):
        panel = panel_in(tmp_path / str(n_buckets), n_buckets=n_buckets).partial_fit(rows)
        sent.append(len(pickle.dumps(panel._work(panel._now()))))
    assert sent[1] - sent[0] < 10


def test_recreated_folder_is_a_new_panel(tmp_path):
    first, second, _ = in_three(panel_frame())
    panel = panel_in(tmp_path / "state").partial_fit(first)
    work = panel._work(panel._now())
    work.load(0)
    (tmp_path / "state").rename(tmp_path / "old")
    panel.partial_fit(second)
    assert_same_numbers(panel, panel.predict(second), in_memory({}, second), second)
    with pytest.raises(ValueError, match=r"generation 1 in .* is gone"):
        work.load(0)


def test_missing_parent_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*typo to make state in"):
        panel_in(tmp_path / "typo" / "state").partial_fit(panel_frame())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_missing_extra_for_polars_is_named(missing, tmp_path, monkeypatch):
    rows = pl.from_pandas(panel_frame(n_series=2))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf"need {missing}: pip install 'ltm_sklearn\[arrow\]'"):
        panel_in(tmp_path).partial_fit(rows)


def test_missing_extra_for_clusters_is_named(tmp_path, monkeypatch):
    class DataFrame:
        columns = ("shop",)

    DataFrame.__module__ = "dask.dataframe"
    monkeypatch.setitem(sys.modules, "fugue", None)
    monkeypatch.setitem(sys.modules, "fugue.api", None)
    with pytest.raises(ImportError, match=r"ltm_sklearn\[dask,fugue\]"):
        panel_in(tmp_path).partial_fit(DataFrame())
