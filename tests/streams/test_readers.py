"""Reader of files, frames, Arrow data and pairs in mini-batches."""

import itertools
import tracemalloc

import numpy as np
import pytest

from ltm_sklearn.streams import Batches


@pytest.fixture(scope="module")
def frame():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    return pandas.DataFrame(
        {
            "a": rng.normal(size=2500),
            "id": np.arange(2500),
            "b": rng.integers(0, 9, 2500),
            "y": rng.integers(0, 2, 2500),
        }
    )


def as_csv(frame, folder, name="rows.csv"):
    frame.to_csv(folder / name, index=False)
    return folder / name


def as_packed_csv(frame, folder):
    return str(as_csv(frame, folder, "rows.csv.gz"))


def as_parquet(frame, folder):
    pytest.importorskip("pyarrow")
    frame.to_parquet(folder / "rows.parquet", row_group_size=700)
    return folder / "rows.parquet"


def as_feather(frame, folder):
    pytest.importorskip("pyarrow")
    frame.to_feather(folder / "rows.feather")
    return folder / "rows.feather"


def as_arrow(frame, folder):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame)


def as_arrow_dataset(frame, folder):
    return pytest.importorskip("pyarrow.dataset").dataset(as_arrow(frame, folder))


def as_polars(frame, folder):
    return pytest.importorskip("polars").DataFrame({name: frame[name].to_numpy() for name in frame})


def as_pandas(frame, folder):
    return frame


SOURCES = [as_csv, as_packed_csv, as_parquet, as_feather, as_arrow, as_arrow_dataset, as_polars, as_pandas]


@pytest.mark.fast_cases(8)
@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("make", SOURCES)
def test_each_iteration_yields_batches_of_the_size(make, as_frame, frame, tmp_path):
    batches = Batches(make(frame, tmp_path), "y", batch_size=600, drop=["id"], as_frame=as_frame)
    for _ in range(2):
        parts = list(batches)
        assert [len(part.y) for part in parts] == [600] * 4 + [100]
        np.testing.assert_allclose(np.concatenate([np.asarray(part.X) for part in parts]), frame[["a", "b"]])
        np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), frame["y"])
        assert hasattr(parts[0].X, "columns") == as_frame
        if as_frame:
            assert list(parts[0].X.columns) == ["a", "b"]


@pytest.mark.parametrize("as_frame", [False, True])
def test_pairs_are_read_in_batches(as_frame):
    pairs = [({"a": float(at), "b": at % 2, "c": 0}, "odd" if at % 2 else "even") for at in range(7)]
    parts = list(Batches(pairs, batch_size=3, drop=["c"], as_frame=as_frame))
    assert [len(part.y) for part in parts] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([np.asarray(part.X) for part in parts])[:, 0], np.arange(7))
    assert parts[0].y.tolist() == ["even", "odd", "even"]


def test_long_csv_file_is_read_in_bounded_memory(tmp_path):
    pytest.importorskip("pandas")
    with (tmp_path / "long.csv").open("w") as file:
        file.write("a,y\n")
        file.writelines("0.123456789,1\n" for _ in range(100_000))
    sum(len(batch.y) for batch in itertools.islice(Batches(tmp_path / "long.csv", "y"), 2))  # imports
    tracemalloc.start()
    assert sum(len(batch.y) for batch in Batches(tmp_path / "long.csv", "y")) == 100_000
    assert tracemalloc.get_traced_memory()[1] < 1.5e6
    tracemalloc.stop()


