"""A job file to begin with: what is public of a table, and a comment on each choice."""

import csv
import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Final, final

from sordino.data.tables import PrivateTable
from sordino.data.toml import UNDECIDED
from sordino.data.units import AddOneRow
from sordino.errors import InvalidJob, SordinoError
from sordino.expressions.dates import MOMENTS
from sordino.losses.budgets.limits import gaussian_filter
from sordino.losses.closed import ApproxDP
from sordino.losses.loss import PureDP
from sordino.session.session import Session

_TEXT_FILES: Final = (".csv", ".tsv", ".txt")
_NOT_NAMES: Final = ("", *"0123456789+-.")
_LONGEST_HEADER: Final = 1 << 16
_MU_UNIT: Final = 10_000


@final
@dataclass(frozen=True)
class Draft:
    """What is known of a new job, "?" where a person has to choose."""

    source: str
    columns: dict[str, str]
    """Types by name; those of a text file are still to be decided."""
    id: str
    epsilon: str
    delta: str
    group: str
    blocks: str = ""
    """The column that says when a row arrived; "" where the table does not grow."""

    @property
    def moments(self) -> list[str]:
        """Columns that could say when a row arrived."""
        return [name for name, kind in self.columns.items() if kind in MOMENTS]


def read_schema(folder: Path, source: str) -> dict[str, str]:
    """Names of columns and their types; no row is read."""
    path = folder / source
    if path.suffix.lower() in _TEXT_FILES:
        return dict.fromkeys(_header(path), UNDECIDED)
    try:
        table = PrivateTable(str(path), AddOneRow())
        with Session({"table": table}, PureDP(1)) as session:
            (holding,) = session._desk.catalog.holdings()  # noqa: SLF001 unprinted
            return {name: kind for name, kind, _ in holding.columns}
    except SordinoError as error:
        raise InvalidJob(source, f"cannot be opened: {error}", "") from None


def draft_text(draft: Draft) -> str:
    """Text of the file."""
    name = _table_name(draft.source)
    columns = "\n".join(
        f"{_quoted(column)} = {_quoted(kind)}" for column, kind in draft.columns.items()
    )
    by_id, by_group = draft.id != "rows", draft.group != UNDECIDED
    return _TEXT.format(
        name=name,
        source=_quoted(draft.source),
        protects=f"{{ id = {_quoted(draft.id)} }}" if by_id else '"rows"',
        columns=columns,
        blocks=_blocks(draft),
        sql=(_BY_GROUP if by_group else _WHOLE).format(
            table=name, group=_sql_name(draft.group)
        ),
        limits=_limits(draft.group, by_group=by_group) if by_id else "",
        **_budgets(draft),
    )


def _limits(group: str, *, by_group: bool) -> str:
    if not by_group:
        return f"{_WHY_LIMITS}limits = {{ max_rows_per_id = 5 }}\n{_COVERAGE}"
    name = _quoted(group)
    return (
        f"{_WHY_LIMITS}limits.max_groups_per_id = {{ {name} = 2 }}\n"
        f"limits.max_rows_per_group_per_id = {{ {name} = 3 }}\n"
        f"{_COVERAGE}"
    )


def _blocks(draft: Draft) -> str:
    if draft.blocks:
        return f"{_WHY_BLOCKS}blocks = {_quoted(draft.blocks)}\n"
    if draft.moments:
        return f"{_NO_BLOCKS}# blocks = {_quoted(draft.moments[0])}\n"
    return ""


def _budgets(draft: Draft) -> dict[str, str]:
    limit, part = (draft.epsilon, draft.delta), 2 if draft.blocks else 12
    shares = [_share(number, part) for number in limit]
    texts = {"limit": _budget(*limit), "budget": _budget(*shares)}
    if not draft.blocks:
        return {**texts, "why_limit": _WHY_LIMIT, "periods": "", "share": _TWELFTH}
    if draft.delta != "0":
        texts = {"limit": _mu_text(*limit, 1), "budget": _mu_text(*limit, part)}
    return {**texts, "why_limit": _EACH, "periods": _PERIODS, "share": _HALF}


