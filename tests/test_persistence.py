"""Saved objects go on to the same numbers, to the last bit; files that are damaged or not trusted are refused."""

import datetime as dt
import io
import json
import math
import os
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from river import naive_bayes, tree
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support.interrupted_river_runs import RUNS as RIVER_RUNS
from support.interrupted_runs import LABELS, N_ROWS, RUNS, X, played

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, bandits, experts
from ltm_sklearn.ensemble import SlidingWindow
from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import BadFileError, _archive, _files, _writing, dumps, load, loads, save
from ltm_sklearn.persistence._models import is_same

pytest.importorskip("skops")

ALL_RUNS = {**RUNS, **RIVER_RUNS}
HALF = N_ROWS // 2


def again(thing):
    """A copy through bytes that nothing is pickled in."""
    return loads(dumps(thing, allow_pickle=False))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ltm"


# The same numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL_RUNS)
def test_a_loaded_model_goes_on_to_the_same_numbers(name, path):
    run = ALL_RUNS[name]
    model = run[0]()
    played(run, 0, HALF, model)
    save(model, path)
    loaded = load(path, trusted=name in RIVER_RUNS or name == "classifier-weights-of-classes")
    assert type(loaded) is type(model)
    assert np.array_equal(played(run, HALF, N_ROWS, loaded), played(run, HALF, N_ROWS, model))


def test_every_algorithm_and_bandit_is_among_the_runs():
    made = {type(make()).__name__ for make, _ in RUNS.values()}
    abstract = {"ExpertAlgorithm", "BanditAlgorithm", "LowerBoundAdversary"}
    assert {*experts.__all__, *bandits.__all__} - abstract <= made


@pytest.mark.parametrize("run", ALL_RUNS.values(), ids=ALL_RUNS)
def test_an_unfitted_model_is_loaded_with_its_parameters(run):
    model = run[0]()
    assert repr(loads(dumps(model), trusted=True)) == repr(model)


def test_the_history_goes_on():
    run = ALL_RUNS["classifier"]
    model = run[0]()
    played(run, 0, HALF, model)
    loaded = again(model)
    for each in (model, loaded):
        played(run, HALF, N_ROWS, each)
    assert [repr(record) for record in loaded.history_] == [repr(record) for record in model.history_]


# Values -----------------------------------------------------------------------------------------------------------

VALUES = [
    None,
    True,
    -0.0,
    5e-324,
    float("nan"),
    float("-inf"),
    0.1 + 0.2,
    10**400,
    2 + 3j,
    "é\ud800\0",
    b"\0\xff",
    bytearray(b"ab"),
    slice(1, None, 2),
    range(3, 9, 2),
    {True: 1, 1.5: 2, None: 3, (1, "a"): 4, frozenset([1]): 5},
    {1, 2, "a"},
    (1, (2, [3.0])),
    OrderedDict(b=1, a=2),
    Counter("abca"),
    deque([1, 2, 3], maxlen=3),
    defaultdict(list, a=[1]),
    dt.datetime(2024, 10, 27, 2, 30, fold=1),
    dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2), "two")),
    dt.datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")),
    dt.date(2024, 2, 29),
    dt.timedelta(1, 2, 3),
    pd.Timestamp("2024-01-01 10:11:12.123456789"),
    pd.Timestamp("2024-07-01 10:00", tz="Europe/Berlin"),
    Decimal("0.10"),
    Path("a/b"),
    np.float32(0.1),
    np.str_("é"),
    np.bool_(True),
    np.datetime64("2024-01-01T00", "h"),
    np.dtype("f4"),
    float,
    Hedge,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_come_back_to_the_last_bit(value):
    found = again(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(X[:5]),
        X[:10:2, ::-1],
        np.zeros((0, 3)),
        np.array(1.5),
        np.array([1, 2], dtype=">i4"),
        np.array(["a", "ü"]),
        np.array([[1, None], ["a", [1, 2]]], dtype=object),
        np.array(["2024-01", "NaT"], dtype="M8[M]"),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_arrays_come_back_as_they_lie_in_memory(array):
    found = again(array)
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())
    assert found.flags.f_contiguous == (array.flags.f_contiguous or array.ndim < 2)
    assert found.flags.writeable


