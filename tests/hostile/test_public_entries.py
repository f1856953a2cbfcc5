"""Hostile arguments of every public name: accepted, or refused with a message and without a change of state.

``tests/slow/hostile.py`` tries any number of them.
"""

import importlib
from itertools import product

import numpy as np
import pytest

pytest.importorskip("river")
pytest.importorskip("sktime")

from hostile import algorithm_entries, estimator_entries
from hostile.values import OneBad, Spoiler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_public_api import PUBLIC

pytestmark = pytest.mark.exhaustive

ENTRIES = algorithm_entries.ENTRIES | estimator_entries.ENTRIES

#: Public names that have no entry, and why.
WITHOUT_INPUT = {
    "ltm_sklearn.__version__": "a text",
    "ltm_sklearn.show_versions": "takes nothing",
    "ltm_sklearn.bandits.BanditAlgorithm": "abstract; tests/experts/test_plug_ins.py has subclasses",
    "ltm_sklearn.experts.ExpertAlgorithm": "abstract; tests/experts/test_plug_ins.py has subclasses",
    "ltm_sklearn.losses.RegressionLoss": "a protocol",
    "ltm_sklearn.losses.LOSSES": "a table of names",
    "ltm_sklearn.engine.DriftDetector": "a protocol",
    "ltm_sklearn.ensemble.ExpertSummary": "a result",
    "ltm_sklearn.ensemble.ExpertWarning": "a warning",
    "ltm_sklearn.evaluation.Difference": "a result",
    "ltm_sklearn.evaluation.PrequentialResult": "a result",
    "ltm_sklearn.evaluation.PrequentialDisplay": "a picture of a result",
    "ltm_sklearn.evaluation.oracles": "a module",
    "ltm_sklearn.evaluation.oracles.ExpertSequence": "a result",
    "ltm_sklearn.evaluation.oracles.MemoryCurve": "a result",
    "ltm_sklearn.evaluation.oracles.Oracle": "a result",
    "ltm_sklearn.evaluation.oracles.SequenceAmong": "a result",
    "ltm_sklearn.display.LiveDisplay": "reads a log",
    "ltm_sklearn.display.MemoryCurveDisplay": "a picture of a result",
    "ltm_sklearn.distributed.DaskWorkers": "holds no rows; wrong ones are in tests/distributed/test_dask_workers.py",
    "ltm_sklearn.distributed.OnWorker": "hands rows on to an estimator; tests/distributed/test_dask_workers.py",
    "ltm_sklearn.distributed.PanelMixture": "wrong frames are in tests/distributed/test_panels.py",
    "ltm_sklearn.persistence.Checkpoint": "wrong folders and files are in tests/persistence/test_checkpoint.py",
    "ltm_sklearn.persistence.CheckpointWarning": "a warning",
    "ltm_sklearn.persistence.BadFileError": "an error",
    "ltm_sklearn.persistence.describe_parameters": "takes any object; tests/persistence/test_checkpoint.py",
    **dict.fromkeys(
        (
            f"ltm_sklearn.persistence.{name}"
            for name in ["dumps", "load", "loads", "save", "sync_folder", "write_atomically"]
        ),
        "damaged files, and objects that cannot be saved, are in tests/persistence",
    ),
    "ltm_sklearn.streams.Batch": "a named tuple",
    "ltm_sklearn.streams.Segment": "a named tuple",
}


def object_of(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_every_public_name_has_an_entry_or_a_reason():
    names = [
        f"{module}.{name}"
        for module, public in PUBLIC.items()
        for name in public.split()
        if not module.endswith(".reference")  # as printed in the paper, without checks of arguments
    ]
    entered = {name.partition(" (")[0] for name in ENTRIES}
    objects = [object_of(name) for name in entered]
    missing = [
        name for name in names if name not in WITHOUT_INPUT and not any(object_of(name) is each for each in objects)
    ]
    assert missing == []
    assert not entered & WITHOUT_INPUT.keys()


#: The first entry of each public name; those with other parameters are for the slow run.
FIRST = {name.partition(" (")[0]: name for name in reversed(ENTRIES)}
CALLS = [(name, call) for name in reversed(FIRST.values()) for call in ENTRIES[name].calls]


#: Calls that take a few milliseconds, and values that have found defects; all others are for the slow run.
QUICK = [(name, call) for name, call in CALLS if call == "parameters" and name.startswith("ltm_sklearn.streams.")]
ALONE = [np.inf, 1e308, 2**63, 10**400, -1, None, "text", np.ma.masked, np.timedelta64(5, "D")]


@pytest.mark.parametrize(("name", "call"), QUICK, ids=[name for name, _ in QUICK])
def test_one_hostile_argument_is_accepted_or_refused(name, call):
    entry = ENTRIES[name]
    for at, value in product(range(entry.n_arguments(call)), ALONE):
        entry.check(call, OneBad(at, value))


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[f"{name} {call}" for name, call in CALLS])
@settings(max_examples=2, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_hostile_arguments_are_accepted_or_refused(name, call, data):
    ENTRIES[name].check(call, Spoiler(data.draw))
