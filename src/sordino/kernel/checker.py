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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from itertools import chain, islice, pairwise, product, starmap
from math import (
    ceil,
    comb,
    erfc,
    exp,
    factorial,
    floor,
    isfinite,
    isqrt,
    pi,
    prod,
    sqrt,
)
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


def read_integer(number: Any, least: int = 0, most: int = 2**53) -> int:
    """Read an integer within bounds; True is none."""
    need(type(number) is int and least <= number <= most, "not an integer in bounds")
    return int(number)


def read_list(words: Any) -> list[Any]:
    """Read a list."""
    need(isinstance(words, list) and len(words) <= 100_000, "not a list")
    return list(words)


def names(words: Any) -> list[str]:
    """Read a list of different names."""
    need(all(isinstance(name, str) for name in read_list(words)), "no names")
    need(len(set(words)) == len(words), "a name twice")
    return list(words)


# --- Enclosures -----------------------------------------------------------------------

ZERO, ONE = Decimal(0), Decimal(1)


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

    def enclose(self, low: int, high: int, bottom: int) -> "Span":
        """Enclose what lies between two fractions with one denominator."""
        return Span(self, self.down.divide(low, bottom), self.up.divide(high, bottom))

    def of(self, number: Fraction | int) -> "Span":
        """Enclose a rational."""
        return self.enclose(number.numerator, number.numerator, number.denominator)

    def exactly(self, number: Decimal) -> "Span":
        """Enclose a decimal by itself."""
        return Span(self, number, number)


@final
@dataclass(frozen=True, slots=True)
class Span:
    """A real number between two decimals."""

    reals: Reals
    low: Decimal
    high: Decimal

    def __add__(self, other: "Span") -> "Span":
        low = self.reals.down.add(self.low, other.low)
        return Span(self.reals, low, self.reals.up.add(self.high, other.high))

    def __neg__(self) -> "Span":
        return Span(self.reals, self.high.copy_negate(), self.low.copy_negate())

    def __sub__(self, other: "Span") -> "Span":
        return self + -other

    def __mul__(self, other: "Span") -> "Span":
        down, up = self.reals.down.multiply, self.reals.up.multiply
        if self.low >= 0 <= other.low:
            low = down(self.low, other.low)
            return Span(self.reals, low, up(self.high, other.high))
        pairs = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Span(self.reals, min(starmap(down, pairs)), max(starmap(up, pairs)))

    def __truediv__(self, other: "Span") -> "Span":
        need(other.low > 0, "a quotient by what may be zero")
        low = self.reals.down.divide(ONE, other.high)
        return self * Span(self.reals, low, self.reals.up.divide(ONE, other.low))

    def _enclose_growth(self, grows: Callable[[Decimal], Decimal]) -> "Span":
        """Enclose what `decimal` rounds correctly: one step further out encloses it."""
        low = self.reals.down.next_minus(grows(self.low))
        return Span(self.reals, low, self.reals.up.next_plus(grows(self.high)))

    def exp(self) -> "Span":
        """Enclose the exponential."""
        return self._enclose_growth(self.reals.near.exp).clip()

    def ln(self) -> "Span":
        """Enclose the logarithm of what is above zero."""
        need(self.low > 0, "a logarithm of what may be zero")
        return self._enclose_growth(self.reals.near.ln)

    def root(self) -> "Span":
        """Enclose the square root of what is at least zero."""
        return self.clip()._enclose_growth(self.reals.near.sqrt).clip()  # noqa: SLF001 its own

    def clip(self, most: Decimal = Decimal("Infinity")) -> "Span":
        """Narrow to what the number is known to lie in: from zero on."""
        low, high = (min(max(end, ZERO), most) for end in (self.low, self.high))
        return Span(self.reals, low, high)


def round_up(number: Decimal) -> Fraction:
    """Return a rational not below a decimal, short where that is tiny."""
    need(number.is_finite() and number < Decimal("1e3000"), "a number without a bound")
    return Fraction(max(number, Decimal("1e-3000")) if number else ZERO)


def root_above(number: Fraction) -> Fraction:
    """Return the root of a rational, exactly where it is rational, else from above."""
    top, bottom = isqrt(number.numerator), isqrt(number.denominator)
    if top * top == number.numerator and bottom * bottom == number.denominator:
        return Fraction(top, bottom)
    return round_up(Reals(60).of(number).root().high)


@lru_cache(maxsize=64)
def _pi(places: int) -> tuple[int, int]:
    """Enclose pi times 10**places by Machin's sum of two arctangents."""
    unit = 10 ** (places + 10)

    def arctangent(of: int) -> int:
        total, power, odd = 0, unit // of, 1
        while power:
            total += power // odd if odd % 4 == 1 else -(power // odd)
            power //= of * of
            odd += 2
        return total

    near = 4 * (4 * arctangent(5) - arctangent(239))
    # each of fewer than 4 * places terms is cut off by less than 20 in the last place
    off = 100 * places + 10**4
    return (near - off) // 10**10, -(-(near + off) // 10**10)