@pytest.mark.parametrize(
    "make", [lambda: np.random.default_rng(3), lambda: np.random.RandomState(3), lambda: Random(3)]
)
def test_random_generators_go_on(make):
    generator = make()
    generator.random()
    found = again(generator)
    assert [found.random() for _ in range(5)] == [generator.random() for _ in range(5)]
    if isinstance(generator, np.random.Generator):
        generator.spawn(1)
        assert again(generator).spawn(1)[0].random() == generator.spawn(1)[0].random()


def test_one_object_with_several_references_stays_one():
    array, hedge, model, tree_model = np.zeros(3), Hedge(), GaussianNB().fit(X, LABELS), tree.HoeffdingTreeClassifier()
    cycle = [array, array, hedge, {"hedge": hedge}, model, (model,), tree_model, {"tree": tree_model}]
    cycle.append(cycle)
    found = loads(dumps(cycle), trusted=True)
    assert found[0] is found[1]
    assert found[2] is found[3]["hedge"]
    assert found[4] is found[5][0]
    assert found[6] is found[7]["tree"]
    assert found[8] is found


def test_models_of_scikit_learn_share_what_they_shared():
    state = np.random.RandomState(0)
    found = again([SGDClassifier(random_state=state), SGDClassifier(random_state=state)])
    assert found[0].random_state is found[1].random_state


def test_functions_methods_and_partial_functions_come_back():
    hedge = Hedge()
    found = again({"partial": partial(Hedge, rate=0.5), "method": hedge.update, "of": hedge})
    assert found["partial"]().rate == 0.5
    assert found["method"].__self__ is found["of"]


def test_a_tuple_that_contains_itself_is_refused():
    cycle = []
    cycle.append((cycle,))
    assert type(again(cycle)[0]) is tuple
    with pytest.raises(ValueError, match="a tuple that contains itself cannot be saved"):
        dumps(cycle[0])


@pytest.mark.parametrize(
    ("model", "elsewhere"),
    [(Hedge(), b"ltm_sklearn.elsewhere"), (LongTermMemoryClassifier(), b"ltm_sklearn.ensemble.elsewhere")],
    ids=["unique name", "name with a twin for River"],
)
def test_a_class_that_has_moved_within_the_package_is_found(model, elsewhere):
    manifest, members = _archive.unpack(dumps(model))
    members["state.json"] = members["state.json"].replace(type(model).__module__.encode(), elsewhere)
    assert type(loads(_archive.pack(manifest, members))) is type(model)


# Models of other libraries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        ExtraTreesClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
        MLPClassifier((3,), max_iter=5, random_state=0),
        make_pipeline(SelectKBest(f_classif, k=1), DecisionTreeClassifier(random_state=0)),
        CalibratedClassifierCV(GaussianNB()),
        GaussianProcessClassifier(),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_of_scikit_learn_are_loaded_without_pickle(estimator):
    window = SlidingWindow(estimator).fit(X[:HALF], LABELS[:HALF])
    loaded = again(window)
    for each in (window, loaded):
        each.partial_fit(X[HALF:], LABELS[HALF:])
    assert np.array_equal(loaded.predict_proba(X), window.predict_proba(X))


def test_a_model_that_skops_would_change_is_pickled():
    model = SGDClassifier(class_weight={False: 1.0, True: 2.0}, random_state=0).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"only be pickled.*SGDClassifier"):
        dumps(model, allow_pickle=False)
    assert loads(dumps(model), trusted=True).class_weight == model.class_weight


