"""``ltm-sklearn evaluate``: does memory help on a stream in a file?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .._optional import import_extra
from ._common import (
    add_checkpoint_options,
    add_folder_options,
    check_apart,
    checkpoint_of,
    command_line,
    made_with,
    make_report,
)
from ._evaluate_page import markdown, page, text
from ._evaluate_pictures import WORDS, draw_pictures
from ._evaluate_run import Run, batch_for, memory_rows, run_evaluation, scores_frame
from ._folder import PAGE
from ._stream_file import SelectedExperts, StreamFile, read_stream

TABLES = {
    "scores.csv": "scores of all models, with the differences and their intervals",
    "scores.md": "the verdict and the table, to paste",
    "curve.csv": "accuracy or mean absolute error of each block of rows",
    "memory.csv": "the experts at the end: snapshots, their weights, how long they led",
    "features.csv": "the columns of the file, and how they were used",
}
#: All files that a report may have.
NAMES = (PAGE, *TABLES, *(f"{name}.png" for name in WORDS))
NUMBERS = "%.10g"

DESCRIPTION = """\
Does memory help on my data? Goes once through a file of rows with a target, in their order, and
runs side by side: the default pool of models with long-term memory, the same pool without, each
of its models alone, and two baselines that look at no feature. Each batch of rows is predicted,
scored, and then learned. Prints a table and a verdict with its uncertainty, and writes a report:
one page that opens in any browser, pictures, and tables.

The file is CSV (also .gz) or Parquet, the oldest row first. All columns that no option names are
features: numbers as they are, text as columns of 0 and 1, dates as hour, weekday and month; what
is missing is filled with the last known value. Rows without a target are passed over.
"""
EPILOG = f"""\
examples:

  ltm-sklearn evaluate stream.csv --target y
  ltm-sklearn evaluate load.csv.gz --target load --time hour --delay 24 --drop station --out load

Open report/{PAGE} then. Beside it lie the pictures as PNG, and
{", ".join(TABLES)}.
An earlier report in the folder is replaced.

20,000 rows with ten features take a minute or two on one core; larger batches are faster.

