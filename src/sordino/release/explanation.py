"""A release in sentences: notes, exactness, where it comes from, what its request says.

Exactness is a function of published numbers, whoever reads them. The words of a request
are a tree of verbs with arguments that outlives versions (docs/ledger-format.md), so an
answer of years ago tells what a new one does; what has another form is not told.

>>> from sordino.numbers.canonical import call, canonical_text
>>> table = call("table", name="visits", protects=call("AddOneRow"))
>>> days = call("mean", column=call("col", name="days"), low="0/1", high="30/1")
>>> request = call("agg", rows=[table], by=[], keys=None, columns=[["days", days]])
>>> facts = words_facts(canonical_text(call("release", request=request)))
>>> facts.units[0].verb, facts.groups, str(facts.bounds[0].high)
('AddOneRow', 'none', '30')
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

import numpy as np

from sordino.aggregations.intervals import error_names
from sordino.errors import InvalidParameter
from sordino.losses.loss import Loss
from sordino.numbers import exact
from sordino.numbers.formatting import format_key, format_percent
from sordino.plan.purchase import Purchase, rank_lines
from sordino.query.steps import Relation
from sordino.release.text import NOISE, ReleaseView, coverage_lines, whole_names

if TYPE_CHECKING:
    import pyarrow as pa


def explain_release(release: ReleaseView) -> str:
    """Text: columns, price, exactness and plan of a release."""
    steps = (
        _say_columns,
        _say_price,
        _odds,
        _bars,
        lambda release: release.limits,
        _unknown,
        _say_coverage,
        _notes,
        _plan,
    )
    return "\n".join(text for step in steps if (text := step(release)))


def rows_phrase(release: ReleaseView) -> str:
    """Return which rows there are."""
    if not release.keys:
        return "one row" if len(release) else "no row"
    by = _list_names(release.keys)
    count = len(release)
    return f"{count:,} group{'' if count == 1 else 's'} by {by}"


def _say_columns(release: ReleaseView) -> str:
    columns = _list_names(release.names) or "keys alone"
    return f"Released: {columns}; {rows_phrase(release)}."


def _say_price(release: ReleaseView) -> str:
    return f"Price: {release.price}."


def _odds(release: ReleaseView) -> str:
    return release.loss.explain()


def _bars(release: ReleaseView) -> str:
    if not release.names:
        return ""
    share = format_percent(release.confidence)
    if release.holds != NOISE:
        return (
            "Error bars: sd is the standard deviation of the noise and of the draw of "
            f"rows together. What is true {release.holds} lies from low to high with a "
            f"chance of about {share}, for each number by itself, if the rows were "
            "drawn at random and nothing was cut off."
        )
    return (
        "Error bars: sd is the standard deviation of the noise. The exact answer lies "
        f"from low to high with a chance of at least {share}, for each number by "
        f"itself. {_exact_means(release)}"
    )


def _exact_means(release: ReleaseView) -> str:
    """Say of what rows the exact answers are that intervals hold."""
    tables = whole_names(release.figures)
    if not tables:
        return (
            "Exact means after clamping and truncation, whose effect no error bar "
            "shows."
        )
    of_all = f"Of {_list_names(tables)} exact means of all rows of the table"
    if len(tables) == len(release.names):
        return f"{of_all}, clamped."
    return f"{of_all}, clamped; of the others after truncation, too."


def _unknown(release: ReleaseView) -> str:
    silent = [
        name
        for name in release.names
        if all(
            release.errors[part].null_count == len(release)
            for part in error_names(name)
        )
    ]
    return f"No error bars are known for: {_list_names(silent)}." if silent else ""


def _say_coverage(release: ReleaseView) -> str:
    counts = list(coverage_lines(release.coverage))
    before = ["Left out or changed, of all rows together:"] if counts else []
    return "\n".join([*before, *(f"  {line}" for line in counts)])


def _notes(release: ReleaseView) -> str:
    return "\n".join(f"Note: {note}" for note in release.notes)


def _plan(release: ReleaseView) -> str:
    return "\n".join(["Plan:", *(f"  {line}" for line in release.plan.splitlines())])


def _list_names(names: Iterable[str]) -> str:
    return ", ".join(map(format_key, names))


ROUGH: Final = 5
"""A number is rough whose interval reaches further than this part of it."""


@final
@dataclass(frozen=True)
class Reach:
    """How far the intervals of an answer reach, from the number to the farther end."""

    name: str
    least: float | None
    """None where no number of it has an interval with two ends."""
    most: float | None
    """None where some number of it has an interval without an end."""


@final
@dataclass(frozen=True)
class Exactness:
    """What is told of all numbers of an answer."""

    groups: int
    """How many rows there are."""
    numbers: int
    """How many there are, missing ones aside."""
    rough: int
    reaches: tuple[Reach, ...]

    @classmethod
    def read(cls, fields: dict[str, Any]) -> "Exactness":
        """The inverse of `fields`."""
        reaches = tuple(starmap(Reach, fields["reaches"]))
        return cls(fields["groups"], fields["numbers"], fields["rough"], reaches)

    @property
    def fields(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "groups": self.groups,
            "numbers": self.numbers,
            "rough": self.rough,
            "reaches": [[each.name, each.least, each.most] for each in self.reaches],
        }


def exactness_of(
    table: "pa.Table", errors: "pa.Table", names: Iterable[str]
) -> Exactness:
    """Return how exact an answer is, of all numbers that have an interval."""
    numbers = rough = 0
    reaches = []
    for name in names:
        reach, many = _reach(name, table, errors)
        numbers += len(table[name]) - table[name].null_count
        rough += many
        reaches.append(reach)
    return Exactness(table.num_rows, numbers, rough, tuple(reaches))


def join_exactness(answers: Iterable[Exactness]) -> Exactness:
    """Exactness of several answers together."""
    listed = [*answers]
    return Exactness(
        sum(each.groups for each in listed),
        sum(each.numbers for each in listed),
        sum(each.rough for each in listed),
        tuple(reach for each in listed for reach in each.reaches),
    )


def _reach(name: str, table: "pa.Table", errors: "pa.Table") -> tuple[Reach, int]:
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    column = table[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return Reach(name, None, None), 0
    value, low, high = (
        each.to_numpy(zero_copy_only=False).astype(np.float64)
        for each in (column, *(errors[part] for part in error_names(name)[1:]))
    )
    known = np.isfinite(value) & ~np.isnan(low) & ~np.isnan(high)
    value, low, high = value[known], low[known], high[known]
    reach = np.maximum(high - value, value - low)
    rough = int(np.count_nonzero(reach > np.abs(value) / ROUGH))
    ended = reach[np.isfinite(reach)]
    least = float(ended.min()) if len(ended) else None
    # of a number without a bound on its error "at most" would be false
    most = float(reach.max()) if len(ended) == len(reach) and len(ended) else None
    return Reach(name, least, most), rough


def release_notes(purchase: Purchase) -> tuple[str, ...]:
    """Notes that the table lacks: who is protected, which groups are shown."""
    return (
        note_protection(purchase.plan.relation),
        *_groups(purchase),
        *_note_ranks(purchase),
        *_note_choices(purchase),
        *_note_savings(purchase),
    )


def _groups(purchase: Purchase) -> Iterator[str]:
    plan = purchase.plan
    request = plan.request
    if request.selects_keys and purchase.least_shown is not None:
        level, unit = purchase.least_shown
        parted = (
            ", ".join(map(format_key, request.unknown)) if request.known_columns else ""
        )
        what = f"Values of {parted} with" if parted else "Groups of"
        yield f"{what} fewer than about {float(level):.3g} {unit} are not shown."
        if parted:
            yield "Each that is shown has a row for every public key, empty or not."
    elif request.by and request.minimum is None and request.few is None:
        yield "Every public key has a row, whether anybody is in it or not."
    if request.minimum is not None:
        unit = "rows" if plan.relation.ids is None else "ids"
        yield f"Left out are groups of a noisy count below {request.minimum} {unit}."
    shows = plan.stage is None and request.selects_keys
    if plan.estimators and (shows or request.minimum is not None):
        yield "Intervals hold for groups that show, given that they do."
    if plan.of_everything:
        yield (
            "Counts of groups err together, by a share of one noisy number of all ids: "
            "ask for a total of many groups, do not add them up."
        )


def _note_ranks(purchase: Purchase) -> Iterator[str]:
    for line in rank_lines(purchase):
        yield f"{line[0].upper()}{line[1:]}."
    if purchase.first is not None and purchase.plan.hides_keys:
        yield "The list may end early: then no further group is surely large enough."


def _note_choices(purchase: Purchase) -> Iterator[str]:
    plan = purchase.plan
    for (name, _), estimator in zip(plan.request.columns, plan.estimators, strict=True):
        if estimator.chooses:
            error = purchase.errors[name]
            yield f"{format_key(name)} is chosen among public candidates: {error}."
    if plan.choices:
        share = format_percent(plan.request.confidence)
        yield (
            "Ranks count rows between an answer and the exact one, equal values aside; "
            f"± holds with a chance of at least {share}."
        )


def rank_errors(purchase: Purchase) -> dict[str, str]:
    """How far off answers are that are chosen, by the name of their column."""
    plan = purchase.plan
    errors: dict[str, str] = {}
    for (name, aggregation), estimator in zip(
        plan.request.columns, plan.estimators, strict=True
    ):
        if estimator.chooses:
            error = purchase.errors[name]
            reach = f"{error.half_width:,.{0 if error.half_width >= 10 else 1}f}"
            off = f"±{reach} {error.unit}".rstrip()
            errors |= dict.fromkeys(aggregation.columns(name), off)
    return errors


def _note_savings(purchase: Purchase) -> Iterator[str]:
    if purchase.survey:
        yield f"It is one of {purchase.survey}: they err together, so add none up."
    if purchase.share:
        yield f"Of several requests that share a budget it has {purchase.share}."
    if purchase.gain > 1:
        yield (
            "Planned together with other requests: its noise is that of "
            f"{purchase.gain:.3g} times its share of epsilon."
        )


def note_protection(relation: Relation) -> str:
    """Return whom the price protects."""
    if relation.ids is not None:
        return f"Protected is every {relation.ids!r} with all its rows."
    weighed, each_way = relation.weighed, relation.contribution.each_way
    if weighed is not None:
        name = min(weighed.names_in(relation.schema), default="a column")
        each = "" if weighed.in_each is None else f", {weighed.in_each[1]} in each cell"
        return (
            f"Protected is whatever adds at most {weighed.most} to the sum of "
            f"{name!r}{each}."
        )
    if each_way is not None:
        what = "any one row" if each_way == 1 else f"any {each_way} rows"
        return f"Protected is what stands in {what}: others may stand there instead."
    rows = relation.contribution.most_rows()
    if rows == 1:
        return "Protected is any one row, present or not."
    return f"Protected are any {rows} rows, present or not."


@final
@dataclass(frozen=True)
class LedgerRecord:
    """The record of a charge, in a ledger that outlives the process."""

    ledger: str
    """The identity of the ledger."""
    number: int
    hash: str
    """It stands for the record and for all before it."""
    when: str
    """By the clock of whoever charged it."""
    promise: Loss | None
    """What everything that this ledger ever pays for is within; None with blocks."""


@final
@dataclass(frozen=True)
class Provenance:
    """Origin of a release: its request, session, ledger record and price."""

    words: str = ""
    """The request as a ledger keeps it, or that of several asked together."""
    name: str = ""
    """Its name among several."""
    record: LedgerRecord | None = None
    """None where no ledger outlives the process."""
    least_shown: Fraction | None = None
    """What a group must reach to be shown, where groups are not known."""
    least_text: str = ""
    """The same in words: about 310 ids."""
    is_processed: bool = False
    """Whether something was done to the noisy answers, such as leaving groups out."""
    noise: tuple[str, ...] = ()
    """The names of the mechanisms; none where only a ledger is left to ask."""
    proof: str = ""
    """The certificate of the charge; none of charges of earlier versions."""
    charge: tuple[str, int, str] | None = None
    """The ledger, the number and the hash of the charge that drew its noise."""

    @property
    def origin(self) -> tuple[tuple[str, int, str], str] | None:
        """Return the charge and the request that drew its noise; None if unknown."""
        return None if self.charge is None else (self.charge, self.name)

    def with_noise(self, purchase: Purchase) -> "Provenance":
        """Return it with what a purchase says of its noise."""
        shown = purchase.least_shown
        names: dict[str, None] = {}
        for mechanisms in purchase.mechanisms:
            for each in mechanisms:
                names[type(each).__name__] = None
        return Provenance(
            self.words,
            self.name,
            self.record,
            least_shown=None if shown is None else shown[0],
            least_text=""
            if shown is None
            else f"about {float(shown[0]):.4g} {shown[1]}",
            is_processed=bool(purchase.plan.request.processing),
            noise=tuple(names),
            proof=self.proof,
            charge=self.charge,
        )


UNKNOWN: Final = Provenance()


Verb = tuple[str, Mapping[str, Any]]

PRIVATE: Final = "table"
UNITS: Final = (
    *("AddRowsWithID", "AddOneRow", "AddMaxRows", "AddMaxRowsInMaxGroups"),
    *("ChangeOneRow", "AddMaxTotal"),
)
"""Whom a table may protect."""
_DRAWN: Final = {"sampled"}
"""Words of a table that change its promise, and not whom it protects."""
_FUNCTIONS: Final = ("code", "function")
_PUBLIC: Final = "public table"
_CUTS: Final = (
    *("MaxRowsPerID", "MaxGroupsPerID", "MaxRowsPerGroupPerID"),
    *("DropExcess", "DropNonUnique", "flat_map"),
)


def verbs_of(words: str) -> Iterator[Verb]:
    """Yield every verb of a request, none where its words are not known."""
    yield from verbs_in(json.loads(words) if words else None)


def verbs_in(tree: Any) -> Iterator[Verb]:
    """Yield every verb in words, outer ones first, in order."""
    waiting = [tree]  # a list and no recursion: words may be nested deeply
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            waiting += reversed([*node.values()])
        elif isinstance(node, list):
            if _is_verb(node):
                yield node[0], node[1]
            waiting += reversed(node)


def units_of(words: Iterable[str]) -> dict[str, Verb]:
    """Return whom each private table protects, by the name of the table."""
    units: dict[str, Verb] = {}
    for text in words:
        for verb, arguments in verbs_of(text):
            if verb == PRIVATE and _is_verb(arguments.get("protects")):
                unit = arguments["protects"]
                drawn = {name: arguments[name] for name in _DRAWN & set(arguments)}
                units[str(arguments.get("name"))] = (unit[0], unit[1] | drawn)
    return dict(sorted(units.items()))


def rate_of(words: Iterable[str]) -> Fraction | None:
    """Rate of the secret sample that the private table of requests is, if it is one."""
    rates = [
        arguments["sampled"]
        for text in words
        for verb, arguments in verbs_of(text)
        if verb == PRIVATE and "sampled" in arguments
    ]
    return Fraction(rates[0]) if rates else None


def told_loss(loss: Loss, words: Iterable[str]) -> Loss:
    """Loss of whom a request protects: of the frame, where its table is a sample.

    It is that of this release by itself; several of one sample are not added up so.
    """
    rate = rate_of(words)
    return loss if rate is None else loss.subsampled(rate)


def vouchers_of(words: Iterable[str]) -> list[str]:
    """Return who answers for how the rows of tables are made, each once."""
    names = {
        str(arguments["vouched_by"])
        for text in words
        for verb, arguments in verbs_of(text)
        if verb == PRIVATE and "vouched_by" in arguments
    }
    return sorted(names)


def cuts_of(words: str) -> list[Verb]:
    """Steps that cut off rows beyond limits or values beyond bounds."""
    cuts = []
    for verb, arguments in _spell_ranges(verbs_of(words)):
        bounded = "column" in arguments and {"low", "high"} <= set(arguments)
        limited = verb != "flat_map" or arguments.get("max_rows") is not None
        if (verb in _CUTS and limited) or bounded:
            cut = (verb if verb in _CUTS else "clamped", arguments)
            cuts += [] if cut in cuts else [cut]
    return cuts


def _spell_ranges(calls: Iterable[Verb]) -> Iterator[Verb]:
    """Yield calls, those of several columns with bounds as one for each column."""
    for verb, arguments in calls:
        yield verb, arguments
        if verb != "covariance":
            continue
        pairs = zip(arguments["columns"], arguments["bounds"], strict=True)
        for name, ends in pairs:
            if ends is not None:
                column = ["col", {"name": name}]
                yield verb, {"column": column, "low": ends[0], "high": ends[1]}


def run_functions(words: Iterable[str]) -> bool | None:
    """Say whether any request ran a function of somebody's own; None if unknown."""
    return _any_verb(words, _FUNCTIONS)


