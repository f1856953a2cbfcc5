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
from ._bench import Answer, Message, Task
from ._on_worker import OnWorker
from ._parcels import Parcels
from ._remote import Remote, Seat, WorkerLost


class Traffic(NamedTuple):
    """What a driver and its workers have told each other."""

    messages: int  #: to workers
    sent: int  #: bytes of rows, targets and models, to workers
    received: int  #: bytes of predictions and checkpoints, from workers


class DaskWorkers:
    """Experts that live on Dask's workers, for pools that are too heavy for one process.

    In each round every worker is sent the batch once, whatever the number of its experts, and they are asked side by
    side; what they say comes back, and the ensemble weighs it as it always does, to the same numbers. Models and their
    snapshots stay on their workers.

    When a worker is lost, its experts sleep, with a warning, and are restored on another worker from their last
    checkpoint when they are next needed. What they have learned since is lost. No worker is relieved of experts when a
    new one joins; the next experts go to the worker that has the fewest.

    Parameters
    ----------
    client : distributed.Client, optional
        None: the one that is in force when it is needed.
    workers : list of str, optional
        Addresses or names of the workers that may be used. None: all.
    checkpoint_every : int, default=10
        Each expert's model is saved when it has learned so many batches, the first time after the first one. Snapshots,
        which do not learn, are saved when they are first asked.
    folder : path, optional
        Where to save them: a folder that the driver and all workers reach. None: in the memory of the driver, to which
        they are then sent.
    timeout : float, default=60
        Seconds that an expert may take; one that takes longer sleeps until it has ended. Also how long to wait for a
        worker if there is none.

    See Also
    --------
    OnWorker : An expert on a worker.

    Notes
    -----
    Between driver and workers models go as pickles, as all of Dask's data do: a cluster is trusted. Workers need the
    same versions of the libraries as the driver.

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
            raise FileNotFoundError(f"folder={fspath(folder)!r}: there is no such folder")
        self.client = client
        self.workers = workers
        self.checkpoint_every = checkpoint_every
        self.folder = None if folder is None else fspath(folder)
        self.timeout = timeout
        self._seats: dict[str, Seat] = {}
        self._traffic = Traffic(0, 0, 0)

    @property
    def traffic(self) -> Traffic:
        """How many messages workers were sent, and how many bytes went to them and came from them."""
        return self._traffic

    def experts(self, estimators: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Experts for ``estimators=`` of an ensemble, whose models will be on workers.

        Parameters
        ----------
        estimators : list of (str, estimator) pairs
            Of scikit-learn or of River. Those without ``partial_fit`` are fitted on a ``SlidingWindow``, which is on
            the worker too; a ``FrozenEstimator`` is never trained.

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

    # What the ensemble's rounds ask --------------------------------------------------------------------------------

    def begin(self, calls: list[ModelCall]) -> Callable[[], list[Any]]:
        """Start calls on the workers of their models, all at once.

        Returns a function that waits for the results, in order. A model that is returned stays where it is: its
        :class:`OnWorker` stands for it.
        """
        return self._begin(calls, [None] * len(calls))

    def copy_beside(self, model: OnWorker, how: Callable[[Any], Any]) -> Remote:
        """A copy of a model, on the same worker; of one that is nowhere, another that will be restored."""
        remote, key = model.remote, uuid4().hex
        if remote.seat is None and how is copy.deepcopy:
            return remote.twin()
        result = self._begin([ModelCall(call_function, model, (how,))], [key])()[0]
        if isinstance(result, CallFailure):
            if remote.seat is None and how is copy.deepcopy:  # not any more
                told = f"{model!r} is copied as its last checkpoint has it: {error_text(result.error)}"
                warn(told, ExpertWarning, stacklevel=2)
                return remote.twin()
            raise result.error
        assert remote.seat is not None
        copied = remote.twin()
        copied.n_learned = remote.n_learned
        copied.settle(remote.seat, key)
        return copied

    def _begin(self, calls: list[ModelCall], keep_as: list[str | None]) -> Callable[[], list[Any]]:
        remotes = [call.model.remote for call in calls]
        results: list[Any] = [None] * len(calls)
        placed = self._place(remotes, results)
        parcels = Parcels()
        sent = []
        for seat in dict.fromkeys(remote.seat for remote in remotes if remote.seat is not None):
            here = [at for at, remote in enumerate(remotes) if remote.seat is seat and results[at] is None]
            if not here:
                continue
            if seat.is_late:
                self._fail(results, here, TimeoutError(f"the worker {seat.address} does not answer yet"))
                continue
            asked = [
                Task(
                    remotes[at].key,
                    [parcels.digest(calls[at].function), *map(parcels.digest, calls[at].arguments)],
                    keep_as[at],
                )
                for at in here
            ]
            new = {remotes[at].key: placed[remotes[at]] for at in here if remotes[at] in placed}
            errors, config = np.geterr(), get_config()
            message = Message(asked, parcels.besides(seat.known, asked), new, _emptied(seat.freed), errors, config)
            try:
                sent.append((seat, here, message, self._send(seat, message)))
            except Exception as error:
                self._fail(results, here, error, remotes)

        def wait() -> list[Any]:
            for seat, here, message, answer in sent:
                try:
                    answers = seat.wait(answer, len(here))
                    if answers is None:  # another thread's message was between: once more, with everything
                        message = message._replace(parcels=parcels.besides(frozenset(), message.tasks))
                        answers = seat.wait(self._send(seat, message), len(here))
                    assert answers is not None
                except Exception as error:
                    self._fail(results, here, error, remotes)
                    continue
                seat.known = frozenset(digest for task in message.tasks for digest in task.arguments)
                for at, told in zip(here, answers, strict=True):
                    results[at] = self._received(remotes[at], told, calls[at].model)
            for call, result in zip(calls, results, strict=True):
                if isinstance(result, CallFailure) and not call.model.is_late:
                    result.model = call.model
            return results

        return wait

    def _place(self, remotes: list[Remote], results: list[Any]) -> dict[Remote, tuple[Any, bool]]:
        """Give models that are nowhere a seat; returns what their workers will need. Failures go to the results."""
        homeless = [at for at, remote in enumerate(remotes) if remote.seat is None]
        for at, remote in enumerate(remotes):
            if remote.seat is not None and remote.seat.is_lost:  # told of, as learning is lost; restored the next time
                self._fail(results, [at], WorkerLost(remote.seat.loss), remotes)
        placed: dict[Remote, tuple[Any, bool]] = {}
        if not homeless:
            return placed
        try:
            addresses = self._addresses()
        except Exception as error:
            self._fail(results, homeless, error)
            return placed
        for at in homeless:
            remote = remotes[at]
            try:
                if remote.seat is None:  # it may be asked twice
                    data = remote.to_place()
                    with self._client().as_current():  # an actor goes by the one in force where it comes to be
                        seat = self._seat(addresses)
                    remote.settle(seat, uuid4().hex)
                    placed[remote] = data
            except Exception as error:
                self._fail(results, [at], error)
        return placed

    def _addresses(self) -> dict[str, int]:
        """The workers that may be used, with their threads; waits for one if there is none, once in a round."""
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
                self._seats = {address: seat for address, seat in self._seats.items() if not seat.is_lost}
                return found
            if time.monotonic() >= deadline:
                unavailable.append(self)
                which = "no worker" if self.workers is None else f"none of the workers {self.workers!r}"
                raise TimeoutError(f"the Dask cluster has {which}: waited {self.timeout:g} s for one")
            time.sleep(0.1)

    def _client(self) -> Any:
        if self.client is not None:
            if self.client.status in ("closing", "closed"):
                raise ValueError("the client of DaskWorkers is closed: give it another one (client=)")
            return self.client
        try:
            from distributed import get_client
        except ImportError as error:
            raise ImportError("DaskWorkers needs Dask: install ltm_sklearn[dask]") from error
        try:
            return get_client()
        except ValueError as error:
            raise ValueError("there is no Dask client in force: make one, or give DaskWorkers(client)") from error

    def _seat(self, addresses: dict[str, int]) -> Seat:
        """On the worker with the fewest models, of those that answer; one that does not get ready is left out."""

        def burden(address: str) -> tuple[bool, int]:
            seat = self._seats.get(address)
            return (False, 0) if seat is None else (seat.is_late, len(seat.keys))

        while addresses:
            address = min(addresses, key=burden)
            if address not in self._seats:
                arguments = addresses[address], self.checkpoint_every, self.folder, self.timeout
                try:
                    self._seats[address] = Seat(self._client(), address, *arguments)
                except Exception as error:
                    logger.warning("no models can be placed on %s: %s", address, error)
                    del addresses[address]
                    continue
            return self._seats[address]
        raise TimeoutError("no worker of the Dask cluster is ready for models")

    def _send(self, seat: Seat, message: Message) -> Any:
        models = [data for data, _ in message.placed.values() if isinstance(data, bytes)]
        n_bytes = sum(map(len, message.parcels.values())) + sum(map(len, models))
        self._traffic = self._traffic._replace(messages=self._traffic.messages + 1, sent=self._traffic.sent + n_bytes)
        return seat.send(message)

    def _received(self, remote: Remote, told: Answer, model: Any) -> Any:
        remote.take(told)
        parts = [part for part in (told.result, told.saved) if part is not None]
        n_bytes = sum(part.nbytes if hasattr(part, "nbytes") else len(part) for part in parts if _is_sized(part))
        self._traffic = self._traffic._replace(received=self._traffic.received + n_bytes)
        if told.gone:
            remote.leave()
        return model if told.learned else told.result

    def _fail(self, results: list[Any], where: list[int], error: Exception, remotes: Sequence[Remote] = ()) -> None:
        for at in where:
            results[at] = CallFailure(error)
            if isinstance(error, WorkerLost):
                remotes[at].leave()

    # A cluster is no part of a model -------------------------------------------------------------------------------

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        kept = ("workers", "checkpoint_every", "folder", "timeout")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, client=None, _seats={}, _traffic=Traffic(0, 0, 0))  # the folder may be elsewhere

    def __repr__(self) -> str:
        return f"DaskWorkers(checkpoint_every={self.checkpoint_every}, timeout={self.timeout:g})"


def _emptied(keys: Any) -> list[str]:
    emptied = []
    while keys:
        emptied.append(keys.popleft())
    return emptied


def _is_sized(part: Any) -> bool:
    return isinstance(part, bytes) or hasattr(part, "nbytes")
