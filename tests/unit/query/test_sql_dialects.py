# ruff: noqa: S608 statements are what is asked here
"""Dialects of SQL, and the clause of BigQuery: the same words, other questions."""

from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidSQL
from tests.clinics import clinic

__all__ = ["clinic"]


def asked(clinic: sd.Session, text: str, **given: Any) -> str:
    return repr(clinic.sql(text, **given))


OPTIONS: Final = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({}) ward, {} AS n "
    "FROM visits GROUP BY ward"
)


def test_options_in_the_style_of_bigquery() -> None:
    """Budget, groups and rows of a person are said in the text, and paid for."""
    visits = {"patient": list(range(400)), "ward": ["A"] * 400}
    clinic = sd.Session(
        tables={
            "visits": sd.PrivateTable(visits, protects=sd.AddRowsWithID("patient"))
        },
        budget=sd.ApproxDP(3, "1e-3"),
        engine="memory",
    )
    said = "epsilon = 1, delta = 1e-6, max_groups_contributed = 2"
    said += ", privacy_unit_column = patient"
    count = "COUNT(*, contribution_bounds_per_group => (0, 3))"
    release = clinic.sql(OPTIONS.format(said, count), dialect="bigquery")
    assert isinstance(release, sd.Release)
    assert clinic.spent == sd.ApproxDP(1, "1e-6")
    assert abs(release.table["n"][0].as_py() - 400) < 200  # or once in 1e14
    text = OPTIONS.format("max_groups_contributed = 2", count)
    asked_ = clinic.sql(text, dialect="bigquery")
    wanted = (
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 3))
        .group_by("ward")
        .agg(n=sd.count())
    )
    assert isinstance(asked_, sd.Request)
    assert asked_.words(clinic._desk.catalog) == wanted.words(clinic._desk.catalog)


@pytest.mark.parametrize(
    ("options", "answer", "why"),
    [
        ("epsilon = 1", "COUNT(*)", "said together"),
        ("epsilon = x, delta = 0", "COUNT(*)", "must be a number"),
        ("max_groups_contributed = NULL", "COUNT(*)", "has no bound"),
        ("privacy_unit_column = ward", "COUNT(*)", "cannot choose"),
        ("min_privacy_units_per_group = 50", "COUNT(*)", "exact count"),
        ("kappa = 1", "COUNT(*)", "no option kappa"),
        ("epsilon", "COUNT(*)", "no option"),
        ("", "COUNT(*, contribution_bounds_per_group => (1, 9))", "each person"),
        ("", "SUM(days, contribution_bounds_per_row => (9, 0))", "wrong way round"),
    ],
)
def test_options_that_mean_something_else_are_refused(
    clinic: sd.Session, options: str, answer: str, why: str
) -> None:
    with pytest.raises(InvalidSQL, match=why):
        clinic.sql(OPTIONS.format(options, answer), dialect="bigquery")


def test_a_budget_is_said_once(clinic: sd.Session) -> None:
    text = OPTIONS.format("epsilon = 1, delta = 1e-6", "COUNT(*)")
    with pytest.raises(InvalidParameter, match="State it once"):
        clinic.sql(text, sd.ApproxDP(1, "1e-6"), dialect="bigquery")


