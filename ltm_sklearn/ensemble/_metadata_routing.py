"""Metadata routing: which expert gets ``sample_weight`` and other metadata."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)

from .._river_compat import takes_weights
from .._typing import Floats
from ._from_river import FromRiver
from ._incremental_pipeline import IncrementalPipeline
from ._models_adapter import training_method
from ._sliding_window import SlidingWindow
from ._validation import is_frozen


def router(owner: Any, pool: list[tuple[str, Any]]) -> MetadataRouter:
    """Return a router: the owner uses ``sample_weight`` and passes it to the experts that request it."""
    routes = MetadataRouter(owner=owner).add_self_request(owner)
    for name, estimator in pool:
        callee = training_method(estimator)
        mapping = MethodMapping().add(caller="fit", callee=callee).add(caller="partial_fit", callee=callee)
        routes.add(**{name: get_routing_for_object(estimator)}, method_mapping=mapping)
    return routes


def routed(
    owner: Any, pool: list[tuple[str, Any]], method: str, weights: Floats | None, params: dict[str, Any]
) -> dict[str, Any]:
    """Return the keyword arguments of the training of each expert in the pool, by its name."""
    given = params if weights is None else {**params, "sample_weight": weights}
    pool = [(name, estimator) for name, estimator in pool if not is_frozen(estimator)]
    if _routing_enabled():
        routing = process_routing(router(owner, pool), method, **given)
        by_name = {name: routing[name][training_method(estimator)] for name, estimator in pool}
        for name, estimator in pool:
            refused = sorted(set(by_name[name]) - {"sample_weight"})
            if refused and not hasattr(estimator, "partial_fit"):
                raise ValueError(
                    f"expert {name!r} ({type(estimator).__name__}) has no partial_fit: the only metadata it takes is "
                    f"sample_weight, not {refused}"
                )
            if isinstance(estimator, IncrementalPipeline):
                estimator.routed(by_name[name])  # raises if a step has set no request for the metadata
        return by_name
    _raise_for_params(params, owner, method)
    for name, estimator in pool:
        if weights is not None and not takes_sample_weight(estimator):
            raise ValueError(f"expert {name!r} ({type(estimator).__name__}) takes no sample_weight")
    return {name: given for name, _ in pool}


def takes_sample_weight(estimator: Any) -> bool:
    """Return whether the training of an expert takes ``sample_weight``.

    A pipeline passes it to its last step; a wrapper with ``**kwargs`` passes it to its ``estimator``.
    """
    if isinstance(estimator, IncrementalPipeline):
        return takes_sample_weight(estimator.steps[-1][1])
    if isinstance(estimator, SlidingWindow):
        return takes_sample_weight(estimator.estimator)
    if isinstance(estimator, FromRiver):
        return takes_weights(estimator.model)
    parameters = signature(getattr(estimator, training_method(estimator))).parameters
    passes_on = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    if passes_on and "sample_weight" not in parameters and hasattr(estimator, "estimator"):
        return takes_sample_weight(estimator.estimator)
    return "sample_weight" in parameters
