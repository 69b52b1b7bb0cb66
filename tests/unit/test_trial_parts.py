"""Parts that were added for trial: CONTRIBUTING names what each of them touches.

They are kept in `tests/trial`, under some of the laws, so that the way stays open.
"""

import re
from fractions import Fraction
from pathlib import Path

import sordino as sd
from tests.batches import for_each
from tests.laws import test_law_against_map as events
from tests.laws import test_loss_laws as curves
from tests.trial.count_missing import count_missing
from tests.trial.priced_laplace import PricedLaplace
from tests.trial.revelation import RevelationLoss

ROOT = Path(__file__).parents[2]


def test_a_noise_mechanism_is_one_file() -> None:
    """Its map is held against its law; noise that is too small is caught."""
    assert events.broken(lambda scale: PricedLaplace(1 / Fraction(scale)), 2) == []
    assert abs(PricedLaplace(10**6)(0.5) - 0.5) < 1e-3
    assert PricedLaplace.no_noise()(0.5) == 0.5


def test_a_loss_is_one_file() -> None:
    """Its curves are two sides of one test, and it composes with others."""
    loss = RevelationLoss("0.2")
    for law in (
        curves.test_delta_and_beta_are_dual,
        curves.test_tpr_and_beta_are_two_sides_of_one_test,
        curves.test_composing_counts,
    ):
        law(loss)
    assert loss.delta_at(0) == loss.advantage() == 0.2


def test_an_aggregation_is_one_file() -> None:
    """A session prices it and answers it, as any other."""
    table = {"ward": ["A", "A", "B"], "days": [3, None, None]}
    rows = sd.PrivateTable(table, protects=sd.AddOneRow())
    session = sd.Session(
        tables={"visits": rows}, budget=sd.PureDP(10**6), engine="memory"
    )
    wards = sd.KeySet.from_dict({"ward": ["A", "B"]})
    query = sd.table("visits").group_by(wards).agg(n=count_missing("days"))
    assert session.release(query, sd.PureDP(10**4))["n"].to_pylist() == [1, 1]


@for_each(
    "path",
    sorted(
        set(
            re.findall(
                r"`((?:src/sordino|engines|tests|docs|benchmarks)/[\w/.]+)`",
                (ROOT / "CONTRIBUTING.md").read_text(),
            )
        )
    ),
)
def test_what_contributing_names_is_there(path: str) -> None:
    assert (ROOT / path).exists() or (ROOT / "src/sordino" / path).exists()
