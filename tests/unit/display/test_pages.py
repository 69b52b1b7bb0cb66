"""The parts of pages: nothing from outside is read as HTML, no number falls off."""

import math
import re
from html.parser import HTMLParser

from sordino.office.html.elements import (
    draw_svg,
    html_aside,
    html_details,
    html_line,
    html_page,
    html_table,
    html_title,
)
from sordino.office.html.small_pictures import (
    Step,
    diagram,
    interval_bar,
    scale_of,
    share_bar,
    unit_curve,
)
from tests.batches import for_each

EVIL = "<script>alert('x')</script>&\"\n\u202e"


class Nesting(HTMLParser):
    """Reads a page in which every tag that opens is closed, in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open_tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.open_tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """Pass over a tag that closes itself."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags.pop() == tag


def test_text_from_outside_is_escaped() -> None:
    page = html_page(
        html_line(EVIL),
        html_aside(EVIL),
        html_title(EVIL, EVIL),
        html_table((EVIL,), [(EVIL,)]),
        html_details(EVIL, diagram(Step(EVIL, (Step(EVIL), Step(EVIL))))),
        share_bar(0.5, EVIL),
        draw_svg("interval_bar", interval_bar(1.0, (0.0, 2.0), (0.0, 2.0), EVIL)),
        unit_curve([(0, 0), (1, 1)], (EVIL, EVIL), EVIL),
    )
    assert "<script" not in page
    assert "\u202e" not in page
    reader = Nesting()
    reader.feed(page)
    assert reader.open_tags == []


@for_each(
    ("value", "interval"),
    [
        (5.0, (4.0, 6.0)),
        (-5.0, (-7.0, -3.0)),
        (None, (None, None)),
        (math.nan, (math.nan, math.nan)),
        (5.0, (-math.inf, math.inf)),
        (math.inf, (0.0, math.inf)),
        (1e308, (-1e308, 1e308)),
        (0.0, (0.0, 0.0)),
    ],
)
def test_bars_stay_inside(
    value: float | None, interval: tuple[float | None, float | None]
) -> None:
    scale = scale_of([value, *interval])
    if scale is None:
        assert not any(end and math.isfinite(end) for end in interval) or value == 1e308
        return
    picture = draw_svg("interval_bar", interval_bar(value, interval, scale, "a number"))
    places = re.findall(r'(?:x1|x2|cx)="([^"]+)"', picture)
    assert all(0 <= float(place) <= 120 for place in places)


def test_a_bar_shows_where_zero_is() -> None:
    assert scale_of([4.0, 6.0]) == (0.0, 6.0)
    assert scale_of([-4.0, -2.0]) == (-4.0, 0.0)
    bar = interval_bar(1.0, (-1.0, 2.0), (-1.0, 2.0), "")
    assert [line.kind for line in bar.lines] == ["zero", "band"]


@for_each(("share", "width"), [(-1, 0), (0, 0), (0.5, 60), (7, 120)])
def test_shares_are_cut_to_the_bar(share: float, width: float) -> None:
    assert f'width="{width:.1f}"' in share_bar(share, "")
