"""Damaged, foreign and crafted files are not loaded, nothing in them runs; writing leaves the old file or the new."""

import io
import json
import os
import pickle
import sys
import zipfile
from collections import deque
from hashlib import sha256

import numpy as np
import pytest
from runs import LABELS, X
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import _file as file_module
from ltm_sklearn.persistence import _writing, load, save
from ltm_sklearn.persistence._archive import _packed, as_json, packed
from ltm_sklearn.persistence._file import _dump, _load
from ltm_sklearn.persistence._models import TrustWarning

skops_io = pytest.importorskip("skops.io")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ltm"


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def crafted(nodes, names=(), root=None, n_models=0, **others):
    """A file with a right checksum and any content."""
    manifest = {"format": "ltm_sklearn", "format_version": 1, "n_models": n_models, "versions": {}}
    state = {"root": [0] if root is None else root, "names": list(names), "nodes": nodes}
    return packed({"manifest.json": as_json(manifest), "state.json": as_json(state), **others})


def refused(data, path, match):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)


# Damage --------------------------------------------------------------------------------------------------------------


def test_every_damaged_byte_is_noticed(path):
    data = _dump(Hedge().update([0.1, 0.2]))
    for at in range(len(data)):
        broken = bytearray(data)
        broken[at] ^= 1
        with pytest.raises(ValueError, match=r"damaged|no file of ltm_sklearn"):
            _load(bytes(broken))
    refused(bytes(broken), path, "damaged")


def test_every_shorter_file_is_refused():
    data = _dump(Hedge().update([0.1, 0.2]))
    for size in range(len(data)):
        with pytest.raises(ValueError, match="not all of it"):
            _load(data[:size])


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"hello" * 100, pickle.dumps(Hedge())], ids=["empty", "two", "text", "pickle"]
)
def test_files_of_other_kinds_are_refused(data, path):
    refused(data, path, "is no file of ltm_sklearn")


def test_another_archive_is_refused(path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", "{}")
    refused(buffer.getvalue(), path, "is no file of ltm_sklearn")
    refused(packed({"manifest.json": b"{}", "state.json": b"{}"}), path, "does not say so")


def test_a_missing_file_is_what_python_says_it_is(path):
    with pytest.raises(FileNotFoundError):
        load(path)


def test_a_newer_format_says_who_wrote_it(path):
    members = members_of(_dump(Hedge()))
    manifest = json.loads(members["manifest.json"]) | {"format_version": 2, "versions": {"ltm_sklearn": "9.0"}}
    refused(packed({**members, "manifest.json": as_json(manifest)}), path, r"version 2, written by ltm_sklearn 9\.0")


@pytest.mark.parametrize("left_out", ["state.json", "arrays/0.npy", "models.skops", "manifest.json"])
def test_a_member_that_is_missing_is_noticed(left_out, path):
    members = members_of(_dump([GaussianNB().fit(X, LABELS), np.zeros(2)]))
    del members[left_out]
    refused(packed(members), path, "state.json|array|models are missing|does not say so")


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "arrays/../../evil.npy", "arrays/x.npy", "evil.py"])
def test_members_with_other_names_are_refused(name, path):
    refused(packed({**members_of(_dump(Hedge())), name: b"0"}), path, "it has a member")
    assert os.listdir(path.parent) == [path.name]


