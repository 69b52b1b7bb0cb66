"""Publish statistics about people with a proof of privacy.

Public is what `__all__` names; each name is imported when it is first used. They are
written once, in `__init__.pyi`, as imports that editors and type checkers follow.

>>> import sordino as sd
>>> sd.Laplace(scale=2).map(1).epsilon
Fraction(1, 2)
"""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}
"""The module of each public name, once one was asked for."""


def __getattr__(name: str) -> Any:
    """Import a public name at its first use: `import sordino` alone costs nothing."""
    if not _HOMES:
        _HOMES.update(_stub_imports())
    if name == "__all__":
        return sorted(_HOMES)
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name not in _HOMES:
        message = f"sordino has no {name}; it has {', '.join(sorted(_HOMES))}"
        raise AttributeError(message)
    home = import_module(_HOMES[name])
    if home.__name__ == __name__:
        return import_module(f"{__name__}.{name}")
    globals()[name] = public = getattr(home, name)
    return public


def _stub_imports() -> dict[str, str]:
    """Read the imports of the stub: from which module each name comes."""
    import ast  # noqa: PLC0415 not needed where no name is

    text = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi")
    nodes = (node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom))
    return {name.name: str(node.module) for node in nodes for name in node.names}


def __dir__() -> list[str]:
    """List the public names."""
    return list(__getattr__("__all__"))
