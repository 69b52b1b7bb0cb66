"""What an editor or a notebook offers after a dot."""

from pathlib import Path

import jedi
import pytest

import sordino

PROJECT = jedi.Project(Path(sordino.__file__).parents[1])
LOSS = {"delta_at", "epsilon_at", "beta_at", "advantage", "explain", "curve"}


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("sd.Laplace(10).map(1).", LOSS | {"epsilon"}),
        ("sd.Gaussian(scale=2).map(1).", LOSS | {"mu", "rho"}),
        ("sd.Laplace(10).map(sd.Sensitivity(l1=1)).", LOSS),
        ("(sd.PureDP(1) + sd.ZCDP(1)).", LOSS),
        ("sd.Laplace.for_loss(sd.PureDP(1), 1).", {"scale", "map", "error"}),
        ("sd.PureDP(1).curve().", {"plot", "alpha", "tpr"}),
        ("sd.table('a').filter(sd.col('b') > 1).", {"group_by", "agg", "enforce"}),
        ("sd.Session({}).price(sd.table('a').agg(n=sd.count())).", {"noise", "loss"}),
        ("sd.Lap", {"Laplace", "LaplaceThreshold", "LaplaceLoss"}),
    ],
)
def test_what_is_offered(code: str, wanted: set[str]) -> None:
    """Without running anything: types are told by signatures alone."""
    script = jedi.Script(f"import sordino as sd\n{code}", project=PROJECT)
    offered = {one.name for one in script.complete()}
    assert wanted <= offered
