"""What an attacker achieves at most, in people of a hundred, in words and as a picture.

>>> from sordino.losses.loss import PureDP
>>> odds = Odds(PureDP(1))
>>> odds.finds(5), odds.finds_of_groups(5, 2), odds.belief(1), odds.guesses
(14, 37, 3, 74)

Two arrays of a hundred people: who is named by mistake, and who rightly, at most.

They are filled from the top left and always in the same order: grouped figures are read
better than scattered ones, and figures of people better than squares.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Protocol, final

from sordino.office.html.elements import NOTHING, Html, join, tag
from sordino.office.html.page import Language

FALSE_ALARMS: Final = 5
"""Mistakes of a hundred at which odds are told."""
OTHER_ALARMS: Final = (1, 5, 10, 20)
MOST: Final = 99
"""Above it nothing is promised that a picture of a hundred could show."""


class Bound(Protocol):
    """What bounds an attacker: a loss, or the promise of a limit."""

    @property
    def tpr_at(self) -> Callable[[Any], Any]:
        """Return the greatest true positive rate at a false positive rate."""

    @property
    def advantage(self) -> Callable[[], float]:
        """Return the greatest true minus false positive rate."""


@final
@dataclass(frozen=True)
class Odds:
    """People of a hundred, each number rounded up; 100 stands for "over 99"."""

    bound: Bound

    def finds(self, alarms: int) -> int:
        """How many of 100 in the table are named, at `alarms` false alarms of 100."""
        return of_hundred(self.bound.tpr_at(Fraction(alarms, 100)))

    def finds_of_groups(self, alarms: int, size: int) -> int:
        """Return how many groups of people who act as one are named.

        One person after the other comes or goes, and each time at most what the curve
        allows is gained: the curve is applied so many times. (The curve of `size`
        releases would be less, and not a bound.)
        """
        share: Any = Fraction(alarms, 100)
        for _ in range(size):
            share = self.bound.tpr_at(share)
        return of_hundred(share)

    def belief(self, beforehand: int) -> int:
        """Return of how many named people an attacker is right.

        So many of 100 are in the table beforehand, and 5 false alarms are accepted:
        with the least share of alarms fixed, Bayes' rule grows in the share found.
        """
        named = Fraction(self.bound.tpr_at(Fraction(FALSE_ALARMS, 100)))
        right = beforehand * named
        wrong = (100 - beforehand) * Fraction(FALSE_ALARMS, 100)
        return of_hundred(right / (right + wrong))

    @cached_property
    def guesses(self) -> int:
        """Return how often a guess between two equal chances is right, of 100."""
        return of_hundred((1 + Fraction(self.bound.advantage())) / 2)

    @property
    def promises(self) -> bool:
        """Say whether there is anything to be promised at these odds."""
        return self.finds(FALSE_ALARMS) <= MOST


def of_hundred(share: float | Fraction) -> int:
    """Return a share in of_hundred, rounded up.

    >>> of_hundred(0.13591409142295228), of_hundred(1.0), of_hundred(0.990001)
    (14, 100, 100)
    """
    return min(math.ceil(100 * Fraction(share)), 100)


def hundred_text(language: Language, count: int) -> str:
    """Return a number of people of a hundred; a hundred is never promised.

    >>> from sordino.office.html.page import read_language
    >>> hundred_text(read_language("en"), 14), hundred_text(read_language("en"), 100)
    ('14', 'over 99')
    """
    if count <= MOST:
        return str(count)
    return language.plain("form.over", count=str(MOST))


_PERSON: Final = "person"
_ACROSS: Final = 10


def people_symbol() -> Html:
    """Return the shape of a person, which stands once on a page."""
    body = "M5 5.2c-1.9 0-3 1.1-3 2.8v3.4h1.3v4h3.4v-4h1.3V8c0-1.7-1.1-2.8-3-2.8z"
    shape = tag(
        "symbol",
        tag("circle", cx=5, cy=2.6, r=2),
        tag("path", d=body),
        id=_PERSON,
        viewBox="0 0 10 16",
    )
    return tag("svg", shape, class_="store", aria_hidden="true", focusable="false")


def people_picture(language: Language, odds: Odds) -> Html:
    """Return both arrays with their numbers; no picture where nothing is promised."""
    if not odds.promises:
        return NOTHING
    named = odds.finds(FALSE_ALARMS)
    label = language.plain("odds.picture", alarms=str(FALSE_ALARMS), found=str(named))
    caption = language.html("odds.caption", alarms=str(FALSE_ALARMS))
    return tag(
        "figure",
        _half(language, "outside", FALSE_ALARMS),
        _half(language, "inside", named),
        tag("figcaption", caption),
        class_="odds",
        aria_label=label,
    )


def _half(language: Language, side: str, named: int) -> Html:
    number = language.html(f"odds.{side}.number", count=str(named))
    words = tag(
        "p",
        tag("span", number, class_="big"),
        language.html(f"odds.{side}.who"),
    )
    return tag("div", words, _array(named))


def _array(named: int) -> Html:
    """Return a hundred people, the named ones filled."""
    people = (
        tag(
            "use",
            href=f"#{_PERSON}",
            class_="in" if place < named else "out",
            x=15 * (place % _ACROSS),
            y=19 * (place // _ACROSS),
            width=11,
            height=17.6,
        )
        for place in range(100)
    )
    return tag("svg", join(*people), aria_hidden="true", viewBox="-1 -1 149 191")
