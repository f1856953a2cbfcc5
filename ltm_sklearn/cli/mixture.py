"""``ltm-sklearn mixture``: forecasts of several models in a file, combined, and a report on it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..forecasting import ExpertMixture, check_mixture
from ..losses import LOSSES
from ..recording import progress_bar
from ._common import (
    add_checkpoint_options,
    add_folder_options,
    check_apart,
    checkpoint_of,
    command_line,
    made_with,
    make_report,
)
from ._folder import PAGE
from ._forecast_file import read_forecasts
from ._mixture_page import page, period
from ._mixture_run import NUMBERS, Run, forecasts_frame, run_mixture, series_frame, weights_frame
from ._pictures import WORDS, draw_pictures

TABLES = {
    "weights.csv": "the weights, row by row, as issued",
    "forecasts.csv": "target, mixture and plain mean, row by row",
    "summary.csv": "what was lost",
    "summary.md": "the same, to paste",
    "series.csv": "what was lost in each series",
}
#: All files that a report may have.
NAMES = (PAGE, *TABLES, *(f"{name}.png" for name in WORDS))

DESCRIPTION = """\
Combines the forecasts of several models, a column each, with weights that follow who is right
now and remember who was right before; each row is forecast with what was known when it was
issued. Prints what the mixture, the models and their plain mean lost, and writes a report: one
page that opens in any browser, pictures, and tables of weights and forecasts row by row.

The file is CSV (also .gz) or Parquet, a row a time, in the order of time. All columns that no
option names are forecasts; an empty cell says that the model had none. Where the last rows have
no target yet, they are forecast.
"""
EPILOG = f"""\
example: day-ahead prices, 24 hours forecast together, judged by the absolute error

  ltm-sklearn mixture prices.csv --target price --time hour --block 24 --loss absolute_error --out report

Open report/{PAGE} then. Beside it lie {", ".join(TABLES)}
(with --series), and the pictures as PNG. An earlier report in the folder is replaced.

exit codes: 0 done, 1 the data are wrong or the report cannot be written, 2 wrong usage
"""


def add_to(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "mixture",
        usage="%(prog)s FILE --target COLUMN [options]",  # the file first: after --drop it would be one more column
        help="combine the forecasts in a CSV file, and write a report on it",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the forecasts")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="what came true")
    parser.add_argument(
        "--time",
        metavar="COLUMN",
        help="times, which must go up: as 2024-01-31 13:00, or numbers (default: rows are counted)",
    )
    parser.add_argument(
        "--block",
        metavar="N",
        default="1",
        help="rows that are forecast together, 24 for the hours of a day; or a column that changes where a block ends "
        "(default: 1)",
    )
    parser.add_argument(
        "--lag",
        metavar="N",
        type=int,
        default=0,
        help="rows that pass before a target is known, besides the block (default: 0)",
    )
    parser.add_argument(
        "--group", metavar="COLUMN", help="weights differ by this column, or by hour, weekday or month of the times"
    )
    parser.add_argument("--pooled", action="store_true", help="groups also learn from one another")
    parser.add_argument("--loss", default="squared_error", help=f"{', '.join(LOSSES)} (default: squared_error)")
    parser.add_argument("--series", metavar="COLUMN", help="which series a row is of: each has weights of its own")
    parser.add_argument("--show", metavar="SERIES", help="the series to draw (default: the one with the most rows)")
    parser.add_argument(
        "--drop", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns that are no forecasts"
    )
    parser.add_argument("--bias", action="store_true", help="correct what all models have wrong in common")
    add_checkpoint_options(parser)
    add_folder_options(parser)
    parser.set_defaults(run=run)


def run(options: Any) -> int:
    """Returns the exit code."""
    return make_report("mixture", options, NAMES, check=_mixture, work=_work, files=_files, told=_told)


def _work(mixture: ExpertMixture, options: Any) -> Run:
    """The mixture, run over the file."""
    file = read_forecasts(options.file, mixture, options.target, options.drop)
    if options.show is not None and (file.series is None or options.show not in file.series[file.known].tolist()):
        raise ValueError(f"there is no series {options.show!r} (--show) with targets")
    with progress_bar("mixture", True, int(file.known.sum())) as show:
        return run_mixture(file, mixture, show, options.show, checkpoint_of(options))


def _told(done: Run, options: Any) -> str:
    return str(done.summary)


def _mixture(options: Any) -> ExpertMixture:
    """Unfitted, with parameters that are checked."""
    mixture = ExpertMixture(
        loss=options.loss,
        lag=options.lag,
        block=int(options.block) if options.block.lstrip("-").isdecimal() else options.block,
        group=options.group,
        pooled=options.pooled,
        series=options.series,
        time=options.time,
        bias=options.bias,
    )
    check_mixture(mixture)
    special = [name for name in (options.series, options.time, options.group, mixture.block) if isinstance(name, str)]
    if options.target in (*special, *options.drop):
        raise ValueError(f"column {options.target!r} is the target: no other option can name it")
    doubled = [name for name in options.drop if name in special]
    if doubled:
        raise ValueError(f"column {doubled[0]!r} is dropped, and another option names it")
    if options.show is not None and options.series is None:
        raise ValueError("--show is for several series: say with --series which column tells them")
    check_apart(options, NAMES)
    checkpoint_of(options)
    return mixture


def _files(done: Run, options: Any) -> dict[str, bytes]:
    """The report."""
    by_series = None if done.file.series is None else series_frame(done)
    title = f"Mixture of forecasts: {options.file.name}"
    texts = {
        "weights.csv": weights_frame(done).to_csv(index=False, float_format=NUMBERS),
        "forecasts.csv": forecasts_frame(done, options.target).to_csv(index=False, float_format=NUMBERS),
        "summary.csv": done.summary.frame().to_csv(float_format=NUMBERS),
        "summary.md": f"{done.summary.n_rows} rows, {done.summary.loss_name} loss\n\n{done.summary.markdown()}\n",
    }
    if by_series is not None:
        texts["series.csv"] = by_series.to_csv(index=False, float_format=NUMBERS)
    pictures = draw_pictures(done.run_record)
    files = {name: text.encode() for name, text in texts.items()} | {f"{each.name}.png": each.png for each in pictures}
    tables = {name: words for name, words in TABLES.items() if name in texts}
    files[PAGE] = page(done, title, options.target, pictures, _facts(done, options), by_series, tables).encode()
    return files


def _facts(done: Run, options: Any) -> dict[str, str]:
    """What was run."""
    file, known = done.file, done.file.known
    chosen = {name: value for name, value in done.mixture.get_params().items() if name in vars(options)}
    set_to = [f"{name} {value}" for name, value in chosen.items() if value not in (None, False)]
    facts = {
        "Command": command_line(options),
        "File": f"{options.file.name}: {len(known):,} rows, {len(file.experts)} forecasts",
        "Target": f"{options.target}, known in {int(known.sum()):,} rows",
        "Parameters": ", ".join(set_to),
    }
    times = period(done, np.ones_like(known))
    if times is not None:
        facts |= {"First time": times[0], "Last time": times[1]}
    if options.drop:
        facts["Left out"] = ", ".join(options.drop)
    return facts | made_with()
