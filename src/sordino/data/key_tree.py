"""What sets of keys are made of: a tree of few kinds of node, listed only when asked.

Listed ── Projected ── Renamed ── Filtered ── Union ── Difference ── Joined

Kernel: totals.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.data.key_columns import (
    KINDS,
    Extent,
    join_tables,
    ranks,
    refuse_too_many,
    sort_canonically,
    take_rows,
)
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import AbstractExpression

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
        return ()

    @cached_property
    def schema(self) -> Schema:
        return Schema.of(
            (name, Column(KINDS[column.type], nullable=column.null_count > 0))
            for name, column in zip(
                self.rows.column_names, self.rows.columns, strict=True
            )
        )

    @property
    def at_most(self) -> int:
        return int(self.rows.num_rows)

    @property
    def exact(self) -> bool:
        return True

    def list_keys(self) -> pa.Table:
        return self.rows


@dataclass(frozen=True, eq=False)
class AbstractPart(AbstractKeys):
    """Keys made of those of one set, of which there are no more."""

    child: AbstractKeys

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        return (self.child,)

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    @cached_property
    def at_most(self) -> int:
        return self.child.at_most


@dataclass(frozen=True, eq=False)
class AbstractPair(AbstractKeys):
    """Keys made of those of two sets: how many is known if there are none."""

    left: AbstractKeys
    right: AbstractKeys

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        return (self.left, self.right)

    @property
    def exact(self) -> bool:
        return self.at_most == 0


@final
@dataclass(frozen=True, eq=False)
class Projected(AbstractPart):
    """The different values of some columns."""

    names: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return Schema.of((name, self.child.schema[name]) for name in self.names)

    @property
    def exact(self) -> bool:
        # of two keys or more some may become one
        return self.child.exact and self.at_most <= 1

    def list_keys(self) -> pa.Table:
        return sort_canonically(self.child.table.select(self.names))


@final
@dataclass(frozen=True, eq=False)
class Renamed(AbstractPart):
    """The same keys under other names."""

    names: Mapping[str, str]
    """From old to new; columns that are absent keep their names."""

    @cached_property
    def schema(self) -> Schema:
        return Schema.of(
            (self.names.get(name, name), column)
            for name, column in self.child.schema.columns
        )

    @cached_property
    def exact(self) -> bool:
        return self.child.exact

    def list_keys(self) -> pa.Table:
        return self.child.table.rename_columns(list(self.schema.names))


@final
@dataclass(frozen=True, eq=False)
class Filtered(AbstractPart):
    """The keys for which a condition is true; missing is not true."""

    condition: AbstractExpression

    @property
    def exact(self) -> bool:
        return self.child.exact and self.at_most == 0

    def list_keys(self) -> pa.Table:
        table = self.child.table
        # a condition may be slow: it is asked once for each combination that it reads
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
class Union(AbstractPair):
    """The keys of either of two sets."""

    @cached_property
    def schema(self) -> Schema:
        right = self.right.schema
        # either may bring missing values
        return Schema.of(
            (name, replace(column, nullable=column.nullable or right[name].nullable))
            for name, column in self.left.schema.columns
        )

    @cached_property
    def at_most(self) -> int:
        return self.left.at_most + self.right.at_most

    def list_keys(self) -> pa.Table:
        return sort_canonically(join_tables(_align(self.left, self.right)))


@final
@dataclass(frozen=True, eq=False)
class Difference(AbstractPair):
    """The keys of the left set that are not in the right one."""

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema

    @cached_property
    def at_most(self) -> int:
        return self.left.at_most

    def list_keys(self) -> pa.Table:
        left, right = _align(self.left, self.right)
        ours, theirs = _shared_ranks(left, right)
        remaining = np.isin(ours, theirs, invert=True)
        return take_rows(left, np.flatnonzero(remaining))


@final
@dataclass(frozen=True, eq=False)
class Joined(AbstractPair):
    """Pairs of keys that agree in some columns; a missing value agrees with itself.

    The columns are those of the left set, then the others of the right one.
    """

    on: tuple[str, ...]

    @property
    def _others(self) -> tuple[str, ...]:
        return tuple(name for name in self.right.schema if name not in self.on)

    @cached_property
    def schema(self) -> Schema:
        others = ((name, self.right.schema[name]) for name in self._others)
        return Schema.of((*self.left.schema.columns, *others))

    @cached_property
    def at_most(self) -> int:
        bounds = [self.left.at_most * self.right.at_most]
        for first, second in ((self.left, self.right), (self.right, self.left)):
            # then a key of the first side has one partner at most
            if len(second.schema.names) == len(self.on):
                bounds.append(first.at_most)
        return min(bounds)

    def list_keys(self) -> pa.Table:
        left, right = self.left.table, self.right.table
        ours, theirs = _shared_ranks(left.select(self.on), right.select(self.on))
        order = np.argsort(theirs, kind="stable")
        first = np.searchsorted(theirs[order], ours, "left")
        partners = np.searchsorted(theirs[order], ours, "right") - first
        total = int(partners.sum())  # counted before any pair is written out
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
    return left.table, right.table.select(left.schema.names)


def _shared_ranks(
    left: pa.Table, right: pa.Table
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    places = ranks(join_tables([left, right]))
    return places[: left.num_rows], places[left.num_rows :]


@final
@dataclass(frozen=True, eq=False)
class Product(AbstractKeys):
    """Every combination of the keys of some factors, which share no column.

    What is done to some columns is done to the factors that have them: a product of
    lists of a thousand values can be filtered, projected and joined without listing it.
    """

    factors: tuple[AbstractKeys, ...]
    names: tuple[str, ...]
    """The columns of all factors, in any order."""
    guards: tuple[AbstractKeys, ...] = ()
    """Factors whose columns were dropped: where one is empty, so is the product."""

    @classmethod
    def of(cls, *factors: AbstractKeys) -> "Product":
        """Return the product of factors, with their columns in order."""
        names = tuple(name for factor in factors for name in factor.schema)
        return cls(tuple(map(settle_keys, factors)), names)

    @property
    def inputs(self) -> tuple[AbstractKeys, ...]:
        return (*self.factors, *self.guards)

    @cached_property
    def schema(self) -> Schema:
        columns = dict(
            pair for factor in self.factors for pair in factor.schema.columns
        )
        return Schema.of((name, columns[name]) for name in self.names)

    @cached_property
    def at_most(self) -> int:
        possible = all(guard.at_most for guard in self.guards)
        return math.prod(factor.at_most for factor in self.factors) if possible else 0

    @cached_property
    def exact(self) -> bool:
        return all(factor.exact for factor in self.inputs)

    @cached_property
    def count(self) -> int:
        """Return the number of keys, listing only factors that do not know theirs."""
        if self.exact:
            return self.at_most
        present = all(guard.size for guard in self.guards)
        return math.prod(factor.size for factor in self.factors) if present else 0

    @property
    def extent(self) -> Extent:
        """Bounds on the number of keys, without listing them."""
        return Extent(self.at_most, self.names, self.exact)

    def list_keys(self) -> pa.Table:
        refuse_too_many(Extent(self.count, self.names))
        if not self.count:
            return _none(self.schema)
        together: dict[str, pa.ChunkedArray] = {}
        inner = self.count
        for factor in self.factors:
            keys = factor.table
            inner //= keys.num_rows
            rows = np.arange(self.count) // inner % keys.num_rows
            repeated = take_rows(keys, rows)
            together |= zip(repeated.column_names, repeated.columns, strict=True)
        table = pa.table(together)
        # sorted factors, repeated in their order, give sorted keys
        if tuple(table.column_names) == self.names:
            return table
        return sort_canonically(table.select(self.names))

    def times(self, other: "Product") -> "Product":
        """Return the product with further factors."""
        return Product(
            (*self.factors, *other.factors),
            (*self.names, *other.names),
            (*self.guards, *other.guards),
        )

    def only(self, names: tuple[str, ...]) -> "Product":
        """Return the product of what is left of the factors."""
        chosen, dropped = _split_factors(self.factors, names)
        factors = (_only(factor, names) for factor in chosen)
        guards = (factor for factor in dropped if not (factor.exact and factor.at_most))
        return Product(tuple(map(settle_keys, factors)), names, (*self.guards, *guards))

    def where(self, condition: AbstractExpression) -> "Product":
        """Return the product with a condition on the factors whose columns it reads."""
        read = condition.names() or self.factors[0].schema.names
        met, rest = _split_factors(self.factors, read)
        filtered = settle_keys(Filtered(Product.of(*met), condition))
        return Product((filtered, *rest), self.names, self.guards)

    def rename(self, names: Mapping[str, str]) -> "Product":
        """Return the product of renamed factors."""
        met, _ = _split_factors(self.factors, names)
        return Product(
            tuple(
                settle_keys(Renamed(factor, names)) if factor in met else factor
                for factor in self.factors
            ),
            tuple(names.get(name, name) for name in self.names),
            self.guards,
        )

    def join(self, other: "Product", on: tuple[str, ...]) -> "Product":
        """Return the product with the factors that have shared columns joined."""
        ours, rest = _split_factors(self.factors, on)
        theirs, others = _split_factors(other.factors, on)
        pairs = settle_keys(Joined(Product.of(*ours), Product.of(*theirs), on))
        added = tuple(name for name in other.names if name not in on)
        return Product(
            (pairs, *rest, *others),
            (*self.names, *added),
            (*self.guards, *other.guards),
        )

    def equals(self, other: "Product") -> bool:
        """Tell whether another product with the same columns has the same keys."""
        if self is other:
            return True
        if self.exact and other.exact and self.at_most != other.at_most:
            return False
        ours, theirs = _by_columns(self), _by_columns(other)
        if ours.keys() != theirs.keys():
            return _same(self, other)
        if not (self.count and other.count):
            return self.count == other.count
        return all(_same(factor, theirs[names]) for names, factor in ours.items())


def _none(schema: Schema) -> pa.Table:
    return pa.table({
        name: pa.array([], column.arrow) for name, column in schema.columns
    })


def _split_factors(
    factors: tuple[AbstractKeys, ...], names: Iterable[str]
) -> tuple[list[AbstractKeys], list[AbstractKeys]]:
    chosen = set(names)
    met = [factor for factor in factors if not chosen.isdisjoint(factor.schema.names)]
    return met, [factor for factor in factors if chosen.isdisjoint(factor.schema.names)]


def _only(factor: AbstractKeys, names: tuple[str, ...]) -> AbstractKeys:
    chosen = tuple(name for name in factor.schema if name in names)
    return factor if chosen == factor.schema.names else Projected(factor, chosen)


def _by_columns(keys: Product) -> dict[frozenset[str], AbstractKeys]:
    return {frozenset(factor.schema.names): factor for factor in keys.factors}


def _same(left: AbstractKeys, right: AbstractKeys) -> bool:
    if left is right:
        return True
    if left.schema.names == right.schema.names:
        return bool(left.table.equals(right.table))
    ordered = sort_canonically(right.table.select(left.schema.names))
    return bool(left.table.equals(ordered))
