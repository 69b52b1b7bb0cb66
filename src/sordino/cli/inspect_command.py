"""What `sordino inspect` does: it shows a table to its curator, and nobody else."""

import argparse
import json
from typing import Any, Final

from sordino.cli.limit_options import (
    add_limit_options,
    given_limits,
    name_and_value,
)
from sordino.cli.terminal import write
from sordino.session.inspection import inspect
from sordino.sources.csv_format import Csv
from sordino.units import AddRowsWithID

EXAMPLE: Final = "sordino inspect visits.csv --column patient=i64 --id patient"
WHAT: Final = (
    "Show how the cells of a table are read, and what limits would cut. Exact counts "
    "of private rows: for the curator's eyes only."
)
_DIALECT: Final = {
    "delimiter": "what stands between fields (,); \\t for a tab",
    "quote": 'what stands around fields ("); none for nothing',
    "encoding": "utf-8, cp1252, latin-1, utf-16, ...",
    "decimal": ". or ,",
    "date": "the format of dates, such as %%d.%%m.%%Y",
    "time": "the format of times, such as %%d.%%m.%%Y %%H:%%M",
    "true": "a word for true",
    "false": "a word for false",
    "null": "what stands for a missing value, such as NA",
}
"""How text files are written, each as `sordino.Csv` takes it."""
_SIGNS: Final[dict[str, str | None]] = {"\\t": "\t", "none": None}
"""Words for what is hard to write on a command line."""


def add_inspect_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "paths", nargs="+", metavar="FILE", help="Parquet or text files"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        type=name_and_value,
        metavar="NAME=TYPE",
        help="a column and its type: i64, f64, text, bool, date or time",
    )
    parser.add_argument("--id", metavar="COLUMN", help="the column that marks people")
    add_limit_options(parser, "a limit to try")
    for name, what in _DIALECT.items():
        parser.add_argument(f"--{name}", help=what)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Print what a table holds."""
    inspection = inspect(
        _source(arguments),
        protects=None if arguments.id is None else AddRowsWithID(arguments.id),
        columns=dict(arguments.column),
        limits=list(given_limits(arguments)),
    )
    text = (
        json.dumps(inspection.to_dict(), indent=2)
        if arguments.json
        else str(inspection)
    )
    write(text)


def _source(arguments: argparse.Namespace) -> Any:
    """Return the files, with the format options that were given."""
    options = {name: vars(arguments)[name] for name in _DIALECT}
    dialect = {name: text for name, text in options.items() if text is not None}
    if not dialect:
        return arguments.paths
    signs = {name: _SIGNS.get(text, text) for name, text in dialect.items()}
    return Csv(arguments.paths, **signs)
