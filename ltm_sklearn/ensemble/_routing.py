"""Who gets which metadata."""

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
from ._pipeline import IncrementalPipeline
from ._skin import training_method
from ._validation import is_frozen
from ._window import SlidingWindow


def router(owner: Any, pool: list[tuple[str, Any]]) -> MetadataRouter:
    """``sample_weight`` is used by the owner, and handed on to the experts that ask for it."""
    routes = MetadataRouter(owner=owner).add_self_request(owner)
    for name, estimator in pool:
        callee = training_method(estimator)
        mapping = MethodMapping().add(caller="fit", callee=callee).add(caller="partial_fit", callee=callee)
        routes.add(**{name: get_routing_for_object(estimator)}, method_mapping=mapping)
    return routes


def routed(
    owner: Any, pool: list[tuple[str, Any]], method: str, weights: Floats | None, params: dict[str, Any]
) -> dict[str, Any]:
    """What the training of each expert of the pool takes beside the rows, by name."""
    given = params if weights is None else {**params, "sample_weight": weights}
    pool = [(name, estimator) for name, estimator in pool if not is_frozen(estimator)]
    if _routing_enabled():
        routing = process_routing(router(owner, pool), method, **given)
        by_name = {name: routing[name][training_method(estimator)] for name, estimator in pool}
        for name, estimator in pool:
            refused = sorted(set(by_name[name]) - {"sample_weight"})
            if refused and not hasattr(estimator, "partial_fit"):
                raise ValueError(
                    f"expert {name!r} ({type(estimator).__name__}) has no partial_fit: of metadata it can only be "
                    f"given sample_weight, not {refused}"
                )
            if isinstance(estimator, IncrementalPipeline):
                estimator.routed(by_name[name])  # complains if a step has not said whether it wants something
        return by_name
    _raise_for_params(params, owner, method)
    for name, estimator in pool:
        if weights is not None and not takes_sample_weight(estimator):
            raise ValueError(f"expert {name!r} ({type(estimator).__name__}) takes no sample_weight")
    return {name: given for name, _ in pool}


def takes_sample_weight(estimator: Any) -> bool:
    """Whether an expert's training takes ``sample_weight``; an incremental pipeline hands it to its last step,
    and one that takes anything to the estimator that it holds."""
    if isinstance(estimator, IncrementalPipeline):
        return takes_sample_weight(estimator.steps[-1][1])
    if isinstance(estimator, SlidingWindow):
        return takes_sample_weight(estimator.estimator)
    if isinstance(estimator, FromRiver):
        return takes_weights(estimator.model)
    parameters = signature(getattr(estimator, training_method(estimator))).parameters
    hands_on = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    if hands_on and "sample_weight" not in parameters and hasattr(estimator, "estimator"):
        return takes_sample_weight(estimator.estimator)
    return "sample_weight" in parameters
