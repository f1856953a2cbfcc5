"""Estimator whose model is on a worker."""

from __future__ import annotations

import copy
from typing import Any, Self
from warnings import warn

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if

from .._typing import Floats
from ..engine import CallFailure, ExpertWarning, ModelCall, call_function
from ..ensemble import SklearnModelsAdapter, SlidingWindow, takes_nan
from ._remote_model import RemoteModel
from ._worker_messages import dumps, loads


def _call(model: Any, name: str, arguments: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return getattr(model, name)(*arguments, **params)


def _attribute(model: Any, name: str) -> Any:
    return getattr(model, name)


def _pickled(model: Any) -> bytes:
    return dumps(model)  # pickled here, so that a model that cannot be pickled is reported as its own failure


class OnWorker(MetaEstimatorMixin, BaseEstimator):
    """Estimator whose model is on a worker of a Dask cluster.

    ``fit``, ``partial_fit``, ``predict`` and ``predict_proba`` run on the worker. Copies, such as snapshots, are made
    there. A pickled or saved estimator includes the model, which is placed on a worker again at its first use.
    ``clone`` returns an estimator without a model.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor. One without ``partial_fit`` is wrapped in a ``SlidingWindow`` on the worker.
    workers : DaskWorkers
        The workers that may hold the model.

    See Also
    --------
    DaskWorkers : Makes such estimators from a list of experts.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import SGDClassifier
    >>> from ltm_sklearn.distributed import DaskWorkers, OnWorker
    >>> X, y = make_classification(random_state=0)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     model = OnWorker(SGDClassifier(random_state=0), DaskWorkers(client)).fit(X, y)
    ...     print(model.predict(X[-5:]), model.fetch().coef_.shape)
    [1 1 1 1 0] (1, 20)
    """

    _remote: RemoteModel | None

    def __init__(self, estimator: Any, workers: Any) -> None:
        self.estimator = estimator
        self.workers = workers

    # The model --------------------------------------------------------------------------------------------

    @property
    def worker_pool(self) -> Any:
        """The workers that run calls of the model."""
        return self.workers

    @property
    def remote(self) -> RemoteModel:
        """The model as the driver sees it."""
        if self.__dict__.get("_remote") is None:
            self._remote = RemoteModel(SklearnModelsAdapter({"": self.estimator}, None, {}).fresh(""))
        assert self._remote is not None
        return self._remote

    @property
    def is_late(self) -> bool:
        """Whether the model was still busy with a task that timed out when its last task was sent."""
        return self.__dict__.get("_remote") is not None and self.remote.is_late

    def _fitted(self) -> Self:
        """Use the estimator itself, which is fitted, as the model."""
        self._remote = RemoteModel(self.estimator, lasting=True)
        return self

    def _done(self, function: Any, *arguments: Any) -> Any:
        result = self.workers.begin([ModelCall(call_function, self, (function, *arguments))])()[0]
        if isinstance(result, CallFailure):
            raise result.error
        return result

    # The estimator -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params : dict
            Further arguments of the estimator's ``fit``.

        Returns
        -------
        self
        """
        self._remote = None
        self._done(_call, "fit", (X, y), params)
        return self

    def partial_fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Update the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params : dict
            Further arguments of the estimator's ``partial_fit``, for example ``classes``.

        Returns
        -------
        self
        """
        self._done(_call, "partial_fit", (X, y), params)
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the model."""
        return self._done(_call, "predict", (X,), {})

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities, in the order of ``classes_``."""
        probabilities: Floats = self._done(_call, "predict_proba", (X,), {})
        return probabilities

    @property
    def classes_(self) -> Any:
        """The classes of the model."""
        if self.__dict__.get("_remote") is None:
            raise AttributeError("the model is not fitted and has no classes_: call fit or partial_fit")
        if self.remote.classes is None:
            self.remote.classes = self._done(_attribute, "classes_")
        return self.remote.classes

    def fetch(self) -> Any:
        """Return a copy of the model on the driver."""
        return loads(self._done(_pickled))

    @available_if(lambda self: isinstance(self.estimator, SlidingWindow) or not hasattr(self.estimator, "partial_fit"))
    def without_rows(self) -> Self:
        """Return a copy on the same worker that predicts but holds no rows."""
        return self._copy(SlidingWindow.without_rows, {})

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_remote") is not None

    def __sklearn_tags__(self) -> Any:
        tags = copy.deepcopy(get_tags(self.estimator))
        tags.input_tags.allow_nan = takes_nan(self.estimator)
        return tags

    def get_metadata_routing(self) -> Any:
        """Return the metadata requests of the estimator."""
        request = get_routing_for_object(self.estimator)
        if not hasattr(self.estimator, "partial_fit"):  # its sliding window passes the parameters of fit
            for param, alias in request.fit.requests.items():
                request.partial_fit.add_request(param=param, alias=alias)
        return request

    # Copies and pickles --------------------------------------------------------------------------------------------

    def _copy(self, how: Any, memo: Any) -> Self:
        copied = type(self)(copy.deepcopy(self.estimator, memo), self.workers)
        if self.__sklearn_is_fitted__():
            copied._remote = self.workers.copy_beside(self, how)
        return copied

    def __deepcopy__(self, memo: Any) -> Self:
        return self._copy(copy.deepcopy, memo)

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__()}
        if state.pop("_remote", None) is not None:
            try:
                state["model"] = self.fetch()
            except Exception as error:
                warn(f"{self!r} is saved as of its last checkpoint: {error}", ExpertWarning, stacklevel=2)
                state["model"] = self.remote.last_saved()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.pop("model", None)
        super().__setstate__(state)
        if model is not None:
            self._remote = RemoteModel(model)
