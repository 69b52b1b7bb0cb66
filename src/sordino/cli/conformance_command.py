"""What `sordino conformance` does: it holds an engine against what is meant."""

import argparse
import json
from collections import Counter
from typing import Any, Final

from sordino.cli.terminal import say, write
from sordino.conformance.verdicts import Verdict, verdicts
from sordino.engines.doors import engine_to_try
from sordino.engines.sql.engine import SQLEngine
from sordino.errors import InvalidParameter

EXAMPLE: Final = "sordino conformance --engine postgresql://reader@host/base"
WHAT: Final = (
    "Ask an engine several hundred questions about small tables of ours, and tell "
    "whether it computes what is meant. Your tables are not touched, and nothing is "
    "written to a server."
)
DIFFERS: Final = 1
"""The exit code of an engine that computes something else."""
_LONGEST: Final = 1000


def add_conformance_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=hold_engine)
    parser.add_argument(
        "--engine",
        default="duckdb",
        metavar="ENGINE",
        help="a name (duckdb), or the address of a server "
        "(postgresql://role@host/base)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def hold_engine(arguments: argparse.Namespace) -> int:
    """Print the verdict on an engine, and return whether it conforms as exit code."""
    cases = list(verdicts(_engine_to_hold(arguments.engine)))
    wrong = [verdict for verdict in cases if not verdict.conforms]
    (_show_json if arguments.json else _show)(cases, wrong)
    return DIFFERS if wrong else 0


def _engine_to_hold(name: str) -> SQLEngine:
    """Return an engine that can be held against what is meant."""
    match engine_to_try(name):
        case SQLEngine() as engine:
            return engine
        case _:
            raise InvalidParameter(
                "engine", name, "is what the others are held against", "Name another."
            )


def _counts(cases: list[Verdict]) -> dict[str, int]:
    """Return how many cases ended in which way."""
    counts = Counter(verdict.outcome for verdict in cases)
    return {
        outcome: counts[outcome]
        for outcome in ("agrees", "refuses", "differs", "fails")
    }


def _show(cases: list[Verdict], wrong: list[Verdict]) -> None:
    """Print counts, reasons of refusals, what is wrong, and the verdict."""
    counts = ", ".join(f"{count} {name}" for name, count in _counts(cases).items())
    write(f"{len(cases)} cases: {counts}")
    reasons = Counter(verdict.text for verdict in cases if verdict.outcome == "refuses")
    for reason, count in reasons.most_common():
        say(f"refused {count} times: {reason}")
    for verdict in wrong:
        say(f"{verdict.outcome}: {verdict.name}: {verdict.text[:_LONGEST]}")
    write("it conforms" if not wrong else "IT DOES NOT CONFORM: do not use it")


def _show_json(cases: list[Verdict], wrong: list[Verdict]) -> None:
    """Print the same as JSON."""
    shown: dict[str, Any] = {
        "conforms": not wrong,
        "cases": _counts(cases),
        "refused": {
            verdict.name: verdict.text
            for verdict in cases
            if verdict.outcome == "refuses"
        },
        "wrong": {verdict.name: verdict.text for verdict in wrong},
    }
    write(json.dumps(shown, indent=2))
