"""Synthetic concepts: functions that draw labelled rows, with the names of their features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._param_checks import check_count, check_required_number, is_integer
from .._typing import Floats

MOST_FEATURES = 1_000_000
MOST_LEVELS = 20  #: depth of a tree, which has 2**depth leaves
MOST_DEVIATION = 1e300  #: of noise: larger deviations give infinite targets
MOST_TURN = 1e6  #: in radians


class LabelledRows(NamedTuple):
    """Rows drawn from a concept, with their labels or targets."""

    X: Floats
    y: NDArray[Any]


@dataclass(frozen=True)
class Stagger:
    """STAGGER concept: a rule over three nominal attributes of three values each.

    Parameters
    ----------
    rule : {0, 1, 2}, default=0
        0: small and red; 1: green or round; 2: medium or large.
    """

    rule: int = 0

    feature_names = ("size", "colour", "shape")
    classes = (0, 1)

    def __post_init__(self) -> None:
        check_index("rule", self.rule, 3)

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        X = rng.integers(0, 3, (n_rows, 3)).astype(np.float64)
        size, colour, shape = X.T
        rules = [(size == 0) & (colour == 0), (colour == 2) | (shape == 0), size > 0]
        return LabelledRows(X, rules[self.rule].astype(np.int64))


@dataclass(frozen=True)
class Sea:
    """SEA concept: whether the sum of the first two of three features in [0, 10] is at most a threshold.

    Parameters
    ----------
    threshold : float, default=8.0
        From 0 to 20.
    """

    threshold: float = 8.0

    feature_names = ("a", "b", "c")
    classes = (0, 1)

    def __post_init__(self) -> None:
        check_required_number("threshold", self.threshold, 0.0, 20.0)

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        X = 10.0 * rng.random((n_rows, 3))
        return LabelledRows(X, (X[:, 0] + X[:, 1] <= self.threshold).astype(np.int64))


@dataclass(frozen=True)
class Sine:
    """Sine concept: whether a point of the unit square lies below or above a sine curve.

    Parameters
    ----------
    rule : {0, 1, 2, 3}, default=0
        0: below the curve sin(b); 1: above it; 2: below the curve 0.5 + 0.3 sin(3 pi b); 3: above it.
    """

    rule: int = 0

    feature_names = ("a", "b")
    classes = (0, 1)

    def __post_init__(self) -> None:
        check_index("rule", self.rule, 4)

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        X = rng.random((n_rows, 2))
        a, b = X.T
        below = a < np.sin(b) if self.rule < 2 else a < 0.5 + 0.3 * np.sin(3.0 * np.pi * b)
        return LabelledRows(X, (below if self.rule % 2 == 0 else ~below).astype(np.int64))


@dataclass(frozen=True)
class Agrawal:
    """Agrawal concept (Agrawal and others, 1993): a rule over nine attributes of a loan application.

    Parameters
    ----------
    rule : int, default=0
        Number of the rule, from 0 to 9; labels are those of River.
    """

    rule: int = 0

    feature_names = (
        "salary",
        "commission",
        "age",
        "education",
        "car",
        "zipcode",
        "house_value",
        "house_years",
        "loan",
    )
    classes = (0, 1)

    def __post_init__(self) -> None:
        check_index("rule", self.rule, 10)

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        salary = rng.uniform(20_000, 150_000, n_rows)
        commission = np.where(salary >= 75_000, 0.0, rng.uniform(10_000, 75_000, n_rows))
        age, education = rng.integers(20, 81, n_rows), rng.integers(0, 5, n_rows)
        car, zipcode = rng.integers(0, 20, n_rows), rng.integers(0, 9, n_rows)
        value = (9 - zipcode) * 100_000 * rng.uniform(0.5, 1.5, n_rows)
        years, loan = rng.integers(1, 31, n_rows), rng.uniform(0, 500_000, n_rows)
        X = np.column_stack([salary, commission, age, education, car, zipcode, value, years, loan]).astype(np.float64)
        return LabelledRows(X, self._label(salary, commission, age, education, value, years, loan).astype(np.int64))

    def _label(self, salary: Any, commission: Any, age: Any, education: Any, value: Any, years: Any, loan: Any) -> Any:
        def by_age(below_40: Any, below_60: Any, older: Any) -> Any:
            return np.where(age < 40, below_40, np.where(age < 60, below_60, older))

        def within(what: Any, low: float, high: float) -> Any:
            return (what >= 1000 * low) & (what <= 1000 * high)

        income = salary + commission
        educated = by_age(education <= 1, (education >= 1) & (education <= 3), education >= 2)
        modest, good, high = within(salary, 25, 75), within(salary, 50, 100), within(salary, 75, 125)
        equity = np.where(years >= 20, value * (years - 20) / 10, 0.0)
        match self.rule:
            case 0:
                return (age < 40) | (age >= 60)
            case 1:
                return by_age(good, high, modest)
            case 2:
                return educated
            case 3:
                return np.where(educated, by_age(modest, good, good), by_age(good, high, modest))
            case 4:
                return by_age(
                    np.where(good, within(loan, 100, 300), within(loan, 200, 400)),
                    np.where(high, within(loan, 200, 400), within(loan, 300, 500)),
                    np.where(modest, within(loan, 300, 500), within(loan, 100, 300)),
                )
            case 5:
                return by_age(within(income, 50, 100), within(income, 75, 125), within(income, 25, 75))
            case 6:
                return 2 * income / 3 - loan / 5 - 20_000 <= 0
            case 7:
                return 2 * income / 3 - 5000 * education - 20_000 <= 0
            case 8:
                return 2 * income / 3 - 5000 * education - loan / 5 - 10_000 <= 0
            case _:
                return 2 * income / 3 - 5000 * education + equity / 5 - 10_000 <= 0


#: Lit segments of the seven-segment display of each digit.
_SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ]
)


@dataclass(frozen=True)
class Led:
    """LED concept: a digit from the seven segments of its display, placed among 17 irrelevant features.

    Parameters
    ----------
    seed : int, default=0
        Seed of the places of the seven segments.
    flipped : float, default=0.1
        Probability that a segment is inverted.
    """

    seed: int = 0
    flipped: float = 0.1

    feature_names = tuple(f"segment{at}" for at in range(24))
    classes = tuple(range(10))

    def __post_init__(self) -> None:
        check_required_number("flipped", self.flipped, 0.0, 1.0)
        check_seed(self.seed)

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        digit = rng.integers(0, 10, n_rows)
        lit = _SEGMENTS[digit] ^ (rng.random((n_rows, 7)) < self.flipped)
        X = np.column_stack([lit, rng.integers(0, 2, (n_rows, 17))]).astype(np.float64)
        return LabelledRows(X[:, np.random.default_rng(self.seed).permutation(24)], digit)


@dataclass(frozen=True)
class RandomTree:
    """Random tree concept: labels of the leaves of a random decision tree over features in [0, 1].

    Parameters
    ----------
    seed : int, default=0
        Seed of the tree.
    n_features : int, default=5
        Number of features.
    n_classes : int, default=2
        Number of classes; each labels about the same number of leaves.
    depth : int, default=5
        Depth of the tree.
    """

    seed: int = 0
    n_features: int = 5
    n_classes: int = 2
    depth: int = 5
    _splits: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, most in {"n_features": MOST_FEATURES, "n_classes": 2**MOST_LEVELS, "depth": MOST_LEVELS}.items():
            check_count(name, getattr(self, name), high=most)
        check_seed(self.seed)
        rng = np.random.default_rng(self.seed)
        low, high = np.zeros((1, self.n_features)), np.ones((1, self.n_features))
        features, thresholds = [], []
        for _ in range(self.depth):  # each level cuts each box in two
            boxes = np.arange(len(low))
            feature = rng.integers(0, self.n_features, len(low))
            cut = low[boxes, feature] + rng.uniform(0.3, 0.7, len(low)) * (high - low)[boxes, feature]
            features.append(feature)
            thresholds.append(cut)
            below, above = high.copy(), low.copy()
            below[boxes, feature], above[boxes, feature] = cut, cut
            low = np.stack([low, above], axis=1).reshape(-1, self.n_features)
            high = np.stack([below, high], axis=1).reshape(-1, self.n_features)
        labels = rng.permutation(np.arange(2**self.depth) % self.n_classes)
        object.__setattr__(self, "_splits", (features, thresholds, labels))

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{at}" for at in range(self.n_features))

    @property
    def classes(self) -> tuple[int, ...]:
        return tuple(range(self.n_classes))

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        X = rng.random((n_rows, self.n_features))
        features, thresholds, labels = self._splits
        node = np.zeros(n_rows, dtype=np.intp)
        for feature, threshold in zip(features, thresholds, strict=True):
            node = 2 * node + (X[np.arange(n_rows), feature[node]] > threshold[node])
        return LabelledRows(X, labels[node])


@dataclass(frozen=True)
class Hyperplane:
    """Hyperplane concept: the side of a plane through the centre of the unit cube, turned by an angle.

    Parameters
    ----------
    angle : float, default=0.0
        Angle in radians.
    n_features : int, default=10
        Number of features, at least 2.
    """

    angle: float = 0.0
    n_features: int = 10

    classes = (0, 1)

    def __post_init__(self) -> None:
        check_count("n_features", self.n_features, high=MOST_FEATURES)
        check_required_number("angle", self.angle, -MOST_TURN, MOST_TURN)
        if self.n_features < 2:
            raise ValueError(f"n_features={self.n_features!r} must be at least 2: a plane cannot turn in one dimension")

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{at}" for at in range(self.n_features))

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        X = rng.random((n_rows, self.n_features))
        fixed = np.random.default_rng(0).normal(size=(2, self.n_features))
        start, towards = np.linalg.qr(fixed.T)[0].T
        normal = np.cos(float(self.angle)) * start + np.sin(float(self.angle)) * towards
        return LabelledRows(X, ((X - 0.5) @ normal > 0.0).astype(np.int64))


@dataclass(frozen=True)
class LinearRegression:
    """Regression concept: a linear target with Gaussian noise.

    Parameters
    ----------
    seed : int, default=0
        Seed of the coefficients.
    n_features : int, default=5
        Number of features.
    deviation : float, default=0.1
        Standard deviation of the noise.
    """

    seed: int = 0
    n_features: int = 5
    deviation: float = 0.1

    classes = None

    def __post_init__(self) -> None:
        check_count("n_features", self.n_features, high=MOST_FEATURES)
        check_required_number("deviation", self.deviation, 0.0, MOST_DEVIATION)
        check_seed(self.seed)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{at}" for at in range(self.n_features))

    def __call__(self, rng: np.random.Generator, n_rows: int) -> LabelledRows:
        X = rng.normal(size=(n_rows, self.n_features))
        coefficients = np.random.default_rng(self.seed).normal(size=self.n_features)
        return LabelledRows(X, X @ coefficients + self.deviation * rng.normal(size=n_rows))


def check_index(name: str, value: Any, count: int) -> None:
    """Raise a ValueError unless a parameter is a whole number from 0 to ``count - 1``."""
    if not is_integer(value) or not 0 <= value < count:
        raise ValueError(f"{name}={value!r} must be a whole number from 0 to {count - 1}")


def check_seed(seed: Any) -> None:
    """Raise a ValueError unless a seed is a whole number, 0 or more, as NumPy's generators need."""
    if not is_integer(seed) or seed < 0:
        raise ValueError(f"seed={seed!r} must be a whole number, 0 or more")
