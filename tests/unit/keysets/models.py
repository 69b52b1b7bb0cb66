"""Sets of tuples, which key sets must equal, and key sets made beside their models."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias, final

from hypothesis import strategies as st

from sordino.data import KeySet
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import AbstractExpression
from sordino.numbers.canonical import Words

Key: TypeAlias = tuple[Any, ...]

POOLS: dict[str, list[Any]] = {
    "i64": [None, -(2**63), 2**63 - 1, 0, -1],
    "text": [None, "", "z", "\uffff", "\U0001f600"],
    "bool": [None, False, True],
    "date": [None, date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)],
    "time": [None, datetime.min, datetime.max],  # noqa: DTZ901 ours have no zone
}
"""A few values of each type, its ends among them, so that columns agree often."""
NAMES = ("a", "b", "c", "d", "e", "f")


@final
@dataclass(frozen=True)
class Among(AbstractExpression):
    """True where some columns hold one of some tuples, missing where one is missing."""

    columns: tuple[str, ...]
    chosen: frozenset[Key]

    def names(self) -> frozenset[str]:
        return frozenset(self.columns)

    def column(self, schema: Schema) -> Column:
        return Column(
            "bool", nullable=any(schema[name].nullable for name in self.columns)
        )

    @property
    def words(self) -> Words:
        """Return nothing that anybody asks for."""
        return None

    def value(self, row: Mapping[str, Any]) -> bool | None:
        """Look the values up."""
        given = tuple(row[name] for name in self.columns)
        return None if None in given else given in self.chosen


@final
@dataclass(frozen=True)
class Number(AbstractExpression):
    """The number 1, which is no condition."""

    def names(self) -> frozenset[str]:
        return frozenset()

    def column(self, schema: Schema) -> Column:
        del schema
        return Column("i64", nullable=False)

    @property
    def words(self) -> Words:
        """Return nothing that anybody asks for."""
        return None

    def value(self, row: Mapping[str, Any]) -> int:
        del row
        return 1


@final
@dataclass(frozen=True)
class Model:
    """Names and types of columns, and keys as a set of tuples."""

    types: tuple[tuple[str, str], ...]
    keys: frozenset[Key]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.types)

    def only(self, names: Iterable[str]) -> "Model":
        """Return the different values of some columns."""
        known, listed = dict(self.types), list(names)
        places = [self.columns.index(name) for name in listed]
        keys = frozenset(tuple(key[place] for place in places) for key in self.keys)
        return Model(tuple((name, known[name]) for name in listed), keys)

    def joined(self, other: "Model") -> "Model":
        """Return all pairs that agree in shared columns; with none, the product."""
        ours, theirs = self.columns, other.columns
        added = [place for place, name in enumerate(theirs) if name not in ours]
        shared = [
            (ours.index(name), theirs.index(name)) for name in ours if name in theirs
        ]
        keys = frozenset(
            (*left, *(right[place] for place in added))
            for left, right in itertools.product(self.keys, other.keys)
            if all(left[mine] == right[its] for mine, its in shared)
        )
        return Model((*self.types, *(other.types[place] for place in added)), keys)

    def where(self, condition: AbstractExpression) -> "Model":
        rows = {key: dict(zip(self.columns, key, strict=True)) for key in self.keys}
        kept = (key for key, row in rows.items() if condition.value(row) is True)
        return Model(self.types, frozenset(kept))

    def renamed(self, names: Mapping[str, str]) -> "Model":
        """Return the same keys under other names."""
        return Model(
            tuple((names.get(name, name), kind) for name, kind in self.types), self.keys
        )

    def listed(self) -> list[Key]:
        return sorted(
            self.keys, key=lambda key: [(one is not None, one) for one in key]
        )


Pair: TypeAlias = tuple[KeySet, Model]


def of_model(model: Model) -> KeySet:
    """Return the key set of a model with keys, written out."""
    return KeySet.from_tuples(
        model.keys, columns=model.columns, types=dict(model.types)
    )


def keys_of(keys: KeySet) -> list[Key]:
    return [tuple(row.values()) for row in keys.table().to_pylist()]


def typed(draw: st.DrawFn, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    kinds = st.sampled_from(sorted(POOLS))
    return tuple((name, draw(kinds)) for name in names)


def some(names: Iterable[str]) -> st.SearchStrategy[list[str]]:
    """Draw some names in any order, one at least."""
    return st.lists(st.sampled_from(sorted(names)), min_size=1, unique=True)


@st.composite
def listed(draw: st.DrawFn, types: tuple[tuple[str, str], ...] = ()) -> Pair:
    """Draw a written key set, from a dict or from tuples."""
    types = types or typed(draw, draw(some(NAMES))[:3])
    if draw(st.booleans()):
        pools = {
            name: draw(st.lists(st.sampled_from(POOLS[kind]), min_size=1, max_size=4))
            for name, kind in types
        }
        keys = frozenset(itertools.product(*pools.values()))
        return KeySet.from_dict(pools, types=dict(types)), Model(types, keys)
    rows = st.tuples(*(st.sampled_from(POOLS[kind]) for _, kind in types))
    drawn = draw(st.lists(rows, min_size=1, max_size=6))
    model = Model(types, frozenset(drawn))
    written = KeySet.from_tuples(drawn, columns=model.columns, types=dict(types))
    return written, model


def _project(draw: st.DrawFn, pair: Pair) -> Pair:
    names = draw(some(pair[1].columns))
    return pair[0][names], pair[1].only(names)


def _filter(draw: st.DrawFn, pair: Pair) -> Pair:
    names = tuple(draw(some(pair[1].columns))[:2])
    values = sorted(pair[1].only(names).keys, key=str) or [(None,) * len(names)]
    chosen = draw(st.frozensets(st.sampled_from(values)))
    condition = Among(names, chosen)
    return pair[0].filter(condition), pair[1].where(condition)


def _rename(draw: st.DrawFn, pair: Pair) -> Pair:
    old = draw(some(pair[1].columns))
    free = [name for name in NAMES if name not in pair[1].columns or name in old]
    names = dict(zip(old, draw(st.permutations(free)), strict=False))
    return pair[0].rename(names), pair[1].renamed(names)


def _union(draw: st.DrawFn, pair: Pair) -> Pair:
    keys, model = draw(listed(tuple(draw(st.permutations(pair[1].types)))))
    both = pair[1].keys | model.only(pair[1].columns).keys
    return pair[0] | keys, Model(pair[1].types, both)


def _difference(draw: st.DrawFn, pair: Pair) -> Pair:
    keys, model = draw(listed(tuple(draw(st.permutations(pair[1].types)))))
    rest = pair[1].keys - model.only(pair[1].columns).keys
    return pair[0] - keys, Model(pair[1].types, rest)


def _product(draw: st.DrawFn, pair: Pair) -> Pair:
    free = [name for name in NAMES if name not in pair[1].columns]
    if not free or len(pair[1].keys) > 200:
        return pair
    keys, model = draw(listed(typed(draw, draw(some(free))[:2])))
    return pair[0] * keys, pair[1].joined(model)


def _join(draw: st.DrawFn, pair: Pair) -> Pair:
    shared = draw(some(pair[1].columns))[:2]
    free = [name for name in NAMES if name not in pair[1].columns][:1]
    known = dict(pair[1].types)
    types = (*((name, known[name]) for name in shared), *typed(draw, free))
    keys, model = draw(listed(types))
    return pair[0].join(keys), pair[1].joined(model)


STEPS: tuple[Callable[[st.DrawFn, Pair], Pair], ...] = (
    _project,
    _filter,
    _rename,
    _union,
    _difference,
    _product,
    _join,
)
"""Every operation, done to a key set and to its model."""


@st.composite
def made(draw: st.DrawFn, most: int = 5) -> Pair:
    """Draw a key set that was made in a few steps."""
    pair = draw(listed())
    for step in draw(st.lists(st.sampled_from(STEPS), max_size=most)):
        pair = step(draw, pair)
    return pair
