"""Named estimators, given as a list of pairs or as a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import _BaseComposition

from .._sklearn_compat import VisualBlock
from ..engine import Snapshots
from ._from_river import as_sklearn_model
from ._metadata_routing import router


def named_pairs(estimators: Any) -> list[tuple[str, Any]]:
    """Return the names and estimators of a list of pairs or of a dictionary; a ValueError says what to write."""
    try:
        items = estimators.items() if isinstance(estimators, Mapping) else estimators
        pairs = [(name, estimator) for name, estimator in items]
    except (TypeError, ValueError):
        raise no_pairs(estimators) from None
    if not all(isinstance(name, str) for name, _ in pairs):
        raise ValueError(f"estimators need strings for names; got {[name for name, _ in pairs]!r}")
    return pairs


def no_pairs(estimators: Any) -> ValueError:
    """Return the error for estimators that are neither pairs nor a dictionary."""
    return ValueError(
        f"estimators={estimators!r} must be a non-empty list of (name, estimator) pairs or a dictionary. "
        'Write [("nb", GaussianNB()), ...] or {"nb": GaussianNB(), ...}.'
    )


class NamedEstimators(_BaseComposition):
    """Base class with an ``estimators`` parameter, whose entries are read, set and shown by their names."""

    estimators: list[tuple[str, Any]] | dict[str, Any] | None
    memory: Snapshots | str | None
    _default_pool: Callable[[int | None], list[tuple[str, Any]]]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Also return each estimator by its name, and its parameters as ``name__parameter``.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and self.estimators is not None:
            with suppress(ValueError):  # estimators that are none are reported when the ensemble is fitted
                pairs = named_pairs(self.estimators)
                params.update(pairs)
                for name, estimator in pairs:
                    if hasattr(estimator, "get_params"):
                        nested = estimator.get_params(deep=True)
                        params.update({f"{name}__{key}": value for key, value in nested.items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Parameters of the ensemble; ``name__parameter`` of an estimator; or an estimator by its name, where
            ``"drop"`` removes it.

        Returns
        -------
        self
        """
        if isinstance(self.memory, str) and any(name.startswith("memory__") for name in params):
            self.memory = Snapshots()  # "auto" stands for it, and it has parameters that can be set
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if self.estimators is not None:
            with suppress(ValueError):
                pairs = named_pairs(self.estimators)
                if replaced := {name: params.pop(name) for name, _ in pairs if name in params}:
                    new = [(name, replaced.get(name, estimator)) for name, estimator in pairs]
                    self.estimators = dict(new) if isinstance(self.estimators, Mapping) else new
        super().set_params(**params)
        return self

    def _pool(self, seed: int | None = None) -> list[tuple[str, Any]]:
        """Return names and estimators without the dropped ones; River's models are wrapped."""
        pairs = self._default_pool(seed) if self.estimators is None else named_pairs(self.estimators)
        return [(name, as_sklearn_model(estimator)) for name, estimator in pairs if not isinstance(estimator, str)]

    def get_metadata_routing(self) -> MetadataRouter:
        """Get the metadata routing: ``sample_weight`` is used by the ensemble and passed to experts that request it.

        Returns
        -------
        MetadataRouter
        """
        return router(self, self._pool())

    def _sk_visual_block_(self) -> Any:
        names, estimators = zip(*(named_pairs(self.estimators) if self.estimators else self._pool()), strict=True)
        return VisualBlock("parallel", estimators, names=names)
