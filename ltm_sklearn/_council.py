"""Weights for a table of forecasts: several algorithms, each with its own mixture, and one that weighs these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .experts import ExpertAlgorithm, LongTermMemory, MLPoly
from .experts._base import restrict
from .experts._long_term_memory import SteadyMemory
from .experts._validation import Floats
from .losses._numbers import OutputLosses, deviation_from_mixture
from .losses._own import within_floats
from .losses._targets import LossRange


class Standing(NamedTuple):
    """What forecasts are issued with."""

    trust: Floats  #: (n_voices,)
    opinions: Floats  #: (n_voices, n_experts): the weights that each voice gives the experts

    def in_rows(self, awake: Floats | None, n_rows: int) -> Floats:
        """What each voice plays in each row, (n_rows, n_voices, n_experts)."""
        played = np.broadcast_to(self.opinions, (n_rows, *self.opinions.shape))
        if awake is None:
            return played
        return restrict(played, np.broadcast_to(awake[:, np.newaxis], played.shape))

    def weights(self, awake: Floats | None, n_rows: int) -> Floats:
        """The weights of the experts in each row, (n_rows, n_experts)."""
        return np.einsum("v,nve->ne", self.trust, self.in_rows(awake, n_rows))

    def mixtures(self, forecasts: Floats, awake: Floats | None) -> Floats:
        """The mixture of each voice, (n_rows, n_voices), of forecasts (n_rows, n_experts)."""
        return within_floats(np.einsum("nve,ne->nv", self.in_rows(awake, len(forecasts)), forecasts))

    def prediction(self, mixtures: Floats) -> Floats:
        """What is said in each row, (n_rows,), where these are the voices' mixtures."""
        with np.errstate(over="ignore"):
            return within_floats(mixtures @ self.trust)


class Rows(NamedTuple):
    """The rows of a round."""

    forecasts: Floats  #: (n_rows, n_experts); finite also where an expert sleeps
    targets: Floats  #: (n_rows,)
    awake: Floats | None  #: (n_rows, n_experts): confidences; None if all are 1
    row_weights: Floats | None  #: (n_rows,) in [0, 1]; None if all are 1
    outputs: NDArray[np.intp] | None  #: (n_rows,): which loss is whose; None if there is one


class Voice:
    """An expert algorithm, and the range of what it has been charged.

    Parameters
    ----------
    algorithm : ExpertAlgorithm
    linear : bool
        Whether it is charged the linear part of the loss at its own mixture, or the experts' losses themselves.
    """

    def __init__(self, algorithm: ExpertAlgorithm, linear: bool) -> None:
        self.algorithm, self.linear = algorithm, linear
        self.range = LossRange()

    def view(self) -> Floats:
        """What a round must know of how it was issued, besides the weights, if it is learned later."""
        return self.algorithm._issued_view(self.algorithm.state_)

    def charge(self, losses: Floats, part: Floats, late: tuple[Floats, Floats] | None) -> None:
        """A round with these losses, NaN where asleep, in which each expert took part so far.

        ``late`` are the weights and the view that it was issued with, if others have been learned since.
        """
        charged = self.range.rescale(losses[np.newaxis])[0]
        awake = None if (part == 1.0).all() else part
        if late is None:
            self.algorithm.update(charged, awake)
        else:
            self.algorithm._update_late(charged, awake, *late)


class Council:
    """Follow one expert, blend all, or take the plain mean: whichever has been best lately, and mixtures of them.

    With an algorithm of your own there is one voice, and nobody to weigh it.

    Parameters
    ----------
    algorithm : ExpertAlgorithm or None
        None: the three voices, or ``LongTermMemory`` alone if losses are not to be made linear.
    linear : bool
        Whether the algorithm is charged the linear part of the loss.
    prior : ndarray of shape (n_experts,)
        Sums to one.
    """

    def __init__(self, algorithm: ExpertAlgorithm | None, linear: bool, prior: Floats) -> None:
        self.mean: Floats | None = None  #: the weights of the plain mean
        self.chair: Voice | None = None
        if algorithm is None and linear:
            self.voices = [Voice(LongTermMemory(prior=prior), linear=False), Voice(MLPoly(prior=prior), linear=True)]
            self.mean = prior
            self.chair = Voice(SteadyMemory(), linear=True)
            self.chair.algorithm.weights(3)
        else:
            own = LongTermMemory() if algorithm is None else clone(algorithm)
            self.voices = [Voice(own.set_params(prior=prior), linear)]
        for voice in self.voices:
            voice.algorithm.weights(len(prior))

    def standing(self) -> Standing:
        """What would be issued now."""
        opinions = [voice.algorithm._current_weights() for voice in self.voices]
        if self.mean is not None:
            opinions.append(self.mean)
        trust = np.ones(1) if self.chair is None else self.chair.algorithm._current_weights()
        return Standing(trust, np.stack(opinions))

    def views(self) -> list[Floats]:
        """What a round must know of how it was issued, besides the standing, if it is learned later."""
        return [voice.view() for voice in self._members()]

    def _members(self) -> list[Voice]:
        return self.voices if self.chair is None else [*self.voices, self.chair]

    def learn(self, issued: Standing, views: list[Floats] | None, rows: Rows, losses: OutputLosses) -> None:
        """A round, in which this was issued; at least one row has weight, and in each at least one expert is awake.

        ``views`` are given if other rounds have been learned since.
        """
        x, y, awake, row_weights, outputs = rows
        mixtures = issued.mixtures(x, awake)
        weights = np.ones(len(y)) if row_weights is None else row_weights
        heard = np.broadcast_to(weights[:, np.newaxis], x.shape) if awake is None else awake * weights[:, np.newaxis]
        total = heard.sum(axis=0)
        with np.errstate(over="ignore"):
            centre = x.mean(axis=1) if awake is None else (awake * x).sum(axis=1) / awake.sum(axis=1)
        # what is only rounding is no difference, or ranges would be made of it
        distinct = np.where(deviation_from_mixture(x, centre[:, np.newaxis]) == 0.0, centre[:, np.newaxis], x)
        part = np.minimum(total / len(y), 1.0)
        weights_then = [*issued.opinions[: len(self.voices)], issued.trust]
        late = [None] * len(weights_then) if views is None else list(zip(weights_then, views, strict=False))
        for at, (voice, mixture) in enumerate(zip(self.voices, mixtures.T, strict=False)):  # the mean learns nothing
            lost = losses.linear(y, mixture, x, outputs) if voice.linear else losses.of_experts(y, distinct, outputs)
            means = np.full(len(total), np.nan)
            voice.charge(np.divide((heard * lost).sum(axis=0), total, out=means, where=total > 0.0), part, late[at])
        if self.chair is not None:
            lost = losses.linear(y, issued.prediction(mixtures), mixtures, outputs)
            means = weights @ lost / weights.sum()
            self.chair.charge(means, np.full(len(means), min(weights.sum() / len(y), 1.0)), late[-1])

    def widened(self, views: list[Floats]) -> list[Floats]:
        """Such views when an expert is about to join."""
        wider = [
            voice.algorithm._widened_view(view, voice.algorithm.n_experts_)
            for voice, view in zip(self.voices, views, strict=False)
        ]
        return [*wider, *views[len(self.voices) :]]

    def add_expert(self) -> None:
        """Let an expert join, with an equal share of the prior; it takes the last seat."""
        for voice in self.voices:
            voice.algorithm.add_expert()
        if self.mean is not None:
            share = 1.0 / (len(self.mean) + 1)
            self.mean = np.append((1.0 - share) * self.mean, share)
