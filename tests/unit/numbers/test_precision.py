"""Nobody's precision changes a law, and we leave nobody's changed (ADR 81)."""

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import (
    ROUND_UP,
    Context,
    Decimal,
    Inexact,
    Rounded,
    Subnormal,
    localcontext,
)
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

import sordino as sd
from sordino.data.key_columns import count_text
from sordino.noise.gaussian import GaussianShape
from sordino.noise.laplace import LaplaceShape
from sordino.noise.sampling.blocks import block_table
from sordino.noise.sampling.choice import _powers
from sordino.noise.threshold.mechanism import any_passes
from sordino.numbers import up
from sordino.numbers.formatting import format_number
from sordino.numbers.rounding import enclose, precision
from tests.batches import for_each

KEYS = sd.GaussianThreshold(scale=3, threshold=9)
ANSWERS: dict[str, Callable[[], Any]] = {
    "geometric table": lambda: block_table(LaplaceShape(Fraction(100)), 0).weights,
    "Gaussian table": lambda: block_table(GaussianShape(Fraction(10**4)), 0).weights,
    "Laplace heights": lambda: LaplaceShape(Fraction(1, 700)).profile(99),
    "weights of choices": _powers,
    "delta": lambda: sd.GaussianDP(1).delta_at(1),
    "epsilon": lambda: sd.ZCDP("0.1").epsilon_at("1e-9"),
    "rho": lambda: float(sd.LaplaceLoss("0.37").rho),
    "chance of a key": lambda: float(KEYS.map((1, 1, 1)).delta),
    "quantile": lambda: sd.DiscreteGaussian(scale="12.5").error("0.999"),
    "chance": lambda: sd.DiscreteGaussian(scale="0.7").cdf(1),
    "root": lambda: up(sd.Gaussian(variance=2).scale),
}  # fmt: skip


@pytest.fixture
def _fresh() -> Iterator[None]:
    """Forget what was computed, and leave the precision as it was."""
    for cache in (block_table, _powers, any_passes):
        cache.cache_clear()
    found = flint.ctx.prec
    yield
    flint.ctx.prec = found


WRITTEN: dict[str, Callable[[], str]] = {
    "a long number": lambda: repr(sd.PureDP("0.12345678901234567890")),
    "a decimal": lambda: repr(sd.PureDP(Decimal("0.12345678901234567890"))),
    "a headline": lambda: sd.GaussianDP("1/7").explain(),
    "a count of keys": lambda: count_text(2**100),
    "a small number": lambda: format_number(1.2345e-300),
    "a number with its deviation": lambda: format_number(123456.789, 0.5),
}


@for_each("name", WRITTEN)
@for_each(
    "found",
    [
        Context(prec=1, traps=[Inexact, Rounded, Subnormal]),
        Context(prec=2, rounding=ROUND_UP, Emax=1, Emin=-1, capitals=0),
    ],
    ids=["traps", "tight"],
)
def test_nobodys_decimals_change_a_word(name: str, found: Context) -> None:
    """Whatever context of decimals is found, numbers are written alike."""
    expected = WRITTEN[name]()
    with localcontext(found):
        assert WRITTEN[name]() == expected


@pytest.mark.usefixtures("_fresh")
@for_each("name", ANSWERS)
@for_each("bits", [2, 12, 3000])
def test_nobodys_precision_changes_an_answer(name: str, bits: int) -> None:
    """Whatever precision is found, the answer is the same, and the precision stays."""
    expected = ANSWERS[name]()
    for cache in (block_table, _powers, any_passes):
        cache.cache_clear()
    flint.ctx.prec = bits
    assert np.array_equal(ANSWERS[name](), expected)
    assert flint.ctx.prec == bits


@pytest.mark.usefixtures("_fresh")
def test_heights_taken_at_whatever_precision_are_caught() -> None:
    """The law's table does change where the midpoint of a wide ball is taken."""
    flint.ctx.prec = 12
    rough = float((-1 / flint.arb(100)).exp().mid())
    fine = float(enclose(lambda: (-1 / flint.arb(100)).exp()).mid())
    assert abs(rough / fine - 1) > 2**-30


@pytest.mark.usefixtures("_fresh")
def test_threads_do_not_mix_their_precisions() -> None:
    found = flint.ctx.prec
    wrong: list[int] = []

    def work(bits: int) -> None:
        for _ in range(300):
            with precision(bits):
                enclose(lambda: flint.arb(2).sqrt())
                if flint.ctx.prec != bits:
                    wrong.append(bits)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(100, 108)))
    assert not wrong
    assert flint.ctx.prec == found


@pytest.mark.usefixtures("_fresh")
def test_what_somebody_else_set_meanwhile_is_left_alone() -> None:
    """We give back what we found only where it is still ours."""
    with precision(200):
        flint.ctx.prec = 77
    assert flint.ctx.prec == 77


def _child() -> None:
    assert flint.ctx.prec == 53
    assert sd.GaussianDP(1).delta_at(1) > 0


def test_a_fork_waits_for_threads_that_compute() -> None:
    """No child inherits a lock that nobody can release, nor a precision of ours."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            sd.GaussianDP(1).delta_at(1)

    other = threading.Thread(target=work)
    other.start()
    try:
        for _ in range(5):
            child = multiprocessing.get_context("fork").Process(target=_child)
            child.start()
            child.join(60)
            assert child.exitcode == 0
    finally:
        done.set()
        other.join()
