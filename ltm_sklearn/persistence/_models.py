"""Models of other libraries in a file: by skops where the copy that it restores is exact, otherwise by pickle."""

from __future__ import annotations

import pickle
import warnings
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from ._archive import BadFileError, to_json
from ._state import StateWriter

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


class ModelDump(NamedTuple):
    """Models as bytes."""

    members: dict[str, bytes]  #: of the archive
    places: list[tuple[str, int]]  #: of each model: its member, and its position there
    pickled: list[str]  #: models that are pickled, in words


def dump_models(models: list[tuple[str, Any]]) -> ModelDump:
    """Return models as bytes. Each comes with the path that leads to it, for messages."""
    by_skops = [model for _, model in models if type(model).__module__.partition(".")[0] in ("sklearn", "numpy")]
    data = _dumped_exactly(by_skops)
    if data is None:  # skops would change one of them
        by_skops = [model for model in by_skops if _dumped_exactly([model]) is not None]
        data = _dumped_exactly(by_skops)
    places = {} if data is None else {id(model): (SKOPS, number) for number, model in enumerate(by_skops)}
    rest = [(path, model) for path, model in models if id(model) not in places]
    members = {SKOPS: data} if data else {}
    if rest:
        members[PICKLE] = _pickled(rest)
        places |= {id(model): (PICKLE, number) for number, (_, model) in enumerate(rest)}
    return ModelDump(members, [places[id(model)] for _, model in models], [_in_words(*each) for each in rest])


def load_models(members: dict[str, bytes], places: list[Any], trusted: bool) -> list[Any]:
    """Return the models. Pickles are loaded: the caller has refused them if the file is not trusted."""
    loaded: dict[str, list[Any]] = {}
    if SKOPS in members:
        io = _skops()
        try:
            names = io.get_untrusted_types(data=members[SKOPS])
            unknown = sorted({*names} - TRUSTED)
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


def _dumped_exactly(models: list[Any]) -> bytes | None:
    """Return models as skops writes them; None if the copies would not be the same, or would not be trusted."""
    if not models:
        return b""
    io = _skops()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data: bytes = io.dumps(models)
            return data if is_same(models, io.loads(data, trusted=[*TRUSTED])) else None
    except Exception:  # skops cannot write them, or finds a type that is not trusted
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
            "models of scikit-learn and RandomStates of NumPy are saved and loaded by skops, which is not installed: "
            'pip install "ltm_sklearn[persistence]"'
        ) from error
    return skops.io


# Comparison -----------------------------------------------------------------------------------------------------------


def is_same(one: Any, other: Any) -> bool:
    """Return whether a copy is exact: types, numbers to the last bit, order, and which parts are the same object."""
    described = []
    for obj in (one, other):
        writer = _ContentWriter()
        described.append((writer, to_json([writer.value(obj), writer.nodes])))  # in JSON 1, 1.0 and true differ
    return described[0][1] == described[1][1]


class _ContentWriter(StateWriter):
    """Describe all that an object is made of, parts of other libraries included: an exact copy has the same nodes."""

    def _immutable(self, obj: Any, kind: type) -> list[Any] | None:
        if isinstance(obj, bytes | complex | np.dtype):
            return ["immutable", kind.__name__, repr(obj)]
        if isinstance(obj, np.generic):
            return ["scalar", repr(obj.dtype), hash(obj.tobytes())]
        if (hasattr(obj, "__qualname__") and kind is not MethodType) or isinstance(obj, np.ufunc):
            return ["global", id(obj)]
        return super()._immutable(obj, kind)

    def _node(self, obj: Any, kind: type) -> list[Any]:
        if kind in (set, frozenset):
            return [kind.__name__, sorted(map(repr, obj))]
        if kind is np.ndarray and obj.dtype != object:
            fields = [obj[name] for name in obj.dtype.names or ()] or [obj]  # not the bytes between fields
            layout = [repr(obj.dtype), obj.shape, obj.flags.f_contiguous, obj.flags.c_contiguous]
            return ["array", *layout, *(hash(field.tobytes()) for field in fields)]
        return super()._node(obj, kind)

    def _foreign(self, obj: Any) -> list[Any]:
        is_random = type(obj) is np.random.RandomState  # the seed of its bit generator has no effect on its numbers
        reduced = ("RandomState", obj.get_state(legacy=False)) if is_random else obj.__reduce_ex__(4)
        if isinstance(reduced, str):
            return ["global", id(obj)]
        return ["reduced", *(self.value(part if n < 3 else [*(part or ())]) for n, part in enumerate(reduced))]