def _odd_series(size: Fraction, unit: int) -> tuple[int, int]:
    """Enclose x + x**3/3 + x**5/15 + ... in integers, all in the same unit."""
    below, above, odd = floor(size), ceil(size), 1
    least, most = below, above
    low, high = least, most
    while most > 1 or 2 * above * above > odd * unit * unit:
        odd += 2
        least = least * below // unit * below // (unit * odd)
        most = -(-most * above // unit)
        most = -(-most * above // (unit * odd))
        low, high = low + least, high + most
    # what is left is less than a geometric series of ratio 1/2 from the last term on
    return low, high + 2


def _normal_at(reals: Reals, x: Decimal) -> Span:
    """Enclose Phi(x): 1/2 + phi(x) (x + x**3/3 + x**5/15 + ...).

    Far out the two parts nearly cancel, by about x**2 / 4.6 digits, which are added.
    """
    far = reals.near.multiply(x, x)
    if far > 5 * reals.digits + 10:  # Phi(-x) <= exp(-x * x / 2), and ln 10 < 2.5
        tiny = reals.up.scaleb(ONE, -reals.digits)
        low, high = (ZERO, tiny) if x < 0 else (reals.down.subtract(ONE, tiny), ONE)
        return Span(reals, low, high)
    wide = Reals(reals.digits + int(far) * 2172 // 10_000 + 9)
    places = wide.digits + 6
    unit, pi = 10**places, _pi(places)
    half, at = wide.of(Fraction(1, 2)), wide.exactly(x)
    part = wide.enclose(*_odd_series(abs(Fraction(x)) * unit, unit), unit)
    part *= (-(at * at * half)).exp() / wide.enclose(2 * pi[0], 2 * pi[1], unit).root()
    known = half + part if x >= 0 else half - part
    return Span(reals, known.low, known.high).clip(ONE)


def normal(x: Span) -> Span:
    """Enclose Phi, which grows."""
    low, high = _normal_at(x.reals, x.low), _normal_at(x.reals, x.high)
    return Span(x.reals, low.low, high.high)


def delta_of_gaussian(mu_squared: Fraction, epsilon: Span) -> Span:
    """Enclose delta(epsilon) of N(0, 1) against N(mu, 1) (losses.md)."""
    reals = epsilon.reals
    if mu_squared == 0:
        return (reals.of(1) - epsilon.exp()).clip(ONE)
    mu = reals.of(mu_squared).root()
    half, far = mu * reals.of(Fraction(1, 2)), epsilon / mu
    seen, alike = normal(half - far), normal(-half - far)
    return (seen - epsilon.exp() * alike).clip(ONE)


def chance_of_any(reals: Reals, chance: Decimal, keys: int) -> Decimal:
    """Return 1 - (1 - chance)**keys from above."""
    if not keys:
        return ZERO
    stays = max(ZERO, reals.down.subtract(1, chance))
    # the power of decimals may be off by one in the last place
    rest = max(ZERO, reals.down.next_minus(reals.down.power(stays, keys)))
    return min(reals.up.subtract(1, rest), reals.up.multiply(chance, keys), ONE)


# --- What one unit can hold: queries.md, sections 1 to 4 ------------------------------

Version = object
"""What a column is; written anew it is another, under whatever name."""
Columns = frozenset[Version]
NO_COLUMNS: Columns = frozenset()


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
    """Bounds on one unit's rows.

    `groups`: in how many values of some columns they lie. `each`: how many share a
    value of some columns; of no columns, how many there are.
    """

    groups: Mapping[Columns, int] = field(default_factory=dict)
    each: Mapping[Columns, int] = field(default_factory=dict)

    def tighten(
        self,
        groups: Mapping[Columns, int] | None = None,
        each: Mapping[Columns, int] | None = None,
    ) -> "Limits":
        """Return the bounds with further ones."""
        return Limits(_least(self.groups, groups), _least(self.each, each))

    def times(self, factor: int | None) -> "Limits":
        """Return the bounds after each row became so many, or any number."""
        if factor is None:
            return Limits(self.groups)
        more = max(factor, 1)
        return Limits(self.groups, {c: most * more for c, most in self.each.items()})

    def most_groups(self, by: Columns) -> int | None:
        """Return in how many groups a unit lies, by the bounds on groups alone.

        Values of `by` are determined by values of sets of columns that cover it, and
        these number at most the product (lemma 1).
        """
        best = {NO_COLUMNS: 1}
        for columns, most in self.groups.items():
            for covered, values in list(best.items()):
                joined = covered | (columns & by)
                best[joined] = min(values * most, best.get(joined, values * most))
        return best.get(by)

    def most_rows(self) -> int | None:
        """Return how many rows a unit has."""
        groups = (
            (self.most_groups(columns), most) for columns, most in self.each.items()
        )
        return min((n * most for n, most in groups if n is not None), default=None)

    def groups_touched(self, by: Columns) -> int:
        """Return in how many groups a unit has rows."""
        bounds = self.most_groups(by), self.most_rows()
        known = [most for most in bounds if most is not None]
        need(known, "any number of groups")
        return min(known)

    def move(self, by: Columns) -> Move:
        """Return how far the row counts of groups move (lemma 1)."""
        entries, rows = self.groups_touched(by), self.most_rows()
        inside = {columns: most for columns, most in self.each.items() if columns <= by}
        together = [*inside.values(), *([] if rows is None else [rows])]
        need(together, "nothing bounds the rows of a unit")
        largest = min(together)
        most = entries * largest if rows is None else min(rows, entries * largest)
        squares = [_most_squares(most, largest, entries)]
        for columns, in_one in inside.items():
            groups = self.most_groups(columns)
            squares += [] if groups is None else [groups * in_one**2]
        norms = Fraction(most) ** 2, Fraction(min(squares)), Fraction(largest) ** 2
        return Move.of(entries, *norms)


def limit_rows(rows: int | None) -> Limits:
    """Return the bounds on so many rows of which nothing else is known."""
    return Limits() if rows is None else Limits(each={NO_COLUMNS: rows})


def _least(
    known: Mapping[Columns, int], more: Mapping[Columns, int] | None
) -> dict[Columns, int]:
    tighter = {c: min(n, known.get(c, n)) for c, n in (more or {}).items()}
    return dict(known) | tighter


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
    weighed: tuple[Version, Limits] | None = None
    """A column whose sums move as the row counts of so bounded rows, and no more."""
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

    def weight_unless(self, read: Iterable[str]) -> tuple[Version, Limits] | None:
        """Return the weighed column, unless what is done depends on it."""
        seen = {self.columns.get(name) for name in read}
        return None if self.weighed is None or self.weighed[0] in seen else self.weighed

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
        part = self.part and replace(self.part, row=grown(self.part.row))
        return self.other_rows(limits=grown(self.limits), each_way=way, part=part)


@final
class PlanReader:
    """Reads the tree that the engine runs: what becomes of a unit's rows."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self.steps_left = 1_000

    def rows(self, node: Any) -> UnitRows:
        """Return the differing rows of a node."""
        self.steps_left -= 1
        need(self.steps_left > 0, "too many steps")
        need(isinstance(node, dict) and isinstance(node.get("do"), str), "not a step")
        rule = _STEPS.get(node["do"])
        if rule is None:
            raise Refused("a step without a rule")
        return rule(self, node)


def _table(plan: PlanReader, node: Any) -> UnitRows:
    """Whom a table protects (units.md)."""
    unit, left_out = plan.tables[node["table"]], names(node["leaves_out"])
    rows = UnitRows({name: Version() for name in names(node["columns"])}, Limits())
    match unit["protects"]:
        case "AddOneRow":
            return replace(rows, limits=limit_rows(1))
        case "AddMaxRows":
            return replace(rows, limits=limit_rows(read_integer(unit["max_rows"], 1)))
        case "ChangeOneRow":
            size = read_integer(unit["rows"])
            return replace(rows, limits=limit_rows(2), each_way=1, size=size)
        case "AddMaxRowsInMaxGroups":
            marked = rows.versions([unit["column"]])
            groups = read_integer(unit["max_groups"], 1)
            each = read_integer(unit["max_rows_per_group"], 1)
            bounds = {NO_COLUMNS: groups * each, marked: each}
            return rows.tighten(groups={marked: groups}, each=bounds)
        case "AddMaxTotal":
            # rows of no weight, of which neighbours may have any number
            need("below 1" in left_out, "rows that weigh nothing")
            return _weigh(rows, unit)
        case "AddRowsWithID":
            need("without id" in left_out, "rows without an id")
            rows = rows.tighten(groups={rows.versions([unit["column"]]): 1})
            return replace(rows, ids=unit["column"], space=str(unit["id_space"]))
    raise Refused("a unit without a rule")


def _weigh(rows: UnitRows, unit: Any) -> UnitRows:
    """Return rows that stand for what people add: so many leave, and so many come."""
    most, (column,) = (
        read_integer(unit["max_total"], 1),
        rows.versions([unit["column"]]),
    )
    weight, limits = limit_rows(most), limit_rows(2 * most)
    if "in_each" in unit:  # so much of it where these columns are equal
        *words, inside = read_list(unit["in_each"])
        cell, each = rows.versions(names(words)), read_integer(inside, 1)
        need(cell and column not in cell, "cells of the column itself")
        weight = weight.tighten(each={cell: each})
        limits = limits.tighten(each={cell: 2 * each})
    return replace(rows, limits=limits, each_way=most, weighed=(column, weight))


def _unreadable(plan: PlanReader, node: Any) -> UnitRows:
    """Rows of a table with a cell that cannot be read: some of its rows."""
    unit = plan.tables[node["table"]]
    own = {unit["column"]} - set(node["columns"]) if "column" in unit else set()
    columns = [*node["columns"], *own]
    return _table(plan, {**node, "columns": columns}).other_rows()


def _crowded_values(plan: PlanReader, node: Any) -> UnitRows:
    """One row for each value above a limit: a row lies in one (lemma 10)."""
    rows = plan.rows(node["of"])
    columns = {name: rows.columns[name] for name in names(node["per"])}
    rows.versions(names(node["groups"]))
    need(rows.ids is None or rows.by_ids(columns), "rows of several ids in one")
    ids = rows.ids and _find_name(columns, rows.columns[rows.ids])
    limits = limit_rows(rows.limits.most_rows())
    return rows.other_rows(ids=ids, columns=columns, limits=limits, each_way=None)


def _project(plan: PlanReader, node: Any) -> UnitRows:
    rows = plan.rows(node["of"])
    columns, read = dict[str, Version](), set[str]()
    for name, source in node["columns"].items():
        if "is" in source:
            (columns[name],) = rows.versions([source["is"]])
        else:
            columns[name] = Version()
            read |= set(names(source["reads"]))
    ids = rows.ids and _find_name(columns, rows.columns[rows.ids])
    weighed = rows.weight_unless(read)
    # each row is made of one: their number stays public, where it was
    return replace(rows, columns=columns, ids=ids, weighed=weighed, per_key=None)


def _filter(plan: PlanReader, node: Any) -> UnitRows:
    rows = plan.rows(node["of"])
    return rows.other_rows(weighed=rows.weight_unless(names(node["reads"])))


def _part(plan: PlanReader, node: Any) -> UnitRows:
    return split_parts(plan.rows(node["of"]), node)[1]


def _keep_rows(plan: PlanReader, node: Any) -> UnitRows:
    rows, most = plan.rows(node["of"]), read_integer(node["limit"], 1)
    per = names(node["per"])
    key = rows.versions(per)
    if rows.ids is None:
        # by keys one row moves two, of anybody; nothing else is known (lemma 2)
        return _kept_by_key(rows, 2, key, most)
    need(rows.by_ids(per), "rows of an id are kept by these alone (lemma 3)")
    rest = key - rows.versions([rows.ids])
    return rows.tighten(each={rest: most}).other_rows()


def _keep_groups(plan: PlanReader, node: Any) -> UnitRows:
    rows, most = plan.rows(node["of"]), read_integer(node["limit"], 1)
    per = names(node["per"])
    need(rows.by_ids(per) and len(per) == 1, "groups are kept per id")
    groups = {rows.versions(names(node["groups"])): most}
    return rows.tighten(groups=groups).other_rows()


def _keep_unique(plan: PlanReader, node: Any) -> UnitRows:
    rows = plan.rows(node["of"])
    need(rows.ids is None, "unique rows are kept where rows are protected")
    return _kept_by_key(rows, 1, rows.versions(names(node["per"])), 1)


def _kept_by_key(rows: UnitRows, moved: int, key: Columns, most: int) -> UnitRows:
    """Bound the rows that differ where one row may push out others, per key."""

    def kept(limits: Limits) -> Limits:
        count = limits.most_rows()
        need(count is not None, "nothing bounds the rows of a unit")
        return limit_rows(moved * (count or 0))

    part = rows.part and replace(rows.part, row=kept(rows.part.row))
    limits = kept(rows.limits)
    return rows.other_rows(limits=limits, each_way=None, per_key=(key, most), part=part)


def _map(plan: PlanReader, node: Any) -> UnitRows:
    return _write_columns(plan.rows(node["of"]), node).other_rows()


def _explode(plan: PlanReader, node: Any) -> UnitRows:
    limit = None if node["limit"] is None else read_integer(node["limit"])
    return _write_columns(plan.rows(node["of"]).multiply(limit), node)


def _one_per(plan: PlanReader, node: Any) -> UnitRows:
    """One row for each value of columns with the id (lemma 11)."""
    rows, per = plan.rows(node["of"]), names(node["per"])
    need(rows.by_ids(per), "one row for each id")
    ids = rows.columns[rows.ids or ""]
    rows = rows.tighten(each={rows.versions(per) - {ids}: 1})
    columns = {name: rows.columns[name] for name in per}
    columns |= {name: Version() for name in names(node["makes"])}
    part = rows.part and replace(rows.part, alone=False)
    return rows.other_rows(columns=columns, part=part, ids=_find_name(columns, ids))


def _join(plan: PlanReader, node: Any) -> UnitRows:
    left, on = plan.rows(node["left"]), names(node["on"])
    brought: Mapping[str, str] = node["brings"]
    need(not set(brought.values()) & set(left.columns), "a column twice")
    left.versions(on)
    if node["right"]["do"] == "public":
        # a row meets at most `most` rows of a public table; left, at least itself
        need(
            node["right"]["table"] not in plan.tables, "a private table as a public one"
        )
        most = read_integer(node["most"])
        columns = dict(left.columns) | {new: Version() for new in brought.values()}
        weighed = left.weight_unless(on) if most <= 1 else None
        return replace(left.multiply(most), columns=columns, weighed=weighed)
    right = plan.rows(node["right"])
    # the same table may stand on both sides, under other bounds
    moved = {version: Version() for version in right.columns.values()}
    moved |= {right.columns[name]: left.columns[name] for name in on}
    columns = dict(left.columns)
    columns |= {new: moved[right.columns[old]] for old, new in brought.items()}
    part = left.part and replace(left.part, alone=False)
    rows = left.other_rows(columns=columns, each_way=None, part=part)
    need(not node["outer"], "an outer join of two private tables")
    if left.ids is None and right.ids is None:
        return replace(rows, limits=_pairs_of_rows(left, right, on))
    # else rows of one person meet those of another (lemma 5)
    both = (left.by_ids([name]) and right.by_ids([name]) for name in on)
    need(any(both), "a join that is not by ids")
    need(left.space == right.space, "ids of different kinds")
    return replace(rows, limits=_pairs_of_ids(left.limits, right.limits, moved))


_STEPS: dict[str, Callable[[PlanReader, Any], UnitRows]] = {
    "table": _table,
    "unreadable": _unreadable,
    "crowded": _crowded_values,
    "project": _project,
    "filter": _filter,
    "part": _part,
    "keep_rows": _keep_rows,
    "keep_groups": _keep_groups,
    "keep_unique": _keep_unique,
    "map": _map,
    "explode": _explode,
    "flat_map": _explode,
    "one_per": _one_per,
    "join": _join,
}


def _write_columns(rows: UnitRows, node: Any) -> UnitRows:
    columns = dict(rows.columns) | {name: Version() for name in names(node["makes"])}
    # ids may stand under two names, of which one is written anew
    ids = rows.ids and _find_name(columns, rows.columns[rows.ids])
    return replace(rows, columns=columns, ids=ids)


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
    return limit_rows((mine or (0, 0))[1] * came + (theirs or (0, 0))[1] * lost)


def _pairs_of_ids(
    left: Limits, right: Limits, moved: Mapping[Version, Version]
) -> Limits:
    """Return the bounds on the pairs of one id (lemma 5)."""

    def again(bounds: Mapping[Columns, int]) -> dict[Columns, int]:
        known = {c: most for c, most in bounds.items() if c <= moved.keys()}
        return {frozenset(moved[each] for each in c): n for c, n in known.items()}

    mine, theirs = left.most_rows(), right.most_rows()
    limits = Limits(left.groups).tighten(groups=again(right.groups))
    if theirs is not None:
        limits = limits.tighten(each={c: n * theirs for c, n in left.each.items()})
    if mine is not None:
        each = again(right.each)
        limits = limits.tighten(each={c: n * mine for c, n in each.items()})
    if mine is None or theirs is None:
        return limits
    return limits.tighten(each={NO_COLUMNS: mine * theirs})


def split_parts(rows: UnitRows, node: Any) -> tuple[Fraction, UnitRows]:
    """Return how many budgets of a part its parts cost, and the rows of one of them."""
    column, count = rows.versions([node["by"]]), read_integer(node["count"], 1)
    most, known = min(rows.limits.groups_touched(column), count), rows.part
    inside = rows.tighten(groups={column: 1}).other_rows()
    if known is not None and known.alone:
        return Fraction(min(known.row.groups_touched(column), count)), inside
    if known is not None:
        # rows that met others: each may be in as many parts as all together
        return Fraction(most * known.rows), replace(inside, part=None)
    in_all, in_one = rows.limits.most_rows(), inside.limits.most_rows()
    if in_all is None or in_one is None or in_all >= most * in_one:
        return Fraction(most), inside
    row = limit_rows(1).tighten(groups={column: 1})
    part = ChargedPart(in_one, row, alone=True)
    return Fraction(in_all, in_one), replace(inside, part=part)


# --- From rows to numbers: queries.md 5, moments.md, units.md, over-time.md -----------

Range = tuple[Fraction, Fraction]
_ROW: Range = (Fraction(0), Fraction(1))


def total_range(total: Any) -> Range:
    """Return the range of factor * x + shift: of rows, and of those without a value."""
    low, high = _cell_range(total["cell"])
    factor = Fraction(read_integer(total["factor"], -(2**53)))
    shift = Fraction(read_integer(total["shift"], -(2**62), 2**62))
    ends = (low * factor + shift, high * factor + shift, shift, Fraction(0))
    return min(ends), max(ends)


def _cell_range(cell: Any, deep: int = 0) -> tuple[int, int]:
    """Return the range of an integer of a row, by what its expression does last."""
    need(deep < 50 and isinstance(cell, dict) and len(cell) == 1, "not a cell")
    ((kind, words),) = cell.items()
    match kind:
        case "is":
            number = read_integer(words, -(2**63), 2**63)
            return number, number
        case "steps":  # clamped to [low, high], and counted from an origin
            low, high, origin = (read_integer(n, -(2**41), 2**41) for n in words)
            need(low <= high, "bounds in no order")
            return low - origin, high - origin
        case "clip":
            _, low, high = words
            need(read_integer(low) <= read_integer(high), "bounds in no order")
            return low, high
        case "portion":  # of W 2**finer, by its place (moments.md, lemma 1)
            width, place, finer = _portion(words)
            # the middle one is 2 W t (1 - t), or less than 2 more
            return 0, (width << finer) // 2 + 2 if place == 1 else width << finer
        case "either":
            need(0 < len(read_list(words)) <= 2_000, "no branches")
            ranges = [_cell_range(each, deep + 1) for each in words]
            return min(low for low, _ in ranges), max(high for _, high in ranges)
        case "product" | "square":
            return _product_range(kind == "square", words, deep + 1)
    raise Refused("a cell whose range is not known")


def _product_range(squared: bool, words: Any, deep: int) -> tuple[int, int]:  # noqa: FBT001 one of two cells
    """Return the range of a product of two integers, or of one and itself."""
    factors = [words] if squared else read_list(words)
    need(len(factors) == 2 - squared, "not a product of two")
    ranges = [_cell_range(each, deep) for each in factors]
    products = [a * b for a in ranges[0] for b in ranges[-1]]
    low, high = 0 if squared else min(products), max(products)
    need(max(-low, high) < 2**62, "a product beyond 64 bits")
    return low, high


def _portion(words: Any) -> tuple[int, int, int]:
    width, place, finer = words
    return (
        read_integer(width, 1, 2**41),
        read_integer(place, 0, 2),
        read_integer(finer, 0, 64),
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

    def row_move(self, by: Columns | None = None, more: Columns = NO_COLUMNS) -> Move:
        """Return how far row counts move, `more` columns splitting the groups."""
        by, part = (self.by if by is None else by) | more, self._row_part
        if part is None:
            return self.rows.limits.move(by)
        return part.row.move(by).times(part.rows, part.rows)

    def weight(self, by: Columns | None = None) -> Move | None:
        """Return how far the sums of the weighed column move (units.md, lemma 3)."""
        weighed, by = self.rows.weighed, self.by if by is None else by
        if weighed is None or self._row_part is not None or weighed[0] in by:
            return None
        return weighed[1].move(by)

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
        entries = (self.rows.limits if part is None else part.row).groups_touched(by)
        if self.known is not None and by == self.by and not self.unknown:
            entries = min(entries, self.known)  # of no other group anything is told
        move = Move(entries, Fraction(entries) ** 2, Fraction(entries), Fraction(1))
        return move if part is None else move.times(part.rows, part.rows)


def move_of(number: Any, groups: AskedGroups, by: Columns | None = None) -> Move:
    """Return how far the numbers of a measurement move."""
    rule = _NUMBERS.get(number["of"])
    if rule is None:
        raise Refused("numbers without a rule")
    return rule(number, groups, by)


def _unit(number: Any) -> Fraction:
    return Fraction(2) ** read_integer(number.get("exponent", 0), -2_000, 2_000)


def _totals(number: Any) -> list[Any]:
    totals = read_list(number["totals"])
    need(0 < len(totals) <= 10_000, "no totals")
    return totals


def _sum_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """A sum of one number of each row (queries.md, section 5)."""
    (total,) = _totals(number)
    if _is_weight(total, groups):
        weight = groups.weight(by)
        need(weight is not None, "no column whose sum is bounded")
        return weight or NOTHING
    low, high = total_range(total)
    # numbers of both signs pull the same way where one comes and the other leaves
    moved = groups.row_move(by) if low < 0 < high else groups.one_signed(by)
    return moved.times(max(abs(low), abs(high)) * _unit(number))


def _is_weight(total: Any, groups: AskedGroups) -> bool:
    """Say whether a total adds up the weighed column, or what a clamp leaves of it."""
    cell, weighed = total["cell"], groups.rows.weighed
    name, alone = cell.get("column"), (total["factor"], total["shift"]) == (1, 0)
    if "clip" in cell:  # it must keep nothing at nothing (units.md, lemma 4)
        name, low, high = cell["clip"]
        alone = alone and read_integer(low) <= 1 <= read_integer(high)
    known = weighed is not None and groups.rows.columns.get(name) == weighed[0]
    return name is not None and known and alone


def _is_one_signed(number: Any, groups: AskedGroups) -> bool:
    """Say whether a row more moves the numbers all the same way."""
    if number["of"] != "sum" or _is_weight(number["totals"][0], groups):
        return True
    low, high = total_range(number["totals"][0])
    return low >= 0 or high <= 0


def _distinct_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Different values of columns: a row is one of them at most, and so is an id."""
    groups.rows.versions(names(number["columns"]))
    return groups.people(by) if _counts_ids(number, groups) else groups.row_move(by)


def _counts_ids(number: Any, groups: AskedGroups) -> bool:
    columns = names(number["columns"])
    return len(columns) == 1 and groups.rows.by_ids(columns)


def _bins_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Rows in ranges of a column that do not overlap: they split the groups further."""
    ranges = [total_range(total) for total in _totals(number)]
    need(all(low >= 0 and high <= 1 for low, high in ranges), "more than a row")
    return groups.row_move(by, frozenset([Version()]))


def _division_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Numbers that each row is divided into (moments.md, lemmas 1 and 2)."""
    totals = _totals(number)
    lost = [total for total in totals if "missing" in total["cell"]]
    width = _read_division([total for total in totals if total not in lost])
    # of rows without a value: all of it, and nothing to the others
    alone = all((total["factor"], total["shift"]) == (width, 0) for total in lost)
    need(alone and len(lost) <= 1, "numbers that do not add up")
    return groups.row_move(by).times(width * _unit(number), len(totals))


def _read_division(totals: list[Any]) -> int:
    """Return the sum of the pair or the triple of a row."""
    if len(totals) == 2:
        below, above = totals
        low, high, origin = below["cell"]["steps"]
        width = read_integer(high - low, 1)
        pair = [(each["factor"], each["shift"]) for each in totals]
        alike = below["cell"] == above["cell"] and origin == low
        need(alike and pair == [(-1, width), (1, 0)], "numbers that do not add up")
        return width
    portions = [_portion(total["cell"]["portion"]) for total in totals]
    width, _, finer = portions[0]
    plain = all((total["factor"], total["shift"]) == (1, 0) for total in totals)
    whole = portions == [(width, place, finer) for place in range(3)]
    need(plain and whole, "numbers that do not add up")
    return width << finer


def _vector_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Several numbers of each row, each with a size of its own (moments.md, lemma 7).

    The largest entry stands for what one group holds: all of its numbers move together.
    """
    ranges = [total_range(total) for total in _totals(number)]
    sizes = [max(abs(low), abs(high)) * _unit(number) for low, high in ranges]
    rows = groups.row_move(by)
    squares = sum((size * size for size in sizes), Fraction(0))
    l1 = rows.l1 * sum(sizes, Fraction(0)) ** 2
    l2, largest = rows.l2 * squares, rows.largest * squares
    return Move.of(rows.entries * len(sizes), l1, l2, largest)


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
    base, known = number["base"], groups.known
    need(known and not groups.unknown, "no known groups")
    need(groups.rows.ids is not None and not groups.by_row, "no ids are protected")
    if base["of"] == "sum":
        need(total_range(_totals(base)[0]) == _ROW, "not a count")
    else:
        need(base["of"] == "distinct" and _counts_ids(base, groups), "not a count")
    moved, all_groups = move_of(base, groups, by), Fraction(known or 0)
    size, touched = moved.largest, min(Fraction(moved.entries), all_groups)
    share = Fraction(read_integer(number["off"]), 64) / root_above(size)
    need(share <= Fraction(1, 2), "more than half is taken off")
    l1 = touched * (1 - share) + (all_groups - touched) * share
    l2 = touched * (1 - 2 * share) + all_groups * share**2
    return Move(int(all_groups), size * l1**2, size * l2, size * (1 - share) ** 2)


def _running_move(number: Any, groups: AskedGroups, by: Columns | None) -> Move:
    """Figures over time (over-time.md, lemma 1)."""
    base, factors = move_of(number["base"], groups, by), read_list(number["factors"])
    need(0 < len(factors) <= 10_000, "no periods")
    steps = [read_integer(factor, 0, 256) for factor in factors]
    need(steps[0] == 256 and all(a >= b for a, b in pairwise(steps)), "factors rise")
    if not any(steps[1:]) or not base.l1:
        return base
    periods = len(steps)
    columns = min(base.entries, ceil(root_above(base.l1) / root_above(base.largest)))
    sums, squares = [0] * periods, [0]
    for column in range(min(columns, periods)):
        for place in range(column, periods):
            sums[place] += steps[place - column]
        squares.append(sum(each * each for each in sums))
    longest = Fraction(squares[-1])
    if len(groups.by) > 1:  # blocks of all periods, in which columns are shared out
        longest = columns * max(Fraction(n, j) for j, n in enumerate(squares) if j)
    moved = min(base.largest * longest, base.l1 * squares[1]) / 256**2
    entries = base.entries * periods
    return Move(entries, moved * entries, moved, moved)


_NUMBERS: dict[str, Callable[[Any, AskedGroups, Columns | None], Move]] = {
    "sum": _sum_move,
    "distinct": _distinct_move,
    "bins": _bins_move,
    "together": _division_move,
    "vector": _vector_move,
    "sized": _sized_move,
    "ids everywhere": _everywhere_move,
    "centred": _centred_move,
    "running": _running_move,
}


def left_out_move(count: Any, groups: AskedGroups, plan: PlanReader) -> Move:
    """Return how far a count of what was left out moves (queries.md, lemma 10)."""
    if count["of"] == "clamped":
        (total,) = _totals(count)
        low, high = total_range(total)
        need(low >= 0 and high <= 1, "more than a row")
        return groups.row_move(by=NO_COLUMNS)
    rows = plan.rows(count["rows"])
    unit: int | None = 1
    if count["of"] == "ids":
        need(rows.ids is not None, "no ids are protected")
    elif count["of"] == "sum":
        need(rows.ids is not None and rows.limits.most_rows() == 1, "not a row an id")
        (total,) = _totals(count)
        low, high = total_range(total)
        need(low >= 0, "a sum that falls")
        unit = ceil(high)
    else:
        need(count["of"] == "rows" and rows.ids is None, "a count without a rule")
        unit = rows.limits.most_rows()
        need(unit is not None, "nothing bounds the rows of a unit")
    many = groups.rows.part.rows if groups.by_row and groups.rows.part else 1
    return Move(1, *(Fraction(unit or 0) ** 2,) * 3).times(many, many)


# --- What noise costs: noise.md, thresholds.md, keys.md, selection.md, first-few.md ---

Law = str | tuple[int, Fraction]
"""Of a pure loss: "laplace", "range", "any", or (steps, scale) of geometric noise."""
Shares = list[tuple[Fraction, Fraction]]
"""(mu squared, the most of it that one key can hold) of Gaussian noise on keys."""


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
    def in_all(self) -> Fraction:
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
        each = min(each, *(round_up(max(ZERO, bound.high)) for bound in bounds))
        total = each * self.times
        return total if self.rho_known is None else min(total, self.rho_known)

    def mu_squared(self, reals: Reals) -> Fraction:
        """Return a square of mu from above (selection.md, claim 5)."""
        each = self.epsilon / 2 if self.law == "range" else self.epsilon
        return self.times * _mu(reals.digits, each) ** 2


@lru_cache(maxsize=64)
def _mu(digits: int, exponent: Fraction) -> Fraction:
    """Return a mu with Phi(mu / 2) at least 1 / (1 + exp(-exponent)).

    Doubles guess it, two steps of Newton's make the guess exact, and a little is added:
    whether that is enough is seen at the end, not believed.
    """
    if not exponent or exponent > 200:  # Phi(-x) <= exp(-x**2 / 2) / 2
        return 2 * root_above(2 * exponent)
    reals = Reals(digits + floor(exponent) // 2)  # so that the share is told from 1
    tail, low, high = 1 / (1 + exp(exponent)), 0.0, 40.0
    for _ in range(100):
        middle = (low + high) / 2
        missed = erfc(middle / sqrt(2)) / 2 > tail
        low, high = (middle, high) if missed else (low, middle)
    unit, guess = reals.of(1), reals.of(Fraction(high))
    share = unit / (unit + (-reals.of(exponent)).exp())
    slope = reals.of(Fraction(exp(-high * high / 2) * sqrt(0.5 / pi)))
    for _ in range(2):
        guess = reals.exactly((guess + (share - normal(guess)) / slope).high)
    mu = 2 * Fraction(guess.high) * (1 + Fraction(1, 10**20))
    need(normal(reals.of(mu / 2)).low >= share.high, "no mu is large enough")
    return mu


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
        reals, unit = epsilon.reals, epsilon.reals.of(1)
        if max(self.seen, self.missed) >= 1:
            return ONE
        stays, meets = (
            unit - reals.exactly(self.seen),
            unit - reals.exactly(self.missed),
        )
        at = epsilon + meets.ln() - stays.ln()
        # the lower end of an epsilon has the larger delta
        rest = delta_of_gaussian(self.mu_squared + beside, reals.exactly(at.low))
        return reals.up.add(self.seen, reals.up.multiply(stays.high, rest.high))


@final
@dataclass(frozen=True)
class ShownKeys:
    """Keys that are shown by Gaussian noise, and what is told of them, jointly."""

    cases: tuple[KeySplit, ...]

    @property
    def worst(self) -> tuple[Fraction, Fraction]:
        """Return a chance of a breach, and mu squared of the rest."""
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
        noise, breach = self.mu_squared + other.mu_squared, self.breach + other.breach
        return Lost(self.pures + other.pures, noise, breach, self.shown + other.shown)

    @property
    def epsilon(self) -> Fraction:
        """Return the sum of the epsilons."""
        return sum((pure.in_all for pure in self.pures), Fraction(0))

    def separate(self) -> "Lost":
        """Return the same, with a breach and a mu of their own for keys that show."""
        worst = [shown.worst for shown in self.shown]
        breach = sum((chance for chance, _ in worst), self.breach)
        mu_squared = sum((square_ for _, square_ in worst), self.mu_squared)
        return Lost(self.pures, mu_squared, breach)


def noise_cost(number: Any, move: Move) -> Lost:
    """Return the cost of noise of a scale (queries.md, lemma 6; noise.md)."""
    variance = square(number["scale"])
    need(variance > 0, "no noise")
    match number["noise"]:
        case "gaussian":
            return Lost(mu_squared=move.l2 / variance)
        case "laplace" | "geometric":
            need(
                number["noise"] == "laplace" or _is_whole(number), "noise on fractions"
            )
            pures = _coordinates(number["noise"], move, variance) if move.l1 else ()
            return Lost(tuple(pures))
    raise Refused("noise without a rule")


def _ranges(rate: Fraction, levels: int, move: Move) -> Lost:
    """Return the cost of levels of choices (selection.md, claims 4, 6 and 8)."""
    epsilon = root_above(rate * move.l1)
    rho = rate * move.l2 / (8 * levels)
    return Lost((Pure(epsilon / levels, "range", levels, rho),))


def _is_whole(number: Any) -> bool:
    """Say whether a number is an integer: through geometric noise halves would show."""
    if number["of"] == "running":
        return not any(number["factors"][1:]) and _is_whole(number["base"])
    return number["of"] != "centred" and _unit(number).denominator == 1


def _coordinates(noise: str, move: Move, variance: Fraction) -> Iterator[Pure]:
    """Yield the worst change: entries of the largest size, then the rest."""
    width = root_above(variance)
    if width * width != variance:  # roots that were rounded up do not divide each other
        law = "laplace" if noise == "laplace" else "any"
        yield Pure(root_above(move.l1 / variance), law)
        return
    largest, moved = root_above(move.largest), root_above(move.l1)
    full = min(move.entries, floor(moved / largest))
    rest = min(moved - full * largest, largest) if full < move.entries else Fraction(0)
    for size, times in ((largest, full), (rest, 1)):
        if size and times:
            short = size.denominator == 1 and size < 4096
            steps: Law = (int(size), width) if short else "any"
            yield Pure(size / width, "laplace" if noise == "laplace" else steps, times)


def _laplace_sum_tail(reals: Reals, numbers: int, far: Fraction) -> Decimal:
    """Return P[L_1 + ... + L_s >= far] from above (moments.md, section 2)."""
    if far <= 0:
        return ONE
    terms = Fraction(0)
    for j in range(numbers):
        ways = sum(
            Fraction(comb(numbers - 1 + i, i), 2 ** (numbers + i))
            for i in range(numbers - j)
        )
        terms += far**j / factorial(j) * ways
    return ((-reals.of(far)).exp() * reals.of(terms)).high


def passing_chance(reals: Reals, shown: Any, move: Move, numbers: int) -> Decimal:
    """Return the chance that a key of one unit alone is shown (thresholds.md, 1)."""
    threshold, largest = rational(shown["threshold"]), root_above(move.largest)
    variance = square(shown["scale"])
    need(threshold > 0 and variance > 0, "no threshold")
    if shown["noise"] == "gaussian":
        return normal(reals.of(largest - threshold) / reals.of(variance).root()).high
    width = root_above(variance)
    need(width * width == variance, "a scale that is a root")
    if shown["noise"] == "geometric":
        # the mass at the threshold itself passes, too
        steps = ceil(threshold - largest)
        if steps <= 0:
            return ONE
        tail = (-reals.of(steps / width)).exp()
        return (tail / (reals.of(1) + (-reals.of(1 / width)).exp())).high
    # sums of numbers that were each rounded to a double (moments.md, lemma 4)
    gap = threshold - largest * (1 + Fraction(1, 2**49)) - width / 2**20
    tail_of_sum = _laplace_sum_tail(reals, numbers, gap / width)
    return min(ONE, reals.up.add(tail_of_sum, Decimal("1e-1000000")))


@final
class ReleaseReader:
    """One release of a certificate: its groups, and what each of its parts loses."""

    def __init__(self, words: Any, plan: PlanReader, reals: Reals) -> None:
        self.words, self.plan, self.reals = words, plan, reals
        rows, first = plan.rows(words["rows"]), words.get("first")
        by, unknown = names(words["by"]), names(words["unknown"])
        known = None if words.get("known") is None else read_integer(words["known"], 1)
        ways = [w for w in ("presence", "rounds", "first", "margins") if w in words]
        need(len(ways) <= 1, "keys are shown in two ways")
        self.way = ways[0] if ways else ""
        named = unknown or known or self.way in {"first", "margins"}
        need(not by or named, "keys that nobody named")
        need(set(unknown) <= set(by), "unknown keys that are no keys")
        hides = self.way in {"presence", "rounds", "first"}
        need(not unknown or hides, "nothing hides the keys")
        alone = rows.part is not None and rows.part.alone
        # a key shows or not: then no rows are charged one by one (filters.md, lemma 6)
        by_row = alone and not unknown and first is None
        self.share = rows.part.rows if rows.part is not None and not by_row else 1
        self.asked = AskedGroups(
            rows, rows.versions(by), rows.versions(unknown), known, by_row
        )
        self.groups = self.asked
        if first is not None:
            self.groups = self._groups_of(read_integer(first["most"], 1, 10_000))
        self.in_part = 0 < len(unknown) < len(by)

    def _groups_of(self, few: int) -> AskedGroups:
        """Return the groups, of which a unit lies in a few (first-few.md, 3)."""
        rows = self.asked.rows.tighten(groups={self.asked.by: few})
        return replace(self.asked, rows=replace(rows, size=None), known=None)

    def compute_loss(self) -> Lost:
        """Return the loss of all that is released."""
        words, lost, on_keys = self.words, Lost(), Shares()
        for number in read_list(words["measurements"]):
            move = move_of(number, self.groups)
            if number["noise"] == "gaussian" and self.way in {"presence", "rounds"}:
                on_keys.append(self._share_of(number, move))
            else:
                lost += noise_cost(number, move)
        for choice in read_list(words.get("choices", [])):
            lost += self._choice(choice)
        for count in read_list(words.get("coverage", [])):
            lost += noise_cost(count, left_out_move(count, self.asked, self.plan))
        return lost + self._keys(on_keys)

    def _keys(self, on_keys: Shares) -> Lost:
        """Return the loss of what shows keys, or of all margins."""
        words = self.words.get(self.way)
        match self.way:
            case "presence":
                return self._presence(words, on_keys)
            case "rounds":
                return self._rounds(words, on_keys)
            case "first":
                return self._first(words)
            case "margins":
                return Lost(mu_squared=self._margins(words))
        return Lost()

    def _share_of(self, number: Any, move: Move) -> tuple[Fraction, Fraction]:
        """Return mu squared of a number, and how much of it one key can hold."""
        variance = square(number["scale"])
        need(variance > 0, "no noise")
        # of keys known in part one holds several groups (keys.md, lemma 4)
        spread = not self.in_part and move.l2
        return move.l2 / variance, move.largest / move.l2 if spread else Fraction(1)

    def _choice(self, choice: Any) -> Lost:
        """A choice among public candidates (queries.md, lemma 9)."""
        move, rate = self.groups.row_move(), square(choice["rate"])
        if choice["kind"] == "walk":
            epsilon = root_above(rate * move.l1)
            return Lost((Pure(epsilon, "any", 1, rate * move.l2 / 2),))
        need(choice["kind"] == "quantiles", "a choice without a rule")
        levels, answers = (
            read_integer(choice["levels"], 1, 64),
            read_integer(choice["answers"], 1),
        )
        need(2**levels > answers, "more answers than levels tell")
        lost = _ranges(rate, levels, move)
        if "ends" in choice:
            # of several answers an end above one lies among the rows of one below
            ends, least = choice["ends"], min(2, answers)
            levels = read_integer(ends["levels"], least, 64)
            lost += _ranges(square(ends["rate"]), levels, move)
        if "cells" in choice:
            # a row lies between two cuts: rows between all move as rows do
            cells = choice["cells"]
            need(cells["noise"] in {"laplace", "gaussian"}, "noise on shares of rows")
            lost += noise_cost(cells, move)
        return lost

    def _presence(self, shown: Any, on_keys: Shares) -> Lost:
        """Keys that reach a threshold (thresholds.md; queries.md, lemma 8)."""
        by = self.groups.unknown if self.in_part else None
        move, together = move_of(shown, self.groups, by), shown["of"] == "together"
        numbers = len(shown["totals"]) if together else 1
        keys = move.entries // numbers
        chance = passing_chance(self.reals, shown, move, numbers)
        if shown["noise"] != "gaussian":
            need(not on_keys, "two families of noise")
            need((shown["noise"] == "laplace") == together, "noise without a rule")
            breach = round_up(chance_of_any(self.reals, chance, keys))
            return noise_cost(shown, move) + Lost(breach=breach)
        share = move.largest / move.l2 if move.l2 else Fraction(1)
        shares = [(move.l2 / square(shown["scale"]), share), *on_keys]
        cases = [
            KeySplit(
                chance_of_any(self.reals, chance, last),
                chance_of_any(self.reals, chance, keys - first),
                _mu_of_kept(shares, keys - first),
            )
            for first, last in _splits(keys)
        ]
        return Lost(shown=(ShownKeys(tuple(cases)),))

    def _rounds(self, rounds: Any, on_keys: Shares) -> Lost:
        """Keys in rounds: every number of own keys by itself (keys.md, lemma 1)."""
        keys = self.groups.people(self.groups.unknown).entries
        variances = [rational(text) for text in read_list(rounds["variances"])]
        thresholds = [rational(text) for text in read_list(rounds["thresholds"])]
        need(len(variances) == len(thresholds) > 0, "rounds without a threshold")
        need(min(variances) > 0 and min(thresholds) > 0, "no noise")
        spreads = [self.reals.of(variance).root() for variance in variances]
        cases = list[KeySplit]()
        for own, most in _splits(keys):
            hidden = ONE
            # the weight of a key of its own: 1 / sqrt(own), in units of 2**-20
            weight = Fraction(isqrt(2**40 // own), 2**20) if own else Fraction(0)
            for threshold, sd in zip(thresholds, spreads, strict=True) if own else ():
                stays = normal(self.reals.of(threshold - weight) / sd).low
                all_stay = self.reals.down.next_minus(
                    self.reals.down.power(stays, most)
                )
                hidden = self.reals.down.multiply(hidden, max(ZERO, all_stay))
            moved = sum(
                (Fraction(keys - own, keys) / v for v in variances), Fraction(0)
            )
            moved += _mu_of_kept(on_keys, keys - own)
            seen = self.reals.up.subtract(1, hidden)
            # keys of its own lie in one of the databases, whichever it is
            cases += [KeySplit(seen, ZERO, moved), KeySplit(ZERO, seen, moved)]
        return Lost(shown=(ShownKeys(tuple(cases)),))

    def _first(self, first: Any) -> Lost:
        """The first few groups, chosen by scores in steps (first-few.md)."""
        most, rate = read_integer(first["most"], 1, 10_000), rational(first["rate"])
        need(rate > 0 and "exponent" not in first, "a score that is not in steps")
        need(first["of"] in {"sum", "distinct"}, "a score without a rule")
        groups, largest = (
            self.asked,
            root_above(move_of(first, self._groups_of(1)).largest),
        )
        width = 2 * largest
        if groups.rows.ids is None:
            width = min(width, root_above(move_of(first, groups).l1))
        elif _is_one_signed(first, groups):
            width = largest
        lost = Lost((Pure(rate * width, "range", most),))
        if not self.words["unknown"]:
            return lost
        need(not self.in_part, "keys known in part")
        moved = groups.row_move() if groups.rows.ids is None else groups.people()
        # theorem 2: a key of one unit alone against the end sign, in each round
        gap = self.reals.of(rate * (rational(first["end"]) - largest))
        chance = self.reals.up.multiply(most * moved.entries, (-gap).exp().high)
        return lost + Lost(breach=round_up(chance))

    def _margins(self, margins: Any) -> Fraction:
        """Return mu squared of all contrasts (margins.md, lemmas 2 to 4)."""
        trees = [
            [(read_integer(a, 1), read_integer(b, 1)) for a, b in read_list(tree)]
            for tree in read_list(margins["trees"])
        ]
        for most, fewest in chain.from_iterable(trees):
            need(2 <= fewest <= most or most == 1, "children that disagree")
        parts = dict[tuple[int, ...], Fraction]()
        for levels, precision in read_list(margins["precisions"]):
            need(len(levels) == len(trees), "a part of other trees")
            need(rational(precision) >= 0, "a precision below zero")
            pairs = zip(trees, levels, strict=True)
            part = tuple(read_integer(level, 0, len(tree)) for tree, level in pairs)
            need(part not in parts, "a part twice")
            parts[part] = rational(precision)
        # a part that is charged by the row counts rows (margins.md, section 3)
        rows, in_part = self.asked.rows, self.asked.rows.part is not None
        move = self.asked.row_move() if in_part else self.asked.one_signed()
        alone, extra = _rows_together(trees, parts)
        together, apart = _cells_in_common(trees, parts, alone)
        if rows.ids is not None and not in_part:
            # all rows of an id come, or all leave: no two pull against each other
            extra = min(extra, together)
        squares = (alone - extra) * move.l2 + extra * move.l1
        if rows.each_way is None or in_part:
            return squares
        return min(squares, rows.each_way**2 * max(alone, apart))


Trees = list[list[tuple[int, int]]]
"""Of each level of each tree: most children, fewest of nodes with two or more."""
Parts = dict[tuple[int, ...], Fraction]  # their precisions


def _add_up(parts: Parts, *trees: Sequence[Fraction]) -> Fraction:
    """Add up the precisions times the numbers of all trees at the level of each."""
    sizes = (
        precision * prod(row[level] for row, level in zip(trees, part, strict=True))
        for part, precision in parts.items()
    )
    return sum(sizes, Fraction(0))


def _caps(tree: list[tuple[int, int]]) -> list[Fraction]:
    """Return the most of 1 - 1 / children of each level, 1 for the top."""
    return [Fraction(1), *(1 - Fraction(1, most) for most, _ in tree)]


def _rows_together(trees: Trees, parts: Parts) -> tuple[Fraction, Fraction]:
    """Return G, and H of rows that come or leave (margins.md, lemmas 2 and 3)."""
    caps, apart = list(map(_caps, trees)), []
    alone = _add_up(parts, *caps)
    for i, tree in enumerate(trees):
        most, fewest = tree[-1]
        if any(children > 1 for children, _ in tree):
            last = Fraction(1, fewest) if most > 1 else Fraction(0)
            ends = [*caps[:i], [*caps[i][:-1], last], *caps[i + 1 :]]
            apart.append(_add_up(parts, *ends))
    return alone, min(alone, max(apart, default=alone))


def _cells_in_common(
    trees: Trees, parts: Parts, alone: Fraction
) -> tuple[Fraction, Fraction]:
    """Return H+ and 2 (G - G_=) of two cells, however they part (lemma 4)."""
    if prod(len(tree) + 1 for tree in trees) * len(parts) > 2**12:
        return alone, 4 * alone
    together = apart = Fraction(0)
    for way in islice(product(*map(_ways_to_part, trees)), 1, None):
        rows = zip(*way, strict=True)
        most, less, least, more, common = (_add_up(parts, *row) for row in rows)
        # parts that part the cells in an odd number of trees take away
        together = max(together, (most + less - least + more) / 2)
        apart = max(apart, 2 * (alone - common))
    return together, apart


def _ways_to_part(tree: list[tuple[int, int]]) -> Iterator[list[list[Fraction]]]:
    """Yield what a tree adds, for each last level in common: that of the leaves first.

    Five rows: at most and at least, each with the level at which two cells part once
    added and once taken away, and the last where nodes have the most children.
    """
    caps, none = _caps(tree), Fraction(0)
    # below the first level a node may be its parent's only child
    lows = [caps[0], 1 - Fraction(1, tree[0][1]), *[none] * (len(tree) - 1)]
    rows = [caps, caps, lows, lows, caps]
    yield rows
    for level, (most, fewest) in enumerate(tree):
        if most > 1:
            some, few = Fraction(1, fewest), Fraction(1, most)
            ends, beyond = (
                [some, -some, few, -few, -few],
                [none] * len(tree[level + 1 :]),
            )
            pairs = zip(rows, ends, strict=True)
            yield [[*row[: level + 1], end, *beyond] for row, end in pairs]


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


def _mu_of_kept(shares: Shares, keys: int) -> Fraction:
    """Return mu squared of the noise on so many keys that both databases have."""
    squares = (moved * min(Fraction(1), share * keys) for moved, share in shares)
    return sum(squares, Fraction(0))


# --- Composed curves: chords of delta over exp(epsilon), multiplied exactly -----------


@final
class LossGrid:
    """Losses that are multiples of a step, and the exponentials of all of them."""

    def __init__(self, reals: Reals, step: Fraction, digits: int) -> None:
        self.reals, self.step, self.digits = reals, step, digits
        self._powers = {
            sign: [reals.of(1), reals.of(sign * step / 2).exp()] for sign in (1, -1)
        }

    def half(self, place: int) -> Span:
        """Return the root of that: a factor more costs one rounding each way."""
        powers = self._powers[1 if place >= 0 else -1]
        while len(powers) <= abs(place):
            powers.append(powers[-1] * powers[1])
        return powers[abs(place)]

    def exp(self, place: int) -> Span:
        """Return the exponential of the loss at a place of any sign."""
        return self.half(2 * place)


Masses = tuple[int, list[int]]
"""The place of the first mass, and all of them in units of 10**-digits, rounded up."""


def _curve(reals: Reals, law: Law, epsilon: Fraction) -> Callable[[Span, Span], Span]:
    """Return delta of one law by exp(loss) and its root, for losses up to epsilon."""
    unit, end = reals.of(1), reals.of(epsilon).exp()
    if law == "any":  # randomized response
        return lambda at, _: (end - at) / (end + unit)
    if isinstance(law, str):
        root = reals.of(epsilon / 2).exp()
        if law == "laplace":  # noise.md
            return lambda _, half: unit - half / root
        # a bounded range (selection.md, claim 2)
        under = unit - unit / end
        return lambda _, half: (unit - half / root) * (unit - half / root) / under
    steps, scale = law
    q = (-reals.of(1 / scale)).exp()
    first, later = unit / (unit + q), (unit - q) / (unit + q)
    atoms, power, fall = (
        list[tuple[Span, Span]](),
        unit,
        (-reals.of(steps / scale)).exp(),
    )
    for k in range(steps):  # the losses are (steps - 2 k) / scale
        atoms.append((later * power if k else first, fall))
        power, fall = power * q, fall / q / q

    def geometric(at: Span, _: Span) -> Span:
        total = reals.of(0)
        for mass, fall in atoms:
            gain = unit - at * fall
            if gain.high <= 0:
                break
            total += mass * gain.clip()
        return total

    return geometric


def _masses(grid: LossGrid, law: Law, epsilon: Fraction) -> Masses:
    """Return a pair on the grid that dominates a law, by its chords.

    delta is convex in exp(loss), so the chords lie above it; their second differences
    are masses (certificates.md, section 5).
    """
    n, unit, zero = ceil(epsilon / grid.step), grid.reals.of(1), grid.reals.of(0)
    value, curve = dict[int, Span](), _curve(grid.reals, law, epsilon)
    for i in range(n + 2):
        inside = grid.step * i < epsilon
        value[i] = curve(grid.exp(i), grid.half(i)).clip(ONE) if inside else zero
        if i:  # both directions are alike
            value[-i] = unit - grid.exp(-i) + grid.exp(-i) * value[i]
    slope = {
        i: (value[i] - value[i + 1]) / (grid.exp(i + 1) - grid.exp(i))
        for i in range(-n - 1, n + 1)
    }
    masses = []
    for i in range(-n, n + 1):
        falls = slope[i - 1] - slope[i]
        mass = grid.reals.up.multiply(max(ZERO, falls.high), grid.exp(i).high)
        masses.append(ceil(Fraction(mass) * 10**grid.digits))
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
    first, together = max(e for e, _ in laws), sum(e for e, _ in laws)
    for points in (128, 512, 2048):
        grid = LossGrid(reals, first / max(1, round(first * points / together)), digits)
        product: Masses = (0, [10**digits])
        for law in dict.fromkeys(laws):
            power, left = _masses(grid, law[1], law[0]), laws.count(law)
            while left:
                product = _product(product, power, digits) if left & 1 else product
                left >>= 1
                power = _product(power, power, digits) if left else power
        if mu_squared:
            got = _delta_with_gaussian(grid, product, mu_squared, epsilon)
        else:
            got = _delta_of_masses(grid, product, epsilon)
        best = min(best, got)
        if best <= enough:
            break
    return best


def _delta_of_masses(grid: LossGrid, product: Masses, epsilon: Fraction) -> Fraction:
    """Return the sum of masses, of each the share that lies beyond epsilon."""
    reals, up, total = grid.reals, grid.reals.up, ZERO
    unit, whole = reals.of(1), reals.of(epsilon).exp()
    for place, mass in enumerate(product[1], product[0]):
        gain = (unit - whole * grid.exp(-place)).clip(ONE).high
        total = up.add(total, up.multiply(mass, gain))
    return round_up(min(up.scaleb(total, -grid.digits), ONE))


def _delta_with_gaussian(
    grid: LossGrid, product: Masses, mu_squared: Fraction, epsilon: Fraction
) -> Fraction:
    """Return the sum of masses times the Gaussian's delta at the rest of epsilon."""
    (first, masses), reals, up = product, grid.reals, grid.reals.up
    last = len(masses) - 1

    def delta(place: int) -> Decimal:
        rest = reals.of(epsilon - grid.step * (first + place))
        # the lower end of an epsilon has the larger delta
        return delta_of_gaussian(mu_squared, reals.exactly(rest.low)).high

    nodes = dict.fromkeys([*range(0, last, max(1, last // 128)), last])
    ends = [(place, delta(place)) for place in nodes]
    total = up.multiply(masses[last], ends[-1][1])
    # between the ends of a chord delta, convex in exp(epsilon), lies below it
    for (start, low), (end, high) in pairwise(ends):
        near, far = grid.exp(-first - start), grid.exp(-first - end)
        gap = max(ZERO, reals.down.subtract(high, low))
        for place in range(start, end):
            part = (grid.exp(-first - place) - far) / (near - far)
            spared = reals.down.multiply(gap, part.clip(ONE).low)
            total = up.add(total, up.multiply(masses[place], up.subtract(high, spared)))
    return round_up(min(up.scaleb(total, -grid.digits), ONE))


# --- Charges: filters.md --------------------------------------------------------------

COORDINATES = [
    *({"epsilon"}, {"epsilon", "delta"}, {"rho"}, {"rho", "delta"}),
    *({"mu_squared"}, {"mu_squared", "delta"}, {"epsilon", "rho", "delta"}),
]
"""What the rules of a ledger add up."""


def amounts(charge: Any) -> dict[str, Fraction]:
    """Read the amounts that a ledger adds up; what is infinite is left out."""
    need(isinstance(charge, dict) and set(charge) in COORDINATES, "an unknown charge")
    known = {name: rational(text) for name, text in charge.items() if text != "inf"}
    need(all(amount >= 0 for amount in known.values()), "a charge below zero")
    need(set(known) - {"delta"}, "an infinite charge")
    need("delta" not in charge or "delta" in known, "an infinite charge")
    return known


def admit(
    lost: Lost, charge: Mapping[str, Fraction], reals: Reals, *, rays: bool
) -> str:
    """Refuse a charge that is less than what is lost; say by which rule it is enough.

    `rays`: the cost must fall with the rows of a unit at least as they do (filters.md,
    lemma 6).
    """
    delta, rules, sums = charge.get("delta", Fraction(0)), [], lost.separate()
    costs: dict[str, tuple[Fraction, Callable[[Pure], Fraction]]] = {
        "mu_squared": (sums.mu_squared, lambda pure: pure.mu_squared(reals)),
        "rho": (sums.mu_squared / 2, lambda pure: pure.rho(reals)),
    }
    for name in costs.keys() & charge.keys():
        noise, cost = costs[name]
        _refuse_more(sum(map(cost, sums.pures), noise), charge[name], name)
        _refuse_more(sums.breach, delta, "delta")
        rules.append(f"sums of {name}")
    if {"epsilon", "rho"} <= set(charge):
        # one event of failure for both: no curve takes delta (filters.md, section 3)
        need(not sums.mu_squared, "noise of which no epsilon holds")
        _refuse_more(lost.epsilon, charge["epsilon"], "epsilon")
        rules.append("sums of epsilons")
    elif "epsilon" in charge:
        rules.append(_admit_epsilon(lost, charge["epsilon"], delta, reals, rays=rays))
    return ", ".join(rules)


def _refuse_more(
    amount: Fraction, charged: Fraction, name: str, *, is_loose: bool = False
) -> None:
    if amount > charged:
        short = Context(6, ROUND_HALF_EVEN)
        is_lost, paid = (short.divide(*x.as_integer_ratio()) for x in (amount, charged))
        why = f"{name} {is_lost} is lost, and {paid} is charged"
        raise Refused(why, is_loose=is_loose)


def _admit_epsilon(
    lost: Lost, epsilon: Fraction, delta: Fraction, reals: Reals, *, rays: bool
) -> str:
    several = len(lost.shown) > 1  # their curves are known one at a time
    lost = lost.separate() if several else lost
    left = epsilon - lost.epsilon
    _refuse_more(lost.breach, delta, "delta")
    if left >= 0 and not lost.mu_squared and not lost.shown:
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
            got = delta_of_gaussian(lost.mu_squared, reals.of(left)).high
        least = lost.breach + (1 - lost.breach) * round_up(got)
        if least <= delta:
            return "the curve of Gaussian noise"
        if not lost.pures:
            _refuse_more(least, delta, "delta", is_loose=several)
    need(not rays, "a composed curve of rows that are charged one by one")
    return _admit_composed(lost.separate(), epsilon, delta)


def _admit_composed(lost: Lost, epsilon: Fraction, delta: Fraction) -> str:
    laws = [each for each in lost.pures if each.epsilon]
    need(
        lost.breach < 1 and 0 < sum(p.times for p in laws) <= 10_000, "sure to be seen"
    )
    each = tuple((pure.epsilon, pure.law) for pure in laws for _ in range(pure.times))
    enough = (delta - lost.breach) / (1 - lost.breach)
    composed = composed_delta(each, lost.mu_squared, epsilon, enough)
    least = lost.breach + (1 - lost.breach) * composed
    _refuse_more(least, delta, "delta", is_loose=True)
    return "a composed curve"


# --- Blocks: queries.md, section 11 ---------------------------------------------------

Value = Any
WHOLE = "*"
"""The block of tables without blocks."""
Ends = Mapping[str, tuple[Value, Value]]


@final
@dataclass(frozen=True)
class BlockCover:
    """Blocks without a row of a person in which some rows are the same without it."""

    blocks: frozenset[str]
    marks: frozenset[str] = frozenset()
    """Columns that tell the block of a row."""
    ids: frozenset[str] = frozenset()
    ends: Ends = field(default_factory=dict)
    gated: bool = True
    """Whether rows of no open block are left out."""

    def rename(self, new: Mapping[str, str]) -> "BlockCover":
        """Return the cover under new names of columns, each with its old one."""
        marks, ids = (
            frozenset(name for name, old in new.items() if old in known)
            for known in (self.marks, self.ids)
        )
        return replace(self, marks=marks, ids=ids)

    def keep_by(self, per: list[str]) -> "BlockCover":
        """Return the cover of what is kept for each value of some columns."""
        # rows of one block may push out those of another, of anybody
        return self if self.ids & set(per) else self.rename({})


@final
class BlockReader:
    """Finds the covers of a plan's rows, by the open blocks of its tables."""

    def __init__(self, layouts: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
        self.layouts, self.tables = layouts, tables

    def covers(self, node: Any) -> list[BlockCover]:
        """Return all known covers of some rows; none, if nobody can change them."""
        sides = ("of", "left", "right")
        below = [self.covers(node[side]) for side in sides if side in node]
        match node["do"]:
            case "public":
                return []
            case "table" | "unreadable":
                return [self._table_cover(node)]
            case "join":
                return _join_covers(node, *below)
        return [_step_cover(node, cover) for cover in below[0]]

    def _table_cover(self, node: Any) -> BlockCover:
        unit, layout = self.tables[node["table"]], self.layouts.get(node["table"])
        by_id = unit["protects"] == "AddRowsWithID"
        ids = frozenset([unit["column"]] if by_id else [])
        if layout is None:
            return BlockCover(frozenset([WHOLE]), ids=ids)
        column = layout["column"]
        need(column in node["columns"], "a column of blocks that is not there")
        ends = {name: (read_value(a), read_value(b)) for name, a, b in layout["ends"]}
        return BlockCover(frozenset(ends), frozenset([column]), ids, ends, gated=False)


def _step_cover(node: Any, cover: BlockCover) -> BlockCover:
    """Return the cover of what a step of one table makes of its rows."""
    columns = {name: name for name in cover.marks | cover.ids}
    match node["do"]:
        case "filter" | "part":
            return _narrow_cover(cover, node.get("condition"))
        case "project":
            sources = node["columns"].items()
            return cover.rename({n: each["is"] for n, each in sources if "is" in each})
        case "map" | "flat_map" | "explode":
            new = set(node["makes"])
            return cover.rename({n: n for n in columns if n not in new})
        case "keep_rows" | "keep_groups" | "keep_unique":
            return cover.keep_by(node["per"])
        case "one_per" | "crowded":
            per = set(node["per"])
            return cover.keep_by(node["per"]).rename({
                n: n for n in columns if n in per
            })
    raise Refused("a step without a rule")


def _join_covers(
    node: Any, left: list[BlockCover], right: list[BlockCover]
) -> list[BlockCover]:
    if not right:
        return left
    brought = {new: old for old, new in node["brings"].items()}
    theirs = [cover.rename(brought | {n: n for n in node["on"]}) for cover in right]
    if left and all(cover.ids & set(node["on"]) for cover in (*left, *theirs)):
        return left if node["outer"] else left + theirs
    both = [best_cover(side).blocks for side in (left, right) if side]
    return [BlockCover(frozenset().union(*both))]


def best_cover(covers: list[BlockCover]) -> BlockCover:
    """Return the cheapest cover, of rows that no other block can change."""
    best = min(covers, key=lambda cover: (WHOLE in cover.blocks, len(cover.blocks)))
    need(best.gated, "rows of blocks that are not open")
    return best


_READERS: dict[str, Callable[[str], Value]] = {
    "i64": lambda text: int(rational(text)),
    "f64": lambda text: float(rational(text)),
    "text": str,
    "date": date.fromisoformat,
    "time": datetime.fromisoformat,
}


def read_value(words: Any) -> Value:
    """Read ["date", "2026-01-31"]: a value of a column, as a condition compares it."""
    kind, text = words
    return _READERS[kind](text)


def _narrow_cover(cover: BlockCover, condition: Any) -> BlockCover:
    """Return the cover of the rows that pass a condition."""
    blocks, gated = cover.blocks, cover.gated
    for mark in cover.marks:  # copies of one cell: one block passes all, or none
        gated = gated or _is_gate(condition, mark, sorted(cover.ends.values()))
        ends = {name: cover.ends[name] for name in blocks}
        blocks = _admit_blocks(condition, mark, ends)
    return replace(cover, blocks=blocks, gated=gated)


_PASSES: dict[str, Callable[[int, int], bool]] = {
    "==": lambda low, high: low <= 0 <= high,
    "in": lambda low, high: low <= 0 <= high,
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
    for word, combine in (("and", frozenset.intersection), ("or", frozenset.union)):
        if word in condition:
            return combine(*(_admit_blocks(c, mark, ends) for c in condition[word]))
    constants = [read_value(value) for value in condition["values"]]
    starts, test = condition["starts"], condition["test"]
    if test == "in" and any(isinstance(value, float) for value in constants):
        return frozenset(ends)  # then all are rounded

    def may_pass(least: Value, most: Value) -> bool:
        low, high = _start(least, starts), _start(most, starts)
        return any(_PASSES[test](_order(low, c), _order(high, c)) for c in constants)

    return frozenset(name for name, between in ends.items() if may_pass(*between))


def _order(left: Value, right: Value) -> int:
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        need(isfinite(left) and isfinite(right), "not a number")
    return int(left > right) - int(left < right)


_CLOCK = ("second", "minute", "hour")


def _start(moment: Value, units: list[str]) -> Value:
    """Return the start of a period of a period: it grows with the moment."""
    for unit in units:
        if isinstance(moment, datetime):
            finer = _CLOCK.index(unit) if unit in _CLOCK else len(_CLOCK)
            parts: Any = dict.fromkeys(("microsecond", *_CLOCK[:finer]), 0)
            moment = moment.replace(**parts)
        if unit == "week":
            moment -= timedelta(days=moment.weekday())
        elif unit in {"year", "quarter", "month"}:
            month = {"year": 1, "quarter": moment.month - (moment.month - 1) % 3}
            moment = moment.replace(month=month.get(unit, moment.month), day=1)
        else:
            need(unit == "day" or unit in _CLOCK, "an unknown period")
    return moment


def _is_gate(condition: Any, mark: str, ends: list[tuple[Value, Value]]) -> bool:
    """Say whether nothing passes but values of some blocks."""
    if not condition:
        return False
    if "or" in condition:
        return all(_is_gate(each, mark, ends) for each in condition["or"])
    if "and" in condition:
        tests = condition["and"]
        if [test.get("test") for test in tests] != [">=", "<="]:
            return any(_is_gate(each, mark, ends) for each in tests)
        low, high = (read_value(test["values"][0]) for test in tests)
        plain = all(test["column"] == mark and not test["starts"] for test in tests)
        return plain and _is_run(low, high, ends)
    values = [read_value(value) for value in condition["values"]]
    single = condition["test"] in {"in", "=="} and all((v, v) in ends for v in values)
    return single and condition["column"] == mark and not condition["starts"]


def _is_run(low: Value, high: Value, ends: list[tuple[Value, Value]]) -> bool:
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


def check_blocks(
    words: Any, tables: Mapping[str, Any], releases: list[dict[str, Any]]
) -> None:
    """Refuse a charge that leaves out a block of the cover (filters.md, section 9)."""
    layouts = {name: each for name, each in words["tables"].items() if each is not None}
    charged, reader = set(names(words["charged"])), BlockReader(layouts, tables)
    for release in releases:
        counts = release.get("coverage", [])
        for node in (release["rows"], *(c["rows"] for c in counts if "rows" in c)):
            covers = reader.covers(node)
            read = best_cover(covers).blocks if covers else frozenset()
            need(read <= charged, "a block that is read and not charged")


def check_sums(record: Any) -> None:
    """Refuse what a ledger writes down of a charge, unless it adds up (filters.md).

    `before` has the sums of what is charged, blocks or budgets, as they stood;
    `runs` and `after` are what is written of them.
    """
    charge, written = amounts(record["charge"]), dict[str, Any]()
    for first, last, sums in record["runs"]:
        for place in range(read_integer(first), read_integer(last, most=10**6) + 1):
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
            text,
            parse_float=_no_double,
            parse_constant=_no_double,
            object_pairs_hook=_object,
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # readers differ in which of two fields of one name they take
    need(len(dict(pairs)) == len(pairs), "a name twice in one object")
    return dict(pairs)


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
    reals, words = Reals(42 + max(0, digits)), read_list(certificate["releases"])
    releases = [ReleaseReader(each, plan, reals) for each in words]
    rays = any(release.asked.by_row for release in releases)
    need(not rays or len(releases) == 1, "several releases of rows charged one by one")
    lost = sum((release.compute_loss() for release in releases), Lost())
    if "blocks" in certificate:
        check_blocks(certificate["blocks"], plan.tables, words)
    share = max(release.share for release in releases)
    shared = {name: amount / share for name, amount in charge.items()}
    return admit(lost, shared, reals, rays=rays)


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
            together = Pure(times * each["epsilon"])
            due = together.rho(reals) if name == "rho" else together.mu_squared(reals)
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
                verdict = "accepted: " + check(line)
            except Refused as why:
                refused += 1
                verdict = f"refused: {why}"
            sys.stdout.write(f"{name}:{number} {verdict}\n")
    return 1 if refused or not arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
