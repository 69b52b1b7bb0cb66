"""Errors by which a ledger would obey its policy a little less."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_POLICY: Final[tuple[Planted, ...]] = (
    Planted(
        "policy",
        "src/sordino/ledger/policy_enforcement.py",
        "    if not usages:\n",
        "    if usages is None:\n",
        "a door that does not say what it reads",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/charges.py",
        "    if obeyed is not None:\n",
        "    if obeyed is not None and claim.key:\n",
        "charges without the digest of the policy that allowed them",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_enforcement.py",
        "    if not _is_signed(policy):\n",
        "    if not policy.signature:\n",
        "a text obeyed that nobody signed",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_enforcement.py",
        "    if serial <= newest:\n",
        "    if serial < newest:\n",
        "two policies of one serial",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_rules.py",
        "today if newest is None else max(newest, today)",
        "today",
        "a clock that was set back believed",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_rules.py",
        "YEAR: Final = timedelta(366)",
        "YEAR: Final = timedelta(365)",
        "a year of a day less, in which a leap year does not lie",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_enforcement.py",
        "return year.plus(earlier_sum(first)) if adopted > start else year",
        "return year",
        "what was charged before the first policy forgotten",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_rules.py",
        "    own = [budget] if isinstance(budget, (PureDP, ApproxDP)) else []\n",
        "    own: list[Budget] = []\n",
        "a release counted as less than was asked",
    ),
    Planted(
        "policy",
        "src/sordino/query/node_rules.py",
        "    return rows.choose(read)\n",
        "    return rows.choose(NOTHING)\n",
        "a column that chooses rows forgotten",
    ),
    Planted(
        "policy",
        "src/sordino/query/node_rules.py",
        "{name: cells | met for name, cells in right.columns.items()}",
        "dict(right.columns)",
        "a public table joined on a column, and its rows told by it",
    ),
    Planted(
        "policy",
        "src/sordino/query/node_rules.py",
        "    if any(node is part for part in origins.parts):\n",
        "    if node.condition and origins.parts:\n",
        "a filter taken for the part of a table",
    ),
    Planted(
        "policy",
        "src/sordino/session/usages.py",
        "keys=rows.cells_of((*request.by, *binned)),",
        "keys=rows.cells_of(request.by),",
        "bins of a histogram that are groups of no column",
    ),
    Planted(
        "policy",
        "src/sordino/session/usages.py",
        "    other = purchase.first or purchase.rounds or request.known_columns\n",
        "    other = purchase.first or purchase.rounds\n",
        "groups of a key that is shown taken for counted",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_rules.py",
        "            if usage.is_chosen:\n",
        "            if usage.filters and usage.is_grouped:\n",
        "a group made by a filter and shown whole",
    ),
    Planted(
        "policy",
        "src/sordino/query/node_rules.py",
        "cell.names() & rows.made or not (gathered or isinstance(cell, Col))",
        "cell.names() & rows.made",
        "an expression taken for a column as its table has it",
    ),
    Planted(
        "policy",
        "src/sordino/query/node_rules.py",
        "    missing = frozenset(right.columns) if node.outer else right.made\n",
        "    missing: frozenset[str] = frozenset()\n",
        "values that a left join brings to some rows only",
    ),
    Planted(
        "policy",
        "src/sordino/query/groups.py",
        "    computes = any(question.reads_made(()) for _, question in aggregations)\n",
        "    computes = False\n",
        "a person's total of an expression taken for one of a column",
    ),
    Planted(
        "policy",
        "src/sordino/session/charging.py",
        "            ledger.obey(self.policy, who=book.who)\n",
        "            ledger.policy()\n",
        "parts of a table that obey nothing",
    ),
    Planted(
        "policy",
        "src/sordino/session/charging.py",
        "        if newest is not None and newest != self.policy:\n",
        "        if newest is None and newest != self.policy:\n",
        "parts that answer what a newer policy forbids",
    ),
    Planted(
        "policy",
        "src/sordino/session/charging.py",
        "            self.book.whole.refuse_newer_policy()\n",
        "            self.book.whole.book.ledger.policy()\n",
        "parts of parts that do not see the ledger of the whole",
    ),
    Planted(
        "policy",
        "src/sordino/ledger/policy_file.py",
        "    return not _is_small(encoded)\n",
        "    return bool(encoded)\n",
        "keys by which anybody signs",
    ),
)
