"""Several groupings in SQL, keys that are known, and people who are clamped first."""

from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidSQL
from tests.clinics import clinic

__all__ = ["clinic"]


def test_several_groupings_are_several_requests(clinic: sd.Session) -> None:
    """Each is what the builder asks by `group_by_sets`, word for word."""
    limits = [sd.MaxRowsPerID(1)]
    text = "SELECT ward, ill, COUNT(*) AS n FROM visits GROUP BY CUBE(ward, ill)"
    asked = clinic.sql(text, limits=limits)
    rows = sd.table("visits").enforce(*limits)
    wanted = rows.group_by_sets(("ward", "ill"), "ward", "ill", ()).agg(n=sd.count())
    catalog = clinic._desk.catalog
    assert {name: one.words(catalog) for name, one in asked.items()} == {
        name: one.words(catalog) for name, one in wanted.items()
    }
    known: dict[str, Any] = {"ward": ["A", "B"], "ill": [True]}
    given = clinic.sql(text, limits=limits, keys=known)
    keys = sd.KeySet.from_dict(known)
    both = rows.group_by_sets(keys, keys["ward"], keys["ill"], ()).agg(n=sd.count())
    assert {name: one.words(catalog) for name, one in given.items()} == {
        name: one.words(catalog) for name, one in both.items()
    }
    with pytest.raises(sd.errors.InvalidParameter, match="day is none"):
        clinic.sql(text, limits=limits, keys={"day": ["A"]})


TOGETHER: Final = {
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP(ward) ORDER BY 1": "ORDER BY is",
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP(ward) LIMIT 3": "LIMIT is",
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP(ward) HAVING COUNT(*) > 3": (
        "HAVING is"
    ),
    "SELECT UPPER(ward) AS u, COUNT(*) FROM visits GROUP BY ROLLUP(ward)": (
        "a column that a grouping leaves out"
    ),
    "SELECT GROUPING(ward), COUNT(*) FROM visits GROUP BY ROLLUP(ward)": "GROUPING is",
}
"""What is of all groupings together, which one release has."""


@pytest.mark.parametrize("text", TOGETHER)
def test_what_is_of_all_groupings_needs_a_release(
    clinic: sd.Session, text: str
) -> None:
    """Requests of one grouping each cannot hold it: it is refused, and not lost."""
    with pytest.raises(InvalidSQL, match=TOGETHER[text]):
        clinic.sql(text)


def test_an_order_that_cannot_be_is_refused_before_a_charge(
    clinic: sd.Session,
) -> None:
    left = clinic.remaining
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP(ward) LIMIT -1"
    with pytest.raises(sd.errors.SordinoError):
        clinic.sql(text, sd.ApproxDP(1, "1e-6"), limits=sd.MaxRowsPerID(1))
    assert clinic.remaining == left


def test_some_keys_are_known_and_others_are_not(clinic: sd.Session) -> None:
    known = {"ward": ["A", "B"]}
    request = clinic.sql(
        "SELECT ward, ill, COUNT(*) AS n FROM visits GROUP BY ward, ill", keys=known
    )
    keys = sd.KeySet.from_dict(known)
    wanted = sd.table("visits").group_by(keys, "ill").agg(n=sd.count())
    catalog = clinic._desk.catalog
    assert request.words(catalog) == wanted.words(catalog)
    sets = clinic.sql(
        "SELECT ward, ill, COUNT(*) AS n FROM visits GROUP BY CUBE(ward, ill)",
        keys=known,
    )
    assert list(sets) == ["ward, ill", "ward", "ill", "all"]
    assert sets["ward, ill"].words(catalog) == wanted.words(catalog)


HEAD: Final = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=2) "
PER_GROUP: Final = "contribution_bounds_per_group"


def test_each_person_is_clamped_in_a_group() -> None:
    """As BigQuery has it: a person's count, total and mean of a group, held, then all.

    The numbers are those of a table small enough to count.
    """
    rows: dict[str, list[Any]] = {
        "person": [1, 1, 1, 2, 2, 3],
        "ward": ["a", "a", "b", "a", "a", "b"],
        "days": [5, 9, 2, 1, 4, 30],
    }
    many: dict[str, Any] = {name: list(column) * 40 for name, column in rows.items()}
    many["person"] = [who + 10 * (at // 6) for at, who in enumerate(many["person"])]
    session = sd.Session(
        {"visits": sd.PrivateTable(many, protects=sd.AddRowsWithID("person"))},
        budget=sd.ApproxDP(10**12, "1e-3"),
        engine="memory",
    )
    text = f"""{HEAD} ward,
        COUNT(*, {PER_GROUP} => (0, 1)) AS n,
        SUM(days, {PER_GROUP} => (0, 10)) AS total,
        AVG(days, {PER_GROUP} => (0, 8)) AS mean,
        COUNT(DISTINCT person) AS people
        FROM visits GROUP BY ward ORDER BY ward"""
    release = session.sql(text, sd.ApproxDP(10**9, "1e-4"), dialect="bigquery")
    assert [
        [round(cell, 3) for cell in row.values() if not isinstance(cell, str)]
        for row in release.table.to_pylist()
    ] == [[80, 600, 4.75, 80], [80, 480, 5.0, 80]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"SUM(days, {PER_GROUP} => (0, 9)), COUNT(*)", "COUNT has no contribution"),
        (f"SUM(days, {PER_GROUP} => (9, 0))", "wrong way round"),
        (f"SUM(days, {PER_GROUP} => (0, days))", "would be private"),
        (f"SUM(days, {PER_GROUP} => 9)", "pair of numbers"),
        (f"VAR_POP(days, {PER_GROUP} => (0, 9))", "stands beside"),
        (f"SUM(days, {PER_GROUP} => (0, 9)), AVG(days, x => (0, 9))", "x beside"),
        (f"COUNT(*, {PER_GROUP} => (1, 3))", "clamp each person's count"),
        (f"SUM(cost, {PER_GROUP} => (0, 9))", "needs bounds"),
    ],
)
def test_bounds_that_are_not_understood_are_refused(
    clinic: sd.Session, text: str, why: str
) -> None:
    asked = f"{HEAD} ward, {text} FROM visits GROUP BY ward"
    with pytest.raises(InvalidSQL, match=why):
        clinic.sql(asked, dialect="bigquery")


def test_several_groupings_clamp_nobody(clinic: sd.Session) -> None:
    head = HEAD.replace("OPTIONS(max_groups_contributed=2)", "")
    text = f"{head} SUM(days, {PER_GROUP} => (0, 9)) FROM visits GROUP BY ROLLUP(ward)"
    with pytest.raises(sd.errors.InvalidParameter, match="here are several"):
        clinic.sql(text, dialect="bigquery")
