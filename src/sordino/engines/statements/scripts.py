"""All that will run for a question, written before anything runs.

A script is run twice: on empty tables before the charge, then on the rows. The first
run reads nothing of anybody, so what goes wrong in it is public.

Kernel: totals.
"""

from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, final

import pyarrow as pa

from sordino.data.source import refuse_changed
from sordino.engines.statements.narrow import MOST_KEYS, Narrow, NarrowRows, are_equal
from sordino.engines.statements.plans import FUNCTIONS, Function, stages_of
from sordino.engines.statements.statements import Statement, Statements
from sordino.engines.statements.totals import Measures
from sordino.errors import InvalidQuery, show
from sordino.expressions.schema import Schema
from sordino.query.node_rules import mark_of, prune_question
from sordino.query.nodes import AbstractNode, Kept, Question, nodes_below, tables_of


@final
@dataclass(frozen=True)
class Run:
    """Functions in their order with the rows for each, then a last statement."""

    functions: tuple[tuple[Function, Statement], ...]
    rows: AbstractNode  # what the last statement is of, after the last function
    last: Statement

    @property
    def statements(self) -> Iterator[Statement]:
        """Return all statements, in the order in which they run."""
        yield from (below for _, below in self.functions)
        yield self.last

    @property
    def in_place(self) -> bool:
        """Tell whether the database reads a source of it by itself."""
        return any(statement.in_place for statement in self.statements)

    @cached_property
    def mark(self) -> int:
        """Return a number that runs share which run alike on empty tables."""
        schemas = [repr(node.schema) for node, _ in self.functions]
        read = [
            (statement.text, repr(statement.values), repr(_columns(statement)))
            for statement in self.statements
        ]
        return hash((*schemas, *read))

    def empty_copy(self) -> "Run":
        """Return the same run over tables without rows."""
        functions = tuple((node, below.empty_copy()) for node, below in self.functions)
        return Run(functions, self.rows, self.last.empty_copy())

    def readable_text(self) -> str:
        """Return the steps as people read them."""
        texts = []
        for number, (node, below) in enumerate(self.functions):
            texts += [
                below.readable_text(),
                f"-- m{number}: {node.describe()}, over the rows above",
            ]
        return "\n\n".join([*texts, self.last.readable_text()])


@final
@dataclass(frozen=True)
class Recipe:
    """What makes the rows that are kept in a table."""

    name: str
    schema: Schema
    run: Run
    widths: tuple[int, ...]
    """In how many bits the columns are held; none where they are held as they are."""

    @classmethod
    def of(cls, statements: Statements, node: Kept) -> "Recipe":
        """Recipe of the rows that a leaf reads."""
        steps = stages_of(node.rows)
        return cls(
            node.name,
            node.rows.schema,
            Run(
                _with_rows(statements, steps.functions),
                steps.rows,
                statements.rows(steps.rows),
            ),
            steps.rows.widths if isinstance(steps.rows, Narrow) else (),
        )

    def readable_text(self) -> str:
        """Text of the statement that makes the rows, for people."""
        return f"{self.run.readable_text()}\n\n-- {self.name}: the rows above, kept"


