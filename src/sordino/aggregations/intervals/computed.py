"""Intervals of answers that are computed of others, within one row of a release.

| answer | what is known of its noise | interval |
|---|---|---|
| `a + b - 2 * c` | a form in the noisy numbers | the reach of the form |
| `a / b`, `100 * a / (a + b)`, `c / b - 1` | a quotient of two forms | Fieller's |
| `f(x)`, f monotone | the interval of x | its ends under f |
| anything else | nothing | none |

Forms are in the noisy numbers that were drawn, so answers that share noise, such as a
sum and a count that were measured together, are known to. Their values are those of
the printed answers, so a release that is read from a ledger says the same. Proofs in
docs/proofs/intervals.md, lemmas 3, 7 and 8.

>>> import numpy as np
>>> from sordino.noise.laplace import Laplace
>>> laws = AnswerLaws.of(
...     {"a": NumberForm({"x": 1.0}), "b": NumberForm({"y": 1.0})},
...     {"a": np.array([30.0]), "b": np.array([120.0])},
...     NumberNoises({"x": Noise(Laplace(2)), "y": Noise(Laplace(2))}),
...     Fraction(95, 100),
... )
>>> a, b = laws.answer("a"), laws.answer("b")
>>> share = a.divide_by(a.plus(b)).times(100)
>>> [round(float(end[0]), 1) for end in share.bars]
[1.6, 16.6, 23.2]
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.aggregations.intervals.linear_forms import (
    Bars,
    Form,
    Noise,
    Shown,
    Sums,
    blank_missing,
    linear,
    unknown_bars,
)
from sordino.aggregations.intervals.quotients import ratio_bars
from sordino.losses.curves.points import Floats

_NONE: Final = Fraction(0)
_LARGEST: Final = 1e100
_MOST_NUMBERS: Final = 20_000
"""Sums of more numbers have no interval: it would take a while."""
_CLOSE: Final = 2.0**-30
"""How near the sum that showed a group must be to a form in its answers."""


@final
@dataclass(frozen=True)
class NumberForm:
    """An answer as a form in noisy numbers that have names."""

    factors: Mapping[Any, float]
    constant: float = 0.0
    rounding: Fraction = Fraction(0)
    """The greatest distance by which it was moved afterwards."""


@final
@dataclass(frozen=True)
class NumberNoises:
    """The noise of each number, and what those that showed a group had to reach."""

    noises: Mapping[Any, Noise]
    cuts: tuple[tuple[frozenset[Any], float], ...] = ()
    """Sums of numbers, each with what it had to reach."""
    shared: frozenset[Any] = frozenset()
    """Numbers of which all groups have the same draw."""


@final
@dataclass(frozen=True)
class Linear:
    """A form in the numbers, plus a number."""

    factors: Form
    constant: float = 0.0

    def times(self, factor: float) -> "Linear":
        """Return a multiple of it."""
        factors = tuple(factor * each for each in self.factors)
        return Linear(factors, factor * self.constant)

    def plus(self, other: "Linear") -> "Linear":
        """Add another, number by number: equal noise is added before it is bounded."""
        pairs = zip(self.factors, other.factors, strict=True)
        return Linear(tuple(a + b for a, b in pairs), self.constant + other.constant)


@final
@dataclass(frozen=True)
class Quotient:
    """One form over another."""

    top: Linear
    bottom: Linear


Law: TypeAlias = Linear | Quotient


@final
@dataclass(frozen=True, eq=False)
class AnswerLaws:
    """Answers as forms in noisy numbers, by their names; the same in each row."""

    sums: Sums
    forms: Mapping[str, Law]
    confidence: Fraction
    blocked: tuple[bool, ...]
    """Numbers that showed their group and cannot be told from the answers."""
    shared: tuple[bool, ...]
    """Numbers of which all rows have the same draw."""
    origins: frozenset[tuple[Any, str]] = frozenset()
    """The charges that drew the noise, each with the name of its request; none where
    that is not known."""
    places: NDArray[np.intp] | None = None
    """Which group each row is among those drawn; None where a row is of several."""
    there: NDArray[np.bool_] | None = None
    """Which numbers each row has, if not all of them."""

    @classmethod
    def of(
        cls,
        forms: Mapping[str, NumberForm],
        answers: Mapping[str, Floats],
        numbers: NumberNoises,
        confidence: Fraction,
    ) -> "AnswerLaws":
        """Return the laws of answers, of which each has a form and a value a row."""
        names = [*numbers.noises]
        matrix = np.array([
            [form.factors.get(number, 0.0) for number in names]
            for form in forms.values()
        ])
        silent = next(iter(numbers.noises.values())).mechanism
        # each printed answer is one more number, without noise but for its rounding
        noises = [
            *numbers.noises.values(),
            *(Noise(silent, _NONE, form.rounding) for form in forms.values()),
        ]
        factors = np.hstack([matrix, np.eye(len(forms))])
        laws = {
            name: Linear(tuple(row.tolist()), form.constant)
            for (name, form), row in zip(forms.items(), factors, strict=True)
        }
        printed = [answers[name] - form.constant for name, form in forms.items()]
        # so a form has the value of the very answers, and the noise of its numbers
        values = (*(np.zeros_like(printed[0]) for _ in names), *printed)
        shown, blocked = _find_shown(names, matrix, numbers)
        sums = Sums(values, tuple(noises), shown)
        shared = (*(name in numbers.shared for name in names), *((False,) * len(forms)))
        places = np.arange(len(printed[0]))
        return cls(sums, laws, confidence, blocked, shared, places=places)

    def answer(self, name: str) -> "ComputedAnswer":
        """Return an answer by its name, without its printed interval."""
        return ComputedAnswer(self, self.forms.get(name))

    def with_form(self, name: str, law: Law | None) -> "AnswerLaws":
        """Return the laws with one more, or one less where it is not known."""
        others = {other: form for other, form in self.forms.items() if other != name}
        return replace(self, forms=others if law is None else others | {name: law})

    def rename(self, names: Mapping[str, str]) -> "AnswerLaws":
        """Return the laws of answers with other names."""
        forms = {names.get(name, name): form for name, form in self.forms.items()}
        return replace(self, forms=forms)

    def take(self, rows: Any) -> "AnswerLaws":
        """Return the laws of some rows."""
        values = tuple(value[rows] for value in self.sums.values)
        there = None if self.there is None else self.there[rows]
        places = None if self.places is None else self.places[rows]
        sums = replace(self.sums, values=values)
        return replace(self, sums=sums, there=there, places=places)

    def add_up(
        self,
        rows: NDArray[np.intp],
        slots: NDArray[np.intp],
        weights: Floats,
        size_of_all: int,
    ) -> "AnswerLaws | None":
        """Return the laws of sums of rows, each times the weight of its slot.

        Each row goes to one of the new `rows`, into a slot of its own there. Draws of
        different rows are different numbers, but for those that all rows share. None
        where that is not the law of what is added: of groups that had to show.
        """
        size, numbers = len(weights), len(self.sums.noises)
        there = np.zeros((size_of_all, size), np.bool_)
        there[rows, slots] = True
        is_plain = self.sums.shown is None and not any(self.blocked)
        uneven = not there.all()
        # rows of several groups may have draws in common
        if not is_plain or self.places is None or size * numbers > _MOST_NUMBERS:
            return None
        values = np.zeros((size, numbers, len(there)))
        for number, value in enumerate(self.sums.values):
            values[slots, number, rows] = value
        forms = dict[str, Law]()
        shared = np.array(self.shared)
        for name, law in self.forms.items():
            factors = np.array(law.factors) if isinstance(law, Linear) else None
            if factors is None or not isinstance(law, Linear):
                continue
            # a draw of all rows, or a constant, counts as often as there are rows
            if uneven and (law.constant or factors[shared].any()):
                continue
            table = np.outer(weights, factors)
            table[0, shared] = weights.sum() * factors[shared]
            table[1:, shared] = 0.0
            forms[name] = Linear(
                tuple(table.ravel().tolist()), law.constant * float(weights.sum())
            )
        sums = Sums(tuple(values.reshape(size * numbers, -1)), self.sums.noises * size)
        alike = (*self.shared, *((False,) * (numbers * (size - 1))))
        return AnswerLaws(
            sums,
            forms,
            self.confidence,
            (False,) * (size * numbers),
            alike,
            self.origins,
            there=np.repeat(there, numbers, axis=1) if uneven else None,
        )

    def join(self, other: "AnswerLaws", names: Mapping[str, str]) -> "AnswerLaws":
        """Return the laws of these answers and of others in the same rows.

        Draws of one charge are the same of the same group, and others of other groups
        but for those that all share; draws of different charges are independent. Where
        nobody knows which of these holds the others have no law.
        """
        renamed = other.rename(names).forms
        places = self._places_of(other)
        if places is None:
            return self
        mine, size = len(self.sums.noises), len(self.sums.noises) + len(places)
        if (places < mine).all():
            return replace(self, forms={**self.forms, **renamed})
        own = np.arange(mine)
        forms = {name: _move_law(law, own, size) for name, law in self.forms.items()}
        forms |= {name: _move_law(law, places, size) for name, law in renamed.items()}
        shown, cut = _join_shown(self.sums, other.sums)
        blocked = np.array([*self.blocked, *other.blocked]) | cut
        values = (*self.sums.values, *other.sums.values)
        noises = (*self.sums.noises, *other.sums.noises)
        return AnswerLaws(
            Sums(values, noises, shown),
            forms,
            self.confidence,
            tuple(blocked.tolist()),
            (*self.shared, *other.shared),
            self.origins | other.origins,
            there=_join_there(self, other),
        )

    def _places_of(self, other: "AnswerLaws") -> NDArray[np.intp] | None:
        """Return where each number of others stands beside these: its own, or a new.

        None where it is not known which draws both have in common.
        """
        mine, theirs = len(self.sums.noises), len(other.sums.noises)
        apart = np.arange(mine, mine + theirs)
        if not self.origins or not other.origins or self.confidence != other.confidence:
            return None
        charges = ({charge for charge, _ in laws.origins} for laws in (self, other))
        if not set.intersection(*charges):
            return apart
        # requests of one charge may share draws, as counts of a survey do
        if self.origins != other.origins or len(self.origins) > 1:
            return None
        # of one request, so these are the same numbers, each in its group
        if self.places is None or other.places is None or mine != theirs:
            return None
        same = self.places == other.places
        if same.any():
            return np.arange(mine) if same.all() else None
        shared = np.flatnonzero(self.shared)
        apart[shared] = shared
        return apart

    def bars(self, law: Law) -> Bars | None:
        """Return the intervals of a law, None where noise is in it that is not told."""
        if self.there is None:
            return self._even_bars(law)
        # rows that have the same numbers at a time
        patterns, which = np.unique(self.there, axis=0, return_inverse=True)
        bars = unknown_bars(len(self.there))
        for place, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.ravel() == place)
            part = replace(self.take(rows), there=None)._even_bars(  # noqa: SLF001 its own
                _keep_numbers(law, pattern)
            )
            if part is None:
                return None
            for whole, some in zip(bars, part, strict=True):
                whole[rows] = some
        return bars

    def _even_bars(self, law: Law) -> Bars | None:
        parts = (law,) if isinstance(law, Linear) else (law.top, law.bottom)
        factors = np.array([part.factors for part in parts])
        constants = np.array([part.constant for part in parts])
        if (factors[:, np.array(self.blocked)] != 0).any():
            return None
        # squares of larger factors are no doubles, nor is what follows of them
        if not max(np.abs(factors).max(), np.abs(constants).max()) < _LARGEST:
            return None
        if isinstance(law, Quotient):
            top, bottom = ((part.factors, part.constant) for part in parts)
            return ratio_bars(self.sums, top, bottom, self.confidence)
        if not any(law.factors):
            even = np.full(len(self.sums.values[0]), law.constant)
            return Bars(np.zeros_like(even), even, even)
        sd, low, high = linear(self.sums, law.factors, self.confidence)
        return Bars(sd, low + law.constant, high + law.constant)


@final
@dataclass(frozen=True, eq=False)
class ComputedAnswer:
    """An answer with what is known of its noise: a law, or its interval alone."""

    laws: AnswerLaws | None
    law: Law | None
    known: Bars | None = None
    """An interval that was printed, or follows from one."""

    @cached_property
    def bars(self) -> Bars | None:
        """Return the intervals, None where none is known."""
        if self.known is not None or self.laws is None or self.law is None:
            return self.known
        return self.laws.bars(self.law)

    def plus(self, other: "ComputedAnswer | float") -> "ComputedAnswer":
        """Add a number or another answer."""
        if isinstance(other, ComputedAnswer):
            return ComputedAnswer(self.laws, _sum_of(self.law, other.law))
        shifted = self.known and _move_ends(self.known, 1.0, lambda end: end + other)
        return ComputedAnswer(self.laws, _shift_law(self.law, other), shifted)

    def times(self, factor: float) -> "ComputedAnswer":
        """Multiply by a number."""
        known = self.known and _move_ends(
            self.known, abs(factor), lambda end: end * factor
        )
        match self.law:
            case Linear():
                return ComputedAnswer(self.laws, self.law.times(factor), known)
            case Quotient(top, bottom):
                law = Quotient(top.times(factor), bottom)
                return ComputedAnswer(self.laws, law, known)
        return ComputedAnswer(self.laws, None, known)

    def divide_by_number(self, divisor: float) -> "ComputedAnswer":
        """Divide by a number."""
        multiple = self.times(1 / divisor)
        known = self.known and _move_ends(
            self.known, 1 / abs(divisor), lambda end: end / divisor
        )
        return replace(multiple, known=known)

    def divide_by(self, other: "ComputedAnswer") -> "ComputedAnswer":
        """Divide by another answer."""
        match self.law, other.law:
            case Linear() as top, Linear() as bottom:
                return ComputedAnswer(self.laws, Quotient(top, bottom))
            case Quotient(top, bottom), Quotient(other_top, same) if bottom == same:
                return ComputedAnswer(self.laws, Quotient(top, other_top))
        return ComputedAnswer(self.laws, None)

    def divide_number(self, number: float) -> "ComputedAnswer":
        """Divide a number by it."""
        match self.law:
            case Linear() as bottom:
                top = bottom.times(0.0).plus(_number(bottom, number))
                return ComputedAnswer(self.laws, Quotient(top, bottom))
            case Quotient(top, bottom):
                law = Quotient(bottom.times(number), top)
                return ComputedAnswer(self.laws, law)
        return ComputedAnswer(self.laws, None)

    def map_ends(self, function: Callable[[float], float | None]) -> "ComputedAnswer":
        """Put a monotone function over it: the ends of its interval are mapped.

        Where the function has no value at an end, the end is not known.
        """
        if self.bars is None:
            return ComputedAnswer(self.laws, None)
        ends = [_map_ends(function, end) for end in (self.bars.low, self.bars.high)]
        low, high = np.minimum(*ends), np.maximum(*ends)  # NaN if either is
        nothing = np.full_like(low, np.nan)
        return ComputedAnswer(self.laws, None, Bars(nothing, low, high))


def _find_shown(
    names: list[Any], matrix: Floats, numbers: NumberNoises
) -> tuple[Shown | None, tuple[bool, ...]]:
    """What showed the groups, as a form in the numbers; and numbers with no law.

    It has to follow from the answers: else its size in a group is not known, and what
    shares noise with it has no interval.
    """
    cut = [any(name in some for some, _ in numbers.cuts) for name in names]
    nothing = (False,) * len(matrix)
    if not any(cut):
        return None, (*(False for _ in names), *nothing)
    weights = np.array(cut, np.float64)
    shares = np.linalg.lstsq(matrix.T, weights, rcond=None)[0]
    is_told = np.allclose(shares @ matrix, weights, atol=_CLOSE)
    sums = [some for some, _ in numbers.cuts if some & {*names}]
    if len(sums) > 1 or not is_told:
        return None, (*cut, *nothing)
    (reached,) = (end for some, end in numbers.cuts if some == sums[0])
    return Shown((*weights.tolist(), *shares.tolist()), reached), (
        *(False for _ in names),
        *nothing,
    )


def _move_law(law: Law, places: NDArray[np.intp], size: int) -> Law:
    """Return a law whose numbers stand at other places among more of them."""
    if isinstance(law, Quotient):
        parts = (_move_law(part, places, size) for part in (law.top, law.bottom))
        return Quotient(*parts)  # type: ignore[arg-type]
    factors = np.zeros(size)
    factors[places] = law.factors
    return Linear(tuple(factors.tolist()), law.constant)


def _keep_numbers(law: Law, there: NDArray[np.bool_]) -> Law:
    """Return a law in the numbers that are there alone."""
    if isinstance(law, Quotient):
        parts = (_keep_numbers(part, there) for part in (law.top, law.bottom))
        return Quotient(*parts)  # type: ignore[arg-type]
    factors = np.where(there, law.factors, 0.0)
    return Linear(tuple(factors.tolist()), law.constant)


def _join_shown(mine: Sums, theirs: Sums) -> tuple[Shown | None, NDArray[np.bool_]]:
    """Why rows of both show, and the numbers that are cut beyond what can be told.

    Of two cuts no law is known, so both are numbers that are not told.
    """
    empty = [np.zeros(len(sums.noises)) for sums in (mine, theirs)]
    weights = [
        blank if sums.shown is None else np.array(sums.shown.weights)
        for sums, blank in zip((mine, theirs), empty, strict=True)
    ]
    joined, nothing = np.concatenate(weights), np.concatenate(empty) != 0
    cuts = [sums.shown.cut for sums in (mine, theirs) if sums.shown is not None]
    if len(cuts) == 1:
        return Shown(tuple(joined.tolist()), cuts[0]), nothing
    return None, joined != 0


def _join_there(mine: AnswerLaws, theirs: AnswerLaws) -> NDArray[np.bool_] | None:
    if mine.there is None and theirs.there is None:
        return None
    parts = [
        np.ones((len(laws.sums.values[0]), len(laws.sums.noises)), np.bool_)
        if laws.there is None
        else laws.there
        for laws in (mine, theirs)
    ]
    return np.hstack(parts)


def _number(like: Linear, number: float) -> Linear:
    return Linear(tuple(0.0 for _ in like.factors), number)


def _sum_of(law: Law | None, other: Law | None) -> Law | None:
    match law, other:
        case Linear(), Linear():
            return law.plus(other)
        case Quotient(top, bottom), Quotient(more, same) if bottom == same:
            return Quotient(top.plus(more), bottom)
    return None


def _shift_law(law: Law | None, number: float) -> Law | None:
    match law:
        case Linear():
            return law.plus(_number(law, number))
        case Quotient(top, bottom):
            return Quotient(top.plus(bottom.times(number)), bottom)
    return None


def _move_ends(bars: Bars, stretch: float, move: Callable[[Floats], Floats]) -> Bars:
    """Move both ends; where doubles cannot hold one, it is not known."""
    with np.errstate(over="ignore", invalid="ignore"):
        ends = [move(end) for end in (bars.low, bars.high)]
        sd = bars.sd * stretch
    pairs = zip(ends, (bars.low, bars.high), strict=True)
    lost = [np.isinf(end) & np.isfinite(before) for end, before in pairs]
    moved = Bars(sd, np.minimum(*ends), np.maximum(*ends))
    return blank_missing(moved, lost[0] | lost[1])


def _map_ends(function: Callable[[float], float | None], ends: Floats) -> Floats:
    mapped = (None if math.isnan(end) else function(end) for end in ends.tolist())
    return np.array([np.nan if end is None else end for end in mapped])
