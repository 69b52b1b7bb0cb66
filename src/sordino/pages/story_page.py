"""A report as one file: its head, its pages, and what all of it is made of."""

from sordino.pages.beside_page import beside_page
from sordino.pages.document import document
from sordino.pages.languages import Language
from sordino.pages.limits_page import limits_page
from sordino.pages.markup import Html, tag
from sordino.pages.people import people_symbol
from sordino.pages.promise_page import promise_page
from sordino.pages.proof_page import proof_page
from sordino.pages.published_page import published_page
from sordino.pages.sections import contents
from sordino.pages.story import Story

_PAGES = (promise_page, published_page, limits_page, proof_page, beside_page)


def report_document(language: Language, story: Story) -> str:
    """Return a report as a file of HTML; the same story gives the same bytes."""
    title = language.bare_name(story.title)
    main = tag("main", *(page(language, story) for page in _PAGES))
    foot = tag("footer", tag("p", language.html("report.foot")), class_="soft")
    return document(
        language,
        language.plain("report.title", name=title),
        people_symbol(),
        tag("a", language.html("report.skip"), href="#p1", class_="skip"),
        _head(language, story),
        main,
        foot,
    )


def _head(language: Language, story: Story) -> Html:
    """Return what the report is about, from when it is, and its pages."""
    newest = story.shown[0].when if story.shown else None
    parts = [language.html("report.kind")]
    if newest is not None:
        parts += [Html(" · "), tag("span", language.day(newest.date()))]
    return tag(
        "header",
        tag("p", *parts, class_="over"),
        tag("h1", language.name(story.title)),
        contents(language),
    )
