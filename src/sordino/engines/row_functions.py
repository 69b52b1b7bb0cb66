"""Python functions of rows, held to what was declared of them.

| what the function does | what becomes of it |
|---|---|
| leaves a column out, or gives it another type | the value is missing |
| returns further columns | they are not looked at |
| raises, or returns something else than a dict | map: all its columns are missing |
| | flat map: no further row |
| yields more rows than the limit | they are not even made |
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import pyarrow as pa

from sordino.query.nodes import AbstractNode, FlatMap, MapRows
from sordino.sources.python_cells import coerce

Row: TypeAlias = dict[str, Any]


def mapped_row(node: MapRows, row: Row) -> Row:
    """Return a row with what the function of a node makes of it."""
    try:
        answer = node.function(dict(row))
    except Exception:  # noqa: BLE001 whatever it raises, the row goes on without
        answer = None
    return _join_row(node, row, _as_mapping(answer))


def flat_mapped(node: FlatMap, row: Row) -> Iterator[Row]:
    """Yield the rows that the function of a node makes of one, up to its limit."""
    try:
        answers = iter(node.function(dict(row)))
    except Exception:  # noqa: BLE001 whatever it raises, there are no rows
        return
    for answer in itertools.islice(_until_failure(answers), node.limit):
        yield _join_row(node, row, _as_mapping(answer))


def _as_mapping(answer: Any) -> Mapping[str, Any]:
    """Return what a function made, if it is a mapping: it may lie about its class."""
    try:
        return answer if isinstance(answer, Mapping) else {}
    except Exception:  # noqa: BLE001 an object of the user's own may fail
        return {}


def _until_failure(answers: Iterator[Any]) -> Iterator[Any]:
    while True:
        try:
            answer = next(answers)
        except Exception:  # noqa: BLE001 StopIteration, or a failure half-way
            return
        yield answer


def _join_row(node: MapRows | FlatMap, row: Row, answer: Mapping[str, Any]) -> Row:
    """Return the columns of a node: its own from the function, others from the row."""
    return {
        name: coerce(_cell(answer, name), column.type)
        if name in node.returns
        else row[name]
        for name, column in node.schema.columns
    }


def _cell(answer: Mapping[str, Any], name: str) -> Any:
    try:
        return answer.get(name)
    except Exception:  # noqa: BLE001 a mapping of the user's own may fail
        return None


def made_rows(
    node: MapRows | FlatMap, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows that a node makes of batches, its columns called c0, c1, ..."""
    names = node.child.schema.names
    work = _RUNS[type(node)]
    for batch in batches:
        lists = [batch.column(place).to_pylist() for place in range(len(names))]
        across = zip(*lists, strict=True) if lists else [()] * batch.num_rows
        rows = (dict(zip(names, values, strict=True)) for values in across)
        yield _batch(node, [new_row for row in rows for new_row in work(node, row)])


def made_schema(node: MapRows | FlatMap) -> pa.Schema:
    """Return the form of the rows that a node makes; rows of no columns have one."""
    columns = [column.arrow for _, column in node.schema.columns] or [pa.bool_()]
    return pa.schema([(f"c{place}", kind) for place, kind in enumerate(columns)])


def _batch(node: MapRows | FlatMap, rows: list[Row]) -> pa.RecordBatch:
    names = node.schema.names or ("",)
    form = made_schema(node)
    arrays = [
        pa.array([row.get(name) for row in rows], field.type)
        for name, field in zip(names, form, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=form)


_RUNS: Final[dict[type[AbstractNode], Callable[[Any, Row], Iterable[Row]]]] = {
    MapRows: lambda node, row: (mapped_row(node, row),),
    FlatMap: flat_mapped,
}
