"""Functions of a user's own, annotated with public names: `make lint` checks them."""

from fractions import Fraction
from typing import assert_type

import sordino as sd
from sordino.numbers import Infinity, Radical


def adults(rows: sd.Query, age: sd.Expression) -> sd.Query:
    """Return rows that are kept by an expression."""
    return rows.filter(age >= 18)


def counted(rows: sd.Query) -> sd.Request:
    """Return a request."""
    return rows.agg(n=sd.count())


def prices(session: sd.Session, budget: sd.Budget) -> tuple[sd.Price, sd.Batch]:
    """Return the price of a request, and of a batch."""
    asked = counted(adults(sd.table("visits"), sd.col("age")))
    assert_type(session.release(asked, budget), sd.Release)
    return session.price(asked, budget), session.price_all({"n": asked}, budget)


def told(session: sd.Session) -> tuple[sd.Entry, ...]:
    """Return the history of a session."""
    return session.history()


def kept(session: sd.Session, ledger: sd.Ledger) -> dict[str, sd.Release]:
    """Return paid answers: one has one type, several have another."""
    assert_type(session.answer("monday"), sd.Release)
    assert_type(ledger.answer("monday"), sd.Release)
    assert_type(session.answers("monday"), dict[str, sd.Release])
    return ledger.answers("monday")


def moved(price: sd.Price) -> Fraction | Radical | Infinity:
    """Return how far a unit moves a column, and see what noise answers for it."""
    (noise,) = price.noise["n"]
    assert_type(noise.map(price.sensitivity["n"]), sd.Loss)
    return price.sensitivity["n"].l1


BUDGETS: tuple[sd.Budget, ...] = (
    sd.PureDP(1),
    sd.ApproxDP(1, "1e-6"),
    sd.Advantage("0.05"),
    sd.ErrorRates(fpr="0.01", tpr="0.03"),
)
