"""The joint price of selecting keys and telling of them, by enumeration of its cases.

A unit changes some keys: new ones are seen only by chance, the others are told of by
several noisy numbers. The delta of each case has a closed form at 60 digits.
"""

from __future__ import annotations

import bisect
import random
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

import sordino as sd
from sordino.aggregations.measurement import KeptMeasurements, joint_loss
from sordino.losses.thresholded import ThresholdedLoss, threshold_loss
from tests.batches import for_each, sampled
from tests.oracles import Worlds, breach, gaussian, mp, mpf, real, response, worst

SEED = 7


class Drawn(NamedTuple):
    """A selection of keys and the noise of parts, and the changes they allow for."""

    selection: sd.GaussianThreshold
    presence: sd.Sensitivity
    measurements: list[tuple[sd.Gaussian, sd.Sensitivity]]


def drawn(case: int) -> Drawn:
    """Return a selection and up to two parts, at random."""
    rng = random.Random(f"{SEED} {case}")
    keys, each = rng.choice([1, 2, 3, 12]), rng.randint(1, 3)
    spread = Fraction(rng.randint(10, 60), 10)
    selection = sd.GaussianThreshold(
        scale=spread, threshold=each + round(2 * spread) + rng.randint(0, 3)
    )
    parts = []
    for _ in range(rng.randint(0, 2)):
        most = rng.randint(1, 4)
        whole = rng.randint(1, keys)
        change = sd.Sensitivity(l0=keys, l1=most * whole, linf=most)
        parts.append((sd.Gaussian(scale=rng.randint(2, 9)), change))
    return Drawn(selection, sd.Sensitivity(l0=keys, linf=each), parts)


def told(case: Drawn, kept: int) -> Fraction:
    """Return mu squared when so many keys are kept and change as much as they may."""
    spent: list[Any] = [(case.selection.variance, case.presence)]
    spent += [(noise.variance, change) for noise, change in case.measurements]
    found = Fraction(0)
    for variance, change in spent:
        squares: Any = min(change.l2**2, kept * change.linf**2)
        found += squares / variance
    return found


def cases(case: Drawn) -> list[Worlds]:
    """Return every split of the keys into new, gone and kept ones."""
    level = real(case.selection.threshold) - real(case.presence.linf)
    chance = mp.ncdf(-level / mp.sqrt(real(case.selection.variance)))
    keys = int(case.presence.l0)
    return [
        breach(1 - (1 - chance) ** new, 1 - (1 - chance) ** gone).beside(
            gaussian(f"sqrt({told(case, keys - new - gone)})")
        )
        for new in range(keys + 1)
        for gone in range(keys + 1 - new)
    ]


def shortest(loss: Any, case: Drawn) -> list[float]:
    """Return by how much a loss lies above each true delta, relatively."""
    found, pairs = [], cases(case)
    mu = float(told(case, int(case.presence.l0))) ** 0.5
    for share in (0.0, 0.4, 1.0, 2.2, 4.0):
        epsilon = share * mu + mu**2 / 2 * bool(share)
        exact = worst(pairs, epsilon)
        found.append(float(mpf(loss.delta_at(epsilon)) / exact - 1))
    return found


@sampled(4)
@for_each("case", range(14))
def test_no_case_costs_more_than_the_joint_loss(case: int) -> None:
    """Never below, and above by at most what new keys and blocks of cases bring."""
    given = drawn(case)
    found = shortest(joint_loss(*given), given)
    assert min(found) >= 0
    assert max(found) <= 0.25


def test_keys_that_are_forgotten_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = KeptMeasurements.__call__
    monkeypatch.setattr(
        KeptMeasurements, "__call__", lambda parts, m: honest(parts, min(m, 1))
    )
    given = drawn(0)._replace(presence=sd.Sensitivity(l0=5, linf=1), measurements=[])
    assert min(shortest(joint_loss(*given), given)) < -0.2


@for_each("keys", [3, 9, 40, 200])
def test_a_block_of_cases_bounds_each_of_its_cases(keys: int) -> None:
    """For any number of new keys, the block it lies in is priced no lower.

    As many new keys are seen, all others vanish, and one is told of all the same.
    """
    chance = Fraction(1, 1000)
    loss = threshold_loss(
        lambda kept: sd.PureDP(min(kept, 1)), key_delta=chance, keys=keys
    )
    assert isinstance(loss, ThresholdedLoss)
    for new in range(keys):
        lost = [1 - (1 - real(chance)) ** count for count in (new, keys - new - 1)]
        truth = breach(*lost).beside(response(1))
        block = loss.tradeoff.cases[bisect.bisect_right(loss.fresh, new) - 1]
        for epsilon in (0.001, 0.4, 1.5):
            seen, shift, noise = block
            told = seen + (1 - seen) * float(noise.delta_at(epsilon + shift))
            assert truth.delta(epsilon) <= told * (1 + 1e-12)
