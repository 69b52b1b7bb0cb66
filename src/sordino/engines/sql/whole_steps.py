"""Steps of an integer on a lattice: what all databases write alike."""

from collections.abc import Callable

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql, Written
from sordino.expressions.lattice_steps import thresholds
from sordino.expressions.literals import LEAST, MOST


def whole_steps(
    to: Written, number: Sql, between: Sql, difference: Callable[[Sql, Sql], Sql]
) -> Sql:
    """Return the steps of an integer, exactly; thresholds beyond 64 bits never bind.

    `between` has the steps of a number between the ends, and `difference` is how the
    database subtracts two i64 whatever they are.
    """
    low, high = to.options["low"], to.options["high"]
    origin = to.options.get("origin", 0)
    first, last = thresholds(low, high, to.options["exponent"])
    branches = []
    if first >= LEAST:
        below = sql.is_at_most(number.copy(), to.bind(first, "i64"))
        branches.append((below, to.bind(low - origin, "i64")))
    if last <= MOST:
        above = sql.is_at_most(to.bind(last, "i64"), number.copy())
        branches.append((above, to.bind(high - origin, "i64")))
    if origin:
        between = difference(between, to.bind(origin, "i64"))
    return sql.case(branches, between) if branches else between
