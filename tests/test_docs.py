"""What is written, runs; what is public, is written."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import sordino

ROOT = Path(__file__).parent.parent
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "```python" in page.read_text(encoding="utf-8")
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UNCALLED = {
    "Batch",
    "Budget",
    "Entry",
    "Expression",
    "KeySet",
    "Ledger",
    "Limit",
    "Loss",
    "Price",
    "Query",
    "Release",
    "Request",
    "TradeoffCurve",
    "errors",
}
"""Names that users do not call: they are made by others, or abstract."""
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_page_runs(page: Path) -> None:
    """The Python blocks of a page run from top to bottom and print what they show."""
    text = page.read_text(encoding="utf-8")
    session = "\n".join(BLOCK.findall(text))
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    assert test.examples, "write the blocks as sessions, with >>>"
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0


@pytest.mark.parametrize("name", sordino.__all__)
def test_public_name_is_documented(name: str) -> None:
    """A public name exists, says what it is, and stands in the reference."""
    public = getattr(sordino, name)
    assert public.__doc__
    assert public.__doc__.strip().splitlines()[0].endswith((".", ":"))
    assert f"`{name}`" in (ROOT / "docs/reference.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sordino.__all__)
def test_signatures_are_true(name: str) -> None:
    """A signature in the reference names the parameters that there are, in order."""
    reference = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| `{name}` \| `{name}\((.*)\)` \|", reference, re.MULTILINE)
    if found is None:
        assert name in UNCALLED
        return
    written = re.findall(r"(?:^|, )(\*?\w+)", found[1])
    known = inspect.signature(getattr(sordino, name)).parameters.values()
    star = inspect.Parameter.VAR_POSITIONAL
    assert written == ["*" * (one.kind is star) + one.name for one in known]


def test_nothing_else_is_public() -> None:
    """`dir` shows the public names, and a wrong name is told the right ones."""
    assert dir(sordino) == sorted(sordino.__all__)
    with pytest.raises(AttributeError, match="sordino has no Laplacian; it has"):
        sordino.Laplacian  # type: ignore[attr-defined]  # noqa: B018


def test_type_checkers_see_what_is_public() -> None:
    """The imports written for type checkers name exactly the public names."""
    tree = ast.parse((ROOT / "src/sordino/__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = (node for node in block.body if isinstance(node, ast.ImportFrom))
    seen = {alias.name for node in imports for alias in node.names}
    assert seen == set(sordino.__all__)
