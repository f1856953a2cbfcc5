"""Panels on local clusters: same numbers as in one process, also when a worker is killed in the middle."""

import os
import signal
import threading
import time

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from support.panels import assert_same_numbers, in_memory, in_three, panel_frame

from ltm_sklearn import ExpertMixture
from ltm_sklearn.distributed import PanelMixture

# warnings of the clusters' own, which are not ours to answer for
pytestmark = pytest.mark.filterwarnings("default")


def panel_in(folder, n_buckets=7, **parameters):
    return PanelMixture(ExpertMixture(series="shop", time="day", **parameters), folder, n_buckets=n_buckets)


def test_the_numbers_are_those_of_one_mixture_in_memory(cluster, tmp_path):
    first, second, last = in_three(panel_frame())
    panel_in(tmp_path).partial_fit(cluster.frame(first))
    panel = panel_in(tmp_path).partial_fit(cluster.frame(second.sample(frac=1.0, random_state=0)))
    said = panel.predict(cluster.frame(last))
    assert type(said) is type(cluster.frame(last)) or "ray" in type(said).__module__  # a dataset, computed or not
    assert_same_numbers(panel, cluster.collect(said), in_memory({}, first, second), last)


def test_quantiles_have_a_column_each_and_whole_numbers_can_be_the_names_of_series(cluster, tmp_path):
    rows = panel_frame(n_series=6)
    rows = rows.assign(shop=rows["shop"].str.slice(5).astype(int) - 3)
    panel = panel_in(tmp_path, quantiles=[0.1, 0.975]).partial_fit(cluster.frame(rows))
    said = cluster.collect(panel.predict(cluster.frame(rows.drop(columns="y")))).sort_values(["day", "shop"])
    assert list(said.columns) == ["shop", "day", "mixture_q10", "mixture_q97_5"]
    mixture = in_memory({"quantiles": [0.1, 0.975]}, rows)
    expected = mixture.predict(rows.sort_values(["day", "shop"]).drop(columns="y"))
    np.testing.assert_array_equal(said.iloc[:, 2:], expected)


def test_zoned_times_fall_into_the_hours_of_their_zone(cluster, tmp_path):
    rows = panel_frame(n_series=3, n_times=30)
    rows = rows.assign(day=np.repeat(pd.date_range("2026-03-28 12:00", periods=30, freq="h", tz="Europe/Berlin"), 3))
    frame = cluster.frame(rows)
    if "pyspark" in type(frame).__module__:
        pytest.skip("Spark drops the zone of times, as is documented")
    panel = panel_in(tmp_path / "there", group="hour").partial_fit(frame)
    here = panel_in(tmp_path / "here", group="hour").partial_fit(rows)
    by = ["shop", "hour"]
    there = panel.weights().sort_values(by, ignore_index=True)
    pd.testing.assert_frame_equal(
        there, here.weights().sort_values(by, ignore_index=True), check_exact=True, check_dtype=False
    )
    said = cluster.collect(panel.predict(frame))
    said = said.assign(day=pd.to_datetime(said["day"], utc=True)).sort_values(["day", "shop"])
    np.testing.assert_array_equal(said["mixture"], here.predict(rows).sort_values(["day", "shop"])["mixture"])


def test_categories_can_be_the_names_of_series_and_a_part_may_have_no_rows(cluster, tmp_path):
    rows = panel_frame(n_series=4)
    frame = cluster.frame(rows.assign(shop=rows["shop"].astype("category")))
    if "ray" in type(frame).__module__:
        pytest.skip("Fugue takes no categories of Ray")
    if "dask" in type(frame).__module__:
        import dask.dataframe as dd

        frame = dd.concat([frame, frame[frame["y"] > 1e9]])
    panel = panel_in(tmp_path, n_buckets=2).partial_fit(frame)
    assert set(panel.weights()["shop"]) == set(rows["shop"])
    said = cluster.collect(panel.predict(frame)).sort_values(["day", "shop"])["mixture"]
    expected = in_memory({}, rows).predict(rows.sort_values(["day", "shop"]).drop(columns="y"))
    np.testing.assert_array_equal(said, expected)


def test_categories_of_dask_that_are_not_known_are_what_they_stand_for(cluster, tmp_path):
    rows = panel_frame(n_series=4)
    rows = rows.assign(shop=rows["shop"].str.slice(5).astype(int))
    frame = cluster.frame(rows[12:])
    if "dask" not in type(frame).__module__:
        pytest.skip("only Dask has such categories")
    frame = frame.astype({"shop": "category"})
    assert not frame["shop"].cat.known
    panel = panel_in(tmp_path, n_buckets=2).partial_fit(rows[:12]).partial_fit(frame)
    assert sorted(panel.weights()["shop"]) == [0, 1, 2, 3]
    said = cluster.collect(panel.predict(frame)).sort_values(["day", "shop"])["mixture"]
    np.testing.assert_array_equal(said, in_memory({}, rows).predict(rows[12:].drop(columns="y")))


