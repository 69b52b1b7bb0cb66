"""The parts of pages for readers: text stays text, numbers keep their places."""

import math
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

import sordino.office
from sordino.losses.closed import ApproxDP, GaussianDP
from sordino.losses.loss import PureDP
from sordino.office.html.elements import NOTHING, Html, draw_svg, fill_template, join
from sordino.office.html.odds import Odds, of_hundred, people_picture
from sordino.office.html.page import document, look, read_language
from sordino.office.html.small_pictures import scale_around
from sordino.office.report.story import Banded, band_table
from tests.batches import for_each

ENGLISH = read_language("en")
_SAID = Html('<p title="{}">{}</p>')
EVIL = "<script>alert('x')</script>&\"\n\u202e"


def banded(value: float | None, low: float | None, high: float | None) -> Banded:
    ends = () if low is None or high is None else (f"{low:g}", f"{high:g}")
    return Banded(("ward",), f"{value}", ends, value, low, high)


class Hearing(HTMLParser):
    """Hears the attributes and the texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.titles: list[str | None] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.titles += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(st.text(), st.text())
def test_text_and_attributes_are_escaped(text: str, value: str) -> None:
    hearing = Hearing()
    hearing.feed(_SAID.format(value, text))
    hearing.close()
    assert hearing.titles == [value]
    assert "".join(hearing.texts) == text


def test_markup_cannot_become_text_by_mistake() -> None:
    """What a format string made of markup is text again, and escaped whole."""
    assert join(f"{Html('<b>x</b>')}{EVIL}") == join("<b>x</b>", EVIL)
    assert "<b>" not in join(f"{Html('<b>x</b>')}")


def test_a_template_without_a_fact_fails() -> None:
    with pytest.raises(UndefinedError, match="texts"):
        fill_template("label/panel.html")


def test_no_template_lifts_the_escape() -> None:
    """Facts are marked safe in Python, where linting sees it, or not at all."""
    office = Path(sordino.office.__file__).parent
    for template in office.rglob("*.html"):
        source = template.read_text("utf-8")
        assert not re.search(r"\bsafe\b|autoescape|<script|\son\w+=", source), template


def test_names_from_outside_are_isolated_and_cut() -> None:
    """No markup, no direction that leaks, no endless name, no empty one."""
    name = ENGLISH.name(EVIL)
    assert "<script" not in name
    assert "\u202e" not in name
    assert name.startswith("<bdi>")
    assert len(ENGLISH.bare_name("x" * 500)) == 80
    assert ENGLISH.bare_name("") == "(empty text)"


def test_a_document_takes_nothing_from_anywhere() -> None:
    """Its policy admits its own style sheet and nothing else."""
    page = document(ENGLISH, EVIL, join(EVIL))
    assert "<script>" not in page
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert not re.search(r"https?:|url\(|@import|style=|\son\w+=", page)
    assert page.count("<style>") == 1
    assert look() in page


@for_each(
    ("bound", "alarms", "size", "most"),
    [
        (PureDP(1), 5, 5, 97),
        (GaussianDP("1/2"), 5, 2, 26),
        (GaussianDP("1/2"), 5, 5, 81),
        (PureDP(1), 5, 2, 37),
        (PureDP("0.1"), 5, 1, 6),
    ],
)
def test_groups_are_the_curve_again_and_again(
    bound: PureDP, alarms: int, size: int, most: int
) -> None:
    """A family of k is found as the curve applied k times says; never less."""
    odds = Odds(bound)
    assert odds.finds_of_groups(alarms, size) == most
    assert odds.finds_of_groups(alarms, 1) == odds.finds(alarms)


def test_a_group_is_not_so_many_releases() -> None:
    """The planted mistake, the curve of loss * k, promises too much."""
    for loss, k in ((PureDP(1), 5), (GaussianDP("1/2"), 5)):
        wrong = of_hundred(float((loss * k).tpr_at(0.05)))
        assert wrong < Odds(loss).finds_of_groups(5, k)


@given(st.fractions(0, 1))
def test_of_hundred_never_understate(share: Fraction) -> None:
    """The number is never below the share, and less than one above it."""
    number = of_hundred(share)
    assert 100 * share <= number < 100 * share + 1


@for_each("loss", [PureDP(9), ApproxDP(1, "0.995"), PureDP(math.inf)])
def test_no_picture_where_nothing_is_promised(loss: PureDP) -> None:
    assert not Odds(loss).promises
    assert people_picture(ENGLISH, Odds(loss)) == NOTHING


def test_the_picture_has_two_hundred_people() -> None:
    picture = people_picture(ENGLISH, Odds(PureDP(1)))
    looks = re.findall(r'class="(in|out)"', picture)
    assert looks == ["in"] * 5 + ["out"] * 95 + ["in"] * 14 + ["out"] * 86


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=6),
)
def test_scales_hold_every_finite_number(numbers: list[float]) -> None:
    """Zero and all numbers lie within 0 and 100 percent, unless no scale holds them."""
    scale = scale_around(numbers)
    assert scale.least < scale.most
    finite = [number for number in numbers if math.isfinite(number)]
    if max([0.0, *finite]) - min([0.0, *finite]) < math.inf:
        assert all(-1e-9 <= scale.place(n) <= 100 + 1e-9 for n in finite)
    assert 1 <= len(scale.ticks) <= 6


def test_a_number_outside_its_band_is_drawn_where_it_lies() -> None:
    """A count of -25 with the band 0 to 65 stands left of its band."""
    row = banded(-25.0, 0.0, 65.0)
    scale = scale_around([-25.0, 0.0, 65.0])
    places = re.findall(r'x="(-?[\d.]+)%"', draw_svg("band", scale, row))
    assert places == ["27.78", "0.00"]


def test_rough_numbers_and_numbers_without_bands_show_as_such() -> None:
    """Half width over a fifth is rough, also at zero; no band is a ring."""
    assert banded(0.0, -1.0, 1.0).is_rough
    assert not banded(100.0, 90.0, 110.0).is_rough
    assert banded(100.0, 70.0, 130.0).is_rough
    for ends in ((None, None), (-math.inf, 3.0), (math.nan, 3.0)):
        row = banded(3.0, *ends)
        assert 'class="ring"' in draw_svg("band", scale_around([3.0]), row)
        assert not row.is_rough
    assert not banded(None, None, None).is_drawn


def test_a_table_of_bands_holds_names_as_text() -> None:
    row = Banded((EVIL,), "3", ("1", "5"), 3.0, 1.0, 5.0)
    table = band_table(ENGLISH, ENGLISH.name(EVIL), Html("ward"), [row])
    assert "<script" not in table
    assert "1 to 5" in table
