"""The kernel: derives anew what a price loses, and refuses a charge that is too small.

It reads a certificate (docs/proofs/certificates.md), imports the standard library alone
and shares no code with the rest of Sordino: this file can be copied anywhere and run as
`python checker.py FILE`. Nothing that a certificate concludes is believed. How far
numbers move, what noise costs and what a composition loses is computed here, from the
plan that the engine is given, whom the tables protect, the scales of the noise that is
drawn, and public sizes. Each rule names the lemma in docs/proofs that it rests on.

Numbers are exact rationals. exp, ln, sqrt and the normal law are enclosed from both
sides, and every rounding goes towards more loss.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
)
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, starmap
from math import ceil, comb, factorial, floor, isfinite, isqrt, prod
from pathlib import Path
from typing import Any, final

VERSION = 1
"""Of certificates; a checker refuses any other."""


@final
class Refused(Exception):
    """What does not follow from a certificate.

    `is_loose`: it may be so, and no composed curve as fine as is computed shows it.
    """

    def __init__(self, why: str, *, is_loose: bool = False) -> None:
        super().__init__(why)
        self.is_loose = is_loose


def need(holds: Any, why: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise Refused(why)


# --- Reading: hostile until proven otherwise ------------------------------------------

MOST_BYTES = 2**24
MOST_DIGITS = 1_500
_RATIONAL = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?")


def rational(text: Any) -> Fraction:
    """Read an exact number, "3/8"; no exponents, whose values could be huge."""
    need(isinstance(text, str) and len(text) <= 2 * MOST_DIGITS, "not an exact number")
    read = _RATIONAL.fullmatch(text)
    if read is None or max(map(len, text.split("/"))) > MOST_DIGITS:
        raise Refused("not an exact number")
    need(read[2] is None or int(read[2]), "a number over zero")
    return Fraction(int(read[1]), int(read[2] or 1))


def square(number: Any) -> Fraction:
    """Read the square of "3/8" or of ["sqrt", "3/8"]."""
    if isinstance(number, list):
        need(len(number) == 2 and number[0] == "sqrt", "not a root")
        read = rational(number[1])
    else:
        read = rational(number) * abs(rational(number))
    need(read >= 0, "a number below zero")
    return read


def read_whole(number: Any, least: int = 0, most: int = 2**53) -> int:
    """Read a whole number within bounds; True is none."""
    need(type(number) is int and least <= number <= most, "not a whole number")
    return int(number)


def names(words: Any) -> list[str]:
    """Read a list of different names."""
    need(isinstance(words, list) and all(isinstance(n, str) for n in words), "no names")
    need(len(set(words)) == len(words), "a name twice")
    return list(words)


# --- Enclosures -----------------------------------------------------------------------


@final
class Reals:
    """Decimals of some digits: rounded down, up, or correctly (exp, ln, sqrt)."""

    def __init__(self, digits: int) -> None:
        def context(rounding: str) -> Context:
            # traps=[]: an overflow is an infinity, which is an honest bound
            return Context(digits, rounding, MIN_EMIN, MAX_EMAX, traps=[])

        self.digits = digits
        self.down, self.up = context(ROUND_FLOOR), context(ROUND_CEILING)
        self.near = context(ROUND_HALF_EVEN)

    def exactly(self, number: Decimal) -> "Span":
        """Return what a decimal is."""
        return Span(self, number, number)

    def of(self, number: Fraction | int) -> "Span":
        """Enclose a rational."""
        exact = Fraction(number)
        top, bottom = Decimal(exact.numerator), Decimal(exact.denominator)
        return Span(self, self.down.divide(top, bottom), self.up.divide(top, bottom))


@final
@dataclass(frozen=True, slots=True)
class Span:
    """A real number between two decimals."""

    reals: Reals
    low: Decimal
    high: Decimal

    def __add__(self, other: "Span") -> "Span":
        add = self.reals.down.add, self.reals.up.add
        return Span(
            self.reals, add[0](self.low, other.low), add[1](self.high, other.high)
        )

    def __neg__(self) -> "Span":
        return Span(self.reals, self.low.copy_negate(), self.high.copy_negate()).reverse

    @property
    def reverse(self) -> "Span":
        """Put the ends in order."""
        return Span(self.reals, self.high, self.low)

    def __sub__(self, other: "Span") -> "Span":
        return self + -other

    def __mul__(self, other: "Span") -> "Span":
        pairs = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        low = min(starmap(self.reals.down.multiply, pairs))
        return Span(self.reals, low, max(starmap(self.reals.up.multiply, pairs)))

    def __truediv__(self, other: "Span") -> "Span":
        need(other.low > 0, "a quotient by what may be zero")
        unit = Decimal(1)
        inverse = (
            self.reals.down.divide(unit, other.high),
            self.reals.up.divide(unit, other.low),
        )
        return self * Span(self.reals, *inverse)

    def exp(self) -> "Span":
        """Enclose the exponential: `decimal` rounds it correctly, so one step does."""
        near = self.reals.near
        low = self.reals.down.next_minus(near.exp(self.low))
        return Span(
            self.reals,
            max(Decimal(0), low),
            self.reals.up.next_plus(near.exp(self.high)),
        )

    def ln(self) -> "Span":
        """Enclose the logarithm of what is above zero."""
        need(self.low > 0, "a logarithm of what may be zero")
        near = self.reals.near
        return Span(
            self.reals,
            self.reals.down.next_minus(near.ln(self.low)),
            self.reals.up.next_plus(near.ln(self.high)),
        )

    def root(self) -> "Span":
        """Enclose the square root of what is at least zero."""
        near = self.reals.near
        low = self.reals.down.next_minus(near.sqrt(max(Decimal(0), self.low)))
        return Span(
            self.reals,
            max(Decimal(0), low),
            self.reals.up.next_plus(near.sqrt(max(Decimal(0), self.high))),
        )

    def clip(self, low: int, high: int) -> "Span":
        """Narrow to what the number is known to be between."""
        ends = Decimal(low), Decimal(high)
        return Span(
            self.reals,
            min(max(self.low, ends[0]), ends[1]),
            min(max(self.high, ends[0]), ends[1]),
        )


def round_up(number: Decimal) -> Fraction:
    """Return a rational not below a decimal, short where that is tiny."""
    need(number.is_finite() and number < Decimal("1e3000"), "a number without a bound")
    return Fraction(max(number, Decimal("1e-3000")) if number else Decimal(0))


@lru_cache(maxsize=64)
def _pi(digits: int) -> tuple[int, int]:
    """Enclose pi times 10**digits by Machin's sum of two arctangents."""
    unit = 10 ** (digits + 10)

    def arctangent(of: int) -> int:
        total, power, odd = 0, unit // of, 1
        while power:
            total += power // odd if odd % 4 == 1 else -(power // odd)
            power //= of * of
            odd += 2
        return total

    near = 4 * (4 * arctangent(5) - arctangent(239))
    # each of fewer than 4 * digits terms is cut off by less than 20 in the last place
    off = 100 * digits + 10**4
    return (near - off) // 10**10, -(-(near + off) // 10**10)


