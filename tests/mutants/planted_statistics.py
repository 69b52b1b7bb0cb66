"""Errors in prices, keys and intervals that the fast tests must notice."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_STATISTICS: Final[tuple[Planted, ...]] = (
    Planted(
        "prices",
        "src/sordino/aggregations/keys_and_noise.py",
        "mu * min(Fraction(1), share * keys) for mu, share in self.measurements",
        "mu * min(Fraction(1), share) for mu, share in self.measurements",
        "kept keys not counted",
    ),
    Planted(
        "prices",
        "src/sordino/aggregations/moments.py",
        "size = ((grid.width << finer) + 8) * Fraction(2) ** exponent",
        "size = (grid.width << finer) * Fraction(2) ** exponent",
        "the rounding of squares of wide integers not paid for",
    ),
    Planted(
        "prices",
        "src/sordino/planning/plan.py",
        "        return replace(change, linf=change.l2)\n",
        "        return change\n",
        "all groups of a key that is known in part priced as one group",
    ),
    Planted(
        "prices",
        "src/sordino/planning/purchase.py",
        "            return self.rounds.loss(tuple(starmap(told_numbers, noise)))\n",
        "            return self.rounds.loss(())\n",
        "a column beside keys by weights is told for nothing",
    ),
    Planted(
        "keys",
        "src/sordino/release/answer.py",
        "    cut = cut if counts.cut is None else max(cut, counts.cut)\n",
        "    cut = cut if counts.cut is None else counts.cut\n",
        "intervals do not know of a reader's minimum above the threshold",
    ),
    Planted(
        "prices",
        "src/sordino/planning/alike.py",
        "return type(value), *(_without_keys(part, places) for part in parts)",
        "return type(value), len(parts)",
        "columns with other bounds are priced alike",
    ),
    Planted(
        "prices",
        "src/sordino/planning/bundle.py",
        "plan = ways[name][place]",
        "plan = ways[first][place]",
        "requests that are priced alike ask for the rows of the first",
    ),
    Planted(
        "prices",
        "src/sordino/planning/bundle.py",
        "[name for name in names if weights.shares[name] == share]",
        "names",
        "requests of other weights have the noise of the first",
    ),
    Planted(
        "prices",
        "src/sordino/planning/ways.py",
        "whole = joint + sum(beside.values(), Fraction(0))",
        "whole = joint",
        "choices and coverage spend extra",
    ),
    Planted(
        "prices",
        "src/sordino/aggregations/shares.py",
        "return LaplaceShare(self.epsilon * factor)",
        "return LaplaceShare(self.epsilon * factor * Fraction(101, 100))",
        "1% more epsilon than allowed",
    ),
    Planted(
        "prices",
        "src/sordino/aggregations/moments.py",
        "size = ((grid.width << finer) + 8) * Fraction(2) ** exponent",
        "size = ((grid.width << finer) // 2 + 8) * Fraction(2) ** exponent",
        "variance sensitivity halved",
    ),
    Planted(
        "prices",
        "src/sordino/aggregations/moments.py",
        "scale_change(setting.rows(), width, len(totals)),",
        "scale_change(setting.rows(), width / 2, len(totals)),",
        "divided rows at half their size",
    ),
    Planted(
        "prices",
        "src/sordino/mechanisms/laplace_sum_threshold.py",
        "gap = self.threshold - _largest(apart) - _margin(self.scale, apart)",
        "gap = self.threshold - _margin(self.scale, apart)",
        "a new key's own numbers not counted",
    ),
    Planted(
        "prices",
        "src/sordino/sensitivity.py",
        "l0=self.l0 * copies,",
        "l0=self.l0,",
        "copies in l0",
    ),
    Planted(
        "prices",
        "src/sordino/session/partition.py",
        "return Fraction(most), None",
        "return Fraction(1), None",
        "parts charged once",
    ),
    Planted(
        "keys",
        "src/sordino/mechanisms/kit/key_rounds.py",
        "weight = exact_weight(block.least)",
        "weight = exact_weight(self.keys)",
        "own keys keep the weight of the first round",
    ),
    Planted(
        "keys",
        "src/sordino/release/shown_keys.py",
        "ask(stage.question_after(shown))",
        "ask(stage.question_after(shown.slice(0, 0)))",
        "the second round looks at all keys again",
    ),
    Planted(
        "intervals",
        "src/sordino/aggregations/intervals/selected.py",
        "above_the_cut = beyond > np.log(alpha) + showing",
        "above_the_cut = beyond > np.log(alpha)",
        "intervals hold over all groups, shown or not",
    ),
    Planted(
        "intervals",
        "src/sordino/aggregations/intervals/spread.py",
        "return once, mean**2 * (1 - 2 * share) + share * mean",
        "return once, mean**2 * (1 - 2 * share)",
        "squares about a centre that count its distance from the mean",
    ),
    Planted(
        "intervals",
        "src/sordino/aggregations/sum.py",
        "least = down(rows * low) if low >= 0 else -math.inf",
        "least = -math.inf",
        "intervals of sums of positive values reach below zero",
    ),
    Planted(
        "intervals",
        "src/sordino/aggregations/intervals/sums.py",
        "left * chance, chance)",
        "left, chance)",
        "means of groups that showed themselves as if they were known",
    ),
)
