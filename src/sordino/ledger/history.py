"""Charged releases as a table, each in the words of what was asked.

What was asked is told of the recorded plan, so of charges of earlier versions, too.
"""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final, final

from sordino.ledger.record_kinds import Entry
from sordino.numbers.formatting import cut_text, format_key, text_width
from sordino.numbers.views import office

HEADING: Final = ("release", "when", "who", "key", "why", "asked", "for")
MOST: Final = 60
"""Releases that are shown, the newest."""
_HIDDEN: Final = "of another budget"
_ANSWER: Final = re.compile(r"(.+? = .+) with ")
_GROUP: Final = re.compile(r"'(.*?)'(?=,| \()")
_AMOUNT: Final = re.compile(r"(\w+)=([^,()]+)")
_BRANCH: Final = "└─ "
_STEPS: Final = ("filter ", "inner join ", "left join ", "map ", "flat map ")
_WIDE: Final = 60
"""Columns of a terminal for one of a table."""
_GAP: Final = "  "


@final
class History(tuple[Entry, ...]):
    """Charged releases, the first one first, which show themselves as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Show what was asked, when, by whom and for how much."""
        rows = [HEADING, *history_rows(self[-MOST:])] if self else []
        cells = [[cut_text(format_key(cell), _WIDE) for cell in row] for row in rows]
        # what nobody has said of any release is no column
        columns = [each for each in zip(*cells, strict=True) if any(each[1:])]
        widths = [max(map(text_width, column)) for column in columns]
        lines = (
            _GAP.join(
                cell + " " * (width - text_width(cell))
                for cell, width in zip(row, widths, strict=True)
            ).rstrip()
            for row in zip(*columns, strict=True)
        )
        before = len(self) - MOST
        hidden = [f"{before:,} releases before them"] if before > 0 else []
        return "\n".join([*lines, *hidden]) or "no release was charged yet"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        shown: str = office.html_page(office.entry_table(self, MOST))
        return shown


def history_rows(entries: Iterable[Entry]) -> Iterator[tuple[str, ...]]:
    """Yield releases as texts, in the columns of the heading."""
    for entry in entries:
        yield (
            str(entry.number),
            f"{entry.when:%Y-%m-%d %H:%M %Z}",
            entry.who,
            entry.key or "",
            entry.why,
            (question_of(entry.plan) or _HIDDEN)
            + ("" if entry.answered else " (not answered)"),
            _amounts(entry.asked),
        )


def question_of(plan: str) -> str:
    r"""Tell a recorded plan in a line: answers, groups, tables, conditions.

    >>> question_of(
    ...     "n = count() with Geometric(scale=3)\ngroup by 'ward' (known keys)\n"
    ...     "└─ filter col('age') > 65\n   └─ table visits"
    ... )
    "n = count() by ward of visits, filter col('age') > 65"
    """
    return "; ".join(map(_question_of_one, plan.split("\n\n"))) if plan else ""


def _question_of_one(plan: str) -> str:
    lines = [line.strip() for line in plan.splitlines()]
    rows = [line.removeprefix(_BRANCH) for line in lines if line.startswith(_BRANCH)]
    said = [line for line in lines if not line.startswith(_BRANCH)]
    asked = [found[1] for line in said if (found := _ANSWER.match(line))]
    asked += [line.partition(": ")[0] for line in said if line.startswith("rank by ")]
    by = [
        group for line in said if "group by" in line for group in _GROUP.findall(line)
    ]
    tables = [row.partition("table ")[2] for row in rows if row.startswith("table ")]
    # that rows without an id are left out is true of any question
    steps = [row for row in rows if row.startswith(_STEPS) and ".is_null()" not in row]
    what = ", ".join(asked) or (said[0] if said and not by else "keys")
    of = f" of {', '.join(dict.fromkeys(tables))}" if tables else ""
    return ", ".join([what + (f" by {', '.join(by)}" if by else "") + of, *steps])


def _amounts(asked: str) -> str:
    """Amounts of a budget as they are read, not as they are kept.

    >>> _amounts("ApproxDP(epsilon=1/2, delta=1/1000000)")
    'epsilon = 0.5, delta = 1e-06'
    """
    amounts = []
    for name, text in _AMOUNT.findall(asked):
        try:
            number = f"{float(Fraction(text)):.4g}"
        except (OverflowError, ValueError, ZeroDivisionError):
            number = text
        if number != "0":
            amounts.append(f"{name} = {number}")
    return ", ".join(amounts) or asked
