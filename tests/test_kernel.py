"""What must be right for the promise is marked, bounded and counted.

A file of the kernel says so in the last line of its docstring: `Kernel: mathematics.`
The rings, what each may reach outside of it, and its size stand in tests/kernel.toml.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.batches import for_each
from tests.syntax import SOURCE, syntax
from tests.test_imports import imports, module_of, trees

ROOT: Final = Path(__file__).parent.parent
RINGS: Final[dict[str, Any]] = tomllib.loads((ROOT / "tests/kernel.toml").read_text())
DRAWS: Final = {"release.answer", "release.margins"}
"""Where noise is put on totals."""


@cache
def marked() -> dict[str, set[str]]:
    """Return the modules of each ring, as their docstrings say."""
    rings: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        told = ast.get_docstring(syntax(path)) or ""
        if found := re.search(r"^Kernel: (\w+)\.$", told, re.MULTILINE):
            rings.setdefault(found[1], set()).add(module_of(path))
    return rings


def reached(ring: str) -> set[str]:
    order = list(RINGS)
    inner = set().union(*(marked()[name] for name in order[: order.index(ring) + 1]))
    used = {name for file in marked()[ring] for name in imports(trees()[file])}
    return used - inner - {""}


def lines(modules: set[str]) -> int:
    paths = (path for path in SOURCE.rglob("*.py") if module_of(path) in modules)
    return sum(len(path.read_text().splitlines()) for path in paths)


def test_rings_are_those_that_are_known() -> None:
    """No file calls itself kernel, or stops to, without a line in the table."""
    assert {ring: sorted(files) for ring, files in marked().items()} == {
        ring: sorted(table["files"]) for ring, table in RINGS.items()
    }


@for_each("ring", RINGS)
def test_a_ring_reaches_no_further(ring: str) -> None:
    """What it imports from outside is listed, and the list only shrinks."""
    assert sorted(reached(ring)) == RINGS[ring]["reaches"]


@for_each("ring", RINGS)
def test_the_size_of_a_ring_is_told(ring: str) -> None:
    """CONTRIBUTING says how much must be read, true to a twentieth."""
    told = (ROOT / "CONTRIBUTING.md").read_text()
    (row,) = re.findall(rf"^\| {ring} \|.*\| ([\d,]+) \|$", told, re.MULTILINE)
    assert abs(int(row.replace(",", "")) / lines(marked()[ring]) - 1) < 0.05


def test_two_files_alone_charge_and_draw() -> None:
    both = {
        name
        for name, tree in trees().items()
        if any(one.startswith("ledger.") for one in imports(tree))
        and DRAWS & set(imports(tree))
        and not name.startswith(("ledger", "office"))
    }
    assert both == set(RINGS["charge"]["answer_for_the_order"])
