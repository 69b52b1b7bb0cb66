"""The site as it is built: one page of each kind, at a desk and on a phone."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.browser.sight import View, open_page, turn_to
from tests.effort import by_night
from tests.site.__main__ import main

KINDS = (
    "index",  # a table, pictures, code
    "search",
    "understand",  # pictures of ideas
    "reference",
    "benchmarks",  # tables that are wider than a phone
    "guides/sql",
    "proofs/index",
    "proofs/units-1",
    "reference/units",
    "adr/index",
)
# the theme's style wants its switches beside the page, so in no landmark of it
SWITCH = "sidebar-toggle"
VIEWS = (View("desk, dark", 1280, "dark"), View("phone, light", 390, "light"))


@by_night
@pytest.mark.slow
@pytest.mark.skipif(find_spec("furo") is None, reason="NO SITE: make docs sets it up")
def test_every_kind_of_page_can_be_read(tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert main(site) == 0
    problems = []
    for kind in KINDS:
        with open_page((site / f"{kind}.html").as_uri()) as tab:
            for view in VIEWS:
                turn_to(tab, view, 900)
                judged = [*tab.see("eyes.judged()"), *tab.see("eyes.faint()")]
                judged += tab.see(f"eyes.sideways({view.width})")
                problems += [
                    (kind, view.name, problem)
                    for problem in judged
                    if SWITCH not in str(problem)
                ]
            tab.reach("#__navigation")
            tab.press(" ", " ")
            tab.reach(".sidebar-tree a")
    assert problems == []
