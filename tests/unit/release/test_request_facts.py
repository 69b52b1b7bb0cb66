"""What the words of requests tell: limits, bounds, groups and whom a table protects."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.release.explanation import (
    LIMITS,
    NOTHING,
    Protected,
    RowLimit,
    ValueBounds,
    request_facts,
    words_facts,
)
from tests.batches import for_each
from tests.worded import QUERIES, TABLES, said, session

VECTORS: Final = Path(__file__).parents[2] / "vectors" / "request_words.json"
VISITS: Final = sd.table("visits")
BOUNDED: Final = VISITS.enforce(sd.MaxRowsPerID(2))
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B"]})


@cache
def recorded_words() -> list[Any]:
    kept = json.loads(VECTORS.read_text("utf-8"))["requests"]
    return [each["words"] for each in kept]


def facts(request: Any) -> Any:
    return words_facts(said(session(), request).words)


def test_every_request_that_was_ever_made_tells_whom_it_protects() -> None:
    for verb, arguments in recorded_words():
        names = [name for name, _ in arguments.get("requests", [["", None]])]
        for name in names if verb != "partition" else ():
            known = request_facts([verb, arguments], name)
            assert known.units
            assert known.groups


def test_limits_bounds_and_units_are_those_that_were_asked_for() -> None:
    query = VISITS.enforce(
        sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 3)
    )
    told = facts(
        query.group_by("ward").agg(
            n=sd.count(), days=sd.mean("days", 0, 30), two=sd.sum("days", 0, 30)
        )
    )
    assert told.units == (Protected("visits", "AddRowsWithID", "person"),)
    assert told.limits == (
        RowLimit("MaxGroupsPerID", 2, ("ward",)),
        RowLimit("MaxRowsPerGroupPerID", 3, ("ward",)),
    )
    assert told.bounds == (ValueBounds("days", Fraction(0), Fraction(30)),)


@for_each(
    ("request_", "groups"),
    [
        (BOUNDED.agg(n=sd.count()), "none"),
        (BOUNDED.group_by(WARDS).agg(n=sd.count()), "public"),
        (BOUNDED.group_by("ward").agg(n=sd.count()), "hidden"),
        (BOUNDED.group_by("days", WARDS).agg(n=sd.count()), "mixed"),
        (BOUNDED.group_by("ward").top(2, by=sd.count()), "first"),
        (BOUNDED.marginals(WARDS, order=1), "public"),
    ],
)
def test_groups_are_told(request_: Any, groups: str) -> None:
    assert facts(request_).groups == groups


def test_a_minimum_is_told() -> None:
    asked = BOUNDED.group_by("ward").agg(n=sd.count()).suppress_below(20)
    assert facts(asked).minimum == 20


def test_every_limit_has_words() -> None:
    seen = {
        limit.verb
        for words in recorded_words()
        for limit in request_facts(words).limits
    }
    assert seen == set(LIMITS)
    assert QUERIES
    assert TABLES


@for_each("words", ["", "[", "1", "[" * 100_000, '["release",{}]'])
def test_what_is_no_request_tells_nothing(words: str) -> None:
    assert words_facts(words) == NOTHING


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([
                "request",
                "rows",
                "columns",
                "limit",
                "low",
                "high",
                "by",
            ]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_words_make_it_fail(words: Any) -> None:
    """Whatever stands where words are expected, an answer comes back."""
    request_facts(["release", {"request": ["agg", words]}])
    request_facts(["release", {"request": ["agg", {"rows": words, "columns": words}]}])
    request_facts(words)


@for_each("text", ["1e999999999", "1e-999999999", "1/0", "inf", "nan"])
def test_numbers_that_no_memory_holds_are_none(text: str) -> None:
    """A few letters may stand for more digits than there are."""
    total = ["sum", {"column": ["col", {"name": "days"}], "low": text, "high": text}]
    words = ["release", {"request": ["agg", {"columns": [["n", total]]}]}]
    assert request_facts(words).bounds == ()
