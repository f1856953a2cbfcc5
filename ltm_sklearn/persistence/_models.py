"""Models of other libraries: by skops, or by pickle where that is asked for."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any
from zipfile import BadZipFile, ZipFile

from ._errors import BadFile, in_words
from ._schema import check_schema
from ._sizes import check_sizes

#: What skops does not trust, though scikit-learn's estimators have it. Most could, if they are crafted, crash a process
#: that predicts with them; that is as true of the arrays of this package. The others are plain values and sums.
TRUSTED = (
    "numpy.dtype",
    "numpy.mean",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "scipy.interpolate._bsplines.BSpline",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn._loss.loss.HalfTweedieLossIdentity",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._mutual_info.mutual_info_regression",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    *(
        f"sklearn.gaussian_process.kernels.{name}"
        for name in (
            "CompoundKernel",
            "ConstantKernel",
            "DotProduct",
            "ExpSineSquared",
            "Exponentiation",
            "Hyperparameter",
            "Matern",
            "Product",
            "RBF",
            "RationalQuadratic",
            "Sum",
            "WhiteKernel",
        )
    ),
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)


class TrustWarning(UserWarning):
    """A file was written with pickle: whoever loads it runs whatever it says."""


def dumped(models: list[Any], by_pickle: bool, path: Callable[[int], str]) -> bytes:
    """All of them as one, so that what they share stays shared; ``path`` says where one of them stands."""
    write = _pickled if by_pickle else _skops().dumps
    try:
        return bytes(write(models))
    except Exception as error:
        for at, model in enumerate(models):
            try:
                write([model])
            except Exception as its_error:
                told = f"{path(at)}, a {type(model).__name__}, cannot be written by {_way(by_pickle)}"
                advice = "" if by_pickle else '; models="pickle" may do'
                raise ValueError(f"{told}: {type(its_error).__name__}: {its_error}{advice}") from its_error
        raise ValueError(f"the models cannot be written by {_way(by_pickle)}: {error}") from error


class _Noting(pickle.Pickler):
    """Writes nowhere, and notes what it meets."""

    def __init__(self) -> None:
        super().__init__(self, protocol=pickle.HIGHEST_PROTOCOL)
        self.met: set[int] = set()  #: identities

    def write(self, data: Any) -> int:
        return len(data)

    def persistent_id(self, thing: Any) -> None:
        self.met.add(id(thing))


def met_by_pickle(thing: Any) -> set[int]:
    """Identities of all that pickle would write of it; what is no longer there may have those of other things."""
    noting = _Noting()
    with suppress(Exception):  # what cannot be pickled is told when it is written
        noting.dump(thing)
    return noting.met


def untrusted_types(data: bytes, trusted: Collection[str], n_bytes: int | None = None) -> set[str]:
    """What skops has written and may not be used; nothing is made. The file has so many bytes."""
    n_bytes = len(data) if n_bytes is None else n_bytes
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            check_sizes(archive, n_bytes)  # of the whole file: this archive is packed in another one
            check_schema(archive.read("schema.json"), n_bytes)
        return {*_skops().get_untrusted_types(data=data)} - {*TRUSTED, *trusted}
    except BadFile:
        raise
    except (BadZipFile, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(f"its models cannot be read: {in_words(error)}") from None


def loaded_skops(data: bytes, trusted: Collection[str]) -> Any:
    """What was checked."""
    return _skops().loads(data, trusted=[*TRUSTED, *trusted])


def loaded_pickle(data: bytes) -> Any:
    """Runs whatever it says."""
    return pickle.loads(data)


def warn_of_pickle(stacklevel: int) -> None:
    """That only trusted files may be loaded."""
    told = "models are written with pickle: load such a file only if you trust whoever could have changed it"
    warnings.warn(told, TrustWarning, stacklevel=stacklevel + 1)


def _pickled(models: list[Any]) -> bytes:
    return pickle.dumps(models, protocol=pickle.HIGHEST_PROTOCOL)


def _way(by_pickle: bool) -> str:
    return "pickle" if by_pickle else "skops"


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ImportError('objects of other libraries need skops: pip install "ltm_sklearn[persistence]"') from None
    return skops.io
