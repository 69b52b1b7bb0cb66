"""A page of a document: its number, its title, and what stands on it."""

from typing import Final

from sordino.pages.languages import Language
from sordino.pages.markup import Content, Html, tag

PAGES: Final = ("promise", "published", "limits", "proof", "beside")
"""The pages of a report, in order; their titles are `title.<page>` in the words."""


def section(language: Language, page: str, *content: Content) -> Html:
    """Return a page of a report below its title."""
    number = PAGES.index(page) + 1
    where = language.html("title.page", number=str(number), most=str(len(PAGES)))
    heading = f"h{number}"
    return tag(
        "section",
        tag("span", where, class_="page"),
        tag("h2", language.html(f"title.{page}"), id=heading),
        *content,
        id=f"p{number}",
        class_="first" if number == 1 else "next",
        aria_labelledby=heading,
    )


def contents(language: Language) -> Html:
    """Return links to the pages."""
    links = []
    for number, page in enumerate(PAGES, 1):
        title = language.html(f"title.{page}")
        links.append(tag("li", tag("a", f"{number}. ", title, href=f"#p{number}")))
    return tag("nav", tag("ol", *links), aria_label=language.plain("title.contents"))
