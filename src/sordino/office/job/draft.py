"""A job file to begin with: what is public of a table, and a comment on each choice."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any, Final, final
from unicodedata import combining, normalize

from sordino.data.files import have_endings
from sordino.data.proposals import DECLARED, CsvProposal, look_at_layout
from sordino.data.tables import PrivateTable
from sordino.data.toml import UNDECIDED, parse_toml, read_toml, small_text
from sordino.data.units import AddOneRow
from sordino.errors import InvalidJob, InvalidParameter, SordinoError
from sordino.expressions.dates import MOMENTS
from sordino.losses.budgets.limits import gaussian_filter
from sordino.losses.closed import ApproxDP
from sordino.losses.loss import PureDP
from sordino.office.job.job import SPARK
from sordino.session.session import Session

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
    format: Mapping[str, Any] = field(default_factory=dict)
    """How a text file is written, where it is not as `Csv` takes it anyway."""
    table: str = ""
    """The name of a table of a server, whose address is the source, or of Spark."""
    sql: str = ""
    """The question; without one the rows are counted."""
    keys: tuple[str | int, ...] = ()
    """Groups that everybody knows, of the column that is counted by."""
    groups: int = 2
    """In how many groups one person counts, and with how many rows in each."""
    rows: int = 0
    """Without one, few: of each group, or of all rows where there are none."""
    part: int = 12
    """How many releases the budget is shared among, where the table does not grow."""
    schedule: str = "monthly"

    @property
    def moments(self) -> list[str]:
        """Columns that could say when a row arrived."""
        return [name for name, kind in self.columns.items() if kind in MOMENTS]


def read_schema(
    folder: Path, source: str, table: str = ""
) -> tuple[dict[str, str], dict[str, Any]]:
    """Names of columns and their types, and how a text file is written.

    Of a text file or a workbook the header is looked for, and of no other line is
    anything told.
    """
    path = folder / source
    if not table and have_endings([source], DECLARED):
        try:
            layout = look_at_layout(path)
        except OSError:
            raise InvalidJob(str(path), "cannot be read", _NAME_A_FILE) from None
        except InvalidParameter:
            raise InvalidJob(str(path), _NO_NAMES, _PUT_NAMES) from None
        return dict.fromkeys(layout.names, UNDECIDED), layout.arguments
    place = (source, table) if table else str(path)
    try:
        private = PrivateTable(place, AddOneRow(), vouched_by="its curator")
        with Session({"table": private}, PureDP(1)) as session:
            (holding,) = session._desk.catalog.holdings()  # noqa: SLF001 unprinted
            return {name: kind for name, kind, _ in holding.columns}, {}
    except SordinoError as error:
        raise InvalidJob(table or source, f"cannot be opened: {error}", "") from None


_NAME_A_FILE: Final = "Name a Parquet file, a text file or a workbook."
_NO_NAMES: Final = (
    "must have a line of names, and the first line with as many fields as most have "
    "looks like a row"
)
_PUT_NAMES: Final = "Put the names of the columns there: that line is public."


def draft_text(draft: Draft) -> str:
    """Text of the file."""
    name = table_name(draft.table or draft.source)
    columns = "\n".join(
        f"{_quoted(column)} = {_quoted(kind)}" for column, kind in draft.columns.items()
    )
    by_id, by_group = draft.id != "rows", draft.group != UNDECIDED
    return _TEXT.format(
        name=name,
        source=_placed_table(draft) if draft.table else _quoted(draft.source),
        format=f"\n{_format_line(draft.format)}" if draft.format else "",
        protects=f"{{ id = {_quoted(draft.id)} }}" if by_id else '"rows"',
        columns=columns,
        blocks=_blocks(draft),
        sql=_in_quotes(
            draft.sql
            or (_BY_GROUP if by_group else _WHOLE).format(
                table=name, group=sql_name(draft.group)
            )
        ),
        keys=_keys(draft) if draft.keys else "",
        limits=_limits(draft, by_group=by_group) if by_id else "",
        schedule=draft.schedule,
        **_budgets(draft),
    )


def _placed_table(draft: Draft) -> str:
    # an address may have a password, and this file is for people to review
    is_spark = draft.source == SPARK
    place = _quoted(SPARK) if is_spark else f'{{ env = "{SERVER}" }}'
    return f"[{place}, {_quoted(draft.table)}]"


SERVER: Final = "SORDINO_SERVER"
"""Where a job that is begun for a table of a server finds the address."""


def _format_line(style: Mapping[str, Any]) -> str:
    items = ", ".join(f"{name} = {_value(value)}" for name, value in style.items())
    return f"format = {{ {items} }}"


def _value(value: Any) -> str:
    return json.dumps(_as_list(value), ensure_ascii=False)


def declare(job: Path, paths: list[str], proposal: CsvProposal) -> None:
    """Put a proposal into the job that names a text file.

    Types that are there stay; only what stands as "?" is decided.
    """
    values, text = read_toml(job), small_text(job)
    name, table = _table_of(job, values, {Path(path).absolute() for path in paths})
    types, style = table.setdefault("columns", {}), dict(proposal.arguments)
    decided = {
        column: kind
        for column, kind in proposal.columns.items()
        if types.get(column) == UNDECIDED
    }
    types |= decided
    head, mark, rest = text.partition(f"[tables.{name}]\n")
    own, columns, below = rest.partition(f"[tables.{name}.columns]\n")
    if style != table.get("format", {}):
        own = re.sub(r"^format = \{.*\}\n", "", own, flags=re.MULTILINE)
        own = own.replace("\n", f"\n{_format_line(style)}\n", 1)
        table["format"] = {key: _as_list(value) for key, value in style.items()}
    for column, kind in decided.items():
        below = below.replace(
            _type_line(column, UNDECIDED), _type_line(column, kind), 1
        )
    text = f"{head}{mark}{own}{columns}{below}"
    # what a person wrote otherwise than `init` does is theirs to change
    if parse_toml(text, str(job), InvalidJob, "") != values:
        raise InvalidJob(
            f"tables.{name}",
            "is written so that nothing can be put into it",
            f"Write {_format_line(style)} and the types yourself.",
        )
    job.write_text(text, encoding="utf-8")


def _table_of(
    job: Path, values: dict[str, Any], paths: set[Path]
) -> tuple[str, dict[str, Any]]:
    tables = values.get("tables")
    for name, table in tables.items() if isinstance(tables, dict) else ():
        source = table.get("source") if isinstance(table, dict) else None
        if isinstance(source, str) and job.absolute().parent / source in paths:
            return name, table
    raise InvalidJob(str(job), "has no table of that file", "Name its source first.")


def _type_line(column: str, kind: str) -> str:
    return f"{_quoted(column)} = {_quoted(kind)}\n"


def _as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _keys(draft: Draft) -> str:
    listed = json.dumps(draft.keys, ensure_ascii=False)
    return f"{_WHY_KEYS}keys = {{ {_quoted(draft.group)} = {listed} }}\n"


def _limits(draft: Draft, *, by_group: bool) -> str:
    if not by_group:
        most = f"{{ max_rows_per_id = {draft.rows or 5} }}"
        return f"{_WHY_LIMITS}limits = {most}\n{_COVERAGE}"
    name = _quoted(draft.group)
    return (
        f"{_WHY_LIMITS}limits.max_groups_per_id = {{ {name} = {draft.groups} }}\n"
        f"limits.max_rows_per_group_per_id = {{ {name} = {draft.rows or 3} }}\n"
        f"{_COVERAGE}"
    )


def _blocks(draft: Draft) -> str:
    if draft.blocks:
        return f"{_WHY_BLOCKS}blocks = {_quoted(draft.blocks)}\n"
    if draft.moments:
        return f"{_NO_BLOCKS}# blocks = {_quoted(draft.moments[0])}\n"
    return ""


def _budgets(draft: Draft) -> dict[str, str]:
    limit, part = (draft.epsilon, draft.delta), 2 if draft.blocks else draft.part
    shares = [_share(number, part) for number in limit]
    texts = {"limit": _budget(*limit), "budget": _budget(*shares)}
    if not draft.blocks:
        share = _TWELFTH if part == 12 else _PART.format(part)
        return {**texts, "why_limit": _WHY_LIMIT, "periods": "", "share": share}
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


def table_name(source: str) -> str:
    """Name of a table in SQL, and a bare key of TOML: letters of ASCII.

    >>> table_name("data/2026 visits.parquet"), table_name("St\u00e4dte.csv")
    ('t_2026_visits', 'Stadte')
    """
    # an accent is a sign of its own there, and is left out; ` ends a path of Spark
    stem = normalize("NFKD", Path(source.strip("`")).stem)
    plain = (letter for letter in stem if not combining(letter))
    name = "".join(
        letter if letter.isascii() and letter.isalnum() else "_" for letter in plain
    )
    return name if name[:1].isalpha() else f"t_{name}"


def _budget(epsilon: str, delta: str) -> str:
    if delta in {"0", ""}:
        return f"{{ epsilon = {_quoted(epsilon)} }}"
    return f"{{ epsilon = {_quoted(epsilon)}, delta = {_quoted(delta)} }}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # basic strings of TOML are JSON's


def sql_name(column: str) -> str:
    """Name of a column as SQL has it.

    >>> sql_name("ward"), sql_name("the ward")
    ('ward', '"the ward"')
    """
    plain = column.replace("_", "a")
    if plain.isascii() and plain.isalnum():
        return column
    doubled = column.replace('"', '""')
    return f'"{doubled}"'


def _in_quotes(text: str) -> str:
    # it stands in a TOML text of three quotes, where lines may break
    return "\n".join(_quoted(line)[1:-1] for line in text.splitlines())


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
_WHY_KEYS: Final = """\
# Groups that everybody knows: they are shown, whoever is in them.
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
_PART: Final = "one of {} equal parts of the limit"
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
source = {source}{format}
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
{keys}{limits}# What each release costs: {share}.
budget = {budget}
schedule = "{schedule}"
out = ["parquet", "csv"]
'''
