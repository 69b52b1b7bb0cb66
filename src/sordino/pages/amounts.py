"""Amounts of a budget as people read them: what is spent rounds up, what is left down.

>>> from decimal import ROUND_CEILING
>>> from sordino.pages.languages import read_language
>>> english = read_language("en")
>>> amount_in_words(english, "epsilon", Fraction(1, 3), ROUND_CEILING)
'0.3334'
>>> amount_in_words(english, "delta", Fraction(1, 2_000_000), ROUND_CEILING)
'0.5 in a million'
"""

from decimal import Decimal
from fractions import Fraction
from typing import Final

from sordino.numbers import Extended
from sordino.numbers.precision import decimals
from sordino.pages.languages import Language
from sordino.pages.story import Amounts, Purse

_DIGITS: Final = 4
_MILLION: Final = 10**6
_DELTA: Final = "delta"
_FINEST: Final = Fraction(1, 10**9)


def amount_in_words(
    language: Language, name: str, amount: Extended, rounding: str
) -> str:
    """Return an amount to four digits; a small delta as so many in a million."""
    if not isinstance(amount, Fraction):
        return language.plain("amount.endless")
    if name == _DELTA and _FINEST <= amount < Fraction(1, 1000):
        millionths = _decimal_text(amount * _MILLION, rounding)
        return language.plain("amount.millionths", count=language.number(millionths))
    return language.number(_decimal_text(amount, rounding))


def _decimal_text(amount: Fraction, rounding: str) -> str:
    """Return four digits, without zeros at the end."""
    with decimals(_DIGITS, rounding):
        rounded = Decimal(amount.numerator) / Decimal(amount.denominator)
    if rounded and not -_DIGITS - 3 < rounded.adjusted() < 15:
        return f"{rounded.normalize():e}"
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def main_name(purse: Purse) -> str | None:
    """Return the first amount that a budget counts and can use up, if there is one."""
    return next(
        (
            name
            for name, whole in purse.whole.items()
            if name in purse.spent and name in purse.left and _is_usable(whole)
        ),
        None,
    )


def amounts_in_words(language: Language, amounts: Amounts, rounding: str) -> str:
    """Return all amounts that are not zero, each with its name."""
    return ", ".join(
        language.plain(
            "amount.named",
            name=language.texts.get(f"amount.{name}", name),
            amount=amount_in_words(language, name, amount, rounding),
        )
        for name, amount in amounts.items()
        if amount
    )


def _is_usable(whole: Extended) -> bool:
    """Tell whether an amount is one that can be used up."""
    return isinstance(whole, Fraction) and whole > 0
