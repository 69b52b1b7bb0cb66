"""Limits on what one person contributes as options: `--max-rows-per-id 5`, ..."""

import argparse
from collections.abc import Iterator
from itertools import starmap

from sordino.constraints import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)


def add_limit_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add an option for each limit; each may be repeated."""
    parser.add_argument(
        "--max-rows-per-id",
        action="append",
        default=[],
        type=_number,
        metavar="N",
        help=what,
    )
    for name in ("--max-groups-per-id", "--max-rows-per-group-per-id"):
        parser.add_argument(
            name,
            action="append",
            default=[],
            type=_limit,
            metavar="COLUMN=N",
            help=what,
        )


def given_limits(arguments: argparse.Namespace) -> Iterator[AbstractConstraint]:
    """Yield the limits that are given."""
    yield from map(MaxRowsPerID, arguments.max_rows_per_id)
    yield from starmap(MaxGroupsPerID, arguments.max_groups_per_id)
    yield from starmap(MaxRowsPerGroupPerID, arguments.max_rows_per_group_per_id)


def name_and_value(text: str) -> tuple[str, str]:
    """Split NAME=VALUE in two; argparse refuses anything else."""
    name, sign, value = text.rpartition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    return name, value


def _number(text: str) -> int:
    """Return a limit; argparse refuses anything else."""
    if not text.isdecimal() or len(text) > 15:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}")
    return int(text)


def _limit(text: str) -> tuple[str, int]:
    """Return COLUMN=N in two."""
    name, value = name_and_value(text)
    return name, _number(value)
