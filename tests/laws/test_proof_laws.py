"""Law: what planning charges the kernel accepts, and what is weaker it refuses.

Prices of every kind are drawn, for every unit and every budget; the kernel derives each
anew. A planted error in planning shows here as a refused price.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import count as count_from
from itertools import islice
from typing import Final, TypeAlias

import pytest

from sordino.aggregations.measurement import AbstractGaussianShare, GaussianShare
from sordino.data.contribution import Contribution, Versions
from sordino.kernel import Refused, check
from sordino.noise.gaussian import Gaussian
from sordino.noise.sensitivity import Sensitivity
from sordino.plan import keys_first
from sordino.session import tables
from tests.batches import for_each
from tests.dice import rolled
from tests.drawn_prices import prices, weakened
from tests.effort import SEED, often

_SEED: Final = 7_000 + SEED


def _drawn(count: int, kinds: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Draw so many prices, each with its kind."""
    found = (
        price for seed in count_from(_SEED) for price in prices(rolled(seed), kinds)
    )
    return islice(found, count)


def _refusal(text: str) -> str:
    try:
        check(text)
    except Refused as refusal:
        return str(refusal)
    return ""


@pytest.mark.slow
def test_drawn_prices_are_accepted() -> None:
    """No honest price is refused, whatever was asked; each kind is among them."""
    drawn = [*_drawn(often(120, 600))]
    kinds = {"release", "keys", "first few", "over time", "margins", "batch", "part"}
    assert {kind for kind, _ in drawn} == kinds
    assert [(_refusal(text), text) for _, text in drawn if _refusal(text)] == []


@pytest.mark.slow
def test_weaker_noise_is_refused() -> None:
    """A part in fifty less noise is more than was charged, but for a few that fit.

    Where a threshold on integers still reaches the same integer, or a budget was not
    used up, the weaker one costs no more than is charged. Of composed curves a little
    is left over always.
    """
    dice, accepted, tried = rolled(_SEED), 0, 0
    for kind, text in _drawn(often(100, 400)):
        weaker = weakened(text, dice, Fraction(98, 100))
        if kind != "batch" and weaker is not None:
            tried += 1
            accepted += not _refusal(weaker)
    assert tried > 50
    assert accepted <= tried // 8


Patch: TypeAlias = pytest.MonkeyPatch


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
    "plant",
    [
        _rows_made_for_nothing,
        _groups_of_one,
        _scores_of_one_sign,
        _squares_of_half,
        _parts_for_one,
    ],
)
def test_errors_of_planning_are_refused(plant: Callable[[Patch], None]) -> None:
    """Planted: the kernel knows nothing of planning, and refuses what it gets wrong."""
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        drawn = _drawn(200, ("release", "part", "first few"))
        assert any("is lost, and" in _refusal(text) for _, text in drawn)
