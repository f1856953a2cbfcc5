"""Concept memory: takes, merges and drops snapshots after the rounds."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from math import sqrt
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..losses import ClassificationScore, RegressionScore
from ..recording import logger
from ._expert_pool import Expert, ExpertPool
from ._models import Models
from ._recent_rounds import RecentRounds
from ._snapshots import DriftDetector, Snapshots

#: Snapshots of one learner are compared on about this many recent rows.
ROWS_TO_COMPARE = 200

#: Copies of the best learner from before an alarm: how many are kept, and how many are taken per snapshot.
MOST_COPIES, COPIES_PER_SNAPSHOT = 2, 4

#: With ``every=None``, this many rows take its place for the copies and for the protection of new snapshots.
ROWS_WITHOUT_SCHEDULE = 200


class RoundObservation(NamedTuple):
    """A complete round, as the concept memory sees it."""

    X: Any
    targets: Any
    predictions: Floats  #: (n_experts, n_rows, n_outputs)
    awake: NDArray[np.bool_] | None  #: (n_experts, n_rows); None: everywhere
    losses_of_live: Sequence[float]  #: of the live learners that were awake
    n_rows_seen: int  #: by the ensemble, with this round


class RisingLoss:
    """Alarm when a learner's recent loss is far above its mean: an exponentially weighted moving average chart.

    Parameters
    ----------
    weight_of_new : float
        Weight of the newest loss in the recent loss.
    deviations : float
        Number of its standard deviations by which the recent loss must lie above the mean.
    warm_up : int
        Number of losses before the first alarm.
    """

    def __init__(self, weight_of_new: float = 0.05, deviations: float = 4.0, warm_up: int = 30) -> None:
        self.weight_of_new, self.deviations, self.warm_up = weight_of_new, deviations, warm_up
        self._begin()

    def _begin(self) -> None:
        self.drift_detected = False
        self._n, self._mean, self._squares, self._recent = 0, 0.0, 0.0, 0.0

    def update(self, x: float) -> None:
        """Take in a loss and set ``drift_detected``; start anew after an alarm."""
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


class SnapshotMemory:
    """State of the concept memory that :class:`Snapshots` describes."""

    def __init__(self, snapshots: Snapshots) -> None:
        snapshots._check_parameters()
        self.parameters = snapshots
        self.detector: DriftDetector | None
        if isinstance(snapshots.on_drift, bool | np.bool_):
            self.detector = RisingLoss() if snapshots.on_drift else None
        else:
            self.detector = copy.deepcopy(snapshots.on_drift)
        self.rows = 0  #: since the last snapshot
        self.copies: list[tuple[str, Any]] = []  #: of the best learner, with its source, the oldest first
        self.rows_since_copy = 0
        self.recent = RecentRounds(ROWS_TO_COMPARE)  #: on which snapshots are compared

    def begin(self, pool: ExpertPool, models: Models) -> None:
        """Add a restarted learner for each live learner."""
        for expert in [expert for expert in pool.experts if expert.kind == "live"]:
            if self.parameters.restart:
                name = f"{expert.source}@restarted"
                restarted = Expert(name, expert.source, "restarted", models.fresh(expert.source), 0)
                pool.add_expert(restarted, like=expert)

    def follow(self, pool: ExpertPool) -> None:
        """Adopt a new order of the experts."""
        self.recent.follow(pool.experts)

    def after_round(
        self,
        pool: ExpertPool,
        models: Models,
        score: ClassificationScore | RegressionScore,
        observation: RoundObservation,
    ) -> None:
        """Take a snapshot, or copy the best learner for later, if either is due."""
        X, targets, predictions, awake, losses_of_live, n_rows_seen = observation
        self.rows += len(targets)
        self.rows_since_copy += len(targets)
        if self.parameters.merge is not None:
            self.recent.add(models, X, targets, predictions, awake)
        alarm = self._alarm(losses_of_live)
        is_due = self.parameters.every is not None and self.rows >= self.parameters.every
        copy_is_due = self.detector is not None and self.rows_since_copy >= self._rows() // COPIES_PER_SNAPSHOT
        if not (alarm or is_due or copy_is_due):
            return
        losses = pool.stats.mean_recent_losses().tolist()
        able = [expert.learns and expert.trained and not expert.is_late for expert in pool.experts]
        learners = np.flatnonzero(able).tolist()
        if not learners:
            return
        best = pool.experts[min(learners, key=losses.__getitem__)]
        if alarm:
            logger.info("row %d: alarm: the loss of the learners has risen", n_rows_seen)
        if alarm or is_due:
            from_before = alarm and self.copies
            source, model = self.copies[0] if from_before else (best.source, models.copy(best.model))
            self._take_snapshot(pool, models, score, source, model, n_rows_seen)
            self._restart(pool, models, n_rows_seen)
        else:
            self.copies = [*self.copies, (best.source, models.copy(best.model))][-MOST_COPIES:]
            self.rows_since_copy = 0

    def _alarm(self, losses: Sequence[float]) -> bool:
        """Return whether the loss of the live learners has risen: their median, so that one outlier does not decide."""
        if self.detector is None or not losses:
            return False
        self.detector.update(median(losses))
        return bool(self.detector.drift_detected)

    def _rows(self) -> int:
        return self.parameters.every or ROWS_WITHOUT_SCHEDULE

    def _restart(self, pool: ExpertPool, models: Models, n_rows_seen: int) -> None:
        """Count anew, and restart the restarted learners."""
        self.rows = self.rows_since_copy = 0
        self.copies = []
        pool.stats.reset_recent()
        for expert in pool.experts:
            if expert.kind == "restarted" and not expert.is_late:  # a new model of it might hang again, and again
                pool.replace_model(expert, models.fresh(expert.source), n_rows_seen, trained=False)

    def _take_snapshot(
        self,
        pool: ExpertPool,
        models: Models,
        score: ClassificationScore | RegressionScore,
        source: str,
        model: Any,
        n_rows_seen: int,
    ) -> None:
        """Add a snapshot, in place of one that it agrees with if there is one."""
        name = f"{source}@{n_rows_seen}"
        snapshots = [expert for expert in pool.experts if expert.kind == "snapshot"]
        similar = self._most_similar(snapshots, models, score, source, model)
        if similar is not None:
            expert, is_better = similar
            if not is_better:
                logger.info("row %d: no snapshot of %r: %s is as good", n_rows_seen, source, expert.name)
                return
            logger.info("row %d: snapshot %s replaces %s, with which it agrees", n_rows_seen, name, expert.name)
            pool.replace_model(
                expert, model, n_rows_seen, trained=True
            )  # with the weight and statistics of the old one
            expert.name = name
            self.recent.forget(expert)
            self.follow(pool)
            return
        if len(snapshots) >= self.parameters.max_size:
            old = [expert for expert in snapshots if n_rows_seen - expert.joined >= 2 * self._rows()]
            weights = dict(zip(pool.experts, pool.stats.mean_weights().tolist(), strict=True))
            least = min(old or snapshots, key=weights.__getitem__)
            logger.info("row %d: snapshot %s dropped: mean weight %.2g", n_rows_seen, least.name, weights[least])
            pool.remove_expert(least)
        logger.info("row %d: snapshot %s", n_rows_seen, name)
        pool.add_expert(Expert(name, source, "snapshot", model, n_rows_seen, trained=True))
        self.follow(pool)

    def _most_similar(
        self,
        snapshots: list[Expert],
        models: Models,
        score: ClassificationScore | RegressionScore,
        source: str,
        model: Any,
    ) -> tuple[Expert, bool] | None:
        """Return the snapshot that agrees most with a model, if it agrees enough, and whether the model is better."""
        if self.parameters.merge is None:
            return None
        candidates = [expert for expert in snapshots if expert.source == source]
        if not candidates:
            return None
        targets = self.recent.targets()
        own = self.recent.predict(models, model, score.n_outputs)
        stored = self.recent.predictions_of(models, candidates, score.n_outputs)
        predictions = score.sanitized(np.stack([own, *stored]))
        known = np.asarray(np.isfinite(predictions).all(axis=2))
        both = known[1:] & known[0]
        n_both = np.maximum(both.sum(axis=1), 1)
        distances = score.disagreements(predictions[0], predictions[1:], targets)
        means = np.where(both, distances, 0.0).sum(axis=1) / n_both
        means[n_both < len(targets) / 2] = np.inf  # too few rows to compare
        closest = int(means.argmin())
        if not 1.0 - means[closest] > self.parameters.merge:
            return None
        here = both[closest]
        loss, its_loss = score.losses(targets[here], predictions[[0, 1 + closest]][:, here], None).mean(axis=1)
        return candidates[closest], bool(loss <= its_loss)
