"""Settings of the concept memory: when models are copied, and how many copies are kept."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from .._param_checks import check_count, check_flag, check_number


class DriftDetector(Protocol):
    """Protocol of River's drift detectors."""

    drift_detected: bool

    def update(self, x: float) -> Any: ...


class Snapshots(BaseEstimator):
    """Concept memory: frozen copies of the learners, weighted as experts beside them.

    Learners forget what they no longer see, or blend it with what they see later. A copy that is never trained again
    keeps its knowledge. When its concept returns, the expert algorithm finds the copy within a few rounds.

    Parameters
    ----------
    every : int or None, default=200
        Number of rows between snapshots. The learner with the smallest loss since the last snapshot is copied. None:
        take snapshots only at alarms.
    on_drift : bool or drift detector, default=True
        Take a snapshot also when the loss of the learners rises. The copy is one from before the alarm, unless the last
        snapshot is only a few rows old. True uses a small built-in detector. Any object with River's ``update`` and
        ``drift_detected`` can be given, for example ``river.drift.ADWIN()``.
    max_size : int, default=20
        Largest number of snapshots. Beyond it the snapshot with the lowest mean weight is dropped. Snapshots younger
        than twice ``every`` are kept.
    restart : bool, default=True
        Train a *restarted learner* beside each learner, which starts anew after each snapshot. Without it, all copies
        of a learner that never forgets are blends of several concepts.
    merge : float or None, default=0.98
        When a new snapshot and an earlier one of the same learner agree on more than this share of recent rows, only
        the better one is kept. In regression: when their mean difference is below ``1 - merge`` of the width of the
        targets' distribution, six times its median absolute deviation. None: keep all.

    Examples
    --------
    >>> from ltm_sklearn import LongTermMemoryClassifier, Snapshots
    >>> from sklearn.naive_bayes import GaussianNB
    >>> LongTermMemoryClassifier([("nb", GaussianNB())], memory=Snapshots(every=500, on_drift=False))
    LongTermMemoryClassifier(estimators=[('nb', GaussianNB())],
                             memory=Snapshots(every=500, on_drift=False))
    """

    def __init__(
        self,
        every: int | None = 200,
        *,
        on_drift: bool | DriftDetector = True,
        max_size: int = 20,
        restart: bool = True,
        merge: float | None = 0.98,
    ) -> None:
        self.every = every
        self.on_drift = on_drift
        self.max_size = max_size
        self.restart = restart
        self.merge = merge

    def _check_parameters(self) -> None:
        if self.every is not None:
            check_count("every", self.every)
        check_count("max_size", self.max_size)
        check_number("merge", self.merge, 0.0, 1.0)
        check_flag("restart", self.restart)
        interface = hasattr(self.on_drift, "drift_detected") and hasattr(self.on_drift, "update")
        is_detector = interface and not isinstance(self.on_drift, type)
        if not isinstance(self.on_drift, bool | np.bool_) and not is_detector:
            raise ValueError(f"on_drift={self.on_drift!r} is neither True, False nor a drift detector")
        if self.every is None and isinstance(self.on_drift, bool | np.bool_) and not self.on_drift:
            raise ValueError("Snapshots with every=None and on_drift=False would never take one: use memory=None")
