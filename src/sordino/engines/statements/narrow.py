"""Kept rows in few bits, for questions that are asked again.

    id, ward, cost, ...    ->    place of the ward among public keys, steps of the cost

In how many bits a value is held follows from the question: from the number of keys and
the ends of public lattices, never from a row. A value that has more bits than that is
missing there (docs/adr/0306, docs/proofs/kept-rows.md, section 6).

Kernel: totals.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.aggregations.measurement import AbstractTotal, Missing, Total
from sordino.engines.statements import templates
from sordino.engines.statements.plans import (
    FUNCTIONS,
    Subquery,
    Writer,
    select_from,
    table_named,
)
from sordino.engines.statements.totals import PLACE, with_places
from sordino.expressions.bins import PORTION, STEPS
from sordino.expressions.language import col
from sordino.expressions.literals import LEAST, MOST, lift
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import AbstractExpression, Call
from sordino.query.node_rules import mark_of, prune
from sordino.query.nodes import AbstractNode, Kept, PublicRows, Question, nodes_below

MOST_VALUES: Final = 8  # of the same rows and keys
MOST_SETS: Final = 8
MOST_KEYS: Final = 2**16


@final
@dataclass(frozen=True)
class Narrow(AbstractNode):
    """The place of each row's group among public keys, then values, in few bits.

    Rows of other groups are left out.
    """

    child: AbstractNode
    by: tuple[str, ...]
    keys: PublicRows
    """The keys, in columns of names of ours, then their places; no row without any."""
    values: tuple[AbstractExpression, ...]
    widths: tuple[int, ...]
    """In how many bits each column is held, its sign among them."""
    per: tuple[str, ...]
    """By which columns its rows may be parted."""
    schema: Schema

    def describe(self) -> str:
        return f"places by {', '.join(self.by)}, and {len(self.values)} values"


def narrow_rows(work: Writer, node: Narrow) -> Subquery:
    """Add the subquery of rows in few bits."""
    below = work.rows(node.child)
    rows = select_from(below)
    columns = [work.render(value, below.columns) for value in node.values]
    if node.by:
        keys = work.rows(node.keys)
        *known, place = keys.columns.values()
        agree = [
            work.dialect.same(key, below.columns[name])
            for key, name in zip(known, node.by, strict=True)
        ]
        rows = rows.join(
            table_named(keys.name), on=exp.and_(*agree), join_type="inner", copy=False
        )
        columns.insert(0, place)
    # a cast would raise where a value does not fit, and tell of it
    narrowed = [
        templates.as_type_or_null(column, work.dialect.narrow_types[width])
        for column, width in zip(columns, node.widths, strict=True)
    ]
    return work.part(rows, zip(node.schema.names, narrowed, strict=True), node.schema)


def bits_of(low: int, high: int) -> int:
    """Return in how many bits all integers between two ends are held.

    >>> bits_of(-128, 127), bits_of(0, 128), bits_of(-129, 0), bits_of(0, 2**31)
    (8, 16, 16, 64)
    """
    needed = 1 + max((~end if end < 0 else end).bit_length() for end in (low, high))
    return next(bits for bits in (8, 16, 32, 64) if needed <= bits)


def ends_of(value: AbstractExpression) -> tuple[int, int]:
    """Return the ends between which an i64 lies, whatever its row."""
    tree = lift(value)
    if isinstance(tree, Call) and tree.operation is STEPS:
        origin = tree.options.get("origin", 0)
        return tree.options["low"] - origin, tree.options["high"] - origin
    if isinstance(tree, Call) and tree.operation is PORTION:
        # one of three nonnegative integers whose sum this is
        return 0, (tree.options["high"] - tree.options["low"]) << tree.options["finer"]
    return LEAST, MOST


Values = Mapping[Hashable, AbstractExpression]
"""Values by their marks, in the order of their columns."""


@final
@dataclass(frozen=True)
class _Set:
    """Rows in few bits, for all questions about some values of them."""

    keys: pa.Table | None
    values: Values
    leaf: Kept

    @classmethod
    def of(cls, question: Question, values: Values, name: str) -> "_Set":
        schema, by = question.rows.schema, question.by
        keys = with_places(pa.table({}) if question.keys is None else question.keys)
        kinds = [Column(schema[known_as].type) for known_as in by]
        kinds.append(Column("i64", nullable=False))
        public = Schema.of(zip(keys.column_names, kinds, strict=True))
        columns = [(PLACE, kinds[-1])] if by else []
        widths = [bits_of(0, max(0, keys.num_rows - 1))] if by else []
        for number, value in enumerate(values.values()):
            facts = value.column(schema)
            columns.append((str(number), Column("i64", nullable=facts.nullable)))
            widths.append(bits_of(*ends_of(value)))
        needed = {*by}.union(*(value.names() for value in values.values()))
        rows = Narrow(
            prune(question.rows, needed),
            by,
            PublicRows(keys, public),
            (*values.values(),),
            (*widths,),
            (PLACE,) if by else (),
            Schema.of(columns),
        )
        return cls(question.keys, values, Kept(rows, name, rows.schema))

    def of_rows(self, question: Question) -> Question:
        """Return the same question, of rows in few bits."""
        columns = {mark: col(str(n)).tree for n, mark in enumerate(self.values)}

        def total_of(total: AbstractTotal) -> AbstractTotal:
            if isinstance(total, (Total, Missing)) and total.names():
                value = columns[mark_of(total.expression)]
                return replace(total, expression=value)
            return total

        keys = None
        if self.keys is not None:
            keys = with_places(self.keys).select([PLACE])
        by = keys.column_names if keys is not None else ()
        totals = tuple(map(total_of, question.totals))
        return Question(self.leaf, (*by,), totals, keys)


@final
class NarrowRows:
    """The rows that are kept in few bits: which follows from what was asked."""

    def __init__(self) -> None:
        self._sets: dict[Hashable, _Set] = {}

    def use(
        self, question: Question, name: Callable[[], str], *, again: bool
    ) -> Question:
        """Return a question over rows in few bits, if it may be one.

        Whoever asks for the first time has what others had made; for who asks again
        they are made, with a new name.
        """
        values = _values_of(question)
        if values is None:
            return question
        mark = mark_of(question.rows), question.by
        known = self._sets.get(mark)
        if known is not None and not are_equal(known.keys, question.keys):
            known = None
        if known is None or not values.keys() <= known.values.keys():
            if not again:
                return question
            every = values if known is None else {**known.values, **values}
            if len(every) > MOST_VALUES:
                every = values
            if len(self._sets) >= MOST_SETS:
                self._sets.clear()
            known = self._sets[mark] = _Set.of(question, every, name())
        return known.of_rows(question)


def are_equal(keys: pa.Table | None, others: pa.Table | None) -> bool:
    """Tell whether public keys are the same."""
    if keys is None or others is None:
        return keys is others
    return keys is others or keys.equals(others)


def _values_of(question: Question) -> Values | None:
    """Return the values of a question, or None where they are not to be held apart.

    Its rows are to be kept already, its groups to be public.
    """
    keys, nodes = question.keys, [*nodes_below(question.rows)]
    if any(isinstance(node, FUNCTIONS) for node in nodes):
        return None
    below = [node.rows for node in nodes if isinstance(node, Kept)]
    if not below or any(isinstance(rows, Narrow) for rows in below):
        return None
    if question.by and (keys is None or not 0 < keys.num_rows <= MOST_KEYS):
        return None
    values: dict[Hashable, AbstractExpression] = {}
    for total in question.totals:
        if not isinstance(total, (Total, Missing)):
            return None
        if total.names():
            values.setdefault(mark_of(total.expression), total.expression)
    if not (question.by or values):  # a table has at least one column
        return None
    return values if len(values) <= MOST_VALUES else None
