"""The exponential mechanism: what it takes, what it refuses, its chances, its price."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sordino.errors import InvalidData
from sordino.noise.exponential import BoundedRangeLoss, Exponential
from tests.batches import for_each, sampled
from tests.statistics import choices_follow

F = Fraction
SCORES = [F(1, 3), F(0), F(2), F(7, 5), F(2), F(-4)]
MANY = 50_000


@for_each(
    ("d_in", "epsilon"),
    [(0, 0), (1, F(1, 4)), (2, F(1, 2)), ("1/3", F(1, 12)), (math.inf, math.inf)],
)
def test_map(d_in: Any, epsilon: Any) -> None:
    """The loss is epsilon * d_in / span, exactly."""
    assert Exponential("0.5", span=2).map(d_in) == BoundedRangeLoss(epsilon)
    assert Exponential.no_noise().map(d_in).epsilon == (math.inf if d_in else 0)


@for_each(
    "scores",
    [
        [],
        [0.5, 1],
        [True, 2],
        [None],
        ["1"],
        "12",
        7,
        {1: 2},
        np.zeros(3),
        np.zeros((2, 2), np.int64),
        [1 << 62],
        [F(1, 1 << 62), 1],
        np.array([1 << 62]),
    ],
)
def test_scores_outside_the_domain_are_refused(scores: Any) -> None:
    with pytest.raises(InvalidData) as refusal:
        Exponential(1)(scores)
    assert str(1 << 62) not in str(refusal.value)


@for_each(
    "scores",
    [
        SCORES,
        tuple(SCORES),
        [int(15 * score) for score in SCORES],
        np.array([15 * score for score in SCORES], np.int16),
        np.array([15 * score for score in SCORES], np.int64)[::-1],
    ],
)
def test_every_form_of_scores(scores: Any) -> None:
    assert type(Exponential(1)(scores)) is int
    best = max(range(6), key=lambda i: scores[i])
    chosen = {Exponential.no_noise()(scores) for _ in range(60)}
    assert chosen == {i for i in range(6) if scores[i] == scores[best]}


def test_groups_are_chosen_apart() -> None:
    sure = Exponential(10_000)
    groups = [[0, 1], [F(1, 2), F(1, 3), F(1, 7)], [3]]
    assert sure.choose(groups).tolist() == [1, 0, 0]
    counted = sure.choose(groups, [[7, 1], [1, 1, 1], [1]])
    assert counted.tolist() == [7, 0, 0]
    assert sure.choose([]).tolist() == []
    with pytest.raises(InvalidData):
        sure.choose([[1], []])


@pytest.mark.slow
@sampled(1, 1)
@for_each("span", [1, 3])
def test_choices_follow_the_law(span: int) -> None:
    """Chi-square, false alarm 1e-9; an epsilon 20 % off is missed once in 1e25 runs."""
    law = np.exp([float(score) / span for score in SCORES])
    drawn = Exponential(1, span).choose([SCORES] * MANY)
    assert choices_follow(drawn, law)
    wrong = Exponential("1.2", span).choose([SCORES] * MANY)
    assert not choices_follow(wrong, law)


@pytest.mark.slow
def test_runs_follow_the_law_of_their_candidates() -> None:
    """Chi-square, false alarm 1e-9: a run is as good as its candidates listed."""
    law = np.repeat(np.exp([0.0, 0.7, -1.0]), [4, 1, 9])
    drawn = Exponential("0.7").choose(
        [[F(0), F(1), F(-10, 7)]] * MANY, [[4, 1, 9]] * MANY
    )
    assert choices_follow(drawn, law)
    assert not choices_follow(drawn, law[::-1])
