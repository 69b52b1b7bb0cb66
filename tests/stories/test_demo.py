"""The demonstration, as a stranger runs it."""

import pytest

from sordino import demo


def test_the_demonstration_shows_every_mechanism(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four scenes, each with its price, its risk and its accuracy, in 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    demo.main()
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    for noise in ("Geometric", "Laplace", "Discrete Gaussian", "Gaussian"):
        assert f"{noise}: noise for" in shown
    for price in ("epsilon = 1/2", "rho = 1/8", "mu = 1/2"):
        assert f"{price}, exactly" in shown
    for label in ("protected", "risk", "accuracy"):
        assert shown.count(f"\n  {label} ") == 4


def test_the_risk_is_rounded_against_us() -> None:
    """e^(1/2) / (1 + e^(1/2)) is 0.62246: at most 62.3 times in 100."""
    scene = demo.scenes()[0]
    assert "62.3 times in 100" in demo.risk(scene.mechanism.map(scene.d_in))
