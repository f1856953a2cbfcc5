"""Rows whose labels come later: ``issue`` predicts them under ids, ``learn`` learns them when the labels come."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._frames import last_rows
from .._param_checks import check_weights
from ..engine import ExpertFailure, RoundPredictions, changing, unchanged_on_error
from ._base import BaseLongTermMemory
from ._validation import check_rows


class DelayedLabelsEnsemble(BaseLongTermMemory):
    """Base class of the estimators that adds ``issue`` and ``learn``."""

    def issue(self, X: Any, ids: Any) -> Any:
        """Predict rows whose targets will come later, and keep the rows and predictions for :meth:`learn`.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to predict.
        ids : sequence of length n_samples
            Hashable ids of the rows. When more than ``max_pending`` rows wait, those that have waited longest are
            discarded.

        Returns
        -------
        ndarray of shape (n_samples,)
            The same as :meth:`predict`.
        """
        with changing(self):
            return self._decision(self._issue_under(ids, X).mixture)

    def _issue_under(self, ids: Any, X: Any) -> RoundPredictions:
        check_is_fitted(self)
        ids, X = _as_list(ids), check_rows(self, X, reset=False)
        if len(ids) != _num_samples(X):
            raise ValueError(f"there are {len(ids)} ids for {_num_samples(X)} rows")
        self._pending.check_new(ids)
        issued = self._query_experts(X, held=self._pending.n_issues + 1)
        self._pending.hold(ids, last_rows(X, len(ids)), issued)
        self._engine.note(issued.reports)
        return issued

    def learn(self, ids: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn issued rows whose targets have come, in any order.

        Rows that were issued together are one round. It is scored with the predictions and weights issued then.
        Experts that joined or restarted since then sleep in it. If a round raises an error, the rounds before it are
        complete.

        Parameters
        ----------
        ids : sequence of length n_samples
            Ids that were given to :meth:`issue`.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        self
        """
        with changing(self):
            return self._learn_issued(ids, y, sample_weight)

    def _learn_issued(self, ids: Any, y: Any, sample_weight: Any) -> Self:
        check_is_fitted(self)
        reports: list[ExpertFailure] = []
        with unchanged_on_error(self):
            ids = _as_list(ids)
            due = self._pending.due(ids)
            y, targets = self._check_targets(y)
            if len(y) != len(ids):
                raise ValueError(f"there are {len(ids)} ids for {len(y)} targets")
            weights = check_weights(sample_weight, np.empty((len(ids), 1)))
            self._routed("partial_fit", weights, {})  # raises before anything is done
            for issue in due:
                part = None if weights is None else weights[issue.at]
                if part is None or part.any():  # an issue without weight is not a round
                    adapter = self._adapter(self._routed("partial_fit", part, {}))
                    X = _safe_indexing(issue.X, issue.rows)
                    issued = issue.issued.recalled(issue.rows, self._engine.pool.experts, self._engine.score.n_outputs)
                    reports += self._learn(adapter, X, y[issue.at], targets[issue.at], part, issued)
                self._pending.release([ids[at] for at in issue.at])
        self._engine.note(reports)
        return self


def _as_list(ids: Any) -> list[Any]:
    try:
        return list(ids.tolist() if hasattr(ids, "tolist") else ids)
    except TypeError:
        raise ValueError(f"ids={ids!r} must be a sequence with one id for each row") from None
