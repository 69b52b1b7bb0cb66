"""The syntax of our files: read once, and by nobody changed."""

import ast
from functools import cache
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parent.parent / "src" / "sordino"


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(syntax(path)))
