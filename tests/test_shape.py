"""The shape of the source: small files, small functions, abstract or final."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(
    path
    for room in ("src", "tests", "benchmarks")
    for path in (ROOT / room).rglob("*.py")
)
SOURCES = [path for path in FILES if path.is_relative_to(ROOT / "src")]
VAGUE = {"utils", "util", "common", "misc", "helpers", "manager", "impl", "tools"}
OPEN = {"SordinoError", "Loss"}  # public roots, named as users say them


def each(paths: list[Path]) -> pytest.MarkDecorator:
    """Ask a test of every file."""
    names = [str(path.relative_to(ROOT)) for path in paths]
    return pytest.mark.parametrize("path", paths, ids=names)


def tree(path: Path) -> ast.Module:
    """Return the syntax of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def named(nodes: list[ast.expr]) -> set[str]:
    """Return the last words of decorators or base classes: `a.b(c)` is b."""
    names = set()
    for node in nodes:
        bare = node.func if isinstance(node, ast.Call) else node
        bare = bare.value if isinstance(bare, ast.Subscript) else bare
        names.add(bare.attr if isinstance(bare, ast.Attribute) else ast.unparse(bare))
    return names


@each(FILES)
def test_file_is_one_idea(path: Path) -> None:
    """A file is named by its idea, says what it is for, and can be read at once."""
    assert path.stem.strip("_") not in VAGUE
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert ast.get_docstring(tree(path))


@each(FILES)
def test_function_fits_on_a_screen(path: Path) -> None:
    """A function has at most 50 lines."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 50, node.name


@each(SOURCES)
def test_class_is_abstract_or_final(path: Path) -> None:
    """A class is either final or only a base; a dataclass is frozen."""
    classes = (node for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef))
    for node in classes:
        decorators, bases = named(node.decorator_list), named(node.bases)
        base = node.name.startswith("Abstract") or "Protocol" in bases
        assert base or "final" in decorators or node.name in OPEN, node.name
        frozen = any("frozen=True" in ast.unparse(d) for d in node.decorator_list)
        assert frozen or "dataclass" not in decorators, node.name
