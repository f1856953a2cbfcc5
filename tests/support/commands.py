"""Files for the command line, and what a command that fails must do."""

import numpy as np

from ltm_sklearn.cli import main

N_ROWS = 120


def forecasts(n_rows=N_ROWS, seed=0):
    """Return a target and three forecasts: two that are accurate in turn, and one with gaps."""
    import pandas

    rng = np.random.default_rng(seed)
    y = 50.0 + rng.normal(size=n_rows).cumsum()
    turn = np.arange(n_rows) // 24 % 2 == 0
    noise = rng.normal(size=(n_rows, 3))
    return pandas.DataFrame(
        {
            "t": pandas.date_range("2024-01-01", periods=n_rows, freq="h").strftime("%Y-%m-%d %H:%M"),
            "y": y,
            "first": y + noise[:, 0] * np.where(turn, 0.2, 2.0),
            "second": y + noise[:, 1] * np.where(turn, 2.0, 0.2),
            "third": np.where(np.arange(n_rows) % 10 == 3, np.nan, y + noise[:, 2]),
        }
    )


def several_series(interleaved=False):
    """Return the forecasts of three series of different lengths, whose last four targets are unknown."""
    import pandas

    parts = []
    for label, n_rows in (("001", 60), ("b", 90), ("c", 30)):
        part = forecasts(n_rows, seed=len(parts)).assign(id=label)
        part["day"] = part["t"].str[:10]
        part.loc[n_rows - 4 :, "y"] = np.nan
        parts.append(part)
    table = pandas.concat(parts, ignore_index=True)
    return table.sort_values("t", kind="stable", ignore_index=True) if interleaved else table


def stream(n_rows=240, seed=0):
    """Return rows of two recurring regimes with opposite labels, and columns of many kinds."""
    import pandas

    rng = np.random.default_rng(seed)
    regime = np.arange(n_rows) // 60 % 2
    a, b = rng.normal(size=(2, n_rows))
    return pandas.DataFrame(
        {
            "t": pandas.date_range("2024-01-01", periods=n_rows, freq="h").strftime("%Y-%m-%d %H:%M"),
            "a": a,
            "b": np.where(np.arange(n_rows) % 7 == 3, np.nan, b),
            "colour": rng.choice(["red", "green"], n_rows),
            "id": np.arange(n_rows),
            "same": 1.0,
            "regime": np.where(regime == 1, "odd", "even"),
            "y": np.where((a > 0) ^ (regime == 1), "yes", "no"),
        }
    )


def write(table, path):
    """Write a frame as CSV; return its path."""
    table.to_csv(path, index=False)
    return path


def run(command, file, *options, target="y", out="report"):
    """Run a command on a file; return its exit code and the folder of its report, beside the file."""
    folder = file.parent / out
    return main([command, str(file), "--target", target, "--out", str(folder), *options]), folder


def error_of(capsys, code, expected=1):
    """Return the error of a command with this exit code: one line on stderr, and nothing on stdout."""
    out, err = capsys.readouterr()
    assert code == expected
    assert not out
    (line,) = [line for line in err.splitlines() if "━" not in line]
    assert line.startswith("ltm-sklearn ")
    return line
