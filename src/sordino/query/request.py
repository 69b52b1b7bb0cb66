"""A question ready to be priced; the first few groups.

Kernel: sensitivity.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from sordino.aggregations.aggregation import AbstractAggregation
from sordino.aggregations.intervals import error_names, rank_names
from sordino.data import KeySet
from sordino.data.contribution import Weighed
from sordino.errors import InvalidParameter, InvalidQuery, show
from sordino.expressions.schema import Schema, unknown
from sordino.losses.budgets.charge import Family
from sordino.numbers import arguments as _validate
from sordino.numbers import positive, probability
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import hides
from sordino.query.processing import AbstractNoisyAnswers, AbstractProcess
from sordino.query.steps import AbstractCatalog, Relation

if TYPE_CHECKING:
    from sordino.expressions.tree import AbstractTree

RANK: Final = "rank"
"""The column of the place of a group, and the name under which it has a weight."""
_MOST: Final = 1000


@final
@dataclass(frozen=True)
class FirstFew:
    """The greatest groups, by an answer that is not released itself."""

    most: int
    by: AbstractAggregation

    @property
    def words(self) -> Words:
        """Canonical words of the number and the question."""
        return call("top", most=self.most, by=self.by.words)


def first_few(most: Any, by: Any, keyset: KeySet | None) -> FirstFew:
    """How the first groups are chosen; more than there are is refused."""
    number = _validate.integer(groups=most, least=1, most=_MOST)
    if not isinstance(by, AbstractAggregation):
        raise InvalidParameter(
            "by", by, "must be a count or a sum", "Try top(10, by=sd.count())."
        )
    if keyset is not None and number > keyset.size:
        raise InvalidParameter(
            "groups",
            most,
            f"is more than the {keyset.size} groups that there are",
            "Ask for fewer, or for all of them: agg(n=sd.count()).",
        )
    return FirstFew(number, by)


COVERAGE: Final = "coverage"
"""The name under which counts of what was left out have a weight."""
KEYS: Final = "keys"
"""The name under which keys that nobody named have a weight of their own."""
_USUAL: Final = Fraction(1, 10)
CONFIDENCE: Final = Fraction(95, 100)
"""Of all intervals, unless another is asked for."""
_SUREST: Final = 1 - Fraction(1, 10**9)
"""Beyond, intervals say no more than the public range."""
FAMILIES: Final[tuple[Family, ...]] = ("laplace", "gaussian")
MOST_ROWS: Final = 2**53
_HEAVIEST: Final = Fraction(2) ** 300
"""Shares are searched for in doubles, which hold the products of such weights."""
MOST_NUMBERS: Final = 2**27
"""A gigabyte in memory, and a few while it is computed."""


class Rows(Protocol):
    """Rows that a session can resolve."""

    def resolve(self, catalog: AbstractCatalog) -> Relation:
        """Public facts of the rows."""

    def words(self, catalog: AbstractCatalog) -> list[Words]:
        """Canonical words of the rows."""

    def split_filters(self) -> "tuple[Rows, tuple[AbstractTree, ...]]":
        """The rows before the filters that stand last, and what these ask."""


@hides(
    *("counts_groups", "group_text", "known_columns", "numbers", "processing", "rows"),
    *("minimum", "selects_keys", "showing", "unknown", "with_known_bounds", "words"),
)
@final
@dataclass(frozen=True, repr=False)
class Request(AbstractNoisyAnswers):
    """What is asked of each group of some rows."""

    rows: Rows
    by: tuple[str, ...]
    keyset: KeySet | None
    columns: tuple[tuple[str, AbstractAggregation], ...]
    noise: Family | None
    weights: tuple[Fraction, ...]
    """How the columns share the budget, relative to each other."""
    coverage: Fraction | None = None
    """The weight of counts of what was left out, None without them."""
    processing: tuple[AbstractProcess, ...] = ()
    """What is done to the noisy answer: not of its words, for it costs nothing."""
    confidence: Fraction = CONFIDENCE
    """Of the intervals. The words do not contain it: a release says it beside them."""
    population: bool = False
    """Whether intervals are of what the rows were drawn from; not of its words."""
    showing: Fraction | None = None
    """The weight of showing keys beside the columns, None where they do so as well."""
    minimum: Fraction | None = None
    """What a group must reach, by a noisy count, to be shown to the reader."""
    few: FirstFew | None = None
    """What the first few groups are chosen by, None where all are told."""

    def __repr__(self) -> str:
        arguments = [f"{name}={aggregation!r}" for name, aggregation in self.columns]
        arguments += [] if self.noise is None else [f"noise={self.noise!r}"]
        arguments += [] if self.coverage is None else ["coverage=True"]
        arguments += self._weights_text()
        verb = f"agg({', '.join(arguments)})" if self.columns else "keys()"
        if self.few is not None:
            first = [repr(self.few.most), f"by={self.few.by!r}"]
            verb = f"top({', '.join([*first, *arguments])})"
        least = [] if self.minimum is None else [f"suppress_below({self.minimum})"]
        return ".".join([self.group_text, verb, *least, *map(repr, self.processing)])

    def words(self, catalog: AbstractCatalog) -> Words:
        """Canonical words of the question and of its rows."""
        columns: list[Words] = [
            [name, aggregation.words, number(weight)]
            for (name, aggregation), weight in zip(
                self.columns, self.weights, strict=True
            )
        ]
        # only what is not at its default: words of paid answers stay as they were
        beside: dict[str, Words] = {}
        if self.coverage is not None:
            beside["coverage"] = number(self.coverage)
        if self.showing is not None:
            beside["showing"] = number(self.showing)
        if self.minimum is not None:
            beside["minimum"] = number(self.minimum)
        if self.few is not None:
            beside["top"] = self.few.words
        return call(
            "agg",
            **beside,
            rows=self.rows.words(catalog),
            by=list(self.by),
            keys=None if self.keyset is None else self.keyset.words,
            columns=columns,
            noise=self.noise,
        )

    def suppress_below(self, minimum: Any) -> "Request":
        """Leave out groups whose noisy number of ids, or else rows, is below a minimum.

        It has no price, and intervals hold for groups that show, given that they do;
        those of a group that `filter` left over do not know of that. Asked for twice,
        the greater minimum holds: a group that was left out does not come back.
        """
        least = positive(minimum=minimum)
        whole = isinstance(least, Fraction) and least.denominator == 1
        if not isinstance(least, Fraction) or not whole or least > MOST_ROWS:
            raise InvalidParameter(
                "minimum",
                minimum,
                "must be a whole number of ids or rows",
                "Try suppress_below(20).",
            )
        # an answer made of several groups needs all of them
        whole = any(answer.needs_every_group for answer in self.questions)
        if not self.columns or not self.by or self.few is not None or whole:
            raise InvalidQuery(
                "there are no answers about groups to leave out",
                'Try group_by("ward").agg(n=sd.count()).suppress_below(20).',
            )
        return replace(self, minimum=max(least, self.minimum or least))

    @property
    def questions(self) -> tuple[AbstractAggregation, ...]:
        """All that is asked of groups: the answers, and the rank of the first few."""
        answers = tuple(aggregation for _, aggregation in self.columns)
        return answers if self.few is None else (*answers, self.few.by)

    def _process(self, step: AbstractProcess) -> "Request":
        return replace(self, processing=(*self.processing, step))

    def with_known_bounds(
        self, schema: Schema, weighed: Weighed | None = None
    ) -> "Request":
        """Fill in the bounds that columns are known to have.

        The sum of a weighed column needs none.
        """
        columns = tuple(
            (name, aggregation.with_known_bounds(schema))
            for name, aggregation in self.columns
        )
        few = self.few
        if few is not None:
            few = replace(few, by=few.by.with_known_bounds(schema))
        ranked = () if few is None else ((RANK, few.by),)
        for name, aggregation in (*columns, *ranked):
            if aggregation.lacks_bounds and not aggregation.adds_up(weighed, schema):
                raise _bounds_refusal(name, aggregation)
        return replace(self, columns=columns, few=few)

    @property
    def group_text(self) -> str:
        """The rows and their groups as they were written."""
        if not self.by:
            return repr(self.rows)
        return f"{self.rows!r}.group_by({group_names(self.by, self.keyset)})"

    def _weights_text(self) -> list[str]:
        """Weights that are not all at their defaults, as `agg` takes them."""
        named = {
            name: weight
            for (name, _), weight in zip(self.columns, self.weights, strict=True)
        }
        if self.coverage not in {None, _USUAL}:
            named[COVERAGE] = self.coverage
        if self.showing is not None:
            named[KEYS if self.few is None else RANK] = self.showing
        if all(weight == 1 for weight in named.values()):
            return []
        listed = (f"{name!r}: {_weight_text(each)}" for name, each in named.items())
        return [f"weights={{{', '.join(listed)}}}"]

    @property
    def numbers(self) -> int:
        """Number of cells of the answer, error bars included, if that is public.

        One row for groups that are not known; they are as many as they are.
        """
        width = 2 * len(self.by)
        width += 4 * sum(
            len(aggregation.columns(name)) for name, aggregation in self.columns
        )
        return width * (1 if self.keyset is None else self.keyset.size)

    @cached_property
    def known_columns(self) -> tuple[str, ...]:
        """Columns of which the keys are given."""
        keys = () if self.keyset is None else self.keyset.columns
        return tuple(name for name in self.by if name in keys)

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Columns whose keys are not known beforehand."""
        known = self.known_columns
        return tuple(name for name in self.by if name not in known)

    @property
    def selects_keys(self) -> bool:
        """Whether there are groups that are not known beforehand."""
        return bool(self.unknown)

    @property
    def counts_groups(self) -> bool:
        """Whether a count of each group decides if it is shown."""
        by_count = self.selects_keys and not self.known_columns and self.few is None
        return by_count or self.minimum is not None


