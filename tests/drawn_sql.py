# ruff: noqa: S608 statements are what is drawn here
"""Statements of SQL drawn from a grammar, and tables small enough to see each cell.

Every row stands many times, so that no group falls below a threshold. Rows and keys
hold what engines disagree on: missing values, texts of all cases and scripts, negative
and fractional numbers, ends of months, equal values.
"""

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, final

import duckdb
import pyarrow as pa

MIDNIGHT: Final = dt.datetime(2025, 1, 1)  # noqa: DTZ001 UTC without a zone
DASH: Final = "'-'"
LETTERS: Final = "'a '"
LETTER: Final = "'a'"
PADS: Final = ("'*'", "'xy'")
SPREAD: Final = "spread"
"""The name of the column that a variance or its root is in."""
_NEW_YEAR: Final = "TIMESTAMP '2025-01-01'"
_PATTERNS: Final = ("b", "^a", "[0-9]+$", "a.b", "^(a|b)+$", r"\s", r"a|[^\s]b")
_PARTS: Final = ("(a|ab)b?", "([a-z])-?", r"^(-?\d)\.", "(b)$", "a(b)?", "(.)[^a]")
_MONTH: Final = "'%Y-%m'"
_TENS: Final = ("1e15", "1e-4", "10, 1000")
_LOGARITHM: Final = "LN(CLAMP(j, 1, 9))"
_ALL: Final = "id, i, j, f, s, b, d, t"
_FIRST_DAY: Final = "'2025-01-01'"
TIMES: Final = 3
"""How often each row stands in the table."""
_TEXTS: Final = (
    *("a", "b", "ab", "A", " b ", "", "Été", "x%y", "aab", "ΑΣ", "\ta"),
    *("12", " -3 ", "2.5", "-1.5", "1e2", "a-b-a", ".5", "a\n-b"),
)
_DOUBLES: Final = (0.0, 0.5, 1.5, 2.5, -2.5, -3.25, 7.0, 100.0, 0.1, -0.5)
_FORM: Final = pa.schema([
    *(("id", pa.int64()), ("i", pa.int64()), ("j", pa.int64()), ("f", pa.float64())),
    *(("s", pa.string()), ("b", pa.bool_()), ("d", pa.date32())),
    ("t", pa.timestamp("us")),
])


def visits(seed: int, rows: int = 40, people: int | None = None) -> pa.Table:
    """Return a table with something missing in every column but the ids and j.

    With a number of people these have several rows, and others stand for each who have
    the same; else an id has the same row several times.
    """
    dice = random.Random(seed)

    def some(draw: Callable[[], Any]) -> Any:
        return None if dice.random() < 0.15 else draw()

    day = dt.date(2024, 12, 20)
    listed = [
        {
            "id": at if people is None else at % people,
            "i": some(lambda: dice.randint(-9, 9)),
            "j": dice.randint(-4, 12),
            "f": some(lambda: dice.choice(_DOUBLES)),
            "s": some(lambda: dice.choice(_TEXTS)),
            "b": some(lambda: dice.random() < 0.5),
            "d": some(lambda: day + dt.timedelta(dice.randint(0, 90))),
            "t": some(
                lambda: MIDNIGHT + dt.timedelta(seconds=dice.randint(-7000, 10**6))
            ),
        }
        for at in range(rows)
    ]
    if people is None:
        return pa.Table.from_pylist(listed * TIMES, schema=_FORM)
    others = (row | {"id": row["id"] + n * people} for n in range(3) for row in listed)
    return pa.Table.from_pylist(list(others), schema=_FORM)


PLACES: Final = pa.table({
    "s": ["a", "b", "ab", None],
    "place": ["north", "south", "north", "nowhere"],
    "size": [1, 2, None, 4],
})


