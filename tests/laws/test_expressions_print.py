"""Expressions print as the Python that makes them."""

import datetime as dt
import math
from typing import Any, Final

from sordino.engines.conformance.operations import FORMS, Form
from sordino.expressions.language import Expression, col, lit, when
from tests.batches import for_each

NAMES: Final[dict[str, Any]] = {
    "col": col,
    "lit": lit,
    "when": when,
    "datetime": dt,
    "nan": math.nan,
    "inf": math.inf,
}
INTERNAL: Final = ("steps", "height", "portion", "read ", "bin")
"""Operations that no user writes; ranges show their edges, not their names."""
PUBLIC: Final = [form for form in FORMS if not form.name.startswith(INTERNAL)]


def printed(form: Form) -> Expression:
    made: Expression = eval(repr(form.on_columns()), dict(NAMES))  # noqa: S307 our text
    return made


@for_each("form", PUBLIC, ids=str)
def test_an_expression_is_read_back_as_it_is_shown(form: Form) -> None:
    assert printed(form).same(form.on_columns())
