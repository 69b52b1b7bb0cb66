"""Lemmas that a machine checks: they hold, and a wrong one is noticed."""

from typing import Final

import pytest

from tests.batches import for_each, sampled
from tests.effort import by_night
from tests.machine_checked import COQC, FOLDER, check

needs_coq: Final = pytest.mark.skipif(
    COQC is None, reason="NO COQ: coqc is not installed"
)


@needs_coq
@by_night  # as `make proofs` does, in CI too
@pytest.mark.slow
def test_every_statement_holds() -> None:
    found = {path.name: check(path.read_text("utf-8")) for path in FOLDER.glob("*.v")}
    assert found
    assert not any(found.values()), found


_WRONG: Final = {
    "a norm too small": ("2 * (e * e)", "e * e"),
    "one row out too few": ("(length left <= 1)%nat", "(length left <= 0)%nat"),
    "the rest of the squares": ("(linf * linf) + rest * rest", "(linf * linf)"),
    "a join that one side changes": ("+ tau_l * changed right", ""),
    "parts that are charged once": ("n * c <= m * price", "m * c <= m * price"),
    "no columns as bad as the first": (
        "<= sum k (fun i => sum k (fun j => of_columns i j))",
        "< sum k (fun i => sum k (fun j => of_columns i j))",
    ),
    "an axiom": ("Proof. intros; nia. Qed.", "Admitted."),
    "a proof left out": ("Proof. intros; nia. Qed.", "Proof. Admitted."),
}


@needs_coq
@pytest.mark.slow
@sampled(1, 2)
@for_each("error", sorted(_WRONG))
def test_a_wrong_statement_is_refused(error: str) -> None:
    true, false = _WRONG[error]
    texts = [path.read_text("utf-8") for path in sorted(FOLDER.glob("*.v"))]
    planted = [text.replace(true, false, 1) for text in texts if true in text]
    assert planted
    assert all(check(text) for text in planted)
