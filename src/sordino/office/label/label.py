"""The one list of rows that makes a label, and a label as text.

HTML and the picture only set these rows. Whatever is not known stands as "not stated",
so that no row is missing in silence.
"""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Final, NamedTuple, final

from sordino.numbers.formatting import cut_text, format_number, text_width
from sordino.office.html.odds import FALSE_ALARMS, MOST
from sordino.office.html.page import Language
from sordino.office.label.facts import CountedRange, LabelFacts, LeftOut
from sordino.release.explanation import Protected, Reach, RowLimit

MOST_ROWS: Final = 12
"""Rows of one kind that are shown before "and 30 more"."""
_LONGEST: Final = 28
_HASH: Final = 12
"""Digits of a hash: enough to tell one from another."""
_GROUP: Final = 8
_DIGITS: Final = 3
_LARGE: Final = 15
_OTHER_UNITS: Final = {
    *("unit.of_table", "unit.unknown"),
    *("unit.in_each", "unit.in_each_row", "unit.in_each_cell", "unit.of_frame"),
}
"""Words about units that are no unit."""
_LIMITS: Final = {
    "MaxRowsPerID": "rows",
    "MaxGroupsPerID": "groups",
    "MaxRowsPerGroupPerID": "rows_in_group",
    "DropExcess": "join",
    "flat_map": "made",
}
_KINDS: Final = {"unreadable": "unreadable", "cut off": "cut_off", "clamped": "clamped"}


@final
class LabelRow(NamedTuple):
    """A name, and its text."""

    name: str
    value: str


@final
@dataclass(frozen=True)
class LabelPart:
    """Rows that belong together, under a heading or none."""

    heading: str
    rows: tuple[LabelRow, ...]


@final
@dataclass(frozen=True)
class LabelTexts:
    """All texts of a label, in their order."""

    title: str
    file: str
    when: str
    """Empty where that is not known."""
    status: str
    """How sure the rest is; empty where a release tells it itself."""
    parts: tuple[LabelPart, ...]
    feet: tuple[str, ...]


def label_texts(
    facts: LabelFacts, language: Language, file: str, status: str, head: str = ""
) -> LabelTexts:
    """Texts of a label; `status` says how sure they are, by which head of a ledger."""
    say = language.plain
    odds = LabelPart(say("label.odds.heading"), tuple(_odds(facts, language)))
    share = language.number(f"{float(100 * Fraction(facts.confidence)):.10g}")
    exact = LabelPart(
        say("label.exact.heading", share=share), tuple(_exactness(facts, language))
    )
    rest = LabelPart(say("label.rest.heading"), tuple(_left_out(facts, language)))
    return LabelTexts(
        say("label.title"),
        language.bare_name(file) if file else "",
        _when(facts, language),
        say(f"label.status.{status}", head=_in_groups(head)) if status else "",
        (LabelPart("", tuple(_units(facts, language))), odds, exact, rest),
        tuple(_feet(facts, language, file)),
    )


def _in_groups(digits: str) -> str:
    """Digits to be compared by eye, and to be broken into lines.

    >>> _in_groups("0123456789abcdef")
    '01234567 89abcdef'
    """
    starts = range(0, len(digits), _GROUP)
    return " ".join(digits[start : start + _GROUP] for start in starts)


def _when(facts: LabelFacts, language: Language) -> str:
    if facts.paid_by is None:
        return ""
    day = datetime.fromisoformat(facts.paid_by.when).date()
    return language.plain("label.when", day=language.day(day))


def _units(facts: LabelFacts, language: Language) -> Iterator[LabelRow]:
    whom = {unit.table: _unit(unit, language) for unit in facts.units}
    if len(set(whom.values())) <= 1:
        default = language.plain("label.unknown")
        yield LabelRow(
            language.plain("label.protects"), next(iter(whom.values()), default)
        )
        return
    for table, text in list(whom.items())[:MOST_ROWS]:
        named = language.plain("label.protects_in", table=_name(language, table))
        yield LabelRow(named, text)


def _unit(unit: Protected, language: Language) -> str:
    whole = _whole_unit(unit, language)
    if not unit.sampled:
        return whole
    return language.plain("unit.of_frame", unit=whole, rate=unit.sampled)


