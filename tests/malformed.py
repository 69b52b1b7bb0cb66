"""Malformed calls: odd values in every argument of every public door.

Drawn from a seed. A hostile object raises `Hostile` from its own methods: that is its
owner's exception, and no other than those of `sordino.errors` may leave a call.
"""

import datetime as dt
import decimal
import fractions
import math
import random
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, final

import numpy as np
import pandas as pd
import pyarrow as pa

import sordino as sd
from sordino.engines.doors import EngineName
from sordino.errors import SordinoError, show

ENGINES: Final[tuple[EngineName, ...]] = ("memory", "duckdb")
LONGEST: Final = 1200
"""Letters of a refusal."""
_PACKAGE: Final = Path(sd.__file__).parent
_SPENDING: Final = {"release", "release_all", "partition"}
T = TypeVar("T")


class Hostile(Exception):
    """An object of the caller's refused to do what it was asked."""


def _refusing(*_: object) -> Any:
    raise Hostile


class Evil:
    """An object that refuses everything."""

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = _refusing
    __iter__ = __getitem__ = __lt__ = __int__ = __float__ = __index__ = _refusing


class EvilText(str):  # noqa: FURB189 a text, and no more
    """A text that refuses to be shown and compared."""

    __slots__ = ()
    __repr__ = __eq__ = _refusing
    __hash__ = str.__hash__


class EvilNumber(int):
    """A number that refuses to be shown and compared."""

    __slots__ = ()
    __repr__ = __lt__ = _refusing


class Lazy(dict[str, int]):  # noqa: FURB189 a mapping, and no more
    """A mapping that refuses to be listed."""

    items = _refusing


class Verbose:
    """An object that is shown at great length."""

    def __repr__(self) -> str:
        """Return ten million letters."""
        return "x" * 10_000_000


def _nested() -> list[Any]:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    return deep


def _own() -> list[Any]:
    own: list[Any] = []
    own.append(own)
    return own


ROWS: Final = pa.table({
    "id": ["a", "b"],
    "g": ["a", None],
    "x": [1, 2],
    "y": [1.0, math.nan],
    "l": [[1], [2]],
})
TABLE: Final = sd.table("t")
BUDGET: Final = sd.ApproxDP(1, "1e-6")
COUNT: Final = sd.count()
_EARLIEST: Final = dt.timezone(dt.timedelta(hours=-14))

