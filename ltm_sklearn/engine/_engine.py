"""The engine: one round predicts, scores the predictions, updates the weights, trains the experts, takes snapshots.

The engine knows neither scikit-learn's models nor River's. It calls them through :class:`Models`. It holds all state
that lasts from round to round, so that it pickles as a whole.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..aggregation import RoundLosses, RoundWeighting, SelectedRoundLosses, Stack, restrict_rows, weighted_mean
from ..losses import ClassificationScore, RegressionScore
from ..recording import History, LogFile, Record, RunCallback
from ._expert_pool import Expert, ExpertPool
from ._failure_log import ExpertFailure, FailureLog, NoPredictionError
from ._model_calls import (
    CallFailure,
    ModelCall,
    are_trained_in_threads,
    are_trained_in_turn,
    copy_to_train,
    error_text,
    map_calls,
    predict_rows,
    train_model,
    waiting_once,
)
from ._models import Models
from ._round import RoundPredictions, RoundResult
from ._snapshot_memory import RoundObservation, SnapshotMemory

#: Failures of a restarted expert cause no warning during its first rows.
WARM_UP_ROWS = 50

#: After a round that the compiled round could not do, the engine does this many rounds itself.
ROUNDS_WITHOUT_COMPILED = 20


class Engine:
    """The experts, their weights, and the rounds.

    The K models are the experts of the paper. Each round gives every expert a loss, and the weighting turns these
    losses into weights: by default with :class:`LongTermMemory`, a generalisation of Algorithm 2, which
    ``experts/reference.py`` has as printed.

    Parameters
    ----------
    weighting : RoundWeighting
        Before its first round.
    score : ClassificationScore or RegressionScore
        Losses of the predictions.
    combine : {"average", "leader", "sample"}
        How the predictions of the experts are combined.
    each_row : bool
        Whether each row is a round; otherwise each call is.
    raises : bool
        Whether an expert's error is raised, with the state as it was before the round; otherwise the expert sleeps.
    memory : SnapshotMemory or None
        Concept memory.
    history : History or None
        Records of the rounds.
    seed : int
        Seed of the draws: of ``combine="sample"``, or of the experts to query.
    log : LogFile, optional
        File that mirrors the history.
    """

    def __init__(
        self,
        weighting: RoundWeighting,
        score: ClassificationScore | RegressionScore,
        combine: str,
        each_row: bool,
        raises: bool,
        memory: SnapshotMemory | None,
        history: History | None,
        seed: int,
        log: LogFile | None = None,
    ) -> None:
        self.pool = ExpertPool(weighting)
        self.score = score
        self.combine = combine
        self.each_row = each_row
        self.failures = FailureLog(raises)
        self.memory = memory
        self.history = history
        self.callback = RunCallback(history, log)
        self.seed = seed
        self.n_rounds = 0
        self.n_rows = 0
        self.compiled_from = 0  #: the first round that may be compiled

    def begin(self, experts: Iterable[Expert], models: Models) -> None:
        """Start with these experts; add the stack and, with a concept memory, restarted experts."""
        self.pool.begin(experts)
        stack = Stack(len(self.pool.experts))
        if self.score.uses_margin and stack.n_experts > 1 and stack.fits(self.score.n_outputs):
            self.pool.add_expert(Expert("@stack", "", "stack", stack, 0, trained=True))
        if self.memory is not None:
            self.memory.begin(self.pool, models)

    # Predicting --------------------------------------------------------------------------------------------------

    def predict(
        self, X: Any, n_rows: int, models: Models, n_jobs: int | None = None, held: int = 0
    ) -> RoundPredictions:
        """Query the experts about some rows and combine their predictions. The state does not change.

        ``held`` numbers, from 1, the predictions whose targets come later: each of them has a draw of its own.
        """
        experts, weighting = list(self.pool.experts), self.pool.weighting
        shape = (n_rows, self.score.n_outputs)
        able = np.array([expert.can_be_queried for expert in experts])
        selected = weighting.select_experts(able, n_rows, self._generators(n_rows, held))
        queried = np.flatnonzero(able if selected is None else selected.probabilities.any(axis=1)).tolist()
        calls = []
        for index in queried:
            rows = None if selected is None else np.flatnonzero(selected.probabilities[index])
            rows = None if rows is None or len(rows) == n_rows else rows
            calls.append(ModelCall(predict_rows, experts[index].model, (models, X, shape, rows)))
        with np.errstate(all="ignore"):  # NaN and infinite predictions are found below
            outputs = map_calls(calls, n_jobs)
        outputs_of: dict[int, Floats] = {}
        errors: list[BaseException] = []
        reports: list[ExpertFailure] = []
        for index, output in zip(queried, outputs, strict=True):
            if isinstance(output, CallFailure):
                errors.append(output.error)
                if not self.is_warming_up(experts[index]):
                    reports.append(self.failures.report(experts[index], "predict", output))
            elif output is not None:
                outputs_of[index] = output
        predictions, awake = self._sanitized(outputs_of, len(experts), shape)
        if outputs_of and not awake[list(outputs_of)].all():
            failure = CallFailure(
                NoPredictionError("the prediction is NaN, infinite, absurdly large or a negative probability")
            )
            missing = ~awake if selected is None else ~awake & (selected.probabilities > 0.0)
            for index in outputs_of:
                if missing[index].any() and not self.is_warming_up(experts[index]):
                    reports.append(self.failures.report(experts[index], "predict", failure))
        stack = self.pool.stack()
        if stack is not None and stack.model.fits(shape[1]):  # otherwise it sleeps, and is removed after the round
            index = stack.model.n_experts  # its place is behind the experts whose predictions it takes
            predictions[index], awake[index] = stack.model.predict(predictions[:index]), awake[:index].any(axis=0)
        parts = weighting.member_weights()
        weights = weighting.weights_in_use(parts)
        mixture = self._combined(predictions, awake, weights, None if selected is None else selected.first)
        born = [expert.born for expert in experts]
        chances = None if selected is None else selected.probabilities
        return RoundPredictions(experts, born, predictions, awake, weights, parts, mixture, chances, errors, reports)

    def _generators(self, n_rows: int, held: int) -> Iterator[np.random.Generator]:
        """Yield a generator for each round of these rows; repeated calls for the same rounds draw the same numbers."""
        for at in range(self.n_rounds, self.n_rounds + (n_rows if self.each_row else 1)):
            yield np.random.default_rng([self.seed, at, held] if held else [self.seed, at])

    def _sanitized(
        self, outputs: dict[int, Floats], n_experts: int, shape: tuple[int, int]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return sanitized predictions (n_experts, n_rows, n_outputs), 0 where an expert sleeps, and a mask."""
        predictions = np.zeros((n_experts, *shape))
        awake = np.zeros((n_experts, shape[0]), dtype=np.bool_)
        if outputs:
            with np.errstate(all="ignore"):
                sanitized = self.score.sanitized(np.stack(list(outputs.values())))
                # the sum of sanitized numbers is finite if they are; a product is the fastest sum of few
                finite: NDArray[np.bool_] = np.isfinite(sanitized @ np.ones(shape[1]))
            if not finite.all():
                sanitized[~finite] = 0.0
            if len(outputs) == n_experts:
                return sanitized, finite
            indices = list(outputs)
            predictions[indices], awake[indices] = sanitized, finite
        return predictions, awake

    def _combined(
        self,
        predictions: Floats,
        awake: NDArray[np.bool_],
        weights: Floats,
        first: NDArray[np.intp] | None = None,
        plain_mean: bool = False,
    ) -> Floats:
        """Return the mixture (n_rows, n_outputs) under weights (n_experts,) or (n_rows, n_experts).

        ``first``, (n_rows,), are the experts that were drawn first, if not all were queried. Rows in which all experts
        sleep get the fallback.
        """
        if self.combine == "average" or plain_mean:
            mixture = weighted_mean(predictions, awake, weights)
        else:
            played, rows = restrict_rows(weights, awake), np.arange(awake.shape[1])
            chosen = played.argmax(axis=1)
            if self.combine == "sample":
                chosen = self._sampled(played) if first is None else np.where(awake[first, rows], first, chosen)
            mixture = predictions[chosen, rows]
        some_awake = awake.any(axis=0, keepdims=True).T
        return mixture if some_awake.all() else np.where(some_awake, mixture, self.score.fallback())

    def _sampled(self, weights: Floats) -> NDArray[np.intp]:
        """Draw one expert for each row by its weights (n_rows, n_experts)."""
        u = np.array([generator.random() for generator in self._generators(len(weights), held=0)])
        levels = np.cumsum(weights, axis=1)
        return (levels <= u[:, np.newaxis] * levels[:, -1:]).sum(axis=1)

    def is_warming_up(self, expert: Expert) -> bool:
        """Return whether an expert was restarted a few rows ago: that it cannot predict yet is expected."""
        return expert.kind == "restarted" and self.n_rows - expert.born < WARM_UP_ROWS

    # Learning ----------------------------------------------------------------------------------------------------

    @waiting_once()
    def learn(
        self,
        X: Any,
        y: Any,
        targets: Any,
        sample_weight: Floats | None,
        models: Models,
        n_jobs: int | None = None,
        issued: RoundPredictions | None = None,
    ) -> list[ExpertFailure]:
        """Do a round, or one for each row, with the predictions that were issued for these rows, or with new ones.

        ``targets`` are for the score, ``y`` for the models. Returns the failures, to be passed to :meth:`note` once the
        caller has finished the round.
        """
        n_rows = len(targets)
        n_rounds = n_rows if self.each_row else 1
        row_weights = np.ones(n_rows) if sample_weight is None else sample_weight / sample_weight.max()

        # Predict.
        predictions = self.predict(X, n_rows, models, n_jobs) if issued is None else issued

        # Score the predictions and update the weights, on copies where an error may follow.
        score = copy.copy(self.score)
        score.observe(targets[row_weights > 0.0])

        def mean_loss(mixture: Floats) -> float:
            return float(np.average(score.mixture_loss(targets, mixture), weights=row_weights))

        learners = [expert for expert in self.pool.experts if expert.learns]
        is_followed = self.history is not None or self.callback.listens
        may_fail = (
            self.failures.raises
            or (self.each_row and (score.uses_gradient or is_followed))
            or predictions.chances is not None
            or not are_trained_in_turn([expert.model for expert in learners], n_jobs)
        )
        weighting = self.pool.weighting.copy() if may_fail else self.pool.weighting
        is_recorded = is_followed and bool(self.n_rounds or predictions.awake.any())  # else there was no prediction
        weights_change = self.each_row and issued is None  # from row to row, and the mixture with them
        loss = uniform_loss = np.nan
        if is_recorded and predictions.all_were_queried:
            n_experts = len(predictions.experts)
            uniform = np.full(n_experts, 1.0 / n_experts)
            uniform_loss = mean_loss(
                self._combined(predictions.predictions, predictions.awake, uniform, plain_mean=True)
            )
        if is_recorded and not weights_change:
            loss = mean_loss(predictions.mixture)
        result = RoundResult.all_asleep(predictions)
        if predictions.scored[:, row_weights > 0.0].any():
            result = self._update(weighting, predictions, score, targets, row_weights)
        mixture = result.mixture if weights_change else predictions.mixture
        if is_recorded and weights_change:
            loss = mean_loss(mixture)

        # Train the experts.
        failures, exit_ = self._train(learners, X, y, models, n_jobs, predictions)
        reports = predictions.reports + failures

        # The round is complete: nothing below raises an error.
        if self.pool.compiled_round is not None:  # it could not do this round, nor perhaps the next ones
            self.pool.compiled_round, self.compiled_from = None, self.n_rounds + ROUNDS_WITHOUT_COMPILED
        self.complete_round(n_rows, n_rounds, self.pool.with_weighting(weighting), score)
        self.pool.stats.add_round(result.losses, result.weights, n_rounds * result.awake)
        if predictions.chances is not None:
            self.pool.stats.add_skipped(result.weights, n_rounds * (1.0 - result.awake))
        if is_recorded:
            weights = result.weights if self.each_row else predictions.weights
            record = Record(
                self.n_rounds,
                n_rounds,
                loss,
                predictions.by_name(weights),
                predictions.by_name(result.losses, result.awake > 0.0),
                self.n_rows,
                n_rows,
                uniform_loss,
                *(_mean_values(predictions, mixture, targets, row_weights) if score.learns_range else ()),
            )
            moment = time.time()
            if self.history is not None:
                self.history.add(record, moment)
            if self.callback.listens:
                self.callback.on_round(record, moment)

        # Take snapshots.
        if self.memory is not None:
            losses_of_live = result.losses_of_live(predictions.experts)
            reports += self.remember(
                models,
                RoundObservation(X, targets, predictions.predictions, predictions.awake, losses_of_live, self.n_rows),
            )
        self._train_stack(predictions, targets, row_weights)
        if exit_ is not None:
            raise exit_
        return reports

    def complete_round(
        self,
        n_rows: int,
        n_rounds: int = 1,
        pool: ExpertPool | None = None,
        score: ClassificationScore | RegressionScore | None = None,
    ) -> None:
        """Count rounds and replace the pool and the score in one assignment, which an interrupt cannot divide."""
        self.__dict__.update(
            pool=self.pool if pool is None else pool,
            score=self.score if score is None else score,
            n_rounds=self.n_rounds + n_rounds,
            n_rows=self.n_rows + n_rows,
        )

    def _update(
        self,
        weighting: RoundWeighting,
        predictions: RoundPredictions,
        score: ClassificationScore | RegressionScore,
        targets: Any,
        row_weights: Floats,
    ) -> RoundResult:
        """Score the predictions and update the weights of the experts."""
        # Predictions that were issued before the range of the targets was known have not been clipped to it.
        values = predictions.predictions
        values = score.clipped(values) if isinstance(score, RegressionScore) else values
        if predictions.chances is None:
            losses = RoundLosses(score, targets, values, predictions.awake, row_weights)
        else:
            losses = SelectedRoundLosses(score, targets, values, predictions.awake, row_weights, predictions.chances)
        if not self.each_row:
            weighting.update(losses, predictions.parts, predictions.mixture)
            return RoundResult(
                losses.losses,
                losses.participation,
                predictions.mixture,
                weighting.weights_in_use(weighting.member_weights()),
            )
        played = weighting.update_rows(losses)
        mixture = predictions.mixture  # with selected experts: they were drawn for all rows at once
        if predictions.chances is None:
            mixture = self._combined(losses.predictions, losses.awake, played)
        return RoundResult(losses.losses, losses.participation, mixture, played.mean(axis=0))

    def _train(
        self,
        learners: list[Expert],
        X: Any,
        y: Any,
        models: Models,
        n_jobs: int | None,
        predictions: RoundPredictions,
    ) -> tuple[list[ExpertFailure], BaseException | None]:
        """Train experts; return the reports of failures, and an exit or interrupt to raise when the round is complete.

        Copies are trained where an error may still be raised, which must leave the models as they are.
        """
        none_awake = not predictions.awake.any()
        on_copies = self.failures.raises or none_awake or are_trained_in_threads(n_jobs)
        results = [copy_to_train(expert.model) if on_copies else expert.model for expert in learners]
        trainees = list(results)
        able = [at for at, trainee in enumerate(trainees) if not isinstance(trainee, CallFailure)]
        calls = [
            ModelCall(train_model, trainees[at], (models, learners[at].source, X, y, not learners[at].trained))
            for at in able
        ]
        for at, result in zip(able, map_calls(calls, n_jobs), strict=True):
            results[at] = result
        failures = [result for result in results if isinstance(result, CallFailure)]
        exit_ = next((failure.error for failure in failures if failure.is_exit), None)
        if exit_ is not None and on_copies:
            raise exit_
        if len(failures) == len(results):  # no expert can predict or learn: the rows are to blame, not one expert
            predictions.check()
            if failures and none_awake:
                failures[0].error.add_note("raised when the first of the experts was to learn; no other can, either")
                raise failures[0].error
        reports = [
            self.failures.report(expert, "learn", result)
            for expert, result in zip(learners, results, strict=True)
            if isinstance(result, CallFailure) and not result.is_exit and not self.is_warming_up(expert)
        ]
        for expert, trainee, result in zip(learners, trainees, results, strict=True):
            if not isinstance(result, CallFailure):
                expert.model, expert.trained = result, True
            elif result.model is None:  # its worker is late; an untrained model is the copy that was sent there
                expert.model = expert.model if expert.trained else trainee
            elif expert.trained:
                expert.model = result.model
            else:
                expert.model = models.salvaged(expert.source, result.model)
        return reports, exit_

    def remember(self, models: Models, observation: RoundObservation) -> list[ExpertFailure]:
        """Let the concept memory take, merge and drop snapshots after a round; an error does not undo the round."""
        assert self.memory is not None
        try:
            self.memory.after_round(self.pool, models, self.score, observation)
        except Exception as error:
            kind = type(error).__name__
            return [ExpertFailure("", "remember", kind, f"no snapshot could be taken: {kind}: {error_text(error)}")]
        return []

    def _train_stack(self, predictions: RoundPredictions, targets: Any, row_weights: Floats) -> None:
        """Train the model of the experts' predictions; remove it when there are too many classes for it."""
        stack = self.pool.stack()
        if stack is None:
            return
        if stack.model.fits(self.score.n_outputs):
            inputs = predictions.predictions[: stack.model.n_experts]
            stack.model = stack.model.learned(inputs, targets, row_weights)
            return
        self.pool.remove_expert(stack)
        if self.memory is not None:
            self.memory.follow(self.pool)

    # Reporting ---------------------------------------------------------------------------------------------------

    def note(self, reports: list[ExpertFailure]) -> None:
        """Log, warn of and print what happened in a complete round; a warning may be made an error."""
        self.failures.note(reports, self.n_rounds, self.n_rows)
        if self.callback.has_news:
            self.report_status()

    def report_status(self, at_the_end: bool = False) -> None:
        """Let the callback print and write the status of the run, if that is due."""
        n_snapshots = sum(expert.kind == "snapshot" for expert in self.pool.experts)
        self.callback.report(len(self.pool.experts), n_snapshots, at_the_end)


def _mean_values(
    predictions: RoundPredictions, mixture: Floats, targets: Floats, row_weights: Floats
) -> tuple[float, float, dict[str, float]]:
    """Return the mean target, the mean of the mixture, and the mean prediction of each expert that was awake."""
    weights = predictions.awake * row_weights
    totals = weights.sum(axis=1)
    sums = np.einsum("en,en->e", predictions.predictions[..., 0], weights)
    means = zip(predictions.experts, sums.tolist(), totals.tolist(), strict=True)
    return (
        float(np.average(targets, weights=row_weights)),
        float(np.average(mixture[:, 0], weights=row_weights)),
        {expert.name: sum_ / total for expert, sum_, total in means if total > 0.0},
    )
