"""Whatever a text says is understood or refused: no argument of its tree is dropped."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

import pytest
from sqlglot import exp

import sordino as sd
from sordino.query.sql.from_clause import Tables
from sordino.query.sql.options import DIALECTS, Options
from sordino.query.sql.reading import Reading, read_statement, split_words
from sordino.query.sql.scope import RowScope
from sordino.query.sql.statement import Given, request_of
from tests.drawn_sql import PLACES, visits
from tests.effort import LATE, PROFILE

_TEXTS: Final = """
SELECT s, COUNT(*) AS n, COUNT(DISTINCT i) AS d FROM v GROUP BY s;
SELECT s AS k, SUM(CLAMP(i, 0, 9)) FILTER (WHERE b) AS n FROM v GROUP BY 1
    HAVING COUNT(*) > 3 ORDER BY n DESC NULLS FIRST LIMIT 3 OFFSET 1;
SELECT COUNT(i) AS n FROM v WHERE s NOT LIKE 'a%' AND NOT i IN (1, 2)
    OR j NOT BETWEEN 1 AND 3 AND s LIKE 'x!%' ESCAPE '!';
SELECT AVG(CLAMP(CASE i WHEN 1 THEN f ELSE 0.5 END, 0, 9)) AS n FROM v;
SELECT COUNT_IF(COALESCE(i, j, 0) = NULLIF(j, 3) AND b IS NOT TRUE) AS n FROM v;
SELECT YEAR(d) AS y, MAX(CLAMP(j, 0, 9)) AS n FROM v
    LEFT JOIN places p ON v.s = p.s WHERE p.size / 2 > 1 GROUP BY YEAR(d);
WITH w AS (SELECT s, i + 1 AS i FROM v WHERE b) SELECT COUNT(*) AS n FROM w;
SELECT COUNT(*) AS n FROM v WHERE EXTRACT(MONTH FROM d) = 3
    AND DATE_TRUNC('month', t) > TIMESTAMP '2025-01-01 00:00:00'
    AND d + INTERVAL 3 DAY > t AND DATE_DIFF('day', d, t) < 5 AND d - 3 < d;
SELECT COUNT(*) AS n FROM v WHERE SUBSTRING(s, 1, 2) = LEFT(s, 2) || 'a'
    AND CONCAT(s, 'b') = TRIM(s) AND REPLACE(s, 'a', 'b') = UPPER(s)
    AND STRPOS(s, 'a') = LENGTH(s) AND STARTS_WITH(s, 'a');
SELECT COUNT(*) AS n FROM v WHERE CAST(i AS DOUBLE) < ROUND(f, 1)
    AND GREATEST(i, j) % 3 = -i // 2
    AND SQRT(f) > POWER(f, 2) - FLOOR(f) * CEIL(f);
SELECT MEDIAN(CLAMP(f, 0, 9)) AS m,
    PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY CLAMP(i, 0, 9)) AS p FROM v;
SELECT DISTINCT s FROM (SELECT * FROM v) q;
SELECT AVG(CLAMP(n, 0, 9)) AS a FROM (SELECT id, s AS k, COUNT(*) AS n,
    MAX(i) - MIN(j) AS m FROM v WHERE b GROUP BY id, s HAVING COUNT(*) > 1) q
    WHERE n > 1 AND k = 'a' AND m > 2;
SELECT COUNT(*) AS n FROM (SELECT DISTINCT id, s FROM v) q;
SELECT s, j, COUNT(*) AS n FROM v
    GROUP BY GROUPING SETS ((s, j), s) HAVING COUNT(*) > 1;
SELECT s, j, COUNT(*) AS n FROM v
    GROUP BY s, GROUPING SETS ((j, b), i), CUBE(d);
