"""Whole statements: the tree, the values bound in it, and the data that it reads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

from sqlglot import exp

from sordino.engines.sql.dialect import AbstractForms
from sordino.engines.sql.group_totals import added, asked
from sordino.engines.sql.rendering import Parameters, rendered, typed
from sordino.engines.sql.stages import Made
from sordino.engines.sql.writer import (
    Leaf,
    LeafNode,
    Rows,
    Writer,
    aliased,
    grouped,
    ordered,
    over,
)
from sordino.errors import show
from sordino.query.nodes import AbstractNode, Source, Unreadable
from sordino.query.question import Question
from sordino.sources.arrow import emptied
from sordino.sources.arrow_kinds import kind_of
from sordino.sources.base import AbstractSource, Opened, Stored, known, registered

SALT: Final = "salt"
"""The placeholder of the secret key of digests."""
_SOURCE: Final = "sordino source"


@final
@dataclass(frozen=True)
class Handed:
    """Columns of a source that are handed to a database under a name."""

    table: str
    name: str
    source: AbstractSource
    places: tuple[int, ...]


@final
@dataclass(frozen=True)
class Statement:
    """A statement, the values bound in it, and the data that it reads."""

    dialect: str
    tree: exp.Select
    """It has $1, $2, ... for the bound values, $salt for the key."""
    text: str
    """What is run: the key is one more value."""
    values: tuple[Any, ...]
    keyed: bool
    handed: tuple[Handed, ...]

    @classmethod
    def of(
        cls,
        dialect: str,
        tree: exp.Select,
        values: Sequence[Any] = (),
        handed: Iterable[Handed] = (),
    ) -> "Statement":
        """Return a statement with its text, written once."""
        last = exp.Parameter(this=exp.Literal.number(len(values) + 1))
        run = tree.copy()
        keys = [one for one in run.find_all(exp.Placeholder) if one.name == SALT]
        for one in keys:
            one.replace(last.copy())
        text = run.sql(dialect, copy=False)
        return cls(dialect, tree, text, tuple(values), bool(keys), tuple(handed))

    def shown(self) -> str:
        """Return the text for people to read, with the bound values: all public."""
        bound = [f"-- ${n} = {show(one)}" for n, one in enumerate(self.values, 1)]
        return "\n".join([self.tree.sql(self.dialect, pretty=True), *bound])

    def bound(self, salt: int) -> list[Any]:
        """Return all values for the text, the key among them if it has a place."""
        return [*self.values, *([salt] if self.keyed else [])]

    def emptied(self) -> "Statement":
        """Return the statement over tables that have the columns, but no rows."""
        handed = tuple(replace(one, source=emptied(one.source)) for one in self.handed)
        if not any(one.source.paths for one in self.handed):
            return replace(self, handed=handed)
        tree = self.tree.copy()
        for one in list(tree.find_all(exp.Table)):
            if _SOURCE in one.meta:
                one.replace(registered(one.meta[_SOURCE]))
        return self.of(self.dialect, tree, self.values, handed)


def question_statement(
    forms: AbstractForms,
    tables: Mapping[str, Opened],
    question: Question,
    rows: AbstractNode,
    *,
    wide: bool = False,
) -> Statement:
    """Return the statement of a question over the rows of its last step."""

    def last(work: Writer, made: Rows) -> exp.Select:
        return asked(work, question, made, wide=wide)

    return _written(forms, tables, rows, last)


def adding_statement(forms: AbstractForms, question: Question) -> Statement:
    """Return the statement that adds the totals of parts."""
    return Statement.of(forms.name, added(forms, question))


def rows_statement(
    forms: AbstractForms, tables: Mapping[str, Opened], rows: AbstractNode
) -> Statement:
    """Return the statement that yields the rows of a node, columns in their order."""
    return _written(forms, tables, rows, lambda _, made: _all(made))


def sorted_statement(
    forms: AbstractForms, tables: Mapping[str, Opened], rows: AbstractNode
) -> Statement:
    """Return the statement that yields the rows of a node, sorted by all columns."""

    def last(_: Writer, made: Rows) -> exp.Select:
        return _all(made).order_by(ordered(list(made.columns.values())), copy=False)

    return _written(forms, tables, rows, last)


def multiplicity_statement(
    forms: AbstractForms, tables: Mapping[str, Opened], rows: AbstractNode
) -> Statement:
    """Return the statement of how many rows agree in all columns, at most."""
    return _written(forms, tables, rows, _most)


def _most(work: Writer, rows: Rows) -> exp.Select:
    on = list(rows.columns.values())
    there = exp.and_(*(exp.not_(one.is_(exp.null())) for one in on))
    count = [("n", exp.Count(this=exp.Star()))]
    groups = work.part(grouped(rows, on).where(there, copy=False), count)
    most = exp.Coalesce(
        this=exp.Max(this=groups.columns["n"]), expressions=[exp.Literal.number(0)]
    )
    return over(groups).select(aliased(most, "most"))


def _all(rows: Rows) -> exp.Select:
    columns = enumerate(rows.columns.values())
    return over(rows).select(*(aliased(one, f"a{place}") for place, one in columns))


def _written(
    forms: AbstractForms,
    tables: Mapping[str, Opened],
    rows: AbstractNode,
    last: Callable[[Writer, Rows], exp.Select],
) -> Statement:
    parameters = Parameters()
    handed: list[Handed] = []

    def leaf(node: LeafNode) -> Leaf:
        match node:
            case Made():
                return _made_leaf(node)
            case Source():
                return stored(node.table, node.schema.names)
            case Unreadable():
                made = stored(node.table, (node.column, *node.schema.names))
                held = known(tables, node.table).stored[node.column]
                there = exp.not_(_natural(forms, handed[-1], held).is_(exp.null()))
                nothing = made.columns[node.column].copy().is_(exp.null())
                lost = exp.And(this=there, expression=nothing)
                return replace(made, condition=lost)

    def stored(table: str, names: tuple[str, ...]) -> Leaf:
        opened = known(tables, table)
        places = tuple(opened.stored[name].place for name in names)
        name, source = f"s{len(handed)}", opened.source.of(places)
        handed.append(Handed(table, name, source, places))
        made = _source_leaf(forms, opened, names, handed[-1], parameters)
        made.item.meta[_SOURCE] = name
        return made

    work = Writer(forms, leaf, parameters)
    tree = work.whole(last(work, work.rows(rows)))
    return Statement.of(forms.name, tree, parameters.values, handed)


def _made_leaf(node: Made) -> Leaf:
    """Return rows that a step has made: their values are of our types already."""
    name = f"m{node.number}"
    columns = {
        known_as: exp.column(f"c{place}", table=name)
        for place, known_as in enumerate(node.schema)
    }
    return Leaf(exp.Table(this=exp.to_identifier(name)), columns)


def _source_leaf(
    forms: AbstractForms,
    opened: Opened,
    names: tuple[str, ...],
    handed: Handed,
    parameters: Parameters,
) -> Leaf:
    """Return stored rows, each column as the type that it has in the session."""
    columns = {}
    for known_as in names:
        stored = opened.stored[known_as]
        value = _natural(forms, handed, stored)
        if stored.reading is not None:
            cell = typed(value, kind_of(stored.arrow) or "")
            value = rendered(stored.reading, {"x": cell}, parameters)
        columns[known_as] = value
    return Leaf(handed.source.item(handed.name), columns)


def _natural(forms: AbstractForms, handed: Handed, stored: Stored) -> exp.Expression:
    """Return a column as the type of ours in which it lies."""
    value: exp.Expression = exp.column(f"c{stored.place}", table="t")
    if handed.source.ours:
        return value
    return forms.normalised(forms.opaque(value, stored.arrow), stored.arrow)
