"""Parts of a table: what they hold, what they are charged, what they may spend."""

import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.aggregations.measurement import Total
from sordino.data.units import AbstractUnit
from sordino.errors import BudgetExceeded, InvalidParameter, InvalidQuery, UnknownName
from sordino.expressions.literals import literal
from sordino.losses.budgets.limits import Limit
from sordino.query.nodes import Question
from tests.batches import for_each
from tests.sessions import Engine

ROWS: Final[dict[str, list[Any]]] = {
    "person": [1, 1, 2, 3, 4, 4],
    "ward": ["A", "B", "A", None, "A ", "B"],
    "days": [3, None, 8, 2, 5, 40],
}
BUDGET: Final = sd.PureDP("0.1")


def session(
    protects: AbstractUnit | None = None,
    limit: Any = None,
    rows: Any = None,
    engine: Engine = "memory",
) -> sd.Session:
    held = ROWS if rows is None else rows
    table = sd.PrivateTable(held, protects=protects or sd.AddOneRow())
    return sd.Session({"visits": table}, limit or sd.PureDP(1), engine=engine)


def size(part: sd.Session) -> int:
    """Return how many rows a part holds, exactly."""
    rows = part._desk.catalog.relation("visits").node
    asked = Question(rows, (), (Total(literal(1)),))
    count: int = part._desk.engine.answer(asked).column(0)[0].as_py()
    return count


VALUES: Final[dict[str, tuple[pa.DataType, list[Any]]]] = {
    "text": (pa.string(), ["", " ", "A", "a", "A ", "é", "e\u0301", "\0"]),
    "i64": (pa.int64(), [2**53, 2**53 + 1, -(2**63), 2**63 - 1, 0, 1]),
    "bool": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [date(1, 1, 1), date(2020, 2, 29), date(9999, 12, 31)]),
    "time": (
        pa.timestamp("us"),
        [datetime(2020, 1, 1, 0, 0, 0, n) for n in (0, 1, 999_999)],  # noqa: DTZ001 UTC
    ),
}
"""Values of each type that come near to each other."""


@for_each("engine", ["duckdb", "memory"])
@for_each("kind", VALUES)
def test_every_row_is_in_one_part(kind: str, engine: Engine) -> None:
    """On every engine, for values of each type that come near to each other."""
    arrow, values = VALUES[kind]
    held = [one for place, one in enumerate(values, 1) for _ in range(place)]
    rows = pa.table({"x": pa.array([*held, None, None], arrow)})
    opened = session(rows=rows, engine=engine)
    found = opened.partition("visits", "x", [*values, None], BUDGET)
    sizes = {value: size(part) for value, part in found.items()}
    wanted = {value: place for place, value in enumerate(values, 1)}
    assert sizes == wanted | {None: 2}
    assert opened.spent == BUDGET


@for_each(
    ("kind", "pair"),
    [
        ("i64", [2**53 + 1, float(2**53)]),
        ("i64", [1, True]),
        ("i64", [1, np.int8(1)]),
        ("bool", [True, 1]),
        ("text", ["A", np.str_("A")]),
        ("date", [date(2020, 1, 1), datetime(2020, 1, 1)]),  # noqa: DTZ001 without one
        ("time", [datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)]),  # noqa: DTZ001 without one
        ("time", [datetime(2020, 1, 1, tzinfo=UTC), np.datetime64("2020-01-01T00")]),
        ("text", [None, None]),
        ("text", ["A", math.nan]),
        ("text", ["A", ["A"]]),
        ("text", ["A", np.array([1, 2])]),
    ],
)
def test_one_value_in_two_guises_is_refused(kind: str, pair: list[Any]) -> None:
    rows = pa.table({"x": pa.array([], VALUES[kind][0])})
    opened = session(rows=rows)
    with pytest.raises(InvalidParameter, match=r"contains a value|must be"):
        opened.partition("visits", "x", pair, BUDGET)
    assert opened.spent == sd.PureDP(0)


