"""What sets of keys are made of: a tree of few kinds of node, listed only when asked.

Listed ── Projected ── Renamed ── Filtered ── Union ── Difference ── Joined
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.expressions.base import AbstractExpression
from sordino.keysets.canonical import (
    KINDS,
    Extent,
    join_tables,
    ranks,
    refuse_too_many,
    sort_canonically,
    take_rows,
)
from sordino.schema import Column, Schema

_DEEP: Final = 64


class AbstractKeys(ABC):
    """A set of keys. Whatever can be known without listing them, is.

    Proof obligation: `list_keys` is canonical, has the columns of the schema, and has
    at most `at_most` rows, or exactly so many if `exact`.
    """

    @property
    @abstractmethod
    def inputs(self) -> "tuple[AbstractKeys, ...]":
        """Return the sets that this one is made of."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Return the columns of the keys."""

    @property
    @abstractmethod
    def at_most(self) -> int:
        """Return a bound on the number of keys, without listing any."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Tell whether the bound is known to be the number itself."""

    @abstractmethod
    def list_keys(self) -> pa.Table:
        """List the keys in canonical form, or refuse if they are too many."""

    @cached_property
    def table(self) -> pa.Table:
        """Return the listed keys, which are listed once."""
        return self.list_keys()

    @property
    def size(self) -> int:
        """Return the number of keys."""
        return self.at_most if self.exact else self.table.num_rows

    @cached_property
    def depth(self) -> int:
        """Return the number of sets on the longest way to a listed one."""
        return 1 + max((node.depth for node in self.inputs), default=0)


@final
@dataclass(frozen=True, eq=False)
class ListedKeys(AbstractKeys):
    """Keys written out."""

    rows: pa.Table
    """In canonical form."""

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        """Return nothing."""
        return ()

    @cached_property
    def schema(self) -> Schema:
        """Return the types, and where values are missing."""
        return Schema.of(
            (name, Column(KINDS[column.type], nullable=column.null_count > 0))
            for name, column in zip(
                self.rows.column_names, self.rows.columns, strict=True
            )
        )

    @property
    def at_most(self) -> int:
        """Return the number of rows."""
        return int(self.rows.num_rows)

    @property
    def exact(self) -> bool:
        """Return True."""
        return True

    def list_keys(self) -> pa.Table:
        """Return the rows."""
        return self.rows


@final
@dataclass(frozen=True, eq=False)
class Projected(AbstractKeys):
    """The different values of some columns."""

    child: AbstractKeys
    names: tuple[str, ...]

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        """Return the child."""
        return (self.child,)

    @cached_property
    def schema(self) -> Schema:
        """Return the columns that are left."""
        return Schema.of((name, self.child.schema[name]) for name in self.names)

    @cached_property
    def at_most(self) -> int:
        """Return the bound of the child."""
        return self.child.at_most

    @property
    def exact(self) -> bool:
        """Tell whether the bound is 0 or 1, which projecting leaves alone."""
        return self.child.exact and self.at_most <= 1

    def list_keys(self) -> pa.Table:
        """Drop columns, then what is now there twice."""
        return sort_canonically(self.child.table.select(self.names))


@final
@dataclass(frozen=True, eq=False)
class Renamed(AbstractKeys):
    """The same keys under other names."""

    child: AbstractKeys
    names: Mapping[str, str]
    """From old to new; columns that are absent keep their names."""

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        """Return the child."""
        return (self.child,)

    @cached_property
    def schema(self) -> Schema:
        """Return the columns with their new names."""
        return Schema.of(
            (self.names.get(name, name), column)
            for name, column in self.child.schema.columns
        )

    @cached_property
    def at_most(self) -> int:
        """Return the bound of the child."""
        return self.child.at_most

    @cached_property
    def exact(self) -> bool:
        """Tell whether the child knows its number."""
        return self.child.exact

    def list_keys(self) -> pa.Table:
        """Replace the names."""
        return self.child.table.rename_columns(list(self.schema.names))


@final
@dataclass(frozen=True, eq=False)
class Filtered(AbstractKeys):
    """The keys for which a condition is true; missing is not true."""

    child: AbstractKeys
    condition: AbstractExpression

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        """Return the child."""
        return (self.child,)

    @cached_property
    def schema(self) -> Schema:
        """Return the columns of the child."""
        return self.child.schema

    @cached_property
    def at_most(self) -> int:
        """Return the bound of the child."""
        return self.child.at_most

    @property
    def exact(self) -> bool:
        """Tell whether there was nothing to begin with."""
        return self.child.exact and self.at_most == 0

    def list_keys(self) -> pa.Table:
        """Ask the condition once for each combination of the values it reads."""
        table = self.child.table
        names = sorted(self.condition.names()) or table.column_names[:1]
        read = table.select(names)
        _, first, which = np.unique(ranks(read), return_index=True, return_inverse=True)
        columns = [column.to_pylist() for column in take_rows(read, first).columns]
        rows = (
            dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
        )
        passing = np.array(
            [self.condition.value(row) is True for row in rows], np.bool_
        )
        return take_rows(table, np.flatnonzero(passing[which]))


