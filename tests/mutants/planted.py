"""Errors that once survived, or nearly did: each must be noticed by the fast tests.

Each is a text in a file, and what takes its place. `make mutants` says if it is gone.
"""

from __future__ import annotations

from typing import Final

from tests.mutants.planted_alarms import PLANTED_ALARMS
from tests.mutants.planted_blocks import PLANTED_BLOCKS
from tests.mutants.planted_clocks import PLANTED_CLOCKS
from tests.mutants.planted_files import PLANTED_FILES
from tests.mutants.planted_jobs import PLANTED_JOBS
from tests.mutants.planted_labels import PLANTED_LABELS
from tests.mutants.planted_pictures import PLANTED_PICTURES
from tests.mutants.planted_plans import PLANTED_PLANS
from tests.mutants.planted_policy import PLANTED_POLICY
from tests.mutants.planted_reports import PLANTED_REPORTS
from tests.mutants.planted_reviewed import PLANTED_REVIEWED
from tests.mutants.planted_server import PLANTED_SERVER
from tests.mutants.planted_statistics import PLANTED_STATISTICS
from tests.mutants.planted_units import PLANTED_UNITS
from tests.mutants.planted_waiting import PLANTED_WAITING
from tests.mutants.planting import Planted

__all__ = ["PLANTED", "Planted"]

