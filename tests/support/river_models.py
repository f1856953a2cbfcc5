"""Models of River for tests: what they say stands in the rows. And River's checks, one test each."""

import pytest
from river import base, checks


class _Reader(base.Estimator):
    """Learns nothing."""

    def __init__(self, feature="a"):
        self.feature = feature

    def learn_one(self, x, y):
        pass


class ReadsNumber(_Reader, base.Regressor):
    def predict_one(self, x):
        return x[self.feature]


class ReadsLabel(_Reader, base.Classifier):
    _multiclass = True

    def predict_proba_one(self, x):
        return {x[self.feature]: 1.0}


class ReadsChance(_Reader, base.Classifier):
    """The feature is the chance of True."""

    def predict_proba_one(self, x):
        return {True: x[self.feature], False: 1.0 - x[self.feature]}


class ReadsChances(_Reader, base.Classifier):
    """The feature has a chance for each label."""

    _multiclass = True

    def __init__(self, feature="a", labels=(False, True)):
        super().__init__(feature)
        self.labels = labels

    def predict_proba_one(self, x):
        return dict(zip(self.labels, x[self.feature], strict=False))


def rivers_checks(models):
    """Return parameters for each of River's checks of each model; all but the first model of a class are exhaustive."""
    first = {type(model): at for at, model in reversed([*enumerate(models)])}
    return [
        pytest.param(
            model,
            check,
            id=f"{type(model).__name__}{at}-{check.__name__}-{number}",
            marks=[] if at == first[type(model)] else [pytest.mark.exhaustive],
        )
        for at, model in enumerate(models)
        for number, check in enumerate(checks.yield_checks(model))
        if check.__name__ not in model._unit_test_skips()
    ]
