"""Models of other libraries in a file: by skops where the copy that it restores is exact, otherwise by pickle."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable
from types import MethodType
from typing import Any

import numpy as np

from ._archive import BadFileError
from ._own_classes import find_own

#: What scikit-learn's estimators have in them beyond what skops trusts by itself. None of it reads files or unpickles.
TRUSTED = {
    *("numpy.dtype", "numpy.mean", "scipy._lib.array_api_compat.numpy._aliases.asarray"),
    *("scipy.interpolate._bsplines.BSpline", "scipy.sparse._csc.csc_array", "scipy.sparse._csc.csc_matrix"),
    *("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"),
}
_OF_SKLEARN = """
    _loss.loss.HalfTweedieLossIdentity calibration._CalibratedClassifier calibration._SigmoidCalibration
    ensemble._hist_gradient_boosting.predictor.TreePredictor feature_selection._mutual_info.mutual_info_classif
    feature_selection._mutual_info.mutual_info_regression feature_selection._univariate_selection.chi2
    feature_selection._univariate_selection.f_classif feature_selection._univariate_selection.f_regression
    gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace gaussian_process.kernels.CompoundKernel
    gaussian_process.kernels.ConstantKernel gaussian_process.kernels.DotProduct gaussian_process.kernels.ExpSineSquared
    gaussian_process.kernels.Exponentiation gaussian_process.kernels.Hyperparameter gaussian_process.kernels.Matern
    gaussian_process.kernels.Product gaussian_process.kernels.RBF gaussian_process.kernels.RationalQuadratic
    gaussian_process.kernels.Sum gaussian_process.kernels.WhiteKernel metrics._dist_metrics.EuclideanDistance64
    multiclass._ConstantPredictor neighbors._ball_tree.BallTree neighbors._kd_tree.KDTree
    neural_network._stochastic_optimizers.AdamOptimizer neural_network._stochastic_optimizers.SGDOptimizer
    tree._tree.Tree
