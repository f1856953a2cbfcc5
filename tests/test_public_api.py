"""The public names: their list changes only on purpose; each is documented, and importing them is cheap."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
from dataclasses import is_dataclass
from typing import Protocol

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import ltm_sklearn

PUBLIC = {
    "ltm_sklearn": "ExpertMixture LongTermMemoryClassifier LongTermMemoryRegressor Snapshots __version__ show_versions",
    "ltm_sklearn.bandits": "BanditAlgorithm DiscountedUCB Exp3 Exp3IX Exp3S LongTermMemoryBandit LowerBoundAdversary "
    "SlidingWindowUCB SparseHybrid SparseLongTermMemory",
    "ltm_sklearn.bandits.reference": "follow_the_regularised_leader sparse_bandit",
    "ltm_sklearn.display": "AverageLossDisplay ContributionDisplay CumulativeLossDisplay LiveDisplay "
    "MemoryCurveDisplay RecurrenceDisplay ResidualDisplay RunningLossDisplay WeightBoxDisplay "
    "WeightStackDisplay",
    "ltm_sklearn.distributed": "DaskWorkers OnWorker PanelMixture",
    "ltm_sklearn.ensemble": "ExpertSummary ExpertWarning FromRiverClassifier FromRiverRegressor "
    "IncrementalPipeline LongTermMemoryClassifier LongTermMemoryRegressor SlidingWindow",
    "ltm_sklearn.evaluation": "Difference PrequentialDisplay PrequentialResult crps oracles prequential",
    "ltm_sklearn.evaluation.oracles": "ExpertSequence MemoryCurve Oracle SequenceAmong best_convex best_expert "
    "best_linear best_sequence best_sequence_among memory_curve",
    "ltm_sklearn.experts": "AdaNormalHedge AdaNormalHedgeTV AdaptMLProd BOA BestOfBothWorlds ConfidenceRated "
    "ExpertAlgorithm FixedShare Hedge LongTermMemory MLPoly MixingPastPosteriors Prod ShareTheta SimpleReduction "
    "Squint",
    "ltm_sklearn.experts.reference": "FixedShareVariant HedgeVariant1 HedgeVariant2 best_of_both_worlds "
    "confidence_rated learning_rates mixing_past_posteriors simple_reduction",
    "ltm_sklearn.forecasting": "ExpertMixture",
    "ltm_sklearn.losses": "AbsoluteError AbsolutePercentageError Huber LOSSES LogCosh Pinball RegressionLoss "
    "SquaredError",
    "ltm_sklearn.engine": "DriftDetector Snapshots",
    "ltm_sklearn.recording": "RunRecord",
    "ltm_sklearn.persistence": "BadFileError Checkpoint CheckpointWarning describe_parameters dumps load loads save "
    "sync_folder write_atomically",
    "ltm_sklearn.river": "BanditPolicy ExpertPolicy ExpertSelectionClassifier ExpertSelectionRegressor "
    "FromSklearnClassifier FromSklearnRegressor LongTermMemoryClassifier LongTermMemoryForecaster "
    "LongTermMemoryRegressor",
    "ltm_sklearn.sktime": "LongTermMemoryEnsemble LongTermMemoryForecaster",
    "ltm_sklearn.streams": "Agrawal Batch Batches Hyperplane Led LinearRegression RandomTree RecurringConcepts Sea "
    "Segment Sine Stagger agrawal led linear_regressions random_trees rotating_hyperplane sea sine stagger",
}

#: Packages whose names are for the other packages only, and the command line.
INTERNAL = {"ltm_sklearn.aggregation", "ltm_sklearn.cli", "ltm_sklearn.recording"}


def documented_objects():
    """Return every public class and function, once, but named tuples, whose fields have comments."""
    found = {}
    for module, names in PUBLIC.items():
        for name in names.split():
            value = getattr(importlib.import_module(module), name)
            is_class = inspect.isclass(value) and not issubclass(value, tuple | Exception | Protocol)
            if is_class or inspect.isfunction(value):
                found.setdefault(value, f"{module}.{name}")
    return [pytest.param(value, id=name) for value, name in found.items()]


@pytest.mark.parametrize("module", PUBLIC)
def test_the_public_names_are_those_of_the_list(module):
    found = importlib.import_module(module)
    assert sorted(found.__all__) == sorted(PUBLIC[module].split())
    for name in found.__all__:
        getattr(found, name)


def test_every_public_module_is_in_the_list():
    modules = {module.name for module in pkgutil.walk_packages(ltm_sklearn.__path__, "ltm_sklearn.")}
    public = {name for name in modules if not any(part.startswith("_") for part in name.split("."))}
    assert public == ({*PUBLIC} | INTERNAL) - {"ltm_sklearn"}


@pytest.mark.parametrize("item", documented_objects())
def test_every_public_object_documents_its_parameters(item):
    doc = ClassDoc(item) if inspect.isclass(item) else FunctionDoc(item)
    assert doc["Summary"]
    # results are not made by users: their fields are documented as attributes
    section = "Parameters" if doc["Parameters"] or not is_dataclass(item) else "Attributes"
    documented = {name.strip().lstrip("*") for entry in doc[section] for name in entry.name.split(",")}
    assert documented == {*inspect.signature(item).parameters}


def test_importing_the_package_is_light(tmp_path):
    """scikit-learn itself imports pandas where it is installed, hence the difference to its own modules."""
    absent = "sklearn.ensemble sklearn.linear_model sklearn.metrics sklearn.model_selection sklearn.neighbors"
    absent += " river pandas matplotlib sktime skops"
    script = "import sys, sklearn.base, sklearn.utils.validation; before = {*sys.modules}; import ltm_sklearn;"
    script += f"print([name for name in {absent.split()} if name in {{*sys.modules}} - before])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert run.stdout.strip() == "[]"


def test_show_versions_prints_versions_and_the_system(capsys):
    ltm_sklearn.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["ltm_sklearn"] == ltm_sklearn.__version__
    assert {"Python", "numpy", "scikit-learn", "river", "system"} <= lines.keys()


def test_show_versions_names_absent_packages(capsys, monkeypatch):
    monkeypatch.setattr("ltm_sklearn._version.EXTRAS", ("no-such-package",))
    ltm_sklearn.show_versions()
    assert "no-such-package absent" in " ".join(capsys.readouterr().out.split())
