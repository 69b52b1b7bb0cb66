"""Odds as they are printed: a hundred of a hundred is never promised."""

from sordino.pages.languages import Language
from sordino.pages.odds import MOST


def hundred_text(language: Language, count: int) -> str:
    """Return a number of people of a hundred; a hundred is never promised.

    >>> from sordino.pages.languages import read_language
    >>> hundred_text(read_language("en"), 14), hundred_text(read_language("en"), 100)
    ('14', 'over 99')
    """
    if count <= MOST:
        return str(count)
    return language.plain("form.over", count=str(MOST))
