"""A Pipeline that learns from a stream."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if

from ._validation import is_frozen


class IncrementalPipeline(Pipeline):
    """scikit-learn's Pipeline with ``partial_fit``, to stream through scalers and the like.

    Each step takes in the rows by its own ``partial_fit``, then transforms them for the next. A step without
    ``partial_fit`` is fine if it needs no fitting, such as ``Normalizer`` or ``FunctionTransformer``; a
    ``FrozenEstimator`` is never trained.

    Parameters
    ----------
    steps : list of (str, estimator)
        As of scikit-learn's ``Pipeline``.
    transform_input : list of str, optional
        Metadata to transform like the rows, as there.
    memory : str or object, optional
        Caches the steps of ``fit``, as there; ``partial_fit`` has no use for it.
    verbose : bool, default=False
        As there.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ltm_sklearn.ensemble import IncrementalPipeline
    >>> X, y = make_classification(class_sep=3, random_state=0)
    >>> model = IncrementalPipeline([("scale", StandardScaler()), ("sgd", SGDClassifier(random_state=0))])
    >>> for rows in (slice(0, 50), slice(50, 100)):
    ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> model.score(X, y) > 0.8
    True
    """

    @available_if(lambda self: hasattr(self._final_estimator, "partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Take in rows.

        If a step refuses them, the steps before it are as they were. The last step answers for itself: gradient
        descent, say, may raise in the midst of a batch.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        **params : dict
            ``classes`` for the last step's ``partial_fit``. With metadata routing, the rest goes to the steps that ask
            for it; without, to the last one.

        Returns
        -------
        self
        """
        self._validate_steps()
        steps = list(self._iter(with_final=False))
        for _, name, step in steps:
            if not hasattr(step, "partial_fit") and get_tags(step).requires_fit:
                raise TypeError(f"step {name!r} ({type(step).__name__}) has no partial_fit: it cannot follow a stream")
        routed = self.routed(params)
        learners = [step for _, _, step in steps if hasattr(step, "partial_fit") and not is_frozen(step)]
        before = [copy.deepcopy(step.__dict__) for step in learners]  # a later step may refuse the rows
        last, final = self.steps[-1]
        at = last
        try:
            for _, at, step in steps:
                if any(step is learner for learner in learners):
                    step.partial_fit(X, y, **routed.get(at, {}))
                X = step.transform(X)
            at = last
            if not is_frozen(final):
                final.partial_fit(X, y, **routed[last])
        except BaseException as error:
            error.add_note(f"raised by step {at!r} of the pipeline")
            for step, known in zip(learners, before, strict=True):
                step.__dict__ = known
            raise
        return self

    def routed(self, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """What the steps' ``partial_fit`` takes beside the rows, by name."""
        last = self.steps[-1][0]
        if not _routing_enabled():
            return {last: params}
        classes = {name: value for name, value in params.items() if name == "classes"}  # no metadata, but targets
        metadata = {name: value for name, value in params.items() if name != "classes"}
        routing = process_routing(self, "partial_fit", **metadata)
        routed = {name: routing[name]["partial_fit"] for name, step in self.steps if hasattr(step, "partial_fit")}
        return {**routed, last: {**routed[last], **classes}}

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing: as a Pipeline's, and from ``partial_fit`` to that of the steps."""
        router = super().get_metadata_routing()
        for name, route in router:
            if hasattr(self.named_steps[name], "partial_fit"):
                route.mapping.add(caller="partial_fit", callee="partial_fit")
        return router
