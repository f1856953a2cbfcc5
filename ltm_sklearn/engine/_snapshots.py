"""Which fitted models are kept, when they are copied, and which is given up when there are too many."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from math import sqrt
from statistics import median
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._param_checks import check_count, check_flag, check_number
from .._typing import Floats
from ..recording import logger
from ._expert_stats import ExpertStats
from ._models import Expert, Models
from ._recent_rounds import RecentRounds

__all__ = ["DriftDetector", "Snapshots"]

#: Snapshots of one learner are compared on about this many recent rows.
ROWS_TO_COMPARE = 200

#: The ring holds this many copies, taken four times as often as snapshots are.
RING_SIZE, COPIES_PER_SNAPSHOT = 2, 4

#: Where there is no schedule, the ring and the grace of a new snapshot go by this many rows.
ROWS_WITHOUT_SCHEDULE = 200


class Pool(Protocol):
    """What :class:`Snapshots` asks of the engine."""

    experts: list[Expert]
    expert_stats: ExpertStats
    n_rows: int

    def add_expert(self, expert: Expert, like: Expert | None = None) -> None: ...

    def remove_expert(self, expert: Expert) -> None: ...

    def seat(self, expert: Expert, model: Any, trained: bool) -> None: ...


class Score(Protocol):
    """What :class:`Snapshots` asks of the score."""

    n_outputs: int

    def sanitized(self, predictions: Floats) -> Floats: ...

    def disagreements(self, one: Floats, others: Floats, y: Any, /) -> Floats: ...

    def losses(self, y: Any, predictions: Floats, mixture: Floats | None) -> Floats: ...


class RoundObservation(NamedTuple):
    """What a round told of the experts."""

    said: Floats  #: (n_experts, n_rows, n_outputs)
    awake: NDArray[np.bool_] | None  #: (n_experts, n_rows); None: everywhere
    losses_of_live: Sequence[float]  #: of the live learners that were awake


class DriftDetector(Protocol):
    """Anything with River's interface of a drift detector."""

    drift_detected: bool

    def update(self, x: float) -> Any: ...


class RisingLoss:
    """Alarm when a learner's recent loss is far above its mean: an exponentially weighted moving average chart.

    Parameters
    ----------
    weight_of_new : float
        Weight of the newest loss in the recent one.
    deviations : float
        How many of its standard deviations the recent loss must lie above the mean.
    warm_up : int
        Losses to see before the first alarm.
    """

    def __init__(self, weight_of_new: float = 0.05, deviations: float = 4.0, warm_up: int = 30) -> None:
        self.weight_of_new, self.deviations, self.warm_up = weight_of_new, deviations, warm_up
        self._begin()

    def _begin(self) -> None:
        self.drift_detected = False
        self._n, self._mean, self._squares, self._recent = 0, 0.0, 0.0, 0.0

    def update(self, x: float) -> None:
        """Take in a loss and set ``drift_detected``; after an alarm it begins anew."""
        if self.drift_detected:
            self._begin()
        self._n += 1
        step = x - self._mean
        self._mean += step / self._n
        self._squares += step * (x - self._mean)
        if self._n == 1:
            self._recent = x
        one_alone = min(x, self._recent) <= self._mean
        self._recent += self.weight_of_new * (x - self._recent)
        # A learner that was right so far has no variance: its first mistake alone is no drift.
        deviation = max(sqrt(self._squares / self._n), 0.1 * abs(self._mean))
        share = self.weight_of_new / (2.0 - self.weight_of_new)
        limit = self.deviations * deviation * sqrt(share)
        rises = self._n >= self.warm_up and not one_alone and self._recent - self._mean > limit
        self.drift_detected = bool(rises)


