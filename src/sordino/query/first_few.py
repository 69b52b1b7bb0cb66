"""What the first few groups are to be chosen by, and how many they are."""

from dataclasses import dataclass
from typing import Any, Final, final

from sordino import _validate
from sordino.aggregations.base import AbstractAggregation
from sordino.errors import InvalidParameter
from sordino.keysets import KeySet
from sordino.words import Words, call

RANK: Final = "rank"
"""The column of the place of a group, and the name under which it has a weight."""
_MOST: Final = 1000


@final
@dataclass(frozen=True)
class FirstFew:
    """So many groups, the greatest first, by an answer that is not told itself."""

    most: int
    by: AbstractAggregation

    @property
    def words(self) -> Words:
        """Return the number and the question, in a form that lasts."""
        return call("top", most=self.most, by=self.by.words)


def first_few(most: Any, by: Any, keyset: KeySet | None) -> FirstFew:
    """Return what the first groups are chosen by, refusing more than there are."""
    number = _validate.integer(groups=most, least=1, most=_MOST)
    if not isinstance(by, AbstractAggregation):
        raise InvalidParameter(
            "by", by, "must be a count or a sum", "Try top(10, by=sd.count())."
        )
    if keyset is not None and number > keyset.size:
        raise InvalidParameter(
            "groups",
            most,
            f"is more than the {keyset.size} groups that there are",
            "Ask for fewer, or for all of them: agg(n=sd.count()).",
        )
    return FirstFew(number, by)
