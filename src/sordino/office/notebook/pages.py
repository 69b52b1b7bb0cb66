"""Every value as a page for notebooks."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, final

import numpy as np

from sordino.data.key_tree import Product
from sordino.ledger.blocks import (
    BLOCK_HEADING,
    PERSON_HEADING,
    Block,
    Exposure,
    Windows,
    block_rows,
    exposure_rows,
    worst_exposures,
)
from sordino.ledger.record_kinds import DATASET, Entry
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.budgets.limits import Limit
from sordino.losses.guarantees import OUT_OF, AbstractAnswers, explain, finds
from sordino.losses.loss import Loss, headline
from sordino.numbers import INFINITE
from sordino.numbers.formatting import (
    cut_text,
    format_amounts,
    format_key,
    text_width,
)
from sordino.office.html.elements import (
    NOTHING,
    Html,
    fill_template,
    html_aside,
    html_details,
    html_line,
    html_page,
    html_table,
    html_title,
    join,
    short_text,
)
from sordino.office.html.small_pictures import (
    IntervalBar,
    Step,
    diagram,
    interval_bar,
    scale_of,
    share_bar,
    unit_curve,
)
from sordino.plan.purchase import Purchase, group_line
from sordino.query.nodes import AbstractNode
from sordino.release.text import (
    RANKS,
    Figure,
    ReleaseView,
    about_texts,
    coverage_lines,
    interval_heading,
    is_silent,
    row_texts,
)
from sordino.session.description import Holding

_HEADING: Final = ("answer", "how far it is off", "noise")
_LINE: Final = Html("<p>{}</p>")
_WIDE: Final = 120
"""Characters of a cell."""


def price_page(purchase: Purchase, remarks: Iterable[str], sizes: Sequence[int]) -> str:
    """Page of a price: how far each column is off, and how it would be made."""
    return html_page(
        html_line(f"price: {headline(purchase.loss, purchase.budget)}"),
        html_table(_HEADING, _columns(purchase, sizes), _WIDE),
        *map(html_line, remarks),
        html_details("how it is made", diagram(_plan_step(purchase))),
    )


def prices_page(pages: Mapping[str, str], remark: str) -> str:
    """Pages of several prices, each under its name."""
    # a price is a page of this file already: escaped once, not twice
    titled = (html_title(name) + Html(page) for name, page in pages.items())
    return html_page(*titled, html_line(remark))


def _columns(
    purchase: Purchase, sizes: Sequence[int]
) -> Iterator[tuple[str, str, str]]:
    for place, (name, error) in enumerate(purchase.errors.items()):
        noise = ", ".join(map(repr, purchase.mechanisms[place]))
        yield name, error.text(sizes), noise


def _plan_step(purchase: Purchase) -> Step:
    """Return the last step: the noisy answers of the groups."""
    groups = Step(group_line(purchase.plan), (_rows_step(purchase.plan.relation.node),))
    shown = groups
    if purchase.selection is not None:
        shown = Step(f"keep groups that pass {purchase.selection!r}", (groups,))
    columns = purchase.plan.request.columns
    answers = ", ".join(f"{name} = {aggregation!r}" for name, aggregation in columns)
    return Step(f"{answers}, with noise", (shown,)) if columns else shown


def _rows_step(node: AbstractNode) -> Step:
    return Step(node.describe(), tuple(map(_rows_step, node.inputs)))


_RATES: Final = np.concatenate([
    [0.0],
    np.logspace(-6, -2, 9),
    np.linspace(0.02, 1.0, 50),
])
_AXES: Final = ("false alarms", "people found")


def loss_page(name: str, loss: AbstractAnswers) -> str:
    """Return the name of a loss, what it means to an attacker, and its curve."""
    label = "how often the best attack finds a person, by the false alarms allowed"
    points = zip(_RATES.tolist(), loss.tpr_at(_RATES).tolist(), strict=True)
    return html_page(
        html_line(name),
        *map(html_line, explain(loss).splitlines()),
        unit_curve(points, _AXES, label),
    )


_PROSE = 160
"""Letters of a line of prose: longer ones are cut."""
_FEW = 4
"""Columns with more answers than this have no bars: they would not fit."""


def release_page(release: ReleaseView) -> str:
    """Return the table, what it leaves out, and its price."""
    shown = row_texts(release)
    rest = len(release) - len(shown)
    columns = [
        _AnswerColumn.of(release, name, [row.figures[place] for row in shown])
        for place, name in enumerate(release.names)
    ]
    table = fill_template(
        "notebook/release.html",
        keys=[short_text(name) for name in release.keys],
        columns=columns,
        rows=[
            (
                map(short_text, row.keys),
                [
                    column.figure(figure, place)
                    for column, figure in zip(columns, row.figures, strict=True)
                ],
            )
            for place, row in enumerate(shown)
        ],
    )
    return html_page(
        table,
        html_aside(f"... and {rest:,} more rows") if rest else NOTHING,
        NOTHING if shown else html_aside(release.unshown),
        *map(html_aside, coverage_lines(release.coverage)),
        *map(html_aside, textwrap.wrap(release.limits, _PROSE)),
        html_line(f"price: {release.price}"),
    )


@final
@dataclass(frozen=True)
class _AnswerColumn:
    """The numbers of an answer, and what stands beside them of their errors."""

    name: str
    heads: tuple[str, ...]
    """Of the cells beside a number."""
    rank: str
    """How far off all of them are, where that is no number of their own."""
    scale: tuple[float, float] | None
    about: tuple[str, ...] = ()
    """What the table is thought to have, number by number, where that is told."""

    @classmethod
    def of(
        cls, release: ReleaseView, name: str, figures: list[Figure]
    ) -> "_AnswerColumn":
        share = interval_heading(release.confidence, release.figures[name])
        shown, rank = short_text(name), release.ranks.get(name, "")
        stands = any(figure.ranks for figure in figures)
        if is_silent(figures):
            if stands:
                return cls(shown, (RANKS,), "", None)
            return cls(shown, (share,) if rank else (), rank, None)
        ends = [end for figure in figures for end in figure.ends]
        scale = scale_of(ends) if len(release.names) <= _FEW else None
        about = name in release.about
        texts = about_texts(release, name, len(figures)) if about else []
        heads = (*(("about",) if about else ()), "± sd", share)
        heads = (share, RANKS) if stands else heads
        return cls(shown, heads, "", scale, tuple(texts))

    @property
    def width(self) -> int:
        """Cells of a number, its picture included."""
        return 1 + len(self.heads) + (self.scale is not None)

    def figure(
        self, figure: Figure, place: int
    ) -> tuple[str, list[str], IntervalBar | None]:
        value, low, high = figure.ends
        label = f"{figure.value}, interval {figure.interval}"
        beside = [figure.sd and f"± {figure.sd}", figure.interval]
        if RANKS in self.heads:
            beside = [figure.interval, figure.ranks][-len(self.heads) :]
        elif len(self.heads) < len(beside):
            beside = [self.rank][: len(self.heads)]
        beside = [*self.about[place : place + 1], *beside]
        bar = self.scale and interval_bar(value, (low, high), self.scale, label)
        return short_text(figure.value), list(map(short_text, beside)), bar or None


LAST: Final = 5
"""Releases that are shown."""
NEWEST: Final = 24
"""Blocks that are shown."""


class ShownLedger(Protocol):
    """What of a ledger is shown."""

    @property
    def division(self) -> Blocks | None:
        """Division into blocks."""

    def limits(self) -> Mapping[str, Limit]:
        """Return the limit of each budget."""

    def first_limit(self, budget: str = ...) -> Limit:
        """First limit of a budget, which is what it guarantees."""

    def remaining(self, budget: str = ...) -> Loss:
        """Rest of a budget."""

    def entries(self) -> tuple[Entry, ...]:
        """Return its releases."""

    def blocks(self) -> tuple[Block, ...]:
        """Return its blocks."""

    def exposure(self, window: int) -> Exposure:
        """Largest loss of people in `window` blocks."""


def ledger_page(about: str, ledger: ShownLedger) -> str:
    """Page of a ledger: its purpose, its budgets and their rests, its releases."""
    blocks = ledger.blocks()
    titles = {DATASET: f"{DATASET}, in every block,"} if blocks else {}
    bars = (
        budget_line(
            titles.get(name, name),
            ledger.remaining(name),
            ledger.first_limit(name).rule.promise,
        )
        for name in ledger.limits()
    )
    tables = block_tables(blocks, worst_exposures(ledger.division, ledger.exposure))
    return html_page(html_line(about), *bars, tables, entry_table(ledger.entries()))


def block_tables(blocks: tuple[Block, ...], exposures: Windows) -> Html:
    """Return the newest blocks, and what a person in several loses; "" without."""
    hidden = len(blocks) - NEWEST
    before = [html_aside(f"{hidden:,} blocks before them")] if hidden > 0 else []
    return join(
        html_table(BLOCK_HEADING, block_rows(blocks[-NEWEST:])),
        *before,
        html_table(PERSON_HEADING, exposure_rows(exposures, blocks)),
    )


def budget_line(name: str, left: Loss, whole: Loss) -> Html:
    """Return a bar that fills as a budget is spent, and what is left in words."""
    share = spent_share(left, whole)
    words = f"{short_text(name)} left: {short_text(left)} of {short_text(whole)}"
    if share is None:
        return _LINE.format(words)
    return _LINE.format(
        join(share_bar(share, f"{100 * share:.0f} % is spent"), " ", words)
    )


def spent_share(left: Loss, whole: Loss) -> float | None:
    """Return how much of a budget is spent, by whatever is nearest its end.

    None where nothing of it is a number that can be used up.

    >>> from sordino.losses.loss import PureDP
    >>> spent_share(PureDP(1), PureDP(4))
    0.75
    """
    parts = [
        1 - float(left.sums.get(name, 0)) / float(most)
        for name, most in whole.sums.items()
        if most is not INFINITE and most > 0
    ]
    return max(parts, default=None)


def entry_table(entries: Iterable[Entry], most: int = LAST) -> Html:
    """Return the last releases, the newest first."""
    shown = list(entries)[-most:][::-1] if most else []
    if not shown:
        return NOTHING
    heading, *rows = history_table(shown)
    return html_table(heading, rows, _WIDE)


_HISTORY_HEADING: Final = ("release", "when", "who", "key", "why", "asked", "for")
MOST: Final = 60
"""Releases that are shown, the newest."""
_HIDDEN: Final = "of another budget"
_ANSWER: Final = re.compile(r"(.+? = .+) with ")
_GROUP: Final = re.compile(r"'(.*?)'(?=,| \()")
_BRANCH: Final = "└─ "
_ROW_STEPS: Final = ("filter ", "inner join ", "left join ", "map ", "flat map ")
_TERMINAL: Final = 60
"""Columns of a terminal for one of a table."""
_GAP: Final = "  "


@final
class History(tuple[Entry, ...]):
    """Charged releases, the first one first, which show themselves as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Show what was asked, when, by whom and for how much."""
        rows = history_table(self[-MOST:])
        cells = [
            [cut_text(format_key(cell), _TERMINAL) for cell in row] for row in rows
        ]
        widths = [max(map(text_width, column)) for column in zip(*cells, strict=True)]
        lines = (
            _GAP.join(
                cell + " " * (width - text_width(cell))
                for cell, width in zip(row, widths, strict=True)
            ).rstrip()
            for row in cells
        )
        before = len(self) - MOST
        hidden = [f"{before:,} releases before them"] if before > 0 else []
        return "\n".join([*lines, *hidden]) or "no release was charged yet"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        return html_page(entry_table(self, MOST))


def history_table(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Heading and releases; what nobody has said of any of them is no column."""
    rows = list(_rows(entries))
    columns = zip(_HISTORY_HEADING, *rows, strict=True)
    return list(zip(*(each for each in columns if any(each[1:])), strict=True))


