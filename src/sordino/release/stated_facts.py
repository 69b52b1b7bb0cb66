"""Facts of a label as somebody stated them in JSON: each is checked, none believed.

A reader returns what a value of JSON stands for, or raises `ValueError`.
"""

import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

from sordino.display.formatting import cut_text, format_key
from sordino.errors import InvalidLabel
from sordino.numbers import probability
from sordino.release.exactness import Reach
from sordino.release.label_facts import (
    FORM,
    CountedRange,
    LabelFacts,
    LeftOut,
    PaidBy,
)
from sordino.release.request_facts import Protected, RowLimit

T = TypeVar("T")
Reader = Callable[[Any], T]

_LONGEST: Final = 240
"""Letters of a text that are kept."""
_LONGEST_SHARE: Final = 40
_MOST: Final = 10_000
"""Entries of a list: a release may have as many answers."""
_LARGEST: Final = 2**63
_GROUPS: Final = {"none", "public", "hidden", "mixed", "first", ""}


def read_facts(name: str, text: str) -> LabelFacts:
    """Return the facts that a text of JSON states, or refuse it."""
    try:
        stated = json.loads(text)
        is_later = _whole(stated["form"]) > FORM
        facts = None if is_later else _FACTS(stated)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        raise InvalidLabel(name, "has a label that is not one of Sordino's") from None
    if facts is None:
        raise InvalidLabel(
            name,
            "has a label of a later version than this one",
            "Update: pip install --upgrade sordino.",
        )
    return facts


def _text(value: Any) -> str:
    """Return a text on one line, and not too long."""
    if not isinstance(value, str):
        raise TypeError
    return cut_text(format_key(value[:_LONGEST]), _LONGEST)


def _whole(value: Any) -> int:
    """Return a whole number of 64 bits."""
    if type(value) is not int or not -_LARGEST <= value < _LARGEST:
        raise TypeError
    return value


def _natural(value: Any) -> int:
    """Return a whole number that is not negative."""
    if _whole(value) < 0:
        raise ValueError
    return _whole(value)


def _truth(value: Any) -> bool:
    """Return a truth."""
    if type(value) is not bool:
        raise TypeError
    return value


def _double(value: Any) -> float:
    """Return a finite number."""
    if type(value) not in {int, float} or not math.isfinite(value):
        raise TypeError
    return float(value)


def _hundredth(value: Any) -> int:
    """Return so many of a hundred."""
    if not 0 <= _whole(value) <= 100:
        raise ValueError
    return _whole(value)


def _share(value: Any) -> str:
    """Return an exact share between 0 and 1."""
    text = _text(value)
    if len(text) > _LONGEST_SHARE or not 0 < probability(share=text) < 1:
        raise ValueError
    return text


def _moment(value: Any) -> str:
    """Return a time."""
    return datetime.fromisoformat(_text(value)).isoformat()


def _kind_of_groups(value: Any) -> str:
    """Return which groups there are."""
    if value not in _GROUPS:
        raise ValueError
    return _text(value)


def _optional(read: Reader[T]) -> Reader[T | None]:
    """Return a reader that takes nothing as well."""
    return lambda value: None if value is None else read(value)


def _several(read: Reader[T]) -> Reader[tuple[T, ...]]:
    """Return a reader of lists."""

    def read_list(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) > _MOST:
            raise TypeError
        return tuple(map(read, value))

    return read_list


def _object(make: Callable[..., T], **fields: Reader[Any]) -> Reader[T]:
    """Return a reader of objects that have these fields and no others."""

    def read_object(value: Any) -> T:
        if not isinstance(value, dict) or set(value) != set(fields):
            raise TypeError
        return make(**{name: read(value[name]) for name, read in fields.items()})

    return read_object


_NAMES: Final = _several(_text)
_FACTS: Final = _object(
    LabelFacts,
    units=_several(
        _object(
            Protected,
            table=_text,
            verb=_text,
            column=_text,
            most=_several(_natural),
        )
    ),
    found=_optional(_hundredth),
    found_by_all=_optional(_hundredth),
    is_divided=_truth,
    price=_text,
    confidence=_share,
    reaches=_several(
        _object(Reach, name=_text, least=_optional(_double), most=_optional(_double))
    ),
    numbers=_natural,
    rough=_natural,
    limits=_several(_object(RowLimit, verb=_text, most=_natural, columns=_NAMES)),
    bounds=_several(_object(CountedRange, name=_text, low=_double, high=_double)),
    groups=_kind_of_groups,
    is_processed=_truth,
    shown_from=_optional(_double),
    minimum=_optional(_natural),
    left_out=_optional(
        _several(
            _object(
                LeftOut,
                kind=_text,
                what=_text,
                counted=_text,
                count=_whole,
                low=_double,
                high=_double,
            )
        )
    ),
    noise=_NAMES,
    paid_by=_optional(
        _object(PaidBy, ledger=_text, number=_natural, hash=_text, when=_moment)
    ),
    made_by=_text,
    form=_natural,
)
