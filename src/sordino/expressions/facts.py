"""What follows for the facts of a result from those of its arguments."""

import math
from collections.abc import Sequence

from sordino.errors import InvalidQuery
from sordino.expressions.tree import Argument
from sordino.schema import NUMBERS, Column


def result(
    kind: str,
    arguments: Sequence[Argument],
    *,
    nan: bool = False,
    lost: str | None = None,
) -> Column:
    """Return the facts of a result that is missing where an argument is.

    `lost` is the reason why it may be missing where no argument is.
    """
    unsettled = reason(arguments) or lost
    nullable = unsettled is not None or any(
        argument.column.nullable for argument in arguments
    )
    return Column(kind, nullable=nullable, nan=nan, unsettled=unsettled)


def first(kind: str, arguments: Sequence[Argument]) -> Column:
    """Return the facts of one of the values that are there: missing if none is."""
    nullable = all(argument.column.nullable for argument in arguments)
    return Column(
        kind,
        nullable=nullable,
        nan=any_nan(arguments),
        unsettled=reason(arguments) if nullable else None,
    )


def reason(arguments: Sequence[Argument]) -> str | None:
    """Return the first reason why a value may be missing that the data did have."""
    reasons = (argument.column.unsettled for argument in arguments)
    return next((text for text in reasons if text is not None), None)


def any_nan(arguments: Sequence[Argument]) -> bool:
    """Tell whether an argument may be NaN."""
    return any(argument.column.nan for argument in arguments)


def may_be_infinite(argument: Argument) -> bool:
    """Tell whether an argument may be an infinity."""
    known = isinstance(argument.constant, float) and math.isfinite(argument.constant)
    return argument.type == "f64" and not known


def may_be_zero(argument: Argument) -> bool:
    """Tell whether an argument may be 0."""
    return argument.constant is None or argument.constant == 0


def require_types(
    what: str, arguments: Sequence[Argument], kinds: Sequence[str], remedy: str
) -> None:
    """Refuse arguments of other types; a bool is not a number."""
    if any(argument.type not in kinds for argument in arguments):
        wanted = "numbers" if kinds is NUMBERS else " or ".join(kinds)
        raise InvalidQuery(
            f"{what} takes {wanted}, not {list_types(arguments)}", remedy
        )


def alike(what: str, arguments: Sequence[Argument], remedy: str) -> str:
    """Return the one type that all arguments have, or refuse them."""
    if len({argument.type for argument in arguments}) > 1 or "[" in arguments[0].type:
        raise InvalidQuery(
            f"{what} takes values of one type, not {list_types(arguments)}", remedy
        )
    return arguments[0].type


def comparable(what: str, arguments: Sequence[Argument], remedy: str) -> str:
    """Return the type in which arguments are compared: numbers meet in f64."""
    if all(argument.type in NUMBERS for argument in arguments):
        return joint(arguments)
    return alike(what, arguments, remedy)


def joint(arguments: Sequence[Argument]) -> str:
    """Return the type in which numbers meet."""
    return "f64" if any(argument.type == "f64" for argument in arguments) else "i64"


def list_types(arguments: Sequence[Argument]) -> str:
    """Return the types for a message: i64, text and f64."""
    kinds = list(dict.fromkeys(argument.type for argument in arguments))
    return " and ".join(", ".join(kinds).rsplit(", ", 1))
