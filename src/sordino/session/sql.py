"""A text of SQL, and requests as callers give them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, final

from sordino.data import KeySet
from sordino.data.limits import AbstractConstraint
from sordino.errors import InvalidParameter
from sordino.losses.loss import Budget
from sordino.numbers import arguments
from sordino.query.groups import Marginals
from sordino.query.request import (
    Request,
    read_confidence,
    with_confidence,
    with_coverage,
)
from sordino.release.release import Release
from sordino.release.releases import stack
from sordino.session.tables import Catalog

if TYPE_CHECKING:
    from sordino.query.sql.statement import AskedSql


Limits: TypeAlias = AbstractConstraint | Iterable[AbstractConstraint]
SqlName = Literal["duckdb", "postgres", "spark", "bigquery"]
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@final
class SqlOptions(TypedDict, total=False):
    """Options of a text of SQL, as editors complete them."""

    limits: Limits
    bounds: Mapping[str, tuple[Any, Any]]
    keys: KeySet | Mapping[str, Any]
    dialect: SqlName
    confidence: Any
    coverage: bool


@final
@dataclass(frozen=True)
class SqlGiven:
    """Options of a text of SQL, as given."""

    limits: Any
    bounds: Any
    keys: Any
    dialect: Any
    as_needed: bool = False
    """Whether bounds and keys that the text does not need are passed over."""
    coverage: Any = False
    """Whether what limits and bounds cut off is counted."""


def sql_request(
    catalog: Catalog, text: Any, budget: Budget | None, options: SqlGiven
) -> "AskedSql":
    """Request of a text of SQL, with its budget from the text or from arguments."""
    from sordino.query.sql.statement import ask_sql  # noqa: PLC0415 a parser is slow

    tables = (catalog, tuple(catalog.relations), tuple(catalog.publics))
    beside = (options.limits, options.bounds, options.keys, options.as_needed)
    with catalog.explain_refusals():
        question = ask_sql(text, tables, options.dialect, beside)
    if budget is not None and question.budget is not None:
        raise InvalidParameter(
            "budget",
            budget,
            "is also stated in the text",
            "State it once: in the text, or as an argument.",
        )
    request = with_coverage(question.request, options.coverage)
    within = question.budget if budget is None else budget
    if within is None and question.together is not None:
        raise question.together.refusal
    return replace(question, request=request, budget=within)


def sql_answer(
    session: Any, question: "AskedSql", confidence: Any
) -> Request | dict[str, Request] | Release:
    """Return the request of a text, or what a session releases within its budget."""
    request, budget = question.request, question.budget
    if budget is None:
        return request
    if isinstance(request, Request):
        release: Release = session.release(request, budget, confidence=confidence)
        return release
    releases = session.release_all(request, budget, confidence=confidence)
    return stacked_release(question, releases)


def stacked_release(question: "AskedSql", releases: Mapping[str, Release]) -> Release:
    """Return the releases of several groupings as one, and what is done to it."""
    release = stack(releases, question.budget)
    if question.together is None:
        return release
    finished: Release = question.together.apply(release)
    return finished


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
        arguments.text(requests=name): read_request(
            query, confidence, f"requests[{name!r}]"
        )
        for name, query in queries.items()
    }