def _rows(entries: Iterable[Entry]) -> Iterator[tuple[str, ...]]:
    for entry in entries:
        yield (
            str(entry.number),
            f"{entry.when:%Y-%m-%d %H:%M %Z}",
            entry.who,
            entry.key or "",
            entry.why,
            (words_of_plan(entry.plan) or _HIDDEN)
            + ("" if entry.answered else " (not answered)"),
            format_amounts(entry.asked),
        )


def words_of_plan(plan: str) -> str:
    r"""Tell a recorded plan in a line: answers, groups, tables, conditions.

    >>> words_of_plan(
    ...     "n = count() with Geometric(scale=3)\ngroup by 'ward' (known keys)\n"
    ...     "└─ filter col('age') > 65\n   └─ table visits"
    ... )
    "n = count() by ward of visits, filter col('age') > 65"
    """
    return "; ".join(map(_words_of_one, plan.split("\n\n"))) if plan else ""


def _words_of_one(plan: str) -> str:
    lines = [line.strip() for line in plan.splitlines()]
    rows = [line.removeprefix(_BRANCH) for line in lines if line.startswith(_BRANCH)]
    others = [line for line in lines if not line.startswith(_BRANCH)]
    answers = [match[1] for line in others if (match := _ANSWER.match(line))]
    ranks = [line for line in others if line.startswith("rank by ")]
    answers += [line.partition(": ")[0] for line in ranks]
    groups = [line for line in others if line.startswith("group by ")]
    by = [group for line in groups for group in _GROUP.findall(line)]
    tables = [row.partition("table ")[2] for row in rows if row.startswith("table ")]
    # that rows without an id are left out is true of any question
    steps = [
        row for row in rows if row.startswith(_ROW_STEPS) and ".is_null()" not in row
    ]
    what = ", ".join(answers) or (others[0] if others and not by else "keys")
    of = f" of {', '.join(dict.fromkeys(tables))}" if tables else ""
    return ", ".join([what + (f" by {', '.join(by)}" if by else "") + of, *steps])


