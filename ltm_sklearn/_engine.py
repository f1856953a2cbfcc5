"""One round: predict, combine, score, update the weights, train, remember.

The engine knows neither scikit-learn's models nor River's. It reaches them through :class:`Models`, whose methods the
skins provide, and it holds everything that must survive between rounds, so that it pickles as a whole.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._attempts import Failure, attempt, attempt_to_learn, map_tasks
from ._history import History, Record
from ._models import Expert, Models, ask
from .experts import ExpertAlgorithm
from .experts._base import restrict
from .experts._validation import Floats
from .losses import ClassScore, TargetScore
from .memory import Remembering

#: An expert's failure of one kind is reported again only after so many rounds without it.
QUIET_ROUNDS = 1000

#: Rows in which a young learner may be at a loss without a warning.
INFANCY = 50


class ExpertWarning(UserWarning):
    """An expert could not predict or learn, and slept."""


@dataclass
class Issued:
    """What the experts said of some rows, and the weights that were in force."""

    experts: list[Expert]
    predictions: Floats  #: (n_experts, n_rows, n_outputs); 0 where asleep
    awake: NDArray[np.bool_]  #: (n_experts, n_rows)
    weights: Floats  #: (n_experts,)
    mixture: Floats  #: (n_rows, n_outputs); a guess where all sleep
    errors: list[Exception]  #: of the experts that raised one
    reports: list[_Report]  #: of those that failed and should not have

    def recalled(self, rows: NDArray[np.intp], experts: list[Expert]) -> Issued:
        """The same of some of the rows, for the experts that there are now: those that came later slept."""
        seat_of = {expert: seat for seat, expert in enumerate(self.experts)}
        seats = [(now, seat_of[expert]) for now, expert in enumerate(experts) if expert in seat_of]
        now, then = np.array(seats, dtype=np.intp).reshape(-1, 2).T
        predictions = np.zeros((len(experts), len(rows), self.predictions.shape[2]))
        awake = np.zeros((len(experts), len(rows)), dtype=np.bool_)
        weights = np.zeros(len(experts))
        predictions[now], awake[now] = self.predictions[np.ix_(then, rows)], self.awake[np.ix_(then, rows)]
        weights[now] = self.weights[then]
        return Issued(list(experts), predictions, awake, weights, self.mixture[rows], [], [])

    @property
    def all_raised(self) -> bool:
        """Whether every expert that was asked raised an error: then the rows are to blame."""
        return bool(self.errors) and len(self.errors) == sum(expert.trained for expert in self.experts)

    def check(self) -> None:
        """Raise an error if all did."""
        if self.all_raised:
            raise ValueError(f"no expert could predict these rows: {self.errors[0]}") from self.errors[0]


class _Report(NamedTuple):
    """That an expert failed."""

    expert: str  #: a snapshot's source stands for it: snapshots come and go, and each would make a new warning
    verb: str
    error: str
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same failure as another."""
        return self.expert, self.verb, self.error


@dataclass
class _Settled:
    """What a round cost, in the loss's own units."""

    losses: Floats  #: (n_experts,); NaN where asleep
    awake: Floats  #: (n_experts,): the part of the round in which each took part
    mixture: Floats  #: (n_rows, n_outputs): what was issued; where each row is a round, with that round's weights
    weights: Floats  #: (n_experts,): after the round; where each row is one, their mean

    @classmethod
    def unheard(cls, issued: Issued) -> _Settled:
        """A round in which nobody took part."""
        nobody = np.zeros(len(issued.experts))
        return cls(np.full(len(nobody), np.nan), nobody, issued.mixture, issued.weights)

    def losses_of_live(self, issued: Issued) -> Floats:
        """The losses of the live learners that were awake."""
        live = np.array([expert.kind == "live" for expert in issued.experts])
        return self.losses[live & (self.awake > 0.0)]


class NoAnswer(ValueError):
    """An expert's prediction is none."""