def test_a_series_whose_name_has_become_text_is_refused(cluster, tmp_path):
    rows = panel_frame(n_series=3)
    as_numbers = rows.assign(shop=rows["shop"].str.slice(5).astype(int))
    as_texts = rows.assign(shop=rows["shop"].str.slice(5))
    panel = panel_in(tmp_path).partial_fit(as_numbers[:9])
    message = "there is a series [012], and '[012]' would be another one: give column 'shop'"
    with pytest.raises(ValueError, match=message):
        panel.partial_fit(cluster.frame(as_texts[9:]))
    with pytest.raises(Exception, match=message):
        cluster.collect(panel.predict(cluster.frame(as_texts[9:])))
    assert panel.generation_ == 1


def test_a_frame_without_rows_is_named(cluster, tmp_path):
    frame = cluster.frame(panel_frame(n_series=3))
    is_ray = "ray" in type(frame).__module__
    none = frame.filter(lambda row: row["y"] > 1e9) if is_ray else frame[frame["y"] > 1e9]
    with pytest.raises(ValueError, match="the frame has no rows"):
        panel_in(tmp_path).partial_fit(none)


def test_errors_on_workers_come_back_with_the_series(cluster, tmp_path):
    first, second, last = in_three(panel_frame())
    panel = panel_in(tmp_path).partial_fit(first)
    wrong = second.assign(newcomer=second["newcomer"].where(np.arange(len(second)) != 7, np.inf))
    with pytest.raises(ValueError, match=r"series 'shop-7' \(bucket \d\): column 'newcomer' is infinite in row 0"):
        panel.partial_fit(cluster.frame(wrong))
    nameless = second.assign(shop=second["shop"].where(np.arange(len(second)) != 7, None))
    with pytest.raises(ValueError, match="is neither text nor a whole number"):
        panel.partial_fit(cluster.frame(nameless))
    with pytest.raises(Exception, match="'model 1' is infinite"):
        cluster.collect(panel.predict(cluster.frame(last.assign(**{"model 1": np.inf}))))
    assert panel.generation_ == 1
    panel.partial_fit(cluster.frame(second))  # after a frame of pandas
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a,b:c", "'a,b:c'.* is a name that Fugue does not take"),
        ("a\tb", r"column 'a\\tb' has a tab or a newline in its name"),
        ("a\nb", r"column 'a\\nb' has a tab or a newline in its name"),
    ],
)
def test_names_that_fugue_does_not_take_are_named_on_dask(name, message, tmp_path):
    rows = panel_frame(n_series=5).rename(columns={"model 1": name})
    with pytest.raises(ValueError, match=message):
        panel_in(tmp_path).partial_fit(dd.from_pandas(rows, npartitions=2))
    assert not list(tmp_path.glob("generation-*"))


def test_an_index_with_a_name_is_named_on_dask(tmp_path):
    frame = dd.from_pandas(panel_frame(n_series=5).rename_axis("place"), npartitions=2)
    with pytest.raises(ValueError, match="index has the name 'place', which Fugue does not take"):
        panel_in(tmp_path).partial_fit(frame)
    assert not list(tmp_path.glob("generation-*"))


def test_without_times_the_rows_have_no_order(cluster, tmp_path):
    panel = PanelMixture(ExpertMixture(series="shop"), tmp_path)
    with pytest.raises(ValueError, match="give the mixture time="):
        panel.partial_fit(cluster.frame(panel_frame(n_series=3).drop(columns="day")))


class Killer(threading.Thread):
    """Kills a worker when the first buckets of a call are written."""

    def __init__(self, cluster, folder, after):
        super().__init__(daemon=True)
        self.cluster, self.folder, self.after = cluster, folder, after
        self.killed, self.written = None, None

    def run(self):
        before = self.count()
        patience = time.monotonic() + 60.0
        while self.killed is None and time.monotonic() < patience:
            if self.count() - before >= self.after and (pids := self.cluster.workers()):
                os.kill(pids[0], signal.SIGKILL)
                self.killed, self.written = pids[0], self.count() - before
            time.sleep(0.002)

    def count(self):
        return len(list((self.folder / "buckets").glob("*.ltm")))


def test_a_worker_that_is_killed_in_the_middle_changes_no_number(cluster, tmp_path):
    n_buckets = 40
    first, second, last = in_three(panel_frame(n_series=800, n_times=6))
    panel = panel_in(tmp_path, n_buckets=n_buckets).partial_fit(first)
    frame = cluster.frame(second)
    killer = Killer(cluster, tmp_path, after=2)
    killer.start()
    panel.partial_fit(frame)  # the cluster does again what was lost
    killer.join()
    assert killer.killed is not None
    assert 2 <= killer.written < n_buckets
    assert panel.generation_ == 2
    assert_same_numbers(panel, panel.predict(last), in_memory({}, first, second), last)
    print(f"killed with {killer.written} of {n_buckets} buckets written")
