"""A page in one file: its head, its look, and its words in a language.

It asks nothing of the network and runs nothing: a policy in it lets a browser take the
style sheet, named by its hash, and nothing else, so that not even an escape that failed
could run, fetch or send.

A language is a file in `words/` with the keys of `en.toml`. In a text, `{name}` is
filled in, and `*words*` stand out.

>>> english = read_language("en")
>>> english.number("1,234.5"), read_language("de").number("1,234.5")
('1,234.5', '1.234,5')
"""

import base64
import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.office.html.elements import Content, Html, fill_template, join, plain_name

_PIECE: Final = re.compile(r"\{(\w+)\}|\*([^*]+)\*")
_FOLDER: Final = files("sordino.office.html") / "words"
_SENTENCE: Final = 240
"""Columns of what was written to be read."""
_ENDING: Final = ".toml"
_BOLD: Final = Html("<b>{}</b>")
# a name that is written from the right would turn the sentence around it
_ISOLATED: Final = Html("<bdi>{}</bdi>")


@final
@dataclass(frozen=True)
class Language:
    """Texts by key; keys of tables in a file are joined by dots."""

    code: str
    texts: Mapping[str, str]

    def html(self, key: str, /, **values: Content) -> Html:
        """Return a text with what is filled in, as markup."""
        return join(*_pieces(self.texts[key], values))

    def plain(self, key: str, /, **values: str) -> str:
        """Return a text with what is filled in, where no markup can stand."""
        # in this order: a `*` in what is filled in stays
        return self.texts[key].replace("*", "").format_map(values)

    def form(self, key: str, count: int) -> str:
        """Return the key of the form that a count needs: `key.one` or `key.many`."""
        singular = str(count) in self.texts["form.one"].split()
        return f"{key}.{'one' if singular else 'many'}"

    def name(self, value: object) -> Html:
        """Return a name from outside, isolated from the direction around it."""
        return _ISOLATED.format(self.bare_name(value))

    def bare_name(self, value: object) -> str:
        """Return a name from outside as text, for where no markup can stand."""
        if value is None:
            return self.texts["form.missing"]
        return plain_name(value) or self.texts["form.empty"]

    def sentence(self, text: str) -> Html:
        """Return a sentence, or a line of a plan, from outside."""
        return _ISOLATED.format(plain_name(text, _SENTENCE))

    def number(self, figure: str) -> str:
        """Return a figure as English writes it with this language's separators."""
        marks = {",": self.texts["form.thousands"], ".": self.texts["form.decimal"]}
        return "".join(marks.get(letter, letter) for letter in figure)

    def whole(self, count: int) -> str:
        """Whole number with its thousands apart."""
        return self.number(f"{count:,}")

    def day(self, day: date) -> str:
        """Return a date."""
        month = self.texts["date.months"].split()[day.month - 1]
        first = self.texts["date.first"] if day.day == 1 else str(day.day)
        return self.plain("date.day", day=first, month=month, year=str(day.year))

    def short_day(self, day: date) -> str:
        """Return a date without its year."""
        month = self.texts["date.short_months"].split()[day.month - 1]
        first = self.texts["date.first"] if day.day == 1 else str(day.day)
        return self.plain("date.short", day=first, month=month)

    def moment(self, when: datetime) -> str:
        """Return a date and a time, in UTC."""
        universal = when.astimezone(UTC)
        clock = f"{universal:%H:%M}"
        return self.plain("date.moment", day=self.day(universal.date()), clock=clock)


def _pieces(text: str, values: Mapping[str, Content]) -> Iterator[Content]:
    end = 0
    for match in _PIECE.finditer(text):
        yield text[end : match.start()]
        yield (
            values[match[1]]
            if match[1]
            else _BOLD.format(join(*_pieces(match[2], values)))
        )
        end = match.end()
    yield text[end:]


def language_codes() -> tuple[str, ...]:
    """Return the languages that there are.

    >>> language_codes()
    ('de', 'en', 'fr')
    """
    names = (file.name for file in _FOLDER.iterdir())
    return tuple(
        sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING))
    )


@cache
def _texts(code: str) -> Mapping[str, str]:
    source = (_FOLDER / f"{code}{_ENDING}").read_text("utf-8")
    return dict(_flatten("", tomllib.loads(source)))


def _flatten(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def read_language(code: Any) -> Language:
    """Return a language, or refuse one that there is no file of."""
    if code not in language_codes():
        raise InvalidParameter(
            "language",
            code,
            f"must be one of {', '.join(map(repr, language_codes()))}",
            'Try language="en".',
        )
    return Language(code, _texts(code))


def document(language: Language, title: str, *content: Html) -> str:
    """Return a file of HTML with a title."""
    # whoever has the file is told to nobody
    return _file(language, title, (look(), page_policy(look())), "no-referrer", content)


def form_document(language: Language, title: str, sheet: str, *content: Html) -> str:
    """Return a page of a form, which is sent to where it came from."""
    whole = look() + sheet
    # with no referrer at all a browser would not say that the form is of this page
    return _file(language, title, (whole, form_policy(sheet)), "same-origin", content)


def _file(
    language: Language,
    title: str,
    styled: tuple[str, str],
    referrer: str,
    content: tuple[Html, ...],
) -> str:
    page = fill_template(
        "html/document.html",
        language=language,
        title=title,
        # unescaped, as its hash stands in the policy: the sheet is a file of ours
        look=Html(styled[0]),
        policy=styled[1],
        referrer=referrer,
        content=join(*content),
    )
    return str(page)


@cache
def look() -> str:
    """Return the style sheet."""
    return (files("sordino.office.html") / "look.css").read_text("utf-8")


def page_policy(sheet: str) -> str:
    """What a browser may load for a page: its style sheet, by the hash of that."""
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'"


def form_policy(sheet: str) -> str:
    """What a browser may do for a form: take its style sheet, and send it back here."""
    return f"{page_policy(look() + sheet)}; form-action 'self'; base-uri 'none'"


PAGES: Final = ("promise", "published", "limits", "proof", "beside")
"""The pages of a report, in order; their titles are `title.<page>` in the words."""


def section(language: Language, page: str, **facts: Any) -> Html:
    """A page of a report, by the template of its name."""
    return fill_template(
        f"report/{page}.html",
        language=language,
        page=page,
        number=PAGES.index(page) + 1,
        most=len(PAGES),
        **facts,
    )
