"""A pipeline with ``partial_fit``."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if

from ._validation import is_frozen


class IncrementalPipeline(Pipeline):
    """scikit-learn's ``Pipeline`` with ``partial_fit``, for example to scale a stream before a model.

    Each step learns the rows with its own ``partial_fit``, then transforms them for the next step. A step without
    ``partial_fit`` is allowed if it needs no fitting, such as ``Normalizer`` or ``FunctionTransformer``. A
    ``FrozenEstimator`` is never trained.

    Parameters
    ----------
    steps : list of (str, estimator)
        The same as in ``sklearn.pipeline.Pipeline``.
    transform_input : list of str, optional
        Metadata to transform like the rows, the same as in ``Pipeline``.
    memory : str or object, optional
        Cache for the steps of ``fit``, the same as in ``Pipeline``; ``partial_fit`` does not use it.
    verbose : bool, default=False
        Whether ``fit`` prints the time of each step.

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
        """Train all steps on a batch.

        If a step raises an error, the steps before it are restored. The state of the last step is its own concern:
        an error in the middle of a batch may leave it half trained.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        **params : dict
            ``classes`` for the last step's ``partial_fit``. With metadata routing, other metadata goes to the steps
            that request it; without, to the last step.

        Returns
        -------
        self
        """
        self._validate_steps()
        steps = list(self._iter(with_final=False))
        for _, name, step in steps:
            if not hasattr(step, "partial_fit") and get_tags(step).requires_fit:
                raise TypeError(
                    f"step {name!r} ({type(step).__name__}) has no partial_fit: it cannot learn from a stream"
                )
        routed = self.routed(params)
        learners = [step for _, _, step in steps if hasattr(step, "partial_fit") and not is_frozen(step)]
        before = [copy.deepcopy(step.__dict__) for step in learners]  # to restore them if a later step raises
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
            for step, state in zip(learners, before, strict=True):
                step.__dict__ = state
            raise
        return self

    def routed(self, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the keyword arguments of the steps' ``partial_fit``, by name of the step."""
        last = self.steps[-1][0]
        if not _routing_enabled():
            return {last: params}
        classes = {
            name: value for name, value in params.items() if name == "classes"
        }  # part of the targets, not metadata
        metadata = {name: value for name, value in params.items() if name != "classes"}
        routing = process_routing(self, "partial_fit", **metadata)
        routed = {name: routing[name]["partial_fit"] for name, step in self.steps if hasattr(step, "partial_fit")}
        return {**routed, last: {**routed[last], **classes}}

    def get_metadata_routing(self) -> MetadataRouter:
        """Get the metadata routing of a ``Pipeline``, extended by ``partial_fit`` of the steps.

        Returns
        -------
        MetadataRouter
        """
        router = super().get_metadata_routing()
        for name, route in router:
            if hasattr(self.named_steps[name], "partial_fit"):
                route.mapping.add(caller="partial_fit", callee="partial_fit")
        return router