WRONG: Final[dict[str, tuple[type[Exception], tuple[Any, ...]]]] = {
    "table": (UnknownName, ("stays", "ward", ["A"], BUDGET)),
    "column": (UnknownName, ("visits", "wing", ["A"], BUDGET)),
    "no name": (InvalidParameter, (5, "ward", ["A"], BUDGET)),
    "no column": (InvalidParameter, ("visits", ["ward"], ["A"], BUDGET)),
    "text": (InvalidParameter, ("visits", "ward", "AB", BUDGET)),
    "nothing": (InvalidParameter, ("visits", "ward", [], BUDGET)),
    "a set": (InvalidParameter, ("visits", "ward", {"A"}, BUDGET)),
    "floats": (InvalidQuery, ("visits", "cost", [1.5], BUDGET)),
    "a risk": (InvalidParameter, ("visits", "ward", ["A"], sd.Advantage("0.1"))),
    "no budget": (InvalidParameter, ("visits", "ward", ["A"], 1)),
    "nothing to spend": (InvalidParameter, ("visits", "ward", ["A"], sd.PureDP(0))),
    "everything": (InvalidParameter, ("visits", "ward", ["A"], sd.PureDP(math.inf))),
    "all of mu": (InvalidParameter, ("visits", "ward", ["A"], sd.GaussianDP(math.inf))),
    "a root": (InvalidParameter, ("visits", "ward", ["A"], sd.PureDP("sqrt(2)/9"))),
    "too much": (BudgetExceeded, ("visits", "ward", ["A"], sd.PureDP("1.1"))),
}


@for_each("wrong", WRONG)
def test_what_is_wrong_is_refused_before_it_is_charged(wrong: str) -> None:
    refusal, given = WRONG[wrong]
    opened = session(rows=ROWS | {"cost": [1.5] * 6})
    with pytest.raises(refusal):
        opened.partition(*given)
    assert opened.spent == sd.PureDP(0)


UNITS: Final[dict[str, tuple[AbstractUnit, int]]] = {
    "one row": (sd.AddOneRow(), 1),
    "two rows": (sd.AddMaxRows(2), 1),
    "more rows than parts": (sd.AddMaxRows(7), 1),
    "rows in groups": (sd.AddMaxRowsInMaxGroups("ward", 2, 5), 2),
    "rows in groups of another column": (sd.AddMaxRowsInMaxGroups("days", 1, 5), 1),
}


@for_each("unit", UNITS)
def test_parts_are_charged_as_often_as_a_unit_is_in_them(unit: str) -> None:
    """One charge, of as many budgets as a unit can fill parts with its rows."""
    protects, factor = UNITS[unit]
    opened = session(protects)
    opened.partition("visits", "ward", ["A", "B", None], BUDGET, why="by ward")
    (entry,) = opened.history()
    assert opened.spent == sd.PureDP(BUDGET.epsilon * factor)
    assert entry.why == "by ward"
    assert entry.plan == "parts of visits by ward: 'A', 'B', None"


def test_ids_are_charged_by_the_bound_on_their_groups() -> None:
    """Without a bound they are refused with the remedy; by id each is in one part."""
    opened = session(sd.AddRowsWithID("person"))
    with pytest.raises(InvalidQuery, match=r"enforce\(sd.MaxGroupsPerID\('ward', 1\)"):
        opened.partition("visits", "ward", ["A", "B", None], BUDGET)
    opened.view("in 2", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 2)))
    opened.partition("in 2", "ward", ["A", "B", None], BUDGET)
    assert opened.spent == sd.PureDP("0.2")
    opened.view("of 1", sd.table("visits").enforce(sd.MaxRowsPerID(1)))
    opened.partition("of 1", "ward", ["A", "B", None], BUDGET)
    assert opened.spent == sd.PureDP("0.3")
    opened.partition("visits", "person", [1, 2, 3], BUDGET)
    assert opened.spent == sd.PureDP("0.4")


FIVE: Final = sd.table("visits").enforce(
    sd.MaxRowsPerID(5), sd.MaxRowsPerGroupPerID("ward", 2)
)
"""Five rows of an id, two in a ward: they fill two wards and half of a third."""


def test_rows_that_do_not_divide_are_charged_to_the_half() -> None:
    """Five rows of which two share a part are two and a half parts."""
    opened = session(sd.AddRowsWithID("person"))
    opened.view("five", FIVE)
    opened.partition("five", "ward", ["A", "B", None], BUDGET)
    assert opened.spent == sd.PureDP(BUDGET.epsilon * Fraction(5, 2))


