"""Reports as a browser shows them: at a desk, on a phone, in the dark, on paper.

`look_at` asks for everything that can go wrong; here it may find nothing.
"""

from collections.abc import Callable

import pytest

import sordino as sd
from sordino.ledger.ledger import Ledger
from sordino.office.report.document import ledger_report
from tests.batches import for_each, sampled
from tests.browser.sight import look_at
from tests.reports import EVIL, hostile_ledger, plain_ledger

pytestmark = pytest.mark.slow


def weak_ledger() -> Ledger:
    return Ledger.in_memory(sd.PureDP(40))


@sampled(1, 3)
@for_each("code", ["en", "de", "fr"])
@for_each("make", [plain_ledger, hostile_ledger, weak_ledger])
def test_nothing_is_wrong_with_a_report(make: Callable[[], Ledger], code: str) -> None:
    sight = look_at(ledger_report(make(), EVIL, code))
    assert sight.problems == ()
    assert sight.pages >= 4
    assert sight.stops
