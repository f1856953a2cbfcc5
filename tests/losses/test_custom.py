"""Custom losses of both kinds, and names of losses that do not exist."""

import numpy as np
import pytest

from ltm_sklearn.losses._classification_score import ClassificationScore
from ltm_sklearn.losses._regression_score import RegressionScore

each_score = pytest.mark.parametrize(
    "make", [lambda loss: ClassificationScore(loss, 3, average=False), lambda loss: RegressionScore(loss, average=True)]
)
Y = np.array([0, 1, 2])


def losses_of(score):
    if isinstance(score, ClassificationScore):
        return score.losses(Y, np.full((2, 3, 3), 1 / 3), None)
    return score.losses(Y.astype(float), np.zeros((2, 3, 1)), None)


@each_score
@pytest.mark.parametrize("loss", [lambda y, p: 0.5, lambda y, p: np.zeros(2), lambda y, p: np.zeros((len(y), 1))])
def test_custom_loss_of_the_wrong_shape_is_refused(make, loss):
    with pytest.raises(ValueError, match=r"loss must return one value per row, shape \(3,\); got shape"):
        losses_of(make(loss))


@each_score
def test_custom_loss_of_nan_is_refused(make):
    with pytest.raises(ValueError, match="loss must return numbers; got NaN for row 0"):
        losses_of(make(lambda y, p: np.full(len(y), np.nan)))


@each_score
@pytest.mark.parametrize("loss", ["hinge", None, 3, True])
def test_unknown_loss_is_named(make, loss):
    with pytest.raises(ValueError, match=f"loss={loss!r} is not one of 'auto'"):
        make(loss)
