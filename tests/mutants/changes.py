"""One-line changes of Python code: small errors that a tired author could make.

Each is a piece of one line replaced by another piece, found in the syntax tree. Left
alone are texts, annotations, decorators, refusals and assertions, which say no number
that a user sees, what only a checker of types reads, and the named constants of a
module, which say how long is searched and how near is near.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

_COMPARISONS: Final = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
_OPERATIONS: Final = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Pow: ("**", "*"),
}
_NAMES: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "up": "down",
    "down": "up",
    "floor": "ceil",
    "ceil": "floor",
    "raised": "lowered",
    "lowered": "raised",
    "at_least": "above",
    "above": "at_least",
    "minimum": "maximum",
    "maximum": "minimum",
    "lower": "upper",
    "upper": "lower",
    "rounded_up": "rounded_down",
    "rounded_down": "rounded_up",
}
_PLAIN_ARGUMENTS: Final = {"strict", "repeat", "dtype", "maxsize", "exist_ok", "repr"}
_PLAIN_FIELDS: Final = {"annotation", "returns", "decorator_list", "bases"}
_QUIET: Final = {"__repr__", "__str__", "__reduce__", "explain", "describe"}

Edit: TypeAlias = tuple[ast.AST, int, int, str]
"""Where the code stands, from which column to which, and what is put there."""


@final
@dataclass(frozen=True)
class Change:
    """A line of a file, as it is and as it is made."""

    file: str
    line: int
    before: str
    after: str

    def rank(self, seed: int) -> str:
        """Return where a change stands in the order of a seed.

        It depends on the text of the line alone: an edit elsewhere moves nothing.
        """
        words = f"{seed}\0{self.file}\0{self.before}\0{self.after}"
        return hashlib.sha256(words.encode()).hexdigest()

    def applied(self, source: str) -> str:
        lines = source.split("\n")
        lines[self.line - 1] = self.after
        return "\n".join(lines)

    def is_python(self, source: str) -> bool:
        """Tell whether the source can still be read with the change made."""
        try:
            ast.parse(self.applied(source))
        except SyntaxError:
            return False
        return True


def changes(file: str, source: str) -> list[Change]:
    """Return every change of a file.

    >>> [change.after for change in changes("a.py", "print(a < 2)")]
    ['pass', 'print(a <= 2)', 'print(a < 3)']
    """
    lines = source.split("\n")
    found = []
    for node, start, end, put in _edits(ast.parse(source), lines):
        number = int(getattr(node, "lineno"))  # noqa: B009 not every node has a line
        whole = lines[number - 1]
        changed = whole[:start] + put + whole[end:]
        if changed != whole:
            found.append(Change(file, number, whole, changed))
    return list(dict.fromkeys(found))


def _edits(tree: ast.AST, lines: list[str]) -> Iterator[Edit]:
    """Return the edits beneath a node, what says no number left out."""
    for node in _counted(tree):
        first = getattr(node, "lineno", 0)
        if first and first == getattr(node, "end_lineno", None):
            yield from _EDITS.get(type(node), _none)(node, lines[first - 1])
        yield from _of_test(node)


def _counted(node: ast.AST) -> Iterator[ast.AST]:
    """Walk the tree where numbers are worked out."""
    yield node
    fields = (
        value for name, value in ast.iter_fields(node) if name not in _PLAIN_FIELDS
    )
    listed = (value if isinstance(value, list) else [value] for value in fields)
    for part in itertools.chain.from_iterable(listed):
        if isinstance(part, ast.AST) and not _is_plain(part, node):
            yield from _counted(part)


def _is_plain(node: ast.AST, above: ast.AST) -> bool:
    """Tell whether a part says no number that a user sees."""
    if isinstance(node, ast.FunctionDef):
        return node.name in _QUIET
    if isinstance(node, ast.keyword):
        return node.arg in _PLAIN_ARGUMENTS
    if isinstance(above, ast.Module) and isinstance(node, (ast.Assign, ast.AnnAssign)):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom))


def _none(node: Any, line: str) -> Iterator[Edit]:
    del node, line
    return iter(())


def _of_comparison(node: ast.Compare, line: str) -> Iterator[Edit]:
    """Return comparisons that include their end, or leave it out, or are turned."""
    sides = [node.left, *node.comparators]
    for kind, left, right in zip(node.ops, sides, sides[1:], strict=False):
        yield from _between(left, right, _COMPARISONS.get(type(kind)), line)


def _of_operation(node: ast.BinOp, line: str) -> Iterator[Edit]:
    """Return other operations, and the left side alone."""
    yield from _between(node.left, node.right, _OPERATIONS.get(type(node.op)), line)
    if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        yield node, *_span(node), ast.unparse(node.left)


def _of_logic(node: ast.BoolOp, line: str) -> Iterator[Edit]:
    pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in itertools.pairwise(node.values):
        yield from _between(left, right, pair, line)


def _of_sign(node: ast.UnaryOp, line: str) -> Iterator[Edit]:
    """Return an operand without its sign, or without `not`."""
    del line
    if isinstance(node.op, (ast.USub, ast.Not)):
        yield node, *_span(node), f"({ast.unparse(node.operand)})"


def _between(
    left: ast.expr, right: ast.expr, pair: tuple[str, str] | None, line: str
) -> Iterator[Edit]:
    """Return the edit of the operator between two operands on one line."""
    if pair is None or left.end_lineno != right.lineno:
        return
    start, end = left.end_col_offset or 0, right.col_offset
    place = line.find(pair[0], start, end)
    if place >= 0:
        yield right, place, place + len(pair[0]), pair[1]


def _of_constant(node: ast.Constant, line: str) -> Iterator[Edit]:
    """Return a number a little larger, or a bool turned round."""
    del line
    if isinstance(node.value, bool):
        yield node, *_span(node), str(not node.value)
    elif isinstance(node.value, int):
        yield node, *_span(node), str(node.value + 1)
    elif isinstance(node.value, float):
        yield node, *_span(node), f"{node.value * 1.01 + (node.value == 0)!r}"


def _of_call(node: ast.Call, line: str) -> Iterator[Edit]:
    """Return a call of the function that is easily taken for this one."""
    del line
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else ""
    name = function.id if isinstance(function, ast.Name) else name
    if name in _NAMES and function.end_lineno == node.lineno:
        end = function.end_col_offset or 0
        yield node, end - len(name), end, _NAMES[name]


def _of_statement(node: ast.AugAssign | ast.Expr, line: str) -> Iterator[Edit]:
    """Return a statement left out: a change of a value, or a call for its effect."""
    del line
    if isinstance(node, ast.AugAssign) or isinstance(node.value, ast.Call):
        yield node, *_span(node), "pass"


def _of_test(node: ast.AST) -> Iterator[Edit]:
    """Return a condition turned round."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        test = node.test
        if test.lineno == test.end_lineno:
            yield test, *_span(test), f"not ({ast.unparse(test)})"


def _span(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.col_offset, node.end_col_offset or 0


_EDITS: Final[dict[type, Callable[[Any, str], Iterator[Edit]]]] = {
    ast.Compare: _of_comparison,
    ast.BinOp: _of_operation,
    ast.BoolOp: _of_logic,
    ast.UnaryOp: _of_sign,
    ast.Constant: _of_constant,
    ast.Call: _of_call,
    ast.AugAssign: _of_statement,
    ast.Expr: _of_statement,
}
