"""All that will run for a question, written before anything runs.

A script is run twice: on empty tables before the charge, then on the rows. The first
run reads nothing of anybody, so what goes wrong in it is public.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import final

import pyarrow as pa

from sordino.engines.sql.stages import Function, stages_of
from sordino.engines.sql.statements import Statement, Statements
from sordino.errors import InvalidQuery, show
from sordino.query.nodes import AbstractNode
from sordino.query.pruning import prune_question
from sordino.query.question import Question
from sordino.sources.base import refuse_changed


@final
@dataclass(frozen=True)
class Script:
    """The functions of a question with the rows for each, then its totals."""

    question: Question
    writes: Statements
    functions: tuple[tuple[Function, Statement], ...]
    rows: AbstractNode
    """What the totals are of, after the last function."""
    totals: Statement

    @classmethod
    def of(cls, statements: Statements, question: Question) -> "Script":
        """Return the script of a question."""
        steps = stages_of(prune_question(question))
        functions = tuple(
            (node, statements.rows(node.child)) for node in steps.functions
        )
        totals = statements.question(question, steps.rows)
        return cls(question, statements, functions, steps.rows, totals)

    @property
    def statements(self) -> Iterator[Statement]:
        """Return all statements, in the order in which they run."""
        yield from (below for _, below in self.functions)
        yield self.totals

    @property
    def in_place(self) -> bool:
        """Tell whether the database reads a source of it by itself."""
        return any(one.in_place for one in self.statements)

    @property
    def mark(self) -> int:
        """Return a number that scripts share which run alike on empty tables."""
        return hash(
            tuple(
                (one.text, repr(one.values), repr(_columns(one)))
                for one in self.statements
            )
        )

    def emptied(self) -> "Script":
        """Return the same script over tables without rows, asked for no key."""
        keys = self.question.keys
        question = replace(
            self.question, keys=None if keys is None else keys.slice(0, 0)
        )
        functions = tuple((node, below.emptied()) for node, below in self.functions)
        return replace(
            self,
            question=question,
            functions=functions,
            totals=self.totals.emptied(),
        )

    def refuse_changed(self) -> None:
        """Refuse sources that are not what they were when they were opened."""
        for statement in self.statements:
            for one in statement.handed:
                refuse_changed(one.table, one.source)

    def refuse_private(self, public: Container[str]) -> None:
        """Refuse to hand over rows that are not public, and what is made of such."""
        if self.functions:
            raise sending_refusal("the rows that a function makes")
        for one in self.totals.handed:
            if not (one.in_place or one.given or one.table in public):
                raise sending_refusal(f"the rows of {show(one.table)}")

    def shown(self) -> str:
        """Return the steps as people read them."""
        texts = []
        for number, (node, below) in enumerate(self.functions):
            texts += [
                below.shown(),
                f"-- m{number}: {node.describe()}, over the rows above",
            ]
        return "\n\n".join([*texts, self.totals.shown()])


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
    """Return which columns a statement reads, and their types."""
    return [
        [(place, one.source.fields[place][1]) for place in one.places]
        for one in statement.handed
    ]