def test_long_parquet_file_is_read_in_bounded_memory(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    path = tmp_path / "long.parquet"
    names = [*"abcdefgh", "y"]
    with parquet.ParquetWriter(path, pyarrow.schema([(name, pyarrow.float64()) for name in names])) as writer:
        for _ in range(20):
            writer.write_table(pyarrow.table({name: rng.random(20_000) for name in names}))
    pool = pyarrow.default_memory_pool()
    most = before = pool.bytes_allocated()
    n_rows = 0
    for batch in Batches(path, "y", batch_size=1000):
        n_rows += len(batch.y)
        most = max(most, pool.bytes_allocated())
    assert n_rows == 400_000
    assert most - before < path.stat().st_size / 5


def test_csv_column_that_changes_its_type_is_named(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "mixed.csv"
    path.write_text("a,y\n" + "1.0,0\n" * 5 + "2.0,unknown\n")
    with pytest.raises(ValueError, match=r"column 'y' of .* holds numbers up to row 4 and text after it: pass dtype="):
        list(Batches(path, "y", batch_size=4))
    labels = [label for batch in Batches(path, "y", batch_size=4, dtype={"y": str}) for label in batch.y.tolist()]
    assert labels == ["0"] * 5 + ["unknown"]
    path.write_text("a,y\nTrue,0\nFalse,1\n,0\nTrue,1\n")  # a missing boolean is no text
    assert [batch.X.tolist() for batch in Batches(path, "y", batch_size=2)][1][1] == [1.0]
    path.write_text("a,t,y\n" + "1.0,x,0\n" * 4 + ",,1\n" * 4)  # missing values have no type
    parts = list(Batches(path, "y", batch_size=4, as_frame=True))
    assert parts[1].X.isna().all(axis=None)


def test_booleans_and_missing_values_become_numbers():
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"flag": [True, False], "a": [0.5, 1.5], "n": pandas.array([1, None], "Int64"), "y": 0})
    (batch,) = Batches(mixed, "y")
    np.testing.assert_array_equal(batch.X, [[1.0, 0.5, 1.0], [0.0, 1.5, np.nan]])
    (batch,) = Batches([({"a": 1.0, "b": None}, 0), ({"a": 2.0, "b": True}, 0)])
    np.testing.assert_array_equal(batch.X, [[1.0, np.nan], [2.0, 1.0]])


def test_table_without_rows_has_no_batches(tmp_path):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    (tmp_path / "header.csv").write_text("a,y\n")
    for empty in (tmp_path / "header.csv", pandas.DataFrame({"a": [], "y": []}), pyarrow.table({"a": [], "y": []})):
        assert list(Batches(empty, "y")) == []


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        ("frame", {"target": "z"}, r"no columns \['z'\]"),
        ("frame", {"target": "y", "drop": ["q"]}, r"no columns \['q'\]"),
        ("frame", {}, "target=None must name the column"),
        ("frame", {"target": "y", "batch_size": 0}, "batch_size=0"),
        ("pairs", {"target": "y"}, "target='y' must .* be None for pairs"),
        ("pairs", {"drop": ["z"]}, r"drop contains \['z'\]"),
        ("text", {"target": "y"}, r"columns \['a'\] hold values that are no numbers"),
        ("number", {"target": "y"}, "source=3 must be a file"),
        ("iterator", {}, "is an iterator"),
        ("no rows", {}, "has no rows"),
        ("array", {}, "has rows of type ndarray: they must be pairs"),
        ("reader", {"target": "y"}, "can be read only once"),
        ("equal names", {"target": "y"}, "unique column names"),
    ],
)
def test_invalid_sources_are_named(source, arguments, message, frame):
    sources = {
        "frame": frame,
        "pairs": [({"a": 1.0}, 0)],
        "text": frame.assign(a="much"),
        "number": 3,
        "iterator": iter([({"a": 1.0}, 0)]),
        "no rows": [],
        "array": np.zeros((3, 2)),
        "reader": pytest.importorskip("pyarrow").Table.from_pandas(frame).to_reader(),
        "equal names": frame.set_axis(["a", "a", "b", "y"], axis=1),
    }
    with pytest.raises(ValueError, match=message):
        list(Batches(sources[source], **arguments))


def test_missing_and_unknown_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        Batches(tmp_path / "nowhere.csv", "y")
    (tmp_path / "rows.txt").write_text("a")
    with pytest.raises(ValueError, match=r"rows\.txt is no CSV, Parquet or Arrow file"):
        Batches(tmp_path / "rows.txt", "y")
