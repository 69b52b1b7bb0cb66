"""The demonstration, as a stranger runs it."""

import contextlib
import io
import re
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sordino as sd
from sordino.office.demo import clinic, scenes

VISITS, PATIENTS = 20_000, 2_000
"""A small table: the scenes are the same."""
KEYS = ("listed wards", "wards nobody listed")


@pytest.fixture(scope="module")
def shown() -> str:
    """Return what a stranger reads in 80 columns."""
    heard = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(heard):
        patch.setenv("COLUMNS", "80")
        scenes.main(VISITS, PATIENTS)
    return heard.getvalue()


def test_every_scene_fits_the_terminal(shown: str) -> None:
    assert max(map(len, shown.splitlines())) <= scenes.WIDEST
    titles = re.findall(r"^(\S.*?) ──+$", shown, re.MULTILINE)
    assert titles[:3] == [
        "A table of people",
        "The price comes first",
        "Wards from a public list",
    ]
    assert len(titles) == 8
    for title in titles:
        assert re.search(rf"^{title} ─+\n[A-Z].{{60,}}\n", shown, re.MULTILINE)


def test_the_price_is_told_before_the_answer(shown: str) -> None:
    """The question, its sensitivity and its price stand above the first release."""
    before, _, after = shown.partition("Wards from a public list")
    assert "table('visits')\n" in re.sub(r" +\n", "\n", before)
    for told in ("3 in all", "1080 in all", "epsilon = 1"):
        assert told in before
    assert "price: epsilon = 1" in after


def test_rare_wards_vanish_where_nobody_listed_them(shown: str) -> None:
    """A listed ward without patients has a row; an unlisted rare one has dashes."""
    known, _, rest = shown.partition("Wards that nobody listed")
    unknown, _, _ = rest.partition("What it means")
    assert clinic.CLOSED in known
    assert clinic.CLOSED not in unknown
    (leprosy,) = re.findall(r"Leprosy +(\S+) +(\S+) +1 ", unknown)
    assert leprosy == ("-", "-")


def test_the_budget_is_kept(shown: str) -> None:
    """What was spent and what is left add up, and the next request is refused."""
    left = sd.ApproxDP("0.25", "3e-7")
    assert f"left         {left!r}" in shown
    whole = scenes.KNOWN + scenes.UNKNOWN + left
    assert scenes.BUDGET.admits(whole)
    assert "nothing was charged" in re.sub(r"\s+", " ", shown)


def test_what_it_leaves_is_where_it_says(shown: str) -> None:
    (path,) = re.findall(r"picture +(\S+)", shown)
    picture = Path(path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    (page,) = re.findall(r"report +(\S+)", shown)
    told = Path(page).read_text(encoding="utf-8")
    assert all(f"<bdi>{key}</bdi>" in told for key in KEYS)
    assert shown.index("report  ") > shown.index("losses add up as curves")
    shutil.rmtree(picture.parent)


def test_the_noise_is_that_of_the_mechanisms(shown: str) -> None:
    """Each kind of noise has its exact price; together they cost less than apart."""
    for told in ("epsilon = 1/2", "rho = 1/8", "mu = 1/2", "delta = 6.1e-7"):
        assert told in shown
    losses = [one.loss for one in scenes.noises()]
    apart = sum(float(loss.epsilon_at(scenes.DELTA)) for loss in losses)
    assert scenes.total_epsilon(losses) < apart
    assert f"epsilon = {scenes.hundredths(scenes.total_epsilon(losses))}" in shown


def test_invented_visits_are_always_the_same() -> None:
    """Any piece is what it would be alone, and numbers look uniform.

    The mean of 10**5 uniform numbers is off by 0.005 once in 10**7.
    """
    whole = clinic.visits_table(0, 1000, PATIENTS)
    assert whole.slice(400, 100).equals(clinic.visits_table(400, 500, PATIENTS))
    drawn = clinic.scramble(np.arange(10**5, dtype=np.uint64), 0)
    assert abs(drawn.mean() - 0.5) < 0.005
    assert 0 <= drawn.min() < drawn.max() < 1


def test_small_numbers_are_rounded_against_us() -> None:
    """Two digits, never below the number: 6.079e-7 reads 6.1e-7."""
    assert scenes.rounded_up_text(Fraction("6.01e-7")) == "6.1e-7"
    assert scenes.rounded_up_text(Fraction("6.099e-7")) == "6.1e-7"
    assert scenes.hundredths(5.4201) == "5.43"
