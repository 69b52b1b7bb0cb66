"""One release of a job file: what is asked, at what price, and how often."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, final

from sordino.constraints import AbstractConstraint
from sordino.errors import InvalidJob
from sordino.job.budgets import read_budget
from sordino.job.outputs import FORMATS, USUAL
from sordino.job.personal_limits import read_limits
from sordino.job.schedule import SCHEDULES, Schedule
from sordino.job.section import Section
from sordino.losses.base import Budget

_NAMES: Final = (
    *("sql", "query", "budget", "limits", "bounds", "keys", "dialect"),
    *("confidence", "schedule", "out", "why"),
)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@final
@dataclass(frozen=True)
class PlannedRelease:
    """A release as the file has it. Its question is a text of SQL, or a function."""

    name: str
    place: str
    sql: str | None
    function: tuple[str, str] | None
    """The Python file and the name of a function in it."""
    budget: Budget | None
    """None where the text of SQL states it."""
    limits: tuple[AbstractConstraint, ...]
    bounds: Mapping[str, Any]
    keys: Mapping[str, Any]
    dialect: str
    confidence: Any
    schedule: Schedule | None
    formats: tuple[str, ...]
    why: str

    def period(self, day: date) -> str:
        """Return what a run on a day is a release of: its period, or "once"."""
        return "once" if self.schedule is None else self.schedule.period(day)

    def key(self, period: str) -> str:
        """Return under which key the ledger keeps the answer of a period."""
        return f"{self.name}/{check_period(period)}"

    def stem(self, folder: Path, period: str) -> Path:
        """Return where its files begin."""
        return folder / f"{self.name}-{check_period(period)}"


def check_period(period: str) -> str:
    """Return the name of a period, which is part of a file's name.

    >>> check_period("2026-11")
    '2026-11'
    """
    if _NAME.fullmatch(period) is None:
        raise InvalidJob(
            "--key",
            f"must be letters, digits, and . _ - between them, got {period!r}",
            "Try --key 2026-11.",
        )
    return period


def question_in_sql(
    text: str,
    budget: Budget | None,
    said: Mapping[str, str],
    like: PlannedRelease | None,
) -> PlannedRelease:
    """Return a question that is not in the file, asked with what a release has."""
    return PlannedRelease(
        name="sql",
        place="the statement",
        sql=text,
        function=None,
        budget=budget,
        limits=() if like is None else like.limits,
        bounds={} if like is None else like.bounds,
        keys={} if like is None else like.keys,
        dialect=said["dialect"],
        confidence="0.95" if like is None else like.confidence,
        schedule=None,
        formats=(),
        why=said["why"],
    )


def read_planned_releases(root: Section) -> dict[str, PlannedRelease]:
    """Return the releases of a job by name."""
    sections = root.sections("releases")
    return {name: _release(name, said) for name, said in sections.items()}


def _release(name: str, said: Section) -> PlannedRelease:
    """Return one release, whose name becomes part of the names of files."""
    if _NAME.fullmatch(name) is None:
        raise InvalidJob(
            said.place, "must be named by letters, digits, . _ -", "Try wards-by-age."
        )
    said.refuse_others(*_NAMES)
    if ("sql" in said) == ("query" in said):
        raise InvalidJob(
            said.place,
            "must have one question, sql or query",
            'Write sql = "SELECT ..." or query = "queries.py:wards".',
        )
    return PlannedRelease(
        name,
        said.place,
        sql=said.text("sql") if "sql" in said else None,
        function=_function(said) if "query" in said else None,
        budget=read_budget(said, "budget") if "budget" in said else None,
        limits=tuple(read_limits(said)),
        bounds=_bounds(said),
        keys=said.section("keys").values,
        dialect=said.text("dialect", "duckdb"),
        confidence=said.values.get("confidence", "0.95"),
        schedule=_schedule(said),
        formats=_formats(said),
        why=said.text("why", ""),
    )


def _function(said: Section) -> tuple[str, str]:
    """Return the file and the function of `queries.py:wards`."""
    file, _, function = said.text("query").rpartition(":")
    beside = {"limits", "bounds", "keys", "dialect"} & set(said)
    if not file.endswith(".py") or not function.isidentifier():
        raise said.wrong(
            "query", "must be FILE.py:FUNCTION", 'Write query = "queries.py:wards".'
        )
    if beside:
        raise said.wrong(
            min(beside), "belongs to SQL", "Say it in the function instead."
        )
    return file, function


def _bounds(said: Section) -> dict[str, Any]:
    """Return the bounds of columns, each a pair."""
    bounds = said.section("bounds")
    for name in bounds:
        pair = bounds.value(name)
        if not isinstance(pair, list) or len(pair) != 2:
            raise bounds.wrong(name, "must be two values", f"Write {name} = [0, 30].")
    return {name: tuple(bounds.value(name)) for name in bounds}


def _schedule(said: Section) -> Schedule | None:
    """Return how often it is made; None is once."""
    name = said.text("schedule", "once")
    if name != "once" and name not in SCHEDULES:
        raise said.wrong(
            "schedule",
            f"must be once, {', '.join(SCHEDULES)}",
            'Write schedule = "monthly".',
        )
    return SCHEDULES.get(name)


def _formats(said: Section) -> tuple[str, ...]:
    """Return the endings of the files that it becomes."""
    formats = said.texts("out", USUAL)
    if not formats or not set(formats) <= set(FORMATS):
        raise said.wrong(
            "out",
            f"must be a list of {', '.join(FORMATS)}",
            'Write out = ["parquet", "csv"].',
        )
    return tuple(dict.fromkeys(formats))