def joined_public(words: Iterable[str]) -> bool | None:
    """Say whether any request joined a public table; None if unknown."""
    return _any_verb(words, (_PUBLIC,))


def columns_of(words: Any) -> list[str]:
    """Return the columns that an expression is about, each once."""
    names = [
        str(arguments.get("name"))
        for verb, arguments in verbs_of(json.dumps(words))
        if verb == "col"
    ]
    return list(dict.fromkeys(names))


def _any_verb(words: Iterable[str], names: tuple[str, ...]) -> bool | None:
    """Say whether a verb is among those of any request; None if one is not known."""
    known = list(words)
    if any(verb in names for text in known for verb, _ in verbs_of(text)):
        return True
    # without words it may have done anything
    return None if "" in known else False


def as_verb(node: Any) -> Verb | None:
    """Return words as a verb with its arguments, None if they are none."""
    return (node[0], node[1]) if _is_verb(node) else None


def _is_verb(node: Any) -> bool:
    return (
        isinstance(node, list)
        and len(node) == 2
        and isinstance(node[0], str)
        and isinstance(node[1], dict)
    )


Groups: TypeAlias = Literal["none", "public", "hidden", "mixed", "first", ""]
"""Which groups have a row; "" where it is not told."""
Arguments: TypeAlias = Mapping[str, Any]

