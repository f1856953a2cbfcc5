"""The range of losses of which only a few are seen in a round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..experts._validation import Floats
from ._numbers import ROUNDING_OF_MIXTURE
from ._own import bounded

#: Where the range of losses has not been reached for this many rounds, it has fallen by a factor e.
RANGE_MEMORY = 100.0

FADING = float(np.exp(-1.0 / RANGE_MEMORY))  #: of the range in a round

#: In one round the range of losses grows at most by this factor, lest one outlier decides it.
RANGE_GROWTH = 4.0


class SeenRange(NamedTuple):
    """The lowest and the highest loss of late.

    With the losses of all experts, the best of a round is what the others are measured by. Where one expert is asked,
    there is nobody to measure it by in its round, so it is measured by what was seen in the rounds before. The range
    fades by a factor e in 100 rounds, and grows no more than fourfold in one.
    """

    low: float = np.inf
    high: float = -np.inf

    def widened(self, losses: Floats) -> SeenRange:
        """The range after a round with these losses, (n_seen,), at least one."""
        seen = bounded(losses)
        lowest, highest = float(seen.min()), float(seen.max())
        width = self.high - self.low
        if not width > 0.0:  # nothing was seen yet, or always the same
            return SeenRange(min(self.low, lowest), max(self.high, highest))
        fading = (1.0 - FADING) * width / 2.0
        low, high = min(self.low + fading, lowest), max(self.high - fading, highest)
        return SeenRange(max(low, self.high - RANGE_GROWTH * width), min(high, self.low + RANGE_GROWTH * width))

    def rescaled(self, losses: Floats) -> Floats:
        """Losses in [0, 1], those beyond the range being 0 or 1; 0 where all have been the same."""
        width = self.high - self.low
        if not width > ROUNDING_OF_MIXTURE * max(abs(self.low), abs(self.high)):
            return np.zeros_like(losses)
        return np.clip((bounded(losses) - self.low) / width, 0.0, 1.0)
