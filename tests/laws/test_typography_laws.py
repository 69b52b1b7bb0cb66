"""Each language is written as its readers write: quotes, spaces, apostrophes."""

import re
from typing import Final

from sordino.office.html.page import language_codes, read_language
from tests.batches import for_each

WRONG: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "de": (
        (r"[\"“](?=\w|\{)", "a text in quotes begins low: „"),
        (r"[«»]", "quotes are „ and “"),
        (r"'", "the apostrophe is ’"),
        (r" [:;?!]", "no space stands before a mark"),
        (r"\d[.,]\d", "numbers are filled in"),
    ),
    "en": (
        (r"[„«»]", "quotes are “ and ”"),
        (r"'", "the apostrophe is ’"),
        (r" [:;?!]", "no space stands before a mark"),
    ),
    "fr": (
        (r"(?<=[^\s:]) [:;?!»]", "a space before a mark does not break"),
        (r"\w[;?!](?:\s|$)", "a thin space stands before a mark"),
        (r"\w:(?:\s|$)", "a space stands before a colon"),
        (r"« ", "the space after « does not break"),
        (r"[“”„]", "quotes are « and »"),
        (r"'", "the apostrophe is ’"),
    ),
}
"""What no text of a language holds, and what is written instead."""
FOREIGN: Final = {"beside.to_write"}
"""Texts that quote another language."""


def blemishes(code: str, text: str) -> list[str]:
    """Return what readers of a language would stumble over."""
    return [says for pattern, says in WRONG[code] if re.search(pattern, text)]


def test_every_language_has_rules() -> None:
    assert set(WRONG) == set(language_codes())


@for_each("code", language_codes())
def test_texts_are_written_as_their_readers_write(code: str) -> None:
    texts = read_language(code).texts
    stumbles = {
        key: blemishes(code, text)
        for key, text in texts.items()
        if not key.startswith("form.") and key not in FOREIGN
    }
    assert {key: says for key, says in stumbles.items() if says} == {}


@for_each(
    ("code", "text"),
    [
        ("de", "Die “Tabelle“ ist öffentlich."),
        ("de", "Das geht's."),
        ("en", "the clinic's table"),
        ("en", "Who may still ask ?"),
        ("fr", "Rien : tout est public."),
        ("fr", "Rien; tout est public."),
        ("fr", "la table « visites »"),
        ("fr", "rien n'est publié"),
    ],
)
def test_a_blemish_is_noticed(code: str, text: str) -> None:
    assert blemishes(code, text)