def group_names(by: Sequence[str], keyset: KeySet | None) -> str:
    """Groups as `group_by` takes them: names, and the keys where the first one stands.

    >>> wards = KeySet.from_dict({"ward": ["A", "B"]})
    >>> group_names(("sex", "ward"), wards)
    "'sex', KeySet(2 keys of ward: 'A', 'B')"
    """
    known = () if keyset is None else keyset.columns
    shown: list[str] = []
    for before, name in zip((None, *by), by, strict=False):
        if keyset is not None and name in known and keyset.as_asked not in shown:
            shown.append(keyset.as_asked)
        elif name not in known or before not in known:
            shown.append(repr(name))
    return ", ".join(shown)


def _weight_text(weight: Fraction) -> str:
    return str(weight) if weight.denominator == 1 else repr(str(weight))


def make_request(  # noqa: PLR0913 what the two doors of agg take
    rows: Rows,
    by: tuple[str, ...],
    keyset: KeySet | None,
    aggregations: Mapping[str, Any],
    *,
    noise: Any,
    weights: Mapping[str, Any] | None,
    coverage: Any = False,
    few: FirstFew | None = None,
) -> Request:
    """Make a request of checked arguments."""
    if not aggregations and few is None and (not by or keyset is not None):
        raise InvalidQuery(
            "the query has no aggregation", "Add one: agg(n=sd.count())."
        )
    names: list[str] = [] if few is None else [RANK, *error_names(RANK)]
    for name, aggregation in aggregations.items():
        for column in check_aggregation(**{name: aggregation}).columns(name):
            names += [column, *error_names(column), *rank_names(column)]
    _refuse_twice([*by, *names])  # error bars are columns of the release, too
    if noise is not None:
        noise = _validate.choice(FAMILIES, noise=noise)
    beside = (COVERAGE,) if read_coverage(coverage) else ()
    known_weights = {} if weights is None else weights
    shows = len(by) if keyset is None else len(by) - len(keyset.columns)
    apart = (KEYS,) if shows and KEYS in known_weights and KEYS not in names else ()
    apart = apart if few is None else (RANK,)
    shares = _weights(known_weights, (*aggregations, *beside, *apart))
    divided = dict(zip((*aggregations, *beside, *apart), shares, strict=True))
    return Request(
        rows,
        by,
        keyset,
        tuple(aggregations.items()),
        noise,
        shares[: len(aggregations)],
        divided[COVERAGE] if coverage else None,
        showing=divided[apart[0]] if apart else None,
        few=few,
    )


