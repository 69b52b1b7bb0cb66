"""Errors that an outsider planted, and that all tests once let pass."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_REVIEWED: Final[tuple[Planted, ...]] = (
    Planted(
        "blocks",
        "src/sordino/ledger/blocks.py",
        "numbered, lambda pair: (pair[1][0] - pair[0], pair[1][1])",
        "numbered, lambda pair: (0, pair[1][1])",
        "blocks apart that were charged alike, and those between them made free",
    ),
    Planted(
        "joins",
        "src/sordino/query/joins.py",
        "*((c, n * right) for c, n in first.group_rows if right is not None),",
        "*((c, n * (right if n > 1 else 1)) for c, n in first.group_rows if right),",
        "one row of a group that meets a single row of the other table",
    ),
    Planted(
        "contribution",
        "src/sordino/data/contribution.py",
        "squares += [coarse * most**2] if columns <= by and coarse else []",
        "squares += [coarse * most**2] if columns & by and coarse else []",
        "bounds of finer groups taken for those of coarser ones",
    ),
    Planted(
        "contribution",
        "src/sordino/session/tables.py",
        "return Fraction(rows, inside), Spread(inside, Contribution(rows=1))",
        "return Fraction(rows // inside), Spread(inside, Contribution(rows=1))",
        "half a part that is charged to nobody",
    ),
    Planted(
        "contribution",
        "src/sordino/session/tables.py",
        "if spread is not None and spread.is_alone:",
        "if spread is not None:",
        "rows that meet their own, charged as if each were by itself",
    ),
    Planted(
        "figures",
        "src/sordino/plan/keys_first.py",
        "return low >= 0 or high <= 0",
        "return low >= 0 or high <= 0 or low == -high",
        "sums between -b and b taken for sums of one sign",
    ),
    Planted(
        "budgets",
        "src/sordino/losses/budgets/filters.py",
        "return amount_above(value) if guarantees.delta == 0 else INFINITE",
        "return amount_above(value) if guarantees.delta < 1e-9 else INFINITE",
        "a small delta that a budget without one takes",
    ),
    Planted(
        "prices",
        "src/sordino/aggregations/count.py",
        "squares = touched * (1 - 2 * share) + groups * share**2",
        "squares = touched * (1 - 2 * share) + (groups - touched) * share**2",
        "groups that a person touches, left out of what their centre moves",
    ),
    Planted(
        "intervals",
        "src/sordino/aggregations/intervals/quotients.py",
        "bend = ((most - least) / _CELLS) ** 2 / 4",
        "bend = ((most - least) / _CELLS) ** 2 / 16",
        "a variance between two means that falls below what is taken off",
    ),
    Planted(
        "intervals",
        "src/sordino/aggregations/intervals/quotients.py",
        "for level in sums.levels(every, alpha * (1 - _MEAN) / (1 + _COUNT)):",
        "for level in sums.levels(every, alpha):",
        "a chance to miss that is spent twice",
    ),
    Planted(
        "keys",
        "src/sordino/noise/key_rounds.py",
        "common = self.keys - block.least",
        "common = self.keys - block.most",
        "the cheapest case of a block taken for all of them",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/normal.py",
        "growth = np.exp(epsilon) * (1 + ELEMENTARY)",
        "growth = np.minimum(np.exp(epsilon) * (1 + ELEMENTARY), 1e308)",
        "an overflow that is taken for the largest double",
    ),
)
"""Each with the tests that are to notice it."""
