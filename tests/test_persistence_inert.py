"""Files that are crafted so that their objects run something while they are made; each is refused, and nothing runs."""

import io
import json
import pickle
import random
import zipfile

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import load, save
from ltm_sklearn.persistence._archive import as_json, packed
from ltm_sklearn.persistence._arrays import Shelf
from ltm_sklearn.persistence._errors import BadFile, in_words
from ltm_sklearn.persistence._file import _dump, _load
from ltm_sklearn.persistence._schema import check_schema

RAN = []
HEDGE = "ltm_sklearn.experts._exponential:Hedge"
HERE = __name__
RUN = f"{HERE}:run"  # in the place of whatever function of a package does harm


def run(*_):
    RAN.append(1)
    return {}


class Hashed:
    def __hash__(self):
        run()
        return 1

    def __eq__(self, other):
        return self is other


class FittedAttributes:
    def __repr__(self):
        run()
        return "shown"


class Open:
    """With a slot, and a property that runs."""

    __slots__ = ("value",)

    @property
    def loud(self): ...

    @loud.setter
    def loud(self, value):
        run()


@pytest.fixture(autouse=True)
def nothing_runs():
    RAN.clear()
    yield
    assert not RAN


def crafted(path, nodes, names, root, data=b""):
    """A file with these nodes; the first array is the data."""
    shelf = Shelf()
    where = shelf.put(np.frombuffer(data, np.uint8))
    nodes = [[where if part == "data" else part for part in node] for node in nodes]
    manifest = {"format": "ltm_sklearn", "format_version": 1, "object": "x", "n_models": 0, "versions": {}}
    state = {"root": [root], "names": names, "nodes": nodes}
    path.write_bytes(packed({"manifest.json": as_json(manifest), "state.json": as_json(state), **shelf.members()}))
    return path


#: An object of Hedge is node 3, all of whose attributes are the function that must not run.
ARMED = [["named", 0], ["tuple"], ["dict"]]
TRIGGERS = {
    "a partial function's names": ["made", "partial", [0], [1], [3]],
    "a partial function's arguments": ["made", "partial", [0], [3], [2]],
    "a table": ["made", "pandas frame", [3], None, None],
    "an index": ["made", "pandas index", [3], None, None],
    "values of a table": ["made", "pandas array", [3], "float64"],
    "a table, in a list": ["made", "pandas array", [5], "float64"],
    "a sparse matrix": ["made", "csr array", [3], [3], [3], [1]],
    "a path": ["made", "path", [3]],
    "a state": ["built", 1, [], [], [], [3]],
}
CALLED = ("keys", "items", "values", "tolist", "to_numpy", "shape", "dtype", "get", "pop", "__iter__", "__array__")


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("names", [CALLED, CALLED[:-2], ["keys"]], ids=["all", "public", "keys"])
def test_objects_cannot_bring_methods_along(tmp_path, trigger, names):
    armed = ["object", 1, {name: [0] for name in names}]
    nodes = [*ARMED, armed, TRIGGERS[trigger], ["list", [3]]]
    with pytest.raises(ValueError, match="is not loaded"):
        load(crafted(tmp_path / "x.ltm", nodes, [RUN, HEDGE], 4), trusted=[run])


@pytest.mark.parametrize("name", ["update", "weights", "__reduce_ex__", "__array__", "__class__"])
def test_no_attribute_takes_the_place_of_a_method(tmp_path, name):
    nodes = [["named", 0], ["object", 1, {name: [0]}]]
    with pytest.raises(ValueError, match=f"'{name}'"):
        load(crafted(tmp_path / "x.ltm", nodes, [RUN, HEDGE], 1), trusted=[run])


@pytest.mark.parametrize("name", ["loud", "__class__", "missing"])
def test_only_slots_are_set(tmp_path, name):
    nodes = [["dict", name, 1], ["tuple", None, [0]], ["built", 0, [], [], [], [1]]]
    with pytest.raises(ValueError, match=f"no slot '{name}'"):
        load(crafted(tmp_path / "x.ltm", nodes, [f"{HERE}:Open"], 2), trusted=[Open])


