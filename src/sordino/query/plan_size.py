"""How long a plan may be."""

from itertools import islice
from typing import Final

from sordino.errors import InvalidQuery
from sordino.query.nodes import AbstractNode
from sordino.query.walks import nodes_below

MOST_NODES: Final = 200
"""So many steps every engine takes, called from wherever."""


def refuse_long(node: AbstractNode) -> None:
    """Refuse a plan that an engine might not get through."""
    if len(tuple(islice(nodes_below(node), MOST_NODES + 1))) > MOST_NODES:
        raise InvalidQuery(
            f"the query has more than {MOST_NODES} steps, including those of its views",
            "Combine conditions with &, and columns in one with_columns.",
        )
