"""What values show of themselves in a notebook, looked at in a browser."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import pytest

import sordino as sd
from tests import asked_margins
from tests.batches import for_each, sampled
from tests.browser.grounds import GROUNDS, cell_page
from tests.browser.sight import look_at
from tests.releases import RELEASES

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
    """Return the prices of several requests."""
    visits = sd.table("visits").enforce(sd.MaxRowsPerID(2))
    asked = {"wards": QUERY, EVIL: visits.agg(n=sd.count())}
    return spent_session().price_all(asked, PLENTY)


def margins() -> Any:
    """Return a session over tables that belong together."""
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
@sampled(1, 12)
@for_each("theme", GROUNDS)
@for_each("value", SHOWN.values(), ids=SHOWN)
def test_displays_can_be_read(value: Callable[[], Any], theme: str) -> None:
    """On white, on black, on paper and on a phone, whatever theme the system has."""
    sight = look_at(cell_page(value()._repr_html_(), theme))
    assert sight.problems == ()