def test_slots_are_set(tmp_path):
    nodes = [["dict", "value", 1], ["tuple", None, [0]], ["built", 0, [], [], [], [1]]]
    assert load(crafted(tmp_path / "x.ltm", nodes, [f"{HERE}:Open"], 2), trusted=[Open]).value == 1


@pytest.mark.parametrize("node", [["dict", [0], 1], ["set", [0]], ["frozenset", [0]], ["Counter", [0], 1]], ids=str)
@pytest.mark.parametrize("inside", [False, True], ids=["itself", "in a tuple"])
def test_keys_that_compare_in_their_own_way_are_refused(tmp_path, node, inside):
    pytest.importorskip("sktime")
    name = "sktime.forecasting.naive._naive:NaiveForecaster"  # whose comparison asks for parameters
    key = ["object", 0, {"sp": 1}]
    nodes = [["tuple", [1]], key, node] if inside else [key, ["list"], node]
    with pytest.raises(ValueError, match="as a key"):
        load(crafted(tmp_path / "x.ltm", nodes, [name], 2))


@pytest.mark.parametrize(
    "name",
    [
        "ltm_sklearn.persistence._models:loaded_pickle",
        "ltm_sklearn.persistence._file:_load",
        "ltm_sklearn.distributed._remote:Remote",
        "ltm_sklearn.cli._common:started",
        "river.datasets.base:RemoteDataset",
        "river.stream.cache:Cache",
        "sktime.base._base:load",
    ],
)
def test_what_opens_files_or_pickles_is_not_named(tmp_path, name):
    data = pickle.dumps(RAN)
    nodes = [["bytes", "data"], ["named", 0], ["tuple", [0]], ["dict"], ["made", "partial", [1], [2], [3]]]
    with pytest.raises(ValueError, match=r"no model needs|there is no"):
        load(crafted(tmp_path / "x.ltm", nodes, [name], 4, data))


@pytest.mark.parametrize(
    "name", ["distributed._on_worker:_call", "distributed._on_worker:_attribute", "_attempts:attempt"]
)
def test_what_calls_for_others_is_not_named(tmp_path, name):
    """With these, an object that is asked for a method of its own would call one of another object."""
    with pytest.raises(ValueError, match="no model needs"):
        load(crafted(tmp_path / "x.ltm", [["named", 0]], [f"ltm_sklearn.{name}"], 0))


def test_methods_that_call_for_others_are_not_bound_and_their_class_is_loaded(tmp_path):
    name = "ltm_sklearn.distributed._on_worker:OnWorker"
    nodes = [["object", 0, {"estimator": None, "workers": None}], ["method", [0], "predict"]]
    with pytest.raises(ValueError, match=r"OnWorker\.predict: look at it"):
        load(crafted(tmp_path / "x.ltm", nodes, [name], 1))
    assert type(load(crafted(tmp_path / "x.ltm", nodes, [name], 0))).__name__ == "OnWorker"


def test_methods_that_open_pickles_are_not_bound(tmp_path):
    pytest.importorskip("sktime")
    nodes = [["named", 0], ["method", [0], "load_from_serial"]]
    with pytest.raises(ValueError, match=r"load_from_serial: look at it"):
        load(crafted(tmp_path / "x.ltm", nodes, ["sktime.forecasting.naive._naive:NaiveForecaster"], 1))


def test_what_is_not_crafted_is_loaded(tmp_path):
    """The same nodes, without the trick."""
    nodes = [*ARMED, ["object", 1, {"learning_rate": 0.1}], ["made", "partial", [0], [1], [2]], ["list", [3], [4]]]
    hedge, function = load(crafted(tmp_path / "x.ltm", nodes, [RUN, HEDGE], 5), trusted=[run])
    assert type(hedge) is Hedge
    assert function.func is run


def test_own_classes_are_keys_once_they_are_trusted(tmp_path):
    key = Hashed()
    save({key: 1}, tmp_path / "x.ltm")
    (again,) = load(tmp_path / "x.ltm", trusted=[Hashed])
    assert type(again) is Hashed
    RAN.clear()


def test_methods_of_random_generators_are_bound(tmp_path):
    """As River's clusters have them."""
    drawn = random.Random(0).gauss
    save([drawn], tmp_path / "x.ltm")
    (again,) = load(tmp_path / "x.ltm")
    assert again(0, 1) == random.Random(0).gauss(0, 1)


