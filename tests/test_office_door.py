"""Whatever a room asks of the office by name is there, and is asked for."""

import ast

from sordino.numbers.views import office
from sordino.office.views import VIEWS
from tests.syntax import SOURCE, nodes_of


def names_asked() -> set[str]:
    """Return the names that the rooms below ask for: `office.price_page(...)`."""
    return {
        node.attr
        for path in SOURCE.rglob("*.py")
        if "office" not in path.relative_to(SOURCE).parts
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "office"
    }


def test_the_door_lists_what_is_asked_for_and_nothing_else() -> None:
    """A name that nobody asks for goes; one that is not there would fail a user."""
    assert names_asked() == set(VIEWS)
    assert all(getattr(office, name) is not None for name in VIEWS)


def test_another_name_is_no_attribute() -> None:
    """As of any object, so that a misspelt one is found at once."""
    assert not hasattr(office, "prize_page")
