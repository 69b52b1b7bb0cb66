"""A grouping inside FROM: a row for each person, or each person and group."""

from collections.abc import Mapping

from sordino.errors import InvalidSQL, SordinoError
from sordino.expressions.language import Expression, col
from sordino.query.sql.aggregates import Asking, Ends
from sordino.query.sql.all_rules import RULES
from sordino.query.sql.answer_scope import AnswerScope, Key
from sordino.query.sql.choice_rules import condition
from sordino.query.sql.group_clause import Item, grouping_of
from sordino.query.sql.person_aggregates import PERSON_QUESTIONS
from sordino.query.sql.reading import Clause
from sordino.query.sql.row_scope import RowScope, Visible
from sordino.query.sql.selection import Selection, shown_items


def person_rows(
    select: Clause, found: RowScope, bounds: Mapping[str, Ends], used: set[str]
) -> RowScope:
    """Return the rows that a SELECT makes of each person's rows, or refuse it."""
    items = [Item.of(one) for one in select.each("expressions")]
    grouping = grouping_of(select, items, found)
    if grouping.sets is not None:
        raise select.part(select.node.args["group"]).refusal(
            "several groupings of each person", "Write one GROUP BY inside FROM."
        )
    keys = grouping.keys
    ids = _person(select, keys, found)
    asking = Asking(found, bounds, used, questions=PERSON_QUESTIONS)
    answers = AnswerScope(found, keys, asking)
    answers.selected.update({
        one.alias: one.clause for one in items if one.alias is not None
    })
    shown = shown_items(items, answers)
    _refuse_nameless(items, answers)
    having = select.some("having")
    kept = None
    if having is not None:
        kept = condition(having.look().take("this"), answers)
    try:
        return _asked(found, answers, shown, ids, kept)
    except InvalidSQL:
        raise
    except SordinoError as error:
        raise select.wrap(error) from None


def _refuse_nameless(items: list[Item], answers: AnswerScope) -> None:
    """Refuse a column that nobody could ask for: dialects name it differently."""
    for one in items:
        if one.alias is None and answers.key_of(one.clause) is None:
            raise one.clause.refusal("this column has no name", "Name it: ... AS name.")


def _person(select: Clause, keys: tuple[Key, ...], found: RowScope) -> str:
    """Return the column of ids, by which the rows must be grouped."""
    ids = found.query.resolve(found.catalog).ids
    part = select.part(select.node.args.get("group") or select.node)
    if ids is None:
        raise part.refusal(
            "a grouping inside FROM is of each person, and this table protects rows",
            'Protect ids: protects=sd.AddRowsWithID("person").',
        )
    if not any(str(one.value.expression) == str(col(ids)) for one in keys):
        raise part.refusal(
            "a grouping inside FROM that is not of each person would put many people "
            "into one row",
            f"Group by {ids} as well, or move the grouping outside.",
        )
    return ids


def _asked(
    found: RowScope,
    answers: AnswerScope,
    shown: Selection,
    ids: str,
    kept: Expression | None,
) -> RowScope:
    """Return the rows of each person, filtered, computed and named."""
    made = {
        one.name: one.value.expression
        for one in answers.keys
        if str(one.value.expression) != str(col(one.name))
    }
    made |= answers.asking.made
    query = found.query.with_columns(**made) if made else found.query
    by = [one.name for one in answers.keys if one.name != ids]
    query = query.per_id(
        *by, **{name: one.asked for name, one in answers.asked.items()}
    )
    if kept is not None:
        query = query.filter(kept)
    if shown.made:
        query = query.with_columns(**shown.made)
    if set(shown.names) | {ids} != {ids, *by, *answers.asked, *shown.made}:
        query = query.select(*shown.names)
    renamed = {name: called for name, called in shown.names.items() if name != called}
    query = query.rename(renamed) if renamed else query
    names: Visible = {called: called for called in shown.names.values()}
    schema = query.resolve(found.catalog).schema
    return RowScope(query, found.catalog, schema, names, {}, RULES)