CURVE = "ltm_sklearn.evaluation._memory_curve:MemoryCurve"  # to be shown, it asks an attribute for tolist
ENSEMBLE = "ltm_sklearn.ensemble._classifier:LongTermMemoryClassifier"
BAYES = "sklearn.naive_bayes:GaussianNB"
#: Node 2 runs when it is shown: its attribute has a function in the place of a method.
SHOWN = [["named", 0], ["object", 1, {"tolist": [0]}], ["object", 2, {"distinct": [1]}]]


def test_no_attribute_is_taken_for_a_method_of_arrays(tmp_path):
    with pytest.raises(ValueError, match="'tolist', which arrays and tables have"):
        load(crafted(tmp_path / "x.ltm", SHOWN, [RUN, HEDGE, CURVE], 2), trusted=[run])


@pytest.mark.parametrize(
    "nodes",
    [
        [["object", 3, {"_ltm_sklearn_version": [2]}]],
        [["object", 4, {"_sklearn_version": [2]}]],
        [["dict", [2], 1], ["built", 1, [], [], [], [3]]],
    ],
    ids=["our version", "scikit-learn's version", "a name"],
)
def test_no_object_is_shown_in_a_message(tmp_path, nodes, monkeypatch):
    monkeypatch.setattr("ltm_sklearn.persistence._inert._ASKED", frozenset())
    path = crafted(tmp_path / "x.ltm", [*SHOWN, *nodes], [RUN, HEDGE, CURVE, ENSEMBLE, BAYES], 2 + len(nodes))
    with pytest.raises(ValueError, match="is no text"):
        load(path, trusted=[run])


def test_the_version_of_an_estimator_is_not_shown_either():
    with pytest.raises(ValueError, match="is no text"):
        LongTermMemoryClassifier([]).__setstate__({"_ltm_sklearn_version": FittedAttributes()})


def test_errors_in_words_show_no_objects():
    assert in_words(KeyError("a")) == "KeyError: 'a'"
    assert in_words(KeyError(FittedAttributes())) == "KeyError"


def test_the_version_of_a_model_that_skops_wrote_is_text(tmp_path):
    skops_io = pytest.importorskip("skops.io")
    model = GaussianNB()
    model._sklearn_version = "1"
    archive = zipfile.ZipFile(io.BytesIO(skops_io.dumps([model])))
    schema = json.loads(archive.read("schema.json"))
    versions = [each for each in tables_in(schema) if "_sklearn_version" in each]
    assert versions
    for each in versions:
        each["_sklearn_version"] = {"__loader__": "ListNode", "__class__": "list", "__module__": "builtins"}
    with pytest.raises(BadFile, match="is no text"):
        check_schema(json.dumps(schema).encode(), 10_000)


def tables_in(value):
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*([value] if isinstance(value, dict) else []), *(each for part in parts for each in tables_in(part))]


@pytest.mark.parametrize("name", ["update", "__deepcopy__", "__reduce_ex__"])
def test_a_state_of_pairs_is_no_way_around(tmp_path, name):
    nodes = [["named", 0], ["tuple", name, [0]], ["tuple", [1]], ["built", 1, [], [], [], [2]]]
    with pytest.raises(ValueError, match="has no state"):
        load(crafted(tmp_path / "x.ltm", nodes, [RUN, HEDGE], 3), trusted=[run])


@pytest.mark.parametrize(
    "name",
    [
        "ltm_sklearn.cli._demo_run:run_demo",
        "ltm_sklearn._show_versions:show_versions",
        "river.compat.river_to_sklearn:convert_river_to_sklearn",
    ],
)
def test_functions_that_no_model_holds_are_not_named(tmp_path, name):
    with pytest.raises(ValueError, match="no model needs"):
        load(crafted(tmp_path / "x.ltm", [["named", 0]], [name], 0))


def test_a_class_may_be_an_attribute_that_is_no_method_of_arrays():
    preprocessing = pytest.importorskip("river.preprocessing")
    assert _load(_dump(preprocessing.Binarizer(dtype=int))).dtype is int