def test_rows_that_meet_their_own_are_not_by_themselves() -> None:
    """In a part that is charged by the row, a row of a join with itself is many.

    An id has two rows there, and each meets both: its four pairs lie in three parts,
    and are charged as if each of its rows filled all of them.
    """
    opened = session(sd.AddRowsWithID("person"))
    opened.view("five", FIVE)
    part = opened.partition("five", "ward", ["A", "B", None], sd.PureDP("0.3"))["A"]
    part.view("pairs", sd.table("five").join_private("five", on="person"))
    part.partition("pairs", "days", [3, 8, 2], sd.PureDP("0.01"))
    assert part.spent == sd.PureDP("0.06")


def test_two_rows_of_a_part_are_counted_one_by_one() -> None:
    """A row that changes is two rows of a part at most, and each costs half of it.

    Of the whole table they pull two ways; what one row costs alone must be half of what
    both cost, so in a part they count as if they pulled one way.
    """
    opened = session(sd.ChangeOneRow(), sd.ZCDP(1))
    part = opened.partition("visits", "ward", ["A", "B"], sd.ZCDP("0.1"))["A"]
    days = sd.KeySet.from_dict({"days": [1, 2]})
    query = sd.table("visits").group_by(days).agg(n=sd.count())
    assert part.price(query, sd.ZCDP("0.1")).sensitivity["n"].l2 == 2
    assert opened.price(query, sd.ZCDP("0.1")).sensitivity["n"].l2 ** 2 == 2


def test_a_part_spends_its_budget_and_no_more() -> None:
    opened = session()
    found = opened.partition("visits", "ward", ["A", "B", None], BUDGET)
    query = sd.table("visits").agg(n=sd.count())
    for share in ("0.05", "0.03", "0.02"):
        for part in found.values():
            part.release(query, sd.PureDP(share))
    for part in found.values():
        assert part.remaining == sd.PureDP(0)
        with pytest.raises(BudgetExceeded):
            part.release(query, sd.PureDP("1e-30"))
    assert opened.spent == BUDGET
    assert len(opened.history()) == 1


def test_a_part_sees_nothing_but_its_rows() -> None:
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    beds = sd.PublicTable({"ward": ["A"], "beds": [3]})
    opened = sd.Session(
        {"visits": table, "stays": table, "beds": beds}, sd.PureDP(1), engine="memory"
    )
    opened.view("all", sd.table("visits"))
    part = opened.partition("visits", "ward", ["A", "B"], BUDGET)["A"]
    assert size(part) == 2
    for name in ("stays", "all"):
        with pytest.raises(UnknownName):
            part.price(sd.table(name).agg(n=sd.count()), BUDGET)
    part.view("all", sd.table("visits").join_public("beds", on="ward"))
    part.release(sd.table("all").agg(n=sd.sum("beds", 0, 9)), BUDGET)


def test_parts_of_parts_are_paid_by_the_part() -> None:
    opened = session(sd.AddMaxRowsInMaxGroups("ward", 2, 2))
    part = opened.partition("visits", "ward", ["A", "B"], sd.PureDP("0.4"))["A"]
    assert opened.spent == sd.PureDP("0.8")
    inner = part.partition("visits", "days", [3, 8, 2], sd.PureDP("0.3"))
    assert part.spent == sd.PureDP("0.3")
    assert [size(one) for one in inner.values()] == [1, 1, 0]
    with pytest.raises(BudgetExceeded):
        part.partition("visits", "days", [3, 8], sd.PureDP("0.11"))
    part.release(sd.table("visits").agg(n=sd.count()), sd.PureDP("0.1"))
    assert opened.spent == sd.PureDP("0.8")