LIMITS_OF_IDS: Final = ("MaxRowsPerID", "MaxGroupsPerID", "MaxRowsPerGroupPerID")
LIMITS: Final = (*LIMITS_OF_IDS, "DropExcess", "flat_map")
"""What says how many rows count."""
_LONGEST_NUMBER: Final = 400
_TRUTHS: Final = ("0/1", "1/1")


@final
@dataclass(frozen=True)
class Protected:
    """Whom a private table protects, as it was declared."""

    table: str
    verb: str
    column: str = ""
    """Of ids, of groups, or of what adds up."""
    most: tuple[int, ...] = ()
    """The whole numbers of the unit, in the order of its arguments."""
    sampled: str = ""
    """The rate of the secret sample that the table is, "" if it is none."""


@final
@dataclass(frozen=True)
class RowLimit:
    """How many rows, or groups, of one person count."""

    verb: str
    most: int
    columns: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class ValueBounds:
    """Between which bounds the values behind an answer count."""

    name: str
    """Of the column, or of the answer where it is computed."""
    low: Fraction
    high: Fraction


@final
@dataclass(frozen=True)
class RequestFacts:
    """What is told of a request."""

    units: tuple[Protected, ...] = ()
    limits: tuple[RowLimit, ...] = ()
    bounds: tuple[ValueBounds, ...] = ()
    groups: Groups = ""
    minimum: int | None = None
    """The noisy count that a group must reach to be shown, if one was asked for."""
    promised: int | None = None
    """How many rows of one id the curator promised that there are at most."""