class Engine:
    """The experts, their weights, and the round.

    Parameters
    ----------
    algorithm : ExpertAlgorithm
        Fresh; the engine runs it.
    score : ClassScore or TargetScore
        From predictions to losses.
    combine : {"average", "leader", "sample"}
        How the experts' predictions become one.
    each_row : bool
        Whether each row is a round; otherwise each call is.
    raises : bool
        Whether an expert's error is raised, with everything as it was before the round; otherwise the expert sleeps.
    memory : Remembering or None
        Concept memory.
    record : int or None
        How many records of rounds to keep.
    seed : int
        Of the draws of "sample".
    """

    def __init__(
        self,
        algorithm: ExpertAlgorithm,
        score: ClassScore | TargetScore,
        combine: str,
        each_row: bool,
        raises: bool,
        memory: Remembering | None,
        record: int | None,
        seed: int,
    ) -> None:
        self.algorithm = algorithm
        self.score = score
        self.combine = combine
        self.each_row = each_row
        self.raises = raises
        self.memory = memory
        self.history = None if record is None else History(record)
        self.seed = seed
        self.experts: list[Expert] = []
        self.n_rounds = 0
        self.n_rows = 0
        self._reported: dict[tuple[str, str, str], int] = {}  #: in which round a failure was last seen

    # The pool ----------------------------------------------------------------------------------------------------

    def begin(self, experts: Iterable[Expert], models: Models) -> None:
        """Start with these experts."""
        self.experts = list(experts)
        self.algorithm.weights(len(self.experts))  # a prior that was given is one over these
        if self.memory is not None:
            self.memory.begin(self, models)

    def admit(self, expert: Expert, like: Expert | None = None) -> None:
        """Let an expert join, with the prior of another one, or with an even share."""
        share = None
        if like is not None:
            prior = float(self.algorithm.prior_[self.experts.index(like)])
            share = prior / (1.0 + prior)  # the others' will shrink by the factor 1 - share
        self.algorithm.add_expert(share)
        self.experts.append(expert)

    def dismiss(self, expert: Expert) -> None:
        """Let an expert go."""
        index = self.experts.index(expert)
        self.algorithm.drop_expert(index)
        del self.experts[index]

    def weights(self) -> Floats:
        """The experts' weights now."""
        return self.algorithm.weights()

    def leader(self) -> Expert:
        """The expert with the largest weight, of those that can predict if there are any."""
        weights = self.weights() + np.array([1.0 if expert.trained else 0.0 for expert in self.experts])
        return self.experts[int(weights.argmax())]

    # Predicting --------------------------------------------------------------------------------------------------

    def issue(self, X: Any, n_rows: int, models: Models, n_jobs: int | None = None) -> Issued:
        """Ask the experts about some rows and combine what they say. Changes nothing."""
        experts = list(self.experts)
        asked = [(seat, expert) for seat, expert in enumerate(experts) if expert.trained]
        shape = (n_rows, self.score.n_outputs)
        with np.errstate(all="ignore"):  # what comes of it, NaN or infinite, is looked at
            answers = map_tasks(attempt, [(ask, models, expert.model, X, shape) for _, expert in asked], n_jobs)
        said: dict[int, Floats] = {}
        errors: list[Exception] = []
        reports: list[_Report] = []
        for (seat, expert), answer in zip(asked, answers, strict=True):
            if not isinstance(answer, Failure):
                if answer is not None:
                    said[seat] = answer
                continue
            errors.append(answer.error)
            if not self._is_infant(expert):
                reports.append(self._report(expert, "predict", answer))
        predictions, awake = self._tame(said, len(experts), shape)
        if said and not awake[list(said)].all():
            failure = Failure(NoAnswer("the prediction is NaN or infinite"))
            for seat in said:
                if not awake[seat].all() and not self._is_infant(experts[seat]):
                    reports.append(self._report(experts[seat], "predict", failure))
        weights = self.weights()
        mixture = self._combined(predictions, awake, weights)
        return Issued(experts, predictions, awake, weights, mixture, errors, reports)

    def _tame(
        self, said: dict[int, Floats], n_experts: int, shape: tuple[int, int]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """What the experts in these seats said, tamed, 0 where it is no answer; and where it is one."""
        predictions = np.zeros((n_experts, *shape))
        awake = np.zeros((n_experts, shape[0]), dtype=np.bool_)
        if said:
            with np.errstate(all="ignore"):
                tame = self.score.tame(np.stack(list(said.values())))
                # tamed ones are either finite, and so is their sum, or not; a product is the fastest sum of few
                heard: NDArray[np.bool_] = np.isfinite(tame @ np.ones(shape[1]))
            tame[~heard] = 0.0
            seats = list(said)
            predictions[seats], awake[seats] = tame, heard
        return predictions, awake

    def _combined(self, predictions: Floats, awake: NDArray[np.bool_], weights: Floats) -> Floats:
        """The mixture (n_rows, n_outputs) under weights (n_experts,), or (n_rows, n_experts)."""
        if self.combine == "average" and weights.ndim == 1:
            throughout = np.asarray(awake.all(axis=1))
            if throughout.any() and not awake[~throughout].any():  # each expert is awake in all rows or in none
                if not throughout.all():
                    weights = restrict(weights, throughout.astype(np.float64))
                return (weights @ predictions.reshape(len(weights), -1)).reshape(predictions.shape[1:])
        played = restrict(np.broadcast_to(weights, awake.T.shape), awake.T.astype(np.float64))
        if self.combine == "average":
            mixture = np.einsum("ne,end->nd", played, predictions)
        else:
            chosen = played.argmax(axis=1) if self.combine == "leader" else self._drawn(played)
            mixture = predictions[chosen, np.arange(len(played))]
        heard = awake.any(axis=0, keepdims=True).T
        return np.where(heard, mixture, self.score.guess())

    def _drawn(self, played: Floats) -> NDArray[np.intp]:
        """One expert a round, drawn by weight: the same one however often this round is asked for."""
        rounds = range(self.n_rounds, self.n_rounds + (len(played) if self.each_row else 1))
        u = np.array([np.random.default_rng([self.seed, at]).random() for at in rounds])
        levels = np.cumsum(played, axis=1)
        return (levels <= u[:, np.newaxis] * levels[:, -1:]).sum(axis=1)

    def _is_infant(self, expert: Expert) -> bool:
        """Whether it began afresh a few rows ago: that it has no answers yet is no surprise."""
        return expert.kind == "young" and self.n_rows - expert.born < INFANCY

    def _report(self, expert: Expert, verb: str, failure: Failure) -> _Report:
        """Raise an expert's error, or say what to warn of."""
        if self.raises:
            failure.error.add_note(f"raised when expert {expert.name!r} was to {verb}")
            raise failure.error
        name = f"{expert.source!r}" if expert.name == expert.source else f"{expert.source!r} ({expert.kind})"
        error = type(failure.error).__name__
        return _Report(name, verb, error, f"expert {name} could not {verb} and slept: {error}: {failure.error}")

    def warn(self, reports: list[_Report]) -> None:
        """Warn of failures, unless that was done of late."""
        for report in {report.key: report for report in reports}.values():
            if self.n_rounds - self._reported.get(report.key, -QUIET_ROUNDS) >= QUIET_ROUNDS:
                warnings.warn(report.message, ExpertWarning, stacklevel=5)

    # Learning ----------------------------------------------------------------------------------------------------

    def learn(
        self,
        X: Any,
        y: Any,
        targets: Any,
        sample_weight: Floats | None,
        models: Models,
        n_jobs: int | None = None,
        issued: Issued | None = None,
    ) -> None:
        """A round, or one for each row: score what was issued for these rows, or is now, then train on them.

        ``targets`` is what the score understands, ``y`` what the models do.
        """
        n_rows = len(targets)
        n_rounds = n_rows if self.each_row else 1
        row_weights = np.ones(n_rows) if sample_weight is None else sample_weight / sample_weight.max()
        said_now = issued is None
        if issued is None:
            issued = self.issue(X, n_rows, models, n_jobs)
        score = copy.copy(self.score)
        score.observe(targets[row_weights > 0.0])
        # What may fail after the first update works on a copy.
        copies = self.raises or (self.each_row and (score.uses_gradient or self.history is not None))
        algorithm = copy.deepcopy(self.algorithm) if copies else self.algorithm
        recorded = self.history is not None and bool(self.n_rounds or issued.awake.any())  # else nothing was issued
        lost = np.nan
        if recorded and not (self.each_row and said_now):
            lost = float(np.average(score.mixture_loss(targets, issued.mixture), weights=row_weights))
        settled = _Settled.unheard(issued)
        if issued.awake[:, row_weights > 0.0].any():
            settled = self._settle(issued, score, algorithm, targets, row_weights)
        if recorded and self.each_row and said_now:
            lost = float(np.average(score.mixture_loss(targets, settled.mixture), weights=row_weights))
        reports = issued.reports + self._train(X, y, models, n_jobs, issued)
        self.score, self.algorithm = score, algorithm
        self.n_rounds += n_rounds
        self.n_rows += n_rows
        self._book(issued, settled, lost, n_rounds)
        if self.memory is not None:
            reports += self._remember(models, X, targets, settled.losses_of_live(issued))
        self.warn(reports)  # last, as a warning may be made an error: the round is complete by then
        self._reported.update({report.key: self.n_rounds for report in reports})

    def _remember(self, models: Models, X: Any, targets: Any, losses: Floats) -> list[_Report]:
        assert self.memory is not None
        try:
            self.memory.after_round(self, models, self.score, X, targets, losses)
        except Exception as error:  # the round itself is complete: no reason to raise it
            kind = type(error).__name__
            return [_Report("", "remember", kind, f"no snapshot could be taken: {kind}: {error}")]
        return []

    def _settle(
        self,
        issued: Issued,
        score: ClassScore | TargetScore,
        algorithm: ExpertAlgorithm,
        targets: Any,
        row_weights: Floats,
    ) -> _Settled:
        """Charge the experts."""
        # What was issued while nothing was known of the targets' range has not been tamed by it.
        predictions = score.tame(issued.predictions) if score.learns_range else issued.predictions
        row_losses = score.losses(targets, predictions, None)
        shares = issued.awake * (row_weights / row_weights.sum())
        awake = shares.sum(axis=1)

        def mean_over_rows(losses: Floats) -> Floats:
            means = np.full(len(losses), np.nan)
            return np.divide((losses * shares).sum(axis=1), awake, out=means, where=awake > 0.0)

        losses, mixture = mean_over_rows(row_losses), issued.mixture
        if self.each_row:
            mixture, weights = self._settle_rows(
                predictions, issued.awake, row_losses, score, algorithm, targets, row_weights
            )
        else:
            charged = losses
            if score.uses_gradient:
                charged = mean_over_rows(score.losses(targets, predictions, mixture))
            whole = bool((awake > 1.0 - 1e-12).all())
            algorithm.update(score.rescale(charged[np.newaxis])[0], None if whole else np.minimum(awake, 1.0))
            weights = algorithm.weights()
        return _Settled(losses, awake, mixture, weights)

    def _settle_rows(
        self,
        predictions: Floats,
        awake: NDArray[np.bool_],
        row_losses: Floats,
        score: ClassScore | TargetScore,
        algorithm: ExpertAlgorithm,
        targets: Any,
        row_weights: Floats,
    ) -> tuple[Floats, Floats]:
        """Charge the experts row by row; returns the mixture, each row with its own round's weights, and their mean."""
        confidence = awake.T * row_weights[:, np.newaxis]
        if not score.uses_gradient:
            charged = score.rescale(np.where(awake, row_losses, np.nan).T)
            played = algorithm.run(charged, confidence)
            return self._combined(predictions, awake, played), played.mean(axis=0)
        mixture = np.empty(predictions.shape[1:])
        played = np.empty(awake.T.shape)
        for row in range(len(targets)):
            here = slice(row, row + 1)
            played[row] = algorithm.weights()
            mixture[row] = self._combined(predictions[:, here], awake[:, here], played[row])[0]
            if awake[:, row].any():
                linear = score.losses(targets[here], predictions[:, here], mixture[here])
                charged = score.rescale(np.where(awake[:, here], linear, np.nan).T)[0]
                algorithm.update(charged, confidence[row])
        return mixture, played.mean(axis=0)

    def _book(self, issued: Issued, settled: _Settled, lost: float, n_rounds: int) -> None:
        """Keep the experts' accounts, and the record."""
        accounts = zip(
            issued.experts, settled.losses.tolist(), settled.weights.tolist(), settled.awake.tolist(), strict=True
        )
        for expert, loss, weight, part in accounts:
            if part > 0.0:
                expert.charge(loss, weight, part * n_rounds)
        if self.history is not None and not np.isnan(lost):
            played = settled.weights if self.each_row else issued.weights
            weights = zip(issued.experts, played.tolist(), strict=True)
            losses = zip(issued.experts, settled.losses.tolist(), settled.awake.tolist(), strict=True)
            self.history.add(
                Record(
                    self.n_rounds,
                    n_rounds,
                    lost,
                    {expert.name: weight for expert, weight in weights},
                    {expert.name: loss for expert, loss, part in losses if part > 0.0},
                )
            )

    def _train(self, X: Any, y: Any, models: Models, n_jobs: int | None, issued: Issued) -> list[_Report]:
        """Train the learners; returns which of them failed."""
        learners = [expert for expert in self.experts if expert.learns]
        copies = self.raises or issued.all_raised  # then an error may yet be raised, and must change nothing
        trainees = [copy.deepcopy(expert.model) if copies else expert.model for expert in learners]
        tasks = [
            (models, expert.source, model, X, y, not expert.trained)
            for expert, model in zip(learners, trainees, strict=True)
        ]
        results = list(map_tasks(attempt_to_learn, tasks, n_jobs))
        failures = [result for result in results if isinstance(result, Failure)]
        if len(failures) == len(results):  # if nobody can predict or learn, the fault is not one expert's
            issued.check()
            if failures and not any(expert.trained for expert in self.experts):
                raise failures[0].error
        reports = [
            self._report(expert, "learn", result)
            for expert, result in zip(learners, results, strict=True)
            if isinstance(result, Failure) and not self._is_infant(expert)
        ]
        for expert, result in zip(learners, results, strict=True):
            if not isinstance(result, Failure):
                expert.model, expert.trained = result, True
            elif expert.trained:
                expert.model = result.model
            else:
                expert.model = models.salvaged(expert.source, result.model)
        return reports
