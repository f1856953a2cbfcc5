"""An estimator whose model is on a worker."""

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
from ._bench import dumps, loads
from ._remote import Remote


def _call(model: Any, name: str, arguments: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return getattr(model, name)(*arguments, **params)


def _attribute(model: Any, name: str) -> Any:
    return getattr(model, name)


def _pickled(model: Any) -> bytes:
    return dumps(model)  # here, where it is the model's own failure if it cannot be pickled


class OnWorker(MetaEstimatorMixin, BaseEstimator):
    """A scikit-learn estimator whose model is on a worker of a Dask cluster.

    ``fit``, ``partial_fit``, ``predict`` and ``predict_proba`` are done there. Copies, as a memory takes them, are made
    beside the model. Pickled or saved, it takes the model along, and what is loaded goes to a worker again with its
    first use. ``clone`` gives one without a model.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor; one without ``partial_fit`` gets a ``SlidingWindow``, which is on the worker too.
    workers : DaskWorkers
        Where it may live.

    See Also
    --------
    DaskWorkers : Makes these of a list of experts.

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

    _remote: Remote | None

    def __init__(self, estimator: Any, workers: Any) -> None:
        self.estimator = estimator
        self.workers = workers

    # Where the model is --------------------------------------------------------------------------------------------

    @property
    def worker_pool(self) -> Any:
        """The workers that run calls of the model."""
        return self.workers

    @property
    def remote(self) -> Remote:
        """The model, as the driver knows it."""
        if self.__dict__.get("_remote") is None:
            self._remote = Remote(SklearnModelsAdapter({"": self.estimator}, None, {}).fresh(""))
        assert self._remote is not None
        return self._remote

    @property
    def is_late(self) -> bool:
        """Whether its model was still busy, with what nobody waits for any more, when it was last asked."""
        return self.__dict__.get("_remote") is not None and self.remote.is_late

    def _fitted(self) -> Self:
        """The estimator itself is the model; the driver keeps it."""
        self._remote = Remote(self.estimator, lasting=True)
        return self

    def _done(self, function: Any, *arguments: Any) -> Any:
        result = self.workers.begin([ModelCall(call_function, self, (function, *arguments))])()[0]
        if isinstance(result, CallFailure):
            raise result.error
        return result

    # The estimator -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Forget everything, and learn these rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params : dict
            What the estimator's ``fit`` takes besides.

        Returns
        -------
        self
        """
        self._remote = None
        self._done(_call, "fit", (X, y), params)
        return self

    def partial_fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Learn rows more.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params : dict
            What the estimator's ``partial_fit`` takes besides, ``classes`` say.

        Returns
        -------
        self
        """
        self._done(_call, "partial_fit", (X, y), params)
        return self

    def predict(self, X: Any) -> Any:
        """What the model predicts."""
        return self._done(_call, "predict", (X,), {})

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """The model's class probabilities, in the order of ``classes_``."""
        probabilities: Floats = self._done(_call, "predict_proba", (X,), {})
        return probabilities

    @property
    def classes_(self) -> Any:
        """The classes that the model knows."""
        if self.__dict__.get("_remote") is None:
            raise AttributeError("it has learned nothing yet: there are no classes_")
        if self.remote.classes is None:
            self.remote.classes = self._done(_attribute, "classes_")
        return self.remote.classes

    def fetch(self) -> Any:
        """A copy of the model, brought to the driver."""
        return loads(self._done(_pickled))

    @available_if(lambda self: isinstance(self.estimator, SlidingWindow) or not hasattr(self.estimator, "partial_fit"))
    def without_rows(self) -> Self:
        """A copy, on the same worker, that can predict but holds no rows, for keeping."""
        return self._copy(SlidingWindow.without_rows, {})

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_remote") is not None

    def __sklearn_tags__(self) -> Any:
        tags = copy.deepcopy(get_tags(self.estimator))
        tags.input_tags.allow_nan = takes_nan(self.estimator)
        return tags

    def get_metadata_routing(self) -> Any:
        """Metadata routing: what the estimator asks for."""
        request = get_routing_for_object(self.estimator)
        if not hasattr(self.estimator, "partial_fit"):  # its window hands on what fit asks for
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
                warn(f"{self!r} is saved as its last checkpoint has it: {error}", ExpertWarning, stacklevel=2)
                state["model"] = self.remote.last_known()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.pop("model", None)
        super().__setstate__(state)
        if model is not None:
            self._remote = Remote(model)
