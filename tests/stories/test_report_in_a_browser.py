"""Reports as a browser shows them: at a desk, on a phone, in the dark, on paper.

`look_at` asks for everything that can go wrong; here it may find nothing.
"""

from collections.abc import Callable

import pytest

import sordino as sd
from sordino.ledger.ledger import Ledger
from sordino.office.report.annex import ledger_annex
from sordino.office.report.document import ledger_report
from tests.batches import for_each, sampled
from tests.browser.sight import look_at
from tests.policies import ALL_RULES, ledger_under
from tests.reports import EVIL, hostile_ledger, plain_ledger

pytestmark = pytest.mark.slow


def weak_ledger() -> Ledger:
    return Ledger.in_memory(sd.PureDP(40))


def ruled_ledger() -> Ledger:
    """Return a ledger under a policy with every rule, and hostile names."""
    text = ALL_RULES.replace("Ä", "<script>alert(1)</script>").replace("a b", "病" * 9)
    return ledger_under(text)


@sampled(1, 2)
@for_each("code", ["en", "de", "fr"])
def test_nothing_is_wrong_with_an_annex(code: str) -> None:
    sight = look_at(ledger_annex(hostile_ledger(), EVIL, code))
    assert sight.problems == ()


@sampled(1, 2)
@for_each("code", ["en", "de", "fr"])
@for_each("make", [ruled_ledger, plain_ledger, hostile_ledger, weak_ledger])
def test_nothing_is_wrong_with_a_report(make: Callable[[], Ledger], code: str) -> None:
    sight = look_at(ledger_report(make(), EVIL, code))
    assert sight.problems == ()
    assert sight.pages >= 4
    assert sight.stops
