"""What every refusal must be: typed, helpful, free of charge, and silent about data."""

import builtins
import math
import tomllib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final, final

import pytest

import sordino as sd
from sordino import errors
from sordino.errors import show
from sordino.query.builder import Query
from tests.batches import TESTS, Batched, for_each, table_of

PRIVATE: Final = "Ursula-4711"
"""A private text; a private number is made of it."""
_NUMBER: Final = 47_110_815
_LONGEST: Final = 500
BUDGET: Final = sd.ApproxDP(1, "1e-5")
LIMIT: Final = sd.ApproxDP(10, "1e-3")


ROWS: Final = sd.table("rows")
VISITS: Final = sd.table("visits")
ENFORCED: Final = VISITS.enforce(
    sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 2)
)
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B"]})
N: Final = sd.count()
PEOPLE: Final = sd.count_ids()
SUM: Final = sd.sum("days", 0, 30)
QUANTILES: Final = sd.quantiles("days", ["0.1", "0.5"], 0, 9)
COUNT: Final = ROWS.agg(n=N)
ONE: Final = sd.DropExcess(1)
N64: Final = {"n": "i64"}
NONE: Final[Any] = None


@final
class Unshown:
    """What cannot even be shown, and says a secret when it is tried."""

    def __repr__(self) -> str:
        """Fail with a private text."""
        raise RuntimeError(PRIVATE)


def many_rows() -> Query:
    """Return a query of which one row makes more rows than can be counted."""
    rows = ROWS
    for _ in range(6):
        rows = rows.flat_map(lambda _row: [], N64, max_rows=10**9)
    return rows


def session(**given: Any) -> sd.Session:
    """Return a session over tables of every kind, in which nothing was spent."""
    visits = {
        "id": ["p1", "p2", PRIVATE],
        "ward": ["A", "B", PRIVATE],
        "days": [1, 2, _NUMBER],
        "cost": [1.5, 2.0, float(_NUMBER)],
        "codes": [[1], [2], [_NUMBER]],
    }
    rows = {
        "ward": ["A", "B", PRIVATE],
        "days": [1, 2, _NUMBER],
        "n sd": [1, 2, 3],
        "cost": [1.5, 2.0, float(_NUMBER)],
    }
    cats = {"id": ["p1", PRIVATE], "ward": ["A", PRIVATE]}
    return sd.Session(
        {
            "visits": sd.PrivateTable(visits, protects=sd.AddRowsWithID("id")),
            "rows": sd.PrivateTable(rows, protects=sd.AddOneRow()),
            "cats": sd.PrivateTable(
                cats, protects=sd.AddRowsWithID("id", id_space="cats")
            ),
            "numbered": sd.PrivateTable(
                {"id": [1, 2]}, protects=sd.AddRowsWithID("id")
            ),
            "wards": sd.PublicTable({"ward": ["A"], "days": [1.0], "codes": [[1]]}),
        },
        given.pop("budget", LIMIT),
        **given,
    )


@final
@dataclass(frozen=True)
class Refused:
    """A call that is refused: how, and words that its message must hold.

    What it returns, if it is not refused itself, is priced in the session `s`.
    """

    call: str
    kind: str
    words: tuple[str, ...]

    def price(self, s: sd.Session) -> object:
        names = globals() | {"s": s, "math": math, "Fraction": Fraction}
        return s.price(eval(self.call, names), BUDGET)  # noqa: S307 a table of ours


@cache
def _asked() -> sd.Session:
    """Return the session that all refusals are asked of: none may change it."""
    return session()


def assert_refused(case: Refused) -> None:
    held = _asked()
    before = repr(held.spent), repr(held.remaining)
    kind = vars(errors)[case.kind]
    with pytest.raises(kind) as caught:
        case.price(held)
    assert type(caught.value) is kind
    assert (repr(held.spent), repr(held.remaining)) == before
    assert not held.history()
    assert_silent(caught.value)
    message = str(caught.value)
    assert len(message) < _LONGEST
    assert all(word in message for word in case.words), message
    told = message.partition(". ")[2]
    assert told.endswith((".", "?", ")")), f"no remedy: {message}"


def assert_silent(error: BaseException) -> None:
    """Check that an error and what it carries tell nothing of private cells."""
    told = [repr(error), "".join(traceback.format_exception(error))]
    told += [repr(one) for one in (error.__cause__, error.__context__)]
    told += [show(one) for one in vars(error).values()]
    assert not any(PRIVATE in one or str(_NUMBER) in one for one in told)
    for one in (error.__cause__, error.__context__):
        if one is not None:
            assert_silent(one)


def refusals() -> Batched:
    """Ask a test all calls of tests/refused/calls, as one.

    A line there is what is wrong, how it is called, and what the message must say,
    under the error that it is.
    """
    cases = {
        f"{path.stem}: {name}": Refused(call, kind, tuple(words))
        for path in sorted((TESTS / "refused" / "calls").glob("*.toml"))
        for kind, rows in tomllib.loads(path.read_text("utf-8")).items()
        for name, (call, *words) in rows.items()
    }
    return for_each("case", cases.values(), ids=cases)


@final
@dataclass(frozen=True)
class Line:
    """A line of the table of a room: a call, or one of its values in the place of X."""

    room: str
    kind: str
    call: str
    match: str
    value: str = ""

    def refuse(self) -> None:
        """Check that the call is refused, with the error and the words of its table."""
        names = dict(_names(self.room))
        if self.value:
            names["X"] = eval(self.value, names)  # noqa: S307 a table of ours
        kind = vars(errors).get(self.kind) or vars(builtins)[self.kind]
        with pytest.raises(kind, match=self.match or None):
            eval(self.call, names)  # noqa: S307 a table of ours


@cache
def _names(room: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    imports = table_of(f"refused/rooms/{room}")["imports"]
    exec("\n".join(imports), names)  # noqa: S102 a table of ours
    return names


def lines_of(room: str) -> Batched:
    """Ask a test all lines of the table of a room, as one.

    A line is a call and the pattern of its refusal, or a call with an X, the pattern,
    and the values of X.
    """
    lines = [
        line
        for kind, rows in table_of(f"refused/rooms/{room}").items()
        if kind != "imports"
        for call, row in rows.items()
        for line in _lines(room, kind, call, row)
    ]
    named = [f"{line.call} {line.value}".strip() for line in lines]
    return for_each("line", lines, ids=named)


def _lines(room: str, kind: str, call: str, row: str | list[str]) -> Iterator[Line]:
    if isinstance(row, str):
        yield Line(room, kind, call, row)
        return
    match, *values = row
    for value in values:
        yield Line(room, kind, call, match, value)
