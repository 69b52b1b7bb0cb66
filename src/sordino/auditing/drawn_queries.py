"""Random questions about the tables of `worlds`: every step, in any order.

Steps are drawn from the columns that there are, so most questions are sound; a refusal
is one of ours and ends the draw.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import sordino as sd
from sordino.aggregations.aggregation import AbstractAggregation
from sordino.auditing.dice import Dice
from sordino.data.limits import AbstractConstraint, AbstractTruncation
from sordino.errors import SordinoError
from sordino.expressions.schema import Schema
from sordino.query.steps import Relation
from sordino.session.tables import Catalog

ENDS: Final = (
    (0, 10),
    (-20, 10),
    (0, "7.5"),
    ("-0.3", "0.1"),
    (2, 3),
    (0, 2**40),
    (-(2**62), 2**33),
)
"""Bounds to clamp to: wide, narrow, one-sided, and off every lattice."""
AGGREGATIONS: Final[
    dict[str, Callable[[str, tuple[Any, ...]], AbstractAggregation]]
] = {
    "count": lambda _column, _ends: sd.count(),
    "count_ids": lambda _column, _ends: sd.count_ids(),
    "count_distinct": lambda column, _ends: sd.count_distinct(column),
    "sum": lambda column, ends: sd.sum(column, *ends, nulls="drop"),
    "sum, missing as 3": lambda column, ends: sd.sum(column, *ends, nulls=3),
    "mean": lambda column, ends: sd.mean(column, *ends, nulls="drop"),
    "variance": lambda column, ends: sd.variance(column, *ends, nulls="drop"),
    "stdev": lambda column, ends: sd.stdev(column, *ends, nulls="drop"),
    "median": lambda column, ends: sd.median(column, *ends, nulls="drop"),
    "quantiles": lambda column, ends: sd.quantiles(
        column, ["0.25", "0.75"], *ends, nulls="drop"
    ),
    "quantiles, extremes too": lambda column, ends: sd.quantiles(
        column, ["0", "0.5", "1"], *ends, nulls="drop"
    ),
    "min": lambda column, ends: sd.min(column, *ends, nulls="drop"),
    "max": lambda column, ends: sd.max(column, *ends, nulls="drop"),
    "histogram": lambda column, _ends: sd.histogram(column, [0, 2, 8]),
    "covariance": lambda column, ends: sd.covariance(
        [column], {column: ends} if ends else None, nulls="drop"
    ),
    "bounds": lambda column, _ends: sd.bounds(column, up_to=-6, nulls="drop"),
    "bounds of a size": lambda column, _ends: sd.bounds(
        column, up_to=-6, nulls="drop", signed=False
    ),
}
"""Every aggregation, by the column that it is about and the bounds it clamps to."""
_WORDS: Final = ("a", "b", "a ")
_LONGEST: Final = 4


@final
@dataclass(frozen=True)
class Scene:
    """A query on its way, the columns that it has, and where names are known."""

    dice: Dice
    catalog: Catalog
    query: sd.Query
    relation: Relation

    @property
    def schema(self) -> Schema:
        """The columns that there are."""
        return self.relation.schema

    def names(self, *types: str) -> list[str]:
        """Return the columns of some types, of any type if none is given."""
        return [
            name
            for name, column in self.schema.columns
            if not types or column.type in types
        ]

    def one(self, *types: str) -> str:
        """Draw a column of some types, or one that may not be there."""
        return self.dice.one(self.names(*types) or ["g"])

    def groupable(self) -> list[str]:
        """Return the columns that can mark groups."""
        return self.names("i64", "text", "bool")

    def then(self, query: sd.Query) -> "Scene":
        """Return the scene after one more step."""
        relation = self.relation
        for step in query.steps[len(self.query.steps) :]:
            relation = step.apply(relation, self.catalog)
        return Scene(self.dice, self.catalog, query, relation)


Step: TypeAlias = Callable[[Scene], sd.Query]


def draw_query(dice: Dice, catalog: Catalog, steps: Sequence[Step] = ()) -> Scene:
    """Draw a query of some steps, and sometimes a view; a refused step is left out."""
    if dice.chance(1, 4) and "seen" not in catalog.relations:
        catalog.view("seen", _walk(dice, catalog, steps).query)
    return _walk(dice, catalog, steps)


def _walk(dice: Dice, catalog: Catalog, steps: Sequence[Step]) -> Scene:
    """Draw a query of a table or a view."""
    query = sd.table(dice.one([*catalog.relations]))
    scene = Scene(dice, catalog, query, query.resolve(catalog))
    for _ in range(dice.below(_LONGEST + 1)):
        try:
            scene = scene.then(dice.one(steps or STEPS)(scene))
        except SordinoError:
            continue
    return scene


def draw_request(scene: Scene) -> sd.Request:
    """Draw what is asked of the rows of a query, of groups that are known or not."""
    dice = scene.dice
    by = dice.several(scene.groupable(), 0, 2)
    limit, ids = scene.relation.contribution.most_rows(), scene.relation.ids
    if ids is not None and (limit is None or dice.chance(1, 4)):
        scene = scene.then(bound_ids(scene, by))
    names = [name for name in AGGREGATIONS if ids is not None or name != "count_ids"]
    asked_for: dict[str, Any] = {
        f"answer {place}": aggregation(scene, name)
        for place, name in enumerate(dice.several(names, 1, 3))
    }
    asked_for["coverage"] = dice.chance(1, 3)
    if not by:
        return scene.query.agg(**asked_for)
    if dice.chance(2, 3):
        return scene.query.group_by(by).agg(**asked_for)
    if len(by) > 1 and dice.chance(1, 2):
        return scene.query.group_by(by[0], keys(scene, by[1:])).agg(**asked_for)
    return scene.query.group_by(keys(scene, by)).agg(**asked_for)


def aggregation(scene: Scene, name: str) -> Any:
    """Draw the column and the bounds of an aggregation."""
    column = scene.one("i64", "f64")
    known = column in scene.schema and scene.schema[column].bounds is not None
    ends: tuple[Any, ...] = scene.dice.one(((), *ENDS) if known else ENDS)
    return AGGREGATIONS[name](column, ends)


def keys(scene: Scene, by: Iterable[str]) -> sd.KeySet:
    """Return public keys, of which some have rows."""
    pools: dict[str, list[Any]] = {
        "i64": [0, 1, 3],
        "text": ["a", "b", "[0, 2)"],
        "bool": [True, False],
    }
    return sd.KeySet.from_dict({name: pools[scene.schema[name].type] for name in by})


def bound_ids(scene: Scene, by: Sequence[str]) -> sd.Query:
    """Bound ids in a way that fits the groups."""
    dice, groups = scene.dice, list(by) or scene.groupable()[-1:]
    most, each = dice.between(1, 3), dice.between(1, 3)
    options: tuple[tuple[AbstractConstraint, ...], ...] = (
        (sd.MaxRowsPerID(most),),
        (sd.MaxGroupsPerID(groups, most), sd.MaxRowsPerGroupPerID(groups, each)),
        (sd.MaxRowsPerGroupPerID(groups, each), sd.MaxGroupsPerID(groups, most)),
        (
            sd.MaxRowsPerID(dice.between(1, 5)),
            sd.MaxGroupsPerID(groups, most),
            sd.MaxRowsPerGroupPerID(groups[:1], each),
        ),
    )
    return scene.query.enforce(*dice.one(options))


def _filter(scene: Scene) -> sd.Query:
    cell = sd.col(scene.one())
    number = sd.col(scene.one("i64", "f64"))
    return scene.query.filter(
        scene.dice.one((
            ~cell.is_null(),
            number > 0,
            sd.col(scene.one("text")).is_in(["a", "b"]),
            ~(number <= 2) | cell.is_null(),
        ))
    )


def _with_columns(scene: Scene) -> sd.Query:
    """Write a column anew, or add one."""
    dice = scene.dice
    name = dice.one([*scene.names(), "n", "m"])
    return scene.query.with_columns(**{name: dice.one(_CELLS)(scene)})


_CELLS: Final[Sequence[Callable[[Scene], Any]]] = (
    lambda scene: sd.col(scene.one("text")).fill_null("a"),
    lambda scene: sd.lit(scene.dice.one(_WORDS)),
    lambda scene: (
        sd
        .when(sd.col(scene.one("i64")) > 1)
        .then("a")
        .otherwise(sd.col(scene.one("text")))
    ),
    lambda scene: sd.col(scene.one("i64")).cast("text"),
    lambda scene: sd.col(scene.one("text")).strip(),
    lambda scene: sd.col(scene.one("i64")) % 2,
    lambda scene: sd.col(scene.one("i64")) + sd.col(scene.one("i64")),
    lambda scene: sd.col(scene.one("f64")).cast("i64"),
    lambda scene: sd.col(scene.one("i64")) / sd.col(scene.one("i64")),
    lambda scene: sd.col(scene.one("f64")).fill_nan(1.0),
    lambda scene: sd.col(scene.one("text")).length(),
    lambda scene: sd.col(scene.one()),
    lambda _: 1,
)


def _rewritten(scene: Scene) -> sd.Query:
    """Put rows of different groups into one, under the old name."""
    cell = scene.dice.one((sd.lit("a"), sd.col(scene.one("text")).fill_null("a")))
    return scene.query.with_columns(g=cell)


def _enforced_on_groups(scene: Scene) -> sd.Query:
    dice = scene.dice
    groups, each = dice.between(1, 2), dice.between(1, 2)
    return scene.query.enforce(
        sd.MaxGroupsPerID("g", groups), sd.MaxRowsPerGroupPerID("g", each)
    )


def _per_id(scene: Scene) -> sd.Query:
    """Make one row for each id, or each id and group, of one or two columns."""
    dice = scene.dice
    by = dice.several(scene.groupable(), 0, 1)
    names = [dice.one(("x", "y", "n", "h")) for _ in range(2)]
    answers = {name: dice.one(_OF_ONE)(scene) for name in names if name not in by}
    return scene.query.per_id(*by, **answers)


_OF_ONE: Final[Sequence[Callable[[Scene], Any]]] = (
    lambda _: sd.count(),
    lambda scene: sd.count_distinct(scene.one()),
    lambda scene: sd.sum(
        scene.one("i64", "f64"),
        *scene.dice.one(ENDS),
        nulls=scene.dice.one(("drop", 1)),
    ),
    lambda scene: sd.sum(scene.one("i64"), nulls="drop"),
    lambda scene: sd.mean(scene.one("i64", "f64"), *scene.dice.one(ENDS), nulls="drop"),
    lambda scene: scene.dice.one((sd.min, sd.max))(
        scene.one("i64", "f64", "bool", "date"), nulls="drop"
    ),
    lambda scene: scene.dice.one((sd.min, sd.max))(
        scene.one("i64", "f64"), *scene.dice.one(ENDS), nulls="drop"
    ),
)
"""What may be asked of the rows of one id."""


def _rename(scene: Scene) -> sd.Query:
    """Exchange the names of two columns, or give one a new name."""
    dice = scene.dice
    name, *rest = dice.several(scene.names(), 1, 2)
    return scene.query.rename({name: rest[0], rest[0]: name} if rest else {name: "new"})


def _select(scene: Scene) -> sd.Query:
    return scene.query.select(*scene.dice.several(scene.names(), 2, 6))


def _treat_missing(scene: Scene) -> sd.Query:
    dice, query = scene.dice, scene.query
    float_, text, whole = scene.one("f64"), scene.one("text"), scene.one("i64")
    options: tuple[Callable[[], sd.Query], ...] = (
        lambda: query.drop_nulls(scene.one()),
        lambda: query.drop_nulls(),
        lambda: query.drop_nan(),
        lambda: query.fill_null(**{text: "a"}),
        lambda: query.fill_null(**{whole: 1}),
        lambda: query.fill_nan(**{float_: 1.0}),
        lambda: query.replace_infinity(**{float_: (-5, 5)}),
    )
    return dice.one(options)()


def _bin(scene: Scene) -> sd.Query:
    name = scene.dice.one((None, "g", "n"))
    return scene.query.bin(scene.one("i64", "f64"), [0, 2, 8], name)


def _flat_map(scene: Scene) -> sd.Query:
    function, returns = scene.dice.one(_FUNCTIONS)
    return scene.query.flat_map(
        function, returns, max_rows=scene.dice.one((2, 1, 3, 0, None))
    )


def _explode(scene: Scene) -> sd.Query:
    name = scene.one("list[i64]")
    return scene.query.flat_map(name, max_rows=scene.dice.one((2, 1, 3, 0, None)))


def _map_rows(scene: Scene) -> sd.Query:
    name = scene.dice.one(("n", "g", "h"))
    return scene.query.with_columns(
        sd.udf(lambda row: {name: len(row["codes"])}, returns={name: "i64"})
    )


def _twice(row: dict[str, Any]) -> Any:
    """Make two rows, both of one group."""
    del row
    return [{"g": "a"}, {"g": "a"}]


def _count_rows(row: dict[str, Any]) -> Any:
    """Make as many rows as a column says; fail where it says nothing."""
    return [{"n": place} for place in range(row["x"] % 5)]


def _spread_list(row: dict[str, Any]) -> Any:
    """Make rows without end, in different groups."""
    del row
    number = 0
    while number < 50:
        yield {"h": number}
        number += 1


_FUNCTIONS: Final = (
    (_twice, {"g": "text"}),
    (_count_rows, {"n": "i64"}),
    (_spread_list, {"h": "i64"}),
)


def _join_public(scene: Scene) -> sd.Query:
    dice = scene.dice
    shared = [name for name in ("g", "h", "x", "y") if name in scene.schema]
    return scene.query.join_public(
        dice.one(("wards", "rates")),
        on=dice.several(shared, 1, 2),
        how=dice.one(("inner", "left")),
    )


def _join_private(scene: Scene) -> sd.Query:
    dice = scene.dice
    other = dice.one([*scene.catalog.relations])
    if scene.relation.ids is not None:
        more = dice.several([name for name in ("g", "h") if name in scene.schema], 0, 1)
        return scene.query.join_private(other, on=["id", *more])
    on = dice.several([name for name in ("g", "h") if name in scene.schema], 1, 2)
    return scene.query.join_private(
        other, on=on, left=truncation(dice), right=truncation(dice)
    )


def truncation(dice: Dice) -> AbstractTruncation:
    """Draw a truncation of one side of a join."""
    most = dice.between(0, 3)
    return sd.DropExcess(most) if most else sd.DropNonUnique()


def _enforce(scene: Scene) -> sd.Query:
    dice = scene.dice
    return scene.query.enforce(*(constraint(scene) for _ in range(dice.between(1, 3))))


def constraint(scene: Scene) -> AbstractConstraint:
    """Draw a limit."""
    dice = scene.dice
    columns = dice.several(scene.groupable(), 1, 2) or ["g"]
    limit = dice.between(1, 3)
    options: tuple[AbstractConstraint, ...] = (
        sd.MaxRowsPerID(limit),
        sd.MaxGroupsPerID(columns, limit),
        sd.MaxRowsPerGroupPerID(columns, limit),
    )
    return dice.one(options)


STEPS: Final[tuple[Step, ...]] = (
    _filter,
    _with_columns,
    _with_columns,
    _rename,
    _select,
    _treat_missing,
    _bin,
    _flat_map,
    _explode,
    _map_rows,
    _join_public,
    _join_public,
    _join_private,
    _join_private,
    _enforce,
    _enforce,
    _per_id,
)
"""Every step of a query; those that multiply rows or bound them come oftener."""
JOINS_PUBLIC: Final[tuple[Step, ...]] = (_join_public,)
JOINS_PRIVATE: Final[tuple[Step, ...]] = (_join_private,)
BOUNDS: Final[tuple[Step, ...]] = (_enforce,)
SELF_JOINS: Final[tuple[Step, ...]] = (_enforced_on_groups, _join_private)
REWRITTEN: Final[tuple[Step, ...]] = (_enforced_on_groups, _rewritten)
PLAIN: Final[tuple[Step, ...]] = (_filter,)
PER_ID: Final[tuple[Step, ...]] = (_enforce, _per_id)
