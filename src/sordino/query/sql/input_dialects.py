"""What differs between the dialects that a text may be written in."""

from dataclasses import dataclass
from typing import Any, Final, final

from sordino import _validate

_SPACES: Final = "\u0020\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))


@final
@dataclass(frozen=True)
class InputDialect:
    """The habits of one database, as far as they decide what a text means."""

    name: str
    """What sqlglot calls it."""
    decimals: bool
    """Whether 1.5 is a decimal number; else it is a double."""
    whole_division: bool
    """Whether the quotient of integers is cut towards zero."""
    concat_skips: bool
    """Whether CONCAT leaves out what is missing."""
    extremes_skip: bool
    """Whether GREATEST and LEAST leave out what is missing."""
    dates_stay: bool
    """Whether the start of a period of a date is a date; else a time."""
    days_subtract: bool
    """Whether the difference of two dates is a number of days."""
    halves_away: bool
    """Whether ROUND takes halves away from zero."""
    truths_join: bool
    """Whether CONCAT writes a truth as true or false."""
    whole_seconds: bool
    """Whether the seconds of a time have no fraction."""
    trimmed: str
    """What TRIM takes away."""
    zoned_times: bool
    """Whether AT TIME ZONE shows a time in UTC as the clocks of a zone do."""
    escape: str | None
    """What LIKE escapes wildcards by, unasked."""


DIALECTS: Final[dict[str, InputDialect]] = {
    "duckdb": InputDialect(
        "duckdb",
        decimals=True,
        whole_division=False,
        concat_skips=True,
        extremes_skip=True,
        dates_stay=False,
        days_subtract=True,
        halves_away=True,
        truths_join=True,
        whole_seconds=True,
        trimmed=_SPACES + "\u202f\u205f\u3000",
        zoned_times=False,
        escape=None,
    ),
    "postgres": InputDialect(
        "postgres",
        decimals=True,
        whole_division=True,
        concat_skips=True,
        extremes_skip=True,
        dates_stay=False,
        days_subtract=True,
        halves_away=False,
        truths_join=False,
        whole_seconds=False,
        trimmed=" ",
        zoned_times=False,
        escape="\\",
    ),
    "spark": InputDialect(
        "spark",
        decimals=True,
        whole_division=False,
        concat_skips=False,
        extremes_skip=True,
        dates_stay=False,
        days_subtract=False,
        halves_away=True,
        truths_join=True,
        whole_seconds=True,
        trimmed=" ",
        zoned_times=True,
        escape="\\",
    ),
    "bigquery": InputDialect(
        "bigquery",
        decimals=False,
        whole_division=False,
        concat_skips=False,
        extremes_skip=False,
        dates_stay=True,
        days_subtract=False,
        halves_away=True,
        truths_join=True,
        whole_seconds=True,
        trimmed=_SPACES + "\t\n\v\f\r\u0085\u2028\u2029\u202f\u205f\u3000",
        zoned_times=True,
        escape="\\",
    ),
}


def input_dialect(name: Any) -> InputDialect:
    """Return a dialect by its name, or refuse one that is not read."""
    return DIALECTS[_validate.choice(tuple(DIALECTS), dialect=name)]
