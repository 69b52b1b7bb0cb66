"""Limits and bounds to choose from: what each would cost in noise, and lose in rows.

grid ── effects (of a sample, or paid for) ── prices (public facts) ── suggestion
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

from sordino.aggregations.aggregation import PER_ROW
from sordino.aggregations.measurement import Total
from sordino.data.tables import PrivateTable, PublicTable
from sordino.engines.doors import Settings, engine_named
from sordino.errors import InvalidParameter
from sordino.expressions.literals import literal
from sordino.expressions.schema import unknown
from sordino.losses.loss import Budget, PureDP
from sordino.numbers import arguments, probability
from sordino.numbers.formatting import format_number
from sordino.numbers.frozen import hides
from sordino.numbers.views import office
from sordino.plan.price import SIZES
from sordino.plan.purchase import best_purchase
from sordino.query.limit_grid import (
    ABOVE,
    GROUPS,
    ROWS,
    UNITS,
    LimitChoice,
    LimitGrid,
    clamped_name,
    effects_request,
    kept_name,
    limit_grid,
)
from sordino.query.nodes import Question
from sordino.query.request import Request
from sordino.release.answer import noisy_answer
from sordino.release.release import Release
from sordino.session.executor import Desk, read_paid
from sordino.session.limit_errors import AverageGroup, SampleCells
from sordino.session.tables import Catalog, open_catalog

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


_TINY: Final = 1e-300
CUT: Final = "rows cut off"
"""The name of the share of rows that limits cut off."""


@final
@dataclass(frozen=True)
class Tried:
    """A choice, the request with it, and what it costs and loses."""

    choice: LimitChoice
    request: Request
    noise: dict[str, float]
    """The deviation of each answer that the budget buys."""
    units: dict[str, str]
    """Of these deviations: "/ rows" where it hangs on the rows of a group."""
    score: float
    """The mean logarithm of the errors; less is better."""
    lost: dict[str, tuple[float, float]]
    """The shares that are cut off and clamped, each with its deviation."""
    errors: dict[str, float]
    """The expected error of each answer, relative to its size, where one is known."""

    @property
    def error_score(self) -> float:
        """Return the mean logarithm of errors, of noise where none is known."""
        known = {**self.noise, **self.errors}
        return math.fsum(math.log(max(each, _TINY)) for each in known.values())

    @property
    def most_lost(self) -> float:
        """Return the greatest of the shares that it loses."""
        return self.losses[0]

    @property
    def losses(self) -> tuple[float, float, float]:
        """Return the greatest share, their sum and the score, in order of weight."""
        shares = [share for share, _ in self.lost.values()]
        return max(shares, default=0.0), math.fsum(shares), self.score


MOST_LOST: Final = 0.05
"""What the best choice may cut off, and clamp, if any is that gentle."""
_SHOWN: Final = 40
_SPREAD: Final = " ±"
_CLAMPED: Final = " clamped"
_EXPECTED: Final = " expected error"


@hides("source", "tried")
@final
@dataclass(frozen=True, eq=False, repr=False)
class Suggestion:
    """What limits and bounds would cost in noise, and what they would lose.

    | field | what |
    |---|---|
    | `table` | a row for each choice: limits, bounds, noise, loss, expected error |
    | `best` | the row with the least expected error |
    | `budget` | what the noise is told for: what is left to spend |
    | `release` | what was released of the data, None with a sample |
    """

    tried: tuple[Tried, ...]
    budget: Budget
    source: str
    """Of what the shares are."""
    grid: LimitGrid
    release: Release | None = None

    @cached_property
    def table(self) -> "pa.Table":
        """Return a row for each choice, as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        rows = [dict(_cells(tried)) for tried in self.tried]
        return pa.table({name: [row[name] for row in rows] for name in rows[0]})

    @cached_property
    def best(self) -> int:
        """Return the row of the choice with the least expected error.

        Where no error of an answer is known it is the one with the least noise, of
        those that lose at most one in twenty, or else the one that loses least.
        """
        places = range(len(self.tried))
        if self.is_by_error:
            return min(places, key=lambda place: self.tried[place].error_score)
        gentle = [place for place in places if self.tried[place].most_lost <= MOST_LOST]
        if gentle:
            return min(gentle, key=lambda place: self.tried[place].score)
        return min(places, key=lambda place: self.tried[place].losses)

    @property
    def is_by_error(self) -> bool:
        """Whether some error is expected, so that choices are told apart by it."""
        return all(tried.errors for tried in self.tried)

    def query(self, row: int | None = None) -> Request:
        """Return the request with the limits and bounds of a row, or of the best."""
        if row is None:
            return self.tried[self.best].request
        last = len(self.tried) - 1
        return self.tried[arguments.integer(row=row, least=0, most=last)].request

    def plot(self) -> "Figure":
        """Draw the noise of each answer against what is lost, the best one marked."""
        shown: Figure = office.plot_suggestion(self.tried, self.best, self.source)
        return shown

    def __repr__(self) -> str:
        """Show the choices, the best one marked, and of what the shares are."""
        heading, rows = self._texts()
        widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) for cell, width in zip(row, widths, strict=True)
            )
            for row in (heading, *rows)
        ]
        return "\n".join([*lines, *self._remarks()])

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        shown: str = office.suggestion_page(*self._texts(), self._remarks())
        return shown

    def _texts(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        """Return the heading and the rows as texts; a star marks the best."""
        rows = [
            [
                f"{place}*" if place == self.best else str(place),
                *_shown(tried),
            ]
            for place, tried in enumerate(self.tried[:_SHOWN])
        ]
        first = self.tried[0]
        units = {
            f"{name} noise": noise_in_words(0, unit)[1]
            for name, unit in first.units.items()
        }
        names = [name for name, _ in _cells(first) if not name.endswith(_SPREAD)]
        heads = (f"{name} {units.get(name, '')}".rstrip() for name in names)
        return ["row", *heads], [*rows]

    def _remarks(self) -> list[str]:
        """Return of what the shares are, and what the star means."""
        rest = len(self.tried) - _SHOWN
        more = [f"... and {rest} more"] if rest > 0 else []
        best = self.tried[self.best]
        star = "all lose more than one in twenty; this one loses least"
        if best.most_lost <= MOST_LOST:
            star = "the least noise of those that lose at most one in twenty"
        if self.is_by_error:
            star = "the least expected error, of noise and of what is lost together"
            lost = {
                name.removesuffix(_CLAMPED)
                for name, each in best.lost.items()
                if each[0]
            }
            edges = [
                name
                for name in best.choice.edges(self.grid, best.request)
                # what loses nothing need not be wider
                if (name if name not in {GROUPS, ROWS} else CUT) in lost
            ]
            if edges:
                star += f"; wider {', '.join(edges)} were not tried: give limits="
        shares = f"noise for {self.budget!r}; shares {self.source}"
        return [*more, shares, f"*: {star}"]


def _cells(tried: Tried) -> "list[tuple[str, Any]]":
    choice, cells = tried.choice, list[tuple[str, Any]]()
    if choice.groups is not None:
        cells.append(("groups per id", choice.groups))
    if choice.rows is not None:
        within = "rows per id" if choice.groups is None else "rows per id and group"
        cells.append((within, choice.rows))
    for name, (low, high) in choice.bounds:
        cells += [(f"{name} from", low), (f"{name} to", high)]
    cells += [(f"{name} noise", sd) for name, sd in tried.noise.items()]
    for name, (share, sd) in tried.lost.items():
        cells += [(name, share), (name + _SPREAD, sd)]
    cells += [(name + _EXPECTED, error) for name, error in tried.errors.items()]
    return cells


def _shown(tried: Tried) -> Iterator[str]:
    """Yield the cells as people read them: shares in percent, with their noise."""
    cells = dict(_cells(tried))
    for name, cell in cells.items():
        if name in tried.lost:
            sd = cells[name + _SPREAD]
            yield f"{cell:.1%} ± {sd:.1%}" if sd else f"{cell:.1%}"
        elif name.endswith(_EXPECTED):
            yield f"{cell:.1%}"
        elif name.endswith(" noise"):
            unit = tried.units[name.removesuffix(" noise")]
            yield f"{noise_in_words(cell, unit)[0]:.4g}"
        elif not name.endswith(_SPREAD):
            yield str(cell) if isinstance(cell, int) else format_number(cell)


def noise_in_words(sd: float, unit: str) -> tuple[float, str]:
    """Deviation and its unit: of what hangs on the rows of a group for so many."""
    return (
        (sd / SIZES[-1], f"for {SIZES[-1]:,} rows") if unit == PER_ROW else (sd, unit)
    )


_ENDLESS: Final = PureDP(10**12)
"""Noise that this buys is zero, to every digit that is shown."""
Number = tuple[float, float]
"""A number and its deviation."""


@final
@dataclass(frozen=True)
class _Effects:
    """What each choice keeps and clamps, and of how much, each with its deviation."""

    numbers: Mapping[str, Number]
    rows: Number | None
    """How many rows there are, None where only those that are kept are known."""
    source: str
    cells: SampleCells | AverageGroup | None = None
    """What errors are expected by, None where groups are not known."""


def suggest(
    desk: Desk,
    request: Request,
    terms: tuple[Budget, Any, Any, Any, Any],
    key: str | None,
) -> Suggestion:
    """Noise and lost data of limits and bounds, tried side by side.

    `terms` are the budget, a sample, the limits to try, the share of the budget that
    the data may cost, and how many people the table has.
    """
    budget, sample, limits, share, people = terms
    if people is not None:
        people = arguments.integer(people=people, least=1, most=2**53)
    desk.refuse_strangers()
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    with desk.catalog.explain_refusals():
        relation = request.rows.resolve(desk.catalog)
        grid = limit_grid(request, relation, limits)
        effects = effects_request(request, relation, grid)
    release = None
    if sample is None:
        part = _part(share)
        details = {"key": key, "why": "to suggest limits", "earmark": None}
        prices = _tried(desk.catalog, request, grid, budget.times(1 - part))
        release = read_paid(*desk.pay(effects, budget.times(part), details))
        seen, budget = _of_release(release, request, grid), budget.times(1 - part)
    else:
        prices = _tried(desk.catalog, request, grid, budget)
        opened = sample_catalog(desk.catalog, sample)
        seen = _of_sample(opened, request, effects, (grid, people))
    tried = tuple(
        Tried(
            choice,
            *price,
            _lost(choice, grid, seen),
            _errors(choice, price[1], grid, seen),
        )
        for choice, price in zip(grid.choices, prices, strict=True)
    )
    return Suggestion(tried, budget, seen.source, grid, release)


def _part(share: Any) -> Fraction:
    """Return the share of the budget that the data may cost."""
    part = probability(share=share)
    if not 0 < part < 1:
        raise InvalidParameter(
            "share", share, "must lie between 0 and 1", 'Try share="0.05".'
        )
    return part


def _tried(
    catalog: Catalog, request: Request, grid: LimitGrid, budget: Budget
) -> list[tuple[Request, dict[str, float], dict[str, str], float]]:
    """Return the request of each choice, its noise and its score: no data is read."""
    tried = []
    for choice in grid.choices:
        limited = choice.apply(request)
        bought = best_purchase(limited, catalog, budget)
        noise = {name: error.sd for name, error in bought.errors.items()}
        units = {name: error.unit for name, error in bought.errors.items()}
        tried.append((limited, noise, units, bought.score))
    return tried


def _lost(
    choice: LimitChoice, grid: LimitGrid, seen: _Effects
) -> dict[str, tuple[float, float]]:
    """Return the share of rows cut off, and of units with a clamped value."""
    lost: dict[str, tuple[float, float]] = {}
    if choice.rows is not None:
        widest = seen.numbers[kept_name(*grid.pairs[-1])]
        part = seen.numbers[kept_name(choice.groups or 1, choice.rows)]
        share, sd = _share(part, seen.rows or widest)
        same = seen.rows is None and part is widest
        lost[CUT] = (1 - share, 0.0 if same else sd)
    for name, ends in choice.bounds:
        number = seen.numbers[clamped_name(name, ends)]
        share, sd = _share(number, seen.numbers[UNITS])
        lost[name + _CLAMPED] = (share, sd)
    return lost


def _errors(
    choice: LimitChoice, noise: dict[str, float], grid: LimitGrid, seen: _Effects
) -> dict[str, float]:
    match seen.cells:
        case SampleCells():
            return seen.cells.errors(choice, noise)
        case AverageGroup():
            lost = {
                name: share for name, (share, _) in _lost(choice, grid, seen).items()
            }
            named = {name: lost[f"{name} clamped"] for name, _ in choice.bounds}
            return seen.cells.errors({"": lost.get(CUT, 0.0)} | named, noise)
        case None:
            return {}


def _share(part: Number, whole: Number) -> Number:
    """Return a part of a whole within [0, 1], and its deviation to first order."""
    size = max(whole[0], 1.0)
    share = min(max(part[0] / size, 0.0), 1.0)
    return share, (part[1] ** 2 + (share * whole[1]) ** 2) ** 0.5 / size


def _of_release(release: Release, request: Request, grid: LimitGrid) -> _Effects:
    numbers = {
        name: (
            float(release[name][0].as_py()),
            float(release.errors[f"{name} sd"][0].as_py()),
        )
        for name in release.names
    }
    source = f"from the data, charged {release.price}"
    if ABOVE in numbers:
        above, sd = numbers[ABOVE]
        source += (
            ", of the rows that the widest limits keep; "
            f"above these are about {max(0, round(above)):,} ids (± {sd:.3g})"
        )
    keyset, cells = request.keyset, None
    if not request.unknown:
        widest = numbers[kept_name(*grid.pairs[-1]) if grid.rows else UNITS][0]
        cells = AverageGroup(request, 1 if keyset is None else keyset.size, widest)
    return _Effects(numbers, None, source, cells)


def _of_sample(
    catalog: Catalog,
    request: Request,
    effects: Request,
    tried: tuple[LimitGrid, int | None],
) -> _Effects:
    engine = catalog.engine
    try:
        relation = request.rows.resolve(catalog)
        question = Question(relation.node, (), (Total(literal(1)),))
        rows = engine.prepare(question)().column(0)[0].as_py()
        bought = best_purchase(effects, catalog, _ENDLESS)
        answer = noisy_answer(bought, engine.prepare(bought.plan.question)(), {})
        grid, people = tried
        cells = engine.prepare(SampleCells.question(request, relation, grid))()
    finally:
        engine.close()
    numbers = {
        name: (round(float(answer.table[name][0].as_py()), 6), 0.0)
        for name in answer.table.column_names
    }
    source = f"from a sample of {rows:,} rows; nothing was charged"
    shown = SampleCells.of(request, relation, grid, cells, people)
    return _Effects(numbers, (float(rows), 0.0), source, shown)


def sample_catalog(catalog: Catalog, sample: Any) -> Catalog:
    """Return the tables of a session with other rows: those of a sample.

    A sample of the only private table may be given alone, else by names.
    """
    names = list(catalog.units)
    named = sample
    if not isinstance(sample, Mapping) or not set(sample) <= set(names):
        if len(names) != 1:
            raise InvalidParameter(
                "sample",
                type(sample).__name__,
                "must be a dict from each private table to rows of its shape",
                "Try sample=sd.rehearsal(session).tables.",
            )
        named = {names[0]: sample}
    for name in names:
        if name not in named:
            raise unknown("private table of the sample", name, list(named))
    tables: dict[str, PrivateTable | PublicTable] = {
        name: PrivateTable(
            named[name],
            catalog.units[name],
            dict(catalog.relations[name].schema.columns),
        )
        for name in names
    }
    frozen = {name: catalog.engine.frozen_rows(name) for name in catalog.publics}
    tables |= {name: PublicTable(rows) for name, rows in frozen.items()}
    opened = open_catalog(engine_named("duckdb", Settings(None, None, False)), tables)
    for name, query in catalog.views.items():
        opened.view(name, query)
    return opened
