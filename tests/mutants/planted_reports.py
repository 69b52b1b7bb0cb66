"""Errors in reports that the fast tests must notice: each tells too good a story."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_REPORTS: Final[tuple[Planted, ...]] = (
    Planted(
        "reports",
        "src/sordino/office/html/odds.py",
        "return min(math.ceil(100 * Fraction(share)), 100)",
        "return min(math.floor(100 * Fraction(share)), 100)",
        "people of a hundred rounded down",
    ),
    Planted(
        "reports",
        "src/sordino/office/html/odds.py",
        "            share = self.bound.tpr_at(share)\n",
        "            share = self.bound.tpr_at(Fraction(alarms, 100))\n",
        "a family is as safe as one of them",
    ),
    Planted(
        "reports",
        "src/sordino/office/html/engine.py",
        "autoescape=True",
        "autoescape=False",
        "names from outside are read as markup",
    ),
    Planted(
        "reports",
        "src/sordino/release/explanation.py",
        '    return None if "" in known else False\n',
        "    return False\n",
        "what is not known of a release does not apply to it",
    ),
    Planted(
        "reports",
        "src/sordino/office/report/promise.py",
        "return left if other is None or left <= other else other",
        "return left",
        "a name is told more than what is left for all",
    ),
    Planted(
        "reports",
        "src/sordino/office/report/promise.py",
        '"left": amount_in_words(language, name, purse.left[name], ROUND_FLOOR)',
        '"left": amount_in_words(language, name, purse.left[name], ROUND_CEILING)',
        "what is left is rounded up",
    ),
    Planted(
        "reports",
        "src/sordino/office/report/document.py",
        "        return ledger.first_limit().rule.promise\n",
        "        return ledger.spent()\n",
        "the odds are those of what is spent so far",
    ),
    Planted(
        "reports",
        "src/sordino/office/report/accounts.py",
        "return loss if exact == dict(headline) else read_loss(headline)",
        "return loss",
        "any text of a loss is believed",
    ),
)
