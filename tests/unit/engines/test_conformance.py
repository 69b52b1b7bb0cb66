"""Verdicts on engines: DuckDB conforms, and what computes something else is told."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from operator import itemgetter
from typing import Any, Final

import pytest

from sordino.engines.conformance import verdicts as judging
from sordino.engines.conformance.bounds import CASES
from sordino.engines.conformance.operations import FORMS
from sordino.engines.conformance.verdicts import Verdict, verdicts
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.statements import templates
from sordino.expressions import arithmetic
from tests.batches import for_each, sampled
from tests.effort import often


def on_plans() -> Iterator[Verdict]:
    return islice(verdicts(duckdb_engine(threads=1)), len(CASES))


@pytest.mark.slow
def test_duckdb_conforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses no plan; by day some are asked by this way, and others by others."""
    monkeypatch.setattr(judging, "FORMS", FORMS[:: often(12, 1)])
    monkeypatch.setattr(judging, "CASES", CASES[:: often(3, 1)])
    told = list(verdicts(duckdb_engine()))
    assert not [one for one in told if not one.conforms]
    assert {one.outcome for one in told if one.name.startswith("plan")} == {"agrees"}
    kinds = Counter(one.name.partition(":")[0] for one in told)
    assert kinds["operation"] > 300 / often(12, 1)
    assert kinds["multiplicity"] == 7
    assert kinds["frozen"] == 6


def test_every_form_has_words_of_its_own() -> None:
    """By them an engine knows which script it has written for a question."""
    words = Counter(repr((form.types, form.on_columns().words)) for form in FORMS)
    assert not [each for each, count in words.items() if count > 1]


def _nulls_as_zero(self: Any, value: Any, *_: Any, **__: Any) -> Any:
    del self
    return templates.function("count", value.copy())


def _distinct_with_nulls(self: Any, values: Any) -> Any:
    del self
    row = templates.function("row", *(one.copy() for one in values))
    return templates.function(
        "len", templates.function("list_distinct", templates.function("list", row))
    )


def _nothing(self: Any, value: Any) -> Any:
    del self
    return templates.function(
        "nullif", templates.function("first", value.copy()), value.copy()
    )


WRONG: Final[dict[str, Callable[..., Any]]] = {
    "exact_sum": _nulls_as_zero,
    "brief_sum": _nulls_as_zero,
    "distinct": _distinct_with_nulls,
    "first": _nothing,
    "same": lambda _, one, other: one.eq(other),
    "anti_join": DuckDBDialect.semi_join,
    "narrow_total": lambda _, total: templates.as_type_or_null(total, "INTEGER"),
}


@pytest.mark.slow
@sampled(1, 1)
@for_each("form", WRONG)
def test_a_wrong_form_is_told(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of forms that decide about privacy: some case differs or fails."""
    monkeypatch.setattr(DuckDBDialect, form, WRONG[form])
    assert not all(one.conforms for one in on_plans())


@pytest.mark.slow
def test_a_wrong_operation_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {**DuckDBDialect.entries, arithmetic.ADD: itemgetter(0)}
    monkeypatch.setattr(DuckDBDialect, "entries", entries)
    wrong = next(one for one in on_plans() if one.outcome == "differs")
    assert "is meant" in wrong.text
