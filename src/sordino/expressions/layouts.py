"""How dates and times are spelled: `%d.%m.%Y %H:%M`, as patterns and their parts.

| directive | what it stands for |
|---|---|
| `%Y` | a year, four digits, 0001 to 9999 |
| `%m`, `%d` | a month and a day |
| `%H`, `%M`, `%S` | the clock, hours from 0 to 23 |
| `%f` | a fraction of a second, up to nine digits |
| `%z` | the distance from UTC: `+02:00`, `+0200`, `+02`, `Z` or `UTC` |
| `%%` | a percent sign |

Months, days and clocks have one digit or two; two, and fractions nine, where digits of
another directive follow at once. Everything else stands for itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from sordino.errors import InvalidParameter

YEAR: Final = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9][0-9]|[1-9][0-9][0-9][0-9])"
OFFSET: Final = "Z|UTC|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?"
_DIRECTIVES: Final[Mapping[str, tuple[str, str]]] = {
    "Y": ("year", YEAR),
    "m": ("month", "0?[1-9]|1[0-2]"),
    "d": ("day", "0?[1-9]|[12][0-9]|3[01]"),
    "H": ("hour", "[01]?[0-9]|2[0-3]"),
    "M": ("minute", "[0-5]?[0-9]"),
    "S": ("second", "[0-5]?[0-9]"),
    "f": ("fraction", "[0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?"),
    "z": ("offset", OFFSET),
}
_DAY: Final = ("year", "month", "day")
_LONGEST: Final = 100
_PERCENT: Final = re.compile(r"%(.?)", re.DOTALL)


@final
@dataclass(frozen=True)
class Layout:
    """A pattern that a text must be in full, and what its groups are.

    Python and RE2 read the pattern alike. What a group is not there for is 0.
    """

    pattern: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, name: str, given: Any, *, clock: bool) -> "Layout":
        """Return the layout of a format, refusing one that tells no date or time.

        >>> Layout.of("date", "%d.%m.%Y", clock=False).parts
        ('day', 'month', 'year')
        """
        if not isinstance(given, str) or not 0 < len(given) <= _LONGEST:
            raise _refused(name, given, "must be a format", clock=clock)
        pieces = _PERCENT.split(given)  # [text, directive, text, directive, ... text]
        pattern, parts = _literal(pieces[0]), []
        for place in range(1, len(pieces), 2):
            letter, text = pieces[place], pieces[place + 1]
            if letter == "%":
                pattern += "%" + _literal(text)
                continue
            if letter not in _DIRECTIVES:
                raise _refused(name, given, f"has no %{letter}", clock=clock)
            part, form = _DIRECTIVES[letter]
            follows = not text and place + 2 < len(pieces)
            tight = follows and pieces[place + 2] not in {"%", "z"}
            pattern += f"({_whole(form) if tight else form})" + _literal(text)
            parts.append(part)
        if len(set(parts)) < len(parts) or not set(_DAY) <= set(parts):
            problem = "must tell year, month and day, each once"
            raise _refused(name, given, problem, clock=clock)
        if not clock and len(parts) > len(_DAY):
            raise _refused(name, given, "tells more than a day", clock=clock)
        return cls(pattern, tuple(parts))


def _whole(form: str) -> str:
    """Return a form without its shorter half."""
    return form.replace("0?", "0").replace("]?", "]")


def _literal(text: str) -> str:
    """Return a pattern for a text itself, which Python and RE2 read alike."""
    plain = (
        letter if letter.isalnum() or not letter.isascii() else f"\\{letter}"
        for letter in text
    )
    return "".join(plain)


def _refused(name: str, given: Any, problem: str, *, clock: bool) -> InvalidParameter:
    """Return the refusal of a format."""
    example = "%d.%m.%Y %H:%M:%S" if clock else "%d.%m.%Y"
    known = ", ".join(f"%{letter}" for letter in _DIRECTIVES)
    return InvalidParameter(
        name, given, problem, f'Try {name}="{example}"; there are {known}.'
    )


ISO_DATE: Final = Layout(f"({YEAR})-([0-9][0-9])-([0-9][0-9])", _DAY)
ISO_TIME: Final = Layout(
    f"{ISO_DATE.pattern}"
    "(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])"
    "(?::([0-5][0-9])(?:[.]([0-9]{1,9}))?)?"
    f"(?: ?({OFFSET}))?)?",
    (*_DAY, "hour", "minute", "second", "fraction", "offset"),
)
"""2025-06-01T12:00:00.123456789+02:00, or less of it; T may be a space."""
