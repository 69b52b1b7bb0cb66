"""The requests of several groupings: the same answers, each by its own keys.

What is done to the rows of all groupings together, or hangs on which grouping a row is
of, is done to one release of all of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.aggregations.intervals import error_names
from sordino.errors import InvalidParameter, InvalidSQL
from sordino.expressions.language import Expression
from sordino.keysets import KeySet
from sordino.query.builder import Query
from sordino.query.grouped import Grouped, GroupingSets
from sordino.query.noisy_answers import AbstractNoisyAnswers
from sordino.query.processing import AbstractProcess, NoisyRows
from sordino.query.request import Request
from sordino.query.sql.answer_scope import ALL, MARK, AnswerScope
from sordino.query.sql.reading import Clause
from sordino.query.sql.selection import Selection
from sordino.schema import arrow_type

Process: TypeAlias = Callable[[Any], Any]
"""(noisy answers) -> what a statement makes of them"""
_TOGETHER: Final[Mapping[str, str]] = {
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}


@final
@dataclass(frozen=True)
class _Steps(AbstractNoisyAnswers):
    """What is done to noisy answers, written down."""

    steps: tuple[AbstractProcess, ...] = ()

    def _process(self, step: AbstractProcess) -> "_Steps":
        """Return the steps with one more."""
        return _Steps((*self.steps, step))


@final
@dataclass(frozen=True, eq=False)
class Together:
    """What is done to one release of all groupings, and the clause that asks for it."""

    what: str
    clause: Clause
    process: Process

    def apply(self, release: Any) -> Any:
        """Return what the statement makes of a release."""
        return self.process(release)

    def rehearse(self, answers: AnswerScope) -> None:
        """Refuse what cannot be done, by an answer without rows, before a charge."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        keys = (MARK, *(key.name for key in answers.keys))
        facts = dict(answers.facts().columns)
        fields = [(n, arrow_type(facts[n].type)) for n in (*keys, *answers.asked)]
        table = pa.schema(fields).empty_table()
        bars = [(bar, pa.float64()) for n in answers.asked for bar in error_names(n)]
        errors = pa.schema([*fields[: len(keys)], *bars]).empty_table()
        rows = NoisyRows(table, errors, keys)
        for step in self.process(_Steps()).steps:
            rows = step.apply(rows)

    @property
    def refusal(self) -> InvalidSQL:
        """Return the refusal where the groupings are asked for one by one."""
        return self.clause.refusal(
            f"{self.what} is of the rows of all groupings together, which only a "
            "release has",
            "Give a budget: session.sql(text, budget).",
        )


@final
@dataclass(frozen=True, eq=False)
class Several:
    """What a statement says of the noisy rows of its groupings."""

    select: Clause
    answers: AnswerScope
    shown: Selection
    kept: Expression | None

    def find_together(
        self, sets: tuple[tuple[str, ...], ...], process: Process
    ) -> Together | None:
        """Return what is done to all groupings together, None if each has it done."""
        for name, word in _TOGETHER.items():
            if self.select.has(name):
                clause = self.select.part(self.select.node.args[name])
                return Together(word, clause, process)
        grouping = self.select.node.find(exp.Grouping)
        if grouping is not None:
            clause = Clause(self.select.reading, grouping)
            return Together("GROUPING", clause, process)
        if self.kept is not None and (() in sets or self._lacks(self.kept, sets)):
            clause = self.select.part(self.select.node.args["having"])
            return Together("HAVING", clause, process)
        if any(self._lacks(answer, sets) for answer in self.shown.made.values()):
            word = "what is computed of a column that a grouping leaves out"
            return Together(word, self.select, process)
        return None

    def _lacks(self, expression: Expression, sets: tuple[tuple[str, ...], ...]) -> bool:
        """Tell whether an expression reads a key that a set does not have."""
        keys = {key.name for key in self.answers.keys}
        return any(expression.names() & (keys - set(names)) for names in sets)

    def process(self, request: Request, names: tuple[str, ...]) -> Request:
        """Return the request of one grouping, with what is done to its rows."""
        absent = {key.name for key in self.answers.keys} - set(names)
        if self.kept is not None:
            request = request.filter(self.kept)
        if self.shown.made:
            request = request.with_columns(**self.shown.made)
        there = [*self.answers.asked, *self.shown.made]
        wanted = [name for name in self.shown.names if name in there]
        if wanted != there:
            request = request.select(*wanted)
        renamed = {
            name: called
            for name, called in self.shown.names.items()
            if name != called and name not in absent
        }
        return request.rename(renamed) if renamed else request


def requests_of_sets(
    several: Several,
    query: Query,
    questions: Mapping[str, Any],
    sets: tuple[tuple[str, ...], ...],
    keys: KeySet | None,
) -> dict[str, Request]:
    """Return a request for each set of keys, by the names of these."""
    if not questions:
        raise several.select.refusal(
            "several groupings without an aggregate ask for nothing",
            "Add one: COUNT(*).",
        )
    refuse_other_keys(keys, tuple(key.name for key in several.answers.keys))
    if len(set(sets)) < len(sets):
        raise several.select.part(several.select.node.args["group"]).refusal(
            "two of these groupings are the same", "Name each set of columns once."
        )
    ways = {", ".join(names) or ALL: grouped_by(query, names, keys) for names in sets}
    return GroupingSets(ways).agg(**questions)


def grouped_by(query: Query, names: tuple[str, ...], keys: KeySet | None) -> Grouped:
    """Return the groups of some columns, of which public values may be given."""
    given = [name for name in names if keys is not None and name in keys.columns]
    if keys is None or not given:
        return query.group_by(*names) if names else Grouped(query, (), None)
    known = keys if len(given) == len(keys.columns) else keys[given]
    return query.group_by(known, *(name for name in names if name not in given))


def refuse_other_keys(keys: KeySet | None, names: tuple[str, ...]) -> None:
    """Refuse public values of columns that are not grouped by."""
    if keys is None:
        return
    for name in keys.columns:
        if name not in names:
            raise InvalidParameter(
                "keys",
                list(keys.columns),
                f"must have columns of GROUP BY, {', '.join(names)}; {name} is none",
                "Leave it out, or group by it as well.",
            )
