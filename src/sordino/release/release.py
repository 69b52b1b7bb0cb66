"""Release."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final, overload

import numpy as np

from sordino.aggregations.intervals import AnswerLaws
from sordino.aggregations.margins.tables import AdjustedTables, NoisyTables
from sordino.errors import InvalidParameter, InvalidQuery, MissingDependency
from sordino.expressions.schema import unknown
from sordino.losses.loss import Budget, Loss, compose, headline
from sordino.numbers import arguments
from sordino.numbers.frozen import hides
from sordino.numbers.views import office
from sordino.plan.purchase import Purchase
from sordino.query.processing import (
    AbstractNoisyAnswers,
    AbstractProcess,
    NoisyRows,
    join_groups,
)
from sordino.release import explanation, text
from sordino.release.answer import Answer, answer_laws
from sordino.release.explanation import (
    UNKNOWN,
    Exactness,
    Provenance,
    exactness_of,
    questions_in,
    rank_errors,
    rate_of,
    release_notes,
    words_facts,
)
from sordino.release.independence import (
    IndependenceTest,
    compare_tables,
    noise_of_counts,
    refuse_untested,
    square_counts,
)
from sordino.release.inference import (
    NOT_TOLD,
    NoisyMoments,
    Told,
    components_table,
    estimates_tables,
    find_moments,
    noisy_moments,
)
from sordino.release.limit_sentences import limits_text
from sordino.release.population import (
    TOO_FEW,
    SampledFrame,
    difference_tables,
    population_errors,
)
from sordino.release.storage import write_text
from sordino.release.table_figures import read_about, read_holds, scale_answers
from sordino.release.text import NOISE, POPULATION, release_text

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


def _list_columns(columns: Any) -> Sequence[Any]:
    """Return a list of columns, one where a name was given."""
    if isinstance(columns, str):
        return [columns]
    return columns if isinstance(columns, (list, tuple)) else [columns]


def _give_laws(laws: AnswerLaws | None) -> AnswerLaws | None:
    return laws


_NO_LAWS: Final = partial(_give_laws, None)


def _give_no_moments() -> None:
    """Say that the noise of a covariance is not known."""


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


@hides(  # noqa: PLR0904 one release, asked many things
    *("exactness", "holds", "most_rows", "of", "provenance", "read_laws"),
    *("ranks", "read_moments", "related", "unshown"),
)
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
    | `figures` | of which figures the intervals are, by the name of an answer |

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
    read_moments: Callable[[], Mapping[str, NoisyMoments] | None] = _give_no_moments
    """The covariances that were asked, as they were released."""
    most_rows: int | None = None
    """How many rows a unit has, None where that is not known."""
    holds: str = NOISE
    """Of what the intervals are: "of the noise" or "for the population"."""

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
        read_laws: Callable[[], AnswerLaws | None] = partial(
            answer_laws, purchase, answer.table, provenance.origin
        )
        notes = release_notes(purchase)
        ranks = rank_errors(purchase)
        rows = NoisyRows(answer.table, answer.errors, request.by, notes, ranks=ranks)
        if request.population:  # of which the noise is but a part
            errors = population_errors(purchase, answer.table, answer.errors)
            rows = replace(rows, errors=errors).add_note(TOO_FEW)
            read_laws = _NO_LAWS
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
            read_moments=partial(noisy_moments, purchase, answer.table),
            most_rows=purchase.plan.relation.contribution.most_rows(),
            holds=POPULATION if request.population else NOISE,
        )

    def __post_init__(self) -> None:
        text.check_tables(self.table, self.errors, self.keys)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the aggregates, in order."""
        return tuple(self.table.column_names[len(self.keys) :])

    @property
    def exactness(self) -> Exactness:
        """Return how far intervals of the noise reach, and how many are rough.

        None of intervals for the population, which are not of the noise alone.
        """
        names = self.names if self.holds == NOISE else ()
        return exactness_of(self.table, self.errors, names)

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
        return limits_text(facts, self.coverage, self.figures, [*self.about])

    @property
    def figures(self) -> dict[str, str]:
        """What the interval of each answer holds, by its name.

        | word | the interval holds, with the chance of `confidence` |
        |---|---|
        | "of the noise" | the exact answer of rows that limits let through |
        | "of the table" | that of all rows, by `MaxRowsPerID(..., at_most=)` |
        | "of the table, clamped" | the same, each value within its bounds |
        """
        if self.holds != NOISE:
            return dict.fromkeys(self.names, self.holds)
        return {name: read_holds(self.errors, name) for name in self.names}

    @property
    def about(self) -> "dict[str, pa.Array]":
        """Counts and sums of all rows, had each group lost alike; no promise.

        Of those answers for which what limits cut off was counted, and is surely more
        than nothing.
        """
        factors = {name: read_about(self.errors, name) for name in self.names}
        return {
            name: scale_answers(self[name], factor)
            for name, factor in factors.items()
            if factor is not None
        }

    @property
    def unshown(self) -> str:
        """Why there is no row, where there is none."""
        origin = self.provenance
        if origin.is_processed:
            return "no rows"
        if origin.least_shown is not None:
            return f"no group reached {origin.least_text}"
        # what a group had to reach says the plan, where a ledger alone is left to ask
        return "no rows" if origin.noise else "no group was shown"

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
        return self._with_rows(step.apply(self._rows))

    @property
    def _rows(self) -> NoisyRows:
        laws = self.read_laws()
        read = (self.table, self.errors, self.keys, self.notes, laws)
        return NoisyRows(*read, self.ranks)

    def _with_rows(self, rows: NoisyRows) -> "Release":
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

    def regression(
        self, answer: str, predictors: Sequence[str], *, population: bool = False
    ) -> "Release":
        """Return the coefficients of a linear regression, of each group.

        Least squares of `answer` on `predictors` and a constant, of the columns of one
        `sd.covariance` that this release has, so it costs nothing. Intervals hold the
        coefficients of these rows, beside the noise; with `population` those of the
        population that the rows were drawn from, if errors have one variance. Where the
        predictors vary no more than the noise nothing is told.
        """
        names = [arguments.text(predictors=name) for name in _list_columns(predictors)]
        known = find_moments(
            self.read_moments(), [arguments.text(answer=answer), *names]
        )
        estimates = known.regress(answer, names, population=population)
        holds = POPULATION if population else NOISE
        return self._with_estimates(known, ["(constant)", *names], estimates, holds)

    def correlation(self, columns: Sequence[str]) -> "Release":
        """Return the correlation of each two columns of one covariance, of each group.

        Intervals hold that of these rows, beside the noise; nothing is told where the
        columns vary no more than the noise.
        """
        names = [arguments.text(columns=name) for name in _list_columns(columns)]
        known = find_moments(self.read_moments(), names)
        pairs = list(itertools.combinations(names, 2))
        estimates = known.correlate(pairs)
        return self._with_estimates(
            known, [f"{a}, {b}" for a, b in pairs], estimates, NOISE
        )

    def components(self, columns: Sequence[str]) -> "pa.Table":
        """Return the principal components of columns of one covariance, by group.

        The largest first: its share of the variance of columns in units of their own
        deviations, and its loadings. They have no intervals.
        """
        names = [arguments.text(columns=name) for name in _list_columns(columns)]
        known = find_moments(self.read_moments(), names)
        return components_table(known, names, known.components(names))

    def _with_estimates(
        self,
        known: NoisyMoments,
        terms: Sequence[str],
        estimates: Sequence[Told],
        holds: str,
    ) -> "Release":
        table, errors = estimates_tables(known, terms, estimates)
        lost = any(np.isnan(value).any() for value, _ in estimates)
        notes = (*self.notes, NOT_TOLD) if lost else self.notes
        return replace(
            self,
            table=table,
            errors=errors,
            keys=tuple(table.column_names[:-1]),
            notes=notes,
            coverage=None,
            read_laws=_NO_LAWS,
            holds=holds,
            provenance=replace(self.provenance, is_processed=True),
        )

    def difference(self, answer: str, /, **baseline: Any) -> "Release":
        """Return by how much a mean of each group differs from that of a baseline.

        `difference("days", sex="f")` of a release that was asked with population=True:
        intervals hold the difference in the population, the noise and the draw of the
        rows of both groups together. One without 0 tells the two apart. It costs
        nothing.
        """
        name = arguments.text(answer=answer)
        if self.holds != POPULATION or self.provenance.is_processed:
            raise InvalidQuery(
                "only of means for the population, as they were released, is it known "
                "how far their difference may be off",
                "Ask session.release(..., population=True), and this first.",
            )
        if name not in self.names:
            raise unknown("answer", name, self.names)
        beside = self.select(name).with_baseline(**baseline)._rows  # noqa: SLF001 its own
        tables = difference_tables(beside, name, f"{name} before")
        return self._with_population(*tables)

    def estimate_frame(self) -> "Release":
        """Return the counts of a secret sample as counts of its frame.

        Of a table that is `sampled`: counts of rows and of ids over the rate, of all
        who might have been drawn, as far as limits keep their rows. Intervals hold
        them, the noise and the coins together. It costs nothing.
        """
        facts = words_facts(self.provenance.words, self.provenance.name)
        rate = rate_of([self.provenance.words])
        if rate is None:
            raise InvalidQuery(
                "no table of this release is declared to be a secret random sample",
                'Declare it: sd.PrivateTable(..., sampled="0.1").',
            )
        is_cut = facts.groups not in {"none", "public"} or facts.minimum is not None
        if self.holds != NOISE or self.provenance.is_processed or is_cut:
            raise InvalidQuery(
                "counts of the frame follow from all counts of known groups, as they "
                "were released",
                "Give a key set, and ask this first.",
            )
        verbs = questions_in(self.provenance.words, self.provenance.name)
        most = max(self.most_rows or 0, facts.promised or 0)
        counts = {
            name: 1 if verbs.get(name) == "count_ids" else most
            for name in self.names
            if verbs.get(name) == "count_ids" or (most and verbs.get(name) == "count")
        }
        if not counts:
            raise InvalidQuery(
                "none of its answers counts ids, or rows of which one id has so many",
                "Ask n=sd.count_ids().",
            )
        frame = SampledFrame(rate, counts)
        return self._with_population(
            *frame.estimate(self.table, self.errors, self.confidence)
        )

    def _with_population(self, table: "pa.Table", errors: "pa.Table") -> "Release":
        return replace(
            self,
            table=table,
            errors=errors,
            keys=tuple(name for name in table.column_names if name in self.keys),
            coverage=None,
            read_laws=_NO_LAWS,
            read_moments=_give_no_moments,
            holds=POPULATION,
            provenance=replace(self.provenance, is_processed=True),
        )

    def test_independence(
        self, first: str, second: str, *, counts: str | None = None
    ) -> IndependenceTest:
        """Test whether two keys are independent, with the noise put in.

        Of counts of all pairs of their values, the first answer or `counts`. It is told
        as p, the share of tables of independent keys that are as uneven, for rows that
        were drawn independently of each other. It costs nothing.
        """
        pair = (arguments.text(first=first), arguments.text(second=second))
        refuse_untested(self.keys, pair)
        if self.most_rows != 1:
            raise InvalidQuery(
                "rows of one id are not drawn independently of each other",
                "Bound them to one: .enforce(sd.MaxRowsPerID(1)).",
            )
        name = self.names[0] if counts is None else arguments.text(counts=counts)
        if name not in self.names:
            raise unknown("answer", name, self.names)
        noise = noise_of_counts(self.read_laws(), name)
        statistic, p = compare_tables(square_counts(self.table, pair, name), *noise)
        return IndependenceTest(pair, statistic, p)

    def join(self, other: "Release", *, suffix: str = " before") -> "Release":
        """Return the answers of two releases of the same groups, beside each other.

        Those of the other have names with a suffix. What is computed of both has
        intervals where it is known which charges drew their noise: releases of
        different charges have independent noise, and a paid answer that was given
        again has the same. It costs nothing, and the price is that of both.
        """
        release: Any = other
        if not isinstance(release, Release):
            raise InvalidParameter(
                "other", other, "must be a release", "Try may.join(april)."
            )
        if self.holds != other.holds:
            raise InvalidQuery(
                f"the intervals of one hold {self.holds}, of the other {other.holds}",
                "Release both alike.",
            )
        mark = arguments.unicode_text(suffix=suffix)
        rows = join_groups(self._rows, other._rows, mark)  # noqa: SLF001 its own
        if other.limits and other.limits != self.limits:
            rows = rows.add_note(f'Of answers with "{suffix.strip()}": {other.limits}')
        origin = self.provenance.origin
        once = origin is not None and origin == other.provenance.origin
        return replace(
            self._with_rows(rows),
            loss=self.loss if once else compose([self.loss, other.loss]),
            budget=self.budget if once else None,
            plan="\n\n".join(dict.fromkeys((self.plan, other.plan))),
            coverage=None,
            read_moments=_give_no_moments,
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
        return text.file_table(self)