def check_aggregation(**argument: Any) -> AbstractAggregation:
    """Check that an argument is an aggregation."""
    ((name, value),) = argument.items()
    if not isinstance(value, AbstractAggregation):
        raise InvalidParameter(
            name, value, "must be an aggregation", f"Try {name}=sd.count()."
        )
    return value


def with_confidence(request: Request, confidence: Any) -> Request:
    """Set the confidence of the intervals of a request."""
    return replace(request, confidence=read_confidence(confidence))


def with_coverage(requests: "Request | dict[str, Request]", coverage: Any) -> Any:
    """Spend a tenth of a request on counting what is left out beside its answers.

    Of several requests the first does: they share their rows, and what is left out is
    counted of all rows together.
    """
    if not read_coverage(coverage):
        return requests
    if isinstance(requests, Request):
        # so that it is a tenth of the whole
        return replace(requests, coverage=sum(requests.weights) * _USUAL / (1 - _USUAL))
    (name, first), *rest = requests.items()
    return dict([(name, with_coverage(first, True)), *rest])


def read_coverage(coverage: Any) -> bool:
    """Read whether what is left out is counted."""
    if not isinstance(coverage, bool):
        raise InvalidParameter(
            "coverage", coverage, "must be True or False", "Try coverage=True."
        )
    return coverage