def suggestion_page(
    heading: Sequence[str], rows: Iterable[Sequence[str]], remarks: Iterable[str]
) -> str:
    """Return the choices as a table, and what is to be known of it."""
    return html_page(html_table(heading, rows), *map(html_aside, remarks))


_DESCRIPTION_HEADING: Final = ("column", "type", "may be missing")


def description_page(
    holdings: Iterable[Holding],
    keysets: Iterable[str],
    *ledger_parts: Html,
) -> str:
    """Return tables with their columns, and what the ledger shows of itself."""
    return html_page(
        *(part for holding in holdings for part in _holding_parts(holding)),
        *(html_line(f"asked by: {keyset}") for keyset in keysets),
        *ledger_parts,
    )


def _holding_parts(holding: Holding) -> Iterable[Html]:
    yield html_title(holding.name, holding.sentence)
    yield html_table(_DESCRIPTION_HEADING, holding.first_columns)
    if holding.rest:
        yield html_aside(f"... and {holding.rest:,} more")
    for name, why in holding.unusable:
        yield html_title(name, f"cannot be used: {why}")


_MOST_LISTED: Final = 100_000
"""Keys of a set that may be listed to show its first ones."""
_FIRST: Final = 8


def keyset_page(tree: Product) -> str:
    """Return how many keys there are, their columns, and the first few."""
    title = html_line(f"{tree.extent}")
    if tree.at_most > _MOST_LISTED:  # to list a product may take all of the memory
        columns = [(name, facts.type) for name, facts in tree.schema.columns]
        return html_page(title, html_table(("column", "type"), columns))
    keys = tree.table
    rows = [
        [str(cell) for cell in row.values()]
        for row in keys.slice(0, _FIRST).to_pylist()
    ]
    rest = keys.num_rows - len(rows)
    return html_page(
        title,
        html_table(tree.names, rows),
        html_aside(f"... and {rest:,} more") if rest else NOTHING,
    )


_STEPS: Final = 200


def risk_page(name: str, tpr_at: Callable[[Fraction], float]) -> str:
    """Return the name of a risk, what it means to an attacker, and its bound."""
    label = "how often any attack finds a person at most, by the false alarms allowed"
    rates = [Fraction(step, _STEPS) for step in range(_STEPS + 1)]
    points = [(float(rate), tpr_at(rate)) for rate in rates]
    return html_page(
        html_line(name),
        *(html_line(finds(lambda rate: tpr_at(Fraction(rate)), n)) for n in OUT_OF),
        html_line("All releases within it together promise this of each person."),
        unit_curve(points, _AXES, label),
    )
