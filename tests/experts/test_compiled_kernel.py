"""The compiled kernel: the same numbers as NumPy, with and without AVX2, and only for unchanged rules."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from ltm_sklearn.experts import FixedShare, LongTermMemory, MixingPastPosteriors, ShareTheta
from ltm_sklearn.experts import _compiled as compiled_module
from ltm_sklearn.experts import _long_term_memory as memory_module
from ltm_sklearn.experts._compiled import kernel, kernel_of

pytestmark = pytest.mark.fast_cases(3)

COMPILED = {
    "LongTermMemory": LongTermMemory,
    "LongTermMemory(horizon)": lambda: LongTermMemory(horizon=30_000),
    "LongTermMemory(prior)": lambda: LongTermMemory(prior=np.arange(1, 8)),
    "FixedShare": lambda: FixedShare(2.0, 0.01),
    "FixedShare(hot)": lambda: FixedShare(300.0, 1e-5),
    "FixedShare(scheduled share)": lambda: FixedShare(0.03),
    "FixedShare(horizon)": lambda: FixedShare(1.0, horizon=30_000),
    "ShareTheta": lambda: ShareTheta(4.0, 0.01, 0.001),
    "ShareTheta(scheduled)": lambda: ShareTheta(4.0),
    "MixingPastPosteriors": lambda: MixingPastPosteriors(1.0, 0.01),
}


def without_kernel(monkeypatch):
    monkeypatch.setattr(compiled_module, "kernel", None)


def returning_losses(n_rounds, n_experts, seed=0):
    rng = np.random.default_rng(seed)
    means = np.full((n_rounds, n_experts), 0.7)
    means[np.arange(n_rounds), (np.arange(n_rounds) // 500) % min(3, n_experts)] = 0.3
    return rng.beta(2 * means, 2 * (1 - means))


def confidences(kind, shape):
    if kind == "awake":
        return None
    awake = np.random.default_rng(1).random(shape)
    awake = awake if kind == "fractional" else (awake < 0.7).astype(float)
    awake[7], awake[8] = 0.0, 1.0
    return awake


def test_the_kernel_is_compiled():
    assert kernel is not None


@pytest.mark.parametrize("kind", ["awake", "some asleep", "fractional"])
@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.fast_cases(9)
def test_compiled_rounds_equal_numpy(name, kind, monkeypatch):
    losses = returning_losses(2_000, 7)
    awake = confidences(kind, losses.shape)
    fast, slow = COMPILED[name](), COMPILED[name]()
    compiled = fast.run(losses, awake)
    without_kernel(monkeypatch)
    np.testing.assert_allclose(compiled, slow.run(losses, awake), rtol=0, atol=1e-9)
    assert fast.n_rounds_ == slow.n_rounds_
    assert fast.state_.keys() == slow.state_.keys()
    for part, value in slow.state_.items():
        if isinstance(value, np.ndarray):
            assert fast.state_[part].shape == value.shape
            np.testing.assert_allclose(fast.state_[part], value, rtol=1e-7, atol=1e-9, err_msg=part)


@pytest.mark.parametrize("n_experts", [1, 2, 3, 4, 5, 8, 9, 33])
@pytest.mark.parametrize("name", ["LongTermMemory", "FixedShare", "ShareTheta"])
@pytest.mark.fast_cases(8)
def test_padding_of_the_vectors_has_no_weight(name, n_experts, monkeypatch):
    losses = returning_losses(400, n_experts)
    losses[:, 0] = 1.0  # padding that took part would look like the best expert
    compiled = COMPILED[name]().run(losses)
    without_kernel(monkeypatch)
    np.testing.assert_allclose(compiled, COMPILED[name]().run(losses), rtol=0, atol=1e-12)


@pytest.mark.skipif(kernel is None or not kernel.has_avx2(), reason="this processor has no AVX2")
def test_processors_with_and_without_avx2_give_the_same_numbers():
    losses = returning_losses(20_000, 11)
    algorithm = LongTermMemory()
    algorithm.weights(11)
    arguments = memory_module.RATES, algorithm._tracker_rates, *memory_module.KERNEL_CONSTANTS
    wide, narrow = (kernel.MemoryRounds(algorithm.state_, *arguments, avx2=avx2) for avx2 in (True, False))
    np.testing.assert_allclose(wide.run(losses), narrow.run(losses), rtol=0, atol=1e-9)
    weights = np.full(11, 1 / 11)
    share = np.full(len(losses), 0.01)
    runs = [
        kernel.share_rounds(losses, None, weights, weights, 2.0, share, share, 1e-100, avx2) for avx2 in (True, False)
    ]
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=0, atol=1e-9)


def test_a_state_saved_with_the_kernel_goes_on_without_it(monkeypatch):
    losses = returning_losses(2_000, 5)
    algorithm = LongTermMemory()
    algorithm.run(losses[:1_000])
    saved = pickle.dumps(algorithm)
    expected = algorithm.run(losses[1_000:])
    without_kernel(monkeypatch)
    np.testing.assert_allclose(pickle.loads(saved).run(losses[1_000:]), expected, rtol=0, atol=1e-9)


def test_update_takes_rows_that_the_kernel_does_not():
    algorithm, other = LongTermMemory(), LongTermMemory()
    rows = [np.array([0.2, 0.4]), [0.5, 0.1], np.array([0, 1]), np.array([0.3, np.nan]), np.array([1.0 + 1e-12, 0.0])]
    for row in rows:
        algorithm.update(row)
        other.run([row])
    for bad in ([0.1], [2.0, 0.0], np.array([0.1, 0.2, 0.3])):
        with pytest.raises(ValueError, match="expert"):
            algorithm.update(bad)
    assert np.array_equal(algorithm.weights(), other.weights())


@pytest.mark.parametrize("switching", [0.0, 1e-60, 1e-3])
@pytest.mark.parametrize("rate", [50.0, 199.0, 201.0, 709.0, 1e3, 1e6])
@pytest.mark.parametrize("algorithm", [FixedShare, ShareTheta, MixingPastPosteriors])
@pytest.mark.fast_cases(6)
def test_large_rates_neither_underflow_nor_differ_from_numpy(algorithm, rate, switching, monkeypatch):
    rng = np.random.default_rng(0)
    losses = np.vstack([np.ones((3, 4)), [[0, 1, 1, 0.5], [1, 0, 0.5, 1]] * 20, rng.integers(0, 3, (150, 4)) / 2])
    awake = (rng.random(losses.shape) < 0.8).astype(float)
    for confidence in (None, awake):
        compiled = algorithm(rate, switching).run(losses, confidence)
        np.testing.assert_allclose(compiled.sum(axis=1), 1.0)
        with monkeypatch.context() as patched:
            without_kernel(patched)
            expected = algorithm(rate, switching).run(losses, confidence)
        np.testing.assert_allclose(compiled, expected, rtol=0, atol=1e-9)


def test_the_kernel_runs_only_rules_that_are_unchanged():
    class Named(LongTermMemory):
        """The same rule."""

    class Backwards(FixedShare):
        def _log_factor(self, rate, losses):
            return rate * losses

    assert kernel_of(Named()) is kernel
    assert Backwards(1.0, 0.01).run(np.tile([0.0, 1.0], (20, 1)))[-1, 1] > 0.9


BLOCK_KERNEL = """
import sys, warnings
sys.modules["ltm_sklearn.experts._kernel"] = None
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import ltm_sklearn.experts as experts
    weights = [experts.LongTermMemory().run([[0.0, 1.0]] * 3), experts.FixedShare(1.0).run([[0.0, 1.0]] * 3)]
print([w.category.__name__ for w in caught], weights[0][-1][0] > 0.5, weights[1][-1][0] > 0.5)
"""


def test_without_the_kernel_there_is_one_warning(tmp_path):
    run = subprocess.run([sys.executable, "-c", BLOCK_KERNEL], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert run.stdout.strip() == "['RuntimeWarning'] True True"
