"""Law: what planning charges the kernel accepts, and what is weaker it refuses.

Prices of every kind are drawn, for every unit and every budget; the kernel derives each
anew. A planted error in planning shows here as a refused price.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import count as count_from
from itertools import islice
from typing import Final, TypeAlias

import pytest

from sordino.aggregations.measurement import AbstractGaussianShare, GaussianShare
from sordino.data.contribution import Contribution, Versions
from sordino.kernel import Refused, check, checker
from sordino.noise.gaussian import Gaussian
from sordino.noise.sensitivity import Sensitivity
from sordino.plan import keys_first
from sordino.session import tables
from tests.batches import for_each
from tests.dice import rolled
from tests.drawn_prices import Price, prices, weakened
from tests.effort import SEED, often

_SEED: Final = 7_000 + SEED


def _draws(kinds: Sequence[str] = (), first: int = 0) -> Iterator[Price]:
    """Draw prices without an end, each with its kind."""
    for seed in count_from(_SEED + first):
        yield from prices(rolled(seed), kinds)


@cache
def _every_kind() -> list[Price]:
    return [*islice(_draws(), often(50, 600))]


def _refusal(text: str) -> str:
    try:
        check(text)
    except Refused as refusal:
        return str(refusal)
    return ""


@pytest.mark.slow
def test_drawn_prices_are_accepted() -> None:
    """No honest price is refused, whatever was asked; each kind is among them."""
    kinds = {"release", "keys", "first few", "over time", "margins", "batch", "part"}
    assert {kind for kind, _ in _every_kind()} == kinds
    refused = [(_refusal(text), text) for _, text in _every_kind() if _refusal(text)]
    assert refused == []


@pytest.mark.slow
def test_weaker_noise_costs_more() -> None:
    """With a part in fifty less noise a price costs more, whatever it was charged.

    Most are refused at once. Where something of the charge was left over, the honest
    price is accepted for less, down to a charge that is too small for the weaker one.
    A composed curve is known to the step of its grid: there it is a part in ten.
    """
    wrong, tried = list[str](), 0
    for place, (kind, text) in enumerate(_every_kind()):
        weaker = weakened(text, rolled(place), Fraction(98, 100))
        if kind == "batch" or weaker is None:
            continue
        tried += 1
        if "composed" in check(text) and not _is_told_apart(text, weaker):
            weaker = weakened(text, rolled(place), Fraction(9, 10)) or ""
        if not _is_told_apart(text, weaker):
            wrong.append(f"{text}\n{weaker}")
    assert tried > 25
    assert wrong == []


def _is_told_apart(text: str, weaker: str) -> bool:
    """Whether some charge is enough for one certificate, and too small for another."""
    if _refusal(weaker):
        return True
    charge = json.loads(text)["charge"]
    for name in sorted(charge, reverse=True):  # of delta much is left over oftener
        if charge[name] == "inf" or not _refusal(_charged(text, name, Fraction(0))):
            continue
        low, high = Fraction(0), Fraction(charge[name])
        while high - low > high / 10**9:
            middle = (low + high) / 2 if low else high / 8
            if _refusal(_charged(text, name, middle)):
                low = middle
            elif _refusal(_charged(weaker, name, middle)):
                return True
            else:
                high = middle
    return False


def _charged(text: str, name: str, amount: Fraction) -> str:
    body = json.loads(text)
    body["charge"][name] = str(amount)
    return json.dumps(body, sort_keys=True)


Patch: TypeAlias = pytest.MonkeyPatch


def _counts_for_nothing(patch: Patch) -> None:
    """Let what limits cut off be counted without a loss."""
    patch.setattr(checker, "left_out_move", lambda *_: checker.NOTHING)


def _thresholds_unread(patch: Patch) -> None:
    """Hide the keys of one person however low the threshold is."""
    patch.setattr(checker, "passing_chance", lambda *_: Decimal("1e-40"))


def _rates_unread(patch: Patch) -> None:
    """Choose by rates that nobody read."""
    first = checker.ReleaseReader._choice
    patch.setattr(
        checker.ReleaseReader,
        "_choice",
        lambda self, choice: first(self, choice | {"rate": "1/10000"}),
    )


@pytest.mark.slow
@for_each(
    "plant",
    [_thresholds_unread, _counts_for_nothing, _rates_unread][: often(1, 3)],
)
def test_a_number_that_is_not_read_is_noticed(plant: Callable[[Patch], None]) -> None:
    """Planted in the kernel: some weaker price then costs as much as the honest one."""
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        check.cache_clear()
        pairs = (
            (text, weakened(text, rolled(place), Fraction(98, 100)))
            for place, (_, text) in enumerate(_every_kind())
            if place >= often(15, 0)  # the first that is soon told
        )
        told = (_is_told_apart(text, weaker) for text, weaker in pairs if weaker)
        assert not all(told)
    check.cache_clear()


def _rows_made_for_nothing(patch: Patch) -> None:
    """Price what makes several rows of one as if it made one."""
    patch.setattr(Contribution, "times", lambda self, _: self)


def _groups_of_one(patch: Patch) -> None:
    """Price several groups of a unit as if it lay in one."""

    def touched(self: Contribution, by: Versions) -> int | None:
        return None if self.most_groups(by) is None else 1

    patch.setattr(Contribution, "groups_touched", touched)


def _scores_of_one_sign(patch: Patch) -> None:
    """Choose by scores of both signs as if a row moved them all the same way."""
    patch.setattr(keys_first, "_has_one_sign", lambda _: True)


def _squares_of_half(patch: Patch) -> None:
    """Price Gaussian noise with a square that is a half too small."""
    made = GaussianShare.reals

    def reals(self: GaussianShare, change: Sensitivity) -> Gaussian:
        return Gaussian(variance=made(self, change).variance / 2)

    patch.setattr(AbstractGaussianShare, "reals", reals)


def _parts_for_one(patch: Patch) -> None:
    """Charge the parts of a table as one of them."""
    patch.setattr(tables, "_charge", lambda *_: (Fraction(1), None))


@for_each(
    ("plant", "first"),
    [
        (_rows_made_for_nothing, 13),
        (_groups_of_one, 2),
        (_scores_of_one_sign, 13),
        (_squares_of_half, 2),
        (_parts_for_one, 5),
    ],
)
def test_errors_of_planning_are_refused(
    plant: Callable[[Patch], None], first: int
) -> None:
    """Planted: the kernel knows nothing of planning, and refuses what it gets wrong.

    By day no earlier draw shows it.
    """
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        drawn = islice(_draws(("release", "part", "first few"), first), 200)
        assert any("is lost, and" in _refusal(text) for _, text in drawn)
