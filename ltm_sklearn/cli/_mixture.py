"""``ltm-sklearn mixture``: combine the forecasts of several models in a file, and write a report."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..forecasting import ExpertMixture, check_mixture
from ..losses import LOSSES
from ._forecast_file import columns_of, read_forecasts
from ._mixture_report import PICTURES, draw_pictures, page_values, period
from ._mixture_run import MixtureRun, forecasts_frame, run_mixture, series_frame, weights_frame
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

#: Tables of the report; the template says what they hold.
TABLES = ("weights.csv", "forecasts.csv", "summary.csv", "summary.md", "series.csv")
#: Names of all files that a report may have.
NAMES = (PAGE, *TABLES, *(f"{name}.png" for name in PICTURES))

DESCRIPTION = """\
Combine the forecasts of several models, one column each. The weights follow the best expert of the
current regime, and return quickly to an expert that was accurate in an earlier regime. Each row is
forecast with what was known when it was issued. The command prints the losses of the mixture, of
the models and of their plain mean, and writes a report: one HTML page that needs no network,
pictures, and tables of weights and forecasts row by row.

The file is CSV (also compressed) or Parquet, ordered by time. All columns that no option names are
forecasts; an empty cell means that the model has no forecast. Last rows without a target are
forecast.
"""
EPILOG = f"""\
example: day-ahead prices, 24 hours forecast together, scored by the absolute error

  ltm-sklearn mixture prices.csv --target price --time hour --block 24 --loss absolute_error

Then open report/{PAGE}. Beside it lie the pictures as PNG, and
{", ".join(TABLES)} (with --series).
An earlier report in the folder is replaced.

exit codes: 0 done, 1 the data are wrong or the report cannot be written, 2 wrong usage, 130 Ctrl-C
"""


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of this command."""
    parser = new_report_parser(
        commands,
        "mixture",
        "the column of the observed values",
        help="combine the forecasts in a CSV file, and write a report",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "--time",
        metavar="COLUMN",
        help="times, which must increase: dates as 2024-01-31 13:00, or numbers (default: row numbers)",
    )
    add(
        "--block",
        metavar="N",
        default="1",
        help="rows that are forecast together, 24 for the hours of a day; or a column whose value changes from block "
        "to block (default: 1)",
    )
    add(
        "--lag",
        metavar="N",
        type=int,
        default=0,
        help="rows by which targets are late, in addition to the block (default: 0)",
    )
    add(
        "--group",
        metavar="COLUMN",
        help="a column with groups of rows that have weights of their own; or hour, weekday or month of the times",
    )
    add("--pooled", action="store_true", help="groups also learn from each other")
    add("--loss", default="squared_error", help=f"{', '.join(LOSSES)} (default: squared_error)")
    add("--series", metavar="COLUMN", help="the column with the series of a row; each series has weights of its own")
    add("--show", metavar="SERIES", help="the series in the pictures (default: the one with the most rows)")
    add("--bias", action="store_true", help="correct an error that all models share")
    add_report_options(parser)
    return parser


def run(options: Any) -> None:
    """Run the command."""
    mixture = _new_mixture(options)
    checkpoint = checkpoint_of(options)
    check_report_can_be_written(options, NAMES)
    file = read_forecasts(options.file, mixture, options.target, options.drop)
    run = run_mixture(file, mixture, options.show, checkpoint)
    by_series = None if file.series is None else series_frame(run)
    tables = {
        "weights.csv": weights_frame(run),
        "forecasts.csv": forecasts_frame(run, options.target),
        "summary.csv": run.summary.frame().reset_index(),
        "summary.md": f"{run.summary.n_rows} rows, {run.summary.loss_name} loss\n\n{run.summary.markdown()}\n",
    }
    write_report(
        "mixture.html.jinja",
        options,
        NAMES,
        title=f"Mixture of forecasts: {options.file.name}",
        tables=tables if by_series is None else tables | {"series.csv": by_series},
        pictures=draw_pictures(run.run_record),
        facts=_facts(run, options),
        **page_values(run, by_series, options.target),
    )
    print_safely(f"{run.summary}\n\nreport: {options.out / PAGE}")


def _new_mixture(options: Any) -> ExpertMixture:
    """Return the mixture that the options describe, which is not fitted."""
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
    try:
        check_mixture(mixture)
    except ValueError as error:
        raise UsageError(str(error)) from None
    check_named_once(columns_of(mixture, options.target, options.drop))
    if options.show is not None and options.series is None:
        raise UsageError("--show needs --series COLUMN, the column of the series")
    return mixture


def _facts(run: MixtureRun, options: Any) -> dict[str, str]:
    """Return what was run, by name."""
    file, known = run.file, run.file.known
    chosen = {name: value for name, value in run.mixture.get_params().items() if name in vars(options)}
    facts = {
        "File": f"{options.file.name}: {len(known):,} rows, {len(file.experts)} forecasts",
        "Target": f"{options.target}, known in {int(known.sum()):,} rows",
        "Parameters": ", ".join(f"{name} {value}" for name, value in chosen.items() if value not in (None, False)),
    }
    times = period(run, np.ones_like(known))
    if times is not None:
        facts |= {"First time": times[0], "Last time": times[1]}
    if options.drop:
        facts["Dropped columns"] = ", ".join(options.drop)
    return facts
