"""SELECT, HAVING and ORDER BY: what is made of the noisy answers about each group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

from sqlglot import exp

from sordino.aggregations.intervals import error_names
from sordino.errors import InvalidSQL
from sordino.expressions.language import Expression, col
from sordino.expressions.schema import NUMBERS, Column, Schema
from sordino.query.builder import Query
from sordino.query.sql.aggregates import Aggregate, Asking, asks
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, RowScope, Rule, Value, identifier
from sordino.query.sql.text_rules import ALL_RULES as RULES
from sordino.query.steps import AbstractCatalog


@final
@dataclass(frozen=True, eq=False)
class Key:
    """What groups are marked by: a column of the query, and what it is in the text."""

    name: str
    value: Value


@final
@dataclass(frozen=True, eq=False)
class AnswerScope(AbstractScope):
    """The noisy answers about each group, by the aggregates that ask for them."""

    rows: RowScope
    keys: tuple[Key, ...]
    asking: Asking
    asked: dict[str, Aggregate] = field(default_factory=dict)
    """Questions by the name of their answer, in the order in which they are asked."""
    selected: dict[str, Clause] = field(default_factory=dict)
    """What is selected under an alias, by the alias."""
    sets: tuple[tuple[str, ...], ...] | None = None
    """The keys of each of several groupings, None of one."""
    noisy: bool = True
    """Whether noise is added; the answers about each person are exact."""
    aliases_first: bool = False
    """Whether an alias goes before a column, as it does in ORDER BY."""
    open: list[str] = field(default_factory=list)
    """The aliases that are being read, one within the other."""
    rules: Mapping[type[Any], Rule] = field(default_factory=lambda: RULES)

    @property
    def tables_by_name(self) -> AbstractCatalog:
        return self.rows.catalog

    def facts(self) -> Schema:
        keys = [(key.name, Column(key.value.type)) for key in self.keys]
        answers = [
            (name, Column(aggregate.type)) for name, aggregate in self.asked.items()
        ]
        mark = [] if self.sets is None else [(MARK, Column("text"))]
        return Schema((*keys, *answers, *mark))

    def instead(self, clause: Clause) -> Value | None:
        if asks(clause.node):
            return self._answer(self.ask(clause, None))
        if clause.kind is exp.Grouping:
            return self._grouping(clause)
        asked_within = any(map(asks, clause.node.walk()))
        return None if asked_within else self.key_of(clause)

    def key_of(self, clause: Clause) -> Value | None:
        """Key that an expression of a row stands for, if there is one."""
        reads = clause.node.find(exp.Column) is not None
        if not reads or self._alias_of(clause) is not None:
            return None
        try:
            value = self.rows.value(clause)
        except InvalidSQL:
            return None
        for key in self.keys:
            if key.value.expression.same(value.expression):
                return self.value_of(col(key.name), decimal=key.value.decimal)
        return None

    def _grouping(self, clause: Clause) -> Value:
        """Value of GROUPING(a, b): a bit for each, 1 where a grouping leaves it out."""
        if self.sets is None:
            raise clause.refusal(
                "GROUPING is 0 in every row where rows are grouped in one way",
                "Leave it out, or group by ROLLUP, CUBE or GROUPING SETS.",
            )
        names = [self._key_name(part) for part in clause.each("expressions")]
        taken = {*self.asked, *(key.name for key in self.keys)}
        if MARK in taken:
            raise clause.refusal(
                f"GROUPING reads the column {MARK} of a release, and another has its "
                "name",
                "Give the other another name.",
            )
        bits = {
            ", ".join(held) or ALL: sum(
                2 ** (len(names) - 1 - place)
                for place, name in enumerate(names)
                if name not in held
            )
            for held in self.sets
        }
        return self.value_of(col(MARK).map_values(bits))

    def _key_name(self, clause: Clause) -> str:
        key = self.key_of(clause)
        if key is None:
            raise clause.refusal(
                f"GROUPING takes what is grouped by, and {clause.short_text} is not",
                "Name a column of GROUP BY.",
            )
        (name,) = key.expression.names()
        return name

    def column(self, clause: Clause) -> Value:
        name = self._alias_of(clause)
        if name is not None:
            clause.look()
            identifier(clause.take("this"))
            if name in self.open:
                raise clause.refusal(
                    f"the alias {name} is computed from itself",
                    "Give it a name that its expression does not read.",
                )
            self.open.append(name)
            value = self.value(self.selected[name])
            self.open.pop()
            return value
        self.rows.column(clause)  # refuses a name that is none
        raise clause.refusal(
            f"{clause.short_text} is neither grouped nor aggregated",
            "Add it to GROUP BY, or write an aggregate of it.",
        )

    def lacks_quotients(self, clause: Clause) -> bool:
        if self.noisy:  # an infinity would only say how the noise fell
            return True
        if not self.keys or not asks(clause.node):
            return False
        return self.asked[self.ask(clause, None)].counts

    def computed_rows(self) -> Query:
        """Query with the keys and values that are computed of each row."""
        computed = {
            key.name: key.value.expression
            for key in self.keys
            if str(key.value.expression) != str(col(key.name))
        }
        computed |= self.asking.made
        query = self.rows.query
        return query.with_columns(**computed) if computed else query

    def ask(self, clause: Clause, name: str | None) -> str:
        """Name of the answer to an aggregate, which is asked for once."""
        if name in _WORDS:
            raise clause.refusal(
                f"{name} is an argument of agg(), and cannot name an answer",
                "Give it another alias.",
            )
        with clause.wrap_refusals():
            question = self.asking.question(clause)
        # by words: what is written twice is measured, and paid for, once
        for known, other in self.asked.items():
            if other.asked.words == question.asked.words and name in (None, known):
                return known
        answer = name or self.fresh(question.name)
        self.asked[answer] = question
        return answer

    def fresh(self, name: str) -> str:
        """Name that no column of the answer has, nor one of its error bars."""
        known = [*self.asked, *self.selected, *(key.name for key in self.keys)]
        taken = {column for name_ in known for column in (name_, *error_names(name_))}
        number, fresh = 1, name
        while taken & {fresh, *error_names(fresh)}:
            number += 1
            fresh = f"{name}_{number}"
        return fresh

    def _answer(self, name: str) -> Value:
        kind = self.asked[name].type
        answer: Expression = col(name)
        # the cast gives a noisy number the type that SQL has
        exact = self.asked[name].counts or kind not in NUMBERS
        return self.value_of(answer if exact else answer.cast(kind))

    def _alias_of(self, clause: Clause) -> str | None:
        node = clause.node
        if not isinstance(node, exp.Column) or node.table:
            return None
        name = node.name
        if not self.aliases_first and self.rows.knows(name):
            return None
        aliases = (known for known in self.selected if known.lower() == name.lower())
        return next(aliases, None)


MARK: Final = "grouping"
"""The column that says of which grouping a row of several is."""
ALL: Final = "all"
"""The name of the grouping that leaves all columns out."""
_WORDS: Final = ("noise", "weights", "coverage")


def aggregates_of(clause: Clause) -> Iterator[exp.Expr]:
    """Yield the aggregates of an expression, and GROUPING, which is of a group, too."""
    return (
        node
        for node in clause.node.walk()
        if asks(node) or isinstance(node, exp.Grouping)
    )
