"""Experts on the workers of a Dask cluster."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from os.path import isdir
from typing import Any, NamedTuple, Self
from uuid import uuid4
from warnings import warn

import numpy as np
from sklearn import get_config

from .._param_checks import check_count, check_number
from ..engine import CallFailure, ExpertWarning, ModelCall, call_function, error_text, unavailable_pools
from ..ensemble import as_sklearn_model, check_frozen, check_is_estimator, is_frozen, named_pairs
from ..recording import logger
from ._remote_estimator import OnWorker
from ._remote_model import RemoteModel, WorkerConnection, WorkerLost
from ._worker_messages import PickledArguments, TaskBatch, TaskResult, WorkerTask, digests_of


class Traffic(NamedTuple):
    """Number of messages and bytes between the driver and its workers."""

    messages: int  #: to workers
    sent: int  #: bytes of rows, targets and models, to workers
    received: int  #: bytes of predictions and checkpoints, from workers


class DaskWorkers:
    """Workers of a Dask cluster that hold experts, for pools that are too heavy for one process.

    In each round every worker is sent the batch once, whatever the number of its experts, and the workers predict and
    train in parallel. Only predictions are returned; the results are bitwise those of a local pool. Models and their
    snapshots stay on their workers.

    When a worker is lost, its experts sleep for the round, with a warning. In the next round they are restored on
    another worker from their last checkpoints, without the batches that were learned since. New experts are placed on
    the worker with the fewest; experts are never moved to a new worker.

    Parameters
    ----------
    client : distributed.Client, optional
        None: the current client when it is needed.
    workers : list of str, optional
        Addresses or names of the workers to use. None: all.
    checkpoint_every : int, default=10
        Number of learned batches between the checkpoints of an expert; the first checkpoint follows the first batch.
        Snapshots, which do not learn, are saved at their first prediction.
    folder : path, optional
        A folder for checkpoints that the driver and all workers reach. None: they are sent to the driver and kept in
        its memory.
    timeout : float, default=60
        Seconds for the prediction or training of an expert. An expert that takes longer sleeps until it is done. Also
        the time to wait for a worker if there is none.

    See Also
    --------
    OnWorker : An expert whose model is on a worker.

    Notes
    -----
    Models are sent as pickles, as all data of Dask: use trusted clusters only. Workers need the same versions of the
    libraries as the driver.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ltm_sklearn import LongTermMemoryClassifier
    >>> from ltm_sklearn.distributed import DaskWorkers
    >>> X, y = make_classification(random_state=0)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     pool = [("forest", RandomForestClassifier(10, random_state=0)), ("bayes", GaussianNB())]
    ...     model = LongTermMemoryClassifier(DaskWorkers(client).experts(pool)).fit(X, y)
    ...     print(model.predict(X).shape)
    (100,)
    """

    def __init__(
        self,
        client: Any = None,
        *,
        workers: list[str] | None = None,
        checkpoint_every: int = 10,
        folder: str | PathLike[str] | None = None,
        timeout: float = 60.0,
    ) -> None:
        check_count("checkpoint_every", checkpoint_every)
        if timeout is None:
            raise ValueError("timeout=None must be a number of seconds")
        check_number("timeout", timeout, 0.0, np.inf, low_open=True, high_open=True)
        if workers is not None and (isinstance(workers, str) or not workers):
            raise ValueError(f"workers={workers!r} must be a list of addresses or names")
        if folder is not None and not isdir(folder):
            raise FileNotFoundError(f"folder={fspath(folder)!r} does not exist")
        self.client = client
        self.workers = workers
        self.checkpoint_every = checkpoint_every
        self.folder = None if folder is None else fspath(folder)
        self.timeout = timeout
        self._connections: dict[str, WorkerConnection] = {}
        self._traffic = Traffic(0, 0, 0)

    @property
    def traffic(self) -> Traffic:
        """Numbers of messages to the workers, and of bytes to them and from them."""
        return self._traffic

    def experts(self, estimators: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Return experts for ``estimators=`` of an ensemble whose models are on workers.

        Parameters
        ----------
        estimators : list of (str, estimator) pairs
            Estimators of scikit-learn or models of River. Those without ``partial_fit`` are fitted on a
            ``SlidingWindow`` on the worker; a ``FrozenEstimator`` is never trained.

        Returns
        -------
        list of (str, estimator) pairs
        """
        return [(name, self._expert(name, estimator)) for name, estimator in named_pairs(estimators)]

    def _expert(self, name: str, estimator: Any) -> Any:
        if isinstance(estimator, str) and estimator == "drop":
            return estimator
        check_is_estimator(name, estimator)
        check_frozen(name, estimator)
        if is_frozen(estimator):
            return type(estimator)(OnWorker(estimator.estimator, self)._fitted())
        return OnWorker(as_sklearn_model(estimator), self)

    # Calls of the ensemble's rounds -------------------------------------------------------------------------------

    def begin(self, calls: list[ModelCall]) -> Callable[[], list[Any]]:
        """Start calls on the workers of their models, all at once.

        Returns a function that waits for the results, in order. A model that is returned stays on its worker: its
        :class:`OnWorker` stands for it.
        """
        return self._begin(calls, [None] * len(calls))

    def copy_beside(self, model: OnWorker, how: Callable[[Any], Any]) -> RemoteModel:
        """Copy a model on its worker; if it is on no worker, copy its last checkpoint."""
        remote, key = model.remote, uuid4().hex
        if remote.connection is None and how is copy.deepcopy:
            return remote.copied()
        result = self._begin([ModelCall(call_function, model, (how,))], [key])()[0]
        if isinstance(result, CallFailure):
            if remote.connection is None and how is copy.deepcopy:  # its worker was lost in the call
                text = f"{model!r} is copied as of its last checkpoint: {error_text(result.error)}"
                warn(text, ExpertWarning, stacklevel=2)
                return remote.copied()
            raise result.error
        assert remote.connection is not None
        copied = remote.copied()
        copied.n_learned = remote.n_learned
        copied.place(remote.connection, key)
        return copied

    def _begin(self, calls: list[ModelCall], keep_as: list[str | None]) -> Callable[[], list[Any]]:
        """Place models that are on no worker, send each worker its tasks, and return a function that waits."""
        remotes = [call.model.remote for call in calls]
        results: list[Any] = [None] * len(calls)
        placed = self._place(remotes, results)
        arguments = PickledArguments()
        sent = []
        for connection in dict.fromkeys(remote.connection for remote in remotes if remote.connection is not None):
            own = [at for at, remote in enumerate(remotes) if remote.connection is connection and results[at] is None]
            if not own:
                continue
            if connection.is_late:
                self._fail(results, own, TimeoutError(f"the worker {connection.address} does not answer yet"))
                continue
            worker_tasks = [
                WorkerTask(
                    remotes[at].key,
                    [arguments.digest(calls[at].function), *map(arguments.digest, calls[at].arguments)],
                    keep_as[at],
                )
                for at in own
            ]
            batch = TaskBatch(
                worker_tasks,
                arguments.unknown_to(connection.known, worker_tasks),
                {remotes[at].key: placed[remotes[at]] for at in own if remotes[at] in placed},
                connection.take_freed(),
                np.geterr(),
                get_config(),
            )
            try:
                sent.append((connection, own, batch, self._send(connection, batch)))
            except Exception as error:
                self._fail(results, own, error, remotes)

        def wait() -> list[Any]:
            for connection, own, batch, pending in sent:
                try:
                    answers = self._answers(connection, batch, pending, arguments)
                except Exception as error:
                    self._fail(results, own, error, remotes)
                    continue
                for at, answer in zip(own, answers, strict=True):
                    results[at] = self._received(remotes[at], answer, calls[at].model)
            for call, result in zip(calls, results, strict=True):
                if isinstance(result, CallFailure) and not call.model.is_late:
                    result.model = call.model
            return results

        return wait

    def _answers(
        self, connection: WorkerConnection, batch: TaskBatch, pending: Any, arguments: PickledArguments
    ) -> list[TaskResult]:
        """Wait for the results of a batch; send it again, complete, if another thread's batch came between."""
        answers = connection.wait(pending, len(batch.tasks))
        if answers is None:
            batch = batch._replace(arguments=arguments.unknown_to(frozenset(), batch.tasks))
            answers = connection.wait(self._send(connection, batch), len(batch.tasks))
        assert answers is not None
        connection.known = digests_of(batch.tasks)
        return answers

    def _place(self, remotes: list[RemoteModel], results: list[Any]) -> dict[RemoteModel, tuple[bytes | str, bool]]:
        """Choose workers for models that have none, and return what to send them; failures go to the results."""
        unplaced = [at for at, remote in enumerate(remotes) if remote.connection is None]
        for at, remote in enumerate(remotes):
            # reported in this round, because learned batches are lost; restored in the next one
            if remote.connection is not None and remote.connection.is_lost:
                self._fail(results, [at], WorkerLost(remote.connection.loss_text), remotes)
        placed: dict[RemoteModel, tuple[bytes | str, bool]] = {}
        if not unplaced:
            return placed
        try:
            addresses = self._addresses()
        except Exception as error:
            self._fail(results, unplaced, error)
            return placed
        for at in unplaced:
            remote = remotes[at]
            try:
                if remote.connection is None:  # it may occur twice
                    data = remote.to_send()
                    with self._client().as_current():  # an actor uses the client that is current where it is unpickled
                        connection = self._connection(addresses)
                    remote.place(connection, uuid4().hex)
                    placed[remote] = data
            except Exception as error:
                self._fail(results, [at], error)
        return placed

    def _addresses(self) -> dict[str, int]:
        """Return the usable workers with their numbers of threads; wait for one if there is none, once in a round."""
        unavailable = unavailable_pools()
        patience = 0.0 if any(each is self for each in unavailable) else self.timeout
        client, deadline = self._client(), time.monotonic() + patience
        while True:
            known = client.scheduler_info(n_workers=-1)["workers"]
            found = {
                address: int(about["nthreads"])
                for address, about in known.items()
                if self.workers is None or address in self.workers or about["name"] in self.workers
            }
            if found:
                self._connections = {
                    address: connection for address, connection in self._connections.items() if not connection.is_lost
                }
                return found
            if time.monotonic() >= deadline:
                unavailable.append(self)
                which = "no worker" if self.workers is None else f"none of the workers {self.workers!r}"
                raise TimeoutError(f"the Dask cluster has {which}; waited {self.timeout:g} s for one")
            time.sleep(0.1)

    def _client(self) -> Any:
        if self.client is not None:
            if self.client.status in ("closing", "closed"):
                raise ValueError("the client of DaskWorkers is closed: set another one (client=)")
            return self.client
        try:
            from distributed import get_client
        except ImportError as error:
            raise ImportError("DaskWorkers needs Dask: install ltm_sklearn[dask]") from error
        try:
            return get_client()
        except ValueError as error:
            raise ValueError("there is no current Dask client: make one, or pass it to DaskWorkers(client)") from error

    def _connection(self, addresses: dict[str, int]) -> WorkerConnection:
        """Return the connection to the worker with the fewest models; workers that do not get ready are removed."""

        def load(address: str) -> tuple[bool, int]:
            connection = self._connections.get(address)
            return (False, 0) if connection is None else (connection.is_late, len(connection.keys))

        while addresses:
            address = min(addresses, key=load)
            if address not in self._connections:
                arguments = addresses[address], self.checkpoint_every, self.folder, self.timeout
                try:
                    self._connections[address] = WorkerConnection(self._client(), address, *arguments)
                except Exception as error:
                    logger.warning("no models can be placed on %s: %s", address, error)
                    del addresses[address]
                    continue
            return self._connections[address]
        raise TimeoutError("no worker of the Dask cluster is ready for models")

    def _send(self, connection: WorkerConnection, batch: TaskBatch) -> Any:
        """Send a batch, and count its bytes."""
        models = [data for data, _ in batch.models.values() if isinstance(data, bytes)]
        n_bytes = sum(map(len, batch.arguments.values())) + sum(map(len, models))
        self._traffic = self._traffic._replace(messages=self._traffic.messages + 1, sent=self._traffic.sent + n_bytes)
        return connection.send(batch)

    def _received(self, remote: RemoteModel, answer: TaskResult, model: Any) -> Any:
        """Note the result of a task, count its bytes, and return it."""
        remote.update(answer)
        for part in (answer.result, answer.checkpoint):
            n_bytes = len(part) if isinstance(part, bytes) else getattr(part, "nbytes", 0)
            self._traffic = self._traffic._replace(received=self._traffic.received + n_bytes)
        if answer.missing:
            remote.remove()
        return model if answer.trained else answer.result

    def _fail(
        self, results: list[Any], where: list[int], error: Exception, remotes: Sequence[RemoteModel] = ()
    ) -> None:
        """Set results to the same failure; models on a lost worker are removed from it."""
        for at in where:
            results[at] = CallFailure(error)
            if isinstance(error, WorkerLost):
                remotes[at].remove()

    # Copies and pickles --------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        kept = ("workers", "checkpoint_every", "folder", "timeout")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, client=None, _connections={}, _traffic=Traffic(0, 0, 0))

    def __repr__(self) -> str:
        return f"DaskWorkers(checkpoint_every={self.checkpoint_every}, timeout={self.timeout:g})"
