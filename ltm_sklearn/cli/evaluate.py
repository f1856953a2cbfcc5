"""``ltm-sklearn evaluate``: test on the rows of a file whether memory helps."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .._optional import import_extra
from ._evaluate_report import CAPTIONS, as_markdown, as_text, draw_pictures, page_values
from ._evaluate_run import EvaluationRun, batch_for, expert_rows, run_evaluation, scores_frame
from ._report import (
    CSV_NUMBERS,
    add_checkpoint_options,
    add_folder_options,
    check_input_is_kept,
    checkpoint_from,
    make_report,
    render_report,
)
from ._report_folder import PAGE
from ._stream_file import StreamFile, StreamOptions, read_stream

#: Tables of the report by name of the file.
TABLES = {
    "scores.csv": "scores of all models, and the gain of the pool with memory over each, with its interval",
    "scores.md": "the verdict and the scores as Markdown",
    "curve.csv": "accuracy or mean absolute error of each block of rows",
    "memory.csv": "the experts at the end: learners and snapshots, their weights, and how long each led",
    "features.csv": "the columns of the file, and how they were used",
}
#: Names of all files that a report may have.
NAMES = (PAGE, *TABLES, *(f"{name}.png" for name in CAPTIONS))

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


def add_to(commands: Any) -> None:
    """Add the parser of this command."""
    parser = commands.add_parser(
        "evaluate",
        usage="%(prog)s FILE --target COLUMN [options]",  # the file first: after --drop it would be one more column
        help="test whether memory helps on the rows of a CSV file, and write a report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the rows, ordered by time")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="the column to predict")
    parser.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="auto: classification if the target is text, true and false, or at most 20 different whole numbers",
    )
    parser.add_argument(
        "--time",
        metavar="COLUMN",
        help="times, which must not decrease: dates as 2024-01-31 13:00, or numbers. Hour, weekday and month of dates "
        "are features (default: row numbers)",
    )
    parser.add_argument(
        "--concept",
        metavar="COLUMN",
        help="known regimes; not a feature. Adds scores after changes and after returns",
    )
    parser.add_argument(
        "--drop", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns that are not features"
    )
    parser.add_argument(
        "--categories",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns of numbers that are names, such as station numbers",
    )
    parser.add_argument(
        "--batch",
        metavar="N",
        type=int,
        help="rows that are predicted together, then learned together (default: 10; more for more than 5,000 rows)",
    )
    parser.add_argument(
        "--delay",
        metavar="N",
        type=int,
        default=0,
        help="rows by which targets are late, in addition to the batch (default: 0)",
    )
    parser.add_argument("--rows", metavar="N", type=int, help="read only the first N rows")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="random seed of the models (default: 0)")
    add_checkpoint_options(parser)
    add_folder_options(parser)
    parser.set_defaults(run=run)


def run(options: Any) -> int:
    """Run the command; return its exit code."""
    return make_report(
        "evaluate",
        options,
        NAMES,
        validate=_validate,
        execute=_execute,
        build_files=_build_files,
        summarize=_summarize,
    )


def _validate(options: Any) -> StreamOptions:
    """Check the options as far as is possible without the file."""
    for name, least in (("batch", 1), ("delay", 0), ("rows", 1), ("seed", 0)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise ValueError(f"--{name} {value}: it must be {least} or more")
    if options.seed >= 2**32:
        raise ValueError(f"--seed {options.seed}: it must be below 2**32")
    special = [name for name in (options.time, options.concept) if name is not None]
    if options.target in (*special, *options.drop, *options.categories):
        raise ValueError(f"column {options.target!r} is the target: no other option can name it")
    repeated = [name for name in (*options.drop, *options.categories) if name in special]
    repeated += [name for name in options.drop if name in options.categories]
    if repeated or len({*special}) < len(special):
        raise ValueError(f"column {(repeated or special)[0]!r} is named by two options")
    check_input_is_kept(options, NAMES)
    checkpoint_from(options)
    return StreamOptions(
        target=options.target,
        drop=options.drop,
        time=options.time,
        concept=options.concept,
        categories=options.categories,
        task=options.task,
        n_rows=options.rows,
    )


def _execute(settings: StreamOptions, options: Any) -> EvaluationRun:
    """Read the file and run all models over it."""
    file = read_stream(options.file, settings)
    batch = batch_for(len(file.y)) if options.batch is None else options.batch
    if batch + options.delay > len(file.y) // 2:
        raise ValueError(
            f"{len(file.y)} rows are too few for --batch {batch} and --delay {options.delay}: more than half of them "
            "would pass before anything is learned. Use smaller values"
        )
    return run_evaluation(file, batch, options.delay, options.seed, checkpoint_from(options))


def _build_files(run: EvaluationRun, options: Any) -> dict[str, bytes]:
    """Return the files of the report."""
    pandas = import_extra("pandas", "tables")
    names = ["expert", "kind", "row", "mean_weight", "mean_loss", "led"]
    experts = pandas.DataFrame(expert_rows(run), columns=names)
    columns = [(column.name, column.kind, column.description, len(column.features)) for column in run.file.columns]
    features = pandas.DataFrame(columns, columns=["column", "kind", "how", "features"])
    pictures = draw_pictures(run)
    page = render_report(
        "evaluate.html.jinja",
        options,
        title=f"Does memory help? {options.file.name}",
        pictures=pictures,
        facts=_facts(run, options),
        files=TABLES,
        **page_values(run),
    )
    texts = {
        "scores.csv": scores_frame(run).to_csv(float_format=CSV_NUMBERS),
        "scores.md": as_markdown(run),
        "curve.csv": run.result.curve().to_csv(float_format=CSV_NUMBERS),
        "memory.csv": experts.to_csv(index=False, float_format=CSV_NUMBERS),
        "features.csv": features.to_csv(index=False),
    }
    files = {name: text.encode() for name, text in texts.items()}
    return files | {f"{picture.name}.png": picture.png for picture in pictures} | {PAGE: page}


def _facts(run: EvaluationRun, options: Any) -> dict[str, str]:
    """Return what was run, by name."""
    file = run.file
    skipped = f"; {file.n_unlabelled:,} rows without a target were skipped" if file.n_unlabelled else ""
    delay = f"; targets come {options.delay} rows later" if options.delay else ""
    facts = {
        "File": f"{options.file.name}: {len(file.y):,} rows, {len(file.names)} features{skipped}",
        "Task": _task(file),
        "Batches": f"{run.batch} rows each{delay}",
        "Pool": ", ".join(name.removesuffix(" alone") for name in run.standalone),
        "Seed": str(options.seed),
    }
    if file.times is not None:
        facts |= {"First time": str(file.times[0]), "Last time": str(file.times[-1])}
    if options.drop:
        facts["Dropped columns"] = ", ".join(options.drop)
    return facts


def _task(file: StreamFile) -> str:
    task = f"classification of {len({*file.y.tolist()})} classes" if file.is_class else "regression"
    return f"{task}, because {file.reason}"


def _summarize(run: EvaluationRun, options: Any) -> str:
    """Return the text to print: how the file was read, the scores and the verdict."""
    file = run.file
    left_out = [column.name for column in file.columns if column.kind == "left out"]
    text = f"{options.file.name}: {len(file.y):,} rows, {len(file.names)} features; {_task(file)}"
    if file.n_unlabelled:
        text += f"\n{file.n_unlabelled:,} rows without a target were skipped"
    if left_out:
        text += f"\nleft out: {', '.join(left_out[:10])}{', …' if len(left_out) > 10 else ''} (reasons: features.csv)"
    return f"{text}\n\n{as_text(run)}"
