"""Invalid rows, targets, estimators and losses: errors name them and change nothing."""

import copy

import numpy as np
import pytest
from support.ensemble_streams import CLASSES, ROUNDS, classifier, fine, fitted, forecasts, spoilt
from support.stream_experts import (
    assert_same_outcome,
)

pytestmark = pytest.mark.fast_cases(1)


#: What is handed in, made from fine rows, and what the message must say.
BAD_ROWS = {
    "more features": (lambda X, y: (np.hstack([X, X]), y), "X has 6 features, but .* is expecting 3 features"),
    "fewer features": (lambda X, y: (X[:, :2], y), "X has 2 features, but .* is expecting 3 features"),
    "NaN in X": (lambda X, y: (spoilt(X, np.nan), y), "Input X contains NaN"),
    "infinity in X": (lambda X, y: (spoilt(X, np.inf), y), "Input X contains infinity"),
    "no rows": (lambda X, y: (X[:0], y[:0]), r"Found array with 0 sample\(s\)"),
    "one axis": (lambda X, y: (X[0], y[:1]), "Expected 2D array, got 1D array instead"),
    "other lengths": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "no targets": (lambda X, y: (X, None), "requires y to be passed"),
    "weights all zero": (lambda X, y: (X, y, np.zeros(len(X))), "[Ss]ample.weight.* (zero|non-zero)"),
    "negative weights": (lambda X, y: (X, y, spoilt(np.ones(len(X)), -1.0)), "[Nn]egative"),
    "weights NaN": (lambda X, y: (X, y, spoilt(np.ones(len(X)), np.nan)), "sample_weight contains NaN"),
    "too few weights": (lambda X, y: (X, y, np.ones(3)), r"sample_weight.shape == \(3,\), expected \(10,\)"),
}


BAD_LABELS = {
    "unseen label": (lambda X, y: (X, spoilt(y, "sideways")), r"label 'sideways' of row 3 is not among .*'down', 'up'"),
    "numbers for words": (lambda X, y: (X, np.arange(len(y))), "label .* of row 0 is not among the classes"),
    "NaN": (lambda X, y: (X, np.full(len(y), np.nan)), "label .*nan.* of row 0 is not among the classes|contains NaN"),
}


BAD_NUMBERS = {
    "NaN in y": (lambda X, y: (X, spoilt(y, np.nan)), "Input y contains NaN"),
    "infinity in y": (lambda X, y: (X, spoilt(y, np.inf)), "Input y contains infinity"),
    "words": (lambda X, y: (X, np.full(len(y), "up")), "could not convert string to float"),
}


BAD = [
    pytest.param(kind, *case, id=f"{kind}-{name}")
    for kind, own in (("classes", BAD_LABELS), ("numbers", BAD_NUMBERS))
    for name, case in {**BAD_ROWS, **own}.items()
]


@pytest.mark.parametrize(("kind", "spoil", "message"), BAD)
def test_invalid_input_is_named_and_changes_nothing(kind, spoil, message):
    model, rows = fitted(kind), fine(kind)[0]
    twin = copy.deepcopy(model)
    X, y, *weight = spoil(*fine(kind, seed=2))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weight[0] if weight else None)
    assert_same_outcome(model, twin, rows)
    for seed in (3, 4):
        assert_same_outcome(model.partial_fit(*fine(kind, seed)), twin.partial_fit(*fine(kind, seed)), rows)


@pytest.mark.parametrize(("kind", "spoil", "message"), [case for case in BAD if "features" not in case.id])
def test_invalid_first_call_leaves_the_ensemble_unfitted(kind, spoil, message):
    model = fitted(kind)
    for name in [name for name in vars(model) if name.endswith("_") or name.startswith("_")]:
        delattr(model, name)
    before = dict(vars(model))
    X, y, *weight = spoil(*fine(kind))
    first = {"classes": ["up", "down"]} if kind == "classes" else {}
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weight[0] if weight else None, **first)
    assert vars(model) == before


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_fit_that_fails_leaves_an_ensemble_as_it_was(kind):
    model, rows = fitted(kind), fine(kind)[0]
    twin = copy.deepcopy(model)
    X, y = fine(kind, seed=2)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(spoilt(np.hstack([X, X]), np.nan), y)
    assert_same_outcome(model, twin, rows)


def test_one_class_is_refused():
    X = np.zeros((5, 2))
    for learn_all in (
        lambda model: model.fit(X, ["a"] * 5),
        lambda model: model.partial_fit(X, ["a"] * 5, classes=["a"]),
    ):
        model = classifier()
        with pytest.raises(ValueError, match=r"just one class, .*'a'"):
            learn_all(model)
        assert not hasattr(model, "classes_")


def test_classes_are_needed_first_and_may_not_change():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        classifier().partial_fit(*next(forecasts(1, 5)))
    model = fitted("classes")
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(*fine("classes"), classes=["up", "down", "sideways"])


@pytest.mark.parametrize("loss", [lambda y, said: np.zeros(2), lambda y, said: np.full(len(y), 7.0)])
@ROUNDS
def test_failing_custom_loss_changes_nothing(loss, rounds):
    def fails_later(y, said):
        return loss(y, said) if said[0, 0] == 0.123 else np.full(len(y), 0.5)

    model = classifier(loss=fails_later, rounds=rounds, record=5)
    for X, y in forecasts(3, 5):
        model.partial_fit(X, y, classes=CLASSES)
    twin = copy.deepcopy(model)
    X, y = next(forecasts(1, 5))
    bad = X.copy()
    bad[0] = 1.0 - 0.123
    with pytest.raises(ValueError, match="loss must return"):
        model.partial_fit(bad, y)
    assert_same_outcome(model, twin, X)
