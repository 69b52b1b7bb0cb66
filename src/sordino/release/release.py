"""Release."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final, overload

from sordino.aggregations.intervals import AnswerLaws
from sordino.aggregations.margins.tables import AdjustedTables, NoisyTables
from sordino.errors import InvalidQuery, MissingDependency
from sordino.expressions.schema import unknown
from sordino.losses.loss import Budget, Loss, headline
from sordino.numbers import arguments
from sordino.numbers.frozen import hides
from sordino.numbers.views import office
from sordino.plan.purchase import Purchase
from sordino.query.processing import AbstractNoisyAnswers, AbstractProcess, NoisyRows
from sordino.release import explanation, text
from sordino.release.answer import Answer, answer_laws
from sordino.release.explanation import (
    UNKNOWN,
    Exactness,
    Provenance,
    exactness_of,
    limits_text,
    rank_errors,
    release_notes,
    words_facts,
)
from sordino.release.storage import write_text
from sordino.release.text import release_text

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure, SubFigure

    from sordino.office.label.views import Label


def to_pandas(table: "pa.Table") -> Any:
    """Return a pandas frame; integers and bools with missing values stay exact."""
    try:
        import pandas as pd  # noqa: PLC0415 an optional extra
    except ImportError as error:
        raise MissingDependency("to_pandas()", "pandas", "pandas") from error
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    exact = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    columns = {}
    for name in table.column_names:
        column = table[name]
        mapped = exact.get if column.null_count else None
        columns[name] = column.to_pandas(types_mapper=mapped)
    return pd.DataFrame(columns)


def to_polars(table: "pa.Table") -> Any:
    """Return a Polars frame."""
    try:
        import polars as pl  # noqa: PLC0415 an optional extra
    except ImportError as error:
        raise MissingDependency("to_polars()", "polars", "polars") from error
    return pl.from_arrow(table)


def _give_laws(laws: AnswerLaws | None) -> AnswerLaws | None:
    return laws


_NO_LAWS: Final = partial(_give_laws, None)


@final
class Wishes(NamedTuple):
    """The order of groups, how many are named, and the form; None leaves it to us."""

    sort: str
    top: int | None
    form: str | None


class RelatedTables(Protocol):
    """Tables that were measured together, and what is fitted to them."""

    @property
    def tables(self) -> NoisyTables:
        """Return the unbiased ones."""

    @property
    def adjusted(self) -> AdjustedTables:
        """Return those that agree and are not negative."""

    def synthetic(self, rows: int) -> "pa.Table":
        """Return invented rows."""


@hides("exactness", "of", "provenance", "ranks", "read_laws", "related", "unshown")  # noqa: PLR0904 one release, asked many things
@final
@dataclass(frozen=True, eq=False, repr=False)
class Release(AbstractNoisyAnswers):
    """A noisy table with its errors, its price and its plan.

    Everything in it may be published: the price covers it all.

    | field | what |
    |---|---|
    | `table` | key columns, then a column for each aggregate, sorted by key |
    | `errors` | key columns, then "<name> sd", "<name> low", "<name> high" for each |
    | `keys` | the names of the key columns; none if there are no groups, but one row |
    | `confidence` | the least chance that low to high holds the exact answer |
    | `loss` | what it cost |
    | `plan` | how it was made, as a tree |
    | `notes` | sentences about the columns |
    | `budget` | what was asked for, in whose terms the price is shown |
    | `coverage` | if asked for: noisy counts of what was left out |

    >>> import pyarrow as pa
    >>> from sordino.losses.loss import PureDP
    >>> table = pa.table({"ward": ["A", "B"], "n": [120, 1340]})
    >>> errors = pa.table({"ward": ["A", "B"], "n sd": [2.8, 2.8],
    ...                    "n low": [112.0, 1332.0], "n high": [128.0, 1348.0]})
    >>> Release(table, errors, ("ward",), Fraction(95, 100), PureDP("0.5"), "count")
    ward      n  ± sd  95% of the noise
    ----  -----  ----  ----------------
    A       120   2.8        112 to 128
    B     1,340   2.8    1,332 to 1,348
    price: epsilon = 0.5
    """

    table: "pa.Table"
    errors: "pa.Table"
    keys: tuple[str, ...]
    confidence: Fraction
    loss: Loss
    plan: str
    notes: tuple[str, ...] = ()
    budget: Budget | None = None
    coverage: "pa.Table | None" = None
    related: RelatedTables | None = None
    """Other tables that were measured together with it."""
    provenance: Provenance = UNKNOWN
    """What was asked, and which record of a ledger paid for it."""
    read_laws: Callable[[], AnswerLaws | None] = _NO_LAWS
    """Of which noises the answers are made, asked when one is computed of them."""
    ranks: Mapping[str, str] = field(default_factory=dict)
    """How far off the answers are that are chosen among candidates, by name."""

    @classmethod
    def of(
        cls,
        purchase: Purchase,
        answer: Answer,
        plan: str,
        provenance: Provenance = UNKNOWN,
    ) -> "Release":
        """Return an answer with what it cost and how it was made."""
        request = purchase.plan.request
        read_laws = partial(answer_laws, purchase, answer.table)
        notes = release_notes(purchase)
        ranks = rank_errors(purchase)
        rows = NoisyRows(answer.table, answer.errors, request.by, notes, ranks=ranks)
        if request.processing:  # else nobody may ever ask for them
            rows = replace(rows, laws=read_laws())
        for step in request.processing:
            rows = step.apply(rows)
            read_laws = partial(_give_laws, rows.laws)
        return cls(
            rows.table,
            rows.errors,
            rows.keys,
            request.confidence,
            purchase.loss,
            plan,
            rows.notes,
            purchase.budget,
            answer.coverage,
            provenance=provenance.with_noise(purchase),
            read_laws=read_laws,
            ranks=rows.ranks,
        )

    def __post_init__(self) -> None:
        text.check_tables(self.table, self.errors, self.keys)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the aggregates, in order."""
        return tuple(self.table.column_names[len(self.keys) :])

    @property
    def exactness(self) -> Exactness:
        """Return how far intervals reach, and how many numbers are rough."""
        return exactness_of(self.table, self.errors, self.names)

    @property
    def price(self) -> str:
        """Return the headline of the loss, in the terms of the budget."""
        return headline(self.loss, self.budget)

    @property
    def limits(self) -> str:
        """Limits in force, and whether what they cut off was measured, in a sentence.

        No interval holds it: low to high is of what the limits let through.
        """
        facts = words_facts(self.provenance.words, self.provenance.name)
        return limits_text(facts, self.coverage)

    @property
    def unshown(self) -> str:
        """Why there is no row, where there is none."""
        if self.provenance.is_processed or self.provenance.least_shown is None:
            return "no rows"
        return f"no group reached {self.provenance.least_text}"

    @property
    def proof(self) -> str:
        """Return the certificate of what was charged, which the kernel checks alone.

        Canonical JSON with exact numbers as texts (docs/proofs/certificates.md); ""
        of what versions before it charged. Several released together have one.
        """
        return self.provenance.proof

    @property
    def tables(self) -> NoisyTables:
        """Return the unbiased tables of `query.marginals` by their columns."""
        return self._tables_for("tables").tables

    @property
    def adjusted(self) -> AdjustedTables:
        """Return the tables of `query.marginals` made to agree and not negative.

        Sums of the same cells, none of them below zero; `adjusted.integers` has whole
        numbers. They are not unbiased, and intervals do not belong to them.
        """
        return self._tables_for("adjusted").adjusted

    def synthetic(self, rows: int) -> "pa.Table":
        """Invented rows, drawn from the law that is fitted to all tables.

        Tables of up to `order` columns are near to the adjusted ones; what more columns
        have to do with each other is not kept. No row is of anybody.
        """
        return self._tables_for("synthetic").synthetic(rows)

    def _tables_for(self, wanted: str) -> RelatedTables:
        if self.related is None:
            raise InvalidQuery(
                f"this release is one table, and {wanted} is of several",
                "Ask query.marginals(keys, order=2), or release_all(...).adjusted.",
            )
        return self.related

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, name: str) -> "pa.Array":
        if name not in self.table.column_names:
            raise unknown("column", name, self.table.column_names)
        return self.table[name].combine_chunks()

    def __str__(self) -> str:
        return release_text(self)

    def __repr__(self) -> str:
        return release_text(self)

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        shown: str = office.release_page(self)
        return shown

    def _process(self, step: AbstractProcess) -> "Release":
        read = (self.table, self.errors, self.keys, self.notes, self.read_laws())
        rows = NoisyRows(*read, self.ranks)
        rows = step.apply(rows)
        return replace(
            self,
            table=rows.table,
            errors=rows.errors,
            keys=rows.keys,
            notes=rows.notes,
            read_laws=partial(_give_laws, rows.laws),
            ranks=rows.ranks,
            provenance=replace(self.provenance, is_processed=True),
        )

    def explain(self) -> str:
        """Text: what was released, its price, its error bars and its plan.

        The attacker's odds are those of `loss.explain()`.
        """
        return explanation.explain_release(self)

    def to_pandas(self, *, errors: bool = False) -> Any:
        """Pandas frame; error columns follow each value if `errors`.

        Integers with missing values have the dtype Int64, bools likewise.
        """
        return to_pandas(self._columns(errors))

    def to_polars(self, *, errors: bool = False) -> Any:
        """Polars frame; error columns follow each value if `errors`."""
        return to_polars(self._columns(errors))

    def to_csv(self, path: "str | Path", *, spreadsheet: bool = False) -> None:
        """Write values and errors side by side; an existing file is replaced.

        Nothing is left behind if this fails. Missing is empty, empty text is "". What
        the columns mean, and the label, lie beside it in `<name>.csv-metadata.json`,
        where readers of "CSV on the Web" look for them. For a `spreadsheet`, texts that
        it would take for formulas have an apostrophe before them.
        """
        office.to_csv(self, path, spreadsheet=spreadsheet)

    def to_parquet(self, path: "str | Path") -> None:
        """Write values and errors side by side; an existing file is replaced.

        The metadata hold JSON under "sordino": loss, guarantees, confidence, plan,
        keys and notes; and the facts of the label under "sordino.label".
        """
        office.to_parquet(self, path)

    def report(
        self, path: "str | Path", *, language: str = "en", title: str = ""
    ) -> None:
        """Write a report for readers, one HTML file; an existing file is replaced.

        It tells of this release by itself: whom it protects, the odds, its first
        numbers, what it leaves out and what proves it. `sordino report LEDGER` tells of
        everything that a ledger paid for. `language` is "en", "de" or "fr".
        """
        report = office.single_report(self, arguments.text(title=title), language)
        write_text(path, report)

    def label(self, language: str = "en") -> "Label":
        """Return its privacy facts on one card: whom it protects, odds, exactness.

        A notebook shows it, `label.save("wards.html")` writes it (.png, .json, .txt).
        """
        shown: Label = office.Label(
            office.label_facts(self), language=office.read_language(language)
        )
        return shown

    @overload
    def plot(
        self,
        *names: str,
        ax: None = None,
        sort: str = ...,
        top: int | None = ...,
        form: str | None = ...,
        theme: str | None = ...,
    ) -> "Figure": ...
    @overload
    def plot(
        self,
        *names: str,
        ax: Any,
        sort: str = ...,
        top: int | None = ...,
        form: str | None = ...,
        theme: str | None = ...,
    ) -> "Figure | SubFigure": ...

    def plot(
        self,
        *names: str,
        ax: Any = None,
        sort: str = "value",
        top: int | None = None,
        form: str | None = None,
        theme: str | None = None,
    ) -> "Figure | SubFigure":
        """Draw noisy numbers with their intervals, in the form that fits their keys.

        Groups are rows, the first by the first aggregate, or by key with sort="key"; up
        to 30 have names, of more the first 12, or `top`. A key of dates is a line, two
        keys of few values are a map; `form` names another: "bands", "line" or "cells".
        Colours suit the ground that Matplotlib is set to, or `theme`: "light", "dark".
        `ax` takes one Axes or, for several aggregates, a list. Save with
        `release.plot("n").savefig("n.png")`.
        """
        shown: Figure | SubFigure = office.plot_release(
            self, names, ax, Wishes(sort, top, form), theme
        )
        return shown

    def _columns(self, errors: bool) -> "pa.Table":  # noqa: FBT001 passed on
        if not errors:
            return self.table
        return text.side_by_side(self.table, self.errors, len(self.keys))
