"""Slices of the rows of groups, and how well each candidate would cut them.

bins of rows ── runs of candidates ── pieces on which scores rise or fall evenly
── stretches on which they hardly change ── a choice

Each bin is divided into equal parts, and holds the same share of each of its rows in
each of them. Rows are counted in such shares, so that everything is a whole number. A
part counts as often as its bin weighs; positions count all that comes before.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, Self, final

import numpy as np

from sordino.mechanisms.kit.bin_counts import BinCounts, Whole
from sordino.mechanisms.kit.weights import AbstractWeights
from sordino.numbers import Exact, up
from sordino.sampling.choice import Chosen, Runs

_FAR: Final = 64.0
"""Exponents from here on have weights that need not be told apart."""
_DOUBLINGS: Final = 7
_LONGEST: Final = 2.0**50


@final
class QuantileCut(NamedTuple):
    """A quantile that is known: for each group its candidate, and what lies up to it.

    `rows` are the shares of rows up to the cut, `run` is the run of the group that
    holds it.
    """

    probability: Fraction
    position: Whole
    rows: Whole
    run: Whole


@final
@dataclass(frozen=True, eq=False)
class CandidateRuns:
    """Runs of candidates: those of a bin with rows, or those between two such bins.

    The runs of group g are those from base[g] on; none is empty. A run begins and ends
    at some positions, each of its candidates counts `repeats` times, and there are
    `before` rows before it and `counts` in it.
    """

    parts: int
    end: int
    base: Whole
    begins: Whole
    ends: Whole
    repeats: Whole
    before: Whole
    counts: Whole

    @classmethod
    def of(cls, bins: BinCounts, parts: int, weights: AbstractWeights) -> Self:
        """Lay out the runs of some groups, each bin divided into so many parts."""
        group = np.repeat(np.arange(bins.groups), np.diff(bins.starts))
        full = 2 * np.arange(group.size) + group + 1  # where each non-empty bin stands
        first = 2 * bins.starts[:-1] + np.arange(bins.groups)
        begins = np.zeros(2 * group.size + bins.groups, np.int64)
        begins[full], begins[full + 1] = bins.positions, bins.positions + 1
        ends = np.append(begins[1:], 0)
        ends[np.append(first[1:], begins.size) - 1] = bins.size
        added = np.zeros_like(begins)
        added[full] = bins.counts
        before = np.cumsum(added) - added
        before -= np.repeat(before[first], np.diff(np.append(first, begins.size)))
        filled = ends > begins
        base = np.append(0, np.cumsum(filled))[first]
        counts, places = added[filled], (begins[filled], ends[filled])
        first, last = map(weights.weight_before, places)
        return cls(
            parts,
            weights.total * parts,
            base,
            first * parts,
            last * parts,
            np.where(counts > 0, last - first, 1),
            before[filled],
            counts,
        )

    def outer(self) -> tuple[QuantileCut, QuantileCut]:
        """Return the cuts before all candidates and after them."""
        nothing = np.zeros_like(self.base)
        last = np.append(self.base[1:], self.counts.size) - 1
        end = nothing + self.end - 1
        rows = (self.before[last] + self.counts[last]) * self.parts
        low = QuantileCut(Fraction(0), nothing, nothing, nothing)
        return low, QuantileCut(Fraction(1), end, rows, last - self.base)


@final
@dataclass(frozen=True, eq=False)
class Pieces:
    """Candidates on which the score rises or falls evenly: their slice, run and places.

    Places count from the beginning of the run, up to but without `lasts`. The best
    candidate of a piece is `gaps` off, in rows times the parts and the denominator of
    the share; it is the first one where `slopes` is positive, and else the last one.
    """

    owner: Whole
    run: Whole
    firsts: Whole
    lasts: Whole
    gaps: Whole
    slopes: Whole

    @classmethod
    def of(
        cls, layout: CandidateRuns, low: QuantileCut, high: QuantileCut, share: Fraction
    ) -> Self:
        """Return the candidates between two cuts, by how far they are from a share.

        A candidate is right where that share of the slice's rows ends within it.
        """
        sizes = high.run - low.run + 1
        ends = np.cumsum(sizes)
        owner = np.repeat(np.arange(sizes.size), sizes)
        run = np.arange(owner.size) + (layout.base + low.run - ends + sizes)[owner]
        start, repeats = layout.begins[run], layout.repeats[run]
        first = np.maximum(low.position[owner] - start, 0) // repeats
        end = np.minimum(layout.ends[run], high.position[owner] + 1)
        last = (end - start) // repeats
        whole, part = share.denominator, share.numerator
        sought = whole * low.rows + part * (high.rows - low.rows)
        # negative at the lower cut: rows of its bin lie in the slice to the left
        missing = sought[owner] - whole * layout.parts * layout.before[run]
        slope = whole * layout.counts[run]
        return cls._split_runs(owner, run, (first, last), missing, slope)

    @classmethod
    def _split_runs(
        cls,
        owner: Whole,
        run: Whole,
        places: tuple[Whole, Whole],
        missing: Whole,
        slope: Whole,
    ) -> Self:
        """Split runs into those candidates before the share, at it, and after it."""
        first, last = places
        flat = slope == 0
        per = np.where(flat, 1, slope)
        reached = -(-missing // per) - 1  # from here on a candidate reaches the share
        passed = missing // per + 1  # from here on the candidate before it did
        at = np.where(flat, first, np.clip(reached, first, last))
        after = np.where(flat, last, np.clip(passed, at, last))
        firsts = np.stack([first, at, after], 1).ravel()
        lasts = np.stack([at, after, last], 1).ravel()
        off = [missing - slope * at, np.where(flat, abs(missing), 0)]
        gaps = np.stack([*off, slope * after - missing], 1).ravel()
        slopes = np.stack([-slope, np.zeros_like(slope), slope], 1).ravel()
        filled = lasts > firsts
        return cls(
            np.repeat(owner, 3)[filled],
            np.repeat(run, 3)[filled],
            firsts[filled],
            lasts[filled],
            gaps[filled],
            slopes[filled],
        )

    def stretch(self, rate: Exact) -> Self:
        """Return shorter pieces, each with candidates of nearly the same chance.

        Those of a far piece have hardly a chance, and stay together. Whatever the
        pieces, the law is the same: they make drawing fast.
        """
        steep = min(up(rate), _LONGEST)
        with np.errstate(divide="ignore"):
            even = np.clip(1 / (steep * np.abs(self.slopes)), 1, _LONGEST)
        unit = even.astype(np.int64)
        length = self.lasts - self.firsts
        near = (self.slopes != 0) & (self.gaps * steep < _FAR)
        doublings = unit[:, None] << np.arange(_DOUBLINGS)
        times = 1 + (near[:, None] & (doublings < length[:, None])).sum(axis=1)
        piece = np.repeat(np.arange(times.size), times)
        step = np.arange(piece.size) - np.repeat(np.cumsum(times) - times, times)
        inner = np.where(step > 0, unit[piece] << np.maximum(step - 1, 0), 0)
        outer = np.where(step < times[piece] - 1, unit[piece] << step, length[piece])
        rises = self.slopes[piece] >= 0
        first, last = self.firsts[piece], self.lasts[piece]
        return type(self)(
            self.owner[piece],
            self.run[piece],
            np.where(rises, first + inner, last - outer),
            np.where(rises, first + outer, last - inner),
            self.gaps[piece] + np.abs(self.slopes[piece]) * inner,
            self.slopes[piece],
        )

    def runs(self, layout: CandidateRuns) -> Runs:
        """Return the pieces to choose from, those of one slice after another."""
        ends, sizes = np.cumsum(np.bincount(self.owner)), self.lasts - self.firsts
        return Runs(self.gaps, sizes, ends, self.slopes, layout.repeats[self.run])

    def cut_at(
        self, layout: CandidateRuns, probability: Fraction, chosen: Chosen
    ) -> QuantileCut:
        """Return the cut at the chosen candidates."""
        run = self.run[chosen.run]
        reached = self.firsts[chosen.run] + chosen.place + 1
        position = layout.begins[run] + reached * layout.repeats[run] - 1
        rows = layout.before[run] * layout.parts + layout.counts[run] * reached
        return QuantileCut(probability, position, rows, run - layout.base)
