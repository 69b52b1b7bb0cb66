"""Every part that the library ships, found whether or not anything imports it."""

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any


def shipped(base: type[Any], room: ModuleType) -> list[type[Any]]:
    """Return the classes of a room beneath a base that can be made, by name."""
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        importlib.import_module(module.name)
    ours = (kind for kind in _concrete(base) if kind.__module__.startswith("sordino."))
    return sorted(ours, key=lambda kind: kind.__name__)


def _concrete(kind: type[Any]) -> set[type[Any]]:
    beneath = {one for part in kind.__subclasses__() for one in _concrete(part)}
    return beneath if inspect.isabstract(kind) else beneath | {kind}
