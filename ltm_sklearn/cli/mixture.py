"""``ltm-sklearn mixture``: combine the forecasts of several models in a file, and write a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..forecasting import ExpertMixture, check_mixture
from ..losses import LOSSES
from ..recording import progress_bar
from ._forecast_file import read_forecasts
from ._mixture_report import CAPTIONS, draw_pictures, page_values, period
from ._mixture_run import MixtureRun, forecasts_frame, run_mixture, series_frame, weights_frame
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

#: Tables of the report by name of the file.
TABLES = {
    "weights.csv": "the weights row by row, as issued",
    "forecasts.csv": "target, mixture and plain mean row by row",
    "summary.csv": "losses of the mixture, its experts and references",
    "summary.md": "the same losses as Markdown",
    "series.csv": "losses of each series",
}
#: Names of all files that a report may have.
NAMES = (PAGE, *TABLES, *(f"{name}.png" for name in CAPTIONS))

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

  ltm-sklearn mixture prices.csv --target price --time hour --block 24 --loss absolute_error --out report

Then open report/{PAGE}. Beside it lie {", ".join(TABLES)}
(with --series), and the pictures as PNG. An earlier report in the folder is replaced.

exit codes: 0 done, 1 the data are wrong or the report cannot be written, 2 wrong usage, 130 Ctrl-C
"""


def add_to(commands: Any) -> None:
    """Add the parser of this command."""
    parser = commands.add_parser(
        "mixture",
        usage="%(prog)s FILE --target COLUMN [options]",  # the file first: after --drop it would be one more column
        help="combine the forecasts in a CSV file, and write a report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the forecasts, ordered by time")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="the column of the observed values")
    parser.add_argument(
        "--time",
        metavar="COLUMN",
        help="times, which must increase: dates as 2024-01-31 13:00, or numbers (default: row numbers)",
    )
    parser.add_argument(
        "--block",
        metavar="N",
        default="1",
        help="rows that are forecast together, 24 for the hours of a day; or a column whose value changes from block "
        "to block (default: 1)",
    )
    parser.add_argument(
        "--lag",
        metavar="N",
        type=int,
        default=0,
        help="rows by which targets are late, in addition to the block (default: 0)",
    )
    parser.add_argument(
        "--group",
        metavar="COLUMN",
        help="a column with groups of rows that have weights of their own; or hour, weekday or month of the times",
    )
    parser.add_argument("--pooled", action="store_true", help="groups also learn from each other")
    parser.add_argument("--loss", default="squared_error", help=f"{', '.join(LOSSES)} (default: squared_error)")
    parser.add_argument(
        "--series", metavar="COLUMN", help="the column with the series of a row; each series has weights of its own"
    )
    parser.add_argument(
        "--show", metavar="SERIES", help="the series in the pictures (default: the one with the most rows)"
    )
    parser.add_argument(
        "--drop", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns that are not forecasts"
    )
    parser.add_argument("--bias", action="store_true", help="correct an error that all models share")
    add_checkpoint_options(parser)
    add_folder_options(parser)
    parser.set_defaults(run=run)


def run(options: Any) -> int:
    """Run the command; return its exit code."""
    return make_report(
        "mixture",
        options,
        NAMES,
        validate=_validate,
        execute=_execute,
        build_files=_build_files,
        summarize=lambda run, options: str(run.summary),
    )


def _validate(options: Any) -> ExpertMixture:
    """Check the options as far as is possible without the file; return the mixture, which is not fitted."""
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
    dropped = [name for name in options.drop if name in special]
    if dropped:
        raise ValueError(f"column {dropped[0]!r} is dropped (--drop), but another option names it")
    if options.show is not None and options.series is None:
        raise ValueError("--show needs --series COLUMN, the column of the series")
    check_input_is_kept(options, NAMES)
    checkpoint_from(options)
    return mixture


def _execute(mixture: ExpertMixture, options: Any) -> MixtureRun:
    """Read the file and run the mixture over it."""
    file = read_forecasts(options.file, mixture, options.target, options.drop)
    if options.show is not None and (file.series is None or options.show not in file.series[file.known].tolist()):
        raise ValueError(f"there is no series {options.show!r} with known targets (--show)")
    with progress_bar("mixture", True, int(file.known.sum())) as show_progress:
        return run_mixture(file, mixture, show_progress, options.show, checkpoint_from(options))


def _build_files(run: MixtureRun, options: Any) -> dict[str, bytes]:
    """Return the files of the report."""
    by_series = None if run.file.series is None else series_frame(run)
    texts = {
        "weights.csv": weights_frame(run).to_csv(index=False, float_format=CSV_NUMBERS),
        "forecasts.csv": forecasts_frame(run, options.target).to_csv(index=False, float_format=CSV_NUMBERS),
        "summary.csv": run.summary.frame().to_csv(float_format=CSV_NUMBERS),
        "summary.md": f"{run.summary.n_rows} rows, {run.summary.loss_name} loss\n\n{run.summary.markdown()}\n",
    }
    if by_series is not None:
        texts["series.csv"] = by_series.to_csv(index=False, float_format=CSV_NUMBERS)
    pictures = draw_pictures(run.run_record)
    page = render_report(
        "mixture.html.jinja",
        options,
        title=f"Mixture of forecasts: {options.file.name}",
        pictures=pictures,
        facts=_facts(run, options),
        files={name: content for name, content in TABLES.items() if name in texts},
        **page_values(run, by_series, options.target),
    )
    files = {name: text.encode() for name, text in texts.items()}
    return files | {f"{picture.name}.png": picture.png for picture in pictures} | {PAGE: page}


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
