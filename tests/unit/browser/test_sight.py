"""The browser of the tests sees what is wrong: each planted error, by its kind."""

import os
import signal
import zlib
from pathlib import Path

import pytest

from tests.batches import for_each, sampled
from tests.browser.devtools import BrowserFailure, browser
from tests.browser.printed import printed_pages
from tests.browser.sight import look_at

GOOD = (Path(__file__).parent / "good_page.html").read_text(encoding="utf-8")


def picture(shapes: str) -> str:
    attributes = 'width="200" height="40" role="img" aria-label="a picture"'
    return f"<svg {attributes}>{shapes}</svg>"


PLANTS = {
    "a word to the console": (
        "<script>console.log('x')</script>",
        {"console", "script"},
    ),
    "an exception": ("<script>nothing.at.all</script>", {"console", "script"}),
    "a picture from elsewhere": (
        '<img alt="x" src="http://example.org/x.png">',
        {"request"},
    ),
    "a sheet from elsewhere": (
        '<style>@import "https://example.org/x.css";</style>',
        {"console", "request"},
    ),
    "what asks when a pointer comes": ('<p onclick="go()">Go</p>', {"script"}),
    "a link that is a script": ('<p><a href="javascript:go()">Go</a></p>', {"script"}),
    "a table without a scroll box": (
        '<table><tr><td style="min-width: 40rem">1</td></tr></table>',
        {"sideways"},
    ),
    "a long word": (f"<p>{'wards' * 80}</p>", {"sideways"}),
    "words behind the edge": (
        '<div style="overflow: clip"><p style="margin-left: -2em">behind</p></div>',
        {"sideways"},
    ),
    "labels one over another": (
        picture('<text y="16">North</text><text x="20" y="18">South</text>'),
        {"overlap"},
    ),
    "a label that is cut off": (
        picture('<text x="180" y="16">North of all</text>'),
        {"cut"},
    ),
    "faint letters": ('<p style="color: #999">North</p>', {"color-contrast"}),
    "faint letters in a picture": (
        picture('<text y="16" style="fill: #888; fill-opacity: 0.9">North</text>'),
        {"faint"},
    ),
    "letters on a shape of their colour": (
        picture('<rect width="200" height="40" fill="#777"/><text y="16">North</text>'),
        {"faint"},
    ),
    "a figure without a name": (
        '<svg width="20" height="20"><rect width="9" height="9"/></svg>',
        {"figure"},
    ),
    "a stop that shows no focus": (
        '<p><a href="#x" style="outline: none">Go</a></p>',
        {"keyboard"},
    ),
    "a stop that holds the focus": (
        """<p><a href="#x">Go</a> <a href="#y">On</a></p>
        <script>addEventListener("keydown", key => key.preventDefault())</script>""",
        {"keyboard", "script"},
    ),
    "a page that prints empty": (
        '<div style="break-before: page; height: 1px"></div>',
        {"print"},
    ),
}


def planted(plant: str) -> str:
    """Return the good page with something in it that it was without."""
    return GOOD.replace("<!-- plant -->", plant)


@pytest.mark.slow
def test_a_good_page_has_no_problems(tmp_path: Path) -> None:
    sight = look_at(GOOD, pictures=True)
    assert sight.problems == ()
    assert sight.figures == ("visits by ward",)
    assert (sight.title, sight.pages, sight.stops) == ("A page", 1, 2)
    assert "North 996" in sight.words
    assert sight.pictures["desk, light"] != sight.pictures["desk, dark"]
    assert sight.pictures["print"].startswith(b"%PDF")
    page = tmp_path / "a page.html"
    page.write_text(GOOD, encoding="utf-8")
    assert look_at(page).words == sight.words


@pytest.mark.slow
@sampled(1, 4)
@for_each(("plant", "kinds"), PLANTS.values(), ids=PLANTS)
def test_planted_errors_are_seen(plant: str, kinds: set[str]) -> None:
    assert {problem.kind for problem in look_at(planted(plant)).problems} == kinds


@pytest.mark.slow
def test_a_browser_that_ended_is_started_again() -> None:
    """The test in which it ends fails; those after it do not."""
    running = browser()
    os.killpg(running.process, signal.SIGKILL)
    with pytest.raises((BrowserFailure, OSError)):
        running.ask("Browser.getVersion")
    os.waitpid(running.process, 0)
    assert browser().process != running.process
    assert look_at(GOOD).problems == ()


@pytest.mark.slow
def test_a_page_of_its_own_width_is_seen() -> None:
    """Without the line for phones, one is shown a page for desks, made small."""
    page = GOOD.replace("width=device-width", "width=980")
    assert {problem.kind for problem in look_at(page).problems} == {"sideways"}


def test_a_page_that_says_nothing_is_empty() -> None:
    pages = {b"0 0 9 9 re f": False, b"BT (x) Tj ET": True, b"": False}
    for content, is_written in pages.items():
        stream = b"stream\n" + zlib.compress(content) + b"\nendstream"
        page = b"1 0 obj<</Type /Page /Contents 2 0 R>>endobj 2 0 obj<<>>" + stream
        assert printed_pages(page + b" endobj") == (is_written,)
    assert printed_pages(b"1 0 obj<</Type /Page>>endobj") == (False,)
    assert printed_pages(b"") == ()