class Snapshots(BaseEstimator):
    """Concept memory: frozen copies of the learners, weighted as experts beside them.

    Learners forget what they do not see, or blur it with what they see later. A copy that is never trained again does
    neither; when its concept returns, the expert algorithm finds it within a few rounds.

    Parameters
    ----------
    every : int or None, default=200
        Copy the learner that did best since the last snapshot, after so many rows. None: only at alarms.
    on_drift : bool or drift detector, default=True
        Copy also when the learners' loss rises: the copy is one from before the alarm, unless the last snapshot is
        just a few rows old. True uses a small built-in detector; any object with River's ``update`` and
        ``drift_detected`` may be given, such as
        ``river.drift.ADWIN()``.
    max_size : int, default=20
        How many snapshots are kept. The one with the lowest mean weight since it was taken is given up first, but none
        that is younger than twice ``every``.
    restart : bool, default=True
        Train a second, *young* learner beside each one, that begins afresh after each snapshot. Without it all copies
        of a learner that never forgets are blurred.
    merge : float or None, default=0.98
        When a new snapshot and an old one of the same learner agree on more than this share of recent rows, only the
        better of the two is kept (in regression: when they differ, in the mean, by less than ``1 - merge`` of the width
        of the targets' distribution, six times its median absolute deviation). None: all are kept.

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


class SnapshotMemory:
    """A run of :class:`Snapshots`: called after each round, it copies, restarts, merges and evicts."""

    def __init__(self, snapshots: Snapshots) -> None:
        snapshots._check_parameters()
        self.parameters = snapshots
        self.detector = self._detector()
        self.rows = 0  #: since the last snapshot
        self.ring: list[tuple[str, Any]] = []  #: copies of the best learner and their sources, the oldest first
        self.rows_since_copy = 0
        self.recent = RecentRounds(ROWS_TO_COMPARE)  #: on which snapshots are compared

    def begin(self, pool: Pool, models: Models) -> None:
        """Give each live learner a young one."""
        for expert in [expert for expert in pool.experts if expert.kind == "live"]:
            if self.parameters.restart:
                young = Expert(f"{expert.source}@restarted", expert.source, "restarted", models.fresh(expert.source), 0)
                pool.add_expert(young, like=expert)

    def follow(self, pool: Pool) -> None:
        """Experts have taken other seats."""
        self.recent.follow(pool.experts)

    def after_round(
        self, pool: Pool, models: Models, score: Score, X: Any, targets: Any, told: RoundObservation
    ) -> None:
        """Do what is due after a round with these rows and targets."""
        self.rows += len(targets)
        self.rows_since_copy += len(targets)
        if self.parameters.merge is not None:
            self.recent.add(models, X, targets, told.said, told.awake)
        alarm = self._alarm(told.losses_of_live)
        is_due = self.parameters.every is not None and self.rows >= self.parameters.every
        copy_is_due = self.detector is not None and self.rows_since_copy >= self._rows() // COPIES_PER_SNAPSHOT
        if not (alarm or is_due or copy_is_due):
            return
        lately = pool.expert_stats.mean_losses_lately().tolist()
        able = [expert.learns and expert.trained and not expert.held_up for expert in pool.experts]
        learners = np.flatnonzero(able).tolist()
        if not learners:
            return
        best = pool.experts[min(learners, key=lately.__getitem__)]
        if alarm:
            logger.info("row %d: alarm: the loss of the learners has risen", pool.n_rows)
        if alarm or is_due:
            from_ring = alarm and self.ring
            source, model = self.ring[0] if from_ring else (best.source, models.copy(best.model))
            self._take(pool, models, score, source, model)
            self._restart(pool, models)
        else:
            self.ring = [*self.ring, (best.source, models.copy(best.model))][-RING_SIZE:]
            self.rows_since_copy = 0

    def _restart(self, pool: Pool, models: Models) -> None:
        """Begin to count anew, and let the young learners begin afresh."""
        self.rows = self.rows_since_copy = 0
        self.ring = []
        pool.expert_stats.begin_lately()
        for expert in pool.experts:
            if expert.kind == "restarted" and not expert.held_up:  # afresh, it might hang again, and again
                pool.seat(expert, models.fresh(expert.source), trained=False)

    def _rows(self) -> int:
        return self.parameters.every or ROWS_WITHOUT_SCHEDULE

    def _detector(self) -> DriftDetector | None:
        on_drift = self.parameters.on_drift
        if isinstance(on_drift, bool | np.bool_):
            return RisingLoss() if on_drift else None
        return copy.deepcopy(on_drift)

    def _alarm(self, losses: Sequence[float]) -> bool:
        """Whether the loss of the live learners has risen; of several, the median's, lest one that is odd decides."""
        if self.detector is None or not losses:
            return False
        self.detector.update(median(losses))
        return bool(self.detector.drift_detected)

    def _take(self, pool: Pool, models: Models, score: Score, source: str, model: Any) -> None:
        """Let a snapshot join, in the seat of one that it agrees with if there is one."""
        name = f"{source}@{pool.n_rows}"
        snapshots = [expert for expert in pool.experts if expert.kind == "snapshot"]
        twin = self._twin(snapshots, models, score, source, model)
        if twin is not None:
            expert, better = twin
            if not better:
                logger.info("row %d: no snapshot of %r: %s is as good", pool.n_rows, source, expert.name)
            else:
                logger.info(
                    "row %d: snapshot %s in the place of %s, with which it agrees", pool.n_rows, name, expert.name
                )
                pool.seat(expert, model, trained=True)  # with the weight, and the past, of the old one
                expert.name = name
                self.recent.forget(expert)
                self.follow(pool)
            return
        if len(snapshots) >= self.parameters.max_size:
            grown = [expert for expert in snapshots if pool.n_rows - expert.joined >= 2 * self._rows()]
            weights = dict(zip(pool.experts, pool.expert_stats.mean_weights().tolist(), strict=True))
            least = min(grown or snapshots, key=weights.__getitem__)
            logger.info("row %d: %s is given up: mean weight %.2g", pool.n_rows, least.name, weights[least])
            pool.remove_expert(least)
        logger.info("row %d: snapshot %s", pool.n_rows, name)
        pool.add_expert(Expert(name, source, "snapshot", model, pool.n_rows, trained=True))
        self.follow(pool)

    def _twin(
        self, snapshots: list[Expert], models: Models, score: Score, source: str, model: Any
    ) -> tuple[Expert, bool] | None:
        """The snapshot that agrees with a model most, if it does so enough, and whether the model is better than it."""
        if self.parameters.merge is None:
            return None
        kin = [expert for expert in snapshots if expert.source == source]
        if not kin:
            return None
        targets = self.recent.targets()
        own = self.recent.answers(models, model, score.n_outputs)
        said = score.sanitized(np.stack([own, *self.recent.answers_of(models, kin, score.n_outputs)]))
        known = np.asarray(np.isfinite(said).all(axis=2))
        both = known[1:] & known[0]
        n_both = np.maximum(both.sum(axis=1), 1)
        apart = np.where(both, score.disagreements(said[0], said[1:], targets), 0.0).sum(axis=1) / n_both
        apart[n_both < len(targets) / 2] = np.inf  # too little to go by
        closest = int(apart.argmin())
        if not 1.0 - apart[closest] > self.parameters.merge:
            return None
        here = both[closest]
        lost, its_loss = score.losses(targets[here], said[[0, 1 + closest]][:, here], None).mean(axis=1)
        return kin[closest], bool(lost <= its_loss)
