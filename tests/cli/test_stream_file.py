"""Files of labelled rows: task, features that look at no later row, and errors."""

import numpy as np
import pytest
from support.commands import stream, write

from ltm_sklearn.cli._features import MOST_CATEGORIES, encode_columns
from ltm_sklearn.cli._stream_file import StreamOptions, read_stream

pandas = pytest.importorskip("pandas")

N_ROWS = 240
ROW = np.arange(N_ROWS)


@pytest.fixture
def path(tmp_path):
    return write(stream(), tmp_path / "stream.csv")


@pytest.mark.parametrize(
    ("values", "is_class", "reason"),
    [
        (ROW % 3, True, "3 different values, all whole"),
        (ROW % 3 + 0.5, False, "not whole"),
        (ROW % 21, False, "21 different numbers"),
        (ROW % 2 == 0, True, "not numbers"),
        (np.where(ROW % 2, "1", "two"), True, "not numbers"),
    ],
)
def test_the_task_depends_on_the_target(path, values, is_class, reason):
    file = read_stream(write(stream().assign(y=values), path), StreamOptions("y"))
    assert file.is_class == is_class
    assert reason in file.task


def test_the_task_can_be_chosen(path):
    write(stream().assign(y=ROW % 3), path)
    assert not read_stream(path, StreamOptions("y", task="regression")).is_class
    write(stream().assign(y=ROW % 30), path)
    assert read_stream(path, StreamOptions("y", task="classification")).y.tolist() == (ROW % 30).tolist()


def test_features_use_no_later_row():
    table = stream().assign(
        flag=[None, True, False] * (N_ROWS // 3),
        place=[f"p{at % 60}" for at in range(N_ROWS)],
        day=pandas.date_range("2024-01-01", periods=N_ROWS, freq="D"),
    )
    table = table.drop(columns=["y", "regime"])
    X, names, columns = encode_columns(table, [])
    later = table.copy()
    later.loc[120:, ["a", "b"]] = 1000.0
    later.loc[120:, "colour"] = "blue"
    changed_X, changed_names, _ = encode_columns(later, [])
    for place, name in enumerate(names):
        np.testing.assert_array_equal(X[:120, place], changed_X[:120, changed_names.index(name)], err_msg=name)
    assert np.isfinite(X).all()
    kinds = {column.name: column.kind for column in columns}
    expected = {"t": "dates", "a": "numbers", "colour": "text", "id": "left out", "same": "left out", "flag": "flags"}
    assert expected.items() <= kinds.items()
    assert sum(name.startswith("place") for name in names) == MOST_CATEGORIES + 1
    assert {"weekday of day", "month of day"} <= {*names}
    assert "hour of day" not in names


def test_a_feature_and_a_column_may_have_one_name():
    frame = pandas.DataFrame({"a": [1.0, None, 5.0], "a is missing": [7.0, 9.0, 8.0]})
    X, names, _ = encode_columns(frame, [])
    assert names == ["a", "a is missing", "a is missing"]
    assert X.tolist() == [[1.0, 0.0, 7.0], [1.0, 1.0, 9.0], [5.0, 0.0, 8.0]]


def test_numbers_can_be_categories(path):
    write(stream().assign(station=ROW % 3 * 7), path)
    names = read_stream(path, StreamOptions("y", categories=["station"])).names
    assert {"station = 0", "station = 7", "station = 14"} <= {*names}


def rows(line, n_rows=30):
    return "\n".join(["y,a,b", *(line.format(at=at, odd=at % 2) for at in range(n_rows))]) + "\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("y,a\n1,2\n", "only 1 of the rows have a target"),
        (rows("1,{at}.5,2"), "'y' (--target) is 1 in all rows"),
        (rows(",{at}.5,2"), "empty in all 30 rows"),
        (rows("{odd},1,2"), "no column is left to learn from ('a': constant: 1"),
        (rows("{odd},x{at},2"), "'a': text with 30 different values in 30 rows"),
        (rows("{odd},{at},2"), "'a': counts the rows"),
        (rows("c{at},{at}.5,2"), "30 different values in 30 rows: too many for classes"),
        (rows("{odd},{at}.5,2").replace(",7.5", ",1e300"), "'a' has 1e+300 in row 7, line 9"),
        (rows("{odd},{at}.5,2").replace("\n1,7.5", "\n1,-inf"), "'a' has -inf in row 7, line 9"),
        (rows("{at}.25,{at}.5,2").replace("\n7.25", "\n1e300"), "(--target) has 1e+300 in row 7, line 9"),
        (rows("{at}.25,{at}.5,2").replace("\n7.25", "\nn/k"), "'y' holds numbers, but row 7, line 9 has 'n/k'"),
        (rows("{odd},{at}.5,2").replace(",7.5", ",n/k"), "'a' holds numbers, but row 7, line 9 has 'n/k'"),
    ],
)
def test_cells_that_cannot_be_used(path, content, words):
    path.write_text(content)
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared without regular expressions
        read_stream(path, StreamOptions("y"))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drop": ["nothing"]}, "'nothing' (--drop). The columns are 't', 'a', 'b', 'colour'"),
        ({"time": "when"}, "'when' (--time)"),
        ({"time": "colour"}, "'colour' (--time): row 0, line 2"),
        ({"concept": "phase"}, "'phase' (--concept)"),
        ({"concept": "b"}, "'b' (--concept) is empty in row 3, line 5"),
        ({"categories": ["phase"]}, "'phase' (--categories)"),
        ({"task": "regression"}, "'y' is not numeric: row 0, line 2"),
        ({"rows": 10}, "only 10 of the rows have a target"),
    ],
)
def test_options_that_do_not_fit_the_file(path, options, words):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared without regular expressions
        read_stream(path, StreamOptions("y", **options))
    assert words in str(error.value)


def test_times_must_not_decrease(path):
    table = stream()
    table.loc[7, "t"] = table.loc[6, "t"]
    assert len(read_stream(write(table, path), StreamOptions("y", time="t")).times) == N_ROWS
    table.loc[9, "t"] = "2023-12-31 09:00"
    with pytest.raises(ValueError, match=r"'t' \(--time\) goes back: row 9, line 11"):
        read_stream(write(table, path), StreamOptions("y", time="t"))