NOTHING: Final = RequestFacts()


def words_facts(words: str, name: str = "") -> RequestFacts:
    """Facts in the canonical words of a release, or of one of several by name."""
    try:
        read = json.loads(words) if words else None
    except (RecursionError, ValueError):  # a ledger comes from outside
        return NOTHING
    return request_facts(read, name)


def request_facts(words: Any, name: str = "") -> RequestFacts:
    """Facts in the words of a request as a ledger holds them."""
    request = _request_of(words, name)
    if request is None:
        return NOTHING
    calls = list(verbs_in(list(request)))
    return RequestFacts(
        units=tuple(dict.fromkeys(_units(calls))),
        limits=tuple(dict.fromkeys(_limits(calls))),
        bounds=tuple(dict.fromkeys(_bounds(request[1].get("columns"), calls))),
        groups=_group_facts(*request),
        minimum=_minimum(request[1]),
        promised=_promise(calls),
    )


def questions_in(words: str, name: str = "") -> dict[str, str]:
    """Return the verb of each answer of a request, by its name."""
    request = _request_of(json.loads(words) if words else None, name)
    columns = None if request is None else request[1].get("columns")
    verbs: dict[str, str] = {}
    for column in columns if isinstance(columns, list) else ():
        if isinstance(column, list) and len(column) > 1:
            question = as_verb(column[1])
            verbs[_text(column[0])] = "" if question is None else question[0]
    return verbs


