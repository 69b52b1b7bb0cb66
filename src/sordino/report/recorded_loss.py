"""What a release lets anybody learn, of what a ledger recorded of it.

A charge has the loss as the calls that make an equal one, and its exact headline. The
first has a curve, and is believed where its headline is the recorded one; else the
headline alone counts, which is a bound with a worse curve.

>>> headline = {"epsilon": "1/1", "delta": "0/1"}
>>> recorded_loss("GeometricLoss(shift=1, scale=6) + os.getcwd()", headline)
PureDP(epsilon=1)
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from sordino.budgets.budget_text import exact_text
from sordino.errors import SordinoError
from sordino.ledger.paid_answers import read_loss
from sordino.losses.base import Loss, PureDP, compose
from sordino.losses.bounded_range import BoundedRangeLoss
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.noise_losses import (
    DiscreteGaussianLoss,
    GeometricLoss,
    LaplaceLoss,
    RandomizedResponseLoss,
)

_CALLS: Final[Mapping[str, Callable[..., Loss]]] = {
    kind.__name__: kind
    for kind in (
        *(PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP),
        *(LaplaceLoss, GeometricLoss, DiscreteGaussianLoss),
        *(RandomizedResponseLoss, BoundedRangeLoss),
    )
}
"""The losses that are read: those that are their parameters."""
_MOST_TIMES: Final = 10**6


def recorded_loss(text: str, headline: Mapping[str, str]) -> Loss:
    """Return the loss of a charge with its curve, or else its headline."""
    try:
        loss = compose(_terms(ast.parse(text, mode="eval").body))
    except (SordinoError, SyntaxError, TypeError, ValueError, RecursionError):
        return read_loss(headline)
    exact = {name: exact_text(value) for name, value in asdict(loss.guarantees).items()}
    return loss if exact == dict(headline) else read_loss(headline)


def _terms(node: ast.expr) -> list[Loss]:
    """Return the losses that a sum adds up; anything else is refused."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_terms(left), *_terms(right)]
        case ast.BinOp(
            left=left, op=ast.Mult(), right=ast.Constant(value=int(times))
        ) if times <= _MOST_TIMES:
            return [loss * times for loss in _terms(left)]
        case ast.Call(func=ast.Name(id=name), args=[], keywords=named):
            return [_CALLS[name](**_values(named))] if name in _CALLS else _refuse()
        case _:
            return _refuse()


def _values(named: list[ast.keyword]) -> dict[str, Any]:
    """Return arguments, which are written out."""
    return {
        argument.arg: ast.literal_eval(argument.value)
        for argument in named
        if argument.arg is not None
    }


def _refuse() -> list[Loss]:
    """Refuse what is no loss with its parameters."""
    raise ValueError
