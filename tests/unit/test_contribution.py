"""What follows from bounds on a unit's rows, against all small tables of one unit."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.data.contribution import (
    LARGEST,
    Contribution,
    Versions,
    limit,
    most_squares,
)
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.schema import Version
from sordino.numbers import sqrt
from tests.batches import for_each
from tests.effort import PROFILE

WARD: Final = frozenset([Version()])
YEAR: Final = frozenset([Version()])
NONE: Final[Versions] = frozenset()
BY: Final = (NONE, WARD, YEAR, WARD | YEAR)
UNIT: Final = np.array(list(itertools.product(range(3), repeat=6))).reshape(-1, 2, 3)
"""(unit, ward, year): how many rows a unit has in each of 2 wards and 3 years."""
SOME: Final = st.none() | st.integers(1, 4)


def counts(by: Versions) -> Any:
    axes = tuple(axis for axis, columns in ((1, WARD), (2, YEAR)) if not columns <= by)
    return UNIT.sum(axis=axes).reshape(len(UNIT), -1)


def holds(bounds: Contribution) -> Any:
    """Return which units satisfy bounds."""
    kept = np.ones(len(UNIT), bool)
    if bounds.rows is not None:
        kept &= counts(NONE)[:, 0] <= bounds.rows
    for columns, most in bounds.groups:
        kept &= (counts(columns) > 0).sum(axis=1) <= most
    for columns, most in bounds.group_rows:
        kept &= counts(columns).max(axis=1) <= most
    return kept


@st.composite
def contributions(draw: st.DrawFn) -> Contribution:
    """Draw bounds of every kind, on any columns."""
    found = Contribution(rows=draw(SOME))
    for columns in BY[1:]:
        groups, rows = draw(SOME), draw(SOME)
        found = found if groups is None else found.with_groups(columns, groups)
        found = found if rows is None else found.with_group_rows(columns, rows)
    return found


@given(contributions(), st.sampled_from(BY))
def test_no_unit_moves_the_counts_further(bounds: Contribution, by: Versions) -> None:
    """For any bounds and any groups, every unit within the bounds is within the norms.

    Units are all tables of 2 wards and 3 years with at most 2 rows in each cell.
    """
    known = bounds.sensitivity(by)
    moved = counts(by)[holds(bounds)]
    if known is None:
        return
    assert (moved > 0).sum(axis=1).max() <= known.l0
    assert moved.sum(axis=1).max() <= known.l1
    assert Fraction(int((moved**2).sum(axis=1).max())) <= known.l2**2
    assert moved.max() <= known.linf
    touched = bounds.groups_touched(by)
    assert touched is not None
    assert (moved > 0).sum(axis=1).max() <= touched


def _moved(by: Versions) -> dict[str, Any]:
    """Return how far each unit moves the counts of groups, in each norm."""
    each = counts(by)
    return {
        "l0": (each > 0).sum(axis=1),
        "l1": each.sum(axis=1),
        "squares": (each**2).sum(axis=1),
        "linf": each.max(axis=1),
    }


def _kept_by(columns: Versions, groups: int | None, rows: int | None) -> Any:
    """Return which units satisfy bounds on the groups of some columns."""
    bounds = Contribution()
    bounds = bounds if groups is None else bounds.with_groups(columns, groups)
    return holds(bounds if rows is None else bounds.with_group_rows(columns, rows))


def small_bounds(
    most: Sequence[int | None],
) -> Iterator[tuple[Contribution, Any]]:
    """Yield all bounds of these numbers on every set of columns, and who keeps them."""
    pairs = list(itertools.product(most, most))
    kept = {
        (columns, pair): _kept_by(columns, *pair)
        for columns in BY[1:]
        for pair in pairs
    }
    within = {rows: holds(Contribution(rows=rows)) for rows in most}
    for rows, *limits in itertools.product(most, pairs, pairs, pairs):
        bounds, units = Contribution(rows=rows), within[rows]
        for columns, (groups, each) in zip(BY[1:], limits, strict=True):
            bounds = bounds if groups is None else bounds.with_groups(columns, groups)
            bounds = bounds if each is None else bounds.with_group_rows(columns, each)
            units = np.logical_and(units, kept[columns, (groups, each)])
        yield bounds, units


def too_small(most: Sequence[int | None]) -> list[str]:
    """Return the bounds, and groups, whose norms some unit passes."""
    norms = {by: _moved(by) for by in BY}
    wrong = []
    for bounds, units in small_bounds(most):
        for by in BY:
            if (known := bounds.sensitivity(by)) is None:
                continue
            told: dict[str, Any] = {
                "l0": known.l0,
                "l1": known.l1,
                "squares": known.l2**2,
                "linf": known.linf,
            }
            wrong += [
                f"{name} {told[name]} of {bounds!r} by {sorted(map(id, by))}"
                for name, moved in norms[by].items()
                if moved[units].max() > told[name]
            ]
    return wrong


def test_no_small_bound_is_too_small() -> None:
    """Of 8,748 bounds and groups none: enumerated, not drawn. 312,500 by night."""
    by_day, at_night = (None, 1, 3), (None, 1, 2, 3, 4)
    assert too_small(at_night if PROFILE == "night" else by_day) == []


def vectors(size: int, most: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(range(most + 1), repeat=size)


@for_each("rows", [None, 1, 2, 3, 5, 7])
@for_each("groups", [None, 1, 2, 3, 4])
@for_each("each", [None, 1, 2, 3])
def test_every_norm_is_reached(
    rows: int | None, groups: int | None, each: int | None
) -> None:
    """With bounds on the columns that are grouped by, some unit reaches each norm."""
    bounds = Contribution(rows=rows)
    bounds = bounds if groups is None else bounds.with_groups(WARD, groups)
    bounds = bounds if each is None else bounds.with_group_rows(WARD, each)
    known = bounds.sensitivity(WARD)
    bounded = rows is not None or (groups is not None and each is not None)
    assert (known is not None) == bounded
    if known is None:
        return
    size = min(one for one in (groups, rows, 7) if one is not None)
    most = min(one for one in (each, rows, 7) if one is not None)
    # the largest vectors are those in descending order: one for each multiset
    whole = rows if rows is not None else size * most
    units = [
        one
        for one in itertools.combinations_with_replacement(range(most, -1, -1), size)
        if sum(one) <= whole
    ]
    assert max(sum(map(bool, one)) for one in units) == known.l0
    assert max(map(sum, units)) == known.l1
    assert max(map(max, units)) == known.linf
    squares = max(sum(x * x for x in one) for one in units)
    assert sqrt(Fraction(squares)) == known.l2


@for_each("whole", range(9))
@for_each("largest", range(4))
@for_each("count", range(1, 5))
def test_the_most_squares_are_reached_and_not_passed(
    whole: int, largest: int, count: int
) -> None:
    """The largest sum of squares of such integers is what brute force finds."""
    found = max(
        sum(x * x for x in one) for one in vectors(count, largest) if sum(one) <= whole
    )
    assert most_squares(whole, largest, count) == found


@given(contributions(), st.sampled_from(BY), st.integers(1, 4))
def test_more_bounds_never_move_more(
    bounds: Contribution, by: Versions, most: int
) -> None:
    """A further bound makes no norm larger, and rows made of rows make none smaller."""
    before = bounds.sensitivity(by)
    for tighter in (
        bounds.with_rows(most),
        bounds.with_groups(WARD, most),
        bounds.with_group_rows(YEAR, most),
    ):
        after = tighter.sensitivity(by)
        if before is not None:
            assert after is not None
            assert not exceeds(after, before)
    more = bounds.times(2).sensitivity(by)
    assert (more is None) == (before is None)
    if before is not None:
        assert not exceeds(before, more)
    forgotten = bounds.without_row_bounds()
    assert (forgotten.rows, forgotten.group_rows) == (None, ())


def exceeds(one: Any, other: Any) -> bool:
    return any(
        getattr(one, norm) > getattr(other, norm) for norm in ("l0", "l1", "l2", "linf")
    )


def test_bounds_on_columns_without_a_new_version_are_forgotten() -> None:
    """Bounds move to the new versions of all their columns, or are not known."""
    (ward,), (year,), new = WARD, YEAR, Version()
    bounds = Contribution(rows=9).with_groups(WARD, 2).with_group_rows(WARD | YEAR, 1)
    moved = bounds.restate({ward: new})
    assert moved == Contribution(rows=9).with_groups(frozenset([new]), 2)
    both = bounds.restate({ward: new, year: year})
    assert both.group_rows == ((frozenset([new, year]), 1),)


def test_many_bounds_are_combined_in_no_time() -> None:
    """With 60 bounds on different columns the least product is found at once."""
    columns = [Version() for _ in range(60)]
    bounds = Contribution()
    for one in columns:
        bounds = bounds.with_groups(frozenset([one]), 2)
    assert bounds.most_groups(frozenset(columns[:3])) == 8
    assert bounds.most_groups(frozenset(columns[:10])) == 2**10


def test_a_bound_on_the_same_columns_keeps_the_least() -> None:
    """Bounds of both sides of a join stand beside each other; a third is the least."""
    twice = Contribution(groups=((WARD, 2), (WARD, 5)))
    assert twice.with_groups(WARD, 3).groups == ((WARD, 2),)


@for_each("given", [0, -1, True, 1.0, "1", None, LARGEST + 1, 10**400])
def test_senseless_limits_are_refused(given: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^max_rows must be .*\. Try "):
        limit(max_rows=given)
    assert limit(max_rows=LARGEST) == LARGEST


def test_one_object_declares_two_columns() -> None:
    """What limits say of one column does not hold of another with the same facts."""
    facts = sd.Column("i64", nullable=False)
    rows = {"p": [1] * 20, "x": [0] * 20, "y": list(range(20))}
    columns = {"x": facts, "y": facts}
    table = sd.PrivateTable(rows, protects=sd.AddRowsWithID("p"), columns=columns)
    session = sd.Session({"t": table}, sd.PureDP(10**9), engine="memory")
    keys = sd.KeySet.from_dict({"y": list(range(20))})
    once = sd.table("t").enforce(sd.MaxGroupsPerID("x", 1))
    with pytest.raises(InvalidQuery, match="nothing bounds how many groups"):
        session.price(once.group_by(keys).agg(n=sd.count_ids()), sd.PureDP(1))
    sums: dict[str, Any] = {name: sd.sum(name, 0, 20) for name in ("x", "y")}
    both = sd.table("t").enforce(sd.MaxRowsPerID(20)).agg(**sums)
    (found,) = session.release(both, sd.PureDP(10**8)).table.to_pylist()
    assert found == pytest.approx({"x": 0, "y": 190}, abs=0.01)
