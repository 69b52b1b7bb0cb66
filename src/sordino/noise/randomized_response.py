"""Randomized response: each answer is the truth, or a lie that is as good as any.

Kernel: mathematics.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Self, final, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.errors import InvalidData, InvalidParameter
from sordino.losses.curves.curve import is_revealing, response_law
from sordino.losses.curves.laws import Atoms, Laws
from sordino.losses.curves.tables import LawCurve
from sordino.losses.guarantees import Guarantees, pure_guarantees
from sordino.losses.loss import Budget, Loss, PureDP
from sordino.noise.additive import (
    AbstractMechanism,
    guarantees_of,
    least_noise,
    scale_guess,
)
from sordino.noise.numbers import ChoiceDomain, Kind, Metric, is_number, open_numbers
from sordino.noise.sampling.bits import (
    Bits,
    BitSource,
    Uniform,
    settle,
    surely_less,
    uniform_below,
)
from sordino.numbers import (
    INFINITE,
    Extended,
    Number,
    arguments,
    ball,
    distance,
    finite,
    fraction,
    positive,
    up,
)
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import change, fill
from sordino.numbers.rounding import precision


def category_laws(epsilon: Extended, categories: int) -> Laws:
    """Return the losses of the truth, of the other's truth, and of the rest."""
    most = up(epsilon)
    if most == 0 or is_revealing(epsilon):
        return (response_law(epsilon),)
    truth = 1 / (1 + (categories - 1) * math.exp(-most))
    lie = truth * math.exp(-most)
    masses = np.array([lie, (categories - 2) * lie, truth])
    losses = np.array([-most, 0.0, most])
    return (Atoms(losses, masses, masses[::-1].copy(), 0.0, most),)


@final
@dataclass(frozen=True, repr=False)
class RandomizedResponseLoss(Loss):
    """The truth with odds exp(epsilon) against each of the other categories."""

    epsilon: Extended
    categories: int

    def __init__(self, epsilon: Any, categories: Any = 2) -> None:
        fill(
            self,
            epsilon=distance(epsilon=epsilon),
            categories=arguments.integer(categories=categories, least=2),
        )

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call(
            "RandomizedResponseLoss",
            epsilon=number(self.epsilon),
            categories=self.categories,
        )

    @property
    def guarantees(self) -> Guarantees:
        return pure_guarantees(self.epsilon, Fraction(0))

    @cached_property
    def tradeoff(self) -> LawCurve:
        source = partial(category_laws, self.epsilon, self.categories)
        return LawCurve(source, self.guarantees.end)


_WORD = 64
_MOST_CATEGORIES = 1 << 62  # a category and an offset add up within int64


