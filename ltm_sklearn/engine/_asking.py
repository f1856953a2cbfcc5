"""Whom of the experts to ask about which rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..aggregation import SelectedExperts
from ._models import Expert, Models, ask


def questions(
    models: Models, experts: list[Expert], X: Any, shape: tuple[int, int], drawn: SelectedExperts | None
) -> tuple[list[tuple[int, Expert]], list[tuple[Any, ...]]]:
    """Those who are asked, with their seats, and for each of them a function to call, and with what."""
    if drawn is None:
        asked = [(seat, expert) for seat, expert in enumerate(experts) if expert.answers]
        return asked, [(ask, models, expert.model, X, shape) for _, expert in asked]
    asked = [(seat, expert) for seat, expert in enumerate(experts) if drawn.probabilities[seat].any()]
    rows = [np.flatnonzero(drawn.probabilities[seat]) for seat, _ in asked]
    about = zip(asked, rows, strict=True)
    return asked, [(_ask_about, models, expert.model, X, here, shape) for (_, expert), here in about]


def _ask_about(models: Models, model: Any, X: Any, rows: NDArray[np.intp], shape: tuple[int, int]) -> Floats | None:
    """A model's predictions of some of the rows, in an array for all of them; NaN elsewhere."""
    if len(rows) == shape[0]:
        return ask(models, model, X, shape)
    said = ask(models, model, models.chosen(X, rows), (len(rows), shape[1]))
    if said is None:
        return None
    of_all = np.full(shape, np.nan)
    of_all[rows] = said
    return of_all
