"""How much of the data a release covers: noisy counts of what it left out.

| kind | what is counted | in |
|---|---|---|
| unreadable | cells of a column that is read, there and no value of its type | ids with one, or rows |
| cut off | what lies above a limit | ids, or keys of a join |
| clamped | values outside of the bounds of an aggregation | rows, after all steps |

Each is a number for the whole table, never for a group.
"""  # noqa: E501 a table

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from sordino.aggregations.base import Setting
from sordino.aggregations.choices import AbstractChoice
from sordino.aggregations.measurements import AbstractMeasurement, scale_change
from sordino.aggregations.totals import Total
from sordino.query.nodes import AbstractNode
from sordino.query.passage import Counted, tally_measurement
from sordino.query.pruning import columns_of_tables
from sordino.query.question import Question
from sordino.query.relation import Relation
from sordino.query.request import Request

if TYPE_CHECKING:
    import pyarrow as pa

Read: TypeAlias = dict[str, frozenset[str]]


def coverage_counts(
    request: Request, relation: Relation, setting: Setting, answers: Setting
) -> tuple[Counted, ...]:
    """Return what is counted beside the answers of a request, each once.

    What is counted is of all rows; `answers` are told of some groups alone.
    """
    if request.coverage is None:
        return ()
    read = _read(request, relation, answers)
    counts = [
        _by_row(count, setting)
        for place in relation.passed
        for count in place.counts(read)
    ]
    counts += _clamp_counts(request, relation, setting)
    return tuple({count.measurement.key: count for count in counts}.values())


def _by_row(count: Counted, setting: Setting) -> Counted:
    """Return a count whose change is that of all rows of a unit, one after another."""
    if setting.spread is None:
        return count
    measurement, rows = count.measurement, setting.spread.rows
    change = scale_change(measurement.change, rows, rows)
    return replace(count, measurement=replace(measurement, change=change))


def coverage_questions(counts: Sequence[Counted]) -> tuple[Question, ...]:
    """Return what the engine is asked: a question for counts of the same rows."""
    return tuple(
        Question(node, (), tuple(count.measurement.totals[0] for count in counted))
        for node, counted in _counts_by_rows(counts)
    )


def exact_counts(counts: Sequence[Counted], answers: Sequence["pa.Table"]) -> list[int]:
    """Return the exact counts, from the answers to their questions."""
    exact = {
        count.measurement.key: column[0].as_py()
        for (_, counted), answer in zip(_counts_by_rows(counts), answers, strict=True)
        for count, column in zip(counted, answer.columns, strict=True)
    }
    return [exact[count.measurement.key] for count in counts]


def _counts_by_rows(
    counts: Sequence[Counted],
) -> list[tuple[AbstractNode, list[Counted]]]:
    """Return rows, each once, and what is counted of them."""
    rows = {id(count.rows): count.rows for count in counts}
    return [
        (node, [count for count in counts if count.rows is node])
        for node in rows.values()
    ]


def _read(request: Request, relation: Relation, setting: Setting) -> Read:
    """Return the columns of each table that the answers are made of."""
    needed = frozenset(request.by)
    for aggregation in request.questions:
        for estimator in aggregation.with_known_bounds(setting.schema).estimators(
            setting
        ):
            needed |= frozenset[str]().union(*map(_names, estimator.measurements))
    return columns_of_tables(relation.node, needed)


def _clamp_counts(
    request: Request, relation: Relation, setting: Setting
) -> Iterator[Counted]:
    """Yield the numbers of rows with a value outside of bounds.

    For any two databases they differ by at most as many rows as one unit holds. Outside
    of bounds that are known of a column there is none.
    """
    whole = replace(setting, by=())
    for aggregation in request.questions:
        if aggregation.clamp is not None and not aggregation.lacks_bounds:
            key = ("clamped", aggregation.clamp.key(whole))
            total = Total(aggregation.clamp.outside(whole))
            count = tally_measurement(key, total, whole.rows())
            yield Counted(
                "clamped", str(aggregation.clamp), "rows", relation.node, count
            )


def _names(source: AbstractMeasurement | AbstractChoice) -> frozenset[str]:
    """Return the columns that a measurement or a choice reads."""
    match source:
        case AbstractMeasurement():
            return frozenset[str]().union(*(total.names() for total in source.totals))
        case _:
            return source.position.names()
