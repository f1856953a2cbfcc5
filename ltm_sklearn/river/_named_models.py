"""Named models: a list of (name, model) pairs or a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from river import base

from ._from_sklearn import as_river_model


class NamedModels(base.Ensemble):
    """Base class of River ensembles whose models have names."""

    def __init__(self, models: Iterable[tuple[str, Any]] | Mapping[str, Any]) -> None:
        pairs = _checked_pairs(models)
        self._is_mapping = isinstance(models, Mapping)
        self._names = [name for name, _ in pairs]
        super().__init__(as_river_model(model) for _, model in pairs)

    @property
    def models(self) -> Any:
        """Names and models, as a list of pairs or a dictionary, as they were given."""
        pairs = zip(self._names, self.data, strict=True)
        return dict(pairs) if self._is_mapping else list(pairs)

    @property
    def _min_number_of_models(self) -> int:
        return 1

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return a fresh ensemble with the same parameters and untrained models."""
        untrained = {name: model.clone() for name, model in zip(self._names, self.data, strict=True)}
        params = {"models": untrained if self._is_mapping else list(untrained.items()), **(new_params or {})}
        cloned: Self = super().clone(params, include_attributes)  # type: ignore[misc]
        return cloned


def _checked_pairs(models: Any) -> list[tuple[str, Any]]:
    """Return names and models; a ValueError says what to write instead."""
    try:
        items = list(models.items() if isinstance(models, Mapping) else models)
    except TypeError:
        raise ValueError(f"models={models!r} must be a list of (name, model) pairs or a dictionary") from None
    if not all(isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str) for item in items):
        kinds = [type(item).__name__ for item in items]
        shown = ", ".join(f'("{kind}", {kind}(...))' for kind in kinds)
        raise ValueError(
            f"models must have names: write models=[{shown}], with names of your choice, or a dictionary of the models "
            "by name."
        )
    names = [name for name, _ in items]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"names of models must be unique: {duplicates!r} occur more than once")
    if marked := [name for name in names if "@" in name]:
        raise ValueError(f"names of models must not contain @, which marks snapshots and the stack: {marked!r}")
    return [(name, model) for name, model in items]