def read_confidence(confidence: Any) -> Fraction:
    """Check a confidence: intervals cannot have every one."""
    share = probability(confidence=confidence)
    if not 1 - _SUREST <= share <= _SUREST:
        raise InvalidParameter(
            "confidence",
            confidence,
            "must be a probability between 1e-9 and 1 - 1e-9",
            'Try confidence="0.95".',
        )
    return share


def refuse_large(requests: Iterable[Request]) -> None:
    """Refuse answers that together are larger than a session can hold and keep."""
    numbers = sum(request.numbers for request in requests)
    if numbers > MOST_NUMBERS:
        raise InvalidQuery(
            f"the answer would have {show(numbers)} cells, including its error bars, "
            f"and the limit is {MOST_NUMBERS}",
            "Ask for fewer groups, or for fewer columns at a time.",
        )


def _bounds_refusal(name: str, aggregation: AbstractAggregation) -> InvalidQuery:
    return InvalidQuery(
        f"nothing bounds the values of {aggregation!r}: one unit could "
        "move it without limit",
        f"Give bounds: {_with_ends(aggregation)}. session.suggest(query, budget, "
        f'sample=rows, limits={{"{name}": [(0, 10), (0, 100)]}}) tells what each pair '
        "would clamp; without a sample it charges a twentieth of the budget.",
    )


def _with_ends(aggregation: AbstractAggregation) -> str:
    # as it was asked: a remedy names no column that is not there
    return f"{repr(aggregation).removesuffix(')')}, 0, 100)"


def _refuse_twice(names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidParameter(
                "agg",
                name,
                "would give two output columns the same name, errors included",
                "Rename one.",
            )
        seen.add(name)


def _weights(
    by_name: Mapping[str, Any], names: tuple[str, ...]
) -> tuple[Fraction, ...]:
    if not isinstance(by_name, Mapping):
        raise InvalidParameter(
            "weights",
            by_name,
            "must be a dict from columns to numbers",
            'Try weights={"n": 2}.',
        )
    for name in by_name:
        if name not in names:
            raise unknown("column of the answer", name, names)
    weights = [
        positive(weights=by_name.get(name, _USUAL if name == COVERAGE else 1))
        for name in names
    ]
    for name, weight in zip(names, weights, strict=True):
        if not isinstance(weight, Fraction):
            raise InvalidParameter(
                "weights", weight, "must be rational", 'Try weights={"n": 2}.'
            )
        if not 1 / _HEAVIEST <= weight <= _HEAVIEST:
            raise InvalidParameter(
                "weights",
                by_name[name],
                "must lie between 2**-300 and 2**300",
                'Try weights={"n": 2}.',
            )
    return tuple(Fraction(weight) for weight in weights if isinstance(weight, Fraction))
