"""What requests use, by their plans and prices alone: a policy is held against it."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import starmap
from typing import Any, Final

from sordino.aggregations.measurement import AbstractTotal, Distinct
from sordino.ledger.policy_rules import TableColumn, TableColumns, Usage
from sordino.numbers.canonical import Words
from sordino.plan.bundle import Bundle
from sordino.plan.margins import MarginsPurchase
from sordino.plan.plan import Plan
from sordino.plan.purchase import Purchase
from sordino.query.node_rules import Cells, Lineage, lineage_of
from sordino.query.nodes import AbstractNode
from sordino.query.request import Request
from sordino.session.tables import Catalog

_NOT_ANSWERS: Final = {False: "keys", True: "top"}
"""What is asked besides answers: which groups there are, or which are the first."""


def usage_of(purchase: Purchase, catalog: Catalog) -> Usage:
    """Usage of a request at its price: what a policy is held against."""
    plan, request = purchase.plan, purchase.plan.request
    rows = lineage_of(plan.relation.node, catalog.origins)
    weighed = plan.presence if plan.in_rounds else None  # groups, by how many ids have
    measured = [each for each in plan.measurements.values() if each is not weighed]
    totals = [total for each in measured for total in each.totals]
    read = [total.names() for total in totals if not _counts_people(total, plan)]
    read += [choice.position.names() for choice in plan.choices.values()]
    questions = [question.words for question in request.questions]
    binned = tuple(_histogram_columns(questions))
    values = rows.cells_of(frozenset[str]().union(*read))
    if purchase.survey:  # its total reads the filter, which is no value
        values -= rows.filters
    return _usage(
        catalog,
        rows,
        keys=rows.cells_of((*request.by, *binned)),
        values=values,
        covered=_covered_cells(purchase, catalog),
        functions=frozenset(_functions(request, catalog)),
        is_grouped=bool(request.by or binned),
        is_of_some=any(
            question.reads_made(rows.made)
            for question in request.questions
            if not question.is_of_all
        ),
        level=None if binned else _level(purchase),
    )


def usages_of(bundle: Bundle, catalog: Catalog) -> tuple[Usage, ...]:
    """Usages of requests that are planned together."""
    return tuple(usage_of(purchase, catalog) for purchase in bundle.purchases.values())


def usage_of_margins(purchase: MarginsPurchase, catalog: Catalog) -> Usage:
    """Usage of margins: every cell is shown."""
    request = purchase.request
    rows = lineage_of(purchase.relation.node, catalog.origins)
    functions = {"marginals", *_verbs(_summaries(request.rows.words(catalog)))}
    return _usage(
        catalog,
        rows,
        keys=rows.cells_of(request.keyset.columns),
        functions=frozenset(functions),
        is_grouped=True,
    )


def usage_of_parts(node: AbstractNode, by: str, catalog: Catalog) -> Usage:
    """Usage of a partition: its parts are groups, and nothing is answered yet."""
    rows = lineage_of(node, catalog.origins)
    return _usage(catalog, rows, keys=rows.cells_of((by,)), is_answered=False)


def _usage(
    catalog: Catalog,
    rows: Lineage,
    *,
    keys: Cells,
    values: Cells = frozenset(),
    covered: Cells = frozenset(),
    **more: Any,
) -> Usage:
    """Return a usage of rows; to say whom they belong to, ids are free."""
    marks = frozenset[tuple[str, str]]().union(*catalog.origins.marks.values())
    return Usage(
        tables=rows.tables,
        keys=_places(keys),
        filters=_places(rows.filters),
        values=_places(values),
        covered=_places(covered - marks),
        bounds=_places(rows.bounds - marks),
        runs_python=rows.runs_python,
        is_chosen=rows.is_chosen,
        **more,
    )


def _counts_people(total: AbstractTotal, plan: Plan) -> bool:
    """Tell whether a total only counts whose rows they are."""
    return total == Distinct((plan.relation.ids or "",))


def _covered_cells(purchase: Purchase, catalog: Catalog) -> Cells:
    cells: Cells = frozenset()
    for counted in purchase.plan.coverage.values():
        rows = lineage_of(counted.rows, catalog.origins)
        names = (total.names() for total in counted.measurement.totals)
        read = rows.cells_of(frozenset[str]().union(*names))
        cells |= rows.filters | rows.bounds | read
    return cells - lineage_of(purchase.plan.relation.node, catalog.origins).filters


def _places(cells: Cells) -> TableColumns:
    return frozenset(starmap(TableColumn, cells))


def _level(purchase: Purchase) -> Fraction | None:
    """Least noisy count of a group that is shown, None where there is none.

    What shows the first few groups, keys by their weights, or keys of several groups,
    is no count of a group.
    """
    request, plan = purchase.plan.request, purchase.plan
    levels = [] if request.minimum is None else [request.minimum]
    other = purchase.first or purchase.rounds or request.known_columns
    if plan.presence is not None and not other:
        levels.append(plan.presence.level(purchase.selection))
    return max(levels, default=None)


def _functions(request: Request, catalog: Catalog) -> Iterator[str]:
    """Yield the names of all that is asked, of groups and of each person's rows."""
    if request.few is not None or not request.columns:
        yield _NOT_ANSWERS[request.few is not None]
    yield from _verbs(question.words for question in request.questions)
    yield from _verbs(_summaries(request.rows.words(catalog)))


def _verbs(questions: Iterable[Words]) -> Iterator[str]:
    """Yield the name of each question, and of what a running one adds up."""
    for question in questions:
        verb, arguments = _verb(question)
        yield verb
        if "of" in arguments:
            yield from _verbs([arguments["of"]])


def _histogram_columns(questions: Iterable[Words]) -> Iterator[str]:
    """Yield the columns of histograms: their bins are groups under another name."""
    for question in questions:
        verb, arguments = _verb(question)
        if verb == "histogram":
            yield arguments["column"]


def _summaries(words: Any) -> Iterator[Words]:
    """Yield what `per_id` asks of each person's rows, wherever it stands in words."""
    match words:
        case ["per_id", {"columns": columns}]:
            yield from (question for _, question in columns)
    if isinstance(words, Mapping):
        words = list(words.values())
    if isinstance(words, (list, tuple)):
        for inner in words:
            yield from _summaries(inner)


def _verb(words: Any) -> tuple[str, Mapping[str, Any]]:
    verb, arguments = words
    return verb, arguments
