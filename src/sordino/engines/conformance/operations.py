"""Every operation with every combination of types, at edge values.

An engine keeps the meaning of expressions if, for each form and any values of its
types, it gives what `value` gives.
"""

import datetime as dt
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from sordino.expressions import bins
from sordino.expressions.bins import Bins
from sordino.expressions.casts import READ, Spelling
from sordino.expressions.language import Expression, col, lit, when
from sordino.expressions.literals import lift
from sordino.numbers.double_grid import DoubleGrid

DAY: Final = dt.date
TIME: Final = dt.datetime

EXTREMES: Final[Mapping[str, tuple[Any, ...]]] = {
    "i64": (
        *(0, 1, -1, 2, -2, 3, 7, -7, 10, -10, 12, 100, 999),
        *(2**31, -(2**31), 2**32, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62)),
        *(2**63 - 1, -(2**63), -(2**63) + 1, 2**63 - 512, 2**63 - 513),
        *(9_007_199_254_740_993, 3_037_000_500, -3_037_000_500, 3_652_058),
    ),
    "f64": (
        *(0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, 0.1, -7.5, 10.0, 1e16),
        *(0.49999999999999994, 4503599627370497.5, 2.0**53, 2.0**53 + 2, 0.3),
        *(2.0**63, -(2.0**63), 2.0**63 - 1024, -(2.0**63) - 2048, 9.3e18),
        *(5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e308),
        *(1e-200, 1e200, math.inf, -math.inf, math.nan, 1 / 3, 100.0, 99.99999999),
    ),
    "text": (
        *("", " ", "a", "A", "abc", "ABC", "aaaa", "b", "\x00", "a\x00b", "e\u0301"),
        *("é", "ß", "İ", "ŉ", "Σσς", "\u0301", "\u1e9b\u0323", "가", "\u1100\u1161"),
        *(
            "👩‍🦰",
            "🇩🇪",
            "\U0010ffff",
            "\uffff",
            "\u00a0x\u00a0",
            "\u2003",
            "\u0345\u0323",
        ),
        *(
            "\U0001e4ec\u0301e\u0301",
            "a\U00010efd\u0301",
            "ab" * 300,
            "\u212b",
            "o'neill",
        ),
        *(
            " 12 ",
            "+5",
            "-0",
            "00",
            "1e3",
            "0x10",
            "1_000",
            "12\n",
            "\t12\r",
            "1 2",
            "٣",
        ),
        *("9223372036854775807", "9223372036854775808", "-9223372036854775808"),
        *("-9223372036854775809", "0" * 400 + "1", "1" * 5000, "+", "-", "--1"),
        *("1.5", ".5", "5.", ".", "1e400", "-1e400", "1e-400", "1e99999999999", "e5"),
        *("inf", "nan", "NaN", "Infinity", "0x1p3", "1.5e", "1e+5", "1d", "1.5\x00"),
        *("2.4703282292062327208e-324", "9007199254740993", "1e23", "1,5", "1e5.5"),
        *("0.500000000000000166533453693773481063544750213623046875",),
        *("true", "FALSE", " True ", "t", "yes", "tru\u0065\u0301", "ſ", "1"),
        *("2024-02-29", "2023-02-29", "0001-01-01", "0000-01-01", "9999-12-31"),
        *("10000-01-01", "2024-1-1", "2024-13-01", "2024-00-10", "infinity", "epoch"),
        *("2024-02-29T23:59:59.123456Z", "2024-02-29 01:02", "2024-02-29T24:00"),
        *("2024-02-29T23:59:60", "2024-02-29T23:59:59.1", "2024-02-29T23:59:59."),
        *("2024-02-29T23:59:59+01:00", "2024-02-29Z", " 2024-02-29 ", "2024-02-29 x"),
        *("2024-02-29T12:30:00.1234567", "20240229", "2024-W01-1", "2024-060"),
        *("-infinity", "2024-02-29 (BC)", "٢٠٢٤-01-01", "2024-01-01T1:2:3"),
    ),
    "bool": (True, False),
    "date": (
        *(DAY(1, 1, 1), DAY(9999, 12, 31), DAY(1969, 12, 31), DAY(1970, 1, 1)),
        *(DAY(2024, 2, 29), DAY(1900, 2, 28), DAY(2000, 12, 31), DAY(1, 1, 7)),
        *(DAY(1582, 10, 10), DAY(1, 12, 31), DAY(9999, 1, 1), DAY(2026, 1, 31)),
    ),
    "time": (
        *(TIME(1, 1, 1), TIME(9999, 12, 31, 23, 59, 59, 999999)),
        *(TIME(1970, 1, 1), TIME(1969, 12, 31, 23, 59, 59, 999999)),
        *(TIME(2024, 2, 29, 12, 30, 15, 123456), TIME(2024, 2, 29), TIME(1, 1, 7, 5)),
        *(TIME(1582, 10, 10, 10, 10), TIME(2000, 12, 31, 23, 59, 59, 1)),
        *(TIME(1, 1, 1, 0, 0, 0, 1), TIME(9999, 12, 31), TIME(2026, 3, 29, 2, 30)),
    ),
}


