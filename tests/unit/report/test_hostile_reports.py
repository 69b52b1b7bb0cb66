"""Reports of hostile ledgers: any words, any plan, ten thousand releases."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.office.html.page import read_language
from sordino.office.report.document import (
    NEWEST,
    ledger_report,
    report_document,
    single_report,
)
from sordino.office.report.story import ShownRelease, Story
from tests.batches import for_each
from tests.effort import by_night
from tests.pictured import PICTURED
from tests.reports import EVIL, KNOWN, LIMIT, TENTH, open_session, read_page, rows

VISITS = sd.table("visits").enforce(sd.MaxRowsPerID(3))
NUMBERS = st.sampled_from(["1e999999999", "-1/0", "inf", "1e9999"])
"""Numbers of more digits than there are, and of none."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | NUMBERS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "limit", "column", "low"]), inner)
    ),
    max_leaves=9,
)
VERBS = (
    *("table", "col", "sum", "MaxRowsPerID", "MaxGroupsPerID", "flat_map"),
    *("DropExcess", "AddRowsWithID", "of_table", "unknown", "code", "public table"),
)
ARGUMENTS = (
    "name",
    "protects",
    "column",
    "columns",
    "low",
    "high",
    "limit",
    "max_rows",
)


@given(
    st.sampled_from(VERBS),
    st.dictionaries(st.sampled_from(ARGUMENTS), JSON),
    st.sampled_from(VERBS),
    JSON,
)
def test_no_words_stop_a_report(
    verb: str, arguments: dict[str, Any], unit: str, value: Any
) -> None:
    words = json.dumps([
        verb,
        {
            **arguments,
            "low": value,
            "of": ["table", {"protects": [unit, {"column": value}]}],
        },
    ])
    publication = ShownRelease(sd.PureDP(1), "a plan", words, ())
    story = Story("x", sd.PureDP(1), (words,), (publication,), 0, {"a plan": (1,)})
    reading = read_page(report_document(read_language("en"), story))
    assert set(reading.elements) <= KNOWN


def test_deep_and_long_plans_are_drawn_as_far_as_a_page_goes() -> None:
    """A thousand nested steps and a thousand tables are no page of a thousand boxes."""
    deep = "\n".join("   " * depth + "└─ step" for depth in range(1000))
    words = read_page(
        report_document(
            read_language("en"),
            Story("x", sd.PureDP(1), ("",), (ShownRelease(sd.PureDP(1), deep, "", ()),),
                  0, {deep: (1,)}),
        )
    ).words  # fmt: skip
    assert 100 < words.count("A step private") <= 200
    visits = VISITS.agg(n=sd.count())
    ledger = Ledger.in_memory(LIMIT)
    open_session(ledger, rows()).release_all(
        {f"q{place}": visits for place in range(10)}, TENTH, key="k"
    )
    assert "and 2 more tables" in read_page(ledger_report(ledger, "x", "en")).words


def charge_many(count: int) -> Ledger:
    ledger = Ledger.in_memory(sd.PureDP(1))
    share = sd.PureDP("1/20000")
    for number in range(count):
        plan = f"n = count() with Geometric(scale={number + 1})"
        ledger.reserve(
            Claim(request=f"{number:x}", asked=share, loss=share, who=EVIL, plan=plan)
        )
    return ledger


def test_the_newest_releases_are_shown_and_the_rest_is_a_line() -> None:
    """Twelve in full; a page does not grow with the releases before them."""
    few, many = (
        ledger_report(charge_many(count), "x", "en") for count in (NEWEST + 3, 90)
    )
    assert read_page(many).elements.count("article") == NEWEST
    assert "78 earlier releases are not shown" in read_page(many).words
    assert len(many) < 1.1 * len(few)
    assert "Geometric" in read_page(many).words
    assert read_page(many).elements.count("script") == 0


@by_night
@pytest.mark.slow
def test_ten_thousand_releases_are_a_small_page() -> None:
    """The bar melts small releases into one piece, and no list grows with them."""
    page = ledger_report(charge_many(10_000), EVIL, "fr")
    assert len(page) < 100_000
    assert "9\u202f988" in page


@for_each("shape", PICTURED)
def test_every_release_has_a_report(shape: str) -> None:
    """Of the greatest doubles, of none, of long names: no number of a page is none."""
    page = single_report(PICTURED[shape](), "figures", "en")
    assert page.startswith("<!doctype html>")
    assert not re.search(r"\b(nan|inf)%", page)