def _request_of(words: Any, name: str) -> Verb | None:
    release = as_verb(words)
    if release is None:
        return None
    if release[0] == "release":
        return as_verb(release[1].get("request"))
    pairs = release[1].get("requests")
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and pair[0] == name:
            return as_verb(pair[1])
    return None


def _units(calls: list[Verb]) -> Iterator[Protected]:
    for verb, arguments in calls:
        unit = as_verb(arguments.get("protects")) if verb == PRIVATE else None
        if unit is not None:
            # of `in_each` the last is a number, after the columns
            numbers = (
                n[-1] if isinstance(n, list) and n else n for n in unit[1].values()
            )
            yield Protected(
                _text(arguments.get("name")),
                unit[0],
                _text(unit[1].get("column")),
                tuple(most for most in numbers if type(most) is int),
                _text(arguments.get("sampled")),
            )


def _limits(calls: list[Verb]) -> Iterator[RowLimit]:
    for verb, arguments in calls:
        most = arguments.get("max_rows" if verb == "flat_map" else "limit")
        if type(most) is int and verb in LIMITS:  # isinstance takes a bool for an int
            yield RowLimit(verb, most, _texts(arguments.get("columns")))


def _promise(calls: list[Verb]) -> int | None:
    promises = [
        arguments.get("at_most") for verb, arguments in calls if verb == "MaxRowsPerID"
    ]
    return min((each for each in promises if type(each) is int), default=None)


