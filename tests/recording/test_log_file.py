"""The log file that record= names."""

import copy
import errno
import json
import logging
import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from river import linear_model
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from support.named_models import named

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots, river
from ltm_sklearn.recording import _log_file, read_log

EXPERTS = [(f"sgd{at}", SGDRegressor(eta0=0.01 * at, random_state=0)) for at in (1, 2, 3)]


def rows(n_rows=10, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    return X, X @ [1.0, -1.0]


def regressor(record, **parameters):
    return LongTermMemoryRegressor(EXPERTS, record=record, **parameters)


def learned(model, n_rounds=5, first=0):
    for seed in range(first, first + n_rounds):
        model.partial_fit(*rows(seed=seed))
    return model


def flushed(model):
    """Write the remaining records."""
    model._engine.report_status(at_the_end=True)
    return model


def same(one, other):
    """Compare two run records."""
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)
    return True


def classifier_run(path):
    X = np.random.default_rng(0).normal(size=(600, 2))
    model = LongTermMemoryClassifier(
        [("sgd", SGDClassifier(loss="log_loss", random_state=0))],
        memory=Snapshots(every=100),
        batch_size=10,
        record=path,
    )
    return model.fit(X, X[:, 0] > 0)


def river_run(path):
    model = river.LongTermMemoryRegressor(
        named([linear_model.LinearRegression(), linear_model.PARegressor()]), record=path
    )
    for x, y in zip(*rows(100), strict=True):
        model.learn_one(dict(enumerate(x)), y)
    return flushed(model)


def mixture_run(path):
    X, y = rows(300)
    X[5, 1] = np.nan
    return ExpertMixture(record=path).fit(X, y)


@pytest.mark.parametrize("run", [classifier_run, river_run, mixture_run, lambda path: regressor(path).fit(*rows(500))])
def test_log_has_the_run_record_of_the_estimator(run, tmp_path):
    model = run(tmp_path / "run.jsonl")
    log = read_log(tmp_path / "run.jsonl")
    assert same(log.run_record(), model.run_record())
    assert log.header["estimator"] == type(model).__name__
    assert log.now.row == model.n_samples_seen_
    assert log.now.experts == len(model.experts_)
    assert all(then <= now for then, now in zip(log.moments, log.moments[1:], strict=False))
    assert log.header["started"] <= log.moments[0] <= time.time()


