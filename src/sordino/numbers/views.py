"""The door by which a value finds its page, its picture or its file in the office.

No room imports the office: it asks here by name, and `office/views.py` says where the
name is found. So nobody who only releases loads a page.
"""

from importlib import import_module
from typing import Any, Final, final


@final
class _Office:
    """What the office makes of a value, loaded when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        views = import_module("sordino.office.views").VIEWS
        if name not in views:
            raise AttributeError(name)
        return getattr(import_module(f"sordino.office.{views[name]}"), name)


office: Final = _Office()
