"""SELECT: which keys and answers are shown, under which names."""

from dataclasses import dataclass, field
from typing import final

from sordino.expressions.language import Expression
from sordino.query.sql.aggregates import asks
from sordino.query.sql.answer_scope import AnswerScope
from sordino.query.sql.group_clause import Item


@final
@dataclass(frozen=True, eq=False)
class Selection:
    """The columns that are shown, under which names, in order."""

    names: dict[str, str] = field(default_factory=dict)
    """The name of a column of the answer, and what it is called in the end."""
    made: dict[str, Expression] = field(default_factory=dict)
    """Answers that are computed."""


def shown_items(items: list[Item], answers: AnswerScope) -> Selection:
    """Return what is selected: keys, answers, and what is computed of them."""
    shown = Selection()
    for item in items:
        key = answers.key_of(item.clause)
        if key is not None:
            (name,) = key.expression.names()
            _show(shown, item, name, item.alias or name)
        elif asks(item.clause.node):
            name = answers.ask(item.clause, item.alias)
            _show(shown, item, name, item.alias or name)
        else:
            _show_computed(shown, item, answers)
    return shown


def _show_computed(shown: Selection, item: Item, answers: AnswerScope) -> None:
    """Show an answer that is computed of others."""
    value = answers.value(item.clause)
    if value.bare:
        raise item.clause.refusal(
            "this value is the same for every group, so nothing is asked",
            "Leave it out of SELECT, and write it beside the answers.",
        )
    name = item.alias or answers.fresh("computed")
    if any(key.name == name for key in answers.keys):
        raise item.clause.refusal(
            f"{name} is a column of GROUP BY, and cannot name an answer as well",
            "Give the answer another alias.",
        )
    shown.made[name] = value.expression
    _show(shown, item, name, name)


def _show(shown: Selection, item: Item, name: str, called: str) -> None:
    """Show a column under a name, refusing two of one name."""
    if name in shown.names or called in shown.names.values():
        raise item.clause.refusal(
            f"SELECT has two columns named {called}",
            "Select it once, or give one of them another alias.",
        )
    shown.names[name] = called