@final
@dataclass(frozen=True)
class Form:
    """A way to write an operation, for arguments of some types."""

    name: str
    types: tuple[str, ...]
    build: Callable[..., Expression]

    def __str__(self) -> str:
        return f"{self.name}-{'-'.join(self.types)}"

    def on_columns(self) -> Expression:
        """Return the expression of the columns x0, x1, ..."""
        return self.build(*(col(f"x{place}") for place in range(len(self.types))))

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of extreme values, each with each, and missing ones."""
        values = [(*EXTREMES[kind], None) for kind in self.types]
        tuples = itertools.product(*values)
        return [{f"x{at}": value for at, value in enumerate(row)} for row in tuples]


def _each(
    name: str, types: Iterator[tuple[str, ...]], build: Callable[..., Expression]
) -> Iterator[Form]:
    return (Form(name, kinds, build) for kinds in types)


def _pairs() -> Iterator[tuple[str, ...]]:
    return itertools.product(("i64", "f64"), repeat=2)


def _same(count: int) -> Iterator[tuple[str, ...]]:
    return ((kind,) * count for kind in EXTREMES)


def _single_types(*kinds: str) -> Iterator[tuple[str, ...]]:
    return ((kind,) for kind in kinds)


def _steps(
    low: int, high: int, exponent: int, **origin: int
) -> Callable[..., Expression]:
    ends = {"low": low, "high": high, "exponent": exponent, **origin}

    def build(value: Expression) -> Expression:
        return value.call(bins.STEPS, value, **ends)

    return build


def _portion(*ends: int) -> Callable[..., Expression]:
    def build(value: Expression) -> Expression:
        return Expression(lift(bins.portion(value, *ends)))

    return build


_COMPARED = list(dict.fromkeys([*_pairs(), *_same(2)]))
_SHORT = ("text", "text")

ARITHMETIC: Final = (
    *_each("add", _pairs(), operator.add),
    *_each("subtract", _pairs(), operator.sub),
    *_each("multiply", _pairs(), operator.mul),
    *_each("divide", _pairs(), operator.truediv),
    *_each("floor_divide", _pairs(), operator.floordiv),
    *_each("modulo", _pairs(), operator.mod),
    *_each("negate", _single_types("i64", "f64"), operator.neg),
    *_each("add 0", _single_types("i64", "f64"), lambda a: a + 0),
    *_each("add 0.0", _single_types("i64", "f64"), lambda a: a + 0.0),
    *_each("from 0", _single_types("i64", "f64"), lambda a: 0 - a),
    *_each("times 0", _single_types("i64", "f64"), lambda a: a * 0),
    *_each("times -1.0", _single_types("i64", "f64"), lambda a: a * -1.0),
    *_each("times 1", _single_types("i64", "f64"), lambda a: a * 1),
    *_each("by 10", _single_types("i64", "f64"), lambda a: a // 10),
    *_each("rest of 10", _single_types("i64", "f64"), lambda a: a % 10),
    *_each("rest of -1", _single_types("i64", "f64"), lambda a: a % -1),
    *_each("by -1", _single_types("i64", "f64"), lambda a: a // -1),
    *_each("by 0", _single_types("i64", "f64"), lambda a: a / 0),
    *_each("by 1", _single_types("i64", "f64"), lambda a: a // 1),
    Form("quotient", ("i64", "i64"), lambda a, b: a.quotient(b)),
    Form("remainder", ("i64", "i64"), lambda a, b: a.remainder(b)),
    Form("quotient by -1", ("i64",), lambda a: a.quotient(-1)),
    Form("remainder of 10", ("i64",), lambda a: a.remainder(10)),
    *_each("itself", _single_types("i64", "f64"), lambda a: a - a),
)

NUMBERS: Final = (
    *_each("clip", _single_types("i64", "f64"), lambda a: a.clip(-1, 10)),
    *_each("clip f64", _single_types("i64", "f64"), lambda a: a.clip(-0.5, 2.0**53)),
    *_each("clip inf", _single_types("i64", "f64"), lambda a: a.clip(-math.inf, 0)),
    *_each("abs", _single_types("i64", "f64"), abs),
    *_each("round_down", _single_types("i64", "f64"), lambda a: a.round_down(10)),
    *_each("round_down f64", _single_types("i64", "f64"), lambda a: a.round_down(0.1)),
    *_each(
        "round_down far", _single_types("i64", "f64"), lambda a: a.round_down(2**53)
    ),
    *_each("round", _single_types("i64", "f64"), lambda a: a.round()),
    *_each("round 2", _single_types("i64", "f64"), lambda a: a.round(2)),
    *_each("round 15", _single_types("i64", "f64"), lambda a: a.round(15)),
    *_each("sqrt", _single_types("i64", "f64"), lambda a: a.sqrt()),
    *_each("exp", _single_types("i64", "f64"), lambda a: a.exp()),
    *_each("log", _single_types("i64", "f64"), lambda a: a.log()),
    *_each("power 5", _single_types("i64", "f64"), lambda a: a.power(5)),
    *_each("power -2", _single_types("i64", "f64"), lambda a: a.power(-2)),
    *_each("power 0.5", _single_types("i64", "f64"), lambda a: a.power(0.5)),
    *_each("floor", _single_types("i64", "f64"), lambda a: a.floor()),
    *_each("ceil", _single_types("i64", "f64"), lambda a: a.ceil()),
    *_each("is_nan", _single_types("f64"), lambda a: a.is_nan()),
    *_each("is_infinite", _single_types("f64"), lambda a: a.is_infinite()),
    *_each(
        "replace_infinity", _single_types("f64"), lambda a: a.replace_infinity(-5, 5.5)
    ),
    *(
        Form(f"height {ends}", (kind,), _steps(*ends, origin=ends[0]))
        for kind in ("i64", "f64")
        for ends in (
            *((-7, 7, 1), (5, 9, 61), (-9, -5, 62), (-9, -1, -1), (1, 2, 40)),
            *((-(2**40), 2**40, -960), (-(2**40), 2**40, 23), (3, 90, 0)),
        )
    ),
    *(
        Form(f"steps {low} {high} {exponent}", (kind,), _steps(low, high, exponent))
        for kind in ("i64", "f64")
        for low, high, exponent in (
            *((0, 100, 0), (-7, 7, 1), (-7, 7, -1), (0, 2**40, -40), (-3, 5, -2)),
            *((-(2**40), 2**40, 22), (-(2**40), 2**40, 23), (-1, 1, 63), (-1, 1, 64)),
            *((-5, 5, 62), (-(2**40), 2**40, 960), (-(2**40), 2**40, -960)),
            *((5, 9, 61), (-9, -5, 62), (3, 3, 0), (1, 2, 40), (-9, -1, -1)),
        )
    ),
)

PORTIONS: Final = tuple(
    Form(f"portion {ends}", (kind,), _portion(*ends))
    for kind in ("i64", "f64")
    for place in (0, 1, 2)
    for ends in (
        *((0, 1, 0, place, 23), (-3, 4, -1, place, 5), (0, 94, 0, place, 17)),
        *((-(2**30), 2**30, 33, place, 0), (2**39, 2**39 + 7, 3, place, 28)),
        *((-(2**24), 0, -40, place, 6), (0, 2**24 - 1, -17, place, 7)),
    )
)


def _bin_of_double(low: float, high: float) -> Callable[..., Expression]:
    def build(value: Expression) -> Expression:
        return Expression(lift(bins.double_bin(value, DoubleGrid.of_bounds(low, high))))

    return build


DOUBLE_BINS: Final = tuple(
    Form(f"double_bin {low} {high}", ("f64",), _bin_of_double(low, high))
    for low, high in (
        *((0.0, 1000.0), (-1e12, 1e12), (-5e-324, 1e-300), (2.5, 2.75)),
        *((-(2.0**200), 2.0**200), (1e9, 1e9 + 10), (-1e6, -1e-6), (0.0, 2.0**-60)),
    )
)

CHOICES: Final = (
    *_each("equal", iter(_COMPARED), operator.eq),
    *_each("unequal", iter(_COMPARED), operator.ne),
    *_each("less", iter(_COMPARED), operator.lt),
    *_each("at_most", iter(_COMPARED), operator.le),
    *_each("greater", iter(_COMPARED), operator.gt),
    *_each("at_least", iter(_COMPARED), operator.ge),
    Form("both", ("bool", "bool"), operator.and_),
    Form("either", ("bool", "bool"), operator.or_),
    Form("negated", ("bool",), operator.invert),
    *_each("is_null", _same(1), lambda a: a.is_null()),
    *_each("fill_null", _same(2), lambda a, b: a.fill_null(b)),
    *_each("coalesce", _same(2), lambda a, b: a.coalesce(b, a)),
    Form("fill_nan", ("f64", "f64"), lambda a, b: a.fill_nan(b)),
    Form("fill_nan None", ("f64",), lambda a: a.fill_nan(None)),
    Form("fill_nan 0", ("f64",), lambda a: a.fill_nan(0)),
    *(
        Form("when", ("bool", kind), lambda a, b: when(a).then(b).otherwise(None))
        for kind in EXTREMES
    ),
    Form(
        "when two",
        ("bool", "bool", "bool"),
        lambda a, b, c: when(a).then(1).when(b & c).then(None).otherwise(3),
    ),
    *_each(
        "is_in",
        _single_types("i64", "f64"),
        lambda a: a.is_in([1, 2.5, math.nan, 2**53]),
    ),
    *_each("is_in i64", _single_types("i64", "f64"), lambda a: a.is_in([7, 2**53 + 1])),
    *_each("is_in nothing", _same(1), lambda a: a.is_in([])),
    Form("is_in text", ("text",), lambda a: a.is_in(["a", "", "\x00"])),
    Form("is_in bool", ("bool",), lambda a: a.is_in([True])),
    Form("is_in date", ("date",), lambda a: a.is_in({DAY(1, 1, 1)})),
    Form(
        "is_in time", ("time",), lambda a: a.is_in([TIME(1, 1, 1), TIME(2024, 2, 29)])
    ),
    *_each(
        "bin", _single_types("i64", "f64"), lambda a: a.bin([-10, 0, 1, 10, 2**53 + 1])
    ),
    *_each(
        "bin f64",
        _single_types("i64", "f64"),
        lambda a: a.bin([-math.inf, 0, 0.5, math.inf]),
    ),
    *_each(
        "bin right",
        _single_types("i64", "f64"),
        lambda a: a.bin(Bins([-10, 0, 1, 10], right=True)),
    ),
    *_each(
        "bin open",
        _single_types("i64", "f64"),
        lambda a: a.bin(Bins([0, 1, 10], ["'", "b"], right=True, include_ends=False)),
    ),
    *_each(
        "bin open left",
        _single_types("i64", "f64"),
        lambda a: a.bin(Bins([0, 1], include_ends=False)),
    ),
    *_each("greatest", _same(2), lambda a, b: a.greatest(b)),
    *_each("least", _same(2), lambda a, b: a.least(b)),
    Form("least of three", ("f64",), lambda a: a.least(1.5, a)),
    Form("bin date", ("date",), lambda a: a.bin([DAY(1, 1, 1), DAY(2000, 12, 31)])),
    Form("bin time", ("time",), lambda a: a.bin([TIME(1, 1, 1), TIME(2024, 2, 29)])),
)

TEXTS: Final = (
    Form("lower", ("text",), lambda a: a.lower()),
    Form("upper", ("text",), lambda a: a.upper()),
    Form("length", ("text",), lambda a: a.length()),
    *(
        Form(
            f"slice {start} {length}",
            ("text",),
            lambda a, s=start, n=length: a.slice(s, n),
        )
        for start in (0, 1, 3, 2**31 - 1, -1, -2, -700, 1 - 2**31)
        for length in (None, 0, 1, 2, 2**31 - 1)
    ),
    *(
        Form(
            f"{end} {taken!r}",
            ("text",),
            lambda a, e=end, t=taken: type(a).__dict__[e](a, t),
        )
        for end in ("strip_start", "strip_end")
        for taken in (" \t\n", "a", "ab", "é0-", "\x00 ")
    ),
    Form("substring from", ("text", "i64"), lambda a, b: a.substring(b, 3)),
    Form("substring until", ("text", "i64"), lambda a, b: a.substring(1, b)),
    Form("substring of two", ("text", "i64"), lambda a, b: a.substring(b, b + 2)),
    Form("substring but last", ("text",), lambda a: a.substring(0, a.length() - 1)),
    *(
        Form(
            f"piece {mark!r} {place}",
            ("text",),
            lambda a, m=mark, n=place: a.piece(m, n),
        )
        for mark in (" ", "a", "aa", "-", "\x00", "é", ".")
        for place in (1, 2, -1, -2, 2**31 - 1, 1 - 2**31)
    ),
    Form("contains", _SHORT, lambda a, b: a.contains(b)),
    Form("starts_with", _SHORT, lambda a, b: a.starts_with(b)),
    Form("ends_with", _SHORT, lambda a, b: a.ends_with(b)),
    Form("find", _SHORT, lambda a, b: a.find(b)),
    *(
        Form(f"like {pattern}", ("text",), lambda a, p=pattern: a.like(p, escape="!"))
        for pattern in (
            *("", "%", "%%", "_", "a", "a%", "%a", "%a%", "a%a", "aa%aa", "%ab_ba%"),
            *("_%", "%_", "__", "%2%_-%1", "!%", "!_!!", "\\", "%\x00%", "e_", "%'%"),
            *("2024-__-%T%:__", "%a%b%a%b%", "é", "_\U0010ffff"),
        )
    ),
    *(
        Form(f"split {mark!r}", ("text",), lambda a, mark=mark: a.split(mark))
        for mark in (" ", "a", "aa", "-", "\x00", "é", "'", ".")
    ),
    *(
        Form(
            f"strptime {to} {form}", ("text",), lambda a, f=form, t=to: a.strptime(f, t)
        )
        for to, form in (
            ("date", "%Y-%m-%d"),
            ("date", "%d%m%Y"),
            ("time", "%Y-%m-%dT%H:%M:%S.%f"),
            ("time", "%Y-%m-%d %H:%M%z"),
        )
    ),
    *(
        Form(f"strftime {form}", (kind,), lambda a, form=form: a.strftime(form))
        for kind, form in (
            ("date", "%Y-%m-%d"),
            ("date", "%d%m%Y 'x' %%"),
            ("time", "%Y/%m/%d %H:%M:%S.%f"),
        )
    ),
    Form("map_values", ("text",), lambda a: a.map_values({"a": 1, None: 2}, 3)),
    *(
        Form(f"matches {pattern}", ("text",), lambda a, p=pattern: a.matches(p))
        for pattern in (
            *(
                "",
                "a",
                "a*",
                "(a|b)*",
                ".",
                ".*",
                ".+e.*",
                "[^a]*",
                "[a-c]{2,4}",
                "é|ß",
            ),
            *(r"\d{4}-\d\d-\d\d.*", r"\s*[+-]?\d+\s*", r"\W+", "(ab)*", "((a?)*b?)*"),
            *(
                "[\x00-\x1f]|a\x00b",
                r"[\]\-x]*",
                "(|a)(b|)c?((){100}){100}",
                "👩.*",
                r"\.?\D*",
            ),
        )
    ),
    *(
        Form(f"extract {part} {at}", ("text",), lambda a, p=part, n=at: a.extract(p, n))
        for part, at in (
            *(
                ("", 0),
                ("a|ab", 0),
                ("(.)(.)?", 2),
                (r"(\d+)-(\d\d)", 1),
                ("(é|ß)$", 1),
            ),
            *(("^([^-]*)-", 1), ("[\x00-\x1f]|👩.", 0), ("(?:(a)|b){2,3}", 1)),
        )
    ),
    *(
        Form(
            f"replace_matches {part}",
            ("text",),
            lambda a, p=part, n=new: a.replace_matches(p, n),
        )
        for part, new in (
            (r"\D", ""),
            ("a|ab", "\\"),
            (r"^\s+", " "),
            ("[^a]{2}$", "é"),
        )
    ),
    Form("concat", _SHORT, lambda a, b: a.concat(b, "'", a)),
    Form("strip", ("text",), lambda a: a.strip()),
    Form("strip letters", ("text",), lambda a: a.strip("a0\u00a0-'")),
    Form("lowercase", ("text",), lambda a: a.lowercase()),
    Form("uppercase", ("text",), lambda a: a.uppercase()),
    Form("replace", ("text",), lambda a: a.replace("a", "")),
    Form("replace grows", ("text",), lambda a: a.replace("aa", "é'x")),
    Form("replace mark", ("text",), lambda a: a.replace("\u0301", "\x00")),
    Form("normalize", ("text",), lambda a: a.normalize()),
)

SPELLING: Final = Spelling()

_CASTS: Final = (
    *(("i64", "f64"), ("i64", "text"), ("i64", "bool"), ("f64", "i64")),
    *(("bool", "i64"), ("bool", "f64"), ("bool", "text")),
    *(("text", to) for to in ("i64", "f64", "bool", "date", "time")),
    *(("date", "time"), ("date", "text"), ("time", "date"), ("time", "text")),
    *((kind, kind) for kind in EXTREMES),
)

OTHERS: Final = (
    *(Form(f"cast {to}", (kind,), lambda a, to=to: a.cast(to)) for kind, to in _CASTS),
    *(
        Form(
            f"read {to}",
            ("text",),
            lambda a, to=to: a.call(READ, a, to=to, spelling=SPELLING),
        )
        for to in ("i64", "f64", "bool", "date", "time")
    ),
    *(
        Form(part, (kind,), lambda a, part=part: type(a).__dict__[part](a))
        for kind in ("date", "time")
        for part in ("year", "month", "day", "weekday")
    ),
    Form("hour", ("time",), lambda a: a.hour()),
    Form("minute", ("time",), lambda a: a.minute()),
    Form("second", ("time",), lambda a: a.second()),
    *(
        Form(f"truncate {unit}", (kind,), lambda a, unit=unit: a.truncate(unit))
        for kind, units in (
            ("date", ("year", "quarter", "month", "week", "day")),
            ("time", ("year", "quarter", "month", "week", "day", "hour")),
            ("time", ("minute", "second")),
        )
        for unit in units
    ),
    Form("days_between", ("date", "date"), lambda a, b: a.days_between(b)),
    Form("days_between", ("time", "time"), lambda a, b: a.days_between(b)),
    Form("seconds_between", ("time", "time"), lambda a, b: a.seconds_between(b)),
    Form("add_days", ("date", "i64"), lambda a, b: a.add_days(b)),
    Form("add_days", ("time", "i64"), lambda a, b: a.add_days(b)),
    *(
        Form("add_months", (kind, "i64"), lambda a, b: a.add_months(b))
        for kind in ("date", "time")
    ),
    *(
        Form(f"add_months {many}", (kind,), lambda a, n=many: a.add_months(n))
        for kind in ("date", "time")
        for many in (1, -2, 25, -119_988)
    ),
    Form("add_days 1", ("date",), lambda a: a.add_days(1)),
    Form("add_seconds", ("time", "i64"), lambda a, b: a.add_seconds(b)),
    Form("add_hours", ("time", "i64"), lambda a, b: a.add_hours(b)),
    Form("utc_offset", ("time",), lambda a: a.utc_offset("America/New_York")),
    Form("local_time", ("time",), lambda a: a.local_time("Europe/Berlin")),
    Form("utc_offset fixed", ("time",), lambda a: a.utc_offset("Etc/GMT-3")),
    Form("add_seconds 3600", ("time",), lambda a: a.add_seconds(-3600)),
    *_each("literal", _same(1), lambda a: a.is_null() & lit(None, "bool")),
)

TOPICS: Final[Mapping[str, tuple[Form, ...]]] = {
    "arithmetic": ARITHMETIC,
    "numbers": NUMBERS,
    "portions": PORTIONS,
    "double_bins": DOUBLE_BINS,
    "choices": CHOICES,
    "texts": TEXTS,
    "others": OTHERS,
}
FORMS: Final = tuple(form for forms in TOPICS.values() for form in forms)
