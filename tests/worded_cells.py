"""Every public verb of an expression, with calls that differ in one argument each."""

import operator
from datetime import UTC, date, datetime
from typing import Any, Final

import sordino as sd

_DAYS: Final = sd.col("days")
_COST: Final = sd.col("cost")
_WARD: Final = sd.col("ward")
_BORN: Final = sd.col("born")
_SEEN: Final = sd.col("seen")

CELLS: Final[dict[str, dict[str, Any]]] = {
    "col": {"": sd.col("days"), "name": sd.col("cost")},
    "lit": {
        "": sd.lit(1),
        "value": sd.lit(2),
        "type": sd.lit(1, "f64"),
        "text": sd.lit("1"),
        "truth": sd.lit(True),
        "date": sd.lit(date(2026, 1, 31)),
        "time": sd.lit(datetime(2026, 1, 31, tzinfo=UTC)),
        "missing": sd.lit(None, "i64"),
        "missing text": sd.lit(None, "text"),
        "tenth": sd.lit(0.1),
        "tenths": sd.lit(0.1 + 0.2),
        "NaN": sd.lit(float("nan")),
        "infinite": sd.lit(float("inf")),
        "minus infinite": sd.lit(float("-inf")),
    },
    "when": {
        "": sd.when(_DAYS > 1).then(1).otherwise(2),
        "condition": sd.when(_DAYS > 2).then(1).otherwise(2),
        "then": sd.when(_DAYS > 1).then(3).otherwise(2),
        "otherwise": sd.when(_DAYS > 1).then(1).otherwise(None),
        "missing": sd.when(_DAYS > 1).then(None).otherwise(1),
        "two": sd.when(_DAYS > 1).then(1).when(_DAYS > 2).then(1).otherwise(2),
    },
    **{
        word: {"": build(_DAYS, 2), "self": build(_COST, 2), "other": build(_DAYS, 3)}
        for word, build in {
            "__add__": operator.add,
            "__radd__": lambda one, other: other + one,
            "__sub__": operator.sub,
            "__rsub__": lambda one, other: other - one,
            "__mul__": operator.mul,
            "__rmul__": lambda one, other: other * one,
            "__truediv__": operator.truediv,
            "__rtruediv__": lambda one, other: other / one,
            "__floordiv__": operator.floordiv,
            "__rfloordiv__": lambda one, other: other // one,
            "__mod__": operator.mod,
            "__rmod__": lambda one, other: other % one,
            "__eq__": operator.eq,
            "__ne__": operator.ne,
            "__lt__": operator.lt,
            "__le__": operator.le,
            "__gt__": operator.gt,
            "__ge__": operator.ge,
        }.items()
    },
    "__and__": {
        "": (_DAYS > 1) & (_COST > 1),
        "self": (_DAYS > 2) & (_COST > 1),
        "other": (_DAYS > 1) & (_COST > 2),
    },
    "__or__": {
        "": (_DAYS > 1) | (_COST > 1),
        "self": (_DAYS > 2) | (_COST > 1),
        "other": (_DAYS > 1) | (_COST > 2),
    },
    "__rand__": {
        "": True & (_DAYS > 1),
        "self": True & (_DAYS > 2),
        "other": False & (_DAYS > 1),
    },
    "__ror__": {
        "": True | (_DAYS > 1),
        "self": True | (_DAYS > 2),
        "other": False | (_DAYS > 1),
    },
    "__invert__": {"": ~(_DAYS > 1), "self": ~(_DAYS > 2)},
    "__neg__": {"": -_DAYS, "self": -_COST},
    "abs": {"": _DAYS.abs(), "self": _COST.abs()},
    "is_null": {"": _DAYS.is_null(), "self": _COST.is_null()},
    "is_nan": {"": _COST.is_nan(), "self": (_COST + 1.0).is_nan()},
    "is_infinite": {"": _COST.is_infinite(), "self": (_COST + 1.0).is_infinite()},
    "fill_null": {
        "": _DAYS.fill_null(0),
        "self": (_DAYS + 1).fill_null(0),
        "value": _DAYS.fill_null(1),
    },
    "fill_nan": {
        "": _COST.fill_nan(0.0),
        "self": (_COST + 1.0).fill_nan(0.0),
        "value": _COST.fill_nan(None),
    },
    "coalesce": {
        "": _DAYS.coalesce(0),
        "self": (_DAYS + 1).coalesce(0),
        "others": _DAYS.coalesce(0, 0),
    },
    "replace_infinity": {
        "": _COST.replace_infinity(0, 100),
        "self": (_COST + 1.0).replace_infinity(0, 100),
        "low": _COST.replace_infinity(1, 100),
        "high": _COST.replace_infinity(0, 101),
    },
    "clip": {
        "": _DAYS.clip(0, 100),
        "self": _COST.clip(0, 100),
        "low": _DAYS.clip(1, 100),
        "high": _DAYS.clip(0, 101),
    },
    "round_down": {
        "": _COST.round_down(10),
        "self": (_COST + 1.0).round_down(10),
        "step": _COST.round_down(10.0),
    },
    "round": {
        "": _COST.round(),
        "self": (_COST + 1.0).round(),
        "digits": _COST.round(1),
    },
    "sqrt": {"": _COST.sqrt(), "self": (_COST + 1.0).sqrt()},
    "exp": {"": _COST.exp(), "self": (_COST + 1.0).exp()},
    "log": {"": _COST.log(), "self": (_COST + 1.0).log()},
    "power": {
        "": _COST.power(5),
        "self": (_COST + 1.0).power(5),
        "exponent": _COST.power(1.5),
    },
    **{
        word: {
            "": getattr(_DAYS, word)(2),
            "self": getattr(_DAYS.abs(), word)(2),
            "other": getattr(_DAYS, word)(3),
        }
        for word in ("quotient", "remainder")
    },
    **{
        word: {
            "": getattr(_DAYS, word)(2),
            "self": getattr(_DAYS.abs(), word)(2),
            "others": getattr(_DAYS, word)(2, 3),
        }
        for word in ("greatest", "least")
    },
    "floor": {"": _COST.floor(), "self": (_COST + 1.0).floor()},
    "ceil": {"": _COST.ceil(), "self": (_COST + 1.0).ceil()},
    "bin": {
        "": _DAYS.bin([0, 10, 20]),
        "self": _COST.bin([0, 10, 20]),
        "bins": _DAYS.bin([0, 10, 30]),
        "type": _DAYS.bin([0.0, 10.0, 20.0]),
        "names": _DAYS.bin(sd.Bins([0, 10, 20], names=["few", "many"])),
        "right": _DAYS.bin(sd.Bins([0, 10, 20], right=True)),
        "include_ends": _DAYS.bin(sd.Bins([0, 10, 20], include_ends=False)),
    },
    "is_in": {
        "": _WARD.is_in(["A", "B"]),
        "self": _WARD.strip().is_in(["A", "B"]),
        "values": _WARD.is_in(["A,B"]),
    },
    "cast": {
        "": _DAYS.cast("f64"),
        "self": _COST.cast("f64"),
        "to": _DAYS.cast("text"),
    },
    **{
        word: {"": getattr(_WARD, word)(), "self": getattr(_WARD.concat("x"), word)()}
        for word in ("lower", "upper", "lowercase", "uppercase", "length", "normalize")
    },
    "strip": {
        "": _WARD.strip(),
        "self": _WARD.concat("x").strip(),
        "letters": _WARD.strip(" "),
    },
    **{
        word: {
            "": getattr(_WARD, word)(),
            "self": getattr(_WARD.concat("x"), word)(),
            "letters": getattr(_WARD, word)(" "),
        }
        for word in ("strip_start", "strip_end")
    },
    "substring": {
        "": _WARD.substring(0, 2),
        "self": _WARD.concat("x").substring(0, 2),
        "start": _WARD.substring(1, 2),
        "end": _WARD.substring(0, _DAYS),
    },
    "piece": {
        "": _WARD.piece("-", 1),
        "self": _WARD.concat("x").piece("-", 1),
        "separator": _WARD.piece(";", 1),
        "place": _WARD.piece("-", -1),
    },
    "slice": {
        "": _WARD.slice(0),
        "self": _WARD.strip().slice(0),
        "start": _WARD.slice(1),
        "length": _WARD.slice(0, 0),
    },
    **{
        word: {
            "": getattr(_WARD, word)("a"),
            "self": getattr(_WARD.strip(), word)("a"),
            "other": getattr(_WARD, word)("b"),
        }
        for word in ("contains", "find", "starts_with", "ends_with")
    },
    "matches": {
        "": _WARD.matches("a+"),
        "self": _WARD.strip().matches("a+"),
        "pattern": _WARD.matches("a*"),
    },
    "extract": {
        "": _WARD.extract("(a)b"),
        "self": _WARD.strip().extract("(a)b"),
        "pattern": _WARD.extract("(a)c"),
        "group": _WARD.extract("(a)b", 1),
    },
    "replace_matches": {
        "": _WARD.replace_matches("a", ""),
        "self": _WARD.strip().replace_matches("a", ""),
        "pattern": _WARD.replace_matches("b", ""),
        "new": _WARD.replace_matches("a", "c"),
    },
    "like": {
        "": _WARD.like("a%"),
        "self": _WARD.strip().like("a%"),
        "pattern": _WARD.like("a_"),
        "escape": _WARD.like("a!%", escape="!"),
    },
    "concat": {
        "": _WARD.concat("a"),
        "self": _WARD.strip().concat("a"),
        "others": _WARD.concat("a", ""),
    },
    "replace": {
        "": _WARD.replace("a", "b"),
        "self": _WARD.strip().replace("a", "b"),
        "old": _WARD.replace("c", "b"),
        "new": _WARD.replace("a", "c"),
    },
    **{
        word: {
            "": getattr(_SEEN, word)(),
            "self": getattr(_SEEN.add_days(1), word)(),
        }
        for word in ("year", "month", "day", "weekday", "hour", "minute", "second")
    },
    "truncate": {
        "": _BORN.truncate("month"),
        "self": _SEEN.truncate("month"),
        "unit": _BORN.truncate("year"),
    },
    "days_between": {
        "": _BORN.days_between(date(2026, 1, 31)),
        "self": _BORN.add_days(1).days_between(date(2026, 1, 31)),
        "end": _BORN.days_between(date(2026, 2, 1)),
    },
    "seconds_between": {
        "": _SEEN.seconds_between(datetime(2026, 1, 31, tzinfo=UTC)),
        "self": _SEEN.add_days(1).seconds_between(datetime(2026, 1, 31, tzinfo=UTC)),
        "end": _SEEN.seconds_between(datetime(2026, 1, 31, 0, 0, 0, 1, tzinfo=UTC)),
    },
    "map_values": {
        "": _WARD.map_values({"A": 1}),
        "self": _WARD.strip().map_values({"A": 1}),
        "values": _WARD.map_values({"A": 2}),
        "otherwise": _WARD.map_values({"A": 1}, 0),
    },
    "split": {
        "": _WARD.split(";"),
        "self": _WARD.strip().split(";"),
        "separator": _WARD.split(","),
    },
    "strptime": {
        "": _WARD.strptime("%Y-%m-%d"),
        "self": _WARD.strip().strptime("%Y-%m-%d"),
        "layout": _WARD.strptime("%d.%m.%Y"),
        "to": _WARD.strptime("%Y-%m-%d", "date"),
    },
    "strftime": {
        "": _BORN.strftime("%Y-%m"),
        "self": _SEEN.strftime("%Y-%m"),
        "layout": _BORN.strftime("%Y"),
    },
    "add_seconds": {
        "": _SEEN.add_seconds(1),
        "self": _SEEN.add_days(1).add_seconds(1),
        "seconds": _SEEN.add_seconds(2),
    },
    "add_hours": {
        "": _SEEN.add_hours(1),
        "self": _SEEN.add_days(1).add_hours(1),
        "hours": _SEEN.add_hours(2),
    },
    "utc_offset": {
        "": _SEEN.utc_offset("Etc/GMT-1"),
        "self": _SEEN.add_days(1).utc_offset("Etc/GMT-1"),
        "zone": _SEEN.utc_offset("Etc/GMT-2"),
    },
    "local_time": {
        "": _SEEN.local_time("Etc/GMT-1"),
        "self": _SEEN.add_days(1).local_time("Etc/GMT-1"),
        "zone": _SEEN.local_time("Etc/GMT-2"),
    },
    "add_months": {
        "": _BORN.add_months(1),
        "self": _SEEN.add_months(1),
        "months": _BORN.add_months(_DAYS),
    },
    "add_days": {
        "": _BORN.add_days(1),
        "self": _SEEN.add_days(1),
        "days": _BORN.add_days(2),
    },
}
"""Verbs of expressions."""
