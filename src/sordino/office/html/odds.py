"""What an attacker achieves at most, in people of a hundred, in words and as a picture.

The picture fills its people from the top left and always in the same order: grouped
figures are read better than scattered ones, and figures of people better than squares.

>>> from sordino.losses.loss import PureDP
>>> odds = Odds(PureDP(1))
>>> odds.finds(5), odds.finds_of_groups(5, 2), odds.belief(1), odds.guesses
(14, 37, 3, 74)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Protocol, final

from sordino.office.html.elements import NOTHING, Html, fill_template
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
        """Return how many groups of people who act as one are named."""
        share: Any = Fraction(alarms, 100)
        # one person after the other, each by what the curve allows: the curve of `size`
        # releases is lower, and would promise a family too much
        for _ in range(size):
            share = self.bound.tpr_at(share)
        return of_hundred(share)

    def belief(self, beforehand: int) -> int:
        """Of 100 named people, how many are in the table, at 5 false alarms of 100.

        `beforehand` of 100 people are in it.
        """
        # with the share of false alarms fixed, Bayes' rule grows in the share found, so
        # the bound of that share bounds it
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
        """Whether anything can be promised at these odds."""
        return self.finds(FALSE_ALARMS) <= MOST


def of_hundred(share: float | Fraction) -> int:
    """Return a share in of_hundred, rounded up.

    >>> of_hundred(0.13591409142295228), of_hundred(1.0), of_hundred(0.990001)
    (14, 100, 100)
    """
    # upwards: a reader is never promised less than an attacker may achieve
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


def people_picture(language: Language, odds: Odds) -> Html:
    """Both arrays with their numbers; no picture where nothing is promised."""
    if not odds.promises:
        return NOTHING
    return fill_template(
        "html/odds.html",
        language=language,
        alarms=FALSE_ALARMS,
        named=odds.finds(FALSE_ALARMS),
    )
