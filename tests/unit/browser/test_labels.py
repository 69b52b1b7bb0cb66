"""Labels in a real browser: at a desk, on a phone, light, dark, on paper."""

from dataclasses import replace
from typing import Any, Final

import pytest

import sordino as sd
from sordino.office.html.page import language_codes
from sordino.office.label.facts import CountedRange, LabelFacts, PaidBy
from sordino.office.label.views import Label, Status
from sordino.release.explanation import Protected, RowLimit
from tests.batches import for_each, sampled
from tests.browser.sight import look_at
from tests.releases import RELEASES, few

LONG: Final = "a_very_long_name_of_a_column_that_nobody_ever_wanted_to_read_at_all"
HOSTILE: Final = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m"


def full_facts(name: str) -> LabelFacts:
    """Return facts of every kind, with a name in all places that take one."""
    return replace(
        few().label().facts,
        units=(Protected(name, "AddRowsWithID", name), Protected("b", "AddOneRow")),
        limits=(RowLimit("MaxGroupsPerID", 2, (name, name)),),
        bounds=(CountedRange(name, -1e9, 1.5e12),),
        noise=(name, "Laplace"),
        groups="hidden",
        shown_from=449.25,
        minimum=20,
        paid_by=PaidBy("0" * 32, 123456, "f" * 64, "2026-09-03T09:00:00+00:00"),
    )


@pytest.mark.slow
@sampled(1, 3)
@for_each("code", language_codes())
@for_each("name", ["patient", LONG, HOSTILE], ids=["plain", "long", "x"])
def test_a_label_reads_well_everywhere(code: str, name: str) -> None:
    language = few().label(code).language
    label = Label(full_facts(name), f"{name}.csv", "unknown", language)
    sight = look_at(label.html)
    assert sight.problems == ()
    assert sight.pages == 1


@pytest.mark.slow
@for_each("release", RELEASES.values(), ids=RELEASES)
def test_the_label_of_every_release_reads_well(release: Any) -> None:
    assert look_at(release.label().html).problems == ()


@pytest.mark.slow
@for_each("status", ["claimed", "confirmed", "unlabelled"])
def test_how_sure_it_is_stands_first(status: Status) -> None:
    """A reader sees it before any number."""
    label = Label(full_facts("patient"), "wards.csv", status)
    words = look_at(label.html).words
    sentence = label.texts.status
    assert sentence in words
    assert words.index(sentence) < words.index("100")
    assert sd.Label is Label
