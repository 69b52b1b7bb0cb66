"""How much of a table one protected unit can hold: bounds, and what follows from them.

A unit is what the promise protects: some rows, or all rows with one id. Bounds on
groups speak of versions of columns, so a column written anew is not bounded by what was
known of the old one. For any subset of a unit's rows every bound still holds.

Kernel: sensitivity.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

from sordino.expressions.schema import Schema, Version
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import arguments, sqrt

LARGEST: Final = 2**53
"""The largest bound that may be asked for: exact totals saturate there."""

Versions: TypeAlias = frozenset[Version]
Limits: TypeAlias = tuple[tuple[Versions, int], ...]


@final
@dataclass(frozen=True)
class Contribution:
    """Bounds on one unit's rows: in all, in how many groups, in each group.

    >>> from sordino.expressions.schema import Version
    >>> ward = frozenset([Version()])
    >>> held = Contribution().with_groups(ward, 9).with_group_rows(ward, 2)
    >>> known = held.sensitivity(ward)
    >>> known.l0, known.l1, known.l2, held.with_rows(4).sensitivity(ward).l2
    (9, Fraction(18, 1), Fraction(6, 1), sqrt(8))
    """

    rows: int | None = None
    groups: Limits = ()
    """(columns, most groups): values of the columns among a unit's rows."""
    group_rows: Limits = ()
    """(columns, most rows): rows of a unit that share their value of the columns."""
    each_way: int | None = None
    """Where rows leave and others come: most that leave, and most that come."""

    def with_rows(self, most: int) -> "Contribution":
        """The bounds, tightened: a unit holds at most `most` rows."""
        return replace(self, rows=most if self.rows is None else min(most, self.rows))

    def with_groups(self, columns: Versions, most: int) -> "Contribution":
        """The bounds, tightened: a unit's rows lie in at most `most` groups."""
        return replace(self, groups=_tighten(self.groups, columns, most))

    def with_group_rows(self, columns: Versions, most: int) -> "Contribution":
        """The bounds, tightened: a unit has at most `most` rows in each group."""
        return replace(self, group_rows=_tighten(self.group_rows, columns, most))

    def times(self, factor: int) -> "Contribution":
        """The bounds after each row has become at most `factor` rows."""
        return replace(
            self,
            each_way=None if self.each_way is None else self.each_way * factor,
            rows=None if self.rows is None else self.rows * factor,
            group_rows=tuple((c, most * factor) for c, most in self.group_rows),
        )

    def without_row_bounds(self) -> "Contribution":
        """Return the bounds when each row becomes any number of rows."""
        return replace(self, rows=None, group_rows=(), each_way=None)

    def restate(self, moved: Mapping[Version, Version]) -> "Contribution":
        """Bounds named by new versions of columns; bounds of dropped columns go."""
        return replace(
            self,
            groups=_restate(self.groups, moved),
            group_rows=_restate(self.group_rows, moved),
        )

    def most_rows(self) -> int | None:
        """Return how many rows a unit holds at most, None if that is not bounded."""
        bounds = [] if self.rows is None else [self.rows]
        for columns, most in self.group_rows:
            groups = self.most_groups(columns)
            # without a bound on the groups, a bound in each says nothing of all rows
            bounds += [] if groups is None else [groups * most]
        return min(bounds, default=None)

    def most_groups(self, by: Versions) -> int | None:
        """Return in how many groups of `by` a unit lies by the bounds on groups alone.

        Values of `by` are determined by values of any columns that include them, and
        values of several sets of columns number at most the product.
        """
        covered = {frozenset[Version](): 1}
        for columns, most in self.groups:
            for version, product in list(covered.items()):
                joined = version | (columns & by)
                covered[joined] = min(
                    product * most, covered.get(joined, product * most)
                )
        return covered.get(by)

    def groups_touched(self, by: Versions) -> int | None:
        """Return in how many groups of `by` a unit lies, by all that is known."""
        bounds = (self.most_groups(by), self.most_rows())
        return min((bound for bound in bounds if bound is not None), default=None)

    def most_together(self, by: Versions) -> int | None:
        """Return how many rows of a unit share their values of `by`, at most."""
        # only coarser columns: rows that share finer values may still meet in one group
        bounds = [most for columns, most in self.group_rows if columns <= by]
        rows = self.most_rows()
        return min(bounds if rows is None else [*bounds, rows], default=None)

    def sensitivity(self, by: Versions) -> Sensitivity | None:
        """Return how far the row counts of groups can move, None if without bound.

        l2 is the exact maximum of the sum of squares of at most l0 integers of size at
        most linf that add up to at most l1 (docs/proofs/queries.md, lemma 1), or, where
        the rows of coarser groups are bounded, groups * rows**2, whichever is less.
        """
        rows, touched = self.most_rows(), self.groups_touched(by)
        largest = self.most_together(by)
        if largest is None or touched is None:
            return None
        whole = touched * largest if rows is None else min(rows, touched * largest)
        squares = [most_squares(whole, largest, touched)]
        for columns, most in self.group_rows:
            coarse = self.most_groups(columns)
            # of coarser columns alone: groups of `by` lie within theirs, and squares
            # within a group only grow
            squares += [coarse * most**2] if columns <= by and coarse else []
        return Sensitivity(
            l0=touched, l1=whole, l2=sqrt(Fraction(min(squares))), linf=largest
        )

    def count_sensitivity(self, by: Versions) -> Sensitivity | None:
        """Return how far sums of one number of 0 to 1 for each row can move.

        What comes adds to a sum and what leaves is taken from it, so a group moves by
        no more than one of both, and squares add up (docs/proofs/units.md, lemma 1).

        >>> Contribution(rows=2, each_way=1).count_sensitivity(frozenset()).l1
        Fraction(1, 1)
        """
        change = self.sensitivity(by)
        if change is None or self.each_way is None:
            return change
        most = Fraction(self.each_way)
        return Sensitivity(
            l0=change.l0,
            l1=change.l1,
            # what comes and what leaves are in different groups at worst: the squares
            # of both
            l2=min(change.l2, sqrt(2 * most**2)),
            linf=min(change.linf, most),
        )


