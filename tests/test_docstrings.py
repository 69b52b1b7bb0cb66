"""A docstring stands where it tells something that name and types do not.

Every module, class and public function has one. A method that overrides a documented
one needs none: readers and editors find that of its base. Private functions need none.
"""

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from typing import Final

from tests.syntax import SOURCE, nodes_of

RIDDLES: Final = (
    "Return what ",
    "Return whether it ",
    "Tell whether it ",
    "Return nothing",
    "Return False.",
    "Return True.",
)
"""How a docstring begins that tells nothing."""

MARKS: Final = ("noqa", "type: ignore", "pragma", "fmt:")
"""How comments begin that are for tools."""


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    named: dict[str, list[ast.ClassDef]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                named.setdefault(node.name, []).append(node)
    return named


def bases(node: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """Yield the classes of ours that a class inherits from."""
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        for other in classes().get(name, []):
            if other is not node:
                yield other
                yield from bases(other)


def silent_methods(node: ast.ClassDef) -> list[str]:
    """Return the public methods of a class that nothing documents."""
    silent = [
        part.name
        for part in node.body
        if isinstance(part, ast.FunctionDef)
        and not part.name.startswith("_")
        and not ast.get_docstring(part)
        and not any(
            ast.unparse(mark).endswith(("overload", ".setter"))
            for mark in part.decorator_list
        )
    ]
    if not silent:
        return []
    inherited = {
        part.name if isinstance(part, ast.FunctionDef) else ast.unparse(part.target)
        for base in bases(node)
        for part in base.body
        if (isinstance(part, ast.FunctionDef) and ast.get_docstring(part))
        or isinstance(part, ast.AnnAssign)
    }
    return [name for name in silent if name not in inherited]


def test_public_methods_are_documented_once() -> None:
    silent = {
        name: methods
        for name, nodes in classes().items()
        if not name.startswith("_")
        for node in nodes
        if (methods := silent_methods(node))
    }
    assert silent == {}


def test_a_method_that_nothing_documents_is_seen() -> None:
    """An override of nothing has to say what it does."""
    code = "class New(AbstractLoss):\n    def explain_new(self): return 1"
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.ClassDef)
    assert silent_methods(node) == ["explain_new"]


def test_no_docstring_is_a_riddle() -> None:
    """A docstring has a subject with content."""
    riddles = [
        f"{path.relative_to(SOURCE)}:{getattr(node, 'name', '')}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (text := ast.get_docstring(node) or "").startswith(RIDDLES)
    ]
    assert riddles == []


def reasons(text: str) -> int:
    """Return how many comments of a file are for readers, and not for tools."""
    return sum(
        token.type == tokenize.COMMENT
        and not token.string.lstrip("# ").startswith(MARKS)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )


def test_reasons_stand_where_the_danger_is() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    lines = sum(text.count("\n") for text in texts)
    assert sum(map(reasons, texts)) >= lines / 100


def test_marks_for_tools_are_no_reasons() -> None:
    assert reasons("x = 1  # noqa: E501\n# never below 1: it divides\n") == 1
