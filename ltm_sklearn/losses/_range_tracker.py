"""A running range of losses, for rounds in which only some experts are queried."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import Floats
from ._custom import clip_large
from ._regression_losses import ROUNDING_OF_MIXTURE

#: Share of the losses below the low end of the range, and above the high end.
BEYOND = 0.05

#: How far an end moves if all losses of a round lie beyond it, as a share of the width: this, or 2/t in round t.
PACE = 0.05


class ObservedRange(NamedTuple):
    """Running 5 % and 95 % quantiles of the losses of the queried experts.

    If the losses of all experts are known, the best loss of the round is the reference for the others. If a single
    expert is queried, its loss can only be compared with those of earlier rounds. The ends of the range are quantiles,
    since a few outliers would otherwise set the range, and all other losses would look alike.
    """

    low: float = np.inf
    high: float = -np.inf
    n_rounds: int = 0  #: rounds since two losses differed

    def widened(self, losses: Floats) -> ObservedRange:
        """Return the range after a round with at least one loss, shape (n_queried,)."""
        losses = clip_large(losses)
        lowest, highest = float(losses.min()), float(losses.max())
        width = self.high - self.low
        if not width > 0.0:  # no loss yet, or all were equal
            return ObservedRange(min(self.low, lowest), max(self.high, highest))
        step = max(PACE, 2.0 / (self.n_rounds + 1.0)) * width
        low = self.low - step * (float((losses < self.low).mean()) - BEYOND)
        high = self.high + step * (float((losses > self.high).mean()) - BEYOND)
        return ObservedRange(max(low, min(self.low, lowest)), min(high, max(self.high, highest)), self.n_rounds + 1)

    def rescaled(self, losses: Floats) -> Floats:
        """Map losses linearly from the range to [0, 1] and clip them; return 0 while the range is empty."""
        width = self.high - self.low
        if not width > ROUNDING_OF_MIXTURE * max(abs(self.low), abs(self.high)):
            return np.zeros_like(losses)
        return np.clip((clip_large(losses) - self.low) / width, 0.0, 1.0)
