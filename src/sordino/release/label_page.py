"""A label in HTML: a page of its own, and the same rows within a notebook."""

from sordino.display.elements import html_page
from sordino.pages.document import document
from sordino.pages.languages import Language
from sordino.pages.markup import Html, join, tag
from sordino.release.label_rows import LabelPart, LabelRow, LabelTexts


def label_document(language: Language, texts: LabelTexts) -> str:
    """Return a file of HTML with a label and nothing else."""
    title = f"{texts.title}: {texts.file}" if texts.file else texts.title
    return document(language, title, tag("main", label_card(texts)))


def label_card(texts: LabelTexts) -> Html:
    """Return a label as an element of a page."""
    head = [tag("p", tag("b", tag("bdi", texts.file)))] if texts.file else []
    lines = [tag("p", texts.when)] if texts.when else []
    lines += [tag("p", tag("strong", texts.status))] if texts.status else []
    parts = [
        _table(part, "thick" if place == 0 else "rule")
        for place, part in enumerate(texts.parts)
    ]
    feet = [tag("p", tag("bdi", foot), class_="foot") for foot in texts.feet]
    title = tag("h1", texts.title)
    return tag("section", title, *head, *lines, *parts, *feet, class_="label")


def label_panel(texts: LabelTexts) -> str:
    """Return a label for a notebook: it brings no colours of its own."""
    lines = filter(None, [texts.file, texts.when, texts.status])
    rows = join(*map(_panel_part, texts.parts))
    return html_page(
        tag("p", tag("strong", texts.title)).text,
        *(tag("p", line).text for line in lines),
        tag("table", tag("tbody", rows)).text,
        *(tag("p", foot, class_="aside").text for foot in texts.feet),
    )


def _table(part: LabelPart, look: str) -> Html:
    """Return the rows of a part."""
    heading = (
        [tag("tr", tag("th", tag("b", part.heading), scope="colgroup", colspan=2))]
        if part.heading
        else []
    )
    rows = join(*heading, *map(_row, part.rows))
    return tag("table", tag("tbody", rows), class_=look)


def _row(row: LabelRow) -> Html:
    """Return a row, each side isolated from the direction of the other."""
    return tag(
        "tr",
        tag("th", tag("bdi", row.name), scope="row"),
        tag("td", tag("bdi", row.value)),
    )


def _panel_part(part: LabelPart) -> Html:
    """Return the rows of a part in a notebook."""
    heading = [tag("strong", part.heading)] if part.heading else []
    rows = (
        tag("tr", tag("td", row.name), tag("td", row.value, class_="number"))
        for row in part.rows
    )
    return join(tag("tr", tag("td", *heading, colspan=2)), *rows)
