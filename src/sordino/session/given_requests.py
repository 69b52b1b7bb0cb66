"""Requests as callers give them to a session: one, or several by name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.query.marginals import Marginals
from sordino.query.request import Request, read_confidence, with_confidence


def read_request(query: Any, confidence: Any, name: str = "query") -> Request:
    """Return a request at a confidence, refusing a query without an aggregation."""
    if isinstance(query, Request):
        return with_confidence(query, confidence)
    if isinstance(query, Marginals):
        raise InvalidParameter(
            name,
            query,
            "asks for many tables, which have a price and a release of their own",
            "Use session.price(query, budget) and session.release(query, budget).",
        )
    raise InvalidParameter(
        name, query, "has no aggregation yet", "End it with .agg(n=sd.count())."
    )


def read_marginals(query: Any, confidence: Any) -> Marginals | None:
    """Return a request for margins at a confidence, None where it is another."""
    if not isinstance(query, Marginals):
        return None
    return replace(query, confidence=read_confidence(confidence))


def read_requests(queries: Any, confidence: Any) -> dict[str, Request]:
    """Return named requests at a confidence, refusing anything else."""
    if not isinstance(queries, Mapping) or not queries:
        raise InvalidParameter(
            "requests",
            queries,
            "must be a dict from names to queries",
            'Try {"by ward": query}.',
        )
    return {
        _validate.text(requests=name): read_request(
            query, confidence, f"requests[{name!r}]"
        )
        for name, query in queries.items()
    }
