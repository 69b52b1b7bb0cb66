"""Dates and times read from texts and written as texts, by a format.

Formats are those of `layouts.py`; what is written knows no `%z`, for times are in UTC,
and `%f` has six digits.
"""

import re
from datetime import date, datetime
from functools import cache
from typing import Any, Final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.cells import Spelling, spelled_value
from sordino.expressions.fluent import Fluent
from sordino.expressions.layouts import Layout
from sordino.expressions.literals import literal
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

_MOMENTS: Final = ("date", "time")
_DAY: Final = {"Y": 4, "m": 2, "d": 2}
_CLOCK: Final = {"H": 2, "M": 2, "S": 2, "f": 6}
_LONGEST: Final = 100
_PERCENT: Final = re.compile(r"%(.?)", re.DOTALL)
_CAST: Final = 'Read a text as a date by .cast("date"), or by .strptime(...).'


@cache
def spelling_of(layout: str, to: str) -> Spelling:
    """Return how the cells of a format are spelled."""
    read = Layout.of("layout", layout, clock=to == "time")
    return Spelling(date=read) if to == "date" else Spelling(time=read)


def _read_facts(argument: Argument, layout: str, to: str) -> Column:
    """Return the facts of a text that is read."""
    facts.require_types("strptime", (argument,), ("text",), "Leave it out.")
    return facts.result(
        to, (argument,), lost=f"a text that is no {layout} has no value"
    )


def _read(text: Value, layout: str, to: str) -> Value:
    """Return the date or time of a text, if it is one."""
    return spelled_value(text, to=to, spelling=spelling_of(layout, to))


def _write_facts(argument: Argument, layout: str) -> Column:
    """Return the facts of a text that is written: a date has no clock."""
    facts.require_types("strftime", (argument,), _MOMENTS, _CAST)
    clock = {letter for letter in _PERCENT.findall(layout) if letter in _CLOCK}
    if clock:
        facts.require_types("strftime with a clock", (argument,), ("time",), _CAST)
    return facts.result("text", (argument,))


def _write(moment: Value, layout: str) -> Value:
    """Return a date or time as a text."""
    return _PERCENT.sub(lambda match: _written(moment, match[1]), layout)


def _written(moment: date | datetime, letter: str) -> str:
    """Return what one letter of a format stands for."""
    if letter == "%":
        return "%"
    parts = {"Y": moment.year, "m": moment.month, "d": moment.day}
    if isinstance(moment, datetime):
        parts |= {
            "H": moment.hour,
            "M": moment.minute,
            "S": moment.second,
            "f": moment.microsecond,
        }
    return str(parts[letter]).zfill((_DAY | _CLOCK)[letter])


STRPTIME: Final = Operation("strptime", _read_facts, _read, copies=5)
STRFTIME: Final = Operation("strftime", _write_facts, _write)

OPERATIONS: Final = (STRPTIME, STRFTIME)


def strptime(self: Fluent, layout: str, to: str = "time") -> Fluent:
    """Return the date or time that a text tells in a format; else it is missing.

    >>> from sordino.expressions.language import col
    >>> day = col("x").strptime("%d.%m.%Y", "date")
    >>> day.value({"x": "31.1.2026"}), day.value({"x": "30.2.2026"})
    (datetime.date(2026, 1, 31), None)
    """
    kind = _validate.choice(_MOMENTS, to=to)
    spelling_of(_checked(layout), kind)  # refuses what tells no date
    return self.call(STRPTIME, self, layout=layout, to=kind)


def strftime(self: Fluent, layout: str) -> Fluent:
    """Return a date or a time as a text in a format.

    >>> from sordino.expressions.language import col
    >>> col("x").strftime("%Y-%m").value({"x": date(2026, 1, 31)})
    '2026-01'
    """
    known = {*_DAY, *_CLOCK, "%"}
    given = _checked(layout)
    if not set(_PERCENT.findall(given)) <= known:
        raise InvalidParameter(
            "layout",
            layout,
            "has a part that is not understood",
            f"Use only {', '.join(f'%{letter}' for letter in sorted(known))}.",
        )
    return self.call(STRFTIME, self, layout=given)


def _checked(layout: Any) -> str:
    """Return a layout that is a text of a readable length."""
    read = literal(layout) if isinstance(layout, str) else None
    if read is None or not 0 < len(read.constant) <= _LONGEST:
        raise InvalidParameter(
            "layout", layout, "must be text of 1 to 100 characters", 'Try "%Y-%m-%d".'
        )
    return str(read.constant)