def _normal_at(reals: Reals, x: Decimal) -> Span:  # noqa: PLR0914, PLR0915 one series
    """Enclose Phi(x): 1/2 + phi(x) (x + x**3/3 + x**5/15 + ...), in integers.

    Far out the two parts nearly cancel, by about x**2 / 4.6 digits, which are added.
    """
    tiny = Decimal(1).scaleb(-reals.digits)
    if x * x > 5 * reals.digits + 10:  # Phi(-x) <= exp(-x * x / 2), and ln 10 < 2.5
        zero, one_ = Decimal(0), Decimal(1)
        return Span(reals, zero, tiny) if x < 0 else Span(reals, one_ - tiny, one_)
    lost = int(x * x * Decimal("0.2172")) + 4
    wide = Reals(reals.digits + lost + 4) if lost > 6 else reals
    places = wide.digits + 6
    unit = 10**places
    size = (
        wide.down.multiply(abs(x), Decimal(unit)),
        wide.up.multiply(abs(x), Decimal(unit)),
    )
    first = (
        int(size[0].to_integral_value(ROUND_FLOOR)),
        int(size[1].to_integral_value(ROUND_CEILING)),
    )
    below, round_up = first
    low, high, odd = below, round_up, 1
    while round_up > 1 or odd < 2:
        odd += 2
        below = below * first[0] // unit * first[0] // (unit * odd)
        round_up = -(-round_up * first[1] // unit)
        round_up = -(-round_up * first[1] // (unit * odd))
        low, high = low + below, high + round_up
        if round_up * 2 < odd and first[1] ** 2 * 2 < odd * unit * unit:
            break
    # what is left is a geometric series of ratio 1/2 from the last term on
    high += 2 * round_up + 2
    unit = Decimal(1).scaleb(-places)
    series = Span(wide, wide.down.multiply(low, unit), wide.up.multiply(high, unit))
    pi = _pi(places)
    two_pi = Span(
        wide, wide.down.multiply(2 * pi[0], unit), wide.up.multiply(2 * pi[1], unit)
    )
    exact = Span(wide, x, x)
    density = (-(exact * exact * wide.of(Fraction(1, 2)))).exp() / two_pi.root()
    beside = series * density
    half = wide.of(Fraction(1, 2))
    known_ = half + beside if x >= 0 else half - beside
    return Span(reals, known_.low, known_.high).clip(0, 1)


def normal(x: Span) -> Span:
    """Enclose Phi, which grows."""
    low, high = _normal_at(x.reals, x.low), _normal_at(x.reals, x.high)
    return Span(x.reals, low.low, high.high)


def root_above(number: Fraction) -> Fraction:
    """Return the root of a rational, exactly where it is rational, else from above."""
    top, bottom = isqrt(number.numerator), isqrt(number.denominator)
    if top * top == number.numerator and bottom * bottom == number.denominator:
        return Fraction(top, bottom)
    return round_up(Reals(60).of(number).root().high)


def enclose_gaussian_delta(mu_squared: Fraction, epsilon: Span) -> Span:
    """Enclose delta(epsilon) of N(0, 1) against N(mu, 1) (losses.md)."""
    reals = epsilon.reals
    unit = reals.of(1)
    if mu_squared == 0:
        return (unit - epsilon.exp()).clip(0, 1)
    mu = reals.of(mu_squared).root()
    half, far = mu * reals.of(Fraction(1, 2)), epsilon / mu
    seen, alike = normal(half - far), normal(-half - far)
    return (seen - epsilon.exp() * alike).clip(0, 1)


def chance_of_any(reals: Reals, chance: Decimal, keys: int) -> Decimal:
    """Return 1 - (1 - chance)**keys from above."""
    if not keys:
        return Decimal(0)
    stays = max(Decimal(0), reals.down.subtract(1, chance))
    # the power of decimals may be off by one in the last place
    rest = max(Decimal(0), reals.down.next_minus(reals.down.power(stays, keys)))
    return min(reals.up.subtract(1, rest), reals.up.multiply(chance, keys), Decimal(1))


# --- What one unit can hold: queries.md, sections 1 to 4 ------------------------------

Version = object
"""What a column is; written anew it is another, under whatever name."""
Columns = frozenset[Version]


@final
@dataclass(frozen=True)
class Move:
    """How far a vector moves: entries, and the squares of its norms."""

    entries: int
    l1: Fraction
    l2: Fraction
    largest: Fraction

    @classmethod
    def of(cls, entries: int, l1: Fraction, l2: Fraction, largest: Fraction) -> "Move":
        """Return a move, each of its norms tightened by the others."""
        largest = min(largest, l1, l2)
        l1 = min(l1, entries**2 * largest, entries * l2)
        l2 = min(l2, l1, entries * largest)
        if l1 > 0:
            l2 = min(l2, root_above(l1 * largest))
        return cls(entries, l1, l2, min(largest, l2))

    def times(self, size: Fraction | int, copies: int = 1) -> "Move":
        """Return the move of numbers of that size; `copies` share a row's size."""
        more = Fraction(size) ** 2
        sizes = self.l1 * more, self.l2 * more, self.largest * more
        return Move(self.entries * copies, *sizes)


NOTHING = Move(0, Fraction(0), Fraction(0), Fraction(0))


@final
@dataclass(frozen=True)
class Limits:
    """Bounds on one unit's rows: in all, in how many values of columns, in each."""

    rows: int | None = None
    groups: Mapping[Columns, int] = field(default_factory=dict)
    each: Mapping[Columns, int] = field(default_factory=dict)

    def tighten(
        self,
        rows: int | None = None,
        groups: Mapping[Columns, int] | None = None,
        each: Mapping[Columns, int] | None = None,
    ) -> "Limits":
        """Return the bounds with further ones."""
        known = [most for most in (self.rows, rows) if most is not None]
        return Limits(
            min(known, default=None),
            _least(self.groups, groups or {}),
            _least(self.each, each or {}),
        )

    def times(self, factor: int | None) -> "Limits":
        """Return the bounds after each row became so many, or any number."""
        if factor is None:
            return Limits(None, self.groups, {})
        more = max(factor, 1)
        return Limits(
            None if self.rows is None else self.rows * more,
            self.groups,
            {columns: most * more for columns, most in self.each.items()},
        )

    def most_groups(self, by: Columns) -> int | None:
        """Return in how many groups a unit lies, by the bounds on groups alone.

        Values of `by` are determined by values of sets of columns that cover it, and
        these number at most the product (lemma 1).
        """
        best: dict[Columns, int] = {frozenset(): 1}
        for columns, most in self.groups.items():
            for covered, product in list(best.items()):
                joined = covered | (columns & by)
                best[joined] = min(product * most, best.get(joined, product * most))
        return best.get(by)

    def most_rows(self) -> int | None:
        """Return how many rows a unit has."""
        known_ = [] if self.rows is None else [self.rows]
        for columns, most in self.each.items():
            groups = self.most_groups(columns)
            known_ += [] if groups is None else [groups * most]
        return min(known_, default=None)

    def groups_touched(self, by: Columns) -> int | None:
        """Return in how many groups a unit has rows."""
        known_ = (self.most_groups(by), self.most_rows())
        return min((most for most in known_ if most is not None), default=None)

    def move(self, by: Columns) -> Move:
        """Return how far the row counts of groups move (lemma 1)."""
        rows, touched = self.most_rows(), self.groups_touched(by)
        together = [most for columns, most in self.each.items() if columns <= by]
        together += [] if rows is None else [rows]
        need(touched is not None and together, "nothing bounds the rows of a unit")
        entries, largest = touched or 0, min(together)
        most = entries * largest if rows is None else min(rows, entries * largest)
        squares = [_most_squares(most, largest, entries)]
        for columns, inside in self.each.items():
            groups = self.most_groups(columns) if columns <= by else None
            squares += [] if groups is None else [groups * inside**2]
        return Move.of(
            entries, Fraction(most) ** 2, Fraction(min(squares)), Fraction(largest) ** 2
        )


def _least(
    known: Mapping[Columns, int], more: Mapping[Columns, int]
) -> dict[Columns, int]:
    return dict(known) | {c: min(n, known.get(c, n)) for c, n in more.items()}


def _most_squares(most: int, largest: int, entries: int) -> int:
    """Return the greatest sum of squares of integers of a size and a sum (lemma 1)."""
    full = min(entries, most // largest) if largest else 0
    rest = most - full * largest if full < entries else 0
    return full * largest**2 + rest**2


@final
@dataclass(frozen=True)
class ChargedPart:
    """Rows of one of several parts that were charged once (filters.md, section 7)."""

    rows: int
    """Of one unit, at most."""
    row: Limits
    """What one of them has become."""
    alone: bool
    """Whether it became that whatever other rows its unit has (lemma 6)."""


@final
@dataclass(frozen=True)
class UnitRows:
    """What differs of some rows between two neighbouring databases."""

    columns: Mapping[str, Version]
    limits: Limits
    ids: str | None = None
    space: str | None = None
    each_way: int | None = None
    """Where rows leave and others come: most that leave, and most that come."""
    weighed: tuple[Version, int] | None = None
    """A column whose sum moves by so much and no more."""
    size: int | None = None
    """How many rows there are, where that is public."""
    part: ChargedPart | None = None
    per_key: tuple[Columns, int] | None = None
    """Most rows of anybody that share a value of these columns."""

    def versions(self, words: Iterable[str]) -> Columns:
        """Return the versions of some columns."""
        wanted = list(words)
        need(all(name in self.columns for name in wanted), "a column that is not there")
        return frozenset(self.columns[name] for name in wanted)

    def by_ids(self, words: Iterable[str]) -> bool:
        """Say whether one of some columns is the id, under whatever name."""
        return self.ids is not None and self.columns[self.ids] in self.versions(words)

    def other_rows(self, **known: Any) -> "UnitRows":
        """Return other rows of the same people: their number need not be public."""
        return replace(
            self, **({"weighed": None, "size": None, "per_key": None} | known)
        )

    def tighten(self, **bounds: Any) -> "UnitRows":
        """Return the rows of a unit with further bounds, which hold of each row."""
        part = self.part and replace(self.part, row=self.part.row.tighten(**bounds))
        return replace(self, limits=self.limits.tighten(**bounds), part=part)

    def weight_beside(self, read: Iterable[str]) -> tuple[Version, int] | None:
        """Return the weighed column, unless what is done depends on it."""
        if self.weighed is None:
            return None
        seen = {self.columns.get(name) for name in read}
        return None if self.weighed[0] in seen else self.weighed

    def multiply(self, factor: int | None) -> "UnitRows":
        """Return the rows after each became so many, which share its old columns."""
        every = frozenset(self.columns.values())

        def grown(limits: Limits) -> Limits:
            rows = limits.most_rows()
            if rows is not None and factor != 1:
                limits = limits.tighten(groups={every: rows})
            return limits.times(factor)

        way = None
        if factor is not None and self.each_way is not None:
            way = self.each_way * max(factor, 1)
        return self.other_rows(
            limits=grown(self.limits),
            each_way=way,
            part=self.part and replace(self.part, row=grown(self.part.row)),
        )


_STEPS = frozenset({
    *("table", "unreadable", "crowded", "project", "filter", "part", "keep_rows"),
    *("keep_groups", "keep_unique", "map", "explode", "flat_map", "one_per", "join"),
})


@final
class PlanReader:
    """Reads the tree that the engine runs: what becomes of a unit's rows."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self.left = 1_000
        """Nodes that may still come."""

    def rows(self, node: Any) -> UnitRows:
        """Return the differing rows of a node."""
        self.left -= 1
        need(self.left > 0, "too many steps")
        need(isinstance(node, dict) and isinstance(node.get("do"), str), "not a step")
        need(node["do"] in _STEPS, "a step without a rule")
        known_: UnitRows = getattr(self, "_step_" + node["do"])(node)
        return known_

    def _step_table(self, node: Any) -> UnitRows:
        """Say whom a table protects (units.md)."""
        unit, left_out = self.tables[node["table"]], names(node["leaves_out"])
        rows = UnitRows({name: Version() for name in names(node["columns"])}, Limits())
        match unit["protects"]:
            case "AddOneRow":
                return replace(rows, limits=Limits(rows=1))
            case "AddMaxRows":
                return replace(
                    rows, limits=Limits(rows=read_whole(unit["max_rows"], 1))
                )
            case "ChangeOneRow":
                size = read_whole(unit["rows"])
                return replace(rows, limits=Limits(rows=2), each_way=1, size=size)
            case "AddMaxRowsInMaxGroups":
                marked = rows.versions([unit["column"]])
                groups = read_whole(unit["max_groups"], 1)
                each = read_whole(unit["max_rows_per_group"], 1)
                return rows.tighten(
                    rows=groups * each, groups={marked: groups}, each={marked: each}
                )
            case "AddMaxTotal":
                # rows of no weight, of which neighbours may have any number
                need("below 1" in left_out, "rows that weigh nothing")
                most = read_whole(unit["max_total"], 1)
                (column,) = rows.versions([unit["column"]])
                limits = Limits(rows=2 * most)
                return replace(
                    rows, limits=limits, each_way=most, weighed=(column, most)
                )
            case "AddRowsWithID":
                need("without id" in left_out, "rows without an id")
                rows = rows.tighten(groups={rows.versions([unit["column"]]): 1})
                return replace(rows, ids=unit["column"], space=str(unit["id_space"]))
        raise Refused("a unit without a rule")

    def _step_unreadable(self, node: Any) -> UnitRows:
        """Rows of a table with a cell that cannot be read: some of its rows."""
        unit = self.tables[node["table"]]
        own = {unit["column"]} - set(node["columns"]) if "column" in unit else set()
        return self._step_table({
            **node,
            "columns": [*node["columns"], *own],
        }).other_rows()

    def _step_crowded(self, node: Any) -> UnitRows:
        """One row for each value above a limit: a row lies in one (lemma 10)."""
        rows = self.rows(node["of"])
        kept_ = {name: rows.columns[name] for name in names(node["per"])}
        rows.versions(names(node["groups"]))
        need(rows.ids is None or rows.by_ids(kept_), "rows of several ids in one")
        return rows.other_rows(
            ids=rows.ids and _find_name(kept_, rows.columns[rows.ids]),
            columns=kept_,
            limits=Limits(rows.limits.most_rows()),
            each_way=None,
        )

    def _step_project(self, node: Any) -> UnitRows:
        rows = self.rows(node["of"])
        columns: dict[str, Version] = {}
        read: set[str] = set()
        for name, column_ in node["columns"].items():
            if "is" in column_:
                (columns[name],) = rows.versions([column_["is"]])
            else:
                columns[name] = Version()
                read |= set(names(column_["reads"]))
        ids = rows.ids and _find_name(columns, rows.columns[rows.ids])
        # each row is made of one: their number stays public, where it was
        return replace(
            rows,
            columns=columns,
            ids=ids,
            weighed=rows.weight_beside(read),
            per_key=None,
        )

    def _step_filter(self, node: Any) -> UnitRows:
        rows = self.rows(node["of"])
        return rows.other_rows(weighed=rows.weight_beside(names(node["reads"])))

    def _step_part(self, node: Any) -> UnitRows:
        return split_parts(self.rows(node["of"]), node)[1]

    def _step_keep_rows(self, node: Any) -> UnitRows:
        rows, most = self.rows(node["of"]), read_whole(node["limit"], 1)
        per = names(node["per"])
        key = rows.versions(per)
        if rows.ids is None:
            # by keys one row moves two, of anybody; nothing else is known (lemma 2)
            count = rows.limits.most_rows()
            need(count is not None, "nothing bounds the rows of a unit")
            return rows.other_rows(
                limits=Limits(2 * (count or 0)), each_way=None, per_key=(key, most)
            )
        need(rows.by_ids(per), "rows of an id are kept by these alone (lemma 3)")
        rest = key - rows.versions([rows.ids])
        rows = rows.tighten(each={rest: most}) if rest else rows.tighten(rows=most)
        return rows.other_rows()

    def _step_keep_groups(self, node: Any) -> UnitRows:
        rows, most = self.rows(node["of"]), read_whole(node["limit"], 1)
        per = names(node["per"])
        need(rows.by_ids(per) and len(per) == 1, "groups are kept per id")
        return rows.tighten(
            groups={rows.versions(names(node["groups"])): most}
        ).other_rows()

    def _step_keep_unique(self, node: Any) -> UnitRows:
        rows = self.rows(node["of"])
        need(rows.ids is None, "unique rows are kept where rows are protected")
        key = rows.versions(names(node["per"]))
        limits = Limits(rows.limits.most_rows())
        return rows.other_rows(limits=limits, each_way=None, per_key=(key, 1))

    def _step_map(self, node: Any) -> UnitRows:
        rows = self._write_columns(self.rows(node["of"]), node)
        return rows.other_rows()

    def _step_explode(self, node: Any) -> UnitRows:
        limit = None if node["limit"] is None else read_whole(node["limit"])
        rows = self.rows(node["of"]).multiply(limit)
        return self._write_columns(rows, node)

    _step_flat_map = _step_explode

    @staticmethod
    def _write_columns(rows: UnitRows, node: Any) -> UnitRows:
        """Return the rows with columns that are written anew."""
        column_ = names(node["makes"])
        need(rows.ids not in column_, "ids are written anew")
        columns = dict(rows.columns) | {name: Version() for name in column_}
        return replace(rows, columns=columns)

    def _step_one_per(self, node: Any) -> UnitRows:
        """One row for each value of columns with the id (lemma 11)."""
        rows, per = self.rows(node["of"]), names(node["per"])
        need(rows.by_ids(per), "one row for each id")
        rest = rows.versions(per) - rows.versions([rows.ids or ""])
        rows = rows.tighten(each={rest: 1}) if rest else rows.tighten(rows=1)
        columns = {name: rows.columns[name] for name in per}
        columns |= {name: Version() for name in names(node["makes"])}
        part = rows.part and replace(rows.part, alone=False)
        ids = _find_name(columns, rows.columns[rows.ids or ""])
        return rows.other_rows(columns=columns, part=part, ids=ids)

    def _step_join(self, node: Any) -> UnitRows:
        left, on = self.rows(node["left"]), names(node["on"])
        brought: Mapping[str, str] = node["brings"]
        need(not set(brought.values()) & set(left.columns), "a column twice")
        if node["right"]["do"] == "public":
            # a row meets at most `most` rows of a public table; left, at least itself
            most = read_whole(node["most"])
            rows = left.multiply(most)
            weighed = left.weight_beside(on) if most <= 1 else None
            columns = dict(left.columns) | {new: Version() for new in brought.values()}
            left.versions(on)
            return replace(rows, columns=columns, weighed=weighed)
        right = self.rows(node["right"])
        # the same table may stand on both sides, under other bounds
        moved = {version: Version() for version in right.columns.values()}
        moved |= {right.columns[name]: left.columns[name] for name in on}
        columns = dict(left.columns)
        columns |= {new: moved[right.columns[old]] for old, new in brought.items()}
        part = left.part and replace(left.part, alone=False)
        rows = left.other_rows(columns=columns, each_way=None, part=part)
        if left.ids is None and right.ids is None:
            need(not node["outer"], "an outer join of rows")
            return replace(rows, limits=_pairs_of_rows(left, right, on))
        # else rows of one person meet those of another (lemma 5)
        both = (left.by_ids([name]) and right.by_ids([name]) for name in on)
        need(any(both), "a join that is not by ids")
        need(left.space == right.space, "ids of different kinds")
        need(not node["outer"], "an outer join of ids")
        return replace(rows, limits=_pairs_of_ids(left.limits, right.limits, moved))


def _find_name(columns: Mapping[str, Version], version: Version) -> str:
    """Return a name under which a column is still there."""
    known = [name for name, each in columns.items() if each is version]
    need(known, "the ids are gone")
    return min(known)


def _pairs_of_rows(left: UnitRows, right: UnitRows, on: list[str]) -> Limits:
    """Return the pairs that differ, by the rows that meet a key (lemma 4)."""
    mine, theirs = left.per_key, right.per_key
    need(mine and mine[0] == left.versions(on), "a side without a bound on its keys")
    need(theirs and theirs[0] == right.versions(on), "a side without a bound")
    lost, came = left.limits.most_rows() or 0, right.limits.most_rows() or 0
    return Limits((mine or (0, 0))[1] * came + (theirs or (0, 0))[1] * lost)


def _pairs_of_ids(
    left: Limits, right: Limits, moved: Mapping[Version, Version]
) -> Limits:
    """Return the bounds on the pairs of one id (lemma 5)."""

    def again(bounds: Mapping[Columns, int]) -> dict[Columns, int]:
        return {
            frozenset(moved[version] for version in columns): most
            for columns, most in bounds.items()
            if columns <= moved.keys()
        }

    mine, theirs = left.most_rows(), right.most_rows()
    rows = None if mine is None or theirs is None else mine * theirs
    limits = (
        Limits(rows).tighten(groups=left.groups).tighten(groups=again(right.groups))
    )
    if theirs is not None:
        limits = limits.tighten(each={c: n * theirs for c, n in left.each.items()})
    if mine is not None:
        each = {c: n * mine for c, n in again(right.each).items()}
        limits = limits.tighten(each=each)
    return limits


def split_parts(rows: UnitRows, node: Any) -> tuple[Fraction, UnitRows]:
    """Return how many budgets of a part its parts cost, and the rows of one of them."""
    column, count = rows.versions([node["by"]]), read_whole(node["count"], 1)
    touched = rows.limits.groups_touched(column)
    need(touched is not None, "any number of parts")
    most, known = min(touched or 0, count), rows.part
    inside = rows.tighten(groups={column: 1}).other_rows()
    if known is not None and known.alone:
        each = known.row.groups_touched(column)
        need(each is not None, "any number of parts")
        return Fraction(min(each or 0, count)), inside
    if known is not None:
        # rows that met others: each may be in as many parts as all together
        return Fraction(most * known.rows), replace(inside, part=None)
    unit_rows, unit = rows.limits.most_rows(), inside.limits.most_rows()
    if unit_rows is None or unit is None or unit_rows >= most * unit:
        return Fraction(most), inside
    row = Limits(rows=1).tighten(groups={column: 1})
    return Fraction(unit_rows, unit), replace(
        inside, part=ChargedPart(unit, row, alone=True)
    )


# --- From rows to numbers: queries.md 5, moments.md, units.md, over-time.md -----------


@final
@dataclass(frozen=True)
class CellRange:
    """What one row adds to a total: between two numbers, 0 where it has no value."""

    low: Fraction
    high: Fraction

    @property
    def most(self) -> Fraction:
        """Return the greatest size."""
        return max(abs(self.low), abs(self.high))


def cell_range(total: Any) -> CellRange:
    """Return the range of factor * x + shift: of rows, and of those without a value."""
    low, high = _range(total["cell"])
    factor = Fraction(read_whole(total["factor"], -(2**53)))
    shift = Fraction(read_whole(total["shift"], -(2**62), 2**62))
    ends = (low * factor + shift, high * factor + shift, shift, Fraction(0))
    return CellRange(min(ends), max(ends))


def _range(cell: Any, deep: int = 0) -> tuple[int, int]:
    """Return the range of a whole number of a row, by what its expression does last."""
    need(deep < 50 and isinstance(cell, dict) and len(cell) == 1, "not a cell")
    ((kind, words),) = cell.items()
    match kind:
        case "is":
            number = read_whole(words, -(2**63), 2**63)
            return number, number
        case "steps":  # clamped to [low, high], and counted from an origin
            low, high, origin = (read_whole(n, -(2**41), 2**41) for n in words)
            need(low <= high, "bounds in no order")
            return low - origin, high - origin
        case "portion":  # of W 2**finer, by its place (moments.md, lemma 1)
            width, place, finer = _portion(words)
            # the middle one is 2 W t (1 - t), or less than 2 more
            return 0, (width << finer) // 2 + 2 if place == 1 else width << finer
        case "either":
            need(isinstance(words, list) and 0 < len(words) <= 2_000, "no branches")
            ranges = [_range(each, deep + 1) for each in words]
            return min(low for low, _ in ranges), max(high for _, high in ranges)
    raise Refused("a cell whose range is not known")


def _portion(words: Any) -> tuple[int, int, int]:
    width, place, finer = words
    return (
        read_whole(width, 1, 2**41),
        read_whole(place, 0, 2),
        read_whole(finer, 0, 64),
    )


@final
@dataclass(frozen=True)
class AskedGroups:
    """The groups of a release: how far one unit moves their numbers."""

    rows: UnitRows
    by: Columns
    unknown: Columns
    known: int | None
    by_row: bool
    """Whether the rows of a unit are charged one by one, as rows of a part."""

    @property
    def _row_part(self) -> ChargedPart | None:
        return self.rows.part if self.by_row else None

    def row_move(self, by: Columns | None = None, more: Columns = frozenset()) -> Move:
        """Return how far row counts move, `more` columns splitting the groups."""
        by = (self.by if by is None else by) | more
        if self._row_part is None:
            return self.rows.limits.move(by)
        return self._row_part.row.move(by).times(
            self._row_part.rows, self._row_part.rows
        )

    def weight(self, by: Columns | None = None) -> Move | None:
        """Return how far the sums of the weighed column move (units.md, lemma 3)."""
        weighed, by = self.rows.weighed, self.by if by is None else by
        if weighed is None or self._row_part is not None or weighed[0] in by:
            return None
        return Limits(rows=weighed[1]).move(by)

    def one_signed(self, by: Columns | None = None) -> Move:
        """Return how far sums of one number in [0, 1] of each row move."""
        moved, weight, way = self.row_move(by), self.weight(by), self.rows.each_way
        if weight is not None:
            return weight
        if self._row_part is not None or way is None:
            return moved
        # what comes adds and what leaves takes away (units.md, lemma 1)
        most = Fraction(way) ** 2
        l2, largest = min(moved.l2, 2 * most), min(moved.largest, most)
        return Move.of(moved.entries, moved.l1, l2, largest)

    def people(self, by: Columns | None = None) -> Move:
        """Return how far counts of ids move: by 1 in each group that an id lies in."""
        need(self.rows.ids is not None, "no ids are protected")
        part, by = self._row_part, self.by if by is None else by
        touched = (self.rows.limits if part is None else part.row).groups_touched(by)
        need(touched is not None, "any number of groups")
        entries = Fraction(touched or 0)
        move = Move(touched or 0, entries**2, entries, Fraction(1))
        return move if part is None else move.times(part.rows, part.rows)


def move_of(number: Any, groups: AskedGroups, by: Columns | None = None) -> Move:
    """Return how far the numbers of a measurement move."""
    rule = _NUMBERS.get(number["of"])
    if rule is None:
        raise Refused("numbers without a rule")
    return rule(number, groups, by)


def _unit(number: Any) -> Fraction:
    return Fraction(2) ** read_whole(number.get("exponent", 0), -2_000, 2_000)


def _totals(number: Any) -> list[Any]:
    totals = number["totals"]
    need(isinstance(totals, list) and 0 < len(totals) <= 10_000, "no totals")
    return list(totals)


def _sum_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """A sum of one number of each row (queries.md, section 5)."""
    (total,) = _totals(number)
    if _is_weight(total, groups):
        weight = groups.weight(by)
        need(weight is not None, "no column whose sum is bounded")
        return weight or NOTHING
    cell = cell_range(total)
    # numbers of both signs pull the same way where one comes and the other leaves
    both = cell.low < 0 < cell.high
    moved = groups.row_move(by) if both else groups.one_signed(by)
    return moved.times(cell.most * _unit(number))


def _is_weight(total: Any, groups: AskedGroups) -> bool:
    """Say whether a total adds up the weighed column, as it stands."""
    name = total["cell"].get("column")
    weighed = groups.rows.weighed
    alone = (total["factor"], total["shift"]) == (1, 0)
    known = weighed is not None and groups.rows.columns.get(name) == weighed[0]
    return name is not None and known and alone


def _distinct_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Different values of columns: a row is one of them at most, and so is an id."""
    columns = names(number["columns"])
    groups.rows.versions(columns)
    alone = len(columns) == 1 and groups.rows.by_ids(columns)
    return groups.people(by) if alone else groups.row_move(by)


def _bins_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Rows in ranges of a column that do not overlap: they split the groups further."""
    cells = [cell_range(total) for total in _totals(number)]
    need(all(cell.low >= 0 and cell.high <= 1 for cell in cells), "more than a row")
    return groups.row_move(by, frozenset([Version()]))


def _division_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Numbers that each row is divided into (moments.md, lemmas 1 and 2)."""
    totals = _totals(number)
    lost = [total for total in totals if "missing" in total["cell"]]
    whole_, kinds = _read_division([total for total in totals if total not in lost])
    need(kinds and len(lost) <= 1, "numbers that do not add up")
    for total in lost:  # of rows without a value: all of it, and nothing to the others
        alone = (total["factor"], total["shift"]) == (whole_, 0)
        need(alone, "numbers that do not add up")
    return groups.row_move(by).times(whole_ * _unit(number), len(totals))


def _read_division(totals: list[Any]) -> tuple[int, bool]:
    """Return the sum of a pair or a triple of a row, and whether it is one."""
    if len(totals) == 2:
        (below, round_up) = totals
        low, high, origin = below["cell"]["steps"]
        width = read_whole(high - low, 1)
        pair = (
            (below["factor"], below["shift"]),
            (round_up["factor"], round_up["shift"]),
        )
        alike = below["cell"] == round_up["cell"] and origin == low
        return width, alike and pair == ((-1, width), (1, 0))
    portions = [_portion(total["cell"]["portion"]) for total in totals]
    width, _, finer = portions[0]
    plain = all(total["factor"] == 1 and total["shift"] == 0 for total in totals)
    return width << finer, plain and portions == [(width, n, finer) for n in range(3)]


def _sized_move(number: Any, groups: AskedGroups, _by: Columns | None) -> Move:
    """Sums over a table whose number of rows is public (units.md, lemma 2)."""
    rows, way = groups.rows, groups.rows.each_way
    need(rows.size is not None and way and not groups.by, "the size is not public")
    need(not groups.by_row, "the size of a part is not public")
    tall, middle = _totals(number)
    width, place, finer = _portion(middle["cell"]["portion"])
    low, high, origin = tall["cell"]["steps"]
    need(place == 1 and high - low == width and origin == low, "other numbers")
    need((tall["factor"], tall["shift"]) == (1 << finer, 0), "other numbers")
    need((middle["factor"], middle["shift"]) == (1, 0), "other numbers")
    steps = Fraction(width << finer)
    largest = max(steps, steps / 2 + 2)
    norms = (Fraction(9, 8) * steps + 2) ** 2, (steps + 2) ** 2, largest**2
    return Move(2, *norms).times((way or 0) * _unit(number))


def _everywhere_move(_number: Any, groups: AskedGroups, _by: Columns | None) -> Move:
    """The number of ids of the whole table."""
    need(groups.rows.ids is not None and not groups.by_row, "no ids are protected")
    return Move(1, Fraction(1), Fraction(1), Fraction(1))


def _centred_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Counts of known groups less a share of all ids (moments.md, lemma 6)."""
    base, known = move_of(number["base"], groups, by), groups.known
    need(number["base"]["of"] in {"sum", "distinct"} and known, "no known groups")
    need(groups.rows.ids is not None and not groups.unknown, "no ids are protected")
    need(not groups.by_row, "rows of a part")
    if number["base"]["of"] == "sum":
        cell = cell_range(_totals(number["base"])[0])
        need(cell == CellRange(Fraction(0), Fraction(1)), "not a count")
    else:
        columns = names(number["base"]["columns"])
        alone = len(columns) == 1 and groups.rows.by_ids(columns)
        need(alone, "not a count of ids")
    size, all_groups = base.largest, Fraction(known or 0)
    touched = min(Fraction(base.entries), all_groups)
    share = Fraction(read_whole(number["off"]), 64) / root_above(size)
    need(share <= Fraction(1, 2), "more than half is taken off")
    l1 = touched * (1 - share) + (all_groups - touched) * share
    l2 = touched * (1 - 2 * share) + all_groups * share**2
    return Move(int(all_groups), size * l1**2, size * l2, size * (1 - share) ** 2)


def _running_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Figures over time (over-time.md, lemma 1)."""
    base, factors = move_of(number["base"], groups, by), number["factors"]
    need(isinstance(factors, list) and 0 < len(factors) <= 10_000, "no periods")
    steps = [read_whole(factor, 0, 256) for factor in factors]
    need(steps[0] == 256 and all(a >= b for a, b in pairwise(steps)), "factors rise")
    if not any(steps[1:]):
        return base
    if not base.l1:
        return NOTHING
    periods = len(steps)
    largest, together = root_above(base.largest), root_above(base.l1)
    columns = min(base.entries, ceil(together / largest))
    sums, squares = [0] * periods, [0]
    for column in range(min(columns, periods)):
        for place in range(column, periods):
            sums[place] += steps[place - column]
        squares.append(sum(each * each for each in sums))
    longest = Fraction(squares[-1])
    if len(groups.by) > 1:  # blocks of all periods, in which columns are shared out
        each = (Fraction(total, j) for j, total in enumerate(squares) if j)
        longest = columns * max(each)
    moved = min(base.largest * longest, base.l1 * squares[1]) / 256**2
    entries = base.entries * periods
    return Move(entries, moved * entries, moved, moved)


_NUMBERS: dict[str, Callable[[Any, AskedGroups, Columns | None], Move]] = {
    "sum": _sum_move,
    "distinct": _distinct_move,
    "bins": _bins_move,
    "together": _division_move,
    "sized": _sized_move,
    "ids everywhere": _everywhere_move,
    "centred": _centred_move,
    "running": _running_move,
}


def left_out(count: Any, groups: AskedGroups, plan: PlanReader) -> Move:
    """Return how far a count of what was left out moves (queries.md, lemma 10)."""
    if count["of"] == "clamped":
        cell = cell_range(_totals(count)[0])
        need(cell.low >= 0 and cell.high <= 1, "more than a row")
        return groups.row_move(by=frozenset())
    rows = plan.rows(count["rows"])
    if count["of"] == "ids":
        need(rows.ids is not None, "no ids are protected")
        unit = 1
    else:
        need(count["of"] == "rows" and rows.ids is None, "a count without a rule")
        need(rows.limits.most_rows() is not None, "nothing bounds the rows of a unit")
        unit = rows.limits.most_rows() or 0
    part = groups.rows.part if groups.by_row else None
    many = 1 if part is None else part.rows
    return Move(1, *(Fraction(unit) ** 2,) * 3).times(many, many)


# --- What noise costs: noise.md, thresholds.md, keys.md, selection.md, first-few.md ---

Law = str | tuple[int, Fraction]
"""Of a pure loss: "laplace", "range", "any", or (steps, scale) of geometric noise."""
Told = list[tuple[Fraction, Fraction]]
"""(mu squared, most of it that one key can hold) of Gaussian noise beside keys."""


@final
@dataclass(frozen=True)
class Pure:
    """A loss of at most epsilon, several times over."""

    epsilon: Fraction
    law: Law = "any"
    times: int = 1
    rho_known: Fraction | None = None
    """A rho of all of it that is proved of its own."""

    @property
    def read_whole(self) -> Fraction:
        """Return the epsilon of all of it."""
        return self.epsilon * self.times

    def rho(self, reals: Reals) -> Fraction:
        """Return a rho from above (selection.md, claims 4 and 6)."""
        each = self.epsilon**2 / (8 if self.law == "range" else 2)
        e, unit = reals.of(self.epsilon), reals.of(1)
        falls = (-e).exp()
        bounds = [e * ((unit - falls) / (unit + falls))]
        # of both kinds of noise order 1 is the worst (Harrison and Manurangsi 2025)
        if self.law == "laplace":
            bounds.append(e + falls - unit)
        elif not isinstance(self.law, str):
            steps, scale = self.law
            a = (-reals.of(1 / scale)).exp()
            saved = reals.of(2) * a * (unit - falls) / (unit - a * a)
            bounds.append((reals.of(steps) - saved) / reals.of(scale))
        each = min(each, *(round_up(max(Decimal(0), bound.high)) for bound in bounds))
        bound = each * self.times
        return bound if self.rho_known is None else min(bound, self.rho_known)

    def mu_squared(self, reals: Reals) -> Fraction:
        """Return a square of mu from above (selection.md, claim 5)."""
        if self.law != "range":
            return Pure._mu(reals, self.read_whole) ** 2
        return self.times * Pure._mu(reals, self.epsilon / 2) ** 2

    @staticmethod
    def _mu(reals: Reals, exponent: Fraction) -> Fraction:
        """Return a mu with Phi(mu / 2) at least 1 / (1 + exp(-exponent))."""
        unit = reals.of(1)
        share = (unit / (unit + (-reals.of(exponent)).exp())).high
        low, high = Fraction(0), Fraction(100)
        need(normal(reals.of(high / 2)).low >= share, "no mu is large enough")
        for _ in range(110):
            middle = (low + high) / 2
            if normal(reals.of(middle / 2)).low >= share:
                high = middle
            else:
                low = middle
        return high

    def curves(self) -> Iterator[tuple[Fraction, Law]]:
        """Yield what it is composed of."""
        yield from [(self.epsilon, self.law)] * self.times


@final
@dataclass(frozen=True)
class KeySplit:
    """One way in which the keys that a unit touches can lie in both databases."""

    seen: Decimal
    """The chance that a key of one side alone is shown, from above."""
    missed: Decimal
    """The same of keys of the other side."""
    mu_squared: Fraction

    def delta(self, beside: Fraction, epsilon: Span) -> Decimal:
        """Return seen + (1 - seen) D(e + ln(1 - missed) - ln(1 - seen)) from above."""
        reals, up = epsilon.reals, epsilon.reals.up
        if max(self.seen, self.missed) >= 1:
            return Decimal(1)
        stays, meets = (
            reals.of(1) - reals.exactly(c) for c in (self.seen, self.missed)
        )
        at = epsilon + meets.ln() - stays.ln()
        # the lower end of an epsilon has the larger delta
        rest = enclose_gaussian_delta(self.mu_squared + beside, reals.exactly(at.low))
        return up.add(self.seen, up.multiply(stays.high, rest.high))


@final
@dataclass(frozen=True)
class ShownKeys:
    """Keys that are shown by Gaussian noise, and what is told of them, jointly."""

    cases: tuple[KeySplit, ...]

    @property
    def worst(self) -> tuple[Fraction, Fraction]:
        """Return a chance of a breach, and mu squared beside it."""
        chance = max(max(case.seen, case.missed) for case in self.cases)
        return round_up(chance), max(case.mu_squared for case in self.cases)

    def delta(self, beside: Fraction, epsilon: Span) -> Decimal:
        """Return delta with Gaussian noise beside (queries.md, lemma 8; keys.md, 1)."""
        return max(case.delta(beside, epsilon) for case in self.cases)


@final
@dataclass(frozen=True)
class Lost:
    """What a release loses, in parts that are independent, so that they compose."""

    pures: tuple[Pure, ...] = ()
    mu_squared: Fraction = Fraction(0)
    breach: Fraction = Fraction(0)
    """The chance that a unit is seen."""
    shown: tuple[ShownKeys, ...] = ()

    def __add__(self, other: "Lost") -> "Lost":
        return Lost(
            self.pures + other.pures,
            self.mu_squared + other.mu_squared,
            self.breach + other.breach,
            self.shown + other.shown,
        )

    @property
    def epsilon(self) -> Fraction:
        """Return the sum of the epsilons."""
        return sum((pure.read_whole for pure in self.pures), Fraction(0))

    def separate(self) -> "Lost":
        """Return the same with keys that are shown by what they are within."""
        worst = [shown.worst for shown in self.shown]
        chances, squares = (
            sum(each, Fraction(0)) for each in zip((0, 0), *worst, strict=True)
        )
        return Lost(self.pures, self.mu_squared + squares, self.breach + chances)


def noise_cost(number: Any, move: Move) -> Lost:
    """Return the cost of noise of a scale (queries.md, lemma 6; noise.md)."""
    scale = square(number["scale"])
    need(scale > 0, "no noise")
    match number["noise"]:
        case "gaussian":
            return Lost(mu_squared=move.l2 / scale)
        case "laplace" | "geometric" if move.l1:
            return Lost(tuple(_coordinates(number["noise"], move, scale)))
        case "laplace" | "geometric":
            return Lost()
    raise Refused("noise without a rule")


def _coordinates(noise: str, move: Move, scale: Fraction) -> Iterator[Pure]:
    """Yield the worst change: entries of the largest size, then the rest."""
    exact, width = root_above(scale) ** 2 == scale, root_above(scale)
    largest, whole_ = root_above(move.largest), root_above(move.l1)
    full = min(move.entries, floor(whole_ / largest))
    rest = min(whole_ - full * largest, largest) if full < move.entries else Fraction(0)
    if not exact:  # roots that were rounded up would not divide each other
        yield Pure(
            root_above(move.l1 / scale), "laplace" if noise == "laplace" else "any"
        )
        return
    for size, times in ((largest, full), (rest, 1)):
        if size and times:
            law: Law = "laplace"
            if noise == "geometric":
                steps = floor(size)
                law = (steps, width) if 0 < steps < 4096 and steps == size else "any"
            yield Pure(size / width, law, times)


def _laplace_sum_tail(reals: Reals, numbers: int, far: Fraction) -> Decimal:
    """Return P[L_1 + ... + L_s >= far] from above (moments.md, section 2)."""
    if far <= 0:
        return Decimal(1)
    terms = Fraction(0)
    for j in range(numbers):
        ways = (
            Fraction(comb(numbers - 1 + i, i), 2 ** (numbers + i))
            for i in range(numbers - j)
        )
        terms += far**j / factorial(j) * sum(ways, Fraction(0))
    return ((-reals.of(far)).exp() * reals.of(terms)).high


def passing_chance(reals: Reals, shown: Any, move: Move, numbers: int) -> Decimal:
    """Return the chance that a key of one unit alone is shown (thresholds.md, 1)."""
    threshold, largest = rational(shown["threshold"]), root_above(move.largest)
    variance = square(shown["scale"])
    need(threshold > 0 and variance > 0, "no threshold")
    width = root_above(variance)
    if shown["noise"] == "gaussian":
        return normal(reals.of(largest - threshold) / reals.of(variance).root()).high
    need(width * width == variance, "a scale that is a root")
    if shown["noise"] == "geometric":
        # the mass at the threshold itself passes, too
        steps = ceil(threshold - largest)
        if steps <= 0:
            return Decimal(1)
        tail = (-reals.of(steps / width)).exp()
        return (tail / (reals.of(1) + (-reals.of(1 / width)).exp())).high
    # sums of numbers that were each rounded to a double (moments.md, lemma 4)
    gap = threshold - largest * (1 + Fraction(1, 2**49)) - width / 2**20
    return min(
        Decimal(1),
        reals.up.add(
            _laplace_sum_tail(reals, numbers, gap / width), Decimal("1e-1000000")
        ),
    )


@final
class ReleaseReader:
    """One release of a certificate: its groups, and what each of its parts loses."""

    def __init__(self, words: Any, plan: PlanReader, reals: Reals) -> None:
        self.words, self.plan, self.reals = words, plan, reals
        rows = plan.rows(words["rows"])
        by, unknown = names(words["by"]), names(words["unknown"])
        known = None if words.get("known") is None else read_whole(words["known"], 1)
        first = words.get("first")
        need(set(unknown) <= set(by), "unknown keys that are no keys")
        named = unknown or known or first or "margins" in words
        need(not by or named, "keys that nobody named")
        alone = rows.part is not None and rows.part.alone
        self.by_row = alone and not unknown and first is None
        """Whether rows are charged one by one: a key shows or not (filters.md, 6)."""
        self.share = 1
        if rows.part is not None and not self.by_row:
            self.share = rows.part.rows
        self.read_whole = AskedGroups(
            rows, rows.versions(by), rows.versions(unknown), known, self.by_row
        )
        self.groups = self.read_whole
        if first is not None:
            most = read_whole(first["most"], 1, 10_000)
            self.groups = self._groups_of(most)
        self.in_part = 0 < len(unknown) < len(by)
        ways = [
            way for way in ("presence", "rounds", "first", "margins") if way in words
        ]
        need(len(ways) <= 1, "keys are shown in two ways")
        need(not unknown or (ways and ways != ["margins"]), "nothing hides the keys")
        self.way = ways[0] if ways else ""

    def _groups_of(self, few: int) -> AskedGroups:
        """Return the groups, of which a unit lies in a few (first-few.md, 3)."""
        rows = self.read_whole.rows.tighten(groups={self.read_whole.by: few})
        return replace(self.read_whole, rows=replace(rows, size=None), known=None)

    def compute_loss(self) -> Lost:  # noqa: C901 one line for each way to show keys
        """Return the loss of all that is released."""
        words, lost = self.words, Lost()
        told_numbers: Told = []
        for number in _list(words["measurements"]):
            move = move_of(number, self.groups)
            if number["noise"] == "gaussian" and self.way in {"presence", "rounds"}:
                told_numbers.append(self._told_number(number, move))
            else:
                lost += noise_cost(number, move)
        for choice in _list(words.get("choices", [])):
            lost += self._choice(choice)
        for count in _list(words.get("coverage", [])):
            lost += noise_cost(count, left_out(count, self.read_whole, self.plan))
        match self.way:
            case "presence":
                return lost + self._presence(words["presence"], told_numbers)
            case "rounds":
                return lost + self._rounds(words["rounds"], told_numbers)
            case "first":
                return lost + self._first(words["first"])
            case "margins":
                return lost + Lost(mu_squared=self._margins(words["margins"]))
        return lost

    def _told_number(self, number: Any, move: Move) -> tuple[Fraction, Fraction]:
        """Return mu squared of a number, and how much of it one key can hold."""
        need(square(number["scale"]) > 0, "no noise")
        if not move.l2:
            return Fraction(0), Fraction(1)
        # of keys known in part one holds several groups (keys.md, lemma 4)
        share = Fraction(1) if self.in_part else move.largest / move.l2
        return move.l2 / square(number["scale"]), share

    def _choice(self, choice: Any) -> Lost:
        """A choice among public candidates (queries.md, lemma 9)."""
        move, rate = self.groups.row_move(), square(choice["rate"])
        epsilon = root_above(rate * move.l1)
        if choice["kind"] == "walk":
            return Lost((Pure(epsilon, "any", 1, rate * move.l2 / 2),))
        need(choice["kind"] == "quantiles", "a choice without a rule")
        levels = read_whole(choice["levels"], 1, 64)
        need(
            2**levels > read_whole(choice["answers"], 1),
            "more answers than levels tell",
        )
        rho = rate * move.l2 / (8 * levels)
        return Lost((Pure(epsilon / levels, "range", levels, rho),))

    def _presence(self, shown: Any, told_numbers: Told) -> Lost:
        by = self.groups.unknown if self.in_part else None
        move = move_of(shown, self.groups, by)
        together = shown["of"] == "together"
        numbers = len(shown["totals"]) if together else 1
        keys = move.entries // numbers
        chance = passing_chance(self.reals, shown, move, numbers)
        if shown["noise"] != "gaussian":
            need(not told_numbers, "two families of noise")
            need((shown["noise"] == "laplace") == together, "noise without a rule")
            breach = round_up(chance_of_any(self.reals, chance, keys))
            return noise_cost(shown, move) + Lost(breach=breach)
        share = move.largest / move.l2 if move.l2 else Fraction(1)
        parts = [(move.l2 / square(shown["scale"]), share), *told_numbers]
        cases = [
            KeySplit(
                chance_of_any(self.reals, chance, last),
                chance_of_any(self.reals, chance, keys - first),
                _mu_of_kept(parts, keys - first),
            )
            for first, last in _splits(keys)
        ]
        return Lost(shown=(ShownKeys(tuple(cases)),))

    def _rounds(self, rounds: Any, told_numbers: Told) -> Lost:
        """Keys in rounds: every number of own keys by itself (keys.md, lemma 1)."""
        keys = self.groups.people(self.groups.unknown).entries
        variances = [rational(text) for text in _list(rounds["variances"])]
        thresholds = [rational(text) for text in _list(rounds["thresholds"])]
        need(len(variances) == len(thresholds) > 0, "rounds without a threshold")
        need(min(variances) > 0 and min(thresholds) > 0, "no noise")
        spread = [self.reals.of(variance).root() for variance in variances]
        cases, none = list[KeySplit](), Decimal(0)
        for own, most in _splits(keys):
            hidden = Decimal(1)
            # the weight of a key of its own: 1 / sqrt(own), in units of 2**-20
            weight = Fraction(isqrt(2**40 // own), 2**20) if own else Fraction(0)
            for threshold, sd in zip(thresholds, spread, strict=True) if own else ():
                stays = normal(self.reals.of(threshold - weight) / sd).low
                power = self.reals.down.power(stays, most)
                kept_ = max(Decimal(0), self.reals.down.next_minus(power))
                hidden = self.reals.down.multiply(hidden, kept_)
            common = keys - own
            square_ = sum((Fraction(common, keys) / v for v in variances), Fraction(0))
            seen = self.reals.up.subtract(1, hidden)
            moved = square_ + _mu_of_kept(told_numbers, common)
            cases += [KeySplit(*sides, moved) for sides in ((seen, none), (none, seen))]
        return Lost(shown=(ShownKeys(tuple(cases)),))

    def _first(self, first: Any) -> Lost:
        """The first few groups, chosen by scores in steps (first-few.md)."""
        most, rate = read_whole(first["most"], 1, 10_000), rational(first["rate"])
        need(rate > 0, "no rate")
        largest = root_above(move_of(first, self._groups_of(1)).largest)
        width = 2 * largest
        if self.read_whole.rows.ids is None:
            width = min(width, root_above(move_of(first, self.read_whole).l1))
        elif _one_signed(first, self.read_whole):
            width = largest
        lost = Lost((Pure(rate * width, "range", most),))
        if not self.words["unknown"]:
            return lost
        need(not self.in_part, "keys known in part")
        whole_ = self.read_whole
        keys = (
            whole_.row_move() if whole_.rows.ids is None else whole_.people()
        ).entries
        # theorem 2: a key of one unit alone against the end sign, in each round
        gap = self.reals.of(rate * (rational(first["end"]) - largest))
        chance = self.reals.up.multiply(most * keys, (-gap).exp().high)
        return lost + Lost(breach=round_up(chance))

    def _margins(self, margins: Any) -> Fraction:
        """Return mu squared of all contrasts (margins.md, lemmas 2 and 3)."""
        # of each level of each tree: most children, fewest of nodes with two or more
        trees = [
            [(read_whole(a, 1), read_whole(b, 1)) for a, b in _list(tree)]
            for tree in _list(margins["trees"])
        ]

        def cap(tree: int, level: int) -> Fraction:
            return 1 - Fraction(1, trees[tree][level - 1][0]) if level else Fraction(1)

        shift: dict[tuple[int, ...], Fraction] = {}
        for levels, precision in _list(margins["precisions"]):
            need(len(levels) == len(trees), "a part of other trees")
            need(rational(precision) >= 0, "a precision below zero")
            caps = (
                cap(i, read_whole(level, 0, len(trees[i])))
                for i, level in enumerate(levels)
            )
            need(tuple(levels) not in shift, "a part twice")
            shift[tuple(levels)] = rational(precision) * prod(caps, start=Fraction(1))
        alone = sum(shift.values(), Fraction(0))
        spared = []
        for i, tree in enumerate(trees):
            if all(children == 1 for children, _ in tree):
                continue
            last, fewest = len(tree), tree[-1][1]
            need(
                2 <= fewest <= tree[-1][0] or tree[-1][0] == 1, "children that disagree"
            )
            less = Fraction(1)
            if tree[-1][0] > 1:
                less -= Fraction(1, fewest) / cap(i, last)
            each = (s * less for levels, s in shift.items() if levels[i] == last)
            spared.append(sum(each, Fraction(0)))
        extra = alone - min(spared, default=Fraction(0))
        # a part that is charged by the row counts rows (margins.md, section 3)
        parts = self.read_whole.rows.part is not None
        move = self.read_whole.row_move() if parts else self.read_whole.one_signed()
        return (alone - extra) * move.l2 + extra * move.l1


def _splits(keys: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of how many keys a unit has alone: each number, or nearly so.

    Bounds grow with the chance at the end of a range and with what is kept at its
    beginning, so one of each serves all of it (keys.md, lemma 1; thresholds.md, 4).
    """
    first = 0
    while first <= keys:
        last = min(first + min(first, keys - first) // 16, keys)
        yield first, last
        first = last + 1


def _list(words: Any) -> list[Any]:
    need(isinstance(words, list) and len(words) <= 100_000, "not a list")
    return list(words)


def _one_signed(number: Any, groups: AskedGroups) -> bool:
    """Say whether a row more moves the numbers all the same way."""
    if number["of"] != "sum":
        return True
    (total,) = _totals(number)
    if _is_weight(total, groups):
        return True
    cell = cell_range(total)
    return cell.low >= 0 or cell.high <= 0


def _mu_of_kept(parts: Told, keys: int) -> Fraction:
    """Return mu squared of the noise on so many keys that both databases have."""
    return sum(
        (square_ * min(Fraction(1), share * keys) for square_, share in parts),
        Fraction(0),
    )


# --- Composed curves: chords of delta over exp(epsilon), multiplied exactly -----------


@final
class LossGrid:
    """Losses that are multiples of a step, and the exponentials of all of them."""

    def __init__(self, reals: Reals, step: Fraction, digits: int) -> None:
        self.reals, self.step, self.digits = reals, step, digits
        self._half = [reals.of(1), (reals.of(step / 2)).exp()]

    def half(self, place: int) -> Span:
        """Return the root of that: a factor more costs one rounding each way."""
        while len(self._half) <= place:
            self._half.append(self._half[-1] * self._half[1])
        return self._half[place]

    def rest(self, epsilon: Span, place: int) -> Span:
        """Return the lower end of an epsilon less a loss: delta is greatest there."""
        return self.reals.exactly((epsilon - self.reals.of(self.step * place)).low)

    def exp(self, place: int) -> Span:
        """Return the exponential of the loss at a place of any sign."""
        power = self.half(2 * abs(place))
        return power if place >= 0 else self.reals.of(1) / power


Masses = tuple[int, list[int]]
"""The place of the first mass, and all of them in units of 10**-digits, rounded up."""


def _delta_at(grid: LossGrid, law: Law, epsilon: Fraction, place: int) -> Span:
    """Enclose delta of one law of an epsilon at a place of the grid from 0 to it."""
    reals, unit = grid.reals, grid.reals.of(1)
    whole_, at = reals.of(epsilon).exp(), grid.exp(place)
    if law == "any":  # randomized response
        return (whole_ - at) / (whole_ + unit)
    if isinstance(law, str):
        near = unit - grid.half(place) / reals.of(epsilon / 2).exp()
        # Laplace (noise.md), or a bounded range (selection.md, claim 2)
        return near if law == "laplace" else near * near / (unit - unit / whole_)
    steps, scale = law
    q = (-reals.of(1 / scale)).exp()
    mass, total, power = unit / (unit + q), reals.of(0), unit
    for k in range(steps):  # the losses are (steps - 2 k) / scale
        gain = unit - at * (-reals.of((steps - 2 * k) / scale)).exp()
        if gain.high <= 0:
            break
        total += mass * Span(reals, max(gain.low, Decimal(0)), gain.high)
        power *= q
        mass = (unit - q) / (unit + q) * power
    return total


def _masses(grid: LossGrid, law: Law, epsilon: Fraction) -> Masses:
    """Return a pair on the grid that dominates a law, by its chords.

    delta is convex in exp(loss), so the chords lie above it; their second differences
    are masses (certificates.md, section 5).
    """
    n, unit, zero = ceil(epsilon / grid.step), grid.reals.of(1), grid.reals.of(0)
    value: dict[int, Span] = {}
    for i in range(n + 2):
        inside = grid.step * i < epsilon
        value[i] = _delta_at(grid, law, epsilon, i).clip(0, 1) if inside else zero
        if i:  # both directions are alike
            value[-i] = unit - grid.exp(-i) + grid.exp(-i) * value[i]
    slope = {
        i: (value[i] - value[i + 1]) / (grid.exp(i + 1) - grid.exp(i))
        for i in range(-n - 1, n + 1)
    }
    masses = []
    for i in range(-n, n + 1):
        falls = slope[i - 1] - slope[i] if i < n + 1 else slope[i - 1]
        mass = grid.reals.up.multiply(max(Decimal(0), falls.high), grid.exp(i).high)
        masses.append(int(mass.scaleb(grid.digits).to_integral_value(ROUND_CEILING)))
    return -n, masses


def _product(first: Masses, second: Masses, digits: int) -> Masses:
    """Return the masses of two independent pairs, by one product of long decimals."""
    (i, a), (j, b) = first, second
    width = 2 * digits + len(str(min(len(a), len(b)))) + 4
    context = Context(width * (len(a) + len(b)) + 9, None, MIN_EMIN, MAX_EMAX)
    packed = (Decimal("".join(f"{mass:0{width}d}" for mass in each)) for each in (a, b))
    count, unit = len(a) + len(b) - 1, 10**digits
    written = format(context.multiply(*packed), "f").zfill(width * count)
    need(len(written) == width * count, "a product that does not fit")
    cut = (int(written[k : k + width]) for k in range(0, len(written), width))
    return i + j, [-(-mass // unit) for mass in cut]


@lru_cache(maxsize=64)
def composed_delta(
    laws: tuple[tuple[Fraction, Law], ...],
    mu_squared: Fraction,
    epsilon: Fraction,
    enough: Fraction,
) -> Fraction:
    """Return a delta at epsilon of all laws and Gaussian noise together, from above.

    The grid is refined until the bound is enough, or no more.
    """
    need(enough > 0, "nothing is left of delta")
    digits = 22 + max(0, len(str(enough.denominator)) - len(str(enough.numerator)))
    reals, best = Reals(digits + 12), Fraction(1)
    first, sum_ = max(e for e, _ in laws), sum(e for e, _ in laws)
    for points in (128, 512, 2048):
        grid = LossGrid(reals, first / max(1, round(first * points / sum_)), digits)
        product: Masses = (0, [10**digits])
        for law in dict.fromkeys(laws):
            power, left = _masses(grid, law[1], law[0]), laws.count(law)
            while left:
                product = _product(product, power, digits) if left & 1 else product
                left >>= 1
                power = _product(power, power, digits) if left else power
        best = min(best, _delta_beside(grid, product, mu_squared, epsilon))
        if best <= enough:
            break
    return best


def _delta_beside(  # noqa: PLR0914 one sum
    grid: LossGrid, product: Masses, mu_squared: Fraction, epsilon: Fraction
) -> Fraction:
    """Return the sum of masses times the Gaussian's delta at the rest of epsilon."""
    (first, masses), reals, up = product, grid.reals, grid.reals.up
    e, total, unit = reals.of(epsilon), Decimal(0), reals.of(1)
    if not mu_squared:
        at = e.exp() * grid.exp(-first)
        for mass in masses:
            total = up.add(total, up.multiply(mass, (unit - at).clip(0, 1).high))
            at /= grid.exp(1)
        return round_up(min(total.scaleb(-grid.digits), Decimal(1)))
    last, places = len(masses) - 1, max(1, len(masses) // 128)
    nodes = [*range(0, last, places), last] if last else [0]
    rest = (
        enclose_gaussian_delta(mu_squared, grid.rest(e, first + k)).high for k in nodes
    )
    ends = list(zip(nodes, rest, strict=True))
    total = up.multiply(masses[last], ends[-1][1])
    # between the ends of a chord delta, convex in exp(epsilon), lies below it
    for (start, low), (end, high) in pairwise(ends):
        near, far = grid.exp(-first - start), grid.exp(-first - end)
        gap = max(Decimal(0), reals.down.subtract(high, low))
        for place in range(start, end):
            part = (grid.exp(-first - place) - far) / (near - far)
            spared = reals.down.multiply(gap, part.clip(0, 1).low)
            total = up.add(total, up.multiply(masses[place], up.subtract(high, spared)))
    return round_up(min(total.scaleb(-grid.digits), Decimal(1)))


# --- Charges --------------------------------------------------------------------------

COORDINATES = {
    ("epsilon",),
    ("epsilon", "delta"),
    ("rho",),
    ("rho", "delta"),
    ("mu_squared",),
    ("mu_squared", "delta"),
    ("epsilon", "rho", "delta"),
}
"""What the rules of a ledger add up (filters.md)."""


def amounts(charge: Any) -> dict[str, Fraction]:
    """Read the amounts that a ledger adds up; what is infinite is left out."""
    need(isinstance(charge, dict), "no charge")
    need(any(set(charge) == set(known) for known in COORDINATES), "an unknown charge")
    known_ = {name: rational(text) for name, text in charge.items() if text != "inf"}
    need(all(amount >= 0 for amount in known_.values()), "a charge below zero")
    need(set(known_) - {"delta"}, "an infinite charge")
    need("delta" not in charge or "delta" in known_, "an infinite charge")
    return known_


def admit(
    lost: Lost, charge: Mapping[str, Fraction], reals: Reals, *, rays: bool
) -> str:
    """Refuse a charge that is less than what is lost; say by which rule it is enough.

    `rays`: the cost must fall with the rows of a unit at least as they do (filters.md,
    lemma 6).
    """
    delta, rules = charge.get("delta", Fraction(0)), []
    for name in ("mu_squared", "rho"):
        if name in charge:
            sums = lost.separate()
            squares = (
                sums.mu_squared / 2
                + sum((p.rho(reals) for p in sums.pures), Fraction(0))
                if name == "rho"
                else sums.mu_squared
                + sum((p.mu_squared(reals) for p in sums.pures), Fraction(0))
            )
            _refuse_more(squares, charge[name], name)
            _refuse_more(sums.breach, delta, "delta")
            rules.append(f"sums of {name}")
    if "epsilon" in charge:
        rules.append(_admit_epsilon(lost, charge["epsilon"], delta, reals, rays=rays))
    return ", ".join(rules)


def _refuse_more(
    amount: Fraction, charged: Fraction, name: str, *, is_loose: bool = False
) -> None:
    if amount > charged:
        near = Context(6, ROUND_HALF_EVEN).divide
        shown = [
            near(Decimal(x.numerator), Decimal(x.denominator))
            for x in (amount, charged)
        ]
        raise Refused(
            f"{name} {shown[0]} is lost, and {shown[1]} is charged", is_loose=is_loose
        )


def _admit_epsilon(
    lost: Lost, epsilon: Fraction, delta: Fraction, reals: Reals, *, rays: bool
) -> str:
    several = len(lost.shown) > 1  # their curves are known one at a time
    lost = lost.separate() if several else lost
    left, noisy = epsilon - lost.epsilon, lost.mu_squared or lost.shown
    _refuse_more(lost.breach, delta, "delta")
    if left >= 0 and not noisy:
        return "sums of epsilons and deltas"
    if not delta:
        _refuse_more(lost.epsilon, epsilon, "epsilon")
    need(delta > 0, "noise that needs a delta")
    need(not rays or lost.mu_squared <= 2 * left, "delta falls slower than rows")
    if left >= 0:
        # what is pure comes off epsilon, chances come off delta (filters.md, lemma 2)
        if lost.shown:
            got = lost.shown[0].delta(lost.mu_squared, reals.of(left))
        else:
            got = enclose_gaussian_delta(lost.mu_squared, reals.of(left)).high
        least = lost.breach + (1 - lost.breach) * round_up(got)
        if least <= delta:
            return "the curve of Gaussian noise"
        if not lost.pures:
            _refuse_more(least, delta, "delta", is_loose=several)
    need(not rays, "a composed curve of rows that are charged one by one")
    sums = lost.separate()
    laws = tuple(law for pure in sums.pures for law in pure.curves() if law[0])
    need(sums.breach < 1 and laws and len(laws) <= 10_000, "sure to be seen")
    enough = (delta - sums.breach) / (1 - sums.breach)
    composed = composed_delta(laws, sums.mu_squared, epsilon, enough)
    least = sums.breach + (1 - sums.breach) * composed
    _refuse_more(least, delta, "delta", is_loose=True)
    return "a composed curve"


# --- Blocks: queries.md, section 11 ---------------------------------------------------

Value = Any
WHOLE = "*"
"""The block of tables without blocks."""


@final
@dataclass(frozen=True)
class BlockCover:
    """Blocks without a row of a person in which some rows are the same without it."""

    blocks: frozenset[str]
    marks: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    ends: Mapping[str, tuple[Value, Value]] = field(default_factory=dict)
    gated: bool = True

    def carry(self, names_: Callable[[frozenset[str]], Iterable[str]]) -> "BlockCover":
        """Return the cover with other columns that tell the block and the id."""
        marks, ids = frozenset(names_(self.marks)), frozenset(names_(self.ids))
        return replace(self, marks=marks, ids=ids)


def covers(  # noqa: C901, PLR0911 one case for each step
    node: Any, layouts: Mapping[str, Any], tables: Mapping[str, Any]
) -> list[BlockCover]:
    """Return all known covers of some rows; none, if nobody can change them."""
    below = [
        covers(node[side], layouts, tables)
        for side in ("of", "left", "right")
        if side in node
    ]
    match node["do"]:
        case "public":
            return []
        case "table" | "unreadable":
            return _table_covers(node, layouts, tables)
        case "filter" | "part":
            return [_narrow_cover(cover, node.get("condition")) for cover in below[0]]
        case "project":
            kept_ = {new: m["is"] for new, m in node["columns"].items() if "is" in m}
            return [
                c.carry(lambda old: [new for new, was in kept_.items() if was in old])
                for c in below[0]
            ]
        case "map" | "flat_map" | "explode":
            return [c.carry(lambda old: old - set(node["makes"])) for c in below[0]]
        case "keep_rows" | "keep_groups" | "keep_unique":
            return [_of_ids(c, node["per"]) for c in below[0]]
        case "one_per" | "crowded":
            own = [_of_ids(c, node["per"]) for c in below[0]]
            return [c.carry(lambda old: old & set(node["per"])) for c in own]
        case "join":
            return _join_covers(node, *below)
    raise Refused("a step without a rule")


def _of_ids(cover: BlockCover, per: list[str]) -> BlockCover:
    # rows of one block may push out those of another, of anybody
    return (
        cover
        if cover.ids & set(per)
        else replace(cover, marks=frozenset(), ids=frozenset())
    )


def _join_covers(
    node: Any, left: list[BlockCover], right: list[BlockCover]
) -> list[BlockCover]:
    if not right:
        return left
    renamed = {new: old for old, new in node["brings"].items()} | {
        n: n for n in node["on"]
    }
    theirs = [
        c.carry(lambda old: [n for n, was in renamed.items() if was in old])
        for c in right
    ]
    if left and all(c.ids & set(node["on"]) for c in (*left, *theirs)):
        return left if node["outer"] else left + theirs
    both = [best_cover(side).blocks for side in (left, right) if side]
    return [BlockCover(frozenset().union(*both))]


def _table_covers(
    node: Any, layouts: Mapping[str, Any], tables: Mapping[str, Any]
) -> list[BlockCover]:
    unit, layout = tables[node["table"]], layouts.get(node["table"])
    ids = (
        frozenset([unit["column"]])
        if unit["protects"] == "AddRowsWithID"
        else frozenset()
    )
    if layout is None:
        return [BlockCover(frozenset([WHOLE]), ids=ids)]
    need(layout["column"] in node["columns"], "a column of blocks that is not there")
    ends = {name: (read_value(a), read_value(b)) for name, a, b in layout["ends"]}
    cover = BlockCover(
        frozenset(ends), frozenset([layout["column"]]), ids, ends, gated=False
    )
    return [cover]


def best_cover(known_: list[BlockCover]) -> BlockCover:
    """Return the cheapest cover, of rows that no other block can change."""
    best = min(known_, key=lambda cover: (WHOLE in cover.blocks, len(cover.blocks)))
    need(best.gated, "rows of blocks that are not open")
    return best


def read_value(words: Any) -> Value:
    """Read ["date", "2026-01-31"]: a value of a column, as a condition compares it."""
    kind, text = words
    readers: dict[str, Callable[[str], Value]] = {
        "i64": lambda t: int(rational(t)),
        "f64": lambda t: float(rational(t)),
        "text": str,
        "date": date.fromisoformat,
        "time": datetime.fromisoformat,
    }
    return readers[kind](text)


def _narrow_cover(cover: BlockCover, condition: Any) -> BlockCover:
    """Return the cover of the rows that pass a condition."""
    blocks, gated = cover.blocks, cover.gated
    for mark in cover.marks:  # copies of one cell: one block passes all, or none
        gated = gated or _is_gate(condition, mark, list(cover.ends.values()))
        ends = {name: cover.ends[name] for name in blocks}
        blocks = _admit_blocks(condition, mark, ends)
    return replace(cover, blocks=blocks, gated=gated)


Ends = Mapping[str, tuple[Value, Value]]
_PASSES: dict[str, Callable[[int, int], bool]] = {
    "==": lambda low, high: low <= 0 <= high,
    "<": lambda low, _: low < 0,
    "<=": lambda low, _: low <= 0,
    ">": lambda _, high: high > 0,
    ">=": lambda _, high: high >= 0,
}
"""Whether a value between two ends, compared with a constant, may pass."""


def _admit_blocks(condition: Any, mark: str, ends: Ends) -> frozenset[str]:
    """Return the blocks of which a row may pass: all, if it is not understood."""
    if not condition or condition.get("column", mark) != mark:
        return frozenset(ends)
    if "and" in condition:
        left, right = (_admit_blocks(each, mark, ends) for each in condition["and"])
        return left & right
    if "or" in condition:
        left, right = (_admit_blocks(each, mark, ends) for each in condition["or"])
        return left | right
    constants = [read_value(value) for value in condition["values"]]
    starts = condition["starts"]
    test = condition["test"]
    if test == "in" and any(isinstance(value, float) for value in constants):
        return frozenset(ends)  # then all are rounded
    passes = _PASSES["==" if test == "in" else test]
    return frozenset(
        name
        for name, (least, most) in ends.items()
        if any(
            passes(_order(_start(least, starts), c), _order(_start(most, starts), c))
            for c in constants
        )
    )


def _order(left: Value, right: Value) -> int:
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        need(isfinite(left) and isfinite(right), "not a number")
    return int(left > right) - int(left < right)


def _start(moment: Value, units: list[str]) -> Value:
    """Return the start of a period of a period: it grows with the moment."""
    for unit in units:
        if isinstance(moment, datetime):
            kept_ = ("second", "minute", "hour").index(unit) if unit in _CLOCK else 3
            parts: Any = dict.fromkeys(("microsecond", *_CLOCK)[: kept_ + 1], 0)
            moment = moment.replace(**parts)
        if unit == "week":
            moment -= timedelta(days=moment.weekday())
        elif unit in {"year", "quarter", "month"}:
            month = {"year": 1, "quarter": moment.month - (moment.month - 1) % 3}
            moment = moment.replace(month=month.get(unit, moment.month), day=1)
        else:
            need(unit == "day" or unit in _CLOCK, "an unknown period")
    return moment


_CLOCK = ("second", "minute", "hour")


def _is_gate(  # noqa: PLR0911 one case for each form
    condition: Any, mark: str, ends: list[tuple[Value, Value]]
) -> bool:
    """Say whether nothing passes but values of some blocks."""
    if not condition:
        return False
    if "or" in condition:
        return all(_is_gate(each, mark, ends) for each in condition["or"])
    if "and" in condition:
        tests = condition["and"]
        if [test.get("test") for test in tests] != [">=", "<="]:
            return any(_is_gate(each, mark, ends) for each in tests)
        if any(test["column"] != mark or test["starts"] for test in tests):
            return False
        low, high = (read_value(test["values"][0]) for test in tests)
        return _covers_run(low, high, sorted(ends))
    if condition["column"] != mark or condition["starts"]:
        return False
    values = [read_value(value) for value in condition["values"]]
    return condition["test"] in {"in", "=="} and all((v, v) in ends for v in values)


def _covers_run(low: Value, high: Value, ends: list[tuple[Value, Value]]) -> bool:
    """Say whether blocks without a gap between them hold all these values."""
    step: Any = 1
    if isinstance(low, date):
        step = timedelta(microseconds=1) if isinstance(low, datetime) else timedelta(1)
    for least, most in ends:
        if least <= low <= most:
            if high <= most:
                return True
            low = most + step
    return False


def check_blocks(certificate: Any, plan: PlanReader, nodes: list[Any]) -> None:
    """Refuse a charge that leaves out a block of the cover (filters.md, section 9)."""
    words = certificate["blocks"]
    layouts = {name: each for name, each in words["tables"].items() if each is not None}
    charged, read = set(names(words["charged"])), set[str]()
    for node in nodes:
        known_ = covers(node, layouts, plan.tables)
        read |= best_cover(known_).blocks if known_ else set()
    need(read <= charged, "a block that is read and not charged")


def check_sums(record: Any) -> None:
    """Refuse what a ledger writes down of a charge, unless it adds up (filters.md).

    `before` has the sums of what is charged, blocks or budgets, as they stood;
    `runs` and `after` are what is written of them.
    """
    charge, written = amounts(record["charge"]), dict[str, Any]()
    for first, last, sums in record["runs"]:
        for place in range(read_whole(first), read_whole(last, most=10**6) + 1):
            need(str(place) not in written, "a block twice")
            written[str(place)] = sums
    written |= record["after"]
    need(set(written) == set(record["before"]), "other blocks than are charged")
    for name, sums in record["before"].items():
        before, after = amounts(sums), amounts(written[name])
        for coordinate, amount in charge.items():
            need(after[coordinate] >= before[coordinate] + amount, "a sum too small")


# --- What is handed in ----------------------------------------------------------------


@lru_cache(maxsize=64)
def check(text: str) -> str:
    """Check a certificate; say how its charge is known to be enough, or refuse it."""
    try:
        need(len(text) <= MOST_BYTES, "too long")
        certificate = json.loads(
            text, parse_float=_no_double, parse_constant=_no_double
        )
        return _check_certificate(certificate)
    except Refused:
        raise
    # whatever is not a certificate fails somewhere: nothing of it may pass
    except (ArithmeticError, LookupError, AttributeError, RecursionError) as error:
        why = type(error).__name__
    except (TypeError, ValueError, AssertionError, MemoryError) as error:
        why = type(error).__name__
    raise Refused(f"not a certificate ({why})")


def _no_double(_text: str) -> None:
    raise Refused("a double, where only exact numbers count")


def _check_certificate(certificate: Any) -> str:
    need(certificate["certificate"] == VERSION, "another version of certificates")
    charge, plan = amounts(certificate["charge"]), PlanReader(certificate["tables"])
    if "parts" in certificate:
        return _check_parts(certificate["parts"], charge, plan)
    # so many digits that the delta is told from its neighbours
    small = charge.get("delta", Fraction(1)) or Fraction(1)
    digits = len(str(small.denominator)) - len(str(small.numerator))
    reals = Reals(42 + max(0, digits))
    words = _list(certificate["releases"])
    releases = [ReleaseReader(each, plan, reals) for each in words]
    share = max(release.share for release in releases)
    rays = any(release.by_row for release in releases)
    need(not rays or len(releases) == 1, "several releases of rows charged one by one")
    lost = sum((release.compute_loss() for release in releases), Lost())
    if "blocks" in certificate:
        nodes = [node for each in words for node in _nodes_read(each)]
        check_blocks(certificate, plan, nodes)
    shared = {name: amount / share for name, amount in charge.items()}
    return admit(lost, shared, reals, rays=rays)


def _nodes_read(release: Any) -> Iterator[Any]:
    yield release["rows"]
    for count in release.get("coverage", []):
        if "rows" in count:
            yield count["rows"]


def _check_parts(parts: Any, charge: Mapping[str, Fraction], plan: PlanReader) -> str:
    """Check what a table's parts cost together (filters.md, lemmas 4 to 6)."""
    times, _ = split_parts(plan.rows(parts["rows"]), parts)
    each, reals = amounts(parts["each"]), Reals(60)
    need("delta" in charge or not each.get("delta", 0), "budgets of two kinds")
    for name, charged in charge.items():
        if name in each:
            due = times * each[name]
        elif name == "delta":
            due = Fraction(0)
        elif name == "rho" and "mu_squared" in each:
            due = times * each["mu_squared"] / 2
        else:  # what follows from an epsilon of all of them
            need("epsilon" in each, "budgets of two kinds")
            whole_ = Pure(times * each["epsilon"])
            due = whole_.rho(reals) if name == "rho" else whole_.mu_squared(reals)
        if name != "delta" or charged != 1:
            _refuse_more(due, charged, name)
    return f"{times} budgets of a part"


def main(arguments: list[str]) -> int:
    """Check files of one certificate a line; exit 1 if any is refused."""
    refused = 0
    for name in arguments:
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            try:
                rules = "accepted: " + check(line)
            except Refused as why:
                refused += 1
                rules = f"refused: {why}"
            sys.stdout.write(f"{name}:{number} {rules}\n")
    return 1 if refused or not arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
