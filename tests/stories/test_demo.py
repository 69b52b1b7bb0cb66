"""The demonstration, as a stranger runs it."""

from fractions import Fraction

import pytest

import sordino as sd
from sordino import demo


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a stranger reads in 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    demo.main()
    return capsys.readouterr().out


def test_the_demonstration_shows_every_mechanism(shown: str) -> None:
    """Each scene has its price, its risk and its accuracy, in 80 columns."""
    assert max(map(len, shown.splitlines())) <= 80
    for noise in ("Geometric", "Laplace", "Discrete Gaussian", "Gaussian"):
        assert f"{noise}: noise for" in shown
    for price in ("epsilon = 1/2", "rho = 1/8", "mu = 1/2", "epsilon = 1"):
        assert f"{price}, exactly" in shown
    for label in ("protected", "price", "risk", "accuracy"):
        assert shown.count(f"\n  {label} ") == len(demo.scenes())


def test_the_demonstration_lets_rare_keys_vanish(shown: str) -> None:
    """A diagnosis of one patient is gone, key and all; its price names delta."""
    scene = demo.for_unknown_keys()
    assert f"{scene.title} " in shown
    assert "; delta = 6.1e-7" in shown
    kept = scene.answer(scene.mechanism, {"common": 10_000})  # one 15 would be a coin
    assert list(kept) == ["common"]
    assert demo.written(kept, ["common", "rare"])[1] == "-"
    assert scene.mechanism.map(scene.d_in).delta <= Fraction(demo.DELTA)


def test_the_demonstration_ends_with_the_attacker(shown: str) -> None:
    """All losses are one curve, below the sum of their epsilons, in plain words."""
    losses = [scene.mechanism.map(scene.d_in) for scene in demo.scenes()]
    apart = sum(float(loss.epsilon_at(demo.DELTA)) for loss in losses)
    assert demo.total(losses) < apart
    ending = shown[shown.index("What all of it means to an attacker") :]
    assert f"epsilon = {demo.hundredths(demo.total(losses))}" in ending
    words = " ".join(ending.split())
    for sentence in sd.compose(losses).explain().splitlines():
        assert sentence in words


def test_the_risk_is_rounded_against_us() -> None:
    """e^(1/2) / (1 + e^(1/2)) is 0.62246: at most 62.3 times in 100."""
    scene = demo.scenes()[0]
    assert "62.3 times in 100" in demo.risk(scene.mechanism.map(scene.d_in))


def test_small_numbers_are_rounded_against_us() -> None:
    """Two digits, never below the number: 6.079e-7 reads 6.1e-7."""
    assert demo.upwards(Fraction("6.01e-7")) == "6.1e-7"
    assert demo.upwards(Fraction("6.099e-7")) == "6.1e-7"
    assert demo.hundredths(5.4201) == "5.43"
