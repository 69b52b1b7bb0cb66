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
    select: Clause, rows: RowScope, bounds: Mapping[str, Ends], used: set[str]
) -> RowScope:
    """Return the rows that a SELECT makes of each person's rows, or refuse it."""
    items = [Item.of(clause) for clause in select.each("expressions")]
    grouping = grouping_of(select, items, rows)
    if grouping.sets is not None:
        raise select.part(select.node.args["group"]).refusal(
            "inside FROM each person is grouped in one way, not in several",
            "Write plain columns after GROUP BY there.",
        )
    keys = grouping.keys
    ids = _person(select, keys, rows)
    asking = Asking(rows, bounds, used, questions=PERSON_QUESTIONS)
    answers = AnswerScope(rows, keys, asking)
    answers.selected.update({
        item.alias: item.clause for item in items if item.alias is not None
    })
    shown = shown_items(items, answers)
    _refuse_nameless(items, answers)
    having = select.some("having")
    kept = None
    if having is not None:
        kept = condition(having.look().take("this"), answers)
    try:
        return _rows_per_person(rows, answers, shown, ids, kept)
    except InvalidSQL:
        raise
    except SordinoError as error:
        raise select.wrap(error) from None


def _refuse_nameless(items: list[Item], answers: AnswerScope) -> None:
    """Refuse a column that nobody could ask for: dialects name it differently."""
    for item in items:
        if item.alias is None and answers.key_of(item.clause) is None:
            raise item.clause.refusal(
                "an answer about each person needs a name", "Write ... AS name."
            )


def _person(select: Clause, keys: tuple[Key, ...], rows: RowScope) -> str:
    """Return the column of ids, by which the rows must be grouped."""
    ids = rows.query.resolve(rows.catalog).ids
    part = select.part(select.node.args.get("group") or select.node)
    if ids is None:
        raise part.refusal(
            "a GROUP BY inside FROM is of each person, and this table protects rows",
            'Protect ids: protects=sd.AddRowsWithID("person").',
        )
    if not any(str(key.value.expression) == str(col(ids)) for key in keys):
        raise part.refusal(
            "a GROUP BY inside FROM without the id would put many people into one row",
            f"Group by {ids} as well, or move the grouping outside.",
        )
    return ids


def _rows_per_person(
    rows: RowScope,
    answers: AnswerScope,
    shown: Selection,
    ids: str,
    kept: Expression | None,
) -> RowScope:
    """Return the rows of each person, filtered, computed and named."""
    computed = {
        key.name: key.value.expression
        for key in answers.keys
        if str(key.value.expression) != str(col(key.name))
    }
    computed |= answers.asking.made
    query = rows.query.with_columns(**computed) if computed else rows.query
    by = [key.name for key in answers.keys if key.name != ids]
    query = query.per_id(
        *by, **{name: aggregate.asked for name, aggregate in answers.asked.items()}
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
    schema = query.resolve(rows.catalog).schema
    return RowScope(query, rows.catalog, schema, names, {}, RULES)
