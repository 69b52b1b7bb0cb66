"""Every language says the same facts, written as its readers write."""

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Final

import pytest

from sordino.errors import InvalidParameter
from sordino.office.html.page import Language, language_codes, read_language
from tests.batches import for_each

ENGLISH = read_language("en")
FORMS = ("form.", "date.months", "date.first")
"""Texts that are not sentences."""


def placeholders(text: str) -> Counter[str]:
    return Counter(re.findall(r"\{(\w+)\}", text))


def differences(language: Language) -> list[str]:
    """Return the keys in which a language does not say what English says."""
    keys = set(language.texts) ^ set(ENGLISH.texts)
    both = set(language.texts) & set(ENGLISH.texts)
    keys |= {
        key
        for key in both
        if set(placeholders(language.texts[key]))
        != set(placeholders(ENGLISH.texts[key]))
    }
    return sorted(keys)


@for_each("code", language_codes())
def test_every_language_fills_in_the_same(code: str) -> None:
    """No language misses a key, has one of its own, or loses a value."""
    assert differences(read_language(code)) == []


@for_each("code", language_codes())
def test_every_text_is_whole(code: str) -> None:
    for key, text in read_language(code).texts.items():
        assert isinstance(text, str), key
        assert text == text.strip() or key.startswith("form."), key
        assert text, key
        rest = re.sub(r"\{\w+\}|\*[^*]+\*", "", text)
        assert not set("{}*<>") & set(rest), key


@for_each("code", language_codes())
def test_months_and_separators_are_there(code: str) -> None:
    language = read_language(code)
    assert len(set(language.texts["date.months"].split())) == 12
    assert language.texts["form.thousands"] != language.texts["form.decimal"]
    assert "2026" in language.day(date(2026, 2, 1))
    assert "13" in language.day(date(2026, 12, 13))


def test_a_lost_value_and_a_lost_key_are_noticed() -> None:
    """The law can fail: a planted translation without a number, and one key less."""
    texts = dict(ENGLISH.texts)
    texts["odds.picture"] = "Of 100 people some are named."
    del texts["bands.band"]
    assert differences(Language("xx", texts)) == ["bands.band", "odds.picture"]


def test_a_language_without_a_file_is_refused() -> None:
    for code in ("xx", "", None, 3, "../en"):
        with pytest.raises(InvalidParameter, match="'de', 'en', 'fr'"):
            read_language(code)


def test_times_are_told_in_universal_time() -> None:
    when = datetime(2026, 9, 3, 9, 12, tzinfo=UTC)
    elsewhere = when.astimezone(timezone(timedelta(hours=5, minutes=45)))
    assert ENGLISH.moment(elsewhere) == "3 September 2026, 09:12 UTC"
    assert read_language("de").moment(when) == "3. September 2026, 09:12 UTC"
    assert read_language("fr").day(date(2026, 8, 1)) == "1er août 2026"


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