def test_metadata_requests_come_back():
    with config_context(enable_metadata_routing=True):
        asking = GaussianNB().set_partial_fit_request(sample_weight=True)
        model = LongTermMemoryClassifier([("bayes", asking)]).set_partial_fit_request(sample_weight=True)
        found = again(model.fit(X, LABELS))
        assert repr(found.get_metadata_routing()) == repr(model.get_metadata_routing())
        assert np.array_equal(found.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1.0], [1]),
        (0.0, -0.0),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.asfortranarray(np.eye(2)), np.eye(2)),
        ({1: 2}, {"1": 2}),
        (GaussianNB(), GaussianNB(priors=[0.5, 0.5])),
        ([[], []], [[]] * 2),
        ([[]] * 2, [[], []]),
        (math.sin, math.cos),
    ],
    ids=str,
)
def test_a_copy_that_differs_is_noticed(one, other):
    assert is_same(one, one)
    assert not is_same(one, other)


def own_loss(y, predictions):
    return np.abs(y - predictions)


class OwnAlgorithm(Hedge):
    """An algorithm of the user's own."""


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (naive_bayes.GaussianNB(), r"the object itself \(river\.naive_bayes\.gaussian\.GaussianNB\)"),
        (LongTermMemoryRegressor(loss=own_loss), rf"LongTermMemoryRegressor\.loss \({__name__}\.own_loss\)"),
        (OwnAlgorithm(), rf"the object itself \({__name__}\.OwnAlgorithm\)"),
        ([1, FunctionTransformer(StandardScaler().fit(X).transform)], r"\[1\] \(sklearn.*FunctionTransformer\)"),
    ],
    ids=["River", "loss", "algorithm", "method"],
)
def test_pickled_models_are_named_and_need_trust(thing, name, path, monkeypatch):
    save(thing, path)
    with monkeypatch.context() as patch:
        patch.setattr(pickle, "loads", None)
        with pytest.raises(BadFileError, match=rf"model\.ltm cannot be loaded: .*pickled: {name}.*trusted=True"):
            load(path)
    assert type(load(path, trusted=True)) is type(thing)


def test_a_model_that_cannot_be_saved_is_named(path):
    save(Hedge(), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"LongTermMemoryRegressor\.loss .*lambda.* cannot be saved"):
        save(LongTermMemoryRegressor(loss=lambda y, predictions: predictions), path)
    assert path.read_bytes() == before


class Evil:
    def __reduce__(self):
        return os.mkdir, ("harm",)


def test_skops_models_of_other_types_need_trust(path, monkeypatch, tmp_path):
    skops = pytest.importorskip("skops.io")
    monkeypatch.chdir(tmp_path)
    manifest, members = _archive.unpack(dumps(GaussianNB()))
    members["models.skops"] = skops.dumps([FunctionTransformer(os.mkdir)])
    path.write_bytes(_archive.pack(manifest, members))
    with pytest.raises(BadFileError, match=r"objects of .*mkdir"):
        load(path)
    manifest, members = _archive.unpack(dumps(naive_bayes.GaussianNB()))
    members["models.pickle"] = pickle.dumps([Evil()])
    path.write_bytes(_archive.pack(manifest, members))
    with pytest.raises(BadFileError, match="are pickled"):
        load(path)
    assert not Path("harm").exists()


