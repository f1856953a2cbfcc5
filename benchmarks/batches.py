"""Prequential accuracy of a scikit-learn ensemble and of its experts, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ltm_sklearn import LongTermMemoryClassifier


def test_then_train(model: LongTermMemoryClassifier, X: Any, y: Any, batch_size: int) -> tuple[np.ndarray, dict]:
    """Return the accuracy in each batch, of the ensemble and of each of its live experts.

    A round's record has the loss of what ``predict`` would have returned before the batch was learned, so that experts
    need not be queried twice. Batches without a prediction, such as the first, count as wrong.
    """
    starts = range(0, len(y), batch_size)
    model.set_params(record=len(starts))
    classes = np.unique(y)
    for start in starts:
        rows = slice(start, start + batch_size)
        model.partial_fit(X[rows], y[rows], classes=classes)
    right = np.zeros(len(starts))
    experts = {expert.name: np.zeros(len(starts)) for expert in model.experts_ if expert.kind == "live"}
    for record in model.history_:
        right[record.round - 1] = 1.0 - record.loss
        for name, of_expert in experts.items():
            of_expert[record.round - 1] = 1.0 - record.losses.get(name, 1.0)
    return right, experts
