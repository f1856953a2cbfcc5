"""Algorithms by their names, in every estimator that has an ``algorithm`` parameter."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, bandits, experts
from ltm_sklearn.bandits import BanditAlgorithm, Exp3IX
from ltm_sklearn.bandits._names import BANDIT_ALGORITHMS, bandit_algorithm
from ltm_sklearn.experts import ExpertAlgorithm, FixedShare, LongTermMemory, MLPoly
from ltm_sklearn.experts._names import EXPERT_ALGORITHMS, expert_algorithm

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] > 0


@pytest.mark.parametrize(
    ("module", "base", "names"),
    [(experts, ExpertAlgorithm, EXPERT_ALGORITHMS), (bandits, BanditAlgorithm, BANDIT_ALGORITHMS)],
)
def test_every_public_algorithm_has_a_name(module, base, names):
    public = [getattr(module, name) for name in module.__all__]
    algorithms = {each for each in public if isinstance(each, type) and issubclass(each, base) and each is not base}
    assert {*names.values()} == algorithms
    for name, algorithm in names.items():
        assert name == name.lower()
        algorithm()  # works with default parameters


def test_names_are_in_snake_case():
    assert isinstance(expert_algorithm("ml_poly"), MLPoly)
    assert isinstance(bandit_algorithm("exp3_ix"), Exp3IX)
    assert isinstance(expert_algorithm(None), LongTermMemory)


def test_instances_are_cloned():
    given = FixedShare(switching=0.2)
    fresh = expert_algorithm(given)
    assert fresh is not given
    assert fresh.switching == 0.2


@pytest.mark.parametrize("wrong", ["fixedshare", FixedShare, 3, Exp3IX()])
def test_errors_list_the_names(wrong):
    with pytest.raises(ValueError, match=r"algorithm=.* The names are ada_normal_hedge, .*, squint\.$"):
        expert_algorithm(wrong)


def ensembles(algorithm, bandit_algorithm):
    pool = [("bayes", GaussianNB()), ("flat", GaussianNB(var_smoothing=1.0))]
    yield LongTermMemoryClassifier(pool, algorithm=algorithm, memory=None).fit(X, y).weights_
    yield (
        LongTermMemoryClassifier(pool, feedback="bandit", algorithm=bandit_algorithm, random_state=0).fit(X, y).weights_
    )
    yield ExpertMixture(algorithm=algorithm).fit(X, y).weights_


def test_a_name_gives_the_numbers_of_the_default_instance():
    by_name, by_instance = ensembles("fixed_share", "exp3_ix"), ensembles(FixedShare(), Exp3IX())
    for one, other in zip(by_name, by_instance, strict=True):
        np.testing.assert_array_equal(one, other)


def test_names_in_river():
    river = pytest.importorskip("ltm_sklearn.river")
    from river import naive_bayes, time_series

    models = {"bayes": naive_bayes.GaussianNB(), "other": naive_bayes.GaussianNB()}
    weightings = [
        river.LongTermMemoryClassifier(models, algorithm="fixed_share"),
        river.ExpertSelectionClassifier([*models.values()], algorithm="fixed_share"),
    ]
    for at, row in enumerate(X.tolist()):
        for model in weightings:
            model.learn_one(dict(zip("abc", row, strict=True)), bool(y[at]))
    assert isinstance(weightings[1]._weighting, FixedShare)
    assert river.ExpertPolicy("squint").pull(["a", "b"]) in ("a", "b")
    assert river.BanditPolicy("exp3_ix", seed=0).pull(["a", "b"]) in ("a", "b")
    forecaster = river.LongTermMemoryForecaster({"level": time_series.HoltWinters(alpha=0.8)}, algorithm="boa")
    for value in (1.0, 2.0, 3.0):
        forecaster.learn_one(value)
    np.testing.assert_array_equal(forecaster.weights_, [[1.0]])


def test_names_in_sktime():
    sktime = pytest.importorskip("ltm_sklearn.sktime")
    by_name = sktime.LongTermMemoryEnsemble(3, algorithm="fixed_share", loss="absolute_error")
    by_instance = sktime.LongTermMemoryEnsemble(3, algorithm=FixedShare(), loss="absolute_error")
    for each in (by_name, by_instance):
        each.update(X.T, X[:, 0])
    np.testing.assert_array_equal(by_name.weights, by_instance.weights)
