"""The shape of the source: small files, small functions, abstract or final."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
VAGUE = {"utils", "util", "common", "misc", "helpers", "manager", "impl", "tools"}
OPEN = {"SordinoError", "Loss"}  # public roots, named as users say them


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax of every file, by its path from the root."""
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for room in ("src", "tests", "benchmarks")
        for path in sorted((ROOT / room).rglob("*.py"))
    }


def named(nodes: list[ast.expr]) -> set[str]:
    """Return the last words of decorators or base classes: `a.b(c)` is b."""
    names = set()
    for node in nodes:
        bare = node.func if isinstance(node, ast.Call) else node
        bare = bare.value if isinstance(bare, ast.Subscript) else bare
        names.add(bare.attr if isinstance(bare, ast.Attribute) else ast.unparse(bare))
    return names


def test_a_file_is_one_idea() -> None:
    """It is named by its idea, says what it is for, and can be read at once."""
    assert [path for path in trees() if Path(path).stem.strip("_") in VAGUE] == []
    silent = [path for path, tree in trees().items() if not ast.get_docstring(tree)]
    assert silent == []
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in trees()}
    assert [(path, lines) for path, lines in lengths.items() if lines > 400] == []


def test_a_function_fits_on_a_screen() -> None:
    """A function has at most 50 lines."""
    long = [
        (path, node.name)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and (node.end_lineno or 0) - node.lineno >= 50
    ]
    assert long == []


def test_a_class_is_abstract_or_final() -> None:
    """A class is either final or only a base; a dataclass is frozen."""
    loose = [
        (path, node.name)
        for path, tree in trees().items()
        if path.startswith("src")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not is_settled(node)
    ]
    assert loose == []


def is_settled(node: ast.ClassDef) -> bool:
    """Tell whether a class is final or a base, and frozen if it holds data."""
    decorators, bases = named(node.decorator_list), named(node.bases)
    base = node.name.startswith("Abstract") or "Protocol" in bases
    frozen = any("frozen=True" in ast.unparse(one) for one in node.decorator_list)
    return (base or "final" in decorators or node.name in OPEN) and (
        frozen or "dataclass" not in decorators
    )


def test_a_loose_class_is_caught() -> None:
    """One that is neither final nor a base, and one whose data can be changed."""
    loose = ("class A: pass", "@final\n@dataclass\nclass A: pass")
    settled = (
        "class AbstractA: pass",
        "@final\n@dataclass(frozen=True)\nclass A: pass",
    )
    for text, right in (
        *((one, False) for one in loose),
        *((o, True) for o in settled),
    ):
        (node,) = ast.parse(text).body
        assert isinstance(node, ast.ClassDef)
        assert is_settled(node) == right
