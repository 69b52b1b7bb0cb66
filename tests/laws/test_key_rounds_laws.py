"""Keys in rounds: no two tables that differ by an id are told apart more than priced.

All transcripts of up to three keys of one id are enumerated: which keys show in which
round, for common weights near the thresholds, where most is told.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from sordino.errors import InvalidParameter
from sordino.losses.closed import ApproxDP, GaussianDP
from sordino.losses.thresholded import RoundsLoss
from sordino.noise import key_rounds
from sordino.noise.key_rounds import (
    FRACTION_BITS,
    KeyRounds,
    ToldNumbers,
    exact_weight,
    fit_key_rounds,
    weight_steps,
)
from tests.batches import for_each
from tests.effort import often
from tests.events import gaussian_delta

F = Fraction
SEED = 20261122


@dataclass(frozen=True)
class Tables:
    """What others add to the keys of one id: 0 where the key is its own."""

    rounds: KeyRounds
    others: tuple[float, ...]

    @property
    def own(self) -> int:
        return sum(weight == 0 for weight in self.others)

    def law(self, *, present: bool) -> dict[tuple[int, ...], float]:
        """Return the chance of each transcript: the round in which each key shows."""
        keys = range(len(self.others))
        chances = {}
        last = len(self.rounds.mechanisms)
        for shown in itertools.product(range(last + 1), repeat=len(self.others)):
            chance = 1.0
            for place in range(last):
                left = [key for key in keys if shown[key] >= place]
                added = float(exact_weight(len(left))) if present and left else 0.0
                for key in left:
                    there = present or self.others[key] > 0
                    passing = self._passing(place, self.others[key] + added, there)
                    chance *= passing if shown[key] == place else 1 - passing
            chances[shown] = chance
        return chances

    def _passing(self, place: int, weight: float, there: bool) -> float:  # noqa: FBT001 as it is
        one = self.rounds.mechanisms[place]
        return float(there and ndtr((weight - float(one.threshold)) / float(one.scale)))


def stick(
    first: dict[tuple[int, ...], float],
    second: dict[tuple[int, ...], float],
    epsilon: float,
) -> float:
    return sum(max(0.0, p - math.exp(epsilon) * second[o]) for o, p in first.items())


def truth(tables: Tables, epsilon: float) -> float:
    with_id, without = tables.law(present=True), tables.law(present=False)
    return max(stick(with_id, without, epsilon), stick(without, with_id, epsilon))


def drawn(count: int) -> Iterator[tuple[Tables, float]]:
    """Yield settings: few keys, one or two rounds, weights near the thresholds."""
    rng = np.random.default_rng(SEED)
    for _ in range(count):
        rounds, keys = int(rng.integers(1, 3)), int(rng.integers(1, 4))
        own = int(rng.integers(0, keys + 1))
        scales = rng.uniform(0.3, 3, rounds)
        levels = rng.uniform(0.5, 3, rounds) * scales + 0.5
        found = KeyRounds(
            keys,
            tuple(F(str(round(one**2, 6))) for one in scales),
            tuple(F(str(round(one, 6))) for one in levels),
        )
        others = (0.0,) * own + tuple(
            float(one)
            for one in rng.uniform(0, 2, keys - own) * scales[0] + levels[0] - 1
        )
        yield (
            Tables(found, tuple(max(one, 0.0) for one in others)),
            float(rng.uniform(0, 2)),
        )


def case_bound(tables: Tables, epsilon: float, growth: float) -> float:
    """Return the bound of these tables alone, by lemma 1.

    `growth` says how far the weights of own keys grow after the first round: by all (1)
    of what the common keys leave, or, in a mutant, by nothing (0).
    """
    own, keys = tables.own, tables.rounds.keys
    first, later = 1 / math.sqrt(keys), 1 / math.sqrt(max(own, 1))
    hidden, shift = 0.0, 0.0
    for place, one in enumerate(tables.rounds.mechanisms):
        weight = first + (later - first) * growth * (place > 0)
        hidden += own * float(
            log_ndtr((float(one.threshold) - weight) / float(one.scale))
        )
        shift += (1 - own / keys) / float(one.variance)
    seen, mu = -math.expm1(hidden), math.sqrt(shift)
    added = seen + (1 - seen) * gaussian_delta(epsilon - hidden, mu)
    return max(added, gaussian_delta(epsilon + hidden, mu))


def broken(
    settings: Iterator[tuple[Tables, float]],
    bound: Callable[[Tables, float], float],
) -> tuple[int, float]:
    """Return how many settings are told apart more than priced, and the tightest."""
    count, tightest = 0, 0.0
    for tables, epsilon in settings:
        found, most = truth(tables, epsilon), bound(tables, epsilon)
        count += found > most * (1 + 1e-6) + 1e-12
        tightest = max(tightest, found / most if found > 1e-6 else 0.0)
    return count, tightest


def priced(tables: Tables, epsilon: float) -> float:
    return float(tables.rounds.loss().delta_at(epsilon))


def test_no_transcript_tells_more_than_is_priced() -> None:
    """For 150 settings the true delta is within the bound, and comes near it."""
    count, tightest = broken(drawn(150), priced)
    assert count == 0
    assert tightest > 0.9


def test_weights_of_the_first_round_would_be_too_few() -> None:
    """The mutant that forgets how weights grow from round to round is caught."""
    assert broken(drawn(400), partial(case_bound, growth=1.0))[0] == 0
    assert broken(drawn(400), partial(case_bound, growth=0.0))[0] > 0


@pytest.mark.slow
def test_many_settings_tell_no_more_than_is_priced() -> None:
    assert broken(drawn(often(600, 2_000)), priced)[0] == 0


@for_each("keys", [1, 2, 5, 20, 300])
@for_each(("epsilon", "delta"), [("1", "1e-6"), ("0.05", "1e-10"), ("4", "0.01")])
def test_what_is_fitted_is_within_the_budget_and_uses_it(
    keys: int, epsilon: str, delta: str
) -> None:
    """The loss is admitted, all of delta is used, and a lower threshold is refused."""
    budget = ApproxDP(epsilon, delta)
    found = fit_key_rounds(budget, keys)
    assert budget.admits(found.loss())
    assert float(found.loss().delta_at(epsilon)) > 0.999 * float(delta)
    lower = KeyRounds(
        keys, found.variances, (found.thresholds[0], found.thresholds[1] * F(99, 100))
    )
    assert not budget.admits(lower.loss())


def test_the_figures_are_those_of_the_proof() -> None:
    """At (1, 1e-6) and 20 keys, with and without half of mu for counts."""
    one = fit_key_rounds(ApproxDP(1, "1e-6"), 20, rounds=1)
    two = fit_key_rounds(ApproxDP(1, "1e-6"), 20)
    half = fit_key_rounds(ApproxDP(1, "1e-6"), 20, F(1, 2))
    levels = [float(t) for found in (one, two, half) for t in found.thresholds]
    assert levels == pytest.approx([22.73, 77.3, 24.01, 109.2, 33.87], abs=0.05)
    scales = [float(m.scale) for found in (one, two) for m in found.mechanisms]
    assert scales == pytest.approx([4.225, 13.36, 4.454], abs=0.005)


def test_told_numbers_are_within_the_budget() -> None:
    """What the search left to other numbers is admitted with them, and no more."""
    budget = ApproxDP(1, "1e-6")
    found = fit_key_rounds(budget, 20, F(1, 2))
    spent = sum((1 / variance for variance in found.variances), F(0))
    assert budget.admits(found.loss((ToldNumbers(spent, F(1)),)))
    assert not budget.admits(found.loss((ToldNumbers(spent * F(11, 10), F(1)),)))
    # a part of which one key holds little costs less beside few common keys
    assert budget.admits(found.loss((ToldNumbers(spent, F(1, 20)),)))


def test_weights_never_move_by_more_than_one() -> None:
    for keys in (1, 2, 16, 17, 40, 1000):
        ladder = weight_steps(keys)
        assert [end for end, _ in ladder] == sorted({end for end, _ in ladder})
        assert ladder[-1][0] >= keys
        first = 1
        for end, steps in ladder:
            for groups in {first, end}:
                assert groups * steps**2 <= 1 << 2 * FRACTION_BITS
                assert F(steps, 1 << FRACTION_BITS) <= exact_weight(groups)
            first = end + 1


def test_certain_keys_and_no_keys_have_their_losses() -> None:
    bare = KeyRounds(3, (F(1),), (F(-5),))
    assert bare.loss().delta_at(1) == pytest.approx(1, abs=1e-6)
    assert isinstance(bare.loss(), RoundsLoss)
    alone = KeyRounds(1, (F(1),), (F(40),))
    noise = GaussianDP(1).epsilon_at("1e-3")
    assert alone.loss().epsilon_at("1e-3") == pytest.approx(noise, rel=1e-6)


def test_a_block_of_cases_costs_what_its_worst_case_costs() -> None:
    """However many of an id's keys are its own: no case is dearer than its block."""
    found = KeyRounds(200, (F(2), F(3)), (F(4), F(5)))
    told = (ToldNumbers(F(1, 3), F(1, 150)),)
    wrong = []
    for block in key_rounds._blocks(found.keys):
        breach, loss = found._case(block, told)
        for own in range(block.least, block.most + 1):
            case, alone = found._case(key_rounds._Block(own, own), told)
            if case > breach or alone.delta_at(1) > loss.delta_at(1):
                wrong.append(own)
    assert wrong == []


def test_what_is_told_of_a_threshold_lies_between_the_extremes() -> None:
    for keys in (1, 16, 81):
        rounds = KeyRounds(keys, (F(1), F(2)), (F(50), F(40)))
        assert 40 <= rounds.threshold <= 40 * math.isqrt(keys)
        assert rounds.threshold**4 == 40**4 * keys


@for_each("epsilon", ["1e-300", "1e-30"])
def test_a_budget_too_small_for_any_noise_is_refused(epsilon: str) -> None:
    with pytest.raises(InvalidParameter, match="too small for groups"):
        fit_key_rounds(ApproxDP(epsilon, "1e-300"), 3)