PLANTED: Final[tuple[Planted, ...]] = (
    Planted(
        "kept",
        "src/sordino/engines/statements/plans.py",
        "    for differs in odd:\n",
        "    for differs in odd[1:]:\n",
        "ids that share a hash bounded together",
    ),
    Planted(
        "kept",
        "src/sordino/engines/duckdb/bounds.py",
        "    last = exp.and_(number.copy().eq(limit.copy()), _is_early(digest))\n",
        "    last = number.copy().eq(limit.copy())\n",
        "ids with too few early rows taken for done",
    ),
    Planted(
        "kept",
        "src/sordino/query/node_rules.py",
        "return repr(part.words)",
        "return repr(part.words)[:24]",
        "plans taken for alike whose conditions differ",
    ),
    Planted(
        "kept",
        "src/sordino/query/node_rules.py",
        "return object() if isinstance(words, Exception) else repr(words)",
        "return isinstance(words, Exception)",
        "rows kept of a function that does something else by now",
    ),
    Planted(
        "kept",
        "src/sordino/engines/statements/statements.py",
        "places = tuple(rows.column_names.index(known_as) for known_as in node.schema)",
        "places = tuple(range(len(node.schema.names)))",
        "columns of kept rows taken for others",
    ),
    Planted(
        "sums",
        "src/sordino/engines/duckdb/dialect.py",
        "whole(MOST // max(1, most))",
        "whole(4 * MOST // max(1, most))",
        "sums of doubles over more rows than they hold",
    ),
    Planted(
        "sums",
        "src/sordino/engines/duckdb/entries.py",
        "_WHOLE_BITS: Final = 51",
        "_WHOLE_BITS: Final = 53",
        "steps by sizes that round",
    ),
    Planted(
        "sums",
        "src/sordino/engines/statements/totals.py",
        'counted = ("values", mark), _write_over(expression, _values)',
        "counted = _ROWS",
        "rows without a value counted as rows with one",
    ),
    Planted(
        "losses",
        "src/sordino/numbers/normal.py",
        "*(0.0012669328940240856, ",
        "*(0.0012669328950240856, ",
        "the normal law off by 1e-9",
    ),
    Planted(
        "losses",
        "src/sordino/noise/laplace.py",
        "gap = np.minimum(epsilon - ratio, 0.0) / 2\n",
        "gap = np.minimum(epsilon - ratio, 0.0) / 2.0001\n",
        "laplace delta slightly too small",
    ),
    Planted(
        "losses",
        "src/sordino/losses/guarantees.py",
        "return _upper_end(ball(ratio) + (-ball(ratio)).expm1())",
        "return _upper_end((ball(ratio) + (-ball(ratio)).expm1()) * 0.999)",
        "laplace rho 0.1% too small",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/curve.py",
        "inner = -np.expm1(below) / (1 + math.exp(-most))",
        "inner = -np.expm1(below) / (1 + 1.001 * math.exp(-most))",
        "pure delta slightly small",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/concentrated.py",
        "(less / a).log())).exp() / a\n",
        "(less / a).log())).exp() / (a * 1.01)\n",
        "zcdp delta 1% small",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/combined.py",
        "(times * (-ball(chance)).log1p() for",
        "((times - (times > 1)) * (-ball(chance)).log1p() for",
        "one reserve less",
    ),
    Planted(
        "losses",
        "src/sordino/losses/thresholded.py",
        "shift = 0.0 if certain else math.log1p(-vanished) - math.log1p(-breach)",
        "shift = 0.0 if certain else math.log1p(-breach) - math.log1p(-vanished)",
        "sign of the shift",
    ),
    Planted(
        "losses",
        "src/sordino/losses/thresholded.py",
        "breach = joint_breach(((self.key_delta, end - 1),))",
        "breach = joint_breach(((self.key_delta, first),))",
        "breach of the block start",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/transform.py",
        "error += (2 / size) * _gamma(size) * float(bound.sum())",
        "error = 0 * float(bound.sum())",
        "FFT rounding error not charged",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/transform.py",
        "masses = (window.masses + window.error) * weight * (1 + 1e-12)",
        "masses = window.masses * weight",
        "error not charged to masses",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/transform.py",
        "logs += times * (math.log1p(-finite) if finite < 1 else -math.inf)",
        "logs += math.log1p(-finite) if finite < 1 else -math.inf",
        "breach once, not times",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/transform.py",
        "    p *= 1 + law.margin\n",
        "",
        "margin of P not charged",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/laws.py",
        "return p, (1 - self.rate) * p + self.rate * q",
        "return p, (1 - self.rate) * q + self.rate * p",
        "add direction of sampling swapped",
    ),
    Planted(
        "losses",
        "src/sordino/noise/sensitivity.py",
        "    rest = _difference(d_in.l1, d_in.linf * Fraction(full))\n",
        "    rest = Fraction(0)\n",
        "rest of the worst vector dropped",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/curve.py",
        "risk = points.shrink(rarer * (1 - self._raised_delta(safe)))",
        "risk = points.grow(rarer * (1 - self._raised_delta(safe)), 1e-9)",
        "Bayes risk rounded the wrong way",
    ),
    Planted(
        "losses",
        "src/sordino/noise/exponential.py",
        "return min(self.epsilon**2 / 8, implied)",
        "return min(self.epsilon**2 / 9, implied)",
        "bounded range rho /9",
    ),
    Planted(
        "losses",
        "src/sordino/losses/closed.py",
        "shortest(loss.delta_at(self.epsilon)) <= self.delta",
        "shortest(loss.delta_at(self.epsilon)) <= self.delta * Fraction(101, 100)",
        "admits 1% more delta",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/threshold/laplace.py",
        "rest = whole - copies * each if copies < apart.l0 else Fraction(0)",
        "rest = Fraction(0)",
        "rest of change dropped",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/threshold/mechanism.py",
        "level = math.floor(level / self.unit + _HALF) * self.unit",
        "level = math.ceil(level / self.unit) * self.unit",
        "threshold off grid priced up",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/threshold/mechanism.py",
        "excess = unit - _FINEST",
        "excess = Fraction(0)",
        "grid rounding not added",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/numbers.py",
        "rounded = np.ldexp(whole + (steps - whole >= 0.5), grid)",
        "rounded = np.ldexp(np.rint(steps), grid)",
        "ties to even on the grid",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/additive.py",
        "return total(norm, product(root(_count(d_in, rounding)), rounding.step))",
        "return total(norm, rounding.step)",
        "l2 grid rounding without sqrt n",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/quantiles.py",
        "quantiles.levels * quantiles.rows * unit * _span(share)\n",
        "quantiles.levels * quantiles.rows * unit * _span(share) / 2\n",
        "quantiles twice as sharp",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/above_threshold.py",
        "return Fraction(2 * self.rows) / self.epsilon",
        "return Fraction(self.rows) / self.epsilon",
        "walk twice as sharp",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/randomized_response.py",
        "return 1 / (1 + (self.categories - 1) * (-odds).exp())",
        "return 1 / (1 + (self.categories - 1) * (-odds * 1.01).exp())",
        "truth 1% too often in epsilon",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/threshold/mechanism.py",
        "chance = -(keys * (-law.at_least(gap)).log1p()).expm1()",
        "chance = -(keys * (-law.above(gap)).log1p()).expm1()",
        "exclusive tail",
    ),
    Planted(
        "mechanisms",
        "src/sordino/noise/exponential.py",
        "return self.epsilon / (self.span * Fraction(denominator))",
        "return 2 * self.epsilon / (self.span * Fraction(denominator))",
        "exponential twice as sharp",
    ),
    Planted(
        "sampling",
        "src/sordino/noise/sampling/choice.py",
        "below = (v + _DOUBT) * self.whole <= true * (1 - _MARGIN)",
        "below = (v - 2.0**-12) * self.whole <= true * (1 - _MARGIN)",
        "accepts 2**-12 too often",
    ),
    Planted(
        "sampling",
        "src/sordino/noise/sampling/bits.py",
        "open_ = np.flatnonzero(draws >= limits)\n",
        "open_ = np.flatnonzero(draws > limits)\n",
        "limit itself accepted",
    ),
    Planted(
        "sampling",
        "src/sordino/noise/laplace.py",
        "return rho * (1.0 / up(self.scale))",
        "return rho * (0.99 / up(self.scale))",
        "residual curve 1% off",
    ),
    Planted(
        "sampling",
        "src/sordino/noise/sampling/integers.py",
        "sums[(noise > 0) & (sums < values)] = _MOST",
        "sums[(noise > 1) & (sums < values)] = _MOST",
        "wrap-around by one",
    ),
    Planted(
        "contribution",
        "src/sordino/data/contribution.py",
        "return full * largest**2 + rest**2",
        "return full * largest**2 + rest",
        "squares of the rest",
    ),
    Planted(
        "contribution",
        "src/sordino/data/contribution.py",
        "group_rows=tuple((c, most * factor) for c, most in self.group_rows),",
        "group_rows=self.group_rows,",
        "group rows not multiplied",
    ),
    Planted(
        "joins",
        "src/sordino/query/joins.py",
        "*((c, n * right) for c, n in first.group_rows if right is not None),",
        "*((c, n) for c, n in first.group_rows if right is not None),",
        "pairs per group",
    ),
    Planted(
        "budgets",
        "src/sordino/losses/budgets/filters.py",
        "if not self.holds(after):",
        "if not self.holds(spent):",
        "filter checks before, not after",
    ),
    Planted(
        "budgets",
        "src/sordino/losses/budgets/charge.py",
        "return Fraction(math.ceil(amount * GRID), GRID)",
        "return Fraction(math.floor(amount * GRID), GRID)",
        "long charges rounded down",
    ),
    Planted(
        "budgets",
        "src/sordino/losses/budgets/filters.py",
        "return delta <= self.reserve and (epsilon",
        "return (epsilon",
        "reserve not checked",
    ),
    Planted(
        "budgets",
        "src/sordino/losses/budgets/limits.py",
        "rest = ApproxDP(epsilon, (delta - reserved) / (1 - reserved))",
        "rest = ApproxDP(epsilon, delta)",
        "delta spent twice",
    ),
    Planted(
        "budgets",
        "src/sordino/losses/budgets/filters.py",
        "place = 0 if isinstance(budget, self.own) else 1",
        "place = 1",
        "charged by loss, not as asked",
    ),
    Planted(
        "losses",
        "src/sordino/losses/curves/transform.py",
        "if f.times == 1 and len(f.masses) <= longest]",
        "if f.times == 1 and len(f.masses) < longest]",
        "a loss of just the longest length is lost",
    ),
    Planted(
        "sampling",
        "src/sordino/noise/sampling/blocks.py",
        "start + (1 - within if left else within)",
        "start + (1 + within if left else within)",
        "the left tail is drawn as if it were farther",
    ),
    *PLANTED_REPORTS,
    *PLANTED_ALARMS,
    *PLANTED_BLOCKS,
    *PLANTED_LABELS,
    *PLANTED_SERVER,
    *PLANTED_STATISTICS,
    *PLANTED_FILES,
    *PLANTED_PICTURES,
    *PLANTED_PLANS,
    *PLANTED_POLICY,
    *PLANTED_REVIEWED,
    *PLANTED_UNITS,
    *PLANTED_WAITING,
    *PLANTED_CLOCKS,
    *PLANTED_JOBS,
    Planted(
        "joins",
        "src/sordino/query/groups.py",
        "once = bounds.with_group_rows(marked, 1) if marked else bounds.with_rows(1)",
        "once = bounds.with_rows(1)",
        "an id with a row in each of its groups as if it had one",
    ),
    Planted(
        "joins",
        "src/sordino/query/groups.py",
        "node=_gather(relation, (relation.ids, *self.by), aggregations)",
        "node=_gather(relation, (*self.by, relation.ids)[:1], aggregations)",
        "rows of several people gathered to one",
    ),
)
