# ruff: noqa: ISC004 a text of two lines is one text
"""Published queries of other tools, in SQL and in Python: one request, one price.

They are those of Tumult's tutorials (T), OpenDP's (O), Google's codelabs (G),
PipelineDP (P), SmartNoise (N) and Wikimedia (M) that ask one table or join public ones.
What needs a grouping by person (T23, G4, O13) is refused in SQL with that reason.
"""

import datetime as dt
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidSQL

_WORDS: Final = pa.array(["a"], pa.string())
_NUMBERS: Final = pa.array([1], pa.int64())


@pytest.fixture(scope="module")
def library() -> sd.Session:
    """Return a session on members, borrowings, visits to a restaurant, and views."""
    members = pa.table({
        "id": _NUMBERS,
        "age": _NUMBERS,
        "education_level": _WORDS,
        "gender": _WORDS,
        "zip_code": _WORDS,
        "books_borrowed": _NUMBERS,
        "date_joined": [dt.date(2026, 1, 31)],
        "income": [1.5],
        "married": [True],
        "hours": _NUMBERS,
        "name": _WORDS,
    })
    restaurant = pa.table({
        "visitor": _NUMBERS,
        "entered": pa.array([dt.datetime(2026, 1, 31)], pa.timestamp("us")),  # noqa: DTZ001
        "minutes": [1.5],
        "spent": [1.5],
        "day": _NUMBERS,
    })
    views = pa.table({"device": _NUMBERS, "country": _WORDS, "page": _WORDS})
    person, row = sd.AddRowsWithID, sd.AddOneRow()
    return sd.Session(
        tables={
            "members": sd.PrivateTable(members, protects=row),
            "restaurant": sd.PrivateTable(restaurant, protects=person("visitor")),
            "views": sd.PrivateTable(views, protects=person("device")),
            "zip_codes": sd.PublicTable({"zip_code": ["a"], "city": ["b"]}),
        },
        budget=sd.ApproxDP(10, "1e-3"),
        engine="memory",
    )


MEMBERS: Final = sd.table("members")
RESTAURANT: Final = sd.table("restaurant")
ROWS: Final = (sd.MaxRowsPerID(3),)
LEVELS: Final = {"education_level": ["high-school", "masters-degree"]}

