"""Version of this package in pickled estimators, with a warning where it differs."""

from __future__ import annotations

from typing import Any
from warnings import warn

from sklearn.exceptions import InconsistentVersionWarning

from .._version import __version__
from ..engine import lock_of, shared_state


class VersionedState:
    """Mixin that pickles the state between two rounds, and warns when another version wrote it."""

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            return {**shared_state(self, super().__getstate__()), "_ltm_sklearn_version": __version__}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        written_by = state.pop("_ltm_sklearn_version", "an unknown version")
        if type(written_by) is not str:  # the warning would call its __str__, which a crafted file may choose
            raise ValueError("the version of ltm_sklearn in the pickled state is not a string")
        if written_by != __version__:
            warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=__version__,
                    original_sklearn_version=written_by,
                ),
                stacklevel=2,
            )
        super().__setstate__(state)  # type: ignore[misc]