exit codes: 0 done, 1 the data are wrong or the report cannot be written, 2 wrong usage, 130 Ctrl-C
"""


def add_to(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "evaluate",
        usage="%(prog)s FILE --target COLUMN [options]",  # the file first: after --drop it would be one more column
        help="does memory help on the stream in a CSV file? A table, a verdict, and a report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the rows, in the order of time")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="what is to be predicted")
    parser.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="auto: classification if the target is text, true and false, or at most 20 different whole numbers",
    )
    parser.add_argument(
        "--time",
        metavar="COLUMN",
        help="times, which must not go back: as 2024-01-31 13:00, or numbers. Of dates, hour, weekday and month are "
        "features (default: rows are counted)",
    )
    parser.add_argument(
        "--concept", metavar="COLUMN", help="known regimes, no feature: adds scores after changes and returns"
    )
    parser.add_argument(
        "--drop", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns that are no features"
    )
    parser.add_argument(
        "--categories",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="columns of numbers that are but names, as of stations",
    )
    parser.add_argument(
        "--batch",
        metavar="N",
        type=int,
        help="rows that are predicted together, then learned together (default: 10, and more for more than 5,000 rows)",
    )
    parser.add_argument(
        "--delay",
        metavar="N",
        type=int,
        default=0,
        help="rows that pass before a target is known, besides the batch (default: 0)",
    )
    parser.add_argument("--rows", metavar="N", type=int, help="go through the first N rows only")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of models that draw (default: 0)")
    add_checkpoint_options(parser)
    add_folder_options(parser)
    parser.set_defaults(run=run)


def run(options: Any) -> int:
    """Returns the exit code."""
    return make_report("evaluate", options, NAMES, check=_asked, work=_work, files=_files, told=_told)


def _work(asked: SelectedExperts, options: Any) -> Run:
    """The run over the file."""
    file = read_stream(options.file, asked)
    batch = batch_for(len(file.y)) if options.batch is None else options.batch
    if batch + options.delay > len(file.y) // 2:
        raise ValueError(
            f"with batches of {batch} and a delay of {options.delay}, {len(file.y)} rows are too few: half of them "
            "would pass before anything is learned"
        )
    return run_evaluation(file, batch, options.delay, options.seed, checkpoint_of(options))


def _asked(options: Any) -> SelectedExperts:
    """The options, checked as far as they can be without the file."""
    for name, least in (("batch", 1), ("delay", 0), ("rows", 1), ("seed", 0)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise ValueError(f"--{name} {value}: it must be {least} or more")
    if options.seed >= 2**32:
        raise ValueError(f"--seed {options.seed}: it must be below 2 to the power of 32")
    special = [name for name in (options.time, options.concept) if name is not None]
    if options.target in (*special, *options.drop, *options.categories):
        raise ValueError(f"column {options.target!r} is the target: no other option can name it")
    doubled = [name for name in (*options.drop, *options.categories) if name in special]
    doubled += [name for name in options.drop if name in options.categories]
    if doubled or len({*special}) < len(special):
        raise ValueError(f"column {(doubled or special)[0]!r} is named by two options")
    check_apart(options, NAMES)
    checkpoint_of(options)
    return SelectedExperts(
        options.target, options.drop, options.time, options.concept, options.categories, options.task, options.rows
    )


def _files(done: Run, options: Any) -> dict[str, bytes]:
    """The report."""
    pandas = import_extra("pandas", "tables")
    names = ["expert", "kind", "row", "mean_weight", "mean_loss", "led"]
    memory = pandas.DataFrame(memory_rows(done), columns=names)
    columns = [(each.name, each.kind, each.what, len(each.features)) for each in done.file.columns]
    features = pandas.DataFrame(columns, columns=["column", "kind", "how", "features"])
    texts = {
        "scores.csv": scores_frame(done).to_csv(float_format=NUMBERS),
        "scores.md": markdown(done),
        "curve.csv": done.result.curve().to_csv(float_format=NUMBERS),
        "memory.csv": memory.to_csv(index=False, float_format=NUMBERS),
        "features.csv": features.to_csv(index=False),
    }
    pictures = draw_pictures(done)
    files = {name: words.encode() for name, words in texts.items()} | {
        f"{each.name}.png": each.png for each in pictures
    }
    title = f"Does memory help? {options.file.name}"
    files[PAGE] = page(done, title, pictures, _facts(done, options), TABLES).encode()
    return files


def _facts(done: Run, options: Any) -> dict[str, str]:
    """What was run."""
    file = done.file
    unlabelled = f"; {file.n_unlabelled:,} rows without a target were passed over" if file.n_unlabelled else ""
    facts = {
        "Command": command_line(options),
        "File": f"{options.file.name}: {len(file.y):,} rows, {len(file.names)} features{unlabelled}",
        "Task": f"{_task(file)}, as {file.why}",
        "Batches": f"of {done.batch} rows; targets come {options.delay} rows later"
        if options.delay
        else f"of {done.batch} rows",
        "Pool": ", ".join(name.removesuffix(" alone") for name in done.experts),
        "Seed": str(options.seed),
    }
    if file.times is not None:
        facts |= {"First time": str(file.times[0]), "Last time": str(file.times[-1])}
    if options.drop:
        facts["Left out"] = ", ".join(options.drop)
    return facts | made_with()


def _task(file: StreamFile) -> str:
    if not file.is_class:
        return "regression"
    return f"classification of {len({*file.y.tolist()})} classes"


def _told(done: Run, options: Any) -> str:
    """What the file was taken for, and the verdict."""
    file = done.file
    left_out = [each.name for each in file.columns if each.kind == "left out"]
    words = f"{options.file.name}: {len(file.y):,} rows, {len(file.names)} features; {_task(file)}, as {file.why}"
    if file.n_unlabelled:
        words += f"\n{file.n_unlabelled:,} rows have no target and were passed over"
    if left_out:
        words += f"\nleft out: {', '.join(left_out[:10])}{', …' if len(left_out) > 10 else ''} (features.csv says why)"
    return f"{words}\n\n{text(done)}"