def _whole_unit(unit: Protected, language: Language) -> str:
    key = f"unit.{unit.verb}"
    if key not in language.texts or key in _OTHER_UNITS:
        return language.plain("label.unknown")
    column = language.plain("label.quoted", name=_name(language, unit.column))
    groups, *rest = (*map(language.whole, unit.most), "?")
    count = rest[0] if len(rest) > 1 else groups
    if unit.verb != "AddMaxTotal" or len(unit.most) != 2:
        return language.plain(key, column=column, groups=groups, count=count)
    whole = language.plain(key, column=column, count=rest[0])
    return language.plain("unit.in_each_cell", unit=whole, count=groups)


def _odds(facts: LabelFacts, language: Language) -> Iterator[LabelRow]:
    say = language.plain
    mistakes = say("label.odds.of", count=language.whole(FALSE_ALARMS))
    yield LabelRow(say("label.odds.mistakes"), mistakes)
    yield LabelRow(say("label.odds.this"), _of_hundred(facts.found, language))
    total = _of_hundred(facts.found_by_all, language)
    if facts.is_divided:
        total = say("label.odds.blocks")
    yield LabelRow(say("label.odds.all"), total)


def _of_hundred(count: int | None, language: Language) -> str:
    if count is None:
        return language.plain("label.unknown")
    most = language.whole(min(count, MOST))
    return language.plain(
        "label.odds.over" if count > MOST else "label.odds.most", count=most
    )


def _exactness(facts: LabelFacts, language: Language) -> Iterator[LabelRow]:
    say = language.plain
    for reach in facts.reaches[:MOST_ROWS]:
        yield LabelRow(_name(language, reach.name), _reach(reach, language))
    yield from _more(len(facts.reaches), language)
    limited = [each.name for each in facts.reaches if each.name not in facts.whole]
    for key, names in (("whole", [*facts.whole]), ("kept", limited)):
        if facts.whole and names:
            listed = ", ".join(_name(language, name) for name in names[:MOST_ROWS])
            yield LabelRow(say(f"label.exact.{key}"), listed)
    yield LabelRow(
        say("label.exact.rough"),
        say(
            "label.exact.part",
            count=language.whole(facts.rough),
            all=language.whole(facts.numbers),
        ),
    )
    noise = ", ".join(_name(language, name) for name in facts.noise[:MOST_ROWS])
    yield LabelRow(say("label.exact.noise"), noise or say("label.unknown"))


def _reach(reach: Reach, language: Language) -> str:
    if reach.least is None:
        return language.plain("label.exact.none")
    if reach.most is None:
        least = language.number(_digits_above(reach.least))
        return language.plain("label.exact.open", least=least)
    ends = (reach.least, reach.most)
    least, most = (language.number(_digits_above(end)) for end in ends)
    if least == most:
        return language.plain("label.exact.reach", most=most)
    return language.plain("label.exact.reaches", least=least, most=most)


def _digits_above(end: float) -> str:
    """Return three digits, rounded up.

    >>> _digits_above(177.2), _digits_above(0.54531), _digits_above(12345.0)
    ('178', '0.546', '12,400')
    """
    exact = Decimal(repr(end))  # its digits: the double 0.1 itself lies above 0.1
    place = exact.adjusted() - _DIGITS + 1 if exact else 0
    if place > _LARGE or place < -_LARGE:
        return f"{exact.normalize():.{_DIGITS - 1}e}"
    # up: an interval is never said to be narrower than it is
    rounded = exact.quantize(Decimal((0, (1,), place)), ROUND_CEILING)
    text = f"{rounded:,f}" if place <= 0 else f"{int(rounded):,}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _left_out(facts: LabelFacts, language: Language) -> Iterator[LabelRow]:
    say = language.plain
    for limit in facts.limits[:MOST_ROWS]:
        yield _limit(limit, language)
    yield from _more(len(facts.limits), language)
    for bounds in facts.bounds[:MOST_ROWS]:
        yield _bounds(bounds, language)
    yield from _more(len(facts.bounds), language)
    may_cut = facts.limits or facts.bounds or not facts.groups
    if facts.left_out is None and may_cut:
        yield LabelRow(say("label.rest.cut"), say("label.rest.unmeasured"))
    for counted in (facts.left_out or ())[:MOST_ROWS]:
        yield _count_row(counted, language)
    yield LabelRow(say("label.rest.groups"), _groups(facts, language))
    if facts.is_processed:
        yield LabelRow(say("label.rest.processed"), say("label.rest.processed_so"))


