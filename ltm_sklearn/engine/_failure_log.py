"""Experts that could not predict or be trained: their errors are raised, or logged and warned of now and then."""

from __future__ import annotations

from typing import NamedTuple

from ..recording import issue_warning, logger
from ._expert_pool import Expert
from ._model_calls import CallFailure, error_text

#: A failure of one kind is reported again only after this many rounds without it.
QUIET_ROUNDS = 1000


class ExpertWarning(UserWarning):
    """An expert could not predict or be trained, and slept in that round."""


class NoPredictionError(ValueError):
    """An expert returned something that is not a prediction."""


class ExpertFailure(NamedTuple):
    """A failure of an expert in a round."""

    expert: str  #: name; for a snapshot that of its source, as each new snapshot would otherwise cause a new warning
    verb: str
    error: str
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Failures with the same key are of one kind."""
        return self.expert, self.verb, self.error


class FailureLog:
    """Failures that were reported in recent rounds and are not reported again.

    Parameters
    ----------
    raises : bool
        Whether an expert's error is raised; otherwise the expert sleeps.
    """

    def __init__(self, raises: bool) -> None:
        self.raises = raises
        self._last_round: dict[tuple[str, str, str], int] = {}  #: in which a failure was last seen

    def report(self, expert: Expert, verb: str, failure: CallFailure) -> ExpertFailure:
        """Raise an expert's error, or return the report to pass to :meth:`note` once the round is complete."""
        if self.raises:
            failure.error.add_note(f"raised when expert {expert.name!r} was to {verb}")
            raise failure.error
        name = f"{expert.source!r}" if expert.name == expert.source else f"{expert.source!r} ({expert.kind})"
        error = type(failure.error).__name__
        return ExpertFailure(
            name, verb, error, f"expert {name} could not {verb} and slept: {error}: {error_text(failure.error)}"
        )

    def warn(self, reports: list[ExpertFailure]) -> None:
        """Warn of failures that were not reported recently."""
        for report in self._new(reports):
            issue_warning(report.message, ExpertWarning)

    def note(self, reports: list[ExpertFailure], n_rounds: int, n_rows: int) -> None:
        """Log and warn of the failures of a complete round; it must be complete, as a warning may be made an error."""
        for (expert, verb, error), last in list(self._last_round.items()):
            if n_rounds - last >= QUIET_ROUNDS:
                del self._last_round[expert, verb, error]
                source = f"expert {expert}" if expert else "the memory"
                logger.info("row %d: %s has not failed to %s for %d rounds", n_rows, source, verb, QUIET_ROUNDS)
        if reports:
            for report in self._new(reports):
                logger.warning("row %d: %s", n_rows, report.message)
            self.warn(reports)
            self._last_round.update({report.key: n_rounds for report in reports})

    def _new(self, reports: list[ExpertFailure]) -> list[ExpertFailure]:
        """Return the failures that were not reported recently, each once."""
        different = {report.key: report for report in reports}
        return [report for key, report in different.items() if key not in self._last_round]
