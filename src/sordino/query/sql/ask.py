"""From a text to what is asked, and within what, if it says so."""

from dataclasses import dataclass
from typing import Any, final

from sordino.losses.base import Budget
from sordino.query.relation import AbstractCatalog
from sordino.query.request import Request
from sordino.query.sql.from_clause import Tables
from sordino.query.sql.input_dialects import input_dialect
from sordino.query.sql.options import split_options
from sordino.query.sql.reading import read_statement
from sordino.query.sql.several_groupings import Together
from sordino.query.sql.statement import Given, request_of
from sordino.query.sql.tokens import check_statement, split_words


@final
@dataclass(frozen=True)
class AskedSql:
    """A request, or one for each grouping, and the budget that its text states."""

    request: Request | dict[str, Request]
    budget: Budget | None
    together: Together | None
    """What is done to one release of several groupings."""


def ask_sql(
    text: Any,
    known: tuple[AbstractCatalog, tuple[str, ...], tuple[str, ...]],
    dialect: Any,
    given: tuple[Any, Any, Any, bool],
) -> AskedSql:
    """Return what a text asks of private and public tables; no private row is read."""
    spoken, beside = input_dialect(dialect), Given.of(*given[:3], as_needed=given[3])
    statement = check_statement(text)
    options, words = split_options(statement, split_words(statement, spoken))
    reading = read_statement(statement, words, spoken)
    question = request_of(reading, Tables(*known, beside.bounds), beside, options)
    reading.refuse_rest()
    return AskedSql(question.request, options.budget, question.together)
