"""One round: predict, combine, score, update the weights, train, remember.

The engine knows neither scikit-learn's models nor River's. It reaches them through :class:`Models`, whose methods the
skins provide, and it holds everything that must survive between rounds, so that it pickles as a whole.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..aggregation import RoundLosses, RoundWeighting, Stack, restrict_rows, weighted_mean
from ..losses import ClassificationScore, RegressionScore
from ..recording import History, LogFile, Record, RunCallback
from ._asking import questions
from ._combination import plain_mean, round_losses_of, sanitize, with_fallback
from ._expert_stats import ExpertStats
from ._failures import FailureLog, NoPredictionError
from ._model_calls import (
    CallFailure,
    apart,
    attempt,
    attempt_to_learn,
    error_text,
    in_threads,
    map_tasks,
    one_by_one,
    one_round,
)
from ._models import Expert, Models
from ._round import FailureReport, Issued, RoundResult, mean_numbers
from ._snapshots import RoundObservation, SnapshotMemory

#: Rows in which a young learner may be at a loss without a warning.
WARM_UP_ROWS = 50

#: After a round that the compiled round of one row left to the engine, so many more are.
ROUNDS_WITHOUT_ROW = 20


class Engine:
    """The experts, their weights, and the round.

    Parameters
    ----------
    weighting : RoundWeighting
        Fresh; the engine runs it.
    score : ClassificationScore or RegressionScore
        From predictions to losses.
    combine : {"average", "leader", "sample"}
        How the experts' predictions become one.
    each_row : bool
        Whether each row is a round; otherwise each call is.
    raises : bool
        Whether an expert's error is raised, with everything as it was before the round; otherwise the expert sleeps.
    memory : SnapshotMemory or None
        Concept memory.
    history : History or None
        Of the rounds, if they are to be recorded.
    seed : int
        Of the draws, of "sample" or of those who are asked.
    log : LogFile, optional
        In which the history is mirrored.
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
        self.weighting = weighting
        self.score = score
        self.combine = combine
        self.each_row = each_row
        self.failures = FailureLog(raises)
        self.memory = memory
        self.history = history
        self.callback = RunCallback(history, log)
        self.seed = seed
        self.experts: list[Expert] = []
        self.expert_stats = ExpertStats(0)
        self.n_rounds = 0
        self.n_rows = 0
        self.row: Any = None  #: the compiled round of one row, where there is one
        self.row_from = 0  #: the round from which on there may be one

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "row": None}

    # The pool ----------------------------------------------------------------------------------------------------

    def begin(self, experts: Iterable[Expert], models: Models) -> None:
        """Start with these experts."""
        self.experts = list(experts)
        self.expert_stats = ExpertStats(len(self.experts))
        self.row = None
        self.weighting.begin(len(self.experts))  # a prior that was given is one over these
        stack = Stack(len(self.experts))
        if self.score.uses_margin and stack.n_experts > 1 and stack.fits(self.score.n_outputs):
            self.add_expert(Expert("@stack", "", "stack", stack, 0, trained=True))
        if self.memory is not None:
            self.memory.begin(self, models)

    def add_expert(self, expert: Expert, like: Expert | None = None) -> None:
        """Let an expert join, with the prior of another one, or with an even share."""
        share = None
        if like is not None:
            prior = self.weighting.prior_of(self.experts.index(like))
            share = prior / (1.0 + prior)  # the others' will shrink by the factor 1 - share
        weighting, expert_stats = self.weighting.copy(), copy.copy(self.expert_stats)
        weighting.add_expert(share)
        expert_stats.open()
        self._take_on([*self.experts, expert], weighting, expert_stats)

    def remove_expert(self, expert: Expert) -> None:
        """Let an expert go."""
        index = self.experts.index(expert)
        weighting, expert_stats = self.weighting.copy(), copy.copy(self.expert_stats)
        weighting.drop_expert(index)
        expert_stats.close(index)
        self._take_on([other for other in self.experts if other is not expert], weighting, expert_stats)
        expert.model = None  # what was issued before still refers to the expert

    def _take_on(self, experts: list[Expert], weighting: RoundWeighting, expert_stats: ExpertStats) -> None:
        """Another pool, in one go: what an interrupt leaves fits together."""
        self.__dict__.update(experts=experts, weighting=weighting, expert_stats=expert_stats, row=None)

    def seat(self, expert: Expert, model: Any, trained: bool) -> None:
        """Let an expert go on with another model."""
        expert.model, expert.trained, expert.born = model, trained, self.n_rows
        self.row = None

    def weights(self) -> Floats:
        """The experts' weights now."""
        return self.weighting.weights_in_use(self.weighting.member_weights())

    def stack(self) -> Expert | None:
        """The one that takes together what the others say, if there is one."""
        return next((expert for expert in self.experts if expert.kind == "stack"), None)

    def leader(self) -> Expert:
        """The expert with the largest weight, of those that can predict if there are any."""
        weights = self.weights() + np.array([1.0 if expert.trained else 0.0 for expert in self.experts])
        return self.experts[int(weights.argmax())]

    # Predicting --------------------------------------------------------------------------------------------------

    def issue(self, X: Any, n_rows: int, models: Models, n_jobs: int | None = None, held: int = 0) -> Issued:
        """Ask the experts about some rows and combine what they say. Changes nothing.

        ``held`` is the number, from 1, of rows whose targets come later: each such issue has a draw of its own.
        """
        experts = list(self.experts)
        shape = (n_rows, self.score.n_outputs)
        drawn = self.weighting.select_experts(
            np.array([expert.answers for expert in experts]), n_rows, self._randoms(n_rows, held)
        )
        asked, tasks = questions(models, experts, X, shape, drawn)
        with np.errstate(all="ignore"):  # what comes of it, NaN or infinite, is looked at
            answers = list(map_tasks(attempt, tasks, n_jobs))
        said: dict[int, Floats] = {}
        errors: list[BaseException] = []
        reports: list[FailureReport] = []
        for (seat, expert), answer in zip(asked, answers, strict=True):
            if not isinstance(answer, CallFailure):
                if answer is not None:
                    said[seat] = answer
                continue
            errors.append(answer.error)
            if not self.is_warming_up(expert):
                reports.append(self.failures.report(expert, "predict", answer))
        predictions, awake = sanitize(said, self.score, len(experts), shape)
        if said and not awake[list(said)].all():
            failure = CallFailure(
                NoPredictionError("the prediction is NaN, infinite, absurdly large or a negative probability")
            )
            silent = ~awake if drawn is None else ~awake & (drawn.probabilities > 0.0)
            for seat in said:
                if silent[seat].any() and not self.is_warming_up(experts[seat]):
                    reports.append(self.failures.report(experts[seat], "predict", failure))
        stack = self.stack()
        if stack is not None and stack.model.fits(shape[1]):  # otherwise it sleeps, and goes after the round
            seat = stack.model.n_experts  # behind those that it was made for
            predictions[seat], awake[seat] = stack.model.predict(predictions[:seat]), awake[:seat].any(axis=0)
        parts = self.weighting.member_weights()
        weights = self.weighting.weights_in_use(parts)
        mixture = self._combined(predictions, awake, weights, None if drawn is None else drawn.first)
        born = [expert.born for expert in experts]
        chances = None if drawn is None else drawn.probabilities
        return Issued(experts, born, predictions, awake, weights, parts, mixture, errors, reports, chances)

    def _randoms(self, n_rows: int, held: int) -> Iterator[np.random.Generator]:
        """A generator for each round that these rows are: the same ones however often these rounds are asked for."""
        for at in range(self.n_rounds, self.n_rounds + (n_rows if self.each_row else 1)):
            yield np.random.default_rng([self.seed, at, held] if held else [self.seed, at])

    def _combined(
        self,
        predictions: Floats,
        awake: NDArray[np.bool_],
        weights: Floats,
        first: NDArray[np.intp] | None = None,
    ) -> Floats:
        """The mixture (n_rows, n_outputs) under weights (n_experts,), or (n_rows, n_experts).

        ``first``, (n_rows,), are the experts that were drawn to be asked, if not all were.
        """
        if self.combine == "average":
            mixture = weighted_mean(predictions, awake, weights)
        else:
            played, rows = restrict_rows(weights, awake), np.arange(awake.shape[1])
            chosen = played.argmax(axis=1)
            if self.combine == "sample":
                chosen = self._drawn(played) if first is None else np.where(awake[first, rows], first, chosen)
            mixture = predictions[chosen, rows]
        return with_fallback(mixture, awake, self.score)

    def _drawn(self, played: Floats) -> NDArray[np.intp]:
        """One expert a round, drawn by weight: the same one however often this round is asked for."""
        u = np.array([random.random() for random in self._randoms(len(played), held=0)])
        levels = np.cumsum(played, axis=1)
        return (levels <= u[:, np.newaxis] * levels[:, -1:]).sum(axis=1)

    def is_warming_up(self, expert: Expert) -> bool:
        """Whether it began afresh a few rows ago: that it has no answers yet is no surprise."""
        return expert.kind == "restarted" and self.n_rows - expert.born < WARM_UP_ROWS

    # Learning ----------------------------------------------------------------------------------------------------

    @one_round()
    def learn(
        self,
        X: Any,
        y: Any,
        targets: Any,
        sample_weight: Floats | None,
        models: Models,
        n_jobs: int | None = None,
        issued: Issued | None = None,
    ) -> list[FailureReport]:
        """A round, or one for each row: score what was issued for these rows, or is now, then train on them.

        ``targets`` is what the score understands, ``y`` what the models do. Returns which experts failed, for
        :meth:`note`, once the caller has done with the round.
        """
        n_rows = len(targets)
        n_rounds = n_rows if self.each_row else 1
        row_weights = np.ones(n_rows) if sample_weight is None else sample_weight / sample_weight.max()
        said_now = issued is None
        if issued is None:
            issued = self.issue(X, n_rows, models, n_jobs)
        score = copy.copy(self.score)
        score.observe(targets[row_weights > 0.0])

        def mean_loss(mixture: Floats) -> float:
            return float(np.average(score.mixture_loss(targets, mixture), weights=row_weights))

        learners = [expert for expert in self.experts if expert.learns]
        # What may fail after the first update works on a copy.
        watched = self.history is not None or self.callback.listens
        copies = self.failures.raises or (self.each_row and (score.uses_gradient or watched))
        copies = copies or issued.chances is not None
        copies = copies or not one_by_one([expert.model for expert in learners], n_jobs)
        weighting = self.weighting.copy() if copies else self.weighting
        recorded = watched and bool(self.n_rounds or issued.awake.any())  # else nothing was issued
        mixture, lost, uniform = issued.mixture, np.nan, np.nan
        if recorded:
            if issued.all_were_asked:
                uniform = float(
                    np.average(score.mixture_loss(targets, plain_mean(issued, self.score)), weights=row_weights)
                )
            if not (self.each_row and said_now):
                lost = mean_loss(mixture)
        settled = RoundResult.unheard(issued)
        if issued.scored[:, row_weights > 0.0].any():
            settled = self._settle(issued, round_losses_of(issued, score, targets, row_weights), weighting)
        if recorded and self.each_row and said_now:
            mixture = settled.mixture
            lost = mean_loss(mixture)
        trained, passing = self._train(learners, X, y, models, n_jobs, issued)
        reports = issued.reports + trained
        if self.row is not None:  # it did not do this round: it may do the next ones no better
            self.row, self.row_from = None, self.n_rounds + ROUNDS_WITHOUT_ROW
        done = {"n_rounds": self.n_rounds + n_rounds, "n_rows": self.n_rows + n_rows}
        self.__dict__.update(score=score, weighting=weighting, **done)  # in one go, as above
        self.expert_stats.charge(settled.losses, settled.weights, n_rounds * settled.awake)
        if issued.chances is not None:
            self.expert_stats.pass_over(settled.weights, n_rounds * (1.0 - settled.awake))
        if recorded:
            played = settled.weights if self.each_row else issued.weights
            record = Record(
                self.n_rounds,
                n_rounds,
                lost,
                issued.named(played),
                issued.named(settled.losses, settled.awake > 0.0),
                self.n_rows,
                n_rows,
                uniform,
                *(mean_numbers(issued, mixture, targets, row_weights) if score.learns_range else ()),
            )
            self._record(record, time.time())
        if self.memory is not None:
            told = RoundObservation(issued.predictions, issued.awake, settled.losses_of_live(issued))
            reports += self.remember(models, X, targets, told)
        self._teach_stack(issued, targets, row_weights)
        if passing is not None:  # the round is complete
            raise passing.error
        return reports

    def _record(self, record: Record, moment: float) -> None:
        if self.history is not None:
            self.history.add(record, moment)
        if self.callback.listens:
            self.callback.see(record, moment)

    def note(self, reports: list[FailureReport]) -> None:
        """Tell of a round, which must be complete: a warning may be made an error."""
        self.failures.note(reports, self.n_rounds, self.n_rows)
        if self.callback.has_news:
            self.tell()

    def tell(self, at_the_end: bool = False) -> None:
        """Let the callback tell how the run stands."""
        n_remembered = sum(expert.kind == "snapshot" for expert in self.experts)
        self.callback.tell(len(self.experts), n_remembered, at_the_end)

    def remember(self, models: Models, X: Any, targets: Any, told: RoundObservation) -> list[FailureReport]:
        """Let the memory do what is due after a round."""
        assert self.memory is not None
        try:
            self.memory.after_round(self, models, self.score, X, targets, told)
        except Exception as error:  # the round itself is complete: no reason to raise it
            kind = type(error).__name__
            return [FailureReport("", "remember", kind, f"no snapshot could be taken: {kind}: {error_text(error)}")]
        return []

    def _settle(self, issued: Issued, verdict: RoundLosses, weighting: RoundWeighting) -> RoundResult:
        """Charge the experts."""
        if self.each_row:
            played = weighting.update_rows(verdict)
            mixture = issued.mixture  # those who were asked were drawn for all rows at once
            if issued.chances is None:
                mixture = self._combined(verdict.predictions, verdict.awake, played)
            return RoundResult(verdict.losses, verdict.participation, mixture, played.mean(axis=0))
        weighting.update(verdict, issued.parts, issued.mixture)
        return RoundResult(
            verdict.losses, verdict.participation, issued.mixture, weighting.weights_in_use(weighting.member_weights())
        )

    def _teach_stack(self, issued: Issued, targets: Any, row_weights: Floats) -> None:
        stack = self.stack()
        if stack is None:
            return
        if stack.model.fits(self.score.n_outputs):
            stack.model = stack.model.learned(issued.predictions[: stack.model.n_experts], targets, row_weights)
            return
        self.remove_expert(stack)
        if self.memory is not None:
            self.memory.follow(self)

    def _train(
        self, learners: list[Expert], X: Any, y: Any, models: Models, n_jobs: int | None, issued: Issued
    ) -> tuple[list[FailureReport], CallFailure | None]:
        """Train the learners; returns which of them failed, and an exit or an interrupt to raise in the end."""
        nobody = not issued.awake.any()
        # then an error may yet be raised, and must change nothing
        copies = self.failures.raises or nobody or in_threads(n_jobs)
        results = [apart(expert.model) if copies else expert.model for expert in learners]
        trainees = list(results)
        able = [at for at, trainee in enumerate(results) if not isinstance(trainee, CallFailure)]
        tasks = [(models, learners[at].source, results[at], X, y, not learners[at].trained) for at in able]
        for at, result in zip(able, map_tasks(attempt_to_learn, tasks, n_jobs), strict=True):
            results[at] = result
        failures = [result for result in results if isinstance(result, CallFailure)]
        passing = next((failure for failure in failures if failure.passes), None)
        if passing is not None and copies:
            raise passing.error
        if len(failures) == len(results):  # if nobody can predict or learn, the fault is not one expert's
            issued.check()
            if failures and nobody:
                failures[0].error.add_note("raised when the first of the experts was to learn; no other can, either")
                raise failures[0].error
        reports = [
            self.failures.report(expert, "learn", result)
            for expert, result in zip(learners, results, strict=True)
            if isinstance(result, CallFailure) and not result.passes and not self.is_warming_up(expert)
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
        return reports, passing