SELECT s, COUNT(*) * 2 AS n FROM v JOIN places USING (s) GROUP BY ALL;
SELECT COUNT(*) AS n FROM v WHERE i IS DISTINCT FROM j AND IF(b, i, 2) > -(j)
"""
TEXTS: Final = tuple(" ".join(one.split()) for one in _TEXTS.split(";"))

VOID: Final = {
    "quoted": "a name that is found is found in quotes as well",
    "binary": "a mark of the dialect: texts of ours have no bytes",
    "big_int": "a mark of the dialect: our counts have 64 bits",
    "typed": "a mark of the dialect, which knows what its quotients are",
    "safe": "a mark of the dialect, likewise",
    "coalesce": "a mark of the dialect, which knows what CONCAT leaves out",
    "ignore_nulls": "a mark of the dialect, which knows what GREATEST leaves out",
    "is_nvl": "a mark of how COALESCE was spelled",
    "is_null": "the same",
    "zero_on_all_null": "a mark of the dialect",
    "requires_string": "a mark of the dialect",
    "date_part_boundary": "a mark of the dialect: days of dates have no parts",
    "input_type_preserved": "a mark of the dialect, which knows when a date stays one",
    "casts_non_integer_decimals": "a mark of the dialect",
    "negative_length_returns_empty": "a mark of the dialect: none is negative here",
    "nested": "a mark of the parser: a type with parts is refused",
}
"""Arguments that say nothing that is not known otherwise, and why."""
LESS: Final = {
    "table": "a column that only one table has is found without",
    "unit": "days are what is counted where nothing is said",
    "is_string": "an interval is the same in quotes",
}
"""What may be left out without a change, and why."""


def tables_of(text: str) -> Tables:
    """Return the tables of a session: of people, where a text asks for them by id."""
    person = sd.AddRowsWithID("id")
    session = sd.Session(
        tables={
            "v": sd.PrivateTable(
                visits(1), protects=person if " id, " in text else sd.AddOneRow()
            ),
            "places": sd.PublicTable(PLACES),
        },
        budget=sd.PureDP(1),
        engine="memory",
    )
    return Tables(session._desk.catalog, ("v",), ("places",), {})


def reading(text: str) -> Reading:
    spoken = DIALECTS["duckdb"]
    return read_statement(text, split_words(text, spoken), spoken)


def meaning(tree: Reading, tables: Tables) -> str:
    """Return the request of a tree as Python, or that it is refused."""
    try:
        found = request_of(tree, tables, Given.of((), {}, {}), Options(tree.text))
        tree.refuse_rest()
    except Exception as error:  # noqa: BLE001 a tree that no text has may break anything
        return f"refused: {type(error).__name__}"
    return repr(found)


@cache
def places() -> dict[str, list[tuple[int, str]]]:
    """Return what is asked of each text: by day one place of each kind, by night all.

    A kind is an argument, there or not, of a node beneath one of a type.
    """
    found: dict[Any, tuple[str, int, str]] = {}
    for text, at, node, name in every_place():
        kind = type(node), name, bool(node.args.get(name)), type(node.parent)
        more = (text, at) if PROFILE in LATE else node.arg_key
        found.setdefault((kind, more), (text, at, name))
    return {
        one: [(a, n) for text, a, n in found.values() if text == one] for one in TEXTS
    }


def every_place() -> Iterator[tuple[str, int, exp.Expr, str]]:
    trees = ((text, enumerate(reading(text).root.walk())) for text in TEXTS)
    for text, at, node in ((text, *one) for text, nodes in trees for one in nodes):
        for name in {**node.arg_types, **node.args}:
            if name not in VOID and not is_silent(node, name):
                yield text, at, node, name


def changed(text: str, at: int, name: str, change: Callable[[Any], Any]) -> Reading:
    tree = reading(text)
    node = next(islice(tree.root.walk(), at, None))
    node.set(name, change(node.args.get(name)))
    return tree


JUNK: Final[tuple[Callable[[Any], Any], ...]] = (
    lambda _: True,
    lambda _: exp.column("zzz"),
    lambda _: [exp.column("zzz")],
    lambda _: "zzz",
)


@pytest.mark.parametrize(
    "text",
    [TEXTS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in TEXTS[1:])],
)
def test_every_argument_is_taken_or_refused(text: str) -> None:
    """For any argument of any node: what is added is refused, or changes the request.

    The same for what is taken away.
    """
    tables = tables_of(text)
    plain = meaning(reading(text), tables)
    assert not plain.startswith("refused"), plain
    nodes = list(reading(text).root.walk())
    for at, name in places()[text]:
        node = nodes[at]
        if node.args.get(name):
            gone = meaning(changed(text, at, name, lambda _: None), tables)
            assert gone != plain or name in LESS, (node, name)
            continue
        for make in JUNK:
            more = meaning(changed(text, at, name, make), tables)
            assert more != plain, (node, name)


def is_silent(node: exp.Expr, name: str) -> bool:
    """Tell whether nothing hangs on an argument in any of the texts.

    Missing values are of no quantile, wherever they are sorted; and a query in FROM may
    have a name that nobody uses.
    """
    within = node.find_ancestor(exp.WithinGroup, exp.TableAlias)
    unused = isinstance(node, exp.Subquery) and name == "alias"
    return (
        unused
        or isinstance(within, exp.TableAlias)
        or (within is not None and name == "nulls_first")
    )


def test_a_rule_that_takes_too_much_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: tables whose sample is taken as understood."""
    plain = RowScope.find

    def greedy(self: RowScope, name: Any, of: Any) -> str:
        of_name = plain(self, name, of)
        name.scalar("temporary")
        return of_name

    monkeypatch.setattr(RowScope, "find", greedy)
    with pytest.raises(AssertionError):
        test_every_argument_is_taken_or_refused(TEXTS[0])
