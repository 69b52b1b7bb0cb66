"""What a session does with a request for margins: buy, charge, answer."""

from collections.abc import Callable
from typing import Any

from sordino.losses.base import Budget
from sordino.planning.margins_price import MarginsPrice
from sordino.planning.margins_purchase import MarginsPurchase, buy_margins
from sordino.query.marginals import Marginals
from sordino.release import storage
from sordino.release.answer import Answer
from sordino.release.margins import margins_release
from sordino.release.margins_answer import margins_answer
from sordino.release.release import Release
from sordino.session import identity
from sordino.session.book import Priced
from sordino.session.desk import Desk
from sordino.session.large_answers import AnswerForm, Charged, answer_or_files
from sordino.session.usages import usage_of_margins


def price_margins(desk: Desk, request: Marginals, budget: Budget) -> MarginsPrice:
    """Return what margins would cost; nothing is charged."""
    purchase = _buy(desk, request, budget)
    priced = _charge_of(desk, purchase)
    desk.book.refuse_unlawful(priced)
    return MarginsPrice(purchase, priced.blocks or ())


def release_margins(
    desk: Desk, request: Marginals, budget: Budget, details: dict[str, Any]
) -> Release:
    """Charge for margins and return all of their tables."""
    purchase = _buy(desk, request, budget)

    def prepare() -> Callable[[], list[Answer]]:
        desk.catalog.refuse_other_sizes()
        desk.keysets[repr(request.keyset)] = None
        exact = desk.engine.prepare(purchase.question)
        return lambda: [margins_answer(purchase, exact())]

    charged = Charged(
        identity.request_identity(request, desk.catalog, budget, details["key"]),
        _charge_of(desk, purchase),
        {**details, "plan": purchase.plan},
    )
    form = AnswerForm(
        lambda answers: storage.answer_bytes(*answers),
        lambda answers, provenance: [margins_release(purchase, answers[0], provenance)],
    )
    paid = answer_or_files(desk.book, charged, prepare, form)
    return margins_release(purchase, storage.read_answer(paid.answer), paid.provenance)


def _buy(desk: Desk, request: Marginals, budget: Budget) -> MarginsPurchase:
    """Return what a budget buys for margins, from public facts alone."""
    desk.refuse_strangers()
    with desk.catalog.explain_refusals():
        return buy_margins(request, desk.catalog, budget)


def _charge_of(desk: Desk, purchase: MarginsPurchase) -> Priced:
    """Return what is charged for margins: their price, blocks, and what they use."""
    blocks = desk.blocks_read(lambda: [purchase.question.rows])
    return Priced(
        purchase.budget,
        purchase.loss,
        blocks,
        lambda: (usage_of_margins(purchase, desk.catalog),),
    )
