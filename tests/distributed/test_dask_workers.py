"""Experts on Dask workers: results of a local pool, one batch per worker, and lost, late or missing workers."""

import asyncio
import copy
import gc
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from river import preprocessing
from river.linear_model import LinearRegression as RiverRegression
from river.tree import HoeffdingTreeClassifier
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor
from support.dask_experts import Locked, Refusing, Sluggish, copied_slowly

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.ensemble import ExpertWarning

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
from ltm_sklearn.distributed import DaskWorkers, OnWorker  # noqa: E402

pytestmark = pytest.mark.fast_cases(1)

CLASSES = [False, True]


@pytest.fixture(scope="module")
def cluster():
    # Dask gives up a worker that has been killed twice within this time
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def client(cluster):
    """Two workers: one that a test has killed is back."""
    deadline = time.monotonic() + 60.0
    while len(cluster.nthreads()) != 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return cluster


def classifiers():
    return [
        ("bayes", GaussianNB()),
        ("forest", RandomForestClassifier(3, random_state=0)),
        ("labels", Perceptron(random_state=0)),
        ("river", HoeffdingTreeClassifier()),
    ]


def batches(n_batches, seed=0, n_rows=40):
    rng = np.random.default_rng(seed)
    for at in range(n_batches):
        X = rng.normal(size=(n_rows, 3))
        yield X, (X[:, 0] > 0.0) ^ (at // 10 % 2 == 1)


def trained(ensemble, n_batches=3):
    for X, y in batches(n_batches):
        ensemble.partial_fit(X, y, classes=CLASSES)
    return ensemble


def kill_worker_of(client, expert):
    """Kill -9; returns when it is known."""
    address = expert.remote.connection.address
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    while expert.remote.connection is not None and not expert.remote.connection.is_lost:
        time.sleep(0.01)


def models_on(workers):
    """The keys of all models on the workers."""
    return {key for connection in workers._connections.values() for key in connection.actor.keys().result(timeout=10)}


def recorded(function, *arguments, **params):
    """What a call returns, and the messages of the experts' warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ExpertWarning)
        result = function(*arguments, **params)
    return result, [str(warning.message) for warning in caught]


# The same numbers ------------------------------------------------------------------------------------------------


def test_a_classifier_gives_the_same_results_as_locally(client):
    workers = DaskWorkers(client)
    there = LongTermMemoryClassifier(workers.experts(classifiers()), random_state=0)
    here = LongTermMemoryClassifier(classifiers(), random_state=0)
    for X, y in batches(14):
        for ensemble in (there, here):
            ensemble.partial_fit(X, y, classes=CLASSES)
        np.testing.assert_array_equal(there.weights_, here.weights_)
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))
    assert [expert.name for expert in there.experts_] == [expert.name for expert in here.experts_]
    assert any(expert.kind == "snapshot" for expert in there.experts_)
    assert {len(connection.keys) > 0 for connection in workers._connections.values()} == {True}
    assert len(workers._connections) == 2


def test_a_regressor_on_frames_gives_the_same_results_as_locally(client):
    pool = [
        ("sgd", SGDRegressor(random_state=0)),
        ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
        ("river", preprocessing.StandardScaler() | RiverRegression()),
    ]
    there = LongTermMemoryRegressor(DaskWorkers(client).experts(pool), random_state=0)
    here = LongTermMemoryRegressor(pool, random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(8):
        X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
        y = 3.0 * X["a"].to_numpy() + rng.normal(size=60)
        for ensemble in (there, here):
            ensemble.partial_fit(X, y)
        np.testing.assert_array_equal(there.predict(X), here.predict(X))


def test_sample_weight_and_bandit_feedback_give_the_same_results(client):
    pool = classifiers()[:2]
    mixed = [*DaskWorkers(client).experts(pool[:1]), *DaskWorkers(client).experts(pool[1:]), ("sgd", SGDClassifier())]
    settings = {"feedback": "bandit", "n_queries": 2, "random_state": 0}
    there = LongTermMemoryClassifier(mixed, **settings).set_params(sgd=SGDClassifier(random_state=0))
    here = LongTermMemoryClassifier([*pool, ("sgd", SGDClassifier(random_state=0))], **settings)
    weights = np.linspace(0.5, 2.0, 40)
    for X, y in batches(6):
        for ensemble in (there, here):
            ensemble.partial_fit(X, y, classes=CLASSES, sample_weight=weights)
        np.testing.assert_array_equal(there.weights_, here.weights_)
    unweighted = LongTermMemoryClassifier(DaskWorkers(client).experts([("near", KNeighborsClassifier())]))
    with pytest.raises(ValueError, match=r"expert 'near' .* takes no sample_weight"):
        unweighted.partial_fit(X, y, classes=CLASSES, sample_weight=weights)


def test_a_frozen_expert_is_not_trained(client):
    X, y = next(batches(1))
    frozen = GaussianNB().fit(X, y)
    pool = [("frozen", FrozenEstimator(frozen)), ("bayes", GaussianNB())]
    there = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(pool), random_state=0), 6)
    here = trained(LongTermMemoryClassifier(pool, random_state=0), 6)
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))
    np.testing.assert_array_equal(there.named_estimators_["frozen"].fetch().theta_, frozen.theta_)


def test_errors_of_an_expert_are_the_same_as_locally(client):
    pool = [("bayes", GaussianNB()), ("refusing", Refusing())]
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(pool)))
    X, y = next(batches(1))
    X[0] = 1000.0
    _, messages = recorded(ensemble.partial_fit, X, y)
    assert "expert 'refusing' could not learn and slept: ValueError: too large for me" in messages
    strict = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(pool), on_error="raise"))
    before = strict.predict_proba(X)
    with pytest.raises(ValueError, match="too large for me"):
        strict.partial_fit(X, y)
    np.testing.assert_array_equal(strict.predict_proba(X), before)


def ending(where, error):
    """Naive Bayes that would end its process once it has learned twice; of a class that goes to workers as it is."""

    class Ending(GaussianNB):
        n_learned_ = 0

        def end(self, here):
            if here == where and self.n_learned_ >= 2:
                raise error("enough")

        def partial_fit(self, X, y, classes=None, sample_weight=None):
            self.end("learn")
            self.n_learned_ += 1
            return super().partial_fit(X, y, classes, sample_weight)

        def predict_proba(self, X):
            self.end("predict")
            return super().predict_proba(X)

        def __getstate__(self):
            self.end("be pickled")
            return super().__getstate__()

    return Ending()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError])
@pytest.mark.parametrize("where", ["predict", "learn", "be pickled"])
def test_an_expert_that_raises_an_exit_fails_alone(client, error, where):
    pool = [("ending", ending(where, error)), ("bayes", GaussianNB()), ("other", GaussianNB(var_smoothing=0.1))]
    workers = DaskWorkers(client, workers=[next(iter(client.nthreads()))], checkpoint_every=2, timeout=10.0)
    ensemble = LongTermMemoryClassifier(workers.experts(pool), memory=None)
    recorded(trained, ensemble, 2)
    X, y = next(batches(1, seed=1))
    _, messages = recorded(ensemble.partial_fit, X, y)
    assert messages
    assert all(f"{error.__name__}: enough" in message for message in messages)
    assert all("'ending'" in message or "no new checkpoint" in message for message in messages)
    assert ensemble.named_estimators_["bayes"].fetch().class_count_.sum() == 120.0  # nothing was lost
    assert len(client.nthreads()) == 2


def test_the_client_may_be_another_than_the_current_one(client):
    settings = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(**settings, set_as_default=False) as other:
        assert distributed.default_client() is client
        workers = DaskWorkers(other)
        trained(LongTermMemoryClassifier(workers.experts(classifiers()[:2]), memory=None))
        assert workers._connections.keys() == other.nthreads().keys()


# What is moved ---------------------------------------------------------------------------------------------------


def test_a_worker_is_sent_a_batch_once_for_all_its_experts(client):
    X, y = next(batches(1, n_rows=5000))
    sent = {}
    for n_experts in (2, 12):
        workers = DaskWorkers(client)
        pool = [(f"bayes{at}", GaussianNB()) for at in range(n_experts)]
        ensemble = LongTermMemoryClassifier(workers.experts(pool), memory=None)
        ensemble.partial_fit(X, y, classes=CLASSES)
        before = workers.traffic
        ensemble.partial_fit(X + 1.0, y)
        sent[n_experts] = workers.traffic.sent - before.sent
        assert workers.traffic.messages - before.messages == 4  # two workers predict, and learn
    assert 2 * X.nbytes < sent[2] < 2 * (X.nbytes + 5000) + 4000
    assert sent[12] - sent[2] < 10 * 200


def test_a_predicted_batch_is_not_sent_again_for_training(client):
    workers = DaskWorkers(client)
    there = trained(LongTermMemoryClassifier(workers.experts(classifiers()[:1]), memory=None, random_state=0))
    here = trained(LongTermMemoryClassifier(classifiers()[:1], memory=None, random_state=0))
    X, y = next(batches(1, seed=1, n_rows=5000))
    before = workers.traffic.sent
    there.predict(X)
    first = workers.traffic.sent - before
    assert first > X.nbytes
    there.partial_fit(X, y)
    assert workers.traffic.sent - before < first + 10_000
    here.partial_fit(X, y)
    X += 1.0  # in place: the worker must not take it for the same
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))


def test_models_stay_on_workers_until_they_are_dropped(client):
    workers = DaskWorkers(client, checkpoint_every=1000)
    memory = Snapshots(80, max_size=2, on_drift=False, merge=None)
    ensemble = LongTermMemoryClassifier(workers.experts(classifiers()[:1]), memory=memory)
    for X, y in batches(11):
        ensemble.partial_fit(X, y, classes=CLASSES)
    kinds = [expert.kind for expert in ensemble.experts_]
    assert kinds == ["live", "restarted", "snapshot", "snapshot"]
    assert len(models_on(workers)) == 4  # three snapshots and five young ones have gone
    pool = [(f"{at}", GaussianNB()) for at in range(4)]
    other = trained(LongTermMemoryClassifier(workers.experts(pool), memory=None))
    del ensemble
    gc.collect()
    other.partial_fit(X, y)
    assert len(models_on(workers)) == 4


@pytest.mark.exhaustive
def test_copies_that_learn_have_the_checkpoints_of_their_originals(client):
    workers = DaskWorkers(client, checkpoint_every=4)
    pool = [("bayes", GaussianNB()), ("other", GaussianNB())]
    ensemble = LongTermMemoryClassifier(workers.experts(pool), memory=None, on_error="raise")  # which learns on copies
    seen = []
    for X, y in batches(7):
        ensemble.partial_fit(X, y, classes=CLASSES)
        expert = ensemble.named_estimators_["bayes"]
        seen.append((expert.remote.n_learned, expert.remote.n_saved, id(expert.remote.checkpoint)))
    assert [numbers[:2] for numbers in seen] == [(1, 1), (2, 1), (3, 1), (4, 1), (5, 5), (6, 5), (7, 5)]
    assert len({saved for _, _, saved in seen}) == 2  # nothing was sent in between
    kill_worker_of(client, expert)
    with pytest.raises(RuntimeError, match="is lost"):
        ensemble.predict(X)
    ensemble.predict(X)
    assert expert.fetch().class_count_.sum() == 200.0


# Workers that are lost -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_folder", [False, True])
def test_experts_of_a_killed_worker_are_restored_from_checkpoints(client, tmp_path, in_folder):
    workers = DaskWorkers(client, checkpoint_every=4, folder=tmp_path if in_folder else None)
    pool = [(f"bayes{at}", GaussianNB()) for at in range(4)]
    ensemble = trained(LongTermMemoryClassifier(workers.experts(pool), memory=None), 7)
    lost = ensemble.named_estimators_["bayes0"]
    address = lost.remote.connection.address
    lots = [name for name, expert in ensemble.named_estimators_.items() if expert.remote.connection.address == address]
    assert len(lots) == 2
    kill_worker_of(client, lost)
    X, y = next(batches(1, seed=1))
    _, messages = recorded(ensemble.partial_fit, X, y)
    assert [f"expert {name!r} could not predict and slept" in " ".join(messages) for name in lots] == [True, True]
    assert len(messages) == 2
    by_hand = GaussianNB()
    for at, (rows, targets) in enumerate(batches(7)):
        if at < 5:  # the first, and four more: what came after the checkpoint is lost
            by_hand.partial_fit(rows, targets, CLASSES)
    by_hand.partial_fit(X, y)
    np.testing.assert_array_equal(lost.fetch().theta_, by_hand.theta_)
    for rows, targets in batches(10, seed=2):
        _, messages = recorded(ensemble.partial_fit, rows, targets)
        assert messages == []
    assert min(ensemble.weights_) > 0.1
    del ensemble, lost, _
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
def test_a_worker_killed_during_training_is_noticed_at_once(client, tmp_path):
    pool = [("slow", Sluggish(str(tmp_path / "flag"), 20.0, while_it="learns")), ("bayes", GaussianNB())]
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(pool), memory=None))
    slow = ensemble.named_estimators_["slow"]
    address = slow.remote.connection.address
    pid = client.run(os.getpid, workers=[address])[address]
    X, y = next(batches(1))
    (tmp_path / "flag").touch()
    timer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    timer.start()
    began = time.monotonic()
    try:
        _, messages = recorded(ensemble.partial_fit, X, y)
    finally:
        timer.join()
        (tmp_path / "flag").unlink()
    assert time.monotonic() - began < 10.0
    assert messages[0].startswith("expert 'slow' could not learn and slept: WorkerLost")
    _, messages = recorded(ensemble.partial_fit, X, y)
    assert messages == []


@pytest.mark.exhaustive
def test_snapshots_of_a_killed_worker_are_restored(client):
    memory = Snapshots(80, on_drift=False, merge=None)
    ensemble = LongTermMemoryClassifier(DaskWorkers(client).experts(classifiers()[:1]), memory=memory)
    for X, y in batches(5):
        ensemble.partial_fit(X, y, classes=CLASSES)
    predictions = ensemble.transform(X)
    kill_worker_of(client, ensemble.named_estimators_["bayes"])
    names = list(ensemble.get_feature_names_out())
    frozen = [at for at, name in enumerate(names) if "@80" in name or "@160" in name]
    assert len(frozen) == 4
    asleep, messages = recorded(ensemble.transform, X)
    assert np.isnan(asleep[:, frozen]).all()
    assert any("(snapshot)" in message for message in messages)
    again, messages = recorded(ensemble.transform, X)
    assert messages == []
    np.testing.assert_array_equal(again[:, frozen], predictions[:, frozen])


def test_without_workers_an_error_is_raised(client):
    workers = DaskWorkers(client, workers=["nobody"], timeout=0.2)
    ensemble = LongTermMemoryClassifier(workers.experts(classifiers()))
    X, y = next(batches(1))
    with pytest.raises(TimeoutError, match="none of the workers"):
        ensemble.partial_fit(X, y, classes=CLASSES)
    assert not hasattr(ensemble, "_engine")


@pytest.mark.parametrize("on_error", ["warn", "raise"])
def test_a_missing_worker_is_awaited_once_per_round(client, on_error):
    pool = [(f"bayes{at}", GaussianNB()) for at in range(4)]
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(pool), memory=None, on_error=on_error))
    ensemble = pickle.loads(pickle.dumps(ensemble))  # whose models are nowhere
    workers = ensemble.named_estimators_["bayes0"].workers
    workers.workers, workers.timeout = ["nobody"], 1.0
    X, y = next(batches(1))
    for call in (lambda: ensemble.partial_fit(X, y), lambda: ensemble.predict(X), lambda: ensemble.partial_fit(X, y)):
        began = time.monotonic()
        with pytest.raises((ValueError, TimeoutError), match="none of the workers"):
            recorded(call)
        assert 1.0 <= time.monotonic() - began < 1.9
    assert ensemble.n_rounds_ == 3
    workers.workers = None
    assert ensemble.partial_fit(X, y).n_rounds_ == 4


@pytest.mark.exhaustive
def test_a_copy_after_a_lost_worker_is_the_checkpoint(client):
    workers = DaskWorkers(client, checkpoint_every=4)
    ensemble = trained(LongTermMemoryClassifier(workers.experts(classifiers()[:1]), memory=None), 7)
    kill_worker_of(client, ensemble.named_estimators_["bayes"])
    copied, messages = recorded(copy.deepcopy, ensemble)
    assert len(messages) == 1
    assert "is copied as of its last checkpoint: the worker" in messages[0]
    X, y = next(batches(1, seed=1))
    for each in (copied, ensemble, copy.deepcopy(ensemble)):
        _, messages = recorded(each.partial_fit, X, y)
        assert messages == []
        assert each.named_estimators_["bayes"].fetch().class_count_.sum() == 240.0  # five batches, and one more


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such alarms here")
@pytest.mark.parametrize("on_error", ["warn", "raise"])
def test_an_interrupt_during_training_leaves_no_round(client, tmp_path, on_error):
    flag = tmp_path / "flag"
    pool = [("slow", Sluggish(str(flag), 1.5, while_it="learns")), ("bayes", GaussianNB())]
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(pool), memory=None, on_error=on_error))
    X, y = next(batches(1, seed=1))
    before = ensemble.predict_proba(X), ensemble.weights_

    def interrupt(*_):
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    flag.touch()
    signal.setitimer(signal.ITIMER_REAL, 0.7)
    try:
        with pytest.raises(KeyboardInterrupt):
            ensemble.partial_fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        flag.unlink()
    learned = [expert.fetch().class_count_.sum() for expert in ensemble.named_estimators_.values()]  # which waits
    assert ensemble.n_rounds_ == 3
    np.testing.assert_array_equal(ensemble.weights_, before[1])
    if on_error == "raise":
        assert learned == [120.0, 120.0]
        np.testing.assert_array_equal(ensemble.predict_proba(X), before[0])
    else:  # as is documented
        assert learned == [160.0, 160.0]
    assert ensemble.partial_fit(X, y).n_rounds_ == 4


def test_a_model_that_cannot_be_pickled_continues_with_a_warning(client, tmp_path):
    pool = [("locked", Locked()), ("bayes", GaussianNB()), ("other", GaussianNB())]
    workers = DaskWorkers(client, workers=[next(iter(client.nthreads()))], folder=tmp_path)
    there, messages = recorded(trained, LongTermMemoryClassifier(workers.experts(pool), memory=None))
    assert len(set(messages)) == 1
    assert "has no new checkpoint" in messages[0]
    assert "cannot pickle" in messages[0]
    here = trained(LongTermMemoryClassifier(pool, memory=None))
    np.testing.assert_array_equal(there.weights_, here.weights_)
    with pytest.raises(TypeError, match="cannot pickle"):
        there.named_estimators_["locked"].fetch()
    assert there.named_estimators_["bayes"].fetch().class_count_.sum() == 120.0


def test_a_closed_client_raises_an_error(client):
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        ensemble = trained(LongTermMemoryClassifier(DaskWorkers(other).experts(classifiers()[:1]), memory=None))
    X, _ = next(batches(1))
    with pytest.raises(ValueError, match=r"the worker .* is lost, as the client is closed"):
        recorded(ensemble.predict, X)
    with pytest.raises(ValueError, match="the client of DaskWorkers is closed"):
        recorded(ensemble.predict, X)


def test_a_worker_lost_before_it_is_ready_is_not_used(client, monkeypatch):
    workers = DaskWorkers(client)
    monkeypatch.setattr(workers, "_addresses", lambda: {"tcp://127.0.0.1:9": 1, **client.nthreads()})
    began = time.monotonic()
    ensemble = trained(LongTermMemoryClassifier(workers.experts(classifiers()[:1]), memory=None))
    assert time.monotonic() - began < 10.0
    assert ensemble.named_estimators_["bayes"].remote.connection.address in client.nthreads()


# Workers that are late -------------------------------------------------------------------------------------------


def test_an_expert_that_times_out_sleeps_until_it_is_done(client, tmp_path):
    pool = [("slow", Sluggish(str(tmp_path / "flag"), 4.0)), ("bayes", GaussianNB())]
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client, timeout=1.0).experts(pool), memory=None))
    X, _ = next(batches(1))
    (tmp_path / "flag").touch()
    _, messages = recorded(ensemble.predict, X)
    (tmp_path / "flag").unlink()
    assert messages == ["expert 'slow' could not predict and slept: TimeoutError: no result within 1 s"]
    _, messages = recorded(ensemble.predict, X)
    assert messages == [
        "expert 'slow' could not predict and slept: TimeoutError: the model is still busy with an earlier task"
    ]
    time.sleep(3.5)
    _, messages = recorded(ensemble.predict, X)
    assert messages == []


def test_an_expert_that_hangs_costs_the_others_one_timeout(client, tmp_path):
    pool = [("bayes", GaussianNB()), ("hangs", Sluggish(str(tmp_path / "flag"), 1e6)), ("other", GaussianNB())]
    ensemble = LongTermMemoryClassifier(DaskWorkers(client, timeout=0.5).experts(pool), memory=Snapshots(every=80))
    trained(ensemble, 5)
    assert {expert.kind for expert in ensemble._engine.pool.experts} >= {"live", "restarted"}
    X, y = next(batches(1))
    (tmp_path / "flag").touch()
    told, times = [], []
    for X, y in batches(20):
        began = time.monotonic()
        told += recorded(ensemble.partial_fit, X, y)[1]
        times.append(time.monotonic() - began)
    assert told
    assert all("'hangs'" in message for message in told)  # its young copy is on the other worker, if there are two
    assert all(seconds < 0.4 for seconds in times[4:])
    assert ensemble.score(X, y) > 0.8


def test_an_expert_that_hangs_in_the_first_round_costs_one_timeout(client, tmp_path):
    (tmp_path / "flag").touch()
    pool = [("bayes", GaussianNB()), ("hangs", Sluggish(str(tmp_path / "flag"), 1e6))]
    ensemble = LongTermMemoryClassifier(DaskWorkers(client, timeout=0.5).experts(pool), memory=None)
    times = []
    for X, y in batches(4):
        began = time.monotonic()
        recorded(ensemble.partial_fit, X, y, classes=CLASSES)
        times.append(time.monotonic() - began)
    assert times[0] > 0.5
    assert max(times[1:]) < 0.4


def test_a_worker_with_several_hanging_models_is_awaited(client, tmp_path, monkeypatch):
    monkeypatch.setattr("ltm_sklearn.distributed._remote_model.TRAVEL_TIME", 0.3)
    workers = DaskWorkers(client, workers=[next(iter(client.nthreads()))], timeout=1.0)
    flag = str(tmp_path / "flag")
    pool = [("one", Sluggish(flag, 1e6)), ("other", Sluggish(flag, 1e6)), ("bayes", GaussianNB())]
    ensemble = trained(LongTermMemoryClassifier(workers.experts(pool), memory=None))
    (tmp_path / "flag").touch()
    X, _ = next(batches(1))
    _, messages = recorded(ensemble.predict, X)
    late = "could not predict and slept: TimeoutError: no result within 1 s"
    assert messages == [f"expert 'one' {late}", f"expert 'other' {late}"]


def test_a_late_copy_is_not_kept(client, tmp_path):
    expert = DaskWorkers(client, timeout=0.5).experts([("slow", Sluggish(str(tmp_path / "flag")))])[0][1]
    X, y = next(batches(1))
    expert.partial_fit(X, y, classes=CLASSES)
    workers = expert.workers
    before = models_on(workers)
    with pytest.raises(TimeoutError, match="no result within"):
        workers.copy_beside(expert, copied_slowly)
    time.sleep(1.5)
    assert expert.predict(X).shape == (len(X),)
    assert models_on(workers) == before


def test_a_worker_that_does_not_answer_recovers(client, monkeypatch):
    monkeypatch.setattr("ltm_sklearn.distributed._remote_model.TRAVEL_TIME", 0.0)
    pool = [("one", GaussianNB()), ("other", GaussianNB())]
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client, timeout=1.0).experts(pool), memory=None))
    address = ensemble.named_estimators_["one"].remote.connection.address
    pid = client.run(os.getpid, workers=[address])[address]
    X, _ = next(batches(1))
    before = ensemble.predict_proba(X)
    os.kill(pid, signal.SIGSTOP)
    try:
        _, messages = recorded(ensemble.predict, X)
        assert "does not answer" in messages[0]
        began = time.monotonic()
        recorded(ensemble.predict, X)
        assert time.monotonic() - began < 1.0  # it is not waited for again
    finally:
        os.kill(pid, signal.SIGCONT)
    deadline = time.monotonic() + 20.0
    while recorded(ensemble.predict, X)[1]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    np.testing.assert_array_equal(ensemble.predict_proba(X), before)


def test_concurrent_predictions_are_the_same(client):
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(classifiers()), memory=None))
    questions = [X for X, _ in batches(4, seed=3)]
    expected = [ensemble.predict_proba(X) for X in questions]
    wrong = []

    def ask(at):
        for _ in range(5):
            if not np.array_equal(ensemble.predict_proba(questions[at]), expected[at]):
                wrong.append(at)

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.exhaustive
def test_a_late_answer_keeps_the_checkpoint_valid(client, tmp_path):
    folder, flag = tmp_path / "checkpoints", tmp_path / "flag"
    folder.mkdir()
    pool = [("slow", Sluggish(str(flag), 2.0)), ("bayes", GaussianNB())]
    workers = DaskWorkers(client, checkpoint_every=1, folder=folder, timeout=1.0)
    ensemble = trained(LongTermMemoryClassifier(workers.experts(pool), memory=None))
    slow = ensemble.named_estimators_["slow"]
    X, y = next(batches(1))
    flag.touch()
    _, messages = recorded(ensemble.predict, X)
    flag.unlink()
    assert "no result within 1 s" in messages[0]
    deadline = time.monotonic() + 20.0
    while recorded(ensemble.predict, X)[1]:  # what it says next has a checkpoint of the same batches
        assert time.monotonic() < deadline
        time.sleep(0.05)
    recorded(ensemble.predict, X)
    assert len(list(folder.iterdir())) == 2  # one an expert
    kill_worker_of(client, slow)
    recorded(ensemble.partial_fit, X, y)
    _, messages = recorded(ensemble.partial_fit, X, y)
    assert messages == []
    assert slow.fetch().class_count_.sum() >= 160.0  # three batches, and what it has learned since


@pytest.mark.exhaustive
def test_reading_a_checkpoint_is_retried(client, tmp_path):
    workers = DaskWorkers(client, checkpoint_every=1, folder=tmp_path)
    ensemble = trained(LongTermMemoryClassifier(workers.experts(classifiers()[:2]), memory=None))
    bayes = ensemble.named_estimators_["bayes"]
    X, _ = next(batches(1))
    before = ensemble.predict_proba(X)
    kill_worker_of(client, bayes)
    recorded(ensemble.predict, X)
    tmp_path.rename(tmp_path.with_name("elsewhere"))  # a disk that is away for a while
    for _ in range(2):
        _, messages = recorded(ensemble.predict, X)
        assert "expert 'bayes' could not predict and slept: FileNotFoundError" in messages[0]
    tmp_path.with_name("elsewhere").rename(tmp_path)
    again, messages = recorded(ensemble.predict_proba, X)
    assert messages == []
    np.testing.assert_array_equal(again, before)


# Estimators of scikit-learn --------------------------------------------------------------------------------------


def test_on_worker_is_a_scikit_learn_estimator(client):
    workers = DaskWorkers(client)
    (_, bayes), (_, forest), (_, labels), (_, river) = workers.experts(classifiers())
    assert all(is_classifier(each) for each in (bayes, forest, labels, river))
    assert is_regressor(OnWorker(SGDRegressor(), workers))
    assert hasattr(forest, "predict_proba")
    assert not hasattr(labels, "predict_proba")
    assert hasattr(forest, "without_rows")
    assert not hasattr(bayes, "without_rows")
    copied = clone(forest).set_params(estimator__max_depth=2)
    assert copied.workers is workers
    assert copied.estimator is not forest.estimator
    assert workers.experts([("gone", "drop")]) == [("gone", "drop")]


def test_on_worker_works_without_an_ensemble(client):
    X, y = next(batches(1))
    there, here = OnWorker(GaussianNB(), DaskWorkers(client)), GaussianNB().fit(X, y)
    with pytest.raises(AttributeError, match="not fitted and has no classes_"):
        there.classes_  # noqa: B018
    np.testing.assert_array_equal(there.fit(X, y).predict_proba(X), here.predict_proba(X))
    np.testing.assert_array_equal(there.partial_fit(X, y).predict(X), here.partial_fit(X, y).predict(X))
    assert there.classes_.tolist() == CLASSES
    with pytest.raises(ValueError, match="expecting 3 features"):
        there.predict(X[:, :2])


def test_pickles_and_deep_copies_continue_alike(client):
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(classifiers()), random_state=0), 6)
    others = [pickle.loads(pickle.dumps(ensemble)), copy.deepcopy(ensemble)]
    for X, y in batches(4, seed=5):
        ensemble.partial_fit(X, y)
        for other in others:
            np.testing.assert_array_equal(other.partial_fit(X, y).weights_, ensemble.weights_)
    fresh = clone(ensemble)
    assert not hasattr(fresh, "_engine")
    np.testing.assert_array_equal(trained(fresh, 2).n_rounds_, 2)


def test_a_model_that_cannot_be_fetched_is_pickled_as_last_saved(client):
    ensemble = trained(LongTermMemoryClassifier(DaskWorkers(client).experts(classifiers()[:1]), memory=None))
    expert = ensemble.named_estimators_["bayes"]
    kill_worker_of(client, expert)
    expert.workers.workers, expert.workers.timeout = ["nobody"], 0.1
    with pytest.warns(ExpertWarning, match="saved as of its last checkpoint"):
        written = pickle.dumps(expert)
    assert pickle.loads(written).remote.origin.class_count_.sum() == 40.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"checkpoint_every": 0}, "checkpoint_every=0"),
        ({"timeout": 0.0}, "timeout=0.0"),
        ({"timeout": None}, "timeout=None"),
        ({"workers": "tcp://x"}, "workers='tcp://x'"),
        ({"workers": []}, r"workers=\[\]"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        DaskWorkers(**settings)


@pytest.mark.parametrize(
    ("experts", "message"),
    [
        ("abc", "estimators='abc' must be a non-empty list of"),
        (None, "estimators=None must be a non-empty list of"),
        ([("a",)], r"estimators=\[\('a',\)\] must be a non-empty list of"),
        ([(1, GaussianNB())], r"estimators need strings for names; got \[1\]"),
        ([("a", 5)], "expert 'a' is 5, which is no estimator and not 'drop'"),
        ([("a", None)], "expert 'a' is None, which is no estimator and not 'drop'"),
        ([("a", "dropped")], "expert 'a' is 'dropped', which is no estimator and not 'drop'"),
        ([("a", GaussianNB)], "expert 'a' is <class .*, which is no estimator and not 'drop'"),
        ([("a", FrozenEstimator(GaussianNB()))], "expert 'a' is frozen but not fitted"),
    ],
)
def test_invalid_experts_raise_the_errors_of_local_pools(experts, message):
    with pytest.raises(ValueError, match=message):
        DaskWorkers().experts(experts)
    if experts is not None:  # which are the default ones
        with pytest.raises(ValueError, match=message):
            LongTermMemoryClassifier(experts).fit(*next(batches(1)))


def test_a_missing_folder_raises_an_error_except_after_loading(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        DaskWorkers(folder=tmp_path / "none")
    written = pickle.dumps(DaskWorkers(folder=tmp_path))
    tmp_path.rmdir()
    assert pickle.loads(written).folder == str(tmp_path)


def test_without_a_client_an_error_is_raised(monkeypatch):
    def none():
        raise ValueError("no client")

    monkeypatch.setattr(distributed, "get_client", none)
    X, y = next(batches(1))
    with pytest.raises(ValueError, match="no current Dask client"):
        OnWorker(GaussianNB(), DaskWorkers()).fit(X, y)
