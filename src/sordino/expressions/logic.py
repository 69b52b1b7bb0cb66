"""Truth with a third value, as in SQL: missing is unknown.

`False & missing` is False and `True | missing` is True: the unknown does not matter
there. Everything else that is unknown stays unknown.
"""

from typing import Any, Final

from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

_REMEDY: Final = "Compare first: (col('x') > 0) & (col('y') > 0)."


def _facts(symbol: str, *arguments: Argument) -> Column:
    """Return the facts of a connection of truths."""
    facts.require_types(symbol, arguments, ("bool",), _REMEDY)
    return facts.result("bool", arguments)


def _and_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a conjunction."""
    return _facts("&", left, right)


def _or_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a disjunction."""
    return _facts("|", left, right)


def _not_facts(argument: Argument) -> Column:
    """Return the facts of a negation."""
    return _facts("~", argument)


def _and(left: Value, right: Value) -> Value:
    """Return False if one is False, else None if one is missing."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: Value, right: Value) -> Value:
    """Return True if one is True, else None if one is missing."""
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _not(truth: Value) -> Value:
    """Return the other truth."""
    return not truth


AND: Final = Operation("both", _and_facts, _and, strict=False, symbol="&")
OR: Final = Operation("either", _or_facts, _or, strict=False, symbol="|")
NOT: Final = Operation("negated", _not_facts, _not, symbol="~")

OPERATIONS: Final = (AND, OR, NOT)


def both(self: Fluent, other: Any) -> Fluent:
    """Return whether both are true."""
    return self.call(AND, self, other)


def both_of(self: Fluent, other: Any) -> Fluent:
    """Return whether both are true, this one last."""
    return self.call(AND, other, self)


def either(self: Fluent, other: Any) -> Fluent:
    """Return whether one is true."""
    return self.call(OR, self, other)


def either_of(self: Fluent, other: Any) -> Fluent:
    """Return whether one is true, this one last."""
    return self.call(OR, other, self)


def is_false(self: Fluent) -> Fluent:
    """Return whether it is false."""
    return self.call(NOT, self)