LIMITS: Final[dict[str, Callable[[], Limit]]] = {
    "epsilon": lambda: Limit.of(sd.PureDP(50)),
    "epsilon-delta": lambda: Limit.of(sd.ApproxDP(50, "1e-3")),
    "rho": lambda: Limit.of(sd.ZCDP(500)),
    "rho-delta": lambda: Limit.of(sd.ApproxZCDP(500, "1e-3")),
    "mu": lambda: Limit.of(sd.GaussianDP(50)),
    "mu-delta": lambda: Limit.of(sd.Advantage("0.9999"), "gaussian", "1e-3"),
    "either": lambda: Limit.of(sd.ApproxDP(50, "1e-2"), "concentrated", "1e-3"),
}
KINDS: Final[dict[str, Callable[[Fraction], sd.Loss]]] = {
    "epsilon": sd.PureDP,
    "epsilon-delta": lambda share: sd.ApproxDP(share, share / 10**6),
    "rho": sd.ZCDP,
    "rho-delta": lambda share: sd.ApproxZCDP(share, share / 10**6),
    "mu": lambda share: sd.GaussianDP(share),
}
COUNTED: Final = {
    "epsilon": {"epsilon"},
    "epsilon-delta": {"epsilon", "epsilon-delta", "mu"},
    "rho": {"epsilon", "rho", "mu"},
    "rho-delta": set(KINDS),
    "mu": {"epsilon", "mu"},
    "mu-delta": {"epsilon", "epsilon-delta", "mu"},
    "either": set(KINDS),
}
"""Which budgets of parts each limit can count, as it is or chosen by the first charge.

The others are refused.
"""


@cache
def limit_of(name: str) -> Limit:
    return LIMITS[name]()


@for_each("kind", KINDS)
@for_each("limit", LIMITS)
def test_a_limit_counts_parts_in_its_own_terms_or_refuses(
    limit: str, kind: str
) -> None:
    """A budget of which the limit knows no bound is refused before it is charged."""
    opened = session(limit=limit_of(limit))
    budget = KINDS[kind](Fraction(1, 10))
    if kind in COUNTED[limit]:
        opened.partition("visits", "ward", ["A", "B"], budget)
        return
    with pytest.raises(InvalidParameter, match="same kind as the limit"):
        opened.partition("visits", "ward", ["A", "B"], budget)
    assert opened.history() == ()


@given(
    pair=st.sampled_from([
        (one, two) for one in LIMITS for two in sorted(COUNTED[one])
    ]),
    shares=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    factor=st.integers(1, 4),
)
def test_one_charge_covers_what_the_parts_may_ask(
    pair: tuple[str, str], shares: list[int], factor: int
) -> None:
    """Any releases within the budgets of the parts a unit is in cost no more.

    In each coordinate that is counted, asked one by one of the whole instead.
    """
    limit, kind = pair
    stated = limit_of(limit)
    chosen = stated.by_mu if kind == "mu" else None
    rule, made = (chosen or stated).rule, KINDS[kind]
    atoms = [made(Fraction(one, 100)) for one in shares] * factor
    one_by_one = rule.zero
    for atom in atoms:
        one_by_one = one_by_one.plus(rule.charge_for(atom, atom))
    whole = made(_added(kind, [Fraction(one, 100) for one in shares]))
    cost: Any = whole.times(Fraction(factor))
    at_once = rule.charge_for(cost, cost)
    for spent, charged in zip(one_by_one.amounts, at_once.amounts, strict=True):
        # a root is rounded up each time: what is left of that is too small to matter
        assert spent <= charged * (1 + Fraction(1, 10**12))


def _added(kind: str, shares: list[Fraction]) -> Any:
    if kind != "mu":
        return sum(shares, Fraction(0))
    square = sum((share**2 for share in shares), Fraction(0))
    return f"sqrt({square})"


def test_a_part_charges_what_one_row_may_cost_in_any_terms() -> None:
    """A budget of another kind than the part's is charged itself, not its share.

    The first group may cost a unit with one row in the part as much as one
    with three, so it is bought with a third; that third alone was charged where the
    part counts rhos and an epsilon was asked (found by the kernel).
    """
    rows = {"page": ["a", "b", "a"], "ward": ["x", "y", "x"]}
    views = sd.PrivateTable(rows, protects=sd.AddMaxRows(3))
    parts = sd.Session({"views": views}, sd.ZCDP(1)).partition(
        "views", "page", ["a", "b", "c"], sd.ZCDP("0.3")
    )
    wards = sd.KeySet.from_dict({"ward": ["x", "y", "z"]})
    query = sd.table("views").group_by(wards).top(1, by=sd.count())
    parts["a"].release(query, sd.PureDP("0.6"))
    third = sd.ZCDP("0.005")  # of a range of 0.2
    assert parts["a"].spent.guarantees.rho >= 3 * third.guarantees.rho
