"""Public deployments of differential privacy, as their registry states them.

>>> nearest = deployments()[0]
>>> nearest.name, nearest.unit, nearest.people
('wikimedia_russian', 'account_month', 6)
"""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple, final


@final
class Deployment(NamedTuple):
    """A publication that says what it promises."""

    name: str
    """Of its title in the words of a language."""
    unit: str
    """Of what one unit of its promise is."""
    people: int
    """People of 100 who are named rightly, at 5 named by mistake; 100 is "over 99"."""


@cache
def deployments() -> tuple[Deployment, ...]:
    """Return all that publish statistics or a table and state a number."""
    source = files("sordino.pages") / "public_deployments.json"
    listed = json.loads(source.read_text("utf-8"))["deployments"]
    return tuple(
        Deployment(each["name"], each["unit"], each["found"]) for each in listed
    )