def test_members_that_would_be_enormous_are_not_unpacked(path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("state.json", b" " * 10_000_000)
        archive.comment = b"ltm_sklearn, sha256 of all before: " + b"0" * 64
    before = buffer.getvalue()[:-64]
    refused(before + sha256(before).hexdigest().encode(), path, "100 times as large")


def test_what_packs_very_well_is_saved_and_loaded():
    assert _load(_dump([None] * 100_000)) == [None] * 100_000


def test_an_array_that_claims_to_be_enormous_is_refused(path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    data = crafted([["array", [0, 0, [5]]]], **{"arrays/0.npy": buffer.getvalue()})
    refused(data, path, "another size than it says")


@pytest.mark.parametrize("text", ["{(", "[" * 5000, "{'descr': {}}", "1L", "", "'" * 9], ids=str)
def test_an_array_whose_header_cannot_be_read_is_refused(text, path):
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    refused(crafted([["array", [0, 0, [1]]]], **{"arrays/0.npy": header}), path, "arrays/0.npy cannot be read")


# Crafted states ------------------------------------------------------------------------------------------------------

HEDGE = "ltm_sklearn.experts._exponential:Hedge"


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        ([["object", 0, {}]], ["os:system"]),
        ([["called", 0, [1], [], [], None], ["tuple", "touch ran"]], ["os:system"]),
        ([["named", 0]], ["os:system"]),
        ([["built", 0, ["touch ran"], [], [], None]], ["subprocess:Popen"]),
        ([["called", 0, [["a"]], [], [], None]], ["ltm_sklearn.__main__:main"]),
        ([["called", 0, [], [], [], None]], [HEDGE]),
        ([["called", 0, [], [], [], None]], ["ltm_sklearn._show_versions:show_versions"]),
        ([["object", 0, {}]], ["ltm_sklearn._show_versions:show_versions"]),
        ([["object", 0, {}]], ["ltm_sklearn._show_versions:os.system"]),
        ([["object", 0, {}]], ["ltm_sklearn.recording._log_file:os"]),
        ([["object", 0, {}]], ["ltm_sklearn.experts:Hedge"]),
        ([["object", 0, {}]], ["ltm_sklearn.experts._exponential:Hedge.__class__"]),
        ([["object", 0, {}]], ["ltm_sklearn.no_such_module:Thing"]),
        ([["object", 0, {}]], ["sklearn.utils:Bunch"]),
        ([["object", 0, {}]], ["builtins:eval"]),
        ([["object", 1, {}]], [HEDGE]),
        ([["object", 0, {"a": [7]}]], [HEDGE]),
        ([["object", 0, {"a": {"b": 1}}]], [HEDGE]),
        ([["object", 0, "state"]], [HEDGE]),
        ([["object"]], [HEDGE]),
        ([["made", "os.system", "touch ran"]], []),
        ([["made", ["list"], "touch ran"]], []),
        ([["method", "text", "__class__"]], []),
        ([["method", [1], "no_such"], ["object", 0, {}]], [HEDGE]),
        ([["array", [0, 0, [5]]]], []),
        ([["array", [0, 0, [-5]]]], []),
        ([["numbers", "eval", [0, 0, [1]]]], []),
        ([["objects", [10**12], 1]], []),
        ([["tuple", [0]]], []),
        ([["list", [-1]]], []),
        ([["dict", 1]], []),
        ([["dict", [1], 2], ["list"]], []),
        ([["model", 0]], []),
        ([["exec", "1"]], []),
        (["list"], []),
        ({"a": 1}, []),
        ([["list", ["zz"]]], []),
        ([["made", "bits", "seed", None, None]], []),
        ([["made", "partial", "no function", [1], None], ["tuple"]], []),
    ],
    ids=str,
)
def test_states_that_name_other_things_are_refused_and_nothing_runs(nodes, names, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    modules = {*sys.modules}
    refused(crafted(nodes, names), path, "is not loaded")
    assert os.listdir() == [path.name]
    assert not {name for name in {*sys.modules} - modules if "subprocess" in name or "__main__" in name}


# Files that would keep a process busy, or fill its memory: here they are small ones -----------------------------------

NESTED = [["tuple", 1.0, 2.0], *(["tuple", [at], [at]] for at in range(18))]  #: the last one has half a million items
MANY = [["made", "range", 0, 10**6, 1], ["made", "pandas range", 0, 10**6, 1, None], ["made", "decimal", "1e99999"]]
BUSY = {
    "key": [*NESTED, ["dict", [18], 1]],
    "item of a set": [*NESTED, ["frozenset", [18]]],
    "name of an index": [*NESTED, ["objects", [1], "a"], ["made", "pandas index", [19], [18], None]],
    "keys of one hash": [["set", *([hex((2**61 - 1) * at)] for at in range(2000))]],
    "fraction of a text": [["made", "fraction", "1e99999"]],
    "fraction of a decimal": [*MANY, ["made", "fraction", [2]]],
    "large fraction": [["made", "fraction", 1, [hex(1 << 100_000)]]],
    "pool": [["tuple"], ["made", "seed sequence", 0, [0], 100, 0]],
    "seed": [["tuple"], ["made", "seed sequence", [hex(1 << 100_000)], [0], 4, 0]],
    "nested seed": [["tuple"], ["list", [0]], ["made", "seed sequence", [1], [0], 4, 0]],
    "seed of a generator": [*MANY, ["dict"], ["made", "bits", "PCG64", [0], [3]]],
    "state of a generator": [*MANY, ["dict", "state", [0]], ["made", "random state", [3]]],
    "numbers of a generator": [*MANY, ["tuple", 2, [0], None], ["made", "random", [3]]],
    "date": [*MANY, ["made", "timedelta", [2], 0, 0]],
    "series": [*MANY, ["made", "pandas series", 0.0, [1], None]],
    "series of a range": [*MANY, ["made", "pandas series", [0], [1], None]],
    "frame": [*MANY, ["made", "pandas frame", 0.0, [1], [1]]],
    "columns": [
        *MANY,
        ["list", 0.0],
        ["made", "pandas range", 0, 1, 1, None],
        ["made", "pandas columns", [3], [1], [4]],
    ],
    "array": [*MANY, ["made", "pandas array", [0], "Int64"]],
    "array of ranges": [*MANY, ["list", [0]], ["made", "pandas array", [3], "float64"]],
    "wide array": [["list", "a"], ["made", "pandas array", [0], "U1000000"]],
    "index": [*MANY, ["made", "pandas index", [0], None, None]],
    "levels": [*MANY, ["list", [0]], ["list", [0]], ["list", "a"], ["made", "pandas levels", [3], [4], [5]]],
    "codes": [*MANY, ["list", [1]], ["list", [0]], ["list", "a"], ["made", "pandas levels", [3], [4], [5]]],
    "categories": [*MANY, ["made", "pandas categories", [0], [1], False]],
    "periods": [*MANY, ["made", "pandas periods", [0], "D"]],
    "sparse": [*MANY, ["tuple", 1, 5], ["made", "csr array", [0], [0], [0], [3]]],
    "shape": [["objects", [2**63] * 100 + [0]]],
    "dimensions": [["objects", [1] * 100, 1]],
}


@pytest.mark.parametrize("case", BUSY)
def test_what_would_keep_a_process_busy_is_refused(case, path):
    pytest.importorskip("pandas")
    nodes = BUSY[case]
    path.write_bytes(crafted(nodes, root=[len(nodes) - 1]))
    told = "over and over|same hash|whole numbers|a pool of|other things|other values|no index|another state"
    with pytest.raises(ValueError, match=f"{told}|described wrongly|of 4000000 bytes|single values"):
        load(path)


@pytest.mark.parametrize("kind", ["bytes:10000000", "tuple:range", "str:tuple"])
def test_pythons_own_are_not_made_by_name(kind, path):
    name, _, what = kind.partition(":")
    nodes = [["built", 0, [[1]], [], [], None], ["tuple"] if what == "tuple" else ["made", "range", 0, 10**6, 1]]
    refused(crafted(nodes, [f"builtins:{name}"]), path, "is made here")


def test_a_kind_of_tuple_is_made_of_a_tuple(path):
    nodes = [["built", 0, [[1]], [], [], None], ["made", "range", 0, 10**6, 1]]
    path.write_bytes(crafted(nodes, [f"{__name__}:Pair"]))
    with pytest.raises(ValueError, match="another thing than a tuple"):
        load(path, trusted=[Pair])
    save([Pair((1, 2))], path)
    assert load(path, trusted=[Pair]) == [(1, 2)]


def test_arrays_that_overlap_are_refused(path):
    members = members_of(_dump(np.zeros(10)))
    arrays = {"arrays/0.npy": members["arrays/0.npy"]}
    one, other = ["array", [0, 0, [6]]], ["array", [0, 4, [6]]]
    refused(crafted([["list", [1], [2]], one, other], **arrays), path, "parts of each other")
    path.write_bytes(crafted([["list", [1], [2]], one, ["array", [0, 6, [4]]]], **arrays))
    assert [len(array) for array in load(path)] == [6, 4]


def test_lists_of_nothing_are_not_made(path):
    arrays = {"arrays/0.npy": members_of(_dump(np.zeros(1)))["arrays/0.npy"]}
    refused(crafted([["numbers", "list", [0, 0, [10**6, 0]]]], **arrays), path, "more dimensions")


def test_one_thing_is_not_copied_over_and_over(path):
    pytest.importorskip("pandas")
    arrays = {"arrays/0.npy": members_of(_dump(np.zeros(10_000)))["arrays/0.npy"]}
    nodes = [["array", [0, 0, [10_000]]], ["made", "pandas range", 0, 10_000, 1, None], ["list", *[[0]] * 1000]]
    nodes += [["made", "pandas range", 0, 1000, 1, None], ["made", "pandas columns", [2], [1], [3]]]
    refused(crafted(nodes, root=[4], **arrays), path, "over and over")


def test_large_keys_are_loaded(path):
    keys = {tuple(map(str, range(at, at + 5000))): at for at in range(3)} | {frozenset(map(str, range(5000))): 3}
    save([keys, {*range(5000)}, dict.fromkeys(map(float, range(5000)))], path)
    assert load(path)[0] == keys


def test_all_names_are_looked_at_before_anything_is_made(path, monkeypatch):
    made = []
    monkeypatch.setattr("ltm_sklearn.recording._run_status.RunStatus.__setstate__", made.append, raising=False)
    nodes = [["list", [1], [2]], ["object", 0, {"a": 1}], ["object", 1, {}]]
    refused(crafted(nodes, ["ltm_sklearn.recording._run_status:RunStatus", "os:system"]), path, r"os\.system")
    assert not made


def test_a_class_that_loads_more_than_its_values_needs_to_be_trusted(path):
    pytest.importorskip("sktime")
    name = "sktime.forecasting.chronos:ChronosForecaster"
    refused(crafted([["object", 0, {}]], [name]), path, "loads more than its values")


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("ran",))


