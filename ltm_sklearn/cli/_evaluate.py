"""``ltm-sklearn evaluate``: test on the rows of a file whether memory helps."""

from __future__ import annotations

import argparse
from typing import Any

from .._optional import import_extra
from ._evaluate_report import PICTURES, as_markdown, as_text, draw_pictures, page_values
from ._evaluate_run import EvaluationRun, experts_frame, run_evaluation, scores_frame
from ._report import (
    PAGE,
    UsageError,
    add_report_options,
    check_named_once,
    check_report_can_be_written,
    checkpoint_of,
    new_report_parser,
    print_safely,
    write_report,
)
from ._stream_file import StreamFile, StreamOptions, read_stream

#: Tables of the report; the template says what they hold.
TABLES = ("scores.csv", "scores.md", "curve.csv", "memory.csv", "features.csv")
#: Names of all files that a report may have.
NAMES = (PAGE, *TABLES, *(f"{name}.png" for name in PICTURES))

DESCRIPTION = """\
Test whether memory helps on the rows of a file. The command goes through the file once, in its
order. It runs side by side: the default pool of models with long-term memory, the same pool
without memory, each model of the pool alone, and two baselines that use no feature. Each batch of
rows is predicted, scored, and then learned. The command prints scores and a verdict with its
uncertainty, and writes a report: one HTML page that needs no network, pictures, and tables.

The file is CSV (also compressed) or Parquet, the oldest row first. All columns that no option
names are features: numbers unchanged, text one-hot encoded, dates as hour, weekday and month.
Missing values are filled with the last known one. Rows without a target are skipped.
"""
EPILOG = f"""\
examples:

  ltm-sklearn evaluate stream.csv --target y
  ltm-sklearn evaluate load.csv.gz --target load --time hour --delay 24 --drop station --out load

Then open report/{PAGE}. Beside it lie the pictures as PNG, and
{", ".join(TABLES)}.
An earlier report in the folder is replaced.

20,000 rows with ten features take one to two minutes on one core; larger batches are faster.

exit codes: 0 done, 1 the data are wrong or the report cannot be written, 2 wrong usage, 130 Ctrl-C
"""


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of this command."""
    parser = new_report_parser(
        commands,
        "evaluate",
        "the column to predict",
        help="test whether memory helps on the rows of a CSV file, and write a report",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="auto: classification if the target is text, true and false, or at most 20 different whole numbers",
    )
    add(
        "--time",
        metavar="COLUMN",
        help="times, which must not decrease: dates as 2024-01-31 13:00, or numbers. Hour, weekday and month of dates "
        "are features (default: row numbers)",
    )
    add("--concept", metavar="COLUMN", help="known regimes; not a feature. Adds scores after changes and after returns")
    add(
        "--categories",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns of numbers that are names, such as station numbers",
    )
    add(
        "--batch",
        metavar="N",
        type=int,
        help="rows that are predicted together, then learned together (default: 10; more for more than 5,000 rows)",
    )
    add(
        "--delay",
        metavar="N",
        type=int,
        default=0,
        help="rows by which targets are late, in addition to the batch (default: 0)",
    )
    add("--rows", metavar="N", type=int, help="read only the first N rows")
    add("--seed", metavar="N", type=int, default=0, help="random seed of the models (default: 0)")
    add_report_options(parser)
    return parser


def run(options: Any) -> None:
    """Run the command."""
    for name, least in (("batch", 1), ("delay", 0), ("rows", 1), ("seed", 0)):
        value = getattr(options, name)
        if value is not None and not least <= value < 2**32:
            raise UsageError(f"--{name} {value}: it must lie between {least} and {2**32 - 1}")
    settings = StreamOptions(**{name: getattr(options, name) for name in StreamOptions._fields})
    check_named_once(settings.columns)
    checkpoint = checkpoint_of(options)
    check_report_can_be_written(options, NAMES)
    file = read_stream(options.file, settings)
    run = run_evaluation(file, options.batch, options.delay, options.seed, checkpoint)
    columns = [(column.name, column.kind, column.description, len(column.features)) for column in file.columns]
    write_report(
        "evaluate.html.jinja",
        options,
        NAMES,
        title=f"Does memory help? {options.file.name}",
        tables={
            "scores.csv": scores_frame(run),
            "scores.md": as_markdown(run),
            "curve.csv": run.result.curve().reset_index(),
            "memory.csv": experts_frame(run),
            "features.csv": import_extra("pandas", "tables").DataFrame(
                columns, columns=["column", "kind", "how", "features"]
            ),
        },
        pictures=draw_pictures(run),
        facts=_facts(run, options),
        **page_values(run),
    )
    print_safely(f"{_how_read(file, options.file.name)}\n\n{as_text(run)}\n\nreport: {options.out / PAGE}")


def _facts(run: EvaluationRun, options: Any) -> dict[str, str]:
    """Return what was run, by name."""
    file = run.file
    skipped = f"; {file.n_unlabelled:,} rows without a target were skipped" if file.n_unlabelled else ""
    delay = f"; targets come {options.delay} rows later" if options.delay else ""
    facts = {
        "File": f"{options.file.name}: {len(file.y):,} rows, {len(file.names)} features{skipped}",
        "Task": file.task,
        "Batches": f"{run.batch} rows each{delay}",
        "Pool": ", ".join(name.removesuffix(" alone") for name in run.standalone),
        "Seed": str(options.seed),
    }
    if file.times is not None:
        facts |= {"First time": str(file.times[0]), "Last time": str(file.times[-1])}
    if options.drop:
        facts["Dropped columns"] = ", ".join(options.drop)
    return facts


def _how_read(file: StreamFile, name: str) -> str:
    """Return how the file was read, for the terminal."""
    left_out = [column.name for column in file.columns if column.kind == "left out"]
    text = f"{name}: {len(file.y):,} rows, {len(file.names)} features; {file.task}"
    if file.n_unlabelled:
        text += f"\n{file.n_unlabelled:,} rows without a target were skipped"
    if left_out:
        text += f"\nleft out: {', '.join(left_out[:10])}{', …' if len(left_out) > 10 else ''} (reasons: features.csv)"
    return text
