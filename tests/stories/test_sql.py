"""Published queries of other tools, in SQL and in Python: one request, one price."""

import datetime as dt
import re
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from tests.batches import for_each, table_of

STORIES: Final = table_of("stories/published_queries")
LINES: Final = {name: one["lines"] for name, one in STORIES.items() if "lines" in one}
NAMES: Final = {
    "sd": sd,
    "MEMBERS": sd.table("members"),
    "RESTAURANT": sd.table("restaurant"),
    "ROWS": (sd.MaxRowsPerID(3),),
    "LEVELS": {"education_level": ["high-school", "masters-degree"]},
}
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


def read(text: str) -> Any:
    return eval(f"({text})", dict(NAMES))  # noqa: S307 a table of ours


@for_each("story", STORIES)
def test_sql_and_python_are_one_request(library: sd.Session, story: str) -> None:
    told = STORIES[story]
    found = library.sql(told["sql"], **read(told.get("given", "{}")))
    wanted = read(told["python"])
    assert isinstance(found, sd.Request)
    assert found.words(library._desk.catalog) == wanted.words(library._desk.catalog)
    assert list(map(repr, found.processing)) == list(map(repr, wanted.processing))
    budget = sd.ApproxDP(1, "1e-6")
    one, other = library.price(found, budget), library.price(wanted, budget)
    assert (one.loss, one.plan) == (other.loss, other.plan)


def lines_of_sql(text: str) -> int:
    return len(re.findall(r"SELECT|FROM|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT", text))


_VERBS: Final = (
    "filter|with_columns|enforce|join_public|per_id|group_by|agg|keys|sort|limit"
)


def lines_of_python(request: sd.Request) -> int:
    return len(re.findall(rf"[)]\.({_VERBS})\(", repr(request)))


@for_each("story", LINES)
def test_each_takes_the_lines_that_are_told(story: str) -> None:
    told = STORIES[story]
    theirs, sql, python = told["lines"]
    assert lines_of_sql(told["sql"]) == sql
    assert lines_of_python(read(told["python"])) == python
    assert sql <= max(theirs, 6)
    assert python <= max(theirs, 4)


def test_lines_of_all_together() -> None:
    """Few more than a quarter of the published lines in SQL, and fewer in Python."""
    theirs, sql, python = (sum(column) for column in zip(*LINES.values(), strict=True))
    assert sql < 0.3 * theirs
    assert python < 0.25 * theirs