def _mu_text(epsilon: str, delta: str, part: int) -> str:
    """Largest mu within a budget as TOML, or a part of its square.

    >>> _mu_text("1", "1e-6", 1), _mu_text("1", "1e-6", 2), _mu_text("1", "?", 1)
    ('{ mu = "0.2367" }', '{ mu = "0.1673" }', '{ mu = "?" }')
    """
    if UNDECIDED in {epsilon, delta}:
        return f"{{ mu = {_quoted(UNDECIDED)} }}"
    square = gaussian_filter(ApproxDP(epsilon, delta)).limits["square"] / part
    # rounded down: mu of the file stays within the epsilon and delta that were said
    digits = Decimal(isqrt(int(square * _MU_UNIT**2))) / _MU_UNIT
    return f"{{ mu = {_quoted(str(digits))} }}"


def _share(number: str, part: int) -> str:
    try:
        return str(Fraction(number) / part)
    except (ValueError, ZeroDivisionError):
        return UNDECIDED


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            line = file.readline(_LONGEST_HEADER)  # the rows after it are private
    except (OSError, UnicodeDecodeError):
        raise InvalidJob(
            str(path), "cannot be read as UTF-8", "Name a Parquet or a text file."
        ) from None
    delimiter = max(",;\t|", key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    # without a header the first row would stand in a job file that people review
    if not names or any(name[:1] in _NOT_NAMES for name in names):
        raise InvalidJob(
            str(path),
            "must begin with a line of names, and its first line looks like a row",
            "Put the names of the columns there: that line is public.",
        )
    return names


def _table_name(source: str) -> str:
    """Name of a table in SQL.

    >>> _table_name("data/2026 visits.parquet")
    't_2026_visits'
    """
    stem = Path(source).stem
    name = "".join(letter if letter.isalnum() else "_" for letter in stem)
    return name if name[:1].isalpha() else f"t_{name}"


def _budget(epsilon: str, delta: str) -> str:
    if delta in {"0", ""}:
        return f"{{ epsilon = {_quoted(epsilon)} }}"
    return f"{{ epsilon = {_quoted(epsilon)}, delta = {_quoted(delta)} }}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # basic strings of TOML are JSON's


def _sql_name(column: str) -> str:
    plain = column.replace("_", "a")
    if plain.isascii() and plain.isalnum():
        return column
    doubled = column.replace('"', '""')
    return _quoted(f'"{doubled}"')[1:-1]  # it stands in a TOML text of three quotes


_COVERAGE: Final = """\
# how many people and rows that leaves out, told with the answers
coverage = true
"""
_WHY_LIMITS: Final = """\
# What one person contributes at most. Rows beyond it are left out: greater limits mean
# more noise, smaller ones that more is cut off.
"""
_WHY_BLOCKS: Final = """\
# The table grows. Rows are of the month in this column, which must never change, and
# what is published of a month is charged to that month's rows.
"""
_NO_BLOCKS: Final = """\
# If the table grows, the months of its rows can have budgets of their own.
"""
_WHY_LIMIT: Final = """\
# All that will ever be published may cost this much (`sordino risk` says what it
# means), for good: the ledger never forgets."""
_EACH: Final = """\
# What is published of each month may cost this much, for good. Who is in several months
# loses more: `sordino check` says how much. Months add up as squares of mu, so twelve
# cost a person 3.5 times one; epsilons would add up to twelve."""
_PERIODS: Final = """
# The first month of the table:
blocks = { start = "?", every = "month" }"""
_TWELFTH: Final = "a twelfth of the limit, so a year of months fits"
_HALF: Final = "half of what a month has, so there is room for another"
_BY_GROUP: Final = """\
SELECT {group}, COUNT(*) AS n
FROM {table}
GROUP BY {group}"""
_WHOLE: Final = """\
SELECT COUNT(*) AS n
FROM {table}"""
_TEXT: Final = '''\
# A job of Sordino: what is published of which table, at what price.
# What stands as "?" is for a person to choose; `sordino check` lists what is left.
schema = 1

[tables.{name}]
source = {source}
# Whom it protects: all rows of a person, {{ id = "column" }}, or any one row, "rows".
protects = {protects}
{blocks}
# The types of the columns that are used: i64, f64, text, bool, date or time.
[tables.{name}.columns]
{columns}

[ledger]
path = "sordino.ledger"
{why_limit}
limit = {limit}{periods}
# When the first release is made, say false: a ledger that is lost is then refused.
create = true

[releases.counts]
sql = """
{sql}
"""
{limits}# What each release costs: {share}.
budget = {budget}
schedule = "monthly"
out = ["parquet", "csv"]
'''