@final
@dataclass(frozen=True, eq=False)
class Union(AbstractKeys):
    """The keys of either of two sets."""

    left: AbstractKeys
    right: AbstractKeys

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        """Return both sets."""
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        """Return the columns of the left set; either may bring missing values."""
        return Schema.of(
            (
                name,
                replace(
                    column, nullable=column.nullable or self.right.schema[name].nullable
                ),
            )
            for name, column in self.left.schema.columns
        )

    @cached_property
    def at_most(self) -> int:
        """Return the sum of the bounds."""
        return self.left.at_most + self.right.at_most

    @property
    def exact(self) -> bool:
        """Tell whether there is nothing on both sides."""
        return self.at_most == 0

    def list_keys(self) -> pa.Table:
        """List both, and drop what is in both."""
        return sort_canonically(join_tables(_align(self.left, self.right)))


@final
@dataclass(frozen=True, eq=False)
class Difference(AbstractKeys):
    """The keys of the left set that are not in the right one."""

    left: AbstractKeys
    right: AbstractKeys

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        """Return both sets."""
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        """Return the columns of the left set."""
        return self.left.schema

    @cached_property
    def at_most(self) -> int:
        """Return the bound of the left set."""
        return self.left.at_most

    @property
    def exact(self) -> bool:
        """Tell whether there was nothing to begin with."""
        return self.at_most == 0

    def list_keys(self) -> pa.Table:
        """Keep what the right set lacks."""
        left, right = _align(self.left, self.right)
        ours, theirs = _shared_ranks(left, right)
        remaining = np.isin(ours, theirs, invert=True)
        return take_rows(left, np.flatnonzero(remaining))


@final
@dataclass(frozen=True, eq=False)
class Joined(AbstractKeys):
    """Pairs of keys that agree in some columns; a missing value agrees with itself.

    The columns are those of the left set, then the others of the right one.
    """

    left: AbstractKeys
    right: AbstractKeys
    on: tuple[str, ...]

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        """Return both sets."""
        return (self.left, self.right)

    @property
    def _others(self) -> tuple[str, ...]:
        """Return the columns that only the right set has."""
        return tuple(name for name in self.right.schema if name not in self.on)

    @cached_property
    def schema(self) -> Schema:
        """Return the columns of both."""
        others = ((name, self.right.schema[name]) for name in self._others)
        return Schema.of((*self.left.schema.columns, *others))

    @cached_property
    def at_most(self) -> int:
        """Return the product, or one side where the other adds no column."""
        bounds = [self.left.at_most * self.right.at_most]
        for first, second in ((self.left, self.right), (self.right, self.left)):
            if len(second.schema.names) == len(self.on):
                bounds.append(first.at_most)
        return min(bounds)

    @property
    def exact(self) -> bool:
        """Tell whether a side has nothing."""
        return self.at_most == 0

    def list_keys(self) -> pa.Table:
        """Count the pairs, then list them: in order, as both sides are."""
        left, right = self.left.table, self.right.table
        ours, theirs = _shared_ranks(left.select(self.on), right.select(self.on))
        order = np.argsort(theirs, kind="stable")
        first = np.searchsorted(theirs[order], ours, "left")
        partners = np.searchsorted(theirs[order], ours, "right") - first
        total = int(partners.sum())
        refuse_too_many(Extent(total, self.schema.names))
        before = np.cumsum(partners) - partners
        places = np.arange(total) + np.repeat(first - before, partners)
        table = take_rows(left, np.repeat(np.arange(left.num_rows), partners))
        others = take_rows(right.select(self._others), order[places])
        for name in self._others:
            table = table.append_column(name, others.column(name))
        return table


def settle_keys(keys: AbstractKeys) -> AbstractKeys:
    """Return the same keys, listed if they were made in very many steps."""
    return keys if keys.depth < _DEEP else ListedKeys(keys.table)


def _align(left: AbstractKeys, right: AbstractKeys) -> tuple[pa.Table, pa.Table]:
    """Return the keys of both sets with their columns in the order of the left."""
    return left.table, right.table.select(left.schema.names)


def _shared_ranks(
    left: pa.Table, right: pa.Table
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ranks of the rows of two tables that can be compared."""
    places = ranks(join_tables([left, right]))
    return places[: left.num_rows], places[left.num_rows :]
