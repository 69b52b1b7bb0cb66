"""The numbers of other publications are computed anew from what they state."""

import json
from importlib.resources import files
from typing import Any, Final

from sordino.losses.closed import ZCDP, ApproxDP
from sordino.losses.loss import Loss, PureDP
from sordino.office.html.odds import FALSE_ALARMS, Odds
from sordino.office.html.page import language_codes, read_language
from sordino.office.report.proof import beside_page, deployments
from sordino.office.report.story import Story
from tests.batches import for_each

LISTED: Final = json.loads(
    (files("sordino.office.report") / "public_deployments.json").read_text("utf-8")
)["deployments"]


def worst_case(stated: dict[str, str]) -> Loss:
    if "rho" in stated:
        return ZCDP(stated["rho"])
    if "delta" in stated:
        return ApproxDP(stated["epsilon"], stated["delta"])
    return PureDP(stated["epsilon"])


@for_each("stated", LISTED, ids=[each["name"] for each in LISTED])
def test_a_number_is_the_worst_case_of_what_is_stated(stated: dict[str, Any]) -> None:
    """At 5 false alarms of 100, rounded up: none looks better than it says."""
    assert Odds(worst_case(stated)).finds(FALSE_ALARMS) == stated["found"]


def story(loss: Loss, **more: Any) -> Story:
    empty: dict[str, Any] = {"shown": (), "earlier": 0, "plans": {}}
    return Story("clinic", loss, ("",), **empty, **more)


@for_each("code", language_codes())
def test_every_publication_stands_with_its_unit(code: str) -> None:
    """All twenty and the own one, each with what one unit of it is."""
    language = read_language(code)
    page = beside_page(language, story(PureDP(1)))
    assert len(deployments()) == 20
    for other in deployments():
        assert language.html(f"beside.name.{other.name}") in page
        assert language.html(f"beside.unit.{other.unit}") in page
    assert page.count("<tr>") == 22
    assert page.count('class="aim"') == 1


def test_the_own_promise_stands_where_its_number_puts_it() -> None:
    """At epsilon 1 it is 14, between 12 and 27; beyond 99 it says so."""
    english = read_language("en")
    page = beside_page(english, story(PureDP(1)))
    own = page.index("This release, by itself")
    assert page.index("Meta: users") < own < page.index("Google: symptoms")
    assert page.count(">over 99<") == 7
    much = beside_page(english, story(PureDP(9)))
    assert much.count(">over 99<") == 8
    assert "<b>over 99</b>" in much


def test_an_entry_of_the_registry_is_text() -> None:
    page = beside_page(read_language("en"), story(PureDP(1), registry="<script>"))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
