"""What a budget buys, whatever a session's limit can add up."""

import sordino as sd
from sordino.losses.loss import Budget
from sordino.plan.price import Price
from sordino.plan.purchase import best_purchase
from sordino.query.request import CONFIDENCE, Request
from sordino.session.sql import read_request


def planned(session: sd.Session, request: Request, budget: Budget) -> Price:
    """Price of a request by the tables of a session alone."""
    catalog = session._desk.catalog
    with catalog.explain_refusals():
        return Price(best_purchase(read_request(request, CONFIDENCE), catalog, budget))
