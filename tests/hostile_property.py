"""What must hold of any public entry, whatever it is given.

Either it works: what it answers is finite, weights are a distribution, and it goes on working. Or it raises a
ValueError or a TypeError that names something of the input, and then all is as before: the state to the last bit, and
what a good call answers next.
"""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

import joblib
import numpy as np
from hostile_values import OneBad, Spoiler, is_finite

#: What a message may speak of: arguments and what they are made of, by the names that users know them by. What Python's
#: own errors say of any argument, as "float() argument must be ... a real number", names none. A VectorDict is
#: what River makes of a row.
WORDS = (
    r"[Ii]nput|output|transitions|drop|experts|xs|dict|order|concepts|run_records|ends|n_seeds|most|rules|thresholds|losses|loss|awake|prior|"
    r"n_experts|expert|arms?|probability|rewards?|n_arms|n_queries|X|x|y|Y|y_pred|y_true|rows?|columns?|labels?|class|classes|targets?|"
    r"sample_weight|weights?|ids?|sample\(s\)|samples|features?|feature_names|dtype|shape|sparse|file|source|stream|"
    r"line|names|run_record|models?|quantile|levels?|forecasts|quantile_forecasts|time|times|series|group|block|fh|horizon|"
    r"seed|estimator|frame|dictionary|max_switches|max_distinct|switches|index|random_state|VectorDict|step|\w+=.*"
)


class Entry:
    """A public name, and ways into it.

    Parameters
    ----------
    make : callable
        Gives the thing, having learned a little.
    good : callable
        Takes the thing; a call that must work, and what it answers.
    calls : dict
        Take the thing and a ``Spoiler``.
    errors : tuple of exceptions
        Documented ones, beside ValueError and TypeError.
    nan : bool, "all" or tuple of str
        Whether NaN is a documented answer; or the calls of which it is. "all": infinity is one, too.
    forgets : tuple of str
        Calls after which rows may be of another kind, as after ``fit``: then only ``fit`` is good.
    keeps : bool
        Whether errors are ours: then they name something, and the state is that before.
    others : str
        A pattern of errors of others' code, which may have changed its own state by then.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        good: Callable[[Any], Any],
        calls: dict[str, Callable[[Any, Spoiler], Any]],
        *,
        errors: tuple[type[Exception], ...] = (),
        nan: bool | str | tuple[str, ...] = False,
        forgets: tuple[str, ...] = (),
        keeps: bool = True,
        others: str = "(?!)",
    ) -> None:
        self.make, self.good, self.calls, self.nan, self.forgets, self.keeps = make, good, calls, nan, forgets, keeps
        self.errors, self.others = (ValueError, TypeError, *errors), others

    @cached_property
    def _pickled(self) -> bytes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pickle.dumps(self.make())

    @cached_property
    def _answer(self) -> str:
        """Of the good call, when nothing has happened before."""
        return joblib.hash(self.good(self.fresh()))

    def fresh(self) -> Any:
        """The thing."""
        return pickle.loads(self._pickled)

    def n_arguments(self, name: str) -> int:
        """How many arguments of a call are spoiled."""
        bad = OneBad(-1)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            with suppress(*self.errors):  # some calls are wrong by themselves, as with an id that is not known
                self.calls[name](self.fresh(), bad)
        return bad.n_handed

    def endure(self, name: str, bad: Spoiler | OneBad) -> bool:
        """Whether a call with hostile arguments worked; raises an AssertionError if it did what it must not."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of numbers that overflow in others' models
            thing = self.fresh()
            before = joblib.hash(thing)
            said = None
            try:
                answer = self.calls[name](thing, bad)
            except self.errors as error:
                said = " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
                is_ours = isinstance(error, ValueError | TypeError) and not re.search(self.others, said)
            if said is not None:
                if self.keeps and is_ours:
                    assert re.search(rf"(?<!\w)({WORDS})(?!\w)", said), f"names nothing of the input: {said}"
                if self.keeps and not re.search(self.others, said):
                    assert joblib.hash(thing) == before, f"the state has changed: {said}"
                    assert joblib.hash(self.good(thing)) == self._answer, f"what comes next has changed: {said}"
                return False
            nan = name in self.nan if isinstance(self.nan, tuple) else bool(self.nan)
            assert self.nan == "all" or is_finite(answer, nan), f"answered {answer!r}"
            assert_distribution(thing)
            if name not in self.forgets:
                following = self.good(thing)
                assert self.nan == "all" or is_finite(following, self.nan is True), (
                    "the next good call answers what is not finite"
                )
            return True


def assert_distribution(thing: Any) -> None:
    """Whatever weights the thing shows are such."""
    weights = getattr(thing, "weights_", None)
    if weights is None or not len(weights):
        return
    weights = np.atleast_2d(np.asarray(weights, dtype=float))
    assert np.isfinite(weights).all(), f"weights are {weights}"
    assert (weights >= 0.0).all(), f"weights are {weights}"
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def with_bad_parameters(cls: Callable[..., Any], good: dict[str, Any], use: Callable[[Any], Any]) -> Any:
    """A call that makes a thing of its own with parameters that are spoiled, and uses it."""

    def call(_: Any, bad: Spoiler) -> Any:
        return use(cls(**{name: bad(value) for name, value in good.items()}))

    return call
