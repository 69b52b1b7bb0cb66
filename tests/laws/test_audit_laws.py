"""Audits of answers alone: the honest are let alone, and those that lie are found.

A true claim is called false in at most 1e-9 of the runs of each test. Each planted
error lies so far beyond its claim that it is missed in less: with a best event whose
gap is r times what confidence takes of it, another is chosen and then not confirmed
with a chance of about Q((r - 1) / 0.47) for each independent event, and r is 4 or more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sordino as sd
from sordino.auditing import black_box
from sordino.errors import InvalidData, InvalidParameter
from tests.batches import for_each, sampled
from tests.effort import SEED

RNG: Final = np.random.default_rng(SEED)
SURE: Final = "0.999999999"
SEEN: Final = "0.999"
Run = Callable[..., Any]


@final
@dataclass(frozen=True)
class Pair:
    """Two runs, a claim about them, and how many outcomes show whether it holds."""

    runs: tuple[Run, Run]
    claim: Any
    samples: int = 20_000
    by: str | None = None
    event: str = ""
    """Words that the event has that is found."""

    def audit(self, confidence: Any) -> black_box.Audit:
        return sd.audit(
            *self.runs,
            self.claim,
            samples=self.samples,
            confidence=confidence,
            by=self.by,
        )


def noisy(mechanism: Any, *values: float) -> tuple[Run, Run]:
    """Return runs of a mechanism on two numbers."""
    one, other = values
    kind = np.int64 if mechanism.input_domain.is_integer else np.float64
    return (
        lambda n: mechanism(np.full(n, one, kind)),
        lambda n: mechanism(np.full(n, other, kind)),
    )


def keys_at(level: int, *held: int) -> tuple[Run, Run]:
    """Return runs of keys that show where a noisy count reaches a level."""

    def run(count: int, n: int) -> Any:
        noise = RNG.geometric(1 - np.exp(-1), n) - RNG.geometric(1 - np.exp(-1), n)
        return np.where((count > 0) & (count + noise >= level), count + noise, np.nan)

    one, other = held
    return lambda n: run(one, n), lambda n: run(other, n)


def released(rows: int) -> Run:
    """Return a run of one release of many groups that hold so many rows each."""

    def run(n: int) -> Any:
        table = pa.table({"g": np.repeat(np.arange(n), rows)})
        private = sd.PrivateTable(table, protects=sd.AddOneRow())
        keys = sd.KeySet.from_dict({"g": range(n)})
        with sd.Session({"t": private}, sd.PureDP(1)) as session:
            query = sd.table("t").group_by(keys).agg(n=sd.count())
            return session.release(query, sd.PureDP(1))

    return run


def chance_of(yes: Any, no: Any, share: float) -> Run:
    """Return a run that gives one thing or another."""
    return lambda: yes if RNG.random() < share else no


def raising(share: float) -> Run:
    def run() -> float:
        if RNG.random() < share:
            raise ZeroDivisionError("division by zero")
        return 1.0

    return run


LAPLACE: Final = sd.Laplace(scale=1)
GAUSSIAN: Final = sd.Gaussian(scale=1)
HONEST: Final[Mapping[str, Pair]] = {
    "Laplace": Pair(noisy(LAPLACE, 0.0, 1.0), LAPLACE.map(1)),
    "Gaussian": Pair(noisy(GAUSSIAN, 0.0, 1.0), sd.GaussianDP(1)),
    "Geometric": Pair(noisy(sd.Geometric(1), 0, 1), sd.PureDP(1)),
    "keys": Pair(keys_at(5, 0, 1), sd.ApproxDP(1, "0.0134")),
    "numbers in a row": Pair(
        (
            lambda n: LAPLACE(np.zeros(n * 4)).reshape(n, 4),
            lambda n: LAPLACE(np.full(n * 4, 0.25)).reshape(n, 4),
        ),
        sd.PureDP(1),
    ),
    "release of many groups": Pair((released(2), released(1)), sd.PureDP(1), by="g"),
    "exceptions": Pair((raising(0.1), raising(0.2)), sd.PureDP(1)),
    "curve": Pair(noisy(GAUSSIAN, 0.0, 1.0), sd.GaussianDP(1).curve()),
    "function": Pair(noisy(LAPLACE, 0.0, 1.0), sd.PureDP(1).beta_at),
}


def float_laplace(value: float) -> Run:
    return lambda n: value + RNG.laplace(0, 1, n)


PLANTED: Final[Mapping[str, Pair]] = {
    "a tenth less noise": Pair(noisy(LAPLACE, 0.0, 1.1), sd.PureDP(1), 500_000),
    "a tenth less Gaussian noise": Pair(
        noisy(GAUSSIAN, 0.0, 1.1), sd.GaussianDP(1), 500_000
    ),
    "join of half the sensitivity": Pair(noisy(sd.Laplace(4), 0.0, 8.0), sd.PureDP(1)),
    "floats added to floats": Pair(
        (float_laplace(0.0), float_laplace(1.0)), sd.PureDP(1), event="last bit"
    ),
    "the mass at the threshold": Pair(
        keys_at(5, 0, 1), sd.ApproxDP(1, "0.0049"), 100_000
    ),
    "numbers in a row": Pair(
        (
            lambda n: LAPLACE(np.zeros(n * 4)).reshape(n, 4),
            lambda n: LAPLACE(np.full(n * 4, 0.5)).reshape(n, 4),
        ),
        sd.PureDP(1),
        event="all that is seen",
    ),
    "release of many groups": Pair((released(3), released(1)), sd.PureDP(1), by="g"),
    "an exception": Pair((raising(0.0), raising(0.05)), sd.PureDP(1)),
    "a type": Pair((chance_of(1, 1, 1), chance_of(1.0, 1, 0.05)), sd.PureDP(1)),
    "a key": Pair(
        (lambda: {"a": 1}, chance_of({"a": 1, "b": 1}, {"a": 1}, 0.05)), sd.PureDP(1)
    ),
    "the order of rows": Pair(
        (
            lambda: pa.table({"g": ["a", "b"], "n": [1, 2]}),
            chance_of(
                pa.table({"g": ["b", "a"], "n": [2, 1]}),
                pa.table({"g": ["a", "b"], "n": [1, 2]}),
                0.1,
            ),
        ),
        sd.PureDP(1),
        2_000,
    ),
    "the schema": Pair(
        (
            lambda: pa.table({"n": [1]}),
            lambda: pa.table({"n": pa.array([1], pa.int32())}),
        ),
        sd.PureDP(1),
        2_000,
    ),
    "the length of a file": Pair((lambda: b"ab", lambda: b"abc"), sd.PureDP(1)),
    "a missing value": Pair((chance_of(None, 1, 0.05), lambda: 1), sd.PureDP(1)),
}


@pytest.mark.slow
@for_each("name", HONEST)
def test_a_true_claim_is_let_alone(name: str) -> None:
    assert not HONEST[name].audit(SURE).is_broken


@pytest.mark.slow
@for_each("name", PLANTED)
def test_a_false_claim_is_found(name: str) -> None:
    found = PLANTED[name].audit(SEEN)
    assert found.is_broken
    assert found.alpha + found.beta < 1
    assert found.claimed_beta > found.beta
    assert PLANTED[name].event in found.event
    assert "is false" in repr(found)


def accusations(confidence: str, times: int) -> int:
    """Return how often a claim that is just true is called false."""
    truth = np.exp(1) / (1 + np.exp(1))
    runs = lambda n: RNG.random(n) < truth, lambda n: RNG.random(n) >= truth
    return sum(
        sd.audit(*runs, sd.PureDP(1), samples=800, confidence=confidence).is_broken
        for _ in range(times)
    )


def is_more_than(share: float, seen: int, times: int) -> bool:
    return bool(stats.binom.sf(seen - 1, times, share) < 1e-9)


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_is_said() -> None:
    """Of a claim that is just true they are measured, and a mutant is seen.

    Bounds that are the rates themselves accuse two times in three.
    """
    assert not is_more_than(0.2, accusations("0.8", 100), 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(black_box, "upper_bound", lambda count, trials, _: count / trials)
        assert is_more_than(0.2, accusations("0.8", 100), 100)


@sampled(20, 80)
@for_each("case", range(200))
def test_a_bound_is_that_of_clopper_and_pearson(case: int) -> None:
    """Never below the exact quantile, and at most a millionth above."""
    dice = np.random.default_rng(case)
    trials = int(10 ** dice.uniform(1, 6))
    count = int(trials * dice.beta(0.3, 0.5))
    alarm = 10 ** dice.uniform(-10, -0.5)
    exact = 1.0
    if count < trials:
        exact = stats.beta.isf(alarm, count + 1, trials - count)
    bound = black_box.upper_bound(count, trials, alarm)
    assert exact * (1 - 1e-9) <= bound <= min(exact * (1 + 1e-6), 1)


def test_a_verdict_is_of_bounds_and_not_of_rates() -> None:
    """Whoever looks anew at the counts finds what is told."""
    outcomes = LAPLACE(np.zeros(4_000)), LAPLACE(np.full(4_000, 2.0))
    found = sd.audit(*outcomes, sd.PureDP(1), confidence="0.9")
    sides = [(count, trials) for count, trials in found.counts]
    for null, other in (sides, sides[::-1]):
        alpha = black_box.upper_bound(*null, 0.1 / 4)
        beta = black_box.upper_bound(other[1] - other[0], other[1], 0.1 / 4)
        if alpha == found.alpha and beta == found.beta:
            break
    else:
        raise AssertionError
    assert found.claimed_beta == sd.PureDP(1).beta_at(alpha) > beta
    assert found.epsilon >= np.log((1 - beta) / alpha) > 1


def test_many_pairs_share_one_false_alarm() -> None:
    """Each of a thousand pairs is held to a thousandth of what may go wrong."""
    outcomes = LAPLACE(np.zeros(4_000)), LAPLACE(np.full(4_000, 1.5))
    alone, among = (
        sd.audit(*outcomes, sd.PureDP(1), confidence="0.9", pairs=pairs).epsilon
        for pairs in (1, 1000)
    )
    assert alone > among
    strict = sd.audit(*outcomes, sd.PureDP(1), confidence="0.9999").epsilon
    assert among == pytest.approx(strict, abs=1e-4)


REFUSED: Final[Mapping[str, tuple[type[Exception], str, dict[str, Any]]]] = {
    "few samples": (InvalidParameter, "samples", {"samples": 12}),
    "sure": (InvalidParameter, "confidence", {"confidence": 1}),
    "no pairs": (InvalidParameter, "pairs", {"pairs": 0}),
    "no claim": (InvalidParameter, "claim", {"claim": 1}),
    "delta": (InvalidParameter, "delta", {"delta": 2}),
    "few outcomes": (InvalidParameter, "run_a", {"run_a": [1, 2]}),
    "fewer outcomes": (InvalidData, "3 outcomes", {"run_b": lambda _: [1, 2, 3]}),
    "trials": (
        InvalidData,
        "g must number",
        {"by": "g", "run_a": lambda _: pa.table({"g": [99_999_999]})},
    ),
}


@for_each("name", REFUSED)
def test_what_cannot_be_audited_is_refused(name: str) -> None:
    kind, words, given = REFUSED[name]
    runs = {"run_a": lambda n: np.zeros(n), "run_b": lambda n: np.zeros(n)}
    with pytest.raises(kind, match=words):
        sd.audit(**{**runs, "claim": sd.PureDP(1), **given})
