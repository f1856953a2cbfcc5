"""The property that hostile tests check of every public name, for any arguments.

Either the call works: its result is finite, weights are a distribution, and the next good call works. Or it raises a
ValueError or TypeError that names something of the input, and then the state is unchanged to the last bit, and so is
the result of the next good call.
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
from hostile.values import OneBad, Spoiler, is_finite

#: Words of which a message must have one: names of arguments and of their parts. Python's own errors, such as "float()
#: argument must be ... a real number", have none. River turns a row into a VectorDict.
WORDS = (
    r"[Ii]nput|output|transitions|drop|experts|xs|dict|order|concepts|run_records|ends|n_seeds|most|rules|thresholds|losses|loss|awake|prior|"
    r"n_experts|expert|arms?|probability|rewards?|n_arms|n_queries|X|x|y|Y|y_pred|y_true|rows?|columns?|labels?|class|classes|targets?|"
    r"sample_weight|weights?|ids?|sample\(s\)|samples|features?|feature_names|dtype|shape|sparse|file|source|stream|"
    r"line|names|run_record|models?|quantile|levels?|forecasts|quantile_forecasts|time|times|series|group|block|fh|horizon|"
    r"seed|estimator|frame|dictionary|max_switches|max_distinct|switches|index|random_state|VectorDict|step|\w+=.*"
)


class Entry:
    """A public name, and calls of it.

    Parameters
    ----------
    make : callable
        Make the object, after a few rounds.
    good : callable
        Take the object, and return the result of a call that must work.
    calls : dict
        Functions of the object and a ``Spoiler``.
    errors : tuple of exceptions
        Documented exceptions besides ValueError and TypeError.
    nan : bool, "all" or tuple of str
        Whether NaN is a documented result; or the calls of which it is. "all": infinity is documented, too.
    forgets : tuple of str
        Calls after which rows may be of another kind, such as ``fit``: then ``good`` need not work.
    keeps : bool
        Whether an error must name something and leave the state unchanged.
    others : str
        Pattern of errors of other libraries, which may have changed their own state.
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
    def _good_result(self) -> str:
        """Hash of the good call's result."""
        return joblib.hash(self.good(self.fresh()))

    def fresh(self) -> Any:
        """Return a new object."""
        return pickle.loads(self._pickled)

    def n_arguments(self, name: str) -> int:
        """Return how many arguments of a call are spoiled."""
        bad = OneBad(-1)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            with suppress(*self.errors):  # some calls are wrong in themselves, such as those with an unknown id
                self.calls[name](self.fresh(), bad)
        return bad.n_seen

    def check(self, name: str, bad: Spoiler | OneBad) -> bool:
        """Return whether a call with hostile arguments works; raise an AssertionError if it violates the property."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of numbers that overflow in models of other libraries
            thing = self.fresh()
            before = joblib.hash(thing)
            message = None
            try:
                result = self.calls[name](thing, bad)
            except self.errors as error:
                message = " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
                is_ours = isinstance(error, ValueError | TypeError) and not re.search(self.others, message)
            if message is not None:
                if self.keeps and is_ours:
                    assert re.search(rf"(?<!\w)({WORDS})(?!\w)", message), f"names nothing of the input: {message}"
                if self.keeps and not re.search(self.others, message):
                    assert joblib.hash(thing) == before, f"the state has changed: {message}"
                    assert joblib.hash(self.good(thing)) == self._good_result, (
                        f"the next good call has another result: {message}"
                    )
                return False
            nan = name in self.nan if isinstance(self.nan, tuple) else bool(self.nan)
            assert self.nan == "all" or is_finite(result, nan), f"returned {result!r}"
            assert_distribution(thing)
            if name not in self.forgets:
                following = self.good(thing)
                assert self.nan == "all" or is_finite(following, self.nan is True), (
                    "the result of the next good call is not finite"
                )
            return True


def assert_distribution(thing: Any) -> None:
    """Assert that the weights of an object are a distribution, if it has any."""
    weights = getattr(thing, "weights_", None)
    if weights is None or not len(weights):
        return
    weights = np.atleast_2d(np.asarray(weights, dtype=float))
    assert np.isfinite(weights).all(), f"weights are {weights}"
    assert (weights >= 0.0).all(), f"weights are {weights}"
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def with_bad_parameters(cls: Callable[..., Any], good: dict[str, Any], use: Callable[[Any], Any]) -> Any:
    """Return a call that makes an object with spoiled parameters and uses it."""

    def call(_: Any, bad: Spoiler) -> Any:
        return use(cls(**{name: bad(value) for name, value in good.items()}))

    return call
