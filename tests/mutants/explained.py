"""Changes that survive because they change no number: each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.mutants.changes import Change

_BUNDLE = "src/sordino/plan/bundle.py"
_SHARES = "src/sordino/aggregations/measurement.py"
_CONTRIBUTION = "src/sordino/data/contribution.py"

EXPLAINED: Final[dict[tuple[str, str, str], str]] = {
    (
        _SHARES,
        "if selection is None or presence is None:",
        "if selection is None and presence is None:",
    ): "a selection and what it selects by are given together or not at all",
    (
        _CONTRIBUTION,
        "squares += [coarse * most**2] if columns <= by and coarse else []",
        "squares += [coarse * most**2] if columns < by and coarse else []",
    ): "for the same columns the squares of at most so many numbers are no more anyway",
    (
        _BUNDLE,
        "return min(beyond, 0.0)",
        "return max(beyond, 0.0)",
    ): "the search asks on which side of its budget a batch is, which stays the same",
    (
        "src/sordino/noise/sensitivity.py",
        "count, whole, length, largest = 0, Fraction(0), Fraction(0), Fraction(0)",
        "count, whole, length, largest = 0, Fraction(0), Fraction(1), Fraction(0)",
    ): "the length is at most the whole, which is 0",
    (
        "src/sordino/session/tables.py",
        "if low > greatest + step:",
        "if low >= greatest + step:",
    ): "two ranges that touch hold what one does",
    (
        "src/sordino/ledger/http_witness.py",
        "count = min(2 * count, MOST)",
        "count = max(2 * count, MOST)",
    ): "the witness gives at most so many, and the rest is asked for next",
    (
        "src/sordino/noise/laplace.py",
        "if ratio > _STEEPEST:",
        "if ratio >= _STEEPEST:",
    ): "at 600 itself the attacker may be taken to win always as well",
    (
        "src/sordino/engines/duckdb/session.py",
        "return 0",
        "return 1",
    ): "half of a byte is none",
    (
        "src/sordino/ledger/policy_rules.py",
        "is_grouped: bool = False",
        "is_grouped: bool = True",
    ): "an answer says it, and parts are none yet",
    (
        "src/sordino/engines/duckdb/bounds.py",
        "return 0",
        "return 1",
    ): "a table of one row is as far from one that is worth portions as none",
    (
        "src/sordino/plan/plan.py",
        "in_rounds: bool = False",
        "in_rounds: bool = True",
    ): "whoever makes a plan says it",
    (
        "src/sordino/losses/curves/transform.py",
        "finite = min(grid.infinity / total, 1.0)",
        "finite = min(grid.infinity / total, 1.01)",
    ): "a part of a total is no more than the whole, and from 1 on all is the same",
    (
        "src/sordino/engines/statements/plans.py",
        "name = self._add(exp.union(*parts, distinct=False, copy=False))",
        "name = self._add(exp.union(*parts, distinct=False, copy=True))",
    ): "a copy of a tree is written as the tree is",
    (
        "src/sordino/engines/duckdb/entries.py",
        "[(templates.is_less(to[0], templates.double(0)), to[1])], to[2]",
        "[(templates.is_less(to[0], templates.double(1)), to[1])], to[2]",
    ): "it is asked of infinities alone",
}
"""(file, line as it is, line as it is made): why nobody can notice."""


def is_explained(change: Change) -> bool:
    """Tell whether a change is known to change no number."""
    return (change.file, change.before.strip(), change.after.strip()) in EXPLAINED
