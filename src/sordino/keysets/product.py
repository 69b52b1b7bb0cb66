"""Products of sets of keys, which stay factors for as long as possible."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import pyarrow as pa

from sordino.expressions.base import AbstractExpression
from sordino.keysets.canonical import (
    Extent,
    refuse_too_many,
    sort_canonically,
    take_rows,
)
from sordino.keysets.key_nodes import (
    AbstractKeys,
    Filtered,
    Joined,
    Projected,
    Renamed,
    settle_keys,
)
from sordino.schema import Schema


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
        """Return the factors, dropped ones included."""
        return (*self.factors, *self.guards)

    @cached_property
    def schema(self) -> Schema:
        """Return the columns of all factors."""
        columns = dict(
            pair for factor in self.factors for pair in factor.schema.columns
        )
        return Schema.of((name, columns[name]) for name in self.names)

    @cached_property
    def at_most(self) -> int:
        """Return the product of the bounds."""
        possible = all(guard.at_most for guard in self.guards)
        return math.prod(factor.at_most for factor in self.factors) if possible else 0

    @cached_property
    def exact(self) -> bool:
        """Tell whether every factor knows its number."""
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
        """Return what is known of the number without listing anything."""
        return Extent(self.at_most, self.names, self.exact)

    def list_keys(self) -> pa.Table:
        """Repeat the keys of each factor; factors in order give keys in order."""
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
    """Return no keys of some columns."""
    return pa.table({
        name: pa.array([], column.arrow) for name, column in schema.columns
    })


def _split_factors(
    factors: tuple[AbstractKeys, ...], names: Iterable[str]
) -> tuple[list[AbstractKeys], list[AbstractKeys]]:
    """Return the factors that have one of some columns, and those that have none."""
    chosen = set(names)
    met = [factor for factor in factors if not chosen.isdisjoint(factor.schema.names)]
    return met, [factor for factor in factors if chosen.isdisjoint(factor.schema.names)]


def _only(factor: AbstractKeys, names: tuple[str, ...]) -> AbstractKeys:
    """Return a factor with some of its columns, itself if these are all."""
    chosen = tuple(name for name in factor.schema if name in names)
    return factor if chosen == factor.schema.names else Projected(factor, chosen)


def _by_columns(keys: Product) -> dict[frozenset[str], AbstractKeys]:
    """Return the factors by their columns."""
    return {frozenset(factor.schema.names): factor for factor in keys.factors}


def _same(left: AbstractKeys, right: AbstractKeys) -> bool:
    """Tell whether two sets with the same columns have the same keys, listing both."""
    if left is right:
        return True
    if left.schema.names == right.schema.names:
        return bool(left.table.equals(right.table))
    ordered = sort_canonically(right.table.select(left.schema.names))
    return bool(left.table.equals(ordered))
