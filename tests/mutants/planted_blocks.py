"""Errors in which blocks a release reads, what each is charged, and when they open."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_BLOCKS: Final[tuple[Planted, ...]] = (
    Planted(
        "blocks",
        "src/sordino/query/node_rules.py",
        "if own & cover.ids else cover.unmark()",
        "if own else cover.unmark()",
        "rows gathered by other columns taken for those of one person",
    ),
    Planted(
        "blocks",
        "src/sordino/query/node_rules.py",
        "    if left and alike:\n",
        "    if left:\n",
        "a join of rows charged to the blocks of one side",
    ),
    Planted(
        "blocks",
        "src/sordino/query/node_rules.py",
        "if isinstance(expression, Col)",
        "if expression.names() & frozenset([name])",
        "a column written anew that still says of what block a row is",
    ),
    Planted(
        "blocks",
        "src/sordino/query/blocks_read.py",
        "AT_LEAST: lambda _, high, values: order(high, values[0]) >= 0,",
        "AT_LEAST: lambda low, _, values: order(low, values[0]) >= 0,",
        "a block that passes in part left unpaid",
    ),
    Planted(
        "blocks",
        "src/sordino/ledger/charges.py",
        "    _refuse_other_blocks(log, charged, claim)\n",
        "",
        "a lost answer computed of blocks that were not charged",
    ),
    Planted(
        "blocks",
        "src/sordino/ledger/blocks.py",
        "first = max(position - self.size + 1, done + 1, 0)",
        "first = max(position - self.size + 1, done + 2, 0)",
        "a window of blocks without what it was charged",
    ),
    Planted(
        "blocks",
        "src/sordino/ledger/blocks.py",
        "sound = sound and recorded == after and limit.rule.holds(after)",
        "sound = sound and limit.rule.holds(after)",
        "a sum of a block that somebody wrote down lower",
    ),
    Planted(
        "blocks",
        "src/sordino/losses/budgets/blocks.py",
        "if datetime.combine(end, time(), UTC) > now:",
        "if datetime.combine(end, time(1), UTC) > now:",
        "a month that opens an hour late",
    ),
    Planted(
        "blocks",
        "src/sordino/losses/budgets/filters.py",
        'numbers["delta"] = min(numbers["delta"], Fraction(1))',
        'numbers["delta"] = min(numbers["delta"] / count, Fraction(1))',
        "the delta of several blocks promised to be that of one",
    ),
    Planted(
        "blocks",
        "src/sordino/session/tables.py",
        "if low > greatest + step:",
        "if low < greatest:",
        "blocks between those that were asked for, read and not charged",
    ),
    Planted(
        "blocks",
        "src/sordino/session/session.py",
        "return [*words(), step]",
        "return words()",
        "an answer about one month, given again as that of another",
    ),
    Planted(
        "budgets",
        "src/sordino/ledger/charges.py",
        "    if committed is not None:\n        return committed\n",
        "",
        "second answer may overwrite",
    ),
)