DIALECTS: Final = [
    ("postgres", "days / 2 = 1", "col('days').quotient(2) == 1"),
    ("duckdb", "days / 2 = 1", "(col('days') / 2) == 1.0"),
    ("spark", "days / 2 = 1", "(col('days') / 2) == 1.0"),
    ("bigquery", "DIV(days, 2) = 1", "col('days').quotient(2) == 1"),
    ("spark", 'ward = "A"', "col('ward') == 'A'"),
    ("bigquery", "`ward` = 'A'", "col('ward') == 'A'"),
    ("bigquery", "LENGTH(ward) = 1", "col('ward').length() == 1"),
    (
        "bigquery",
        "DATE_TRUNC(day, MONTH) = day",
        "col('day').truncate(unit='month') == col('day')",
    ),
    (
        "bigquery",
        "DATE_ADD(day, INTERVAL 3 DAY) = day",
        "col('day').add_days(3) == col('day')",
    ),
    (
        "bigquery",
        "DATE_DIFF(day, DATE '2026-01-01', DAY) = 3",
        "datetime.date(2026, 1, 1)",
    ),
    (
        "bigquery",
        "DATE_TRUNC(day, ISOWEEK) = day",
        "col('day').truncate(unit='week') == col('day')",
    ),
    ("duckdb", "days / NULLIF(days, 0) > 1", "when(col('days') == 0).then(None)"),
    ("postgres", "day - DATE '2026-01-01' = 3", "days_between(col('day')) == 3"),
    ("postgres", "seen::date = day", "col('seen').cast(to='date') == col('day')"),
    (
        "postgres",
        "LENGTH(TRIM(ward)) = 1",
        "col('ward').strip(letters=' ').length() == 1",
    ),
    ("duckdb", "days / patient > 1", "when(col('patient') == 0).then(when("),
    ("postgres", "days / patient > 1", "col('days').quotient(col('patient')) > 1"),
    ("duckdb", "days >= 18.5", "col('days') >= 19"),
    ("bigquery", "days >= 18.5", "col('days').cast(to='f64') >= 18.5"),
    ("spark", "EXTRACT(DOW FROM day) = 1", "((col('day').weekday() + 1) % 7) + 1"),
    ("duckdb", "DAYOFWEEK(day) = 1", "((col('day').weekday() + 1) % 7) == 1"),
    ("spark", "CAST(cost AS BIGINT) = 1", "(col('cost').cast(to='i64') == 1)"),
    (
        "bigquery",
        "CAST(cost AS INT64) = 1",
        "col('cost').round(digits=0).cast(to='i64')",
    ),
    ("spark", "CONCAT(ward, 'x') = 'Ax'", "lit('').concat(col('ward'), 'x')"),
    (
        "duckdb",
        "CONCAT(ward, 'x') = 'Ax'",
        "lit('').concat(col('ward').fill_null(''), 'x')",
    ),
    (
        "bigquery",
        "SAFE_CAST(days AS FLOAT64) > 1.5",
        "col('days').cast(to='f64') > 1.5",
    ),
]


def test_filters_of_one_table_are_joined(clinic: sd.Session) -> None:
    """Where no row may be met twice they are one filter; else they are refused."""
    both = "(SELECT * FROM visits WHERE {} UNION ALL SELECT * FROM visits WHERE {}) q"
    text = f"SELECT COUNT(*) AS n FROM {both}"
    apart = asked(clinic, text.format("ward = 'A' AND ill", "ward = 'B'"))
    assert apart.count(".filter(") == 1
    for conditions in (("ward = 'A'", "ward = 'A'"), ("days > 1", "ill")):
        with pytest.raises(InvalidSQL, match="may meet several of these conditions"):
            asked(clinic, text.format(*conditions))


@pytest.mark.parametrize(("dialect", "text", "python"), DIALECTS)
def test_a_text_means_what_its_dialect_says(
    clinic: sd.Session, dialect: Any, text: str, python: str
) -> None:
    """The same words are different questions in different dialects."""
    full = f"SELECT COUNT(*) AS n FROM visits WHERE {text}"
    assert python in asked(clinic, full, dialect=dialect)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("bigquery", "GREATEST(days, 1) = 1"),
        ("postgres", "EXTRACT(SECOND FROM seen) = 1"),
        ("spark", "day - DATE '2026-01-01' = 3"),
        ("postgres", r"ward LIKE 'a\%'"),
        ("bigquery", "DATE_TRUNC(day, WEEK) = day"),
        ("postgres", "1_000 = 1"),
        ("postgres", "ROUND(cost) = 1"),
        ("postgres", "CONCAT(ill, 'x') = 'tx'"),
        ("postgres", "cost % 2 = 1 AND day + INTERVAL '1 month 2 days' = day"),
        ("postgres", "ward ~ 'A'"),
        ("spark", "ward RLIKE 'A'"),
        ("spark", "LEFT(ward, -1) = 'A'"),
        ("bigquery", "EXTRACT(WEEK FROM day) = 1"),
        ("spark", "SUBSTRING(ward, -1) = 'A'"),
    ],
)
def test_what_a_dialect_says_otherwise_is_refused(
    clinic: sd.Session, dialect: Any, text: str
) -> None:
    with pytest.raises(InvalidSQL):
        clinic.sql(f"SELECT COUNT(*) AS n FROM visits WHERE {text}", dialect=dialect)