@final
@dataclass(frozen=True)
class Script:
    """What makes the rows that a question is about, then what answers it."""

    question: Question
    asked_for: Question
    """The question before rows that are kept took the place of others."""
    writes: Statements
    kept: tuple[Kept, ...]  # which rows are to be there
    run: Run
    measures: Measures | None
    """What its totals are put together of, where the database does not tell them."""
    written: dict[str, Recipe] = field(default_factory=dict, compare=False)
    """What makes these rows, of those for which that was needed."""

    @classmethod
    def of(
        cls, statements: Statements, question: Question, asked_for: Question
    ) -> "Script":
        """Return the script of a question, whose plan says which rows are kept."""
        rows = prune_question(question)
        leaves = {node.name: node for node in kept_below(rows)}
        steps = stages_of(rows)
        if statements.dialect.tells_sums:
            measures = Measures.of(question)
            last = statements.measures(question, steps.rows, measures)
        else:
            measures = None
            last = statements.totals(question, steps.rows)
        run = Run(_with_rows(statements, steps.functions), steps.rows, last)
        return cls(
            question, asked_for, statements, tuple(leaves.values()), run, measures
        )

    def rewrite(self, statements: Statements) -> "Script":
        """Return the same script, written for tables that are read in another way."""
        return Script.of(statements, self.question, self.asked_for)

    def without_kept(self, statements: Statements) -> "Script":
        """Return the script of the question as it was asked: no rows are kept."""
        return Script.of(statements, self.asked_for, self.asked_for)

    @property
    def runs(self) -> tuple[Run, ...]:
        """Return all that is run, in this order."""
        return (*(self.recipe(leaf).run for leaf in self.every_kept), self.run)

    @property
    def every_kept(self) -> tuple[Kept, ...]:
        """Return the rows that are kept for it, each after those that it is made of."""
        leaves: dict[str, Kept] = {}
        for leaf in self.kept:
            leaves |= {below.name: below for below in kept_below(leaf.rows)}
            leaves[leaf.name] = leaf
        return (*leaves.values(),)

    def recipe(self, leaf: Kept) -> Recipe:
        """Recipe of the rows that a leaf reads, written once."""
        if leaf.name not in self.written:
            self.written[leaf.name] = Recipe.of(self.writes, leaf)
        return self.written[leaf.name]

    @property
    def in_place(self) -> bool:
        """Tell whether the database reads a source of it by itself."""
        return any(run.in_place for run in self.runs)

    @property
    def is_narrow(self) -> bool:
        """Tell whether the rows of the question are kept in few bits."""
        return any(isinstance(leaf.rows, Narrow) for leaf in self.kept)

    def refuse_changed(self) -> None:
        """Refuse sources that are not what they were when they were opened."""
        names = {name for part in self.every_kept for name in tables_of(part.rows)}
        for name in sorted(names):
            refuse_changed(name, self.writes.tables[name].source)
        for statement in self.run.statements:
            for part in statement.handed:
                refuse_changed(part.table, part.source)

    def recipes(self, known: Container[str]) -> tuple[Recipe, ...]:
        """Recipes of cached rows, except those whose names are known."""
        leaves = (leaf for leaf in self.every_kept if leaf.name not in known)
        return tuple(map(self.recipe, leaves))

    def refuse_private(self, recipes: Iterable[Recipe], public: Container[str]) -> None:
        """Refuse to hand over rows that are not public, or made of private ones."""
        runs = (*(recipe.run for recipe in recipes), self.run)
        if any(run.functions for run in runs):
            raise sending_refusal("the rows that a function makes")
        for part in (handed for run in runs for handed in run.last.handed):
            if not (part.in_place or part.given or part.table in public):
                raise sending_refusal(f"the rows of {show(part.table)}")

    def totals(self, table: Callable[[Statement], pa.Table]) -> pa.Table:
        """Return the totals of groups, or of places of keys.

        Where sums and counts do not hold them, they are asked for as they are.
        """
        rows = table(self.run.last)
        if self.measures is None:
            return rows
        added = self.measures.add(rows)
        if added is not None:
            return added
        return table(self.whole_totals)

    @property
    def whole_totals(self) -> Statement:
        """Statement of the totals themselves, even where sums and counts would do."""
        return self.writes.totals(self.question, self.run.rows)

    def readable_text(self) -> str:
        """Return the steps as people read them."""
        texts = [self.recipe(leaf).readable_text() for leaf in self.every_kept]
        return "\n\n".join([*texts, self.run.readable_text()])


def kept_below(rows: AbstractNode) -> Iterator[Kept]:
    """Yield the leaves of a plan that are rows which are kept."""
    return (node for node in nodes_below(rows) if isinstance(node, Kept))


_MOST: Final = 16


@final
class WrittenScripts:
    """The scripts of some questions, for those who ask the same again.

    They are of the tables and of the kept rows that an engine had: with others, it
    begins anew. That a source has not changed is asked of each script each time.
    """

    def __init__(self) -> None:
        self._scripts: dict[Hashable, Script] = {}
        self._again: set[Hashable] = set()  # those that were asked for again
        self.narrow = NarrowRows()

    def script(
        self, question: Question, write: Callable[[Script | None], Script]
    ) -> Script:
        """Return the script of a question, which may be that of an equal one.

        It is written for whoever asks first, and looked at once more for who asks
        again.
        """
        # what a function does may change: its script is of the one that was given
        if any(isinstance(node, FUNCTIONS) for node in nodes_below(question.rows)):
            return write(None)
        keys, count = question.keys, 0
        if keys is not None and (count := keys.num_rows) > MOST_KEYS:
            return write(None)
        # what a mark knows by `id` is held by the question of the script
        mark = mark_of(question.rows), question.by, mark_of(question.totals), count
        known = self._scripts.get(mark)
        again = known is not None and are_equal(keys, known.asked_for.keys)
        if known is not None and again and mark in self._again:
            return known
        script = write(known if again else None)
        if len(self._scripts) >= _MOST:
            self._scripts.clear()
            self._again.clear()
        self._scripts[mark] = script
        (self._again.add if again else self._again.discard)(mark)
        return script


def _with_rows(
    statements: Statements, functions: tuple[Function, ...]
) -> tuple[tuple[Function, Statement], ...]:
    return tuple((node, statements.rows(node.child)) for node in functions)


def sending_refusal(what: str) -> InvalidQuery:
    """Return the refusal to send private rows to a server.

    >>> raise sending_refusal("the rows of 'visits'")
    Traceback (most recent call last):
    sordino.errors.InvalidQuery: the rows of 'visits' are not in the server, and ...
    """
    return InvalidQuery(
        f"{what} are not in the server, and private rows are never sent to one",
        'Ask with engine="duckdb", which reads the tables of a server, too.',
    )


def _columns(statement: Statement) -> list[list[tuple[int, pa.DataType]]]:
    return [
        [(place, part.source.fields[place][1]) for place in part.places]
        for part in statement.handed
    ]
