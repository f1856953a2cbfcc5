"""The range of losses of which only a few are seen in a round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import Floats
from ._custom import bounded
from ._regression_losses import ROUNDING_OF_MIXTURE

#: The part of the losses that lies beyond each end of the range of those that were seen.
BEYOND = 0.05

#: How far an end moves where all losses of a round lie beyond it, as a part of the range: this, or 2/t in round t.
PACE = 0.05


class SeenRange(NamedTuple):
    """Between which losses most of those of late lie.

    With the losses of all experts, the best of a round is what the others are measured by. Where one expert is asked,
    there is nobody to measure it by in its round, so it is measured by what was seen in the rounds before. The ends are
    running quantiles, so that 5 % of the losses are below and 5 % above: if it were the largest loss, a few outliers
    would decide the range, and all others would look alike.
    """

    low: float = np.inf
    high: float = -np.inf
    n_rounds: int = 0  #: since there has been a range

    def widened(self, losses: Floats) -> SeenRange:
        """The range after a round with these losses, (n_seen,), at least one."""
        seen = bounded(losses)
        lowest, highest = float(seen.min()), float(seen.max())
        width = self.high - self.low
        if not width > 0.0:  # nothing was seen yet, or always the same
            return SeenRange(min(self.low, lowest), max(self.high, highest))
        step = max(PACE, 2.0 / (self.n_rounds + 1.0)) * width
        low = self.low - step * (float((seen < self.low).mean()) - BEYOND)
        high = self.high + step * (float((seen > self.high).mean()) - BEYOND)
        return SeenRange(max(low, min(self.low, lowest)), min(high, max(self.high, highest)), self.n_rounds + 1)

    def rescaled(self, losses: Floats) -> Floats:
        """Losses in [0, 1], those beyond the range being 0 or 1; 0 where all have been the same."""
        width = self.high - self.low
        if not width > ROUNDING_OF_MIXTURE * max(abs(self.low), abs(self.high)):
            return np.zeros_like(losses)
        return np.clip((bounded(losses) - self.low) / width, 0.0, 1.0)