def test_log_of_a_mixture_has_the_times_of_rows(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = rows(50)
    for index in (pandas.date_range("2024-03-01", periods=50, freq="h"), None):
        frame = pandas.DataFrame(X, columns=["a", "b"], index=index)
        mixture = ExpertMixture(record=tmp_path / "run.jsonl").fit(frame, y)
        assert same(read_log(tmp_path / "run.jsonl").run_record(), mixture.run_record())
    frame["t"] = np.arange(50) / 4
    mixture = ExpertMixture(record=tmp_path / "run.jsonl", time="t").fit(frame, y)
    assert read_log(tmp_path / "run.jsonl").run_record().times.tolist() == frame["t"].tolist()


def test_log_of_a_mixture_has_new_experts(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = rows(40)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    mixture = ExpertMixture(record=tmp_path / "run.jsonl").fit(frame[["a"]][:20], y[:20])
    mixture.partial_fit(frame[20:], y[20:])
    mixture._callback.report(2, 0, at_the_end=True)
    assert same(read_log(tmp_path / "run.jsonl").run_record(), mixture.run_record())


def test_record_number_and_path_give_the_same_history(tmp_path):
    in_file, in_memory = learned(regressor(tmp_path / "run.jsonl")), learned(regressor(1000))
    assert in_file.history_ == in_memory.history_
    np.testing.assert_array_equal(in_file.predict(rows()[0]), in_memory.predict(rows()[0]))


def test_log_is_bounded_and_covers_the_whole_stream(tmp_path, monkeypatch):
    monkeypatch.setattr("ltm_sklearn.recording._callback.N_RECORDS", 10)
    monkeypatch.setattr(_log_file, "MOST_LINES", 30)
    monkeypatch.setattr(_log_file, "SHARE", np.inf)  # each round is written
    path, model = tmp_path / "run.jsonl", None
    model = regressor(path, memory=None)
    most = 0
    for seed in range(150):
        model.partial_fit(*rows(seed=seed))
        if seed:
            most = max(most, len(path.read_text().splitlines()))
            assert read_log(path).now.row == 10 * (seed + 1)
    assert same(read_log(path).run_record(), model.run_record())
    assert 10 < most <= 31
    assert len(read_log(path).records) <= 10
    assert os.listdir(tmp_path) == ["run.jsonl"]


def test_incomplete_last_line_is_ignored(tmp_path):
    path = tmp_path / "run.jsonl"
    regressor(path).fit(*rows(1000))
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1  # of the last line
    before = read_log(path)
    for cut in (start + 1, start + 50, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert read_log(path).records == before.records[:-1]
    path.write_bytes(whole[: whole.index(b"\n") + 10])
    with pytest.raises(ValueError, match="no record of a round"):
        read_log(path)


def test_damaged_line_is_named(tmp_path):
    path = tmp_path / "run.jsonl"
    regressor(path).fit(*rows(1000))
    lines = path.read_text().splitlines(keepends=True)
    for bad in ("{\n", "[1]\n", '{"round": 3}\n', "\n", lines[2].replace('"loss"', '"lust"')):
        path.write_text("".join([*lines[:2], bad, *lines[3:]]))
        with pytest.raises(ValueError, match=r"line 3 of .*run\.jsonl is damaged"):
            read_log(path)


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", '{"log": "mine"}\n', "[]\n", '{"log": "ltm_sklearn", "format": 2}\n']
)
def test_other_files_are_neither_read_nor_replaced(text, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"data\.csv (is no log|has format 2)"):
        read_log(path)
    if text:
        with pytest.raises(ValueError, match=r"record=.*data\.csv.* is not replaced"):
            regressor(path).fit(*rows())
        assert path.read_text() == text


def test_path_that_cannot_be_written_is_an_error_at_once(tmp_path):
    for path, words in (
        (tmp_path / "nowhere" / "run.jsonl", "there is no folder .*nowhere"),
        (tmp_path, "is no file"),
        (os.devnull, "is no file"),
    ):
        for model in (regressor(path), ExpertMixture(record=path)):
            with pytest.raises(ValueError, match=f"record=.*{words}"):
                model.partial_fit(*rows())
            assert not model.__sklearn_is_fitted__()
        model = river.LongTermMemoryRegressor(named([linear_model.LinearRegression()]), record=path)
        with pytest.raises(ValueError, match=f"record=.*{words}"):
            model.learn_one({"a": 1.0}, 1.0)
        assert not hasattr(model, "_engine")


@pytest.mark.parametrize("record", ["", b"run.jsonl", 0, -1, 1.5, True, ["run.jsonl"]])
def test_record_must_be_a_number_or_a_path(record):
    for model in (regressor(record), ExpertMixture(record=record)):
        with pytest.raises(ValueError, match="record="):
            model.fit(*rows())


def test_log_file_is_for_one_series(tmp_path):
    with pytest.raises(ValueError, match="a file is for one series"):
        ExpertMixture(record=tmp_path / "run.jsonl", series="shop").fit(*rows())


def test_fit_replaces_a_log_unless_it_fails(tmp_path):
    path = tmp_path / "run.jsonl"
    regressor(path).fit(*rows(1000))
    first = path.read_text()
    model = regressor(path)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((10, 2), np.nan), np.ones(10))
    assert path.read_text() == first
    model.fit(*rows(300))
    assert read_log(path).now.row == 300


def test_run_continues_in_another_process_with_the_same_file(tmp_path):
    path, saved = tmp_path / "run.jsonl", tmp_path / "model.pickle"
    model = flushed(learned(regressor(path)))
    saved.write_bytes(pickle.dumps(model))
    script = (
        "import pickle, sys, numpy as np\n"
        f"model = pickle.load(open({str(saved)!r}, 'rb'))\n"
        "X = np.ones((10, 2)); model.partial_fit(X, X[:, 0])\n"
    )
    subprocess.run([sys.executable, "-P", "-c", script], check=True, cwd=tmp_path)
    log = read_log(path)
    assert log.now.row == 60
    assert [record.row for record in log.records] == [20, 30, 40, 50, 60]
    assert log.header["process"] != os.getpid()
    assert log.header["started"] == model._engine.callback.log.about["started"]


def test_last_run_to_start_owns_the_file(tmp_path, caplog):
    path = tmp_path / "run.jsonl"
    first, second = flushed(learned(regressor(path))), flushed(learned(regressor(path)))
    with pytest.warns(RuntimeWarning, match="another estimator, or a copy, records to .*run.jsonl now"):
        flushed(learned(first, 3))
    flushed(learned(first, 3))  # no further warning
    assert sum("written no longer" in record.getMessage() for record in caplog.records) == 1
    flushed(learned(second, 1, first=5))
    assert same(read_log(path).run_record(), second.run_record())
    assert len(first.history_) == 10


def test_copy_that_learns_takes_the_file_over(tmp_path):
    path = tmp_path / "run.jsonl"
    model = flushed(learned(regressor(path)))
    idle = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    flushed(learned(model, 2, first=5))
    del idle
    assert same(read_log(path).run_record(), model.run_record())
    copied = copy.deepcopy(model)
    flushed(learned(copied, 2, first=7))
    assert same(read_log(path).run_record(), copied.run_record())
    with pytest.warns(RuntimeWarning, match="written no longer"):
        flushed(learned(model, 1))


def test_search_leaves_the_log_of_the_refitted_model(tmp_path):
    path = tmp_path / "run.jsonl"
    search = GridSearchCV(regressor(path, memory=None), {"combine": ["average", "leader"]}, cv=2).fit(*rows(400))
    assert same(read_log(path).run_record(), search.best_estimator_.run_record())
    assert clone(search.best_estimator_).record == path


@pytest.mark.exhaustive
def test_log_is_readable_while_two_processes_write(tmp_path):
    path = tmp_path / "run.jsonl"
    script = (
        "import sys, warnings, numpy as np\n"
        "from sklearn.linear_model import SGDRegressor\n"
        "from ltm_sklearn import LongTermMemoryRegressor\n"
        "warnings.simplefilter('ignore')\n"
        "X = np.random.default_rng(0).normal(size=(5, 2))\n"
        "for fit in range(4):\n"
        f"    model = LongTermMemoryRegressor([('sgd', SGDRegressor())], memory=None, record={str(path)!r})\n"
        "    for at in range(60):\n"
        "        model.partial_fit(X, X[:, 0])\n"
    )
    writers = [subprocess.Popen([sys.executable, "-P", "-c", script], cwd=tmp_path) for _ in range(2)]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            log = read_log(path)
            seen.add((log.header["process"], log.now.row))
        time.sleep(0.002)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(seen) > 5
    ends = [record.row for record in read_log(path).records]
    assert ends == sorted(set(ends))
    assert os.listdir(tmp_path) == ["run.jsonl"]


def test_full_disk_causes_one_warning(tmp_path, monkeypatch, caplog):
    path = tmp_path / "run.jsonl"
    model, twin = flushed(learned(regressor(path))), learned(regressor(100))
    write, full = os.write, True

    def short(file, data):
        if not full:
            return write(file, data)
        if len(data) > 40:
            return write(file, data[:40])  # the disk is full in the middle of a line
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", short)
    monkeypatch.setattr(_log_file, "RETRY", 0.0)
    with pytest.warns(RuntimeWarning, match="could not be written: .*No space left") as caught:
        flushed(learned(model, 5, first=5))
    assert len(caught) == 1
    assert len(read_log(path).records) == 4  # what was there before; the rest of a line is passed over
    full = False
    with caplog.at_level(logging.INFO, logger="ltm_sklearn"):
        flushed(learned(model, 5, first=10))
    assert "is written again" in caplog.text
    assert same(read_log(path).run_record(), model.run_record())
    assert learned(twin, 10, first=5).history_ == model.history_
    assert os.listdir(tmp_path) == ["run.jsonl"]


@pytest.mark.parametrize(
    "harm", [os.remove, lambda path: open(path, "w").close(), lambda path: os.truncate(path, 2000)]
)
def test_removed_or_truncated_file_is_rewritten(harm, tmp_path):
    path = tmp_path / "run.jsonl"
    model = flushed(learned(regressor(path)))
    harm(path)
    flushed(learned(model, 1, first=5))
    assert same(read_log(path).run_record(), model.run_record())


def test_foreign_file_that_appears_is_not_replaced(tmp_path):
    path = tmp_path / "run.jsonl"
    model = flushed(learned(regressor(path)))
    path.write_text("mine\n")
    with pytest.warns(RuntimeWarning, match="written no longer: .* is no log"):
        flushed(learned(model, 2, first=5))
    assert path.read_text() == "mine\n"


def test_last_records_are_written_when_the_estimator_is_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(_log_file, "SHARE", 1e-9)  # after the first writing, there is none for a long time
    path = tmp_path / "run.jsonl"
    model = learned(regressor(path, memory=None))
    assert read_log(path).now.row == 20
    del model
    assert read_log(path).now.row == 50


def test_symbolic_link_is_kept(tmp_path):
    (tmp_path / "logs").mkdir()
    link = tmp_path / "run.jsonl"
    link.symlink_to(tmp_path / "logs" / "real.jsonl")
    regressor(link).fit(*rows(300))
    assert link.is_symlink()
    assert read_log(tmp_path / "logs" / "real.jsonl").now.row == 300


def test_log_is_json_without_nan(tmp_path):
    path = tmp_path / "run.jsonl"
    model = regressor(path, feedback="bandit", memory=None)
    model.fit(*rows(500))

    def refuse(name):
        raise AssertionError(name)

    lines = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    assert lines[0]["log"] == "ltm_sklearn"
    assert lines[1]["uniform"] is None
    assert np.isnan(read_log(path).now.uniform)


def test_record_set_during_a_run_applies_at_the_next_fit():
    frames = pytest.importorskip("pandas")

    def of_shop(shop):
        X, y = rows()
        return frames.DataFrame({"shop": shop, "a": X[:, 0], "b": X[:, 1]}), y

    mixture = ExpertMixture(series="shop")
    for shop in "ab":
        mixture.partial_fit(*of_shop(shop))
    mixture.set_params(record=10).partial_fit(*of_shop("b"))
    with pytest.raises(ValueError, match="record"):
        mixture.run_record(series="b")
    mixture.fit(*of_shop("b"))
    assert len(mixture.run_record(series="b").loss) == 10
