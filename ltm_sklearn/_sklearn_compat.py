"""Differences between versions of scikit-learn: experimental callbacks, from 1.9, and the module of HTML blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

__all__ = ["CallbackSupportMixin", "VisualBlock", "rounds_with_callbacks", "with_callbacks"]

Item = TypeVar("Item")

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for versions without callbacks: adds nothing."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method unchanged: this version has no callbacks."""
        return method


try:
    from sklearn.utils._repr_html.estimator import _VisualBlock as VisualBlock
except ImportError:  # before 1.7
    from sklearn.utils._estimator_html_repr import _VisualBlock as VisualBlock


def rounds_with_callbacks(estimator: Any, rounds: Sequence[Item], X: Any, y: Any) -> Iterator[Item]:
    """Yield the rounds of a fit; call the estimator's callbacks before and after each. A callback may end the fit."""
    if not getattr(estimator, "_skl_callbacks", None):
        yield from rounds
        return
    fit_context = estimator._init_callback_context(max_subtasks=len(rounds))
    fit_context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    for item in rounds:
        round_context = fit_context.subcontext(task_name="round")
        round_context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        yield item
        if round_context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={}):
            break  # a callback ends the fit
    fit_context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})
