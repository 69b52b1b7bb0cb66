"""A text of SQL, and requests as callers give them."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypedDict,
    final,
)

from sordino.data import KeySet
from sordino.data.limits import AbstractConstraint
from sordino.errors import InvalidParameter, InvalidQuery
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


@final
class RemedyWords(NamedTuple):
    """How questions are put somewhere, and so how what one lacks is said there."""

    limit: Callable[[str, Sequence[str], int], str]
    """A limit by its name, its columns and its number; "" where it cannot be said."""
    together: str
    """What stands between two limits."""
    remedy: str
    """A sentence around limits."""
    delta: str

    def words(self, needs: Sequence[str]) -> str:
        """What would make a question sound."""
        what, *columns = needs
        if what == "delta":
            return self.delta
        groups = self.limit("MaxGroupsPerID", columns, 2) if columns else ""
        if groups and what == "groups":
            return self.remedy.format(groups)
        rows = self.remedy.format(self.limit("MaxRowsPerID", (), 5))
        if not groups:
            return rows
        within = self.limit("MaxRowsPerGroupPerID", columns, 3)
        return f"{self.remedy.format(self.together.join((groups, within)))} Or: {rows}"


def python_limit(name: str, columns: Sequence[str], most: int) -> str:
    """Limit as Python writes it.

    >>> python_limit("MaxGroupsPerID", ["ward"], 2)
    "sd.MaxGroupsPerID('ward', 2)"
    """
    by = [repr(columns[0] if len(columns) == 1 else list(columns))] if columns else []
    return f"sd.{name}({', '.join([*by, str(most)])})"


IN_PYTHON: Final = RemedyWords(
    python_limit,
    ", ",
    "Give limits=[{}] beside the text.",
    'Give a budget with one, sd.ApproxDP(1, "1e-6"), or name the groups: '
    'keys={"ward": ["A", "B"]}.',
)
"""A text of SQL in a call of Python."""


@contextmanager
def word_needs(door: RemedyWords) -> Generator[None]:
    """Say what a question lacks in the words of a door."""
    try:
        yield
    except InvalidQuery as error:
        if not error.needs:
            raise
        words = door.words(error.needs)
        refusal = InvalidQuery(error.problem, words, needs=error.needs)
    else:
        return
    raise refusal


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
    with word_needs(IN_PYTHON):
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