def stays(table: pa.Table) -> pa.Table:
    """Return another table of the same people, some of whom have two rows in it."""
    people = sorted(set(table["id"].to_pylist()))
    ids = [one for one in people for _ in range(one % 3)]
    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "m": pa.array([one % 5 for one in ids], pa.int64()),
    })


def oracle(table: pa.Table) -> duckdb.DuckDBPyConnection:
    """Return DuckDB on the same rows, with CLAMP as it is meant here."""
    connection = duckdb.connect()
    connection.register("v", table)
    connection.register("w", stays(table))
    connection.register("places", PLACES)
    connection.execute(
        "CREATE MACRO clamp(x, a, b) AS "
        # NaN counts as missing in an aggregate; for DuckDB it is above all numbers
        "CASE WHEN isnan(x::DOUBLE) THEN NULL "
        "WHEN x < a THEN a WHEN x > b THEN b ELSE x END"
    )
    return connection


@final
@dataclass
class Grammar:
    """One draw of a statement after the other."""

    dice: random.Random
    keys: list[str] = field(default_factory=list)
    people: bool = False
    """Whether rows may be grouped by person first."""

    def one(self, *options: str) -> str:
        return self.dice.choice(options)

    def often(self, chance: float) -> bool:
        """Tell whether something happens this time."""
        return self.dice.random() < chance

    def whole(self, low: int, high: int) -> int:
        return self.dice.randint(low, high)

    def number(self, depth: int, *, whole: bool = False) -> str:
        if depth <= 0 or self.often(0.3):
            plain = ["i", "j", str(self.whole(0, 5))]
            return self.one(*plain, *([] if whole else ["f", "1.5"]))
        a = self.number(depth - 1, whole=whole)
        b = self.number(depth - 1, whole=whole)
        n = self.number(depth - 1, whole=True)
        forms = [
            f"({a} {self.one('+', '-', '*')} {b})",
            f"({a} {self.one('+', '-', '*')} {b})",
            f"({n} // {self.one('2', '3', '7')})",
            f"({n} % {self.one('2', '3', '-5')})",
            f"COALESCE({self.one('i', 'j')}, {self.number(0, whole=True)})",
            f"CASE WHEN {self.truth(depth - 1)} THEN {n} ELSE {self.whole(0, 5)} END",
            f"CASE {self.one('i', 'j')} WHEN 1 THEN {n} WHEN 2 THEN NULL END",
            f"ABS({a})",
            f"LENGTH({self.text(depth - 1)})",
            f"{self.one('YEAR(d)', 'MONTH(d)', 'EXTRACT(DAY FROM d)', 'QUARTER(d)')}",
            self.one("HOUR(t)", "EXTRACT(MINUTE FROM t)", "EXTRACT(ISODOW FROM d)"),
            f"(d - DATE '2025-01-{self.whole(10, 28)}')",
            f"DATE_DIFF('day', d, {self.one('t', 'd')})",
            f"STRPOS({self.text(depth - 1)}, {self.one(chr(39) + 'a' + chr(39), 's')})",
            f"CAST({self.one('b', 'i', a, 'f', 'FLOOR(f)', 'ROUND(f)')} AS BIGINT)",
            f"TRY_CAST({self.one('s', self.text(depth - 1))} AS BIGINT)",
            self.one("WEEK(d)", "DAYOFWEEK(d)", "EXTRACT(DOW FROM t)", "ISOYEAR(d)"),
            f"DATE_PART('{self.one('month', 'week', 'dow', 'year', 'doy')}', d)",
            f"DATE_DIFF('{self.one('month', 'quarter', 'year')}', d, t)",
            f"DATE_DIFF('{self.one('hour', 'minute', 'second')}', {_NEW_YEAR}, t)",
            f"DAY({self.moment()})",
            f"SIGN({a})",
            f"{self.one('GREATEST', 'LEAST')}({n}, {self.one('i', 'j')})",
            f"NULLIF({n}, {self.whole(0, 3)})",
            f"ROUND({n}, {self.one('-1', '-2', '0')})",
            f"-{n}",
            f"CAST({self.truth(depth - 1)} AS INTEGER)",
        ]
        if not whole:
            forms += [
                f"({a} / {self.one('2', '4', 'NULLIF(j, 0)', 'j')})",
                f"{self.one('FLOOR', 'CEIL', 'ROUND')}({a})",
                f"ROUND(f, {self.whole(0, 2)})",
                f"SQRT(ABS({a}))",
                f"LN(ABS({a}) + 1)",
                f"{self.one('LOG', 'LOG10')}(ABS({n}) + {self.one('1', '9')})",
                f"FLOOR(LOG({self.one(*_TENS)} * GREATEST({n}, 1)))",
                f"ROUND({a}, {self.one('-1', '-2')})",
                f"EXP(LEAST({a}, 3))",
                f"POWER({self.one('i', 'f')}, {self.whole(1, 6)})",
                f"CAST({self.one(n, a)} AS DOUBLE)",
                f"TRY_CAST({self.text(depth - 1)} AS DOUBLE)",
                f"({n} {self.one('+', '-', '*')} {self.one('0.5', '0.1', '2.25')})",
                f"({a} * (1 - 0.1))",
                f"({a} % {self.one('2', '1.5', 'j')})",
                f"({a} // {self.one('2', '1.5', 'f')})",
                f"TRUNC({a})",
            ]
        return self.one(*forms)

    def text(self, depth: int) -> str:
        if depth <= 0 or self.often(0.4):
            return self.one("s", "s", "'a'", "'b'")
        a, b = self.text(depth - 1), self.text(depth - 1)
        return self.one(
            f"UPPER({a})",
            f"LOWER({a})",
            f"TRIM({a})",
            f"TRIM({a}, 'a ')",
            f"({a} || {b})",
            f"(s || {self.one('i', 'b', 'd', 'f')})",
            f"CONCAT({a}, {b}, {self.one('i', 'NULL', 's')})",
            f"SUBSTRING({a}, {self.one('1', '2', '0')}, {self.whole(0, 3)})",
            f"{self.one('LEFT', 'RIGHT')}({a}, {self.whole(-1, 3)})",
            f"REPLACE({a}, 'a', {self.one(chr(39) * 2, chr(39) + 'xy' + chr(39))})",
            f"CASE WHEN {self.truth(depth - 1)} THEN {a} END",
            f"COALESCE({a}, 'none')",
            f"NULLIF({a}, 'a')",
            f"CAST({self.one('i', 'b', 'd')} AS VARCHAR)",
            f"{self.one('LTRIM', 'RTRIM')}({a}{self.one('', ', ' + LETTERS)})",
            f"{self.one('LPAD', 'RPAD')}({a}, {self.whole(0, 5)}, {self.one(*PADS)})",
            f"REPEAT({a}, {self.whole(0, 3)})",
            f"SPLIT_PART({a}, {self.one(DASH, LETTER)}, {self.one('1', '2', '-1')})",
            f"SUBSTRING({a}, {self.one('2', '-2')})",
            f"{a}[{self.one('', '-2', '2', '0')}:{self.one('', '-2', '1', '3')}]",
            f"{a}[{self.one('1', '2', '-1', '0', '9')}]",
            f"REGEXP_EXTRACT({a}, '{self.one(*_PATTERNS, *_PARTS)}')",
            f"REGEXP_EXTRACT({a}, '{self.one(*_PARTS)}', 1)",
            f"REGEXP_REPLACE({a}, '{self.one(*_PATTERNS, *_PARTS)}', 'xy')",
            rf"REGEXP_REPLACE({a}, '{self.one(*_PARTS)}', '<\1>')",
            f"REGEXP_REPLACE({a}, '{self.one(*_PARTS)}', '{self.one('', '-')}', 'g')",
            f"{self.one('DAYNAME', 'MONTHNAME')}({self.one('d', 't')})",
            f"STRFTIME({self.one('d, ' + _MONTH, _MONTH + ', t')})",
        )

    def moment(self) -> str:
        return self.one(
            *("d", "t", "CAST(t AS DATE)", "d + 3", "d - j", "CAST(d AS TIMESTAMP)"),
            f"d + INTERVAL {self.whole(1, 40)} DAY",
            f"{self.one('d', 't')} + INTERVAL {self.whole(1, 40)} MONTH",
            f"d - INTERVAL '{self.whole(1, 9)}' {self.one('YEAR', 'QUARTER')}",
            f"LAST_DAY({self.one('d', 't')})",
            f"t - INTERVAL '{self.whole(1, 40)}' {self.one('HOUR', 'MINUTE', 'WEEK')}",
            f"DATE_TRUNC('{self.one('month', 'week', 'year', 'day')}', d)",
            f"DATE_TRUNC('{self.one('hour', 'quarter', 'minute')}', t)",
        )

    def truth(self, depth: int) -> str:
        if depth > 0 and self.often(0.3):
            a, b = self.truth(depth - 1), self.truth(depth - 1)
            return self.one(f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})")
        compared = self.one("<", "<=", ">", ">=", "=", "<>")
        no = self.one("", "NOT ")
        number = self.number(depth - 1)
        return self.one(
            f"{number} {compared} {self.number(depth - 1)}",
            f"{self.text(depth - 1)} {compared} {self.text(depth - 1)}",
            f"{self.one('i', 's', 'd', 'b', 'f')} IS {no}NULL",
            f"b IS {no}{self.one('TRUE', 'FALSE')}",
            f"{self.one('i', 'j')} {no}IN (1, 2, {self.whole(-3, 3)})",
            f"{number} {no}BETWEEN {self.whole(-3, 1)} AND {self.whole(0, 6)}",
            f"s {no}LIKE '{self.one('a%', '%b', '%a%', 'a', '%', 'x%y', 'a_', '_')}'",
            f"s LIKE '{self.one('%a%b%', '_%', 'x!%_', '')}' ESCAPE '!'",
            f"{self.text(depth - 1)} {no}LIKE '%a'",
            f"{self.text(depth - 1)} {no}ILIKE '{self.one('A%', '%é', 'a_', 'B')}'",
            f"REGEXP_MATCHES({self.text(depth - 1)}, '{self.one(*_PATTERNS)}')",
            f"s SIMILAR TO '{self.one('a+', '[a-z]*', 'a|b')}'",
            f"{self.one('i', 'j')} {compared} {self.one('2.5', '-0.5', '3.0', '1.25')}",
            f"{self.one('i', 'j')} {no}IN (1, {self.one('j', '2.5', '3.0', 'i + 1')})",
            self.one("b", "NOT b", "b = TRUE", "d >= '2025-01-06'", "t < '2025-01-02'"),
            f"{self.moment()} {compared} {self.one('d', 't', _FIRST_DAY)}",
            f"i IS {no}DISTINCT FROM {self.one('j', '2')}",
            f"{self.one('STARTS_WITH', 'CONTAINS')}({self.text(0)}, 'a')",
            f"s IN ('a', 'b', {self.text(0)})",
            f"s {no}IN (SELECT s FROM places WHERE size {compared} 1)",
            f"{self.one('i', 'j', 'f')} {no}IN (SELECT size FROM places)",
        )

    def aggregate(self, depth: int) -> str:
        """Return a question about a group."""
        number = self.number(depth)
        kept = f" FILTER (WHERE {self.truth(depth)})" if self.often(0.2) else ""
        wide = f"CLAMP({number}, -20, 50)"
        return self.one(
            "COUNT(*)",
            f"COUNT(*){kept}",
            f"COUNT({self.one(number, self.text(depth), 's', 'd', '1', 'id')}){kept}",
            f"COUNT(DISTINCT {self.one('i', 's', 'd', number, self.text(1), 'id')})",
            f"COUNT_IF(COALESCE({self.truth(depth)}, FALSE))",
            f"SUM({wide}){kept}",
            f"SUM({wide})",
            f"SUM(CASE WHEN {self.truth(depth)} THEN 1 ELSE {self.whole(-2, 0)} END)",
            f"AVG({wide}){kept}",
            f"AVG({wide})",
            f"SUM({number})",
            f"SUM({self.one('b', 'b::INT', 'EXP(CLAMP(f, 0, 1))', _LOGARITHM)})",
            self.one("SUM(DISTINCT i)", "BOOL_AND(b)", "MAX(s)", "ANY_VALUE(i)"),
        )

    def spread(self, depth: int) -> str:
        """Return a question about how far the values of a group lie apart."""
        number = self.number(depth)
        return self.one(
            f"{self.one('VAR_POP', 'STDDEV_POP')}(CLAMP({number}, -20, 50))",
            f"{self.one('VAR_SAMP', 'STDDEV')}(CLAMP({number}, 0, 9))",
        )

    def answer(self, depth: int) -> str:
        if self.often(0.7):
            return self.aggregate(depth)
        a = self.aggregate(depth)
        return self.one(
            f"{a} {self.one('+', '-', '*')} {self.aggregate(depth)}",
            f"100 * {a} - 1",
            f"{a} / NULLIF(COUNT(*), 0)",
            f"{a} / COUNT(*)",
            f"{a} / COUNT({self.one('i', 's')})",
            self.one("1", "'all'"),
            f"CASE WHEN COUNT(*) > {self.whole(5, 40)} THEN {self.one('1', a)} END",
        )

    def key(self) -> str:
        return self.one(
            *("s", "b", "j", "i", "d", "f"),
            self.text(1),
            self.number(1, whole=True),
            f"CASE WHEN {self.truth(1)} THEN 'x' ELSE 'y' END",
            *("YEAR(d)", "DATE_TRUNC('month', d)", "CAST(t AS DATE)"),
        )

    def of_one(self, kind: str) -> str:
        """Return an aggregate of one person's rows, of a type."""
        whole, number = self.number(1, whole=True), self.number(1)
        forms = {
            "i": ["COUNT(*)", f"COUNT({number})", f"SUM({whole})", f"MIN({whole})"],
            "j": ["COUNT(*)", "COUNT(DISTINCT s)", "MAX(j) - MIN(j)", f"SUM({whole})"],
            "f": [f"AVG({whole})", f"SUM(CLAMP({number}, -9, 50))", f"MAX({number})"],
            "s": [
                "CASE WHEN COUNT(*) > 4 THEN 'a' ELSE 'b' END",
                "CASE WHEN BOOL_OR(b) THEN 'a' END",
                f"CASE MIN({whole}) WHEN 1 THEN 'ab' ELSE 'x%y' END",
                self.one("CASE COUNT(DISTINCT s) WHEN 1 THEN 'a' END", "MIN(s)"),
            ],
            "b": ["BOOL_OR(b)", "BOOL_AND(b)", f"BOOL_OR({self.truth(1)})"],
            "d": ["MIN(d)", "MAX(d)", "MAX(CAST(t AS DATE))"],
            "t": ["MIN(t)", "MAX(t)"],
        }
        return self.one(*forms[kind])

    def persons(self) -> str:
        by = self.one("", "s", "b", "j", "YEAR(d)")
        group = by if by in {"s", "b", "j"} else ""
        made = [f"{self.of_one(name)} AS {name}" for name in "ijfsbdt" if name != group]
        selected = ", ".join(["id", *([group] if group else []), *made])
        where = f" WHERE {self.truth(1)}" if self.often(0.5) else ""
        keys = f"id, {by}" if by else "id"
        having = " HAVING COUNT(*) > 3" if self.often(0.3) else ""
        return f"(SELECT {selected} FROM v{where} GROUP BY {keys}{having}) q"

    def source(self) -> str:
        if self.people and self.often(0.3):
            return self.one(
                "v JOIN w USING (id)",
                "v JOIN w ON v.id = w.id",
                f"v JOIN (SELECT id FROM w WHERE m > {self.whole(0, 2)}) x USING (id)",
                f"v JOIN {self.persons().removesuffix(' q')} p ON v.id = p.id",
            )
        if self.people and self.often(0.7):
            return self.persons()
        return self.one(
            *("v", "v", "v", "v AS t1", "(SELECT * FROM v) q"),
            self.union(),
            f"(SELECT {_ALL}, {self.number(1)} AS z FROM v WHERE {self.truth(1)}) q",
            f"(SELECT *, {self.number(1)} AS z FROM v) q",
            "(SELECT id, i + 1 AS i, j, f, UPPER(s) AS s, b, d, t FROM v) q",
            "v JOIN places USING (s)",
            "v LEFT JOIN places USING (s)",
            "v JOIN places p ON v.s = p.s",
        )

    def union(self) -> str:
        """Return the rows of a table by conditions of which no row meets two."""
        values = ["a", "b", "A"][: self.whole(2, 3)]
        selects = [
            f"SELECT {self.one('*', _ALL)} FROM v WHERE s = '{s}' AND {self.truth(1)}"
            for s in values
        ]
        return f"({' UNION ALL '.join(selects)}) q"

    def statement(self) -> str:
        """Return a statement; the names of its keys are kept."""
        depth = self.whole(0, 2)
        keys = [self.key() for _ in range(int(self.one("0", "1", "1", "2")))]
        names = {"s", "b", "j", "i", "d", "f"}
        selected = [
            key if key in names and self.often(0.5) else f"{key} AS k{at}"
            for at, key in enumerate(keys)
        ]
        form = self.one("text", "place", "alias", "all")
        by = [
            str(at + 1)
            if form == "place"
            else f"k{at}"
            if form == "alias" and selected[at] != key
            else key
            for at, key in enumerate(keys)
        ]
        answers = [f"{self.answer(depth)} AS a{at}" for at in range(self.whole(1, 3))]
        if self.often(0.2):
            answers.append(f"{self.spread(depth)} AS {SPREAD}")
        text = f"SELECT {', '.join([*selected, *answers])} FROM {self.source()}"
        if self.often(0.6):
            text += f" WHERE {self.truth(depth)}"
        if not keys and self.often(0.2):
            text += f" HAVING COUNT(*) > {self.whole(0, 20)}"
        if keys:
            text += " GROUP BY ALL" if form == "all" else f" GROUP BY {', '.join(by)}"
            if self.often(0.2):
                text += f" HAVING COUNT(*) > {self.whole(0, 20)}"
            if self.often(0.2):
                text += f" ORDER BY {self.one('a0', '1')} {self.one('', 'DESC')}"
        self.keys = [one.split(" AS ")[-1] for one in selected]
        return self.spelled(text)

    def with_options(self, text: str) -> str:
        """Return a statement with a clause of privacy that changes nothing."""
        unit = self.one("", "privacy_unit_column = id, ")
        clause = (
            f"WITH DIFFERENTIAL_PRIVACY OPTIONS ({unit}max_groups_contributed = 90)"
        )
        return text.replace("SELECT ", f"SELECT {clause} ", 1)

    def spelled(self, text: str) -> str:
        """Return a text with other spaces, comments and cases of its words."""
        if self.often(0.1):
            text = text.replace("SELECT", "select", 1).replace(" FROM ", "\nfrom\t", 1)
        if self.often(0.1):
            text = text.replace(" FROM ", " /* of whom */ FROM ", 1) + " -- end"
        if self.often(0.1):
            text = f"WITH w AS (SELECT * FROM v) {text}".replace(" FROM v ", " FROM w ")
        return text
