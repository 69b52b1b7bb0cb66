"""One name or several, as a user gives them to a verb."""

from typing import Any

from sordino import _validate
from sordino.errors import InvalidParameter


def listed_names(*, some: bool = False, **argument: Any) -> tuple[str, ...]:
    """Return one or several names of columns."""
    ((name, value),) = argument.items()
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, (tuple, list)) or (some and not listed):
        raise InvalidParameter(
            name,
            value,
            "must be a column name or a list of column names",
            f'Try {name}="ward".',
        )
    names = tuple(_validate.text(**{name: item}) for item in listed)
    if len(set(names)) < len(names):
        raise InvalidParameter(name, value, "contains a name twice", "Name it once.")
    return names
