"""Margins that cannot be asked for: typed errors, from public facts."""

from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import SordinoError
from tests.asked_margins import ASKED, BUDGET, KEYS, NESTED, VISITS, WIDE, opened
from tests.batches import calls_of, for_each


def marginals(**more: Any) -> object:
    usual: dict[str, Any] = {"keyset": KEYS, "hierarchies": NESTED}
    return opened().price(VISITS.marginals(**usual | more), BUDGET)


WRONG: Final = calls_of("refused/margins", globals(), ASKED=ASKED, WIDE=WIDE, sd=sd)


@for_each(("ask", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_asked_is_refused(ask: Callable[[], Any], message: str) -> None:
    with pytest.raises(SordinoError, match=message):
        ask()
