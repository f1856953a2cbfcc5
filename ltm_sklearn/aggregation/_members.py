"""Members and an arbiter: expert algorithms that weight the same experts, and one that weights these algorithms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import Floats
from ..experts import ExpertAlgorithm


class Member:
    """Expert algorithm with the kind of loss that it learns from.

    Parameters
    ----------
    algorithm : ExpertAlgorithm
    linear : bool
        Whether it learns from the linear part of the loss around its own mixture, or from the experts' losses.
    """

    def __init__(self, algorithm: ExpertAlgorithm, linear: bool) -> None:
        self.algorithm, self.linear = algorithm, linear

    def add_expert(self, prior: float | None) -> None:
        """Add an expert with this share of the prior; None: an equal share."""
        self.algorithm.add_expert(prior)

    def drop_expert(self, at: int) -> None:
        """Remove an expert."""
        self.algorithm.drop_expert(at)


class Members:
    """Base class of aggregations: members that weight the same experts. Each subclass has its own arbiter."""

    members: Sequence[Member]

    def member_weights(self) -> Floats:
        """Weights that each member gives the experts now, (n_members, n_experts)."""
        return np.stack([member.algorithm.current_weights() for member in self.members])

    def add_expert(self, prior: float | None) -> None:
        """Add an expert to each member, with this share of the prior; None: an equal share."""
        for member in self.members:
            member.add_expert(prior)

    def drop_expert(self, at: int) -> None:
        """Remove an expert from each member."""
        for member in self.members:
            member.drop_expert(at)
