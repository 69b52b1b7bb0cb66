"""Errors in what units that replace rows, or add to a sum, are taken to move."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_UNITS: Final[tuple[Planted, ...]] = (
    Planted(
        "contribution",
        "src/sordino/data/contribution.py",
        "l2=min(change.l2, sqrt(2 * most**2)),",
        "l2=min(change.l2, sqrt(most**2)),",
        "rows that come counted, and those that leave forgotten",
    ),
    Planted(
        "contribution",
        "src/sordino/data/contribution.py",
        "if self.version in by:",
        "if self.version not in by and not by:",
        "a weighed column summed in groups of its own values",
    ),
    Planted(
        "contribution",
        "src/sordino/aggregations/sum.py",
        "rows = setting.rows() if grid.low < 0 < grid.high else setting.counts()",
        "rows = setting.counts()",
        "values of both signs taken for counts",
    ),
    Planted(
        "contribution",
        "src/sordino/aggregations/moments.py",
        "_TOGETHER: Final = Fraction(9, 8)",
        "_TOGETHER: Final = Fraction(8, 8)",
        "squares that cost nothing beside their values",
    ),
    Planted(
        "contribution",
        "src/sordino/query/steps.py",
        "weighed = self.weighed_beside(condition.names())",
        "weighed = self.weighed",
        "a filter that reads the weighed column",
    ),
    Planted(
        "contribution",
        "src/sordino/query/joins.py",
        "relation.weighed_beside(self.on) if factor <= 1 else None",
        "relation.weighed_beside(self.on)",
        "a weighed column that a join multiplies",
    ),
    Planted(
        "contribution",
        "src/sordino/session/tables.py",
        "(col(name) >= 1).tree",
        "(col(name) >= 0).tree",
        "rows that stand for nothing kept",
    ),
    Planted(
        "contribution",
        "src/sordino/session/executor.py",
        "        self.catalog.refuse_other_sizes()\n",
        "",
        "a public number of rows that is false by now",
    ),
)
