"""What limits and bounds cut off, in sentences."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sordino.display.formatting import format_number
from sordino.numbers import exact
from sordino.pages.languages import Language
from sordino.pages.markup import Content, Html, join, plain_name, tag
from sordino.pages.request_words import Verb, columns_of, cuts_of, verbs_of
from sordino.pages.story import ShownRelease


def cut_sentences(language: Language, publication: ShownRelease) -> Iterator[Html]:
    """Yield what was cut off, and how much of it was measured."""
    if not publication.words:
        yield language.html("cut.unknown")
        return
    cuts = cuts_of(publication.words)
    measured = [row for answer in publication.answers for row in answer.left_out]
    for cut in cuts:
        yield join(_cut_sentence(language, cut), " ")
    if measured:
        items = (tag("li", _measured_line(language, row)) for row in measured)
        yield tag("ul", *items)
    elif cuts:
        yield language.html("cut.unmeasured")
    else:
        yield language.html("cut.nothing")


def _cut_sentence(language: Language, cut: Verb) -> Html:
    """Return the sentence of a limit or of bounds."""
    verb, arguments = cut
    values: dict[str, Content] = {
        "limit": plain_name(arguments.get("limit", arguments.get("max_rows", ""))),
        "columns": _names(language, arguments.get("columns", [])),
        "column": _names(language, columns_of(arguments.get("column"))),
        "low": _end(language, arguments.get("low")),
        "high": _end(language, arguments.get("high")),
    }
    return language.html(f"cut.{verb}", **values)


def _names(language: Language, names: Any) -> Html:
    """Return names of columns, side by side."""
    columns = names if isinstance(names, list) else [names]
    parts = [
        part for name in columns for part in (", ", tag("code", language.name(name)))
    ]
    return join(*parts[1:])


def _end(language: Language, words: Any) -> str:
    """Return a bound as it was recorded: a rational, or a literal."""
    literals = [arguments for verb, arguments in verbs_of(json.dumps(words))]
    if literals:
        return language.bare_name(literals[0].get("value"))
    try:
        return language.number(format_number(float(exact(bound=words))))
    except (TypeError, ValueError, OverflowError):
        return language.bare_name(words)


def _measured_line(language: Language, row: Mapping[str, Any]) -> Html:
    """Return a noisy count of what was left out."""
    low, high = (language.number(format_number(row[end])) for end in ("low", "high"))
    return language.html(
        f"cut.measured.{str(row['kind']).replace(' ', '_')}",
        what=tag("code", language.name(row["what"])),
        unit=language.plain(f"cut.unit.{row['counted']}"),
        count=language.whole(row["count"]),
        low=low,
        high=high,
    )
