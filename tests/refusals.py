"""What every refusal must be: typed, helpful, free of charge, and silent about data."""

import math
import tomllib
import traceback
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import pytest

import sordino as sd
from sordino import errors
from sordino.errors import show
from sordino.query.builder import Query
from tests.batches import TESTS, Batched, for_each

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


def assert_refused(case: Refused) -> None:
    held = session()
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
