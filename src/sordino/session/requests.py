"""Requests as they are handed to a session: checked, at the confidence asked for."""

from collections.abc import Mapping
from typing import Any

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.query.request import Request, with_confidence


def checked_request(query: Any, confidence: Any, name: str = "query") -> Request:
    """Return a request at a confidence, refusing a query that asks nothing yet."""
    if isinstance(query, Request):
        return with_confidence(query, confidence)
    raise InvalidParameter(
        name, query, "asks nothing yet", "End it with .agg(n=sd.count())."
    )


def checked_requests(queries: Any, confidence: Any) -> dict[str, Request]:
    """Return named requests at a confidence, refusing what is none."""
    if not isinstance(queries, Mapping) or not queries:
        raise InvalidParameter(
            "requests", queries, "must name requests", 'Try {"by ward": query}.'
        )
    return {
        _validate.text(requests=name): checked_request(
            one, confidence, f"requests[{name!r}]"
        )
        for name, one in queries.items()
    }
