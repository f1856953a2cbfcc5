"""The regressor for River."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from river import base, linear_model, preprocessing
from river.utils.dataframe import to_native_series

from ..engine import averages, lock_of, unshare
from ..losses import RegressionScore
from ._base import RiverEnsemble
from ._row_batch import RowBatch, as_narwhals
from ._target_checks import check_numbers


class LongTermMemoryRegressor(RiverEnsemble, base.MiniBatchRegressor):
    """Online combination of regressors for streams whose concepts recur.

    Experts that were accurate in an earlier regime regain their weight within a few rows when the regime returns.

    Parameters
    ----------
    models
        The experts by name, as a list of (name, model) pairs or a dictionary: regressors of River or scikit-learn. They
        are not changed: copies are trained.
    algorithm
        The algorithm that computes the weights: any of `ltm_sklearn.experts`, or its name in snake case, such as
        `"fixed_share"`. None: `LongTermMemory()`. With `feedback="bandit"` any of `ltm_sklearn.bandits`. None:
        `LongTermMemoryBandit()`.
    loss
        Loss of the experts: "squared_error", "absolute_error", "pinball", or a function. "auto" is "squared_error".
    combine
        "average" takes the weighted mean of the predictions, "leader" follows the expert with the largest weight,
        "sample" draws one expert per round.
    memory
        Which snapshots of the experts are kept: "auto", `Snapshots(...)` or None. With `feedback="bandit"`, "auto" is
        None, and snapshots need `merge=None`.
    on_error
        What happens when an expert raises an error: "warn" lets it sleep in that round, with a warning; "raise" raises
        the error and restores the ensemble, for which all models are copied in each round.
    max_pending
        How many ids may wait for their target. Beyond it those that have waited longest are discarded.
    record
        Maximum number of records in `history_`; or the path of a file in which 1,000 records are mirrored, so that
        other processes can follow the run.
    seed
        Seed of `combine="sample"` and of the selection with `feedback="bandit"`.
    feedback
        "full" queries all experts in each round, "bandit" only those that the algorithm selects, for models whose
        predictions cost money. All train on every label. A predicted row is not queried again when it is learned next,
        or under its id. With "bandit" the classes are the labels learned so far: no model is queried for its labels.
    n_queries
        Number of experts queried in a round with `feedback="bandit"`.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> from ltm_sklearn.river import LongTermMemoryRegressor
    >>> model = preprocessing.StandardScaler() | LongTermMemoryRegressor([
    ...     ("linear", linear_model.LinearRegression(intercept_lr=0.1)),
    ...     ("passive_aggressive", linear_model.PARegressor()),
    ... ])
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.476597
    """

    _kind = "regressor"

    def learn_one(self, x: dict[Any, Any], y: float, w: float | None = None, id: Hashable | None = None) -> None:
        """Learn one row: score the experts' predictions, update the weights, then train the experts.

        With the ``id`` of an earlier prediction, that prediction is scored.
        """
        with lock_of(self):
            unshare(self)
            if w is not None or id is not None or not self._learn_compiled(x, y, y):
                self._learn_one(x, y, w, id)

    def predict_one(self, x: dict[Any, Any], id: Hashable | None = None) -> float:
        """Predict the target; 0 before the first target is known.

        With an ``id``, the prediction is kept until ``learn_one`` is called with the same id.
        """
        with lock_of(self):
            if id is not None:
                unshare(self)
                return float(self._issue_under(id, x).mixture[0, 0])
            row = self._compiled_row()
            number: float | None = None if row is None else row.number(x)
            return float(self._issue(RowBatch([x])).mixture[0, 0]) if number is None else number

    def predict_many(self, X: Any) -> Any:
        """Predict the targets of the rows of a frame, as a series of the same library."""
        frame = as_narwhals(X)
        with lock_of(self):
            numbers = self._issue(RowBatch.of_frame(X)).mixture[:, 0] if len(frame) else np.empty(0)
        return to_native_series(numbers, name=None, like=frame)

    def _score(self) -> RegressionScore:
        return RegressionScore(self.loss, average=averages(self))

    def _check_targets(self, y: list[Any]) -> None:
        check_numbers(y)

    def _targets(self, y: list[Any]) -> Any:
        return np.array(y, dtype=np.float64)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {
            "models": [
                ("linear", preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)),
                ("passive_aggressive", preprocessing.StandardScaler() | linear_model.PARegressor()),
            ]
        }