"""
TRUSTED |= {f"sklearn.{name}" for name in _OF_SKLEARN.split()}
SKOPS, PICKLE = "models.skops", "models.pickle"


class DumpedModels:
    """Models as bytes.

    Parameters
    ----------
    models : iterable of (str, object)
        Paths that lead to the models, for messages, and the models.

    Attributes
    ----------
    members : dict of str to bytes
        The archive's members, none for a way that no model takes.
    places : list of [str, int]
        For each model: its member, and where in it.
    pickled : list of str
        Which models are pickled, in words.
    """

    def __init__(self, models: Iterable[tuple[str, Any]]) -> None:
        models = list(models)
        by_skops = [at for at, (_, model) in enumerate(models) if type(model).__module__.partition(".")[0] == "sklearn"]
        data = _dumped_exactly([models[at][1] for at in by_skops]) if by_skops else None
        if by_skops and data is None:  # one of them, or what they share
            by_skops = [at for at in by_skops if _dumped_exactly([models[at][1]]) is not None]
            data = _dumped_exactly([models[at][1] for at in by_skops]) if by_skops else None
            by_skops = by_skops if data is not None else []
        by_pickle = [at for at in range(len(models)) if at not in {*by_skops}]
        self.members = {} if data is None else {SKOPS: data}
        if by_pickle:
            self.members[PICKLE] = _pickled([models[at] for at in by_pickle])
        places = {at: [SKOPS, number] for number, at in enumerate(by_skops)}
        places |= {at: [PICKLE, number] for number, at in enumerate(by_pickle)}
        self.places = [places[at] for at in range(len(models))]
        self.pickled = [_in_words(*models[at]) for at in by_pickle]


def load_models(members: dict[str, bytes], places: list[Any], trusted: bool) -> list[Any]:
    """Return the models. Pickles are loaded: the caller has refused them if the file is not trusted."""
    loaded: dict[str, list[Any]] = {}
    if SKOPS in members:
        io = _skops()
        try:
            names = io.get_untrusted_types(data=members[SKOPS])
            unknown = [name for name in names if not _is_trusted(name)]
            if unknown and not trusted:
                raise BadFileError(
                    f"its models have objects of {', '.join(unknown)}, which may run code. If you trust whoever could "
                    "have written the file, pass trusted=True"
                )
            loaded[SKOPS] = io.loads(members[SKOPS], trusted=names)
        except (KeyError, TypeError, AttributeError, ImportError) as error:
            raise BadFileError(f"its models cannot be read by skops ({error!r})") from error
    if PICKLE in members:
        try:
            loaded[PICKLE] = pickle.loads(members[PICKLE])
        except Exception as error:  # pickles run code, whose errors are of any kind
            raise BadFileError(f"its pickled models cannot be loaded ({type(error).__name__}: {error})") from error
    return [loaded[member][number] for member, number in places]


def _is_trusted(name: str) -> bool:
    """Return whether skops may use a type, by its name, without ``trusted=True``."""
    if name in TRUSTED:
        return True
    try:
        return isinstance(find_own(":".join(name.rsplit(".", 1))), type)
    except BadFileError:
        return False


def _dumped_exactly(models: list[Any]) -> bytes | None:
    """Return models as skops writes them; None if the copies would not be the same, or would not be trusted."""
    io = _skops()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data: bytes = io.dumps(models)
            names = io.get_untrusted_types(data=data)
            is_exact = all(map(_is_trusted, names)) and is_same(models, io.loads(data, trusted=names))
            return data if is_exact else None
    except Exception:  # whatever skops cannot write
        return None


def _pickled(models: list[tuple[str, Any]]) -> bytes:
    try:
        return pickle.dumps([model for _, model in models], protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        for path, model in models:
            try:
                pickle.dumps(model)
            except Exception as own:
                raise ValueError(f"{_in_words(path, model)} cannot be saved: {type(own).__name__}: {own}") from own
        raise ValueError(f"the models cannot be saved: {type(error).__name__}: {error}") from error


def _in_words(path: str, model: Any) -> str:
    kind = model if isinstance(model, type) or hasattr(model, "__qualname__") else type(model)
    return f"{path or 'the object itself'} ({kind.__module__}.{kind.__qualname__})"


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            'models of scikit-learn are saved and loaded by skops, which is not installed: pip install "ltm_sklearn'
            '[persistence]"'
        ) from error
    return skops.io


# Comparison -----------------------------------------------------------------------------------------------------------

_IMMUTABLE = (bool, int, str, bytes, complex, type(None), float)
_UNCHANGED = (tuple, np.generic, np.dtype)  #: objects of these may be two instead of one


def is_same(one: Any, other: Any) -> bool:
    """Return whether a copy is exact: types, numbers to the last bit, order, and which parts are the same object."""
    left = [(one, other)]
    partner: dict[int, Any] = {}  #: by the id of an object
    original: dict[int, Any] = {}  #: by the id of its copy
    alive = []  #: so that no object gets the id of another one
    while left:
        one, other = left.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, _IMMUTABLE):
            if repr(one) != repr(other):  # which has the sign of zero, and NaN is the same
                return False
            continue
        if id(one) in partner:
            if partner[id(one)] is not other and not isinstance(one, _UNCHANGED):
                return False
            continue
        if original.setdefault(id(other), one) is not one and not isinstance(one, _UNCHANGED):
            return False
        partner[id(one)] = other
        alive += [one, other]
        parts = _parts(one), _parts(other)
        if any(part is None for part in parts) or len(parts[0]) != len(parts[1]):  # type: ignore[arg-type]
            return False
        left += zip(*parts, strict=True)  # type: ignore[arg-type]
    return True


def _parts(thing: Any) -> list[Any] | None:
    """Return all that an object is made of; None if that cannot be compared."""
    kind = type(thing)
    if kind in (list, tuple):
        return [*thing]
    if kind is dict:
        return [*thing, *thing.values()]
    if kind in (set, frozenset):
        return sorted(map(repr, thing))
    if (hasattr(thing, "__qualname__") and kind is not MethodType) or isinstance(thing, np.ufunc):
        return [id(thing)]
    if kind is np.ndarray:
        layout = [repr(thing.dtype), thing.shape, thing.flags.f_contiguous, thing.flags.c_contiguous]
        if thing.dtype == object:
            return [*layout, *thing.ravel().tolist()]
        names = thing.dtype.names  # the bytes between fields are of no account
        return [*layout, *(thing[name].tobytes() for name in names)] if names else [*layout, thing.tobytes()]
    if isinstance(thing, np.generic):
        return [repr(thing.dtype), thing.tobytes()]
    if isinstance(thing, np.dtype):
        return [repr(thing)]
    if kind is np.random.RandomState:
        return [thing.get_state(legacy=False)]
    try:
        reduced = thing.__reduce_ex__(4)
    except Exception:
        return None
    if isinstance(reduced, str):
        return [reduced]
    function, arguments, state, items, pairs = [*reduced, None, None, None][:5]
    return [function, arguments, state, [*(items or ())], [*(pairs or ())]]
