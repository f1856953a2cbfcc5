"""Tables in CSV and Parquet files, and the errors of those that cannot be read."""

import numpy as np
import pytest
from support.commands import forecasts

from ltm_sklearn.cli._tables import add_line_numbers, check_columns, read_numbers, read_table, read_times

pandas = pytest.importorskip("pandas")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_formats_give_the_same_table(tmp_path, suffix):
    path, table = tmp_path / f"in{suffix}", forecasts()
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    frame, lines = read_table(path, ["t"])
    pandas.testing.assert_frame_equal(frame, table, check_dtype=False)
    assert lines is None if suffix == ".parquet" else lines.tolist() == list(range(2, len(table) + 2))


def test_blank_lines_count_as_lines_of_the_file(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("y,a\n1,2\n\n\n3,4\n\n")
    frame, lines = read_table(path, [])
    assert frame["y"].tolist() == [1, 3]
    with pytest.raises(ValueError, match="row 1, line 5 is bad"), add_line_numbers(lines):
        raise ValueError("row 1 is bad")


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"\xef\xbb\xbfy,a\n1,2\n")
    assert list(read_table(path, [])[0].columns) == ["y", "a"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"y,a\n", "no rows"),
        (b"y,a\n1,2,3\n4,5,6\n", "cannot be read"),
        (b"y,a\n1,2\n4,5,6\n", "line 3"),
        (b"y,a\n1,caf\xe9\n", "not UTF-8 text .byte 0xe9"),
        (b"y,a,a\n1,2,3\n", "two columns 'a'"),
        (b"y;a\n1;2\n", "separated by ';'"),
    ],
)
def test_files_that_are_no_tables(tmp_path, content, words):
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_table(path, [])


def test_files_that_cannot_be_opened(tmp_path):
    (tmp_path / "in.xlsx").write_bytes(b"PK")
    forecasts().to_csv(tmp_path / "cut.csv.gz", index=False)
    (tmp_path / "cut.csv.gz").write_bytes((tmp_path / "cut.csv.gz").read_bytes()[:500])
    for name, words in (("no.csv", "no file"), (".", "a folder"), ("in.xlsx", "neither a CSV"), ("cut.csv.gz", "read")):
        with pytest.raises(ValueError, match=words):
            read_table(tmp_path / name, [])


def test_a_parquet_file_with_damaged_metadata(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"y": [1.0, 2.0]}).replace_schema_metadata({b"pandas": b'{"kolumns": []}'})
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="its column metadata is damaged: KeyError"):
        read_table(tmp_path / "x.parquet", [])


def test_columns_must_exist_and_have_names():
    frame = pandas.DataFrame({"Unnamed: 0": [0], "y": [1]})
    check_columns(frame, {"--target": ["y"], "--drop": ["Unnamed: 0"]})
    with pytest.raises(ValueError, match="column 1 has no name"):
        check_columns(frame, {"--target": ["y"], "--drop": []})
    with pytest.raises(ValueError, match=r"no column 'x' \(--time\). The columns are 'Unnamed: 0', 'y'"):
        check_columns(frame, {"--target": ["y"], "--time": ["x"]})


def test_numbers_and_times():
    frame = pandas.DataFrame({"a": ["1", None, "x"], "t": ["2024-01-01", "2024-01-02 13:00", "02/01/2024"]})
    np.testing.assert_array_equal(read_numbers(frame[:2], "a"), [1.0, np.nan])
    with pytest.raises(ValueError, match="'a' is not numeric: row 2 has 'x'"):
        read_numbers(frame, "a")
    assert read_times(frame["t"][:2], "t").dt.day.tolist() == [1, 2]
    assert read_times(pandas.Series(["1", "2"]), "t").tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"'t' \(--time\): row 2 has '02/01/2024', which is not a time"):
        read_times(frame["t"], "t")