STORIES: Final[dict[str, tuple[str, dict[str, Any], Any]]] = {
    "T1": (
        "SELECT COUNT(*) AS n FROM members",
        {},
        MEMBERS.agg(n=sd.count()),
    ),
    "T2": (
        "SELECT COUNT(*) AS n FROM members WHERE age < 18",
        {},
        MEMBERS.filter(sd.col("age") < 18).agg(n=sd.count()),
    ),
    "T3": (
        "SELECT COUNT(*) AS n FROM members WHERE education_level"
        " IN ('masters-degree', 'doctorate-professional')",
        {},
        MEMBERS.filter(
            sd.col("education_level").is_in([
                "masters-degree",
                "doctorate-professional",
            ])
        ).agg(n=sd.count()),
    ),
    "T7": (
        "SELECT AVG(CLAMP(age, 0, 120)) AS age FROM members",
        {},
        MEMBERS.agg(age=sd.mean("age", 0, 120)),
    ),
    "T8": (
        "SELECT SUM(books_borrowed) AS books FROM members",
        {"bounds": {"books_borrowed": (0, 200)}},
        MEMBERS.agg(books=sd.sum("books_borrowed", 0, 200)),
    ),
    "T9": (
        "SELECT education_level, AVG(CLAMP(age, 0, 120)) AS age FROM members"
        " GROUP BY education_level",
        {"keys": LEVELS},
        MEMBERS.group_by(sd.KeySet.from_dict(LEVELS)).agg(age=sd.mean("age", 0, 120)),
    ),
    "T10": (
        "SELECT age, COUNT(*) AS n FROM members WHERE age BETWEEN 5 AND 17"
        " GROUP BY age",
        {"keys": {"age": range(5, 18)}},
        MEMBERS
        .filter((sd.col("age") >= 5) & (sd.col("age") <= 17))
        .group_by(sd.KeySet.from_dict({"age": range(5, 18)}))
        .agg(n=sd.count()),
    ),
    "T13": (
        "SELECT DISTINCT name FROM members",
        {},
        MEMBERS.group_by("name").keys(),
    ),
    "T14": (
        "SELECT COUNT(DISTINCT name) AS names FROM members",
        {},
        MEMBERS.agg(names=sd.count_distinct("name")),
    ),
    "T15": (
        "SELECT AVG(CLAMP(age - (2026 - YEAR(date_joined)), 0, 120)) AS age"
        " FROM members",
        {},
        MEMBERS.agg(
            age=sd.mean(
                sd.col("age") - (2026 - sd.col("date_joined").year()),
                0,
                120,
                nulls="drop",
            )
        ),
    ),
    "T17": (
        "SELECT age // 10 AS decade, gender, COUNT(*) AS n FROM members GROUP BY 1, 2",
        {},
        MEMBERS
        .with_columns(decade=sd.col("age").quotient(10))
        .group_by("decade", "gender")
        .agg(n=sd.count()),
    ),
    "T19": (
        "SELECT city, COUNT(*) AS n FROM members JOIN zip_codes USING (zip_code)"
        " GROUP BY city",
        {},
        MEMBERS
        .join_public("zip_codes", on="zip_code")
        .group_by("city")
        .agg(n=sd.count()),
    ),
    "O3": (
        "SELECT SUM(CLAMP(COALESCE(hours, 35), 0, 80)) AS hours FROM members"
        " WHERE hours <> 99",
        {},
        MEMBERS.filter(sd.col("hours") != 99).agg(
            hours=sd.sum(sd.col("hours").coalesce(35), 0, 80)
        ),
    ),
    "O6": (
        "SELECT MEDIAN(CLAMP(hours, 0, 80)) AS m FROM members",
        {},
        MEMBERS.agg(m=sd.median("hours", 0, 80)),
    ),
    "O9": (
        "SELECT gender, married, COUNT(*) AS n FROM members GROUP BY ALL",
        {"keys": {"gender": ["f", "m"], "married": [True, False]}},
        MEMBERS.group_by(
            sd.KeySet.from_dict({"gender": ["f", "m"], "married": [True, False]})
        ).agg(n=sd.count()),
    ),
    "G1": (
        "SELECT HOUR(entered) AS hour, COUNT(DISTINCT visitor) AS n FROM restaurant"
        " GROUP BY hour",
        {"keys": {"hour": range(9, 21)}, "limits": [sd.MaxGroupsPerID("hour", 2)]},
        RESTAURANT
        .with_columns(hour=sd.col("entered").hour())
        .enforce(sd.MaxGroupsPerID("hour", 2))
        .group_by(sd.KeySet.from_dict({"hour": range(9, 21)}))
        .agg(n=sd.count_ids()),
    ),
    "G2": (
        "SELECT COUNT(*) AS n, AVG(CLAMP(minutes, 0, 60)) AS m,"
        " SUM(CLAMP(spent, 0, 40)) AS s FROM restaurant",
        {"limits": ROWS},
        RESTAURANT.enforce(*ROWS).agg(
            n=sd.count(), m=sd.mean("minutes", 0, 60), s=sd.sum("spent", 0, 40)
        ),
    ),
    "G3": (
        "SELECT day, COUNT(DISTINCT visitor) AS n FROM restaurant GROUP BY day",
        {"limits": [sd.MaxGroupsPerID("day", 3)]},
        RESTAURANT
        .enforce(sd.MaxGroupsPerID("day", 3))
        .group_by("day")
        .agg(n=sd.count_ids()),
    ),
    "P4": (
        "SELECT day, AVG(CASE WHEN spent > 20 THEN 1 ELSE 0 END) AS rate"
        " FROM restaurant GROUP BY day",
        {"limits": ROWS, "keys": {"day": range(1, 8)}},
        RESTAURANT
        .enforce(*ROWS)
        .group_by(sd.KeySet.from_dict({"day": range(1, 8)}))
        .agg(rate=sd.mean(sd.when(sd.col("spent") > 20.0).then(1).otherwise(0), 0, 1)),
    ),
    "N1": (
        "SELECT married, COUNT(*) AS n, AVG(CLAMP(income, 0, 500000)) AS income"
        " FROM members GROUP BY married ORDER BY n DESC",
        {},
        MEMBERS
        .group_by("married")
        .agg(n=sd.count(), income=sd.mean("income", 0, 500000))
        .sort("n", descending=True),
    ),
    "M2": (
        "SELECT country, page, COUNT(*) AS views FROM views GROUP BY country, page"
        " HAVING COUNT(*) >= 90",
        {
            "limits": [
                sd.MaxGroupsPerID(("country", "page"), 10),
                sd.MaxRowsPerGroupPerID(("country", "page"), 1),
            ]
        },
        sd
        .table("views")
        .enforce(
            sd.MaxGroupsPerID(("country", "page"), 10),
            sd.MaxRowsPerGroupPerID(("country", "page"), 1),
        )
        .group_by("country", "page")
        .agg(views=sd.count())
        .filter(sd.col("views") >= 90),
    ),
}


@pytest.mark.parametrize("story", STORIES)
def test_sql_and_python_are_one_request(library: sd.Session, story: str) -> None:
    """Both doors give the same words, the same price, the same plan."""
    text, given, wanted = STORIES[story]
    found = library.sql(text, **given)
    assert isinstance(found, sd.Request)
    assert found.words(library._desk.catalog) == wanted.words(library._desk.catalog)
    assert list(map(repr, found.processing)) == list(map(repr, wanted.processing))
    budget = sd.ApproxDP(1, "1e-6")
    one, other = library.price(found, budget), library.price(wanted, budget)
    assert (one.loss, one.plan) == (other.loss, other.plan)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT AVG(CLAMP(n, 0, 9)) AS m FROM"
        " (SELECT visitor, COUNT(*) AS n FROM restaurant GROUP BY visitor) p",
        "SELECT day, SUM(s) AS s FROM (SELECT visitor, day, SUM(spent) AS s"
        " FROM restaurant GROUP BY visitor, day) p GROUP BY day",
    ],
)
def test_what_is_asked_by_person_is_refused_with_the_reason(
    library: sd.Session, text: str
) -> None:
    """T23 and G4: a grouping of each person inside FROM."""
    with pytest.raises(InvalidSQL, match="each person"):
        library.sql(text)
