"""Searches for noise end: with what the loss admits, or with a refusal."""

from typing import Any

import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from tests.batches import for_each, sampled


@for_each("l0", [1, 999_999, 10**6, 10**9, 10**12])
def test_as_many_keys_as_one_likes(l0: int) -> None:
    """All new keys but one leave 1 / l0 of delta: a search that keeps less is met."""
    loss = sd.ApproxDP(1, "1e-6")
    fitted = sd.GaussianThreshold.for_loss(loss, (l0, f"sqrt({l0})", 1))
    assert loss.admits(fitted.map((l0, f"sqrt({l0})", 1)))
    least = float(sd.Gaussian.for_loss(loss, f"sqrt({l0})").scale)
    assert least * (1 - 1e-6) <= float(fitted.scale) < 1.1 * least


def test_a_question_about_very_many_groups_has_a_price() -> None:
    """The same search behind the price of a question."""
    people = sd.PrivateTable({"g": ["a"], "id": [1]}, protects=sd.AddRowsWithID("id"))
    session = sd.Session(tables={"t": people}, budget=sd.ApproxDP(1, "1e-6"))
    limits = sd.MaxGroupsPerID("g", 10**6), sd.MaxRowsPerGroupPerID("g", 1)
    asked = sd.table("t").enforce(*limits).group_by("g").agg(n=sd.count())
    price = session.price(asked, sd.ApproxDP(1, "1e-6"))
    assert sd.ApproxDP(1, "1e-6").admits(price.loss)


@sampled(1)
@for_each("dtype", ["f64", "i64"])
@for_each(
    ("epsilon", "delta"), [("1e-4", "1e-6"), ("0.001", "1e-50"), ("0.01", "1e-300")]
)
def test_small_losses_are_met(epsilon: str, delta: str, dtype: Any) -> None:
    loss = sd.ApproxDP(epsilon, delta)
    fitted = sd.GaussianThreshold.for_loss(loss, (1, 1, 1), dtype=dtype)
    assert loss.admits(fitted.map((1, 1, 1)))


@sampled(1)
@for_each("loss", [sd.ApproxDP("1e-300", "1e-6"), sd.ApproxDP(0, "1e-6")])
@for_each("dtype", ["f64", "i64"])
def test_what_cannot_be_met_is_refused(loss: Any, dtype: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^(loss|delta|dtype) "):
        sd.GaussianThreshold.for_loss(loss, (3, 2, 1), dtype=dtype)


@sampled(1, 3)
@for_each(
    "bounds",
    [(1, 1, 1), (1, 3, 3), (3, "sqrt(3)", 1), (2, 2, 2), (30, "sqrt(30)", 1)],
)
@for_each(("epsilon", "delta"), [(1, "1e-6"), (4, "1e-3")])
@pytest.mark.slow
def test_integers_need_hardly_more_noise_than_floats(
    bounds: Any, epsilon: int, delta: str
) -> None:
    """Where the map of integers is exact the fit follows it: no 7 % for want of it."""
    loss = sd.ApproxDP(epsilon, delta)
    whole = sd.GaussianThreshold.for_loss(loss, bounds, dtype="i64")
    real = sd.GaussianThreshold.for_loss(loss, bounds)
    assert loss.admits(whole.map(bounds))
    exact = whole.is_exact(whole.change(bounds))
    assert float(whole.scale) < float(real.scale) * (1.02 if exact else 1.12)
