"""Checks of labels and targets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._frames import is_known, is_number
from .._river_compat import last_step


def check_labels(y: Iterable[Any], models: Iterable[Any]) -> None:
    """Raise a ValueError that names a label that is missing, not hashable, or more than a binary model can learn."""
    binary = next((model for model in models if not model._multiclass), None)
    for label in y:
        try:
            hash(label)
        except TypeError:  # its type does not show it: a tuple may contain a list
            raise ValueError(f"the label is {label!r}, which is not hashable") from None
        if not is_known(label):
            raise ValueError(f"the label is {label!r}")
        if binary is not None and label not in (False, True):
            raise ValueError(
                f"the label is {label!r}, but {type(last_step(binary)).__name__} only learns False and True. Wrap it "
                "in river.multiclass.OneVsRestClassifier."
            )


def check_numbers(y: Iterable[Any]) -> None:
    """Raise a ValueError that names a target that is not a finite number."""
    for target in y:
        if not is_number(target):
            raise ValueError(f"the target is {target!r}")
