"""What a notebook and a label show can be read, whatever the ground and the screen."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

import pytest

import sordino as sd
from sordino.office.html.page import language_codes
from sordino.office.label.facts import CountedRange, LabelFacts, PaidBy
from sordino.office.label.views import Label, Status
from sordino.release.explanation import Protected, RowLimit
from tests import asked_margins
from tests.batches import for_each, sampled
from tests.browser.grounds import GROUNDS, cell_page
from tests.browser.sight import look_at
from tests.releases import RELEASES, few

EVIL: Final = "<img src=x onerror=alert(1)>\u202e & a name that goes on and on and on"
PLENTY: Final = sd.ApproxDP("0.5", "5e-7")
VISITS: Final = {
    "patient": list(range(3000)),
    "ward": ["North", "South", EVIL] * 1000,
    "days": [2, 5, 9] * 1000,
}
ROWS: Final = sd.table("visits").enforce(sd.MaxRowsPerID(2)).group_by("ward")
QUERY: Final = ROWS.agg(visits=sd.count(), days=sd.mean("days", 0, 30))


@cache
def spent_session() -> sd.Session:
    table = sd.PrivateTable(VISITS, protects=sd.AddRowsWithID("patient"))
    opened = sd.Session(tables={"visits": table}, budget=sd.ApproxDP(1, "1e-6"))
    opened.release(QUERY, PLENTY)
    return opened


def ledger() -> sd.Ledger:
    """Return a ledger with a release under a long name."""
    opened = sd.Ledger.in_memory(sd.ApproxDP(1, "1e-6"), about=EVIL)
    table = sd.PrivateTable(VISITS, protects=sd.AddRowsWithID("patient"))
    session = sd.Session(tables={"visits": table}, ledger=opened)
    session.release(QUERY, PLENTY, key="monday " * 12)
    return opened


def batch() -> Any:
    visits = sd.table("visits").enforce(sd.MaxRowsPerID(2))
    asked = {"wards": QUERY, EVIL: visits.agg(n=sd.count())}
    return spent_session().price_all(asked, PLENTY)


def margins() -> Any:
    table = sd.PrivateTable(asked_margins.ROWS, protects=sd.AddOneRow())
    return sd.Session({"visits": table}, sd.ApproxDP(3, "1e-5"))


SHOWN: Final[dict[str, Callable[[], Any]]] = {
    "session": spent_session,
    "description": lambda: spent_session().describe(),
    "price": lambda: spent_session().price(QUERY, sd.ApproxDP("0.1", "1e-7")),
    "prices": batch,
    "suggestion": lambda: spent_session().suggest(QUERY, PLENTY, sample=VISITS),
    "ledger": ledger,
    "loss": lambda: sd.ApproxDP(1, "1e-6"),
    "advantage": lambda: sd.Advantage("0.1"),
    "error rates": lambda: sd.ErrorRates(fpr="0.01", tpr="0.1"),
    "key set": lambda: sd.KeySet.from_dict({
        "ward": ["North", EVIL],
        "sick": [True, None],
    }),
    "price of margins": lambda: margins().price(
        asked_margins.ASKED, asked_margins.BUDGET
    ),
    "margins": lambda: margins().release(asked_margins.ASKED, asked_margins.BUDGET),
    **{f"release {name}": partial(RELEASES.get, name) for name in RELEASES},
}


@pytest.mark.slow
@sampled(1, 9)
@for_each("theme", GROUNDS)
@for_each("value", SHOWN.values(), ids=SHOWN)
def test_displays_can_be_read(value: Callable[[], Any], theme: str) -> None:
    """On white, on black, on paper and on a phone, whatever theme the system has."""
    sight = look_at(cell_page(value()._repr_html_(), theme))
    assert sight.problems == ()


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
@sampled(1, 4)
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
