"""Experts that could not predict or learn: raised, or logged and warned of once in a while."""

from __future__ import annotations

import warnings

from ..recording import logger
from ._model_calls import CallFailure, error_text
from ._models import Expert
from ._round import FailureReport

#: An expert's failure of one kind is reported again only after so many rounds without it.
QUIET_ROUNDS = 1000


class ExpertWarning(UserWarning):
    """An expert could not predict or learn, and slept."""


class NoPredictionError(ValueError):
    """An expert's prediction is none."""


class FailureLog:
    """Which failures were seen of late: those are not told again.

    Parameters
    ----------
    raises : bool
        Whether an expert's error is raised; otherwise the expert sleeps.
    """

    def __init__(self, raises: bool) -> None:
        self.raises = raises
        self._last: dict[tuple[str, str, str], int] = {}  #: in which round a failure was last seen

    def report(self, expert: Expert, verb: str, failure: CallFailure) -> FailureReport:
        """Raise an expert's error, or say what to warn of."""
        if self.raises:
            failure.error.add_note(f"raised when expert {expert.name!r} was to {verb}")
            raise failure.error
        name = f"{expert.source!r}" if expert.name == expert.source else f"{expert.source!r} ({expert.kind})"
        error = type(failure.error).__name__
        return FailureReport(
            name, verb, error, f"expert {name} could not {verb} and slept: {error}: {error_text(failure.error)}"
        )

    def warn(self, reports: list[FailureReport], stacklevel: int) -> None:
        """Warn of failures, unless that was done of late; ``stacklevel`` as if the caller did."""
        for report in self._news(reports):
            warnings.warn(report.message, ExpertWarning, stacklevel=stacklevel + 1)

    def note(self, reports: list[FailureReport], n_rounds: int, n_rows: int) -> None:
        """Log and warn of the failures of a round, which must be complete: a warning may be made an error."""
        if self._last:
            self._note_recovered(n_rounds, n_rows)
        if reports:
            for report in self._news(reports):
                logger.warning("row %d: %s", n_rows, report.message)
            self.warn(reports, stacklevel=5)  # below an engine's note and two methods of the estimator
            self._last.update({report.key: n_rounds for report in reports})

    def _news(self, reports: list[FailureReport]) -> list[FailureReport]:
        """Those failures that were not reported of late, each once."""
        different = {report.key: report for report in reports}
        return [report for key, report in different.items() if key not in self._last]

    def _note_recovered(self, n_rounds: int, n_rows: int) -> None:
        for (expert, verb, error), last in list(self._last.items()):
            if n_rounds - last >= QUIET_ROUNDS:
                del self._last[expert, verb, error]
                who = f"expert {expert}" if expert else "the memory"
                logger.info("row %d: %s has not failed to %s for %d rounds", n_rows, who, verb, QUIET_ROUNDS)
