"""ROLLUP, CUBE and GROUPING SETS: several ways to group the same rows."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, islice, product
from typing import Final, TypeAlias

from sqlglot import exp

from sordino.query.sql.reading import Clause

Set: TypeAlias = tuple[Clause, ...]
MOST_SETS: Final = 64
_WITH: Final[Mapping[str, type[exp.Expr]]] = {"rollup": exp.Rollup, "cube": exp.Cube}
"""How Spark says it behind the columns: GROUP BY a, b WITH ROLLUP."""


def grouping_sets(group: Clause) -> list[Set] | None:
    """Return the sets of expressions that rows are grouped by, None for a plain one."""
    parts = group.each("expressions")
    behind = [name for name in _WITH if group.has(name)]
    if not behind and not any(isinstance(part.node, _SEVERAL) for part in parts):
        return None
    ways: list[list[Set]] = []
    for part in parts:
        rule = _RULES.get(part.kind)
        elements = [] if rule is None else _composites(part)
        ways.append([(part,)] if rule is None else _some(rule(elements)))
    for name in behind:
        for words in group.each(name):
            _refuse_behind(words.look(), ways)
            ways = [_some(_RULES[_WITH[name]]([(part,) for part in parts]))]
    _refuse_many(group, ways)
    return [sum(each, ()) for each in product(*ways)]


def _some(sets: Iterator[Set]) -> list[Set]:
    """Return sets, of too many no more than show that there are."""
    return list(islice(sets, MOST_SETS + 1))


def _composites(clause: Clause) -> list[Set]:
    """Return what stands in the brackets, some of it in brackets of its own."""
    return [_composite(element) for element in clause.each("expressions")]


def _composite(clause: Clause) -> Set:
    """Return the expressions of one element."""
    if clause.kind is exp.Tuple:
        return tuple(column.bare() for column in clause.each("expressions"))
    if isinstance(clause.node, _SEVERAL):
        raise clause.refusal(
            "ROLLUP, CUBE and GROUPING SETS do not stand within each other here",
            "Write each set of columns: GROUPING SETS ((a, b), (a), ()).",
        )
    return (clause.bare(),)


def _rollup(parts: list[Set]) -> Iterator[Set]:
    """Yield all parts, then one fewer each time, down to none."""
    for size in range(len(parts), -1, -1):
        yield sum(parts[:size], ())


def _cube(parts: list[Set]) -> Iterator[Set]:
    """Yield every selection of the parts, the largest first."""
    for size in range(len(parts), -1, -1):
        for chosen in combinations(parts, size):
            yield sum(chosen, ())


def _sets(parts: list[Set]) -> Iterator[Set]:
    """Yield the sets as they are written."""
    yield from parts


def _refuse_behind(clause: Clause, ways: list[list[Set]]) -> None:
    """Refuse WITH ROLLUP behind columns that are several groupings already."""
    if clause.has("expressions") or any(len(way) > 1 for way in ways):
        raise clause.refusal(
            "WITH ROLLUP and WITH CUBE stand behind plain columns",
            "Write each set of columns: GROUPING SETS ((a, b), (a), ()).",
        )


def _refuse_many(group: Clause, ways: list[list[Set]]) -> None:
    """Refuse more groupings than one release should have."""
    number = 1
    for way in ways:
        number *= len(way)
    if number > MOST_SETS:
        raise group.refusal(
            f"GROUP BY has more than {MOST_SETS} groupings here",
            "Ask for fewer: GROUPING SETS ((a, b), (a), ()).",
        )


_SEVERAL: Final = (exp.Rollup, exp.Cube, exp.GroupingSets)
_RULES: Final[Mapping[type[exp.Expr], Callable[[list[Set]], Iterator[Set]]]] = {
    exp.Rollup: _rollup,
    exp.Cube: _cube,
    exp.GroupingSets: _sets,
}
