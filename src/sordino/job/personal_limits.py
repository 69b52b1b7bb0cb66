"""What each person contributes at most, as a job file says it.

>>> values = {"limits": {"max_rows_per_id": 10, "max_groups_per_id": {"ward": 2}}}
>>> read_limits(Section("", values))
[MaxRowsPerID(limit=10), MaxGroupsPerID(columns=('ward',), limit=2)]
"""

from collections.abc import Callable
from typing import Any, Final

from sordino.constraints import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)
from sordino.settings.section import Section

_BY_COLUMN: Final[dict[str, Callable[[str, Any], AbstractConstraint]]] = {
    "max_groups_per_id": MaxGroupsPerID,
    "max_rows_per_group_per_id": MaxRowsPerGroupPerID,
}
_ROWS: Final = "max_rows_per_id"


def read_limits(release: Section) -> list[AbstractConstraint]:
    """Return the limits of a release, in the order in which the file has them."""
    section = release.section("limits")
    section.refuse_others(_ROWS, *_BY_COLUMN)
    limits: list[AbstractConstraint] = []
    with release.place_refusals("limits"):
        for name in section:
            if name == _ROWS:
                limits.append(MaxRowsPerID(section.value(name)))
                continue
            columns = section.section(name)
            constraint = _BY_COLUMN[name]
            limits += [constraint(column, columns.value(column)) for column in columns]
    return limits