@final
@dataclass(frozen=True)
class Weighed:
    """A column whose whole numbers stand for what people did: views, visits, cents.

    For any two neighbouring tables there are pairs of rows of both that agree in all
    other columns, and the differences of their numbers, and the numbers of rows that
    have no partner, add up to at most `most`. All numbers are 1 or more.
    """

    version: Version
    most: int
    in_each: tuple[Versions, int] | None = None
    """Columns, and what these numbers add up to at most where the columns are equal."""

    def names_in(self, schema: Schema) -> frozenset[str]:
        """Names under which a schema holds this version of a column."""
        return frozenset(
            name for name, column in schema.columns if column.version == self.version
        )

    def sensitivity(self, by: Versions) -> Sensitivity | None:
        """Return how far sums of the column move, by groups of other columns.

        None for groups of its own. Each unit of a number is like a row of a table that
        has as many rows as the column adds up to (docs/proofs/units.md, lemma 3).

        >>> page, views = frozenset([Version()]), Version()
        >>> Weighed(views, 30, (page, 1)).sensitivity(page).l2
        sqrt(30)
        """
        if self.version in by:  # a moved number would then change the group, too
            return None
        rows = Contribution(rows=self.most)
        if self.in_each is not None:
            rows = rows.with_group_rows(*self.in_each)
        return rows.sensitivity(by)


@final
@dataclass(frozen=True)
class Spread:
    """Rows of one unit that may lie in several parts of a table, charged once together.

    A release about one part may cost a unit with j rows in that part j / rows of what
    is charged for it (docs/proofs/filters.md, lemma 6).
    """

    rows: int
    """Most rows of one unit in the part."""
    row: Contribution
    """What one of these rows has become."""
    is_alone: bool = True
    """Whether it became that by itself, whatever other rows its unit has."""

    def bound_rows(self, rule: "Rule") -> "Spread":
        """Return the same rows after a step that bounds what each becomes."""
        return replace(self, row=rule(self.row))


Rule: TypeAlias = Callable[[Contribution], Contribution]
"""What a step makes of the bounds on a unit's rows, for any number of rows."""


def limit(**argument: Any) -> int:
    """Return a bound that was asked for: a positive integer.

    >>> limit(max_rows=3)
    3
    """
    return arguments.integer(least=1, most=LARGEST, **argument)


def most_squares(whole: int, largest: int, count: int) -> int:
    """Largest sum of squares of `count` integers of a given sum and maximum.

    >>> most_squares(whole=7, largest=3, count=5)
    19
    """
    if largest == 0:
        return 0
    full = min(count, whole // largest)
    # the squares are greatest where as many as can be are full (docs/proofs/queries.md,
    # lemma 1)
    rest = whole - full * largest if full < count else 0
    return full * largest**2 + rest**2


def _tighten(limits: Limits, columns: Versions, most: int) -> Limits:
    tightest: dict[Versions, int] = {}
    for limited, bound in (*limits, (columns, most)):
        tightest[limited] = min(bound, tightest.get(limited, bound))
    return tuple(tightest.items())


def _restate(limits: Limits, moved: Mapping[Version, Version]) -> Limits:
    return tuple(
        (frozenset(moved[column] for column in columns), most)
        for columns, most in limits
        # a bound on a column that is gone would be read as one on the rest
        if columns <= moved.keys()
    )
