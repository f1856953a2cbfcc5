"""What differs between versions of scikit-learn: callbacks (1.9 on, experimental) and where the HTML blocks live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

__all__ = ["CallbackSupportMixin", "VisualBlock", "announced", "with_callbacks"]

Item = TypeVar("Item")

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """No callbacks."""
        return method


try:
    from sklearn.utils._repr_html.estimator import _VisualBlock as VisualBlock
except ImportError:  # before 1.7
    from sklearn.utils._estimator_html_repr import _VisualBlock as VisualBlock


def announced(estimator: Any, rounds: Sequence[Item], X: Any, y: Any) -> Iterator[Item]:
    """The rounds of a fit, one by one; the estimator's callbacks hear of each, and may look at it or end the fit."""
    if not getattr(estimator, "_skl_callbacks", None):
        yield from rounds
        return
    whole = estimator._init_callback_context(max_subtasks=len(rounds))
    whole.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    for item in rounds:
        part = whole.subcontext(task_name="round")
        part.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        yield item
        if part.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={}):
            break  # a callback has seen enough
    whole.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})