PLAIN: Final[list[Any]] = [
    None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**4000,
    0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 5e-324, 1e308, 1j,
    "", "x", "y", "g", "id", "t", "p", "no", "a'b", 'a"b', "a;DROP TABLE t",
    "x) OR 1=1 --", "\x00", "a\x00b", "\ud800", "\U0001f600", "e\u0301",
    "x" * 200_000, "1/0", "1e400", "nan", "sqrt(-1)", "sqrt(2)", "c0", "$1", "rows",
    "total 0", "\n", "%s", "{x}", "../../etc/passwd", b"x", bytearray(b"x"),
    [], ["x"], ["x", "x"], [None], [[]], (), ("x",), ("g", "x"), {}, {"x": 1},
    {"x": "i64"}, {1: 2}, {None: None}, set(), {"x"}, frozenset({"g"}), range(3),
    len, print, object, object(), type, Ellipsis, NotImplemented,
]  # fmt: skip
"""Of Python itself."""
FOREIGN: Final[list[Any]] = [
    np.int64(3), np.float64("nan"), np.array([1, 2]), np.array(["x"]), np.bool_(True),
    np.datetime64("NaT"), np.str_("x"), pd.NaT, pd.NA, pd.Timestamp("2020"),
    pd.DataFrame({"x": [1]}), pd.Series([1]), pa.scalar(1), pa.array([1]),
    pa.table({"x": [1]}), decimal.Decimal("0.1"), decimal.Decimal("NaN"),
    decimal.Decimal("sNaN"), decimal.Decimal("1e999999"), fractions.Fraction(1, 3),
    dt.date(2020, 1, 1), dt.datetime(2020, 1, 1),  # noqa: DTZ001 times have no zone
    dt.datetime.max.replace(tzinfo=_EARLIEST), dt.time(1), dt.timedelta(1),
    Evil(), EvilText("x"), EvilNumber(3), Lazy(x=1), Verbose(), Exception("e"),
    _nested(), _own(),
]  # fmt: skip
"""Of libraries, and of somebody who means harm."""
OURS: Final[list[Any]] = [
    sd.PureDP(1), BUDGET, sd.ZCDP(1), sd.GaussianDP(1), sd.ApproxZCDP(1, "1e-6"),
    sd.Advantage("0.1"), sd.PureDP(0), sd.ApproxDP(0, 0), sd.ApproxDP(1, 1),
    sd.col("x"), sd.col("x") > 1, sd.col("no") + 1, sd.lit(5), sd.lit(None, "i64"),
    sd.when(sd.col("x") > 0), COUNT, sd.count_ids(), sd.sum("x", 0, 1),
    sd.sum("no", 0, 1), sd.mean("g", 0, 1), sd.median("y", 0, 1),
    sd.count_distinct("x"), sd.histogram("x", [0, 1]), sd.bounds("x"),
    sd.MaxRowsPerID(2), sd.MaxGroupsPerID("g", 2), sd.MaxRowsPerGroupPerID("g", 1),
    sd.DropExcess(1), sd.DropNonUnique(), sd.KeySet.from_dict({"g": ["a"]}),
    sd.KeySet.from_dict({"x": [1]}), sd.Bins([0, 1]), sd.Column("i64"),
    sd.AddOneRow(), sd.AddRowsWithID("id"), TABLE, sd.table("no"),
    TABLE.agg(n=COUNT), TABLE.group_by("g"), TABLE.group_by("g").agg(n=COUNT),
    sd.PrivateTable({"x": [1]}, protects=sd.AddOneRow(), columns={"x": "i64"}),
    sd.PublicTable({"x": [1]}), sd.udf(lambda _: {"z": 1}, {"z": "i64"}),
]  # fmt: skip
"""Of Sordino, in places where they do not belong."""
VALUES: Final = [*PLAIN, *FOREIGN, *OURS]
_SUMS: Final[list[Any]] = [sd.sum, sd.mean, sd.variance, sd.median]
_ALL: Final[list[Any]] = [*_SUMS, sd.min, sd.max, sd.stdev, sd.quantile, sd.quantiles]
_UNITS: Final[list[Any]] = [
    sd.AddOneRow, sd.AddMaxRows, sd.AddMaxRowsInMaxGroups, sd.AddRowsWithID,
]  # fmt: skip
_LIMITS: Final[list[Any]] = [
    sd.MaxRowsPerID, sd.MaxGroupsPerID, sd.MaxRowsPerGroupPerID, sd.DropExcess,
]  # fmt: skip
_METHODS: Final = [
    name
    for name in dir(sd.col("x"))
    if not name.startswith("_")
    and name not in {"tree", "call", "names", "column", "value", "same"}
]
_SIGNS: Final = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "radd", "lt", "eq", "and", "or",
    "rand",
]  # fmt: skip


