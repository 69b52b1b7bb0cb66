"""The drawing of imports has no circle, and few imports wait inside functions.

Every import counts, also one inside a function and one for a type checker alone: who
reads a file must be able to read what it needs first. Only the office is seen through a
door (`sordino.numbers.views`), and its types stand beside it.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.syntax import SOURCE, syntax

WAITING: Final = {
    ("office.demo.start", "office.demo.scenes"): "it says first what it needs",
    ("office.cli.publishing", "office.label.views"): "brings Arrow",
    ("office.cli.publishing", "office.label.files"): "brings Arrow",
    ("ledger.places", "ledger.server_store"): "brings psycopg",
    ("office.cli.serving", "office.service.listening"): "brings uvicorn",
    ("office.cli.opening", "office.form.loopback"): "brings uvicorn",
    ("office.cli.opening", "office.service.listening"): "brings uvicorn",
    ("ledger.places", "ledger.http_witness"): "brings ssl",
    (
        "data.tables",
        "data.workbooks",
    ): "a kind of source that most releases do not need",
    ("ledger.answers", "release.explanation"): "brings prices",
    ("ledger.answers", "release.releases"): "brings Arrow",
    ("office.pictures.curves", "office.pictures.figures"): "brings matplotlib",
    ("office.label.views", "office.label.picture"): "brings matplotlib",
    ("office.pictures.plotting", "office.pictures.release"): "brings matplotlib",
    ("office.html.elements", "office.html.engine"): "brings Jinja2",
    ("session.sql", "query.sql.statement"): "brings sqlglot",
}
"""Imports of our own modules inside functions: what they bring is heavy, or rare."""


def module_of(path: Path) -> str:
    """Return the name of a module, without the package's."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@cache
def trees() -> dict[str, ast.Module]:
    return {module_of(path): syntax(path) for path in sorted(SOURCE.rglob("*.py"))}


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of ours that something imports, wherever it says so."""
    for node in read_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "sordino"
        ):
            home = (node.module or "").removeprefix("sordino").removeprefix(".")
            for name in node.names:
                inner = f"{home}.{name.name}".removeprefix(".")
                yield inner if inner in trees() else home


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules each of which leads to all others of its set."""
    leads = {name: reached(graph, name) for name in graph}
    found = {
        frozenset(other for other in leads[name] if name in leads[other])
        for name in graph
        if name in leads[name]
    }
    return [set(circle) for circle in found]


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = graph.get(waiting.pop(), set()) - seen
        seen |= fresh
        waiting += fresh
    return seen


def read_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what must be read: not the types of what the office shows of a value."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        parts = ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            parts = (part for part in parts if not is_of_office(part))
        waiting += parts


def is_of_office(node: ast.AST) -> bool:
    home = node.module if isinstance(node, ast.ImportFrom) else None
    return (home or "").startswith("sordino.office")


@cache
def drawing() -> dict[str, set[str]]:
    return {name: set(imports(tree)) - {name, ""} for name, tree in trees().items()}


def test_no_modules_import_each_other() -> None:
    """A circle is cut by moving what both need into a third module below."""
    assert [sorted(circle) for circle in circles(drawing())] == []


def test_imports_wait_in_functions_for_heavy_packages_alone() -> None:
    waiting = {
        (name, target)
        for name, tree in trees().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for target in imports(function)
    }
    assert waiting == set(WAITING)


def test_a_circle_is_caught() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set[str]()}
    assert circles(graph) == [{"a", "b", "c"}]
    assert circles(graph | {"c": {"d"}}) == []
