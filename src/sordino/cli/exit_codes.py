"""How a command ends, as a number that a scheduler can act on (ADR 191).

>>> from sordino.errors import BudgetExceeded
>>> exit_code(BudgetExceeded("nothing is left"))
3
"""

from typing import Final

from sordino.errors import (
    AnswerLost,
    BudgetExceeded,
    EngineFailure,
    EngineUnavailable,
    EntropyUnavailable,
    InvalidJob,
    InvalidPolicy,
    LedgerDamaged,
    LedgerUnavailable,
    OutputFailure,
    PolicyRefusal,
    SordinoError,
)

REFUSED: Final = 1
SPENT: Final = 3
FAILED: Final = 4
INTERRUPTED: Final = 130
_CODES: Final[dict[type[BaseException], int]] = {
    InvalidJob: 2,
    InvalidPolicy: 2,
    BudgetExceeded: SPENT,
    PolicyRefusal: SPENT,
    EngineFailure: 4,
    EngineUnavailable: 4,
    EntropyUnavailable: 4,
    LedgerUnavailable: 4,
    AnswerLost: 4,
    OutputFailure: FAILED,
    LedgerDamaged: 5,
}
"""Kinds of refusal that a scheduler tells apart; all others are a plain no."""


def exit_code(error: SordinoError) -> int:
    """Return the number of a refusal: that of the nearest kind it belongs to.

    An engine that refuses for good, such as one that lacks the table, does not mend.
    """
    if isinstance(error, EngineUnavailable) and error.lasts:
        return REFUSED
    kinds = (kind for kind in type(error).__mro__ if kind in _CODES)
    return _CODES.get(next(kinds, SordinoError), REFUSED)