def test_skops_is_needed_only_for_models_of_scikit_learn(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    save(Hedge(), path)
    assert load(path).get_params() == Hedge().get_params()
    with pytest.raises(ImportError, match=r"ltm_sklearn\[persistence\]"):
        save(LongTermMemoryClassifier([("bayes", GaussianNB())]), path)


# Files ----------------------------------------------------------------------------------------------------------------


def refused(data, path, match):
    path.write_bytes(data)
    with pytest.raises(BadFileError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_damage_is_noticed(path):
    data = dumps(Hedge().update([0.1, 0.9]))
    expected = loads(data).weights().tolist()
    n_noticed = 0
    for at in range(len(data)):  # a few bytes are of no account, as the times of members
        try:
            assert loads(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]).weights().tolist() == expected
        except BadFileError:
            n_noticed += 1
    assert n_noticed > 0.8 * len(data)
    for size in range(len(data)):
        refused(data[:size], path, "damaged")


def test_a_wrong_checksum_is_noticed(path):
    _, members = _archive.unpack(dumps(Hedge()))
    manifest = {"format": "ltm_sklearn", "format_version": 1, "sha256": "0" * 64}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {"manifest.json": json.dumps(manifest), **members}.items():
            archive.writestr(name, data)
    refused(buffer.getvalue(), path, "another checksum")


def test_files_of_other_kinds_are_refused(path):
    for data in (b"", b"no", pickle.dumps(Hedge())):
        refused(data, path, "no file of ltm_sklearn")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", "b")
    refused(buffer.getvalue(), path, "no file of ltm_sklearn")


def test_a_newer_format_names_its_version(path, monkeypatch):
    monkeypatch.setattr(_archive, "FORMAT_VERSION", 2)
    monkeypatch.setattr(_files, "__version__", "7.1")
    data = dumps(Hedge())
    monkeypatch.undo()
    refused(data, path, r"format is version 2, written by ltm_sklearn 7\.1, .* reads version 1")


def test_another_version_is_a_warning(path, monkeypatch):
    monkeypatch.setattr(_files, "__version__", "0.0.1")
    save(Hedge(), path)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=r"written with ltm_sklearn 0\.0\.1"):
        load(path)


def test_the_file_says_what_it_is():
    manifest, members = _archive.unpack(dumps(LongTermMemoryClassifier([("bayes", GaussianNB())]).fit(X, LABELS)))
    assert manifest["class"].endswith(".LongTermMemoryClassifier")
    assert {"ltm_sklearn", "numpy", "scikit-learn", "river", "python"} <= manifest["versions"].keys()
    assert manifest["pickled"] == []
    assert {*members} == {"state.json", "arrays.npz", "models.skops"}


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
def test_a_failure_at_any_step_leaves_the_old_file(step, path, monkeypatch):
    save(Hedge(rate=0.5), path)
    old = path.read_bytes()

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    class Full(io.FileIO):
        write = fail

    if step in ("fsync", "replace"):
        monkeypatch.setattr(os, step, fail)
    else:
        opens = fail if step == "open" else lambda name, mode: Full(name, "x")
        monkeypatch.setattr(_writing, "open", opens, raising=False)
    with pytest.raises(OSError, match=r"No space left on device: .*model\.ltm"):
        save(Hedge(rate=0.7), path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes, pipes and calls")
class TestPlaces:
    def test_permissions_stay(self, path):
        save(Hedge(), path)
        path.chmod(0o600)
        save(Hedge(), path)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_a_pipe_or_folder_is_not_replaced(self, path):
        os.mkfifo(path)
        for place in (path, path.parent):
            with pytest.raises(FileExistsError, match="cannot be replaced"):
                save(Hedge(), place)
        assert os.listdir(path.parent) == [path.name]

    def test_the_file_and_its_folder_are_on_the_disk_before_save_returns(self, path, monkeypatch):
        steps = []
        fsync, replace = os.fsync, os.replace
        monkeypatch.setattr(
            os, "fsync", lambda handle: (steps.append(os.path.isdir(f"/proc/self/fd/{handle}")), fsync(handle))
        )
        monkeypatch.setattr(os, "replace", lambda *names: (steps.append("replace"), replace(*names)))
        save(Hedge(), path)
        assert steps == [False, "replace", True]

    def test_a_link_is_followed(self, path):
        target = path.with_name("target.ltm")
        save(Hedge(rate=0.5), target)
        path.symlink_to(target)
        save(Hedge(rate=0.7), path)
        assert path.is_symlink()
        assert load(target).rate == 0.7


def test_missing_folders_and_files_are_named(path):
    with pytest.raises(FileNotFoundError, match="missing"):
        save(Hedge(), path.parent / "missing" / "model.ltm")
    with pytest.raises(FileNotFoundError, match=r"model\.ltm"):
        load(path)


@pytest.mark.parametrize("letter", ["x", "ü"])
def test_long_names_are_written(tmp_path, letter):
    name = letter * (240 // len(letter.encode()))
    save(Hedge(), tmp_path / name)
    assert os.listdir(tmp_path) == [name]
