"""Status lines, and events on the standard logger."""

import logging
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

from ltm_sklearn import ExpertMixture, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.engine import QUIET_ROUNDS
from ltm_sklearn.recording import Record, _callback
from ltm_sklearn.recording._run_status import Now, RunStatus, pace_called


def rows(n_rows=10, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    return X, X @ [1.0, -1.0]


def regressor(**parameters):
    return LongTermMemoryRegressor([("sgd", SGDRegressor(random_state=0))], **parameters)


def test_status_line():
    now = Now(12_400, 1240, 0.1124, 0.1452, "bayes@3", 0.61, 11_580, 7, 4, 310.2)
    assert str(now) == (
        "row 12,400 (1,240 rounds): loss 0.112, plain mean 0.145, led by bayes@3 (61%) for 820 rows, 7 experts, "
        "4 remembered, 310 rows/s"
    )
    short = now._replace(round=12_400, uniform=np.nan, since=12_399, experts=1, remembered=0, pace=np.nan)
    assert str(short) == "row 12,400: loss 0.112, led by bayes@3 (61%) for 1 row, 1 expert"
    assert [pace_called(pace) for pace in (12_345.0, 2.5, 0.5, 0.001)] == [
        "12,345 rows/s",
        "2.5 rows/s",
        "30 rows/min",
        "3.6 rows/h",
    ]


def test_status_has_recent_losses_and_the_leader():
    status = RunStatus()
    for at in range(1, 301):
        weights = {"a": 0.8, "b": 0.2} if at <= 120 else {"a": 0.3, "b": 0.7}
        status.add(Record(at, 1, float(at <= 150), weights, {}, 10 * at, 10, 2.0), 100.0 + at)
    now = status.now(400.0)
    assert (now.loss, now.uniform, now.leader, now.share, now.since) == (0.0, 2.0, "b", 0.7, 1200)
    assert now.pace == pytest.approx(10.0)
    status.add(Record(301, 1, 1.0, {"a": 0.3, "b": 0.7}, {}, 3010, 10, 2.0), 401.0)
    assert status.now(401.0).loss == pytest.approx(0.01)


def test_lines_are_printed_when_rounds_double_or_after_a_minute(capsys, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(_callback.time, "monotonic", lambda: clock[0])
    model = regressor(verbose=1, memory=None)
    for seed in range(40):
        model.partial_fit(*rows(seed=seed))
    told = [int(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert told == [20, 40, 80, 160, 320]  # the first round is not predicted by anyone
    model.partial_fit(*rows())
    assert capsys.readouterr().out == ""
    clock[0] += 61.0
    model.partial_fit(*rows())
    assert capsys.readouterr().out.startswith("row 420 (42 rounds): loss ")


def test_verbose_two_prints_each_round(capsys):
    for verbose, n_lines in ((0, 0), (2, 5), (True, 3)):
        regressor(verbose=verbose, batch_size=10).fit(*rows(60))
        assert len(capsys.readouterr().out.splitlines()) == n_lines
    model = regressor().partial_fit(*rows())
    model.set_params(verbose=2).partial_fit(*rows())
    assert "led by" in capsys.readouterr().out


def test_expert_mixture_prints_lines(capsys):
    X, y = rows(200)
    mixture = ExpertMixture(verbose=1).fit(X, y)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("row 200: loss ")
    assert "2 experts" in line
    mixture.partial_fit(X, y)
    mixture.partial_fit(X[:5], y[:5])
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["row 400"]


def test_verbose_does_not_change_the_results(capsys):
    quiet, loud = regressor(batch_size=10).fit(*rows(500)), regressor(batch_size=10, verbose=2).fit(*rows(500))
    np.testing.assert_array_equal(quiet.predict(rows()[0]), loud.predict(rows()[0]))
    with pytest.raises(AttributeError, match="no history_"):
        loud.history_  # noqa: B018
    assert len(capsys.readouterr().out.splitlines()) == 49


@pytest.mark.parametrize("verbose", [-1, 0.5, "loud", None])
def test_verbose_must_be_a_number(verbose):
    for model in (regressor(verbose=verbose), ExpertMixture(verbose=verbose)):
        with pytest.raises(ValueError, match=f"verbose={verbose!r}"):
            model.fit(*rows())


@pytest.mark.parametrize("model", [regressor(), ExpertMixture()])
def test_invalid_verbose_during_a_run_changes_nothing(model):
    model.partial_fit(*rows()).set_params(verbose="loud")
    with pytest.raises(ValueError, match="verbose='loud'"):
        model.partial_fit(*rows())
    assert model.n_samples_seen_ == 10
    assert model.set_params(verbose=0).partial_fit(*rows()).n_samples_seen_ == 20


# Events -----------------------------------------------------------------------------------------------------------


def test_snapshots_are_logged(caplog):
    caplog.set_level(logging.INFO, logger="ltm_sklearn")
    model = regressor(memory=Snapshots(every=20, max_size=2, merge=None, on_drift=False), batch_size=10).fit(*rows(80))
    assert [record.getMessage() for record in caplog.records if "dropped" not in record.getMessage()] == [
        f"row {at}: snapshot sgd@{at}" for at in (20, 40, 60, 80)
    ]
    assert sum("dropped: mean weight" in record.getMessage() for record in caplog.records) == 2
    caplog.clear()
    model.set_params(memory=Snapshots(every=20, merge=0.0)).fit(*rows(200))
    assert "replaces sgd@" in caplog.text or "is as good" in caplog.text


def test_alarms_are_logged(caplog):
    caplog.set_level(logging.INFO, logger="ltm_sklearn")
    model = regressor(memory=Snapshots(every=None), rounds="batch")
    for seed in range(100):
        X, y = rows(seed=seed)
        model.partial_fit(X, y if seed < 60 else -5.0 * y)
    alarms = [record.getMessage() for record in caplog.records if "alarm" in record.getMessage()]
    assert alarms
    assert 600 < int(alarms[0].split()[1].rstrip(":")) <= 700


class Fails(SGDRegressor):
    """Regressor that fails in some rows."""

    def predict(self, X):
        if (X > 90.0).any():
            raise ArithmeticError("too hot")
        return super().predict(X)


def test_failure_and_recovery_are_logged_once(caplog):
    caplog.set_level(logging.INFO, logger="ltm_sklearn")
    model = LongTermMemoryRegressor(
        [("good", SGDRegressor(random_state=0)), ("bad", Fails(random_state=0))], memory=None, loss="absolute_error"
    )
    X, y = rows()
    model.partial_fit(X, y)
    hot = np.where(np.arange(10)[:, np.newaxis] == 3, 99.0, X)
    with pytest.warns(UserWarning, match="'bad' could not predict and slept: ArithmeticError: too hot"):
        model.partial_fit(hot, y)
    model.partial_fit(hot, y)
    for _ in range(QUIET_ROUNDS + 5):
        model.partial_fit(X[:1], y[:1])
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "row 20: expert 'bad' could not predict and slept: ArithmeticError: too hot"),
        ("INFO", f"row {30 + QUIET_ROUNDS}: expert 'bad' has not failed to predict for {QUIET_ROUNDS} rounds"),
    ]


def test_new_experts_of_a_mixture_are_logged(caplog):
    pandas = pytest.importorskip("pandas")
    caplog.set_level(logging.INFO, logger="ltm_sklearn")
    X, y = rows(40)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    ExpertMixture().fit(frame[["a"]][:20], y[:20]).partial_fit(frame[20:], y[20:])
    assert [record.getMessage() for record in caplog.records] == ["row 40: new experts ['b']"]


def test_logger_is_silent_without_a_handler():
    script = (
        "import logging, ltm_sklearn\n"
        "logger = logging.getLogger('ltm_sklearn')\n"
        "assert [type(handler) for handler in logger.handlers] == [logging.NullHandler]\n"
        "assert logger.level == logging.NOTSET\n"
        "logger.warning('not to be seen')\n"
    )
    run = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == run.stderr == ""
