"""The dialects a text may be written in, and the options of a private statement.

BigQuery writes SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (...). The parser does not read
that, so it is cut out of the words beforehand; all other words keep their places. An
option that means something else here is refused by name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn, final

from sqlglot.tokenizer_core import Token, TokenType

from sordino.errors import InvalidSQL, SordinoError
from sordino.losses.closed import ApproxDP
from sordino.losses.loss import Budget
from sordino.numbers import arguments

_SPACES: Final = "\u0020\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))


@final
@dataclass(frozen=True)
class InputDialect:
    """The habits of one database, as far as they decide what a text means."""

    name: str
    """What sqlglot calls it."""
    decimals: bool
    """Whether 1.5 is a decimal number; else it is a double."""
    infinite_quotients: bool
    """Whether a double divided by zero is an infinity; else it fails or is NULL."""
    whole_division: bool
    """Whether the quotient of integers is cut towards zero."""
    concat_skips: bool
    """Whether CONCAT leaves out what is missing."""
    extremes_skip: bool
    """Whether GREATEST and LEAST leave out what is missing."""
    dates_stay: bool
    """Whether the start of a period of a date is a date; else a time."""
    days_subtract: bool
    """Whether the difference of two dates is a number of days."""
    halves_away: bool
    """Whether ROUND takes halves away from zero."""
    truths_join: bool
    """Whether CONCAT writes a truth as true or false."""
    whole_seconds: bool
    """Whether the seconds of a time have no fraction."""
    trimmed: str
    """What TRIM takes away."""
    parts: Mapping[str, str]
    """Which of the parts of a time some words mean."""
    differences: tuple[str, ...]
    """Units in which it counts what begins between two times."""
    zoned_times: bool
    """Whether AT TIME ZONE shows a time in UTC as the clocks of a zone do."""
    escape: str | None
    """What LIKE escapes wildcards by, unasked."""


_WEEKS: Final = {"week": "isoweek", "weekofyear": "isoweek"}
_DUCKDB: Final = InputDialect(
    "duckdb",
    decimals=True,
    infinite_quotients=True,
    whole_division=False,
    concat_skips=True,
    extremes_skip=True,
    dates_stay=False,
    days_subtract=True,
    halves_away=True,
    truths_join=True,
    whole_seconds=True,
    trimmed=_SPACES + "\u202f\u205f\u3000",
    parts=_WEEKS | dict.fromkeys(("dow", "dayofweek", "weekday"), "sunday is 0"),
    differences=("year", "quarter", "month", "day", "hour", "minute", "second"),
    zoned_times=False,
    escape=None,
)
_POSTGRES: Final = replace(
    _DUCKDB,
    name="postgres",
    infinite_quotients=False,
    whole_division=True,
    halves_away=False,
    truths_join=False,
    whole_seconds=False,
    parts=_WEEKS | {"dow": "sunday is 0"},
    differences=("day",),
    trimmed=" ",
    escape="\\",
)
_SPARK: Final = replace(
    _DUCKDB,
    name="spark",
    infinite_quotients=False,
    concat_skips=False,
    days_subtract=False,
    parts=_WEEKS | dict.fromkeys(("dow", "dayofweek"), "sunday is 1"),
    differences=("day",),
    trimmed=" ",
    zoned_times=True,
    escape="\\",
)
_BIGQUERY: Final = replace(
    _SPARK,
    name="bigquery",
    decimals=False,
    extremes_skip=False,
    dates_stay=True,
    parts={"dayofweek": "sunday is 1"},
    differences=("year", "quarter", "month", "day"),
    trimmed=_SPACES + "\t\n\v\f\r\u0085\u2028\u2029\u202f\u205f\u3000",
)
DIALECTS: Final[dict[str, InputDialect]] = {
    dialect.name: dialect for dialect in (_DUCKDB, _POSTGRES, _SPARK, _BIGQUERY)
}


def input_dialect(name: Any) -> InputDialect:
    """Dialect by its name; one that is not read is refused."""
    return DIALECTS[arguments.choice(tuple(DIALECTS), dialect=name)]


_CLAUSES: Final = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")


@final
@dataclass(frozen=True)
class Option:
    """One option: its value in its very letters, and its place."""

    value: str
    start: int
    end: int


@final
@dataclass(frozen=True)
class Options:
    """What a statement says of its own privacy."""

    text: str
    given: Mapping[str, Option] = field(default_factory=dict)
    budget: Budget | None = None
    groups: int | None = None
    """In how many groups an id may be."""

    def refusal(self, name: str, problem: str, remedy: str) -> InvalidSQL:
        """Refusal of an option."""
        place = self.given[name]
        return InvalidSQL(problem, remedy, self.text, place.start, place.end)

    def refuse_other_ids(self, ids: str | None) -> None:
        """Refuse a unit of privacy that is not the one of the session."""
        if "privacy_unit_column" not in self.given:
            return
        named = self.given["privacy_unit_column"].value.strip('`"').split(".")[-1]
        if ids is None or named.lower() != ids.lower():
            kept = "rows" if ids is None else ids
            raise self.refusal(
                "privacy_unit_column",
                f"the session protects {kept}, and a query cannot choose another unit",
                "Leave it out, or open the session with protects=sd.AddRowsWithID.",
            )

    def refuse_sets(self) -> None:
        """Refuse a bound on groups where rows are grouped in several ways."""
        if self.groups is not None:
            raise self.refusal(
                "max_groups_contributed",
                "rows are grouped in several ways, and this bounds one",
                'Give limits=sd.MaxGroupsPerID("ward", 2).',
            )


_WHY: Final[Mapping[str, tuple[str, str]]] = {
    "min_privacy_units_per_group": (
        "this adds an exact count to the test of a group, which is not used here",
        "Leave it out: groups are shown above the threshold that price() tells.",
    ),
    "k_threshold": (
        "groups are not shown by a threshold that is chosen here",
        "Leave it out: price() tells the threshold that epsilon and delta make.",
    ),
    "max_rows_contributed": (
        "a bound on all rows of a person is said beside the text",
        "Give limits=sd.MaxRowsPerID(5).",
    ),
}


def split_options(text: str, words: Sequence[Token]) -> tuple[Options, list[Token]]:
    """Options of a statement, and its words without them."""
    for place, word in enumerate(words[:-2]):
        if word.token_type is not TokenType.SELECT or not _begins(words, place + 1):
            continue
        if any(_begins(words, later) for later in range(place + 2, len(words) - 1)):
            _refuse_clause(text, words[place + 1], "a second clause of privacy")
        if any(earlier.token_type is TokenType.SELECT for earlier in words[:place]):
            _refuse_clause(text, words[place + 1], "privacy of a query in a query")
        end, given = _options(text, words, place + 3)
        rest = [*words[: place + 1], *words[end:]]
        return _interpret(text, given), rest
    return Options(text), list(words)


def _begins(words: Sequence[Token], place: int) -> bool:
    return (
        words[place].token_type is TokenType.WITH
        and place + 1 < len(words)
        and words[place + 1].text.upper() in _CLAUSES
    )


def _refuse_clause(text: str, word: Token, problem: str) -> NoReturn:
    raise InvalidSQL(
        f"{problem} is not understood",
        "State it once, behind the first SELECT.",
        text,
        word.start,
        word.end + 1,
    )


def _options(
    text: str, words: Sequence[Token], place: int
) -> tuple[int, dict[str, Option]]:
    if place >= len(words) or words[place].text.upper() != "OPTIONS":
        return place, {}
    place, depth, parts = place + 1, 0, [[]]  # type: ignore[var-annotated]
    while place < len(words):
        word = words[place]
        place += 1
        depth += (word.token_type is TokenType.L_PAREN) - (
            word.token_type is TokenType.R_PAREN
        )
        if depth == 0:
            break
        if depth == 1 and word.token_type is TokenType.COMMA:
            parts.append([])
        elif depth > 1 or word.token_type is not TokenType.L_PAREN:
            parts[-1].append(word)
    return place, dict(_option(text, part) for part in parts if part)


def _option(text: str, part: Sequence[Token]) -> tuple[str, Option]:
    start, end = part[0].start, part[-1].end + 1
    if len(part) < 3 or part[1].token_type is not TokenType.EQ:
        raise InvalidSQL("this is no option", "Write epsilon = 1.", text, start, end)
    return part[0].text.lower(), Option(text[part[2].start : end], start, end)


def _interpret(text: str, given: dict[str, Option]) -> Options:
    raw = Options(text, given)
    for name in given:
        if name not in _KNOWN:
            raise raw.refusal(
                name, *_WHY.get(name, (f"there is no option {name} here", _THERE))
            )
    if ("epsilon" in given) != ("delta" in given):
        raise raw.refusal(
            next(iter({"epsilon", "delta"} & set(given))),
            "epsilon and delta are said together",
            "Write OPTIONS (epsilon = 1, delta = 1e-6).",
        )
    budget = None
    if "epsilon" in given:  # read from its letters: a float would round the budget
        budget = _read(
            raw, "epsilon", lambda written: ApproxDP(written, given["delta"].value)
        )
    groups = None
    if "max_groups_contributed" in given:
        groups = _read(raw, "max_groups_contributed", int)
        if groups < 1:
            raise raw.refusal(
                "max_groups_contributed", "this keeps nothing", "Write 1."
            )
    return Options(text, given, budget, groups)


def _read(options: Options, name: str, build: Callable[[str], Any]) -> Any:
    try:
        return build(options.given[name].value)
    except (SordinoError, ValueError):
        raise options.refusal(
            name,
            f"{name} must be a number here: without one a person has no bound",
            f"Write {name} = 1.",
        ) from None


_KNOWN: Final = ("epsilon", "delta", "max_groups_contributed", "privacy_unit_column")
_THERE: Final = f"There are {', '.join(_KNOWN)}."
