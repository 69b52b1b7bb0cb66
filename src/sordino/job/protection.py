"""Whom a table protects, as a job file says it.

| `protects = ...` | unit |
|---|---|
| `"rows"`, `{ rows = 3 }` | any row, or any three of them |
| `{ id = "patient" }` | all rows with one value of a column; also `id_space` |
| `{ column = "ward", groups = 2, rows_per_group = 3 }` | rows in so many groups |
"""

from collections.abc import Callable
from typing import Final

from sordino.errors import InvalidJob
from sordino.job.section import Section
from sordino.units import (
    AbstractUnit,
    AddMaxRows,
    AddMaxRowsInMaxGroups,
    AddOneRow,
    AddRowsWithID,
)

_FORMS: Final[dict[frozenset[str], Callable[[Section], AbstractUnit]]] = {
    frozenset({"rows"}): lambda said: AddMaxRows(said.value("rows")),
    frozenset({"id"}): lambda said: AddRowsWithID(said.value("id")),
    frozenset({"id", "id_space"}): lambda said: AddRowsWithID(
        said.value("id"), said.value("id_space")
    ),
    frozenset({"column", "groups", "rows_per_group"}): lambda said: (
        AddMaxRowsInMaxGroups(
            said.value("column"), said.value("groups"), said.value("rows_per_group")
        )
    ),
}
_REMEDY: Final = (
    'Write protects = { id = "patient" } for all rows of a person, or "rows" for one.'
)


def read_protection(table: Section) -> AbstractUnit:
    """Return the unit that a table of a job protects."""
    if table.value("protects") == "rows":
        return AddOneRow()
    if isinstance(table.value("protects"), str):
        raise table.wrong("protects", "is no unit", _REMEDY)
    said = table.section("protects")
    form = _FORMS.get(frozenset(said))
    if form is None:
        said.refuse_others(*sorted(frozenset().union(*_FORMS)))
        raise InvalidJob(said.place, "says too much or too little", _REMEDY)
    with table.place_refusals("protects"):
        return form(said)