@final
class _NotedDice(random.Random):
    """Draws, and notes what was drawn: two calls of the same notes are the same."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.notes: list[int] = []

    def below(self, end: int) -> int:
        self.notes.append(self.randrange(end))
        return self.notes[-1]

    def one(self, values: list[T]) -> T:
        return values[self.below(len(values))]

    def some(self, values: list[T]) -> list[T]:
        left = list(values)
        return [
            left.pop(self.below(len(left))) for _ in range(self.below(len(left) + 1))
        ]


class Calls:
    """Draws malformed calls on a session, one after the other."""

    def __init__(self, session: sd.Session, seed: int) -> None:
        """Take a session with the tables t (ids), r (rows) and p (public)."""
        self.session = session
        self.dice = _NotedDice(seed)
        self.made: set[tuple[int, ...]] = set()
        """Distinct calls, by what was drawn for them."""
        self.refused = 0
        self.doors: dict[str, Callable[[], Any]] = {
            **self._expressions(),
            **self._queries(),
            **self._parts(),
            **self._session(),
        }

    def draw(self) -> tuple[str, Callable[[], Any]]:
        """Return a door by name, and a call through it."""
        name = self.dice.one(list(self.doors))
        return name, self.doors[name]

    def one(self) -> Any:
        return self.dice.one(VALUES)

    def some(self, most: int = 3) -> list[Any]:
        return [self.one() for _ in range(self.dice.below(most + 1))]

    def named(self) -> dict[str, Any]:
        """Return values by names of any kind of text."""
        names = [one for one in self.some(2) if type(one) is str]
        return {name: self.one() for name in names}

    def of(self, *names: str) -> dict[str, Any]:
        """Return values for some of the arguments."""
        return {name: self.one() for name in self.dice.some(list(names))}

    def pair(self) -> dict[Any, Any]:
        """Return a mapping of a value that may be a key."""
        key = self.dice.one([one for one in PLAIN if _hashable(one)])
        return {key: self.one()}

    def query(self) -> Any:
        bounded = TABLE.enforce(sd.MaxRowsPerID(2))
        return self.dice.one([TABLE, sd.table("r"), bounded])

    def cell(self) -> Any:
        """Return an expression, of a column that may not be there."""
        return self.dice.one([sd.lit(3), *map(sd.col, ("x", "g", "y", "l", "no"))])

    def _expressions(self) -> dict[str, Callable[[], Any]]:
        pick = self.dice.one
        return {
            "col": lambda: sd.col(self.one()),
            "lit": lambda: sd.lit(self.one(), *self.some(1)),
            "when": lambda: sd.when(self.one()).then(self.one()).otherwise(self.one()),
            "method": lambda: getattr(self.cell(), pick(_METHODS))(*self.some()),
            "sign": lambda: getattr(self.cell(), f"__{pick(_SIGNS)}__")(self.one()),
            "bins": lambda: sd.Bins(
                self.one(), **self.of("names", "right", "include_ends")
            ),
        }

    def _queries(self) -> dict[str, Callable[[], Any]]:
        query, one, some = self.query, self.one, self.some
        return {
            "table": lambda: sd.table(one()),
            "select": lambda: query().select(*some()),
            "rename": lambda: query().rename(self.dice.one([one(), self.pair()])),
            "filter": lambda: query().filter(one()),
            "with_columns": lambda: query().with_columns(*some(1), **self.named()),
            "drop_nulls": lambda: query().drop_nulls(*some()),
            "drop_nan": lambda: query().drop_nan(*some()),
            "fill_null": lambda: query().fill_null(**self.named()),
            "fill_nan": lambda: query().fill_nan(**self.named()),
            "replace_infinity": lambda: query().replace_infinity(**self.named()),
            "bin": lambda: query().bin(one(), one(), one()),
            "flat_map": lambda: query().flat_map(one(), one(), one()),
            "explode": lambda: query().flat_map("l", max_rows=one()),
            "join_public": lambda: query().join_public(
                one(), on=one(), **self.of("how", "suffix")
            ),
            "join_private": lambda: query().join_private(
                one(), on=one(), **self.of("left", "right", "suffix")
            ),
            "enforce": lambda: query().enforce(*some()),
            "group_by": lambda: query().group_by(*some()),
            "agg": lambda: query().agg(**self.named()),
            "noise": lambda: query().agg(n=COUNT, **self.of("noise", "weights")),
            "grouped": lambda: query().group_by("g").agg(**self.named()),
            "keys": lambda: query().group_by(one()).keys(),
            "histogram": lambda: query().histogram(one(), one(), one()),
        }

    def _parts(self) -> dict[str, Callable[[], Any]]:
        """Return the doors of what queries are made of, and of tables."""
        pick, one = self.dice.one, self.one
        return {
            "totals": lambda: pick(_SUMS)(one(), one(), one(), **self.of("nulls")),
            "all": lambda: pick(_ALL)(*(one() for _ in range(4))),
            "bounds": lambda: sd.bounds(one()),
            "limits": lambda: pick(_LIMITS)(*self.some()),
            "units": lambda: pick(_UNITS)(*self.some()),
            "column": lambda: sd.Column(one(), *self.some(2)),
            "private": lambda: sd.PrivateTable(one(), pick([sd.AddOneRow(), one()])),
            "public": lambda: sd.PublicTable(one(), one()),
            "udf": lambda: sd.udf(one(), one()),
            "keyset": lambda: sd.KeySet.from_dict(pick([one(), self.pair()])),
        }

    def _session(self) -> dict[str, Callable[[], Any]]:
        on, one, named = self.session, self.one, self.of
        rows = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
        return {
            "price": lambda: on.price(one(), one()),
            "price of a count": lambda: on.price(self.query().agg(n=COUNT), one()),
            "price of a sum": lambda: on.price(
                self.query().agg(a=sd.sum("x", one(), one())), BUDGET
            ),
            "price of a filter": lambda: on.price(
                self.query().filter(self.cell() > one()).agg(n=COUNT), BUDGET
            ),
            "price_all": lambda: on.price_all(self.pair(), one()),
            "what_if": lambda: on.what_if(one(), one()),
            "suggest": lambda: on.suggest(one(), one(), one(), one()),
            "release": lambda: on.release(one(), one(), **named("key", "why")),
            "release_all": lambda: on.release_all(self.pair(), one(), **named("key")),
            "statement": lambda: on.statement(one(), one()),
            "partition": lambda: on.partition("r", one(), one(), one()),
            "view": lambda: on.view(one(), one()),
            "tables": lambda: sd.Session(one(), one()),
            "source": lambda: sd.Session(
                {"t": sd.PrivateTable(one(), protects=sd.AddOneRow())}, BUDGET
            ),
            "options": lambda: sd.Session(
                {"t": rows},
                BUDGET,
                **named("analyst", "who", "engine", "memory_limit", "threads"),
            ),
        }


def session(engine: EngineName) -> sd.Session:
    """Return a session of ids, of rows, and of a public table."""
    tables = {
        "t": sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("id")),
        "r": sd.PrivateTable(ROWS, protects=sd.AddOneRow()),
        "p": sd.PublicTable({"g": ["a"], "w": [1]}),
    }
    return sd.Session(tables, sd.ApproxDP(1000, "0.1"), engine=engine)


def wrong_calls(calls: Calls, count: int) -> list[str]:
    """Make so many calls, and say what is wrong with what came of them."""
    opened, wrong = calls.session, list[str]()
    answer = opened._desk.engine.answer
    reads: list[object] = []

    def reading(question: Any) -> Any:
        reads.append(question)
        return answer(question)

    opened._desk.engine.answer = reading  # type: ignore[method-assign]
    try:
        for _ in range(count):
            calls.dice.notes.clear()
            name, call = calls.draw()
            before = len(opened.history()), len(reads)
            told = fault(name, call)
            may_spend = told is None and name in _SPENDING
            if (len(opened.history()), len(reads)) != before and not may_spend:
                wrong.append(f"{name}: charged or read")
            wrong += [told] if told else []
            made = tuple(calls.dice.notes)
            calls.refused += told is not None and made not in calls.made
            calls.made.add(made)
    finally:
        opened._desk.engine.answer = answer  # type: ignore[method-assign]
    return wrong


def fault(name: str, call: Callable[[], object]) -> str | None:
    """Make a call, and return what is wrong with its refusal; None for an answer."""
    try:
        show(call())
    except SordinoError as refusal:
        length = len(str(refusal))
        return f"{name}: {length} letters" if length > LONGEST else ""
    except Hostile:
        return ""
    except Exception as error:  # noqa: BLE001 that is what is looked for
        return f"{name}: {traceback.format_exc(limit=-3)}" if _is_ours(error) else ""
    return None


def _is_ours(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return any(Path(frame.filename).is_relative_to(_PACKAGE) for frame in frames)


def _hashable(value: Any) -> bool:
    """Tell whether Python lets a value be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