@final
@dataclass(frozen=True, init=False, repr=False)
class RandomizedResponse(AbstractMechanism):
    """Tell the truth with odds of exp(epsilon) to 1 against each other category.

    P[truth] = exp(epsilon) / (exp(epsilon) + categories - 1), exactly; a lie is each of
    the other categories with equal chance. `d_in` is how many answers one unit can
    change.

    | case | what happens |
    |---|---|
    | `d_in` 0 | costs nothing |
    | epsilon 0, negative, NaN, infinite, a bool | refused; see `no_noise` |
    | fewer than 2 categories | refused |
    | a value outside 0 .. categories - 1, or no integer | `InvalidData` |

    >>> RandomizedResponse(30, categories=3)([0, 2, 1])
    [0, 2, 1]
    >>> RandomizedResponse("0.5").map(1)
    RandomizedResponseLoss(epsilon=0.5, categories=2)
    """

    epsilon: Extended
    categories: int
    input_metric: ClassVar[Metric] = "l0"
    output_measure: ClassVar[type[PureDP]] = PureDP

    def __init__(self, epsilon: Number, categories: int = 2) -> None:
        count = arguments.integer(categories=categories, least=2, most=_MOST_CATEGORIES)
        fill(self, epsilon=positive(epsilon=epsilon), categories=count)

    @classmethod
    def no_noise(cls, categories: int = 2) -> Self:
        """Return the mechanism that always tells the truth; its loss is infinite."""
        return change(cls(1, categories), epsilon=INFINITE)

    @property
    def input_domain(self) -> ChoiceDomain:
        return ChoiceDomain("categories", self.categories)

    @property
    def adds_no_noise(self) -> bool:
        return self.epsilon is INFINITE

    @overload
    def __call__(self, value: int) -> int: ...
    @overload
    def __call__(self, value: np.integer[Any]) -> np.integer[Any]: ...
    @overload
    def __call__(self, value: list[int]) -> list[int]: ...
    @overload
    def __call__(self, value: tuple[int, ...]) -> tuple[int, ...]: ...
    @overload
    def __call__(self, value: NDArray[Any]) -> NDArray[np.integer[Any]]: ...
    @overload
    def __call__(self, value: Kind) -> Kind: ...

    def __call__(self, value: Any) -> Any:
        if is_number(value):
            answer = self._answer(np.array([value]), Bits())[0]
            return int(answer) if isinstance(value, int) else answer
        values, close = open_numbers(value)
        return close(self._answer(values, Bits()))

    def _answer(self, values: NDArray[Any], bits: BitSource) -> NDArray[Any]:
        """Return answers, each true or a lie that is uniform among the rest.

        They keep their dtype if it holds every category.
        """
        answers = self._check_categories(values)
        lied = np.flatnonzero(~self._truthful(answers.size, bits))
        others = np.full(lied.size, self.categories - 1, np.int64)  # all but the truth
        # an offset of at least 1: no lie is the truth, and all are alike
        answers[lied] += 1 + uniform_below(others, bits)
        answers[answers >= self.categories] -= self.categories
        fits = self.categories - 1 <= np.iinfo(values.dtype).max
        return answers.astype(values.dtype, copy=False) if fits else answers

    def _check_categories(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return a copy of the values as int64, each of them a category."""
        if values.dtype.kind not in "iu":
            raise InvalidData(
                f"randomized response takes integers, not {values.dtype}. "
                "Number the categories from 0."
            )
        if values.size and not 0 <= int(values.min()) <= int(values.max()) < (
            self.categories
        ):
            raise InvalidData(
                f"a value is not a category from 0 to {self.categories - 1}. "
                "Number the categories from 0, by a public list."
            )
        return values.astype(np.int64)

    def _truthful(self, count: int, bits: BitSource) -> NDArray[np.bool_]:
        """Return which answers are true: a uniform number is below P[truth].

        The first 64 digits decide unless they are those of P[truth] itself.
        """
        level = self._level
        if level is None:
            return np.ones(count, np.bool_)
        words = bits.words(count)
        truthful = words < np.uint64(level)
        for i in np.flatnonzero(words == np.uint64(level)):
            truthful[i] = self._settle(Uniform(bits, level, _WORD))
        return truthful

    def _settle(self, u: Uniform) -> bool:
        return settle(lambda: surely_less(u.enclosure(), self._truth), u)

    @property
    def _truth(self) -> arb:
        odds = ball(finite(self.epsilon))
        return 1 / (1 + (self.categories - 1) * (-odds).exp())

    @cached_property
    def _level(self) -> int | None:
        """Return the first 64 digits of P[truth], which is irrational; None for 1."""
        if self.epsilon is INFINITE:
            return None
        digits = 2 * _WORD
        while True:
            with precision(digits):
                ends = self._truth.lower(), self._truth.upper()
                low, high = (int(fraction(end) * 2**_WORD) for end in ends)
            if low == min(high, 2**_WORD - 1):  # the truth is never certain
                return low
            digits += _WORD

    def map(self, d_in: int) -> Loss:
        """Return the loss when at most d_in answers change, each its own release."""
        changed = arguments.integer(d_in=d_in, least=0)
        return RandomizedResponseLoss(self.epsilon, self.categories) * changed

    @classmethod
    def for_loss(cls, loss: Budget, d_in: int, categories: int = 2) -> Self:
        """Return the most truthful mechanism whose loss at d_in is within a loss.

        >>> RandomizedResponse.for_loss(PureDP(1), 2)
        RandomizedResponse(epsilon=0.5, categories=2)
        """
        count = arguments.integer(d_in=d_in, least=0)
        if count == 0:
            raise InvalidParameter(
                "d_in",
                d_in,
                "must be at least 1",
                "Say how many answers one unit can change, such as d_in=1.",
            )
        guess = scale_guess(Fraction(count), guarantees_of(loss).epsilon)
        return least_noise(
            lambda s: cls(Fraction(1) / s, categories), loss, d_in, [guess]
        )