def _bounds(columns: Any, calls: list[Verb]) -> Iterator[ValueBounds]:
    names: dict[int, str] = {}
    for column in columns if isinstance(columns, list) else ():
        if isinstance(column, list) and len(column) > 1 and as_verb(column[1]):
            # the calls hold these very arguments
            names[id(column[1][1])] = _text(column[0])
    for verb, arguments in _spell_ranges(calls):
        low, high = _number(arguments.get("low")), _number(arguments.get("high"))
        if low is not None and high is not None:
            cell = as_verb(arguments.get("column"))
            is_unit = low == 0 and high == 1
            if is_unit and cell is not None and _is_truth(cell):
                continue
            named = cell is not None and cell[0] == "col"
            of = cell[1].get("name") if named and cell is not None else None
            yield ValueBounds(_text(of or names.get(id(arguments), verb)), low, high)


def _is_truth(cell: Verb) -> bool:
    """Say whether a cell is 0 or 1 by itself, so that bounds cut nothing off."""
    verb, arguments = cell
    ends = as_verb(arguments.get("otherwise")), arguments.get("cases")
    if verb != "when" or ends[0] is None or not isinstance(ends[1], list):
        return False
    results = [ends[0], *(as_verb(case[-1]) for case in ends[1] if case)]
    return all(
        each is not None and each[0] == "lit" and each[1].get("value") in _TRUTHS
        for each in results
    )


def _group_facts(verb: str, arguments: Arguments) -> Groups:
    by, keys = arguments.get("by"), as_verb(arguments.get("keys"))
    if verb == "marginals":
        return "public"
    if verb != "agg" or not isinstance(by, list):
        return ""
    if not by:
        return "none"
    if "top" in arguments:
        return "first"
    if keys is None:
        return "hidden"
    known = set(_texts(keys[1].get("columns")))
    return "public" if known >= set(_texts(by)) else "mixed"


def _minimum(arguments: Arguments) -> int | None:
    least = _number(arguments.get("minimum"))
    return None if least is None else int(least)


def _number(words: Any) -> Fraction | None:
    if not isinstance(words, str) or len(words) > _LONGEST_NUMBER:
        return None
    try:
        size = exact(number=words)
    except InvalidParameter:
        return None
    return size if isinstance(size, Fraction) else None


def _text(value: Any) -> str:
    return format_key(value) if isinstance(value, str) else ""


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(_text, values)) if isinstance(values, list) else ()