def _limit(limit: RowLimit, language: Language) -> LabelRow:
    columns = ", ".join(_name(language, name) for name in limit.columns[:MOST_ROWS])
    key = f"label.limits.{_LIMITS.get(limit.verb, 'other')}"
    name = language.plain(key, columns=columns)
    most = language.whole(limit.most)
    return LabelRow(name, language.plain("label.rest.most", count=most))


def _bounds(bounds: CountedRange, language: Language) -> LabelRow:
    name = _name(language, bounds.name)
    low, high = (
        language.number(format_number(end)) for end in (bounds.low, bounds.high)
    )
    return LabelRow(
        language.plain("label.rest.values", name=name),
        language.plain("bands.interval", low=low, high=high),
    )


def _count_row(counted: LeftOut, language: Language) -> LabelRow:
    kind = language.plain(f"label.kinds.{_KINDS.get(counted.kind, 'other')}")
    low, high = (
        language.number(format_number(end)) for end in (counted.low, counted.high)
    )
    return LabelRow(
        f"{kind}: {_name(language, counted.what)}",
        language.plain(
            "label.rest.about", count=language.whole(counted.count), low=low, high=high
        ),
    )


def _groups(facts: LabelFacts, language: Language) -> str:
    key = f"label.groups.{facts.groups}" if facts.groups else "label.unknown"
    least = facts.minimum
    if facts.shown_from is not None and facts.groups in {"hidden", "mixed"}:
        level = language.number(f"{max(facts.shown_from, least or 0):,.3g}")
        return language.plain("label.groups.below", count=level)
    if least is not None:  # a public list says which groups there are, not which show
        return language.plain("label.groups.minimum", count=language.whole(least))
    return language.plain(key)


def _name(language: Language, name: str) -> str:
    return cut_text(language.bare_name(name), _LONGEST)


def _more(count: int, language: Language) -> Iterator[LabelRow]:
    if count > MOST_ROWS:
        rest = language.whole(count - MOST_ROWS)
        yield LabelRow(language.plain("label.more", count=rest), "")


def _feet(facts: LabelFacts, language: Language, file: str) -> Iterator[str]:
    say = language.plain
    yield "; ".join(map(language.number, facts.price.split(", ")))
    paid = facts.paid_by
    if paid is None:
        yield say("label.foot.unrecorded")
    else:
        yield say(
            "label.foot.record",
            number=language.whole(paid.number),
            hash=f"{paid.hash[:_HASH]}…",
            ledger=f"{paid.ledger[:_HASH]}…",
        )
        if file:
            yield say("label.foot.check", file=language.bare_name(file))
    foot = "made_whole" if facts.whole else "made"
    yield say(f"label.foot.{foot}", by=language.bare_name(facts.made_by))


_WIDTH: Final = 60


def plain_label(texts: LabelTexts) -> str:
    """Return a label in lines, those of rows as wide as each other where they fit."""
    lines = [
        texts.title,
        *filter(None, [texts.file, texts.when]),
        *_fold([texts.status]),
    ]
    for part in texts.parts:
        lines.append("-" * _WIDTH)
        lines += filter(None, [part.heading])
        lines += [line for row in part.rows for line in _row(row)]
    return "\n".join([*lines, "-" * _WIDTH, *_fold(texts.feet)])


def _fold(sentences: Iterable[str]) -> Iterator[str]:
    """Yield the lines of sentences; a long word keeps a line of its own."""
    for sentence in sentences:
        yield from textwrap.wrap(sentence, _WIDTH, break_long_words=False)


def _row(row: LabelRow) -> Iterator[str]:
    room = _WIDTH - 2 - text_width(row.name) - text_width(row.value)
    if room >= 1:
        yield f"  {row.name}{' ' * room}{row.value}".rstrip()
    else:
        yield f"  {row.name}"
        yield " " * max(_WIDTH - text_width(row.value), 4) + row.value