def test_a_pickle_is_not_opened_unless_that_is_allowed(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    data = crafted([["model", 0]], n_models=1, **{"models.pickle": pickle.dumps([Evil()])})
    refused(data, path, "allow_pickle=True")
    assert os.listdir() == [path.name]


def test_skops_that_names_other_things_is_refused(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    inner = members_of(skops_io.dumps([FunctionTransformer(os.path.join)]))
    inner["schema.json"] = inner["schema.json"].replace(b'"join"', b'"system"').replace(b'"posixpath"', b'"os"')
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in inner.items():
            archive.writestr(name, data)
    refused(crafted([["model", 0]], n_models=1, **{"models.skops": buffer.getvalue()}), path, r"os\.system")
    refused(crafted([["model", 0]], n_models=1, **{"models.skops": b"no archive"}), path, "models cannot be read")
    two = skops_io.dumps([GaussianNB(), GaussianNB()])
    refused(crafted([["model", 0]], n_models=1, **{"models.skops": two}), path, "a model is missing")


# Trust ---------------------------------------------------------------------------------------------------------------


def own_loss(y, predictions):
    return np.abs(y - predictions)


class OwnAlgorithm(Hedge):
    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner


class Pair(tuple):
    """With what skops does not write."""

    def __init__(self, _=()):
        self.queue = deque([1.0])


class OwnModel(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self.partial_fit(X, y, np.unique(y))

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(y) if classes is None else np.asarray(classes)
        self.nameless = lambda: None
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1.0 / len(self.classes_))


HERE = __name__


@pytest.mark.parametrize("inner", [None, Hedge()], ids=["skops", "plain"])
def test_own_classes_are_loaded_once_they_are_trusted(inner, path):
    algorithm = OwnAlgorithm(inner).update([0.1, 0.9])
    save(algorithm, path)
    with pytest.raises(ValueError, match=f"{HERE}.OwnAlgorithm"):
        load(path)
    for trusted in ([f"{HERE}.OwnAlgorithm"], [OwnAlgorithm]):
        assert np.array_equal(load(path, trusted=trusted).weights(), algorithm.weights())


def test_classes_of_a_script_are_loaded_once_they_are_trusted(path, monkeypatch):
    """As those of a notebook, too, whose module is called so."""
    script = type("Script", (OwnAlgorithm,), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Script", script, raising=False)
    save(script(deque([1.0])), path)
    with pytest.raises(ValueError, match=r"trusted=\['__main__\.Script'\]"):
        load(path)
    assert load(path, trusted=["__main__.Script"]).inner == deque([1.0])
    path.write_bytes(crafted([["named", 0]], ["__main__:Script.__init__"]))
    with pytest.raises(ValueError, match="no name of a class"):
        load(path, trusted=["__main__.Script.__init__"])


def test_all_that_is_not_trusted_is_listed_at_once(path):
    save([OwnAlgorithm(), OwnAlgorithm(Hedge()), own_loss], path)
    with pytest.raises(ValueError, match=f"{HERE}.OwnAlgorithm', '{HERE}.own_loss'"):
        load(path)


def test_own_functions_are_loaded_once_they_are_trusted(path):
    save(LongTermMemoryRegressor(loss=own_loss), path)
    with pytest.raises(ValueError, match=f"{HERE}.own_loss"):
        load(path)
    assert load(path, trusted=[own_loss]).loss is own_loss


def test_a_model_that_cannot_be_written_is_named(path):
    model = LongTermMemoryClassifier([("mine", OwnModel()), ("bayes", GaussianNB())], memory=None)
    model.partial_fit(X, LABELS, classes=[False, True])
    with pytest.raises(ValueError, match="the model of expert 'mine'"):
        save(model, path)
    with pytest.raises(ValueError, match=r"LongTermMemoryRegressor\.loss.*function"):
        save(LongTermMemoryRegressor(loss=lambda y, said: said), path)
    assert not path.exists()


def test_pickle_warns_when_written_and_is_loaded_when_allowed(path):
    model = LongTermMemoryClassifier([("bayes", GaussianNB())]).fit(X, LABELS)
    with pytest.warns(TrustWarning, match="only if you trust") as caught:
        save(model, path, models="pickle")
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="allow_pickle=True"):
        load(path)
    assert np.array_equal(load(path, allow_pickle=True).predict_proba(X), model.predict_proba(X))


class Sharing:
    """A model of one's own that scales as another one has learned."""

    def __init__(self, scaler):
        self.scaler = scaler


@pytest.mark.filterwarnings("ignore::ltm_sklearn.persistence._models.TrustWarning")
def test_what_a_pickled_model_shares_with_one_that_is_not_stays_one(path):
    scaler = pytest.importorskip("river.preprocessing").StandardScaler()  # which is written as plain values
    save({"scaler": scaler, "model": Sharing(scaler), "bayes": GaussianNB()}, path, models="pickle")
    found = load(path, allow_pickle=True)
    assert found["model"].scaler is found["scaler"]


def test_a_method_of_another_library_is_named_and_bound_once_it_is_trusted(path):
    save(FunctionTransformer(StandardScaler().fit(X).transform), path)
    name = "sklearn.preprocessing._data.StandardScaler"
    with pytest.raises(ValueError, match=rf"{name}\.transform: look at it, and name it in trusted="):
        load(path)
    assert load(path, trusted=[name]).func.__self__.mean_.shape == (X.shape[1],)


def test_without_models_of_others_neither_skops_nor_pickle_is_needed(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for models in ("skops", "pickle"):
        save(Hedge(), path, models=models)
        assert load(path).get_params() == Hedge().get_params()
    with pytest.raises(ImportError, match=r"ltm_sklearn\[persistence\]"):
        save(LongTermMemoryClassifier([("bayes", GaussianNB())]), path)


def test_wrong_parameters_are_named(path):
    with pytest.raises(ValueError, match="models='joblib'"):
        save(Hedge(), path, models="joblib")


# Other versions ------------------------------------------------------------------------------------------------------


def test_another_version_of_river_is_warned_of(path, monkeypatch):
    pytest.importorskip("river")
    from river import naive_bayes

    save(naive_bayes.GaussianNB(), path)
    monkeypatch.setattr(file_module, "version", lambda name: "99.0")
    with pytest.warns(UserWarning, match=r"here is 99\.0"):
        load(path)


def test_another_version_of_this_package_is_warned_of_whatever_the_file_has(path, monkeypatch):
    monkeypatch.setattr(file_module, "__version__", "0.0.1")
    save(Hedge(), path)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=r"written with ltm_sklearn 0\.0\.1, and here is"):
        load(path)


# Writing -------------------------------------------------------------------------------------------------------------


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
    with pytest.raises(OSError, match="No space"):
        save(Hedge(rate=0.7), path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes and pipes")
def test_a_file_that_was_closed_to_others_stays_so(path):
    save(Hedge(), path)
    path.chmod(0o600)
    save(Hedge(), path)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes and pipes")
def test_what_is_no_file_is_not_replaced(path):
    os.mkfifo(path)
    for place in (path, path.parent):
        with pytest.raises(FileExistsError, match="no file that could be replaced"):
            save(Hedge(), place)
    assert path.is_fifo()
    assert os.listdir(path.parent) == [path.name]


def test_a_missing_folder_is_an_error_that_names_it(path):
    with pytest.raises(FileNotFoundError, match="missing"):
        save(Hedge(), path.parent / "missing" / "model.ltm")


def test_the_file_and_its_folder_are_on_the_disk_before_save_returns(path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda handle: (steps.append(os.path.isdir(f"/proc/self/fd/{handle}")), fsync(handle))
    )
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("replace"), replace(*names)))
    save(Hedge(), path)
    assert steps == [False, "replace", True]


def test_a_link_is_written_through(path):
    target = path.with_name("target.ltm")
    save(Hedge(rate=0.5), target)
    path.symlink_to(target)
    save(Hedge(rate=0.7), path)
    assert path.is_symlink()
    assert load(target).rate == 0.7


# Files that are small, and enormous or endless when they are read -----------------------------------------------------


def with_models(skops, **others):
    manifest = {"format": "ltm_sklearn", "format_version": 1, "n_models": 1, "versions": {}}
    state = {"root": [0], "names": [], "nodes": [["model", 0]]}
    return _packed(
        {"manifest.json": as_json(manifest), "state.json": as_json(state), "models.skops": skops, **others},
        zipfile.ZIP_DEFLATED,
    )


def archive_of(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_models_that_refer_to_each_other_over_and_over_are_refused(path):
    """Twenty pairs in each other are a million, and skops asks each."""
    with zipfile.ZipFile(io.BytesIO(skops_io.dumps([{(1.0, 2.0)}]))) as archive:
        schema = json.loads(archive.read("schema.json"))
    (holder,) = schema["content"]
    (pair,) = holder["content"]
    about = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
    for at in range(20):
        same = {**about, "content": [], "__id__": pair["__id__"]}
        pair = {**about, "content": [pair, same], "__id__": 1000 + at}
    holder["content"] = [pair]
    refused(with_models(archive_of({"schema.json": json.dumps(schema)})), path, "over and over")


def test_an_archive_in_the_archive_is_not_far_larger_than_the_file(path):
    """Each a hundred times what it is in would be ten thousand times the file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("pad", b"0" * 1_500_000)
        archive.writestr("schema.json", b" " * 3_000_000, zipfile.ZIP_DEFLATED)
    data = with_models(buffer.getvalue(), **{"arrays/0.npy": npy(20_000)})
    assert len(data) < 30_000
    refused(data, path, "times as large")


@pytest.mark.parametrize("where", ["state.json", "models.skops"])
def test_brackets_without_end_are_not_read(path, where):
    brackets = b'{"a":[' + b"[]," * 300_000 + b"[]]}"
    members = members_of(with_models(archive_of({"schema.json": brackets}), **{"arrays/0.npy": npy(20_000)}))
    if where == "state.json":
        members["state.json"] = brackets
    refused(_packed(members, zipfile.ZIP_DEFLATED), path, "far more values")


def npy(n_bytes):
    """An array that cannot be packed."""
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(os.urandom(n_bytes), np.uint8))
    return buffer.getvalue()


def test_what_is_packed_too_well_is_written_as_it_is(path):
    """Or else it would not be loaded."""
    many = [[] for _ in range(50_000)]
    save(many, path)
    assert load(path) == many


@pytest.mark.parametrize("versions", [[], {"river": 1}, "1", None], ids=str)
def test_a_manifest_whose_versions_are_no_texts_is_refused(path, versions):
    manifest = {"format": "ltm_sklearn", "format_version": 1, "n_models": 0, "versions": versions}
    members = {"manifest.json": as_json(manifest), "state.json": as_json({"root": 1, "names": [], "nodes": []})}
    refused(packed(members), path, "which versions")


def test_trusted_is_a_list(path):
    save(Hedge(), path)
    for trusted in ("mine.Model", Hedge, None):
        with pytest.raises(ValueError, match="must be a list"):
            load(path, trusted=trusted)
    with pytest.raises(ValueError, match="trusted= has 3"):
        load(path, trusted=[3])


@pytest.mark.parametrize("letter", ["x", "ü"])
def test_long_names_are_written(tmp_path, letter):
    path = tmp_path / (letter * (250 // len(letter.encode())))
    save(Hedge(), path)
    assert [*tmp_path.iterdir()] == [path]
