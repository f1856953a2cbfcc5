"""Regret of a prequential run against comparators in hindsight."""

import itertools

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from support.echo_models import EchoRiver, noisy_labels

from ltm_sklearn.evaluation import prequential
from ltm_sklearn.evaluation._comparators import Comparators


def best_sequence(losses, switches):
    """Examine all sequences."""
    n_rows, n_experts = losses.shape
    return min(
        losses[np.arange(n_rows), path].sum()
        for path in itertools.product(range(n_experts), repeat=n_rows)
        if np.count_nonzero(np.diff(path)) <= switches
    )


@pytest.mark.parametrize("seed", range(4))
def test_switching_comparators_are_the_best_of_all_sequences(seed):
    rng = np.random.default_rng(seed)
    losses = rng.random((7, 3)) if seed % 2 else rng.integers(0, 2, (7, 3)).astype(float)
    comparators = Comparators(3, [0, 1, 2], 4)
    comparators.add(losses[:3], None)
    comparators.add(losses[3:], None)
    totals = list(comparators.totals().values())
    assert totals == pytest.approx([best_sequence(losses, switches) for switches in range(5)])


def test_regret_is_the_loss_minus_that_of_the_comparators():
    X, y = noisy_labels(60)
    concept = np.repeat([0, 1, 0], 20)
    models = {name: EchoRiver(f"x{column}") for column, name in enumerate("abc")}
    regret = prequential(models, [(X, y, concept)], experts=["a", "c"], max_switches=2).regret()
    losses = (y[:, None] != X).astype(float)
    totals, of_experts = losses.sum(axis=0), losses[:, [0, 2]]
    assert list(regret.columns) == ["loss", "best_expert", "switches_1", "switches_2", "concept_oracle"]
    np.testing.assert_array_equal(regret["loss"], totals)
    np.testing.assert_allclose(regret["best_expert"], totals - of_experts.sum(axis=0).min())
    oracle = sum(of_experts[concept == c].sum(axis=0).min() for c in (0, 1))
    np.testing.assert_allclose(regret["concept_oracle"], totals - oracle)
    assert (regret["switches_2"] >= regret["switches_1"]).all()


def test_regret_of_regressors_is_in_squared_errors():
    stream = [({"a": 1.0, "b": 2.0}, 0.0), ({"a": 0.0, "b": 5.0}, 3.0)]
    result = prequential({"a": EchoRiver("a"), "b": EchoRiver("b")}, stream, max_switches=1)
    assert result.losses == {"a": 1.0 + 9.0, "b": 4.0 + 4.0}
    assert result.comparators == {"best_expert": 8.0, "switches_1": 1.0 + 4.0}


def test_regret_counts_rows_with_predictions_of_all_models():
    X, y = noisy_labels(30, n_classes=2)
    result = prequential({"late": GaussianNB(), "echo": EchoRiver("x0")}, (X, y), batch_size=10)
    assert result.n_compared == 20
    assert result.losses["echo"] == (X[10:, 0] != y[10:]).sum()
