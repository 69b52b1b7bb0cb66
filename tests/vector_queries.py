"""The questions of tests/vectors/query_sensitivity.json, as they are asked here.

Each is found by the words of the vectors; what has no equivalent here is not among
them. Answers are called "a".
"""

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Final, Literal

import sordino as sd
from sordino.data.units import AbstractUnit
from sordino.engines.memory import MemoryEngine
from sordino.noise.quantile_intervals import QuantileIntervals
from sordino.session.tables import Catalog, open_catalog

BIG: Final = {"id": ["i"], "g": ["a"], "h": ["b"], "x": [1], "y": [0.5], "k": ["c"]}
SMALL: Final = {"id": ["i"], "k": ["c"], "z": [1]}

UNITS: Final[Mapping[str, AbstractUnit]] = {
    "AddOneRow": sd.AddOneRow(),
    "AddMaxRows(3)": sd.AddMaxRows(3),
    "AddMaxRowsInMaxGroups(g,max_groups=4,max_rows_per_group=2)": (
        sd.AddMaxRowsInMaxGroups("g", 4, 2)
    ),
    "AddRowsWithID(id)": sd.AddRowsWithID("id"),
}

Step = Callable[[sd.Query], sd.Query]

KNOWN: Final = "ab"
"""The public keys of every group."""

AGGREGATIONS: Final[Mapping[str, Callable[[], Any]]] = {
    "count()": sd.count,
    "count() eps=0.1": sd.count,
    "count() eps=3": sd.count,
    "count() rho=0.1": sd.count,
    "count() [not grouping by g]": sd.count,
    "count() [group by other column]": sd.count,
    "count() [best of two]": sd.count,
    "count(mechanism=LAPLACE)": sd.count,
    "count(mechanism=GAUSSIAN)": sd.count,
    "count_distinct(id)": lambda: sd.count_distinct("id"),
    "count_distinct(id) no constraint": lambda: sd.count_distinct("id"),
    "count_distinct(x)": lambda: sd.count_distinct("x"),
    "sum(x,int,[0,10])": lambda: sd.sum("x", 0, 10),
    "sum(x,[0,10])": lambda: sd.sum("x", 0, 10),
    "sum(x,int,[-20,10])": lambda: sd.sum("x", -20, 10),
    "sum(x,int,[5,5]) equal bounds": lambda: sd.sum("x", 5, 5),
    "sum(y,float,[0,7.5])": lambda: sd.sum("y", 0, "7.5"),
    "sum(y,[0,7.5])": lambda: sd.sum("y", 0, "7.5"),
    "average(x,int,[0,10])": lambda: sd.mean("x", 0, 10),
    "average(x,[0,10])": lambda: sd.mean("x", 0, 10),
    "average(x,int,[0,11]) (odd width int)": lambda: sd.mean("x", 0, 11),
    "average(y,float,[0,10])": lambda: sd.mean("y", 0, 10),
    "average(y,[0,10])": lambda: sd.mean("y", 0, 10),
    "variance(y,float,[0,10])": lambda: sd.variance("y", 0, 10),
    "variance(y,[0,10])": lambda: sd.variance("y", 0, 10),
    "stdev(x,int,[0,10])": lambda: sd.stdev("x", 0, 10),
    "quantile(y,0.25,[0,10])": lambda: sd.quantile("y", "0.25", 0, 10),
    "quantile(y,0.5,[0,10])": lambda: sd.quantile("y", "0.5", 0, 10),
    "quantile(y,.5,[0,10])": lambda: sd.quantile("y", "0.5", 0, 10),
    "median(x,[0,10])": lambda: sd.median("x", 0, 10),
    "min(y,[0,10])": lambda: sd.min("y", 0, 10),
    "max(y,[0,10])": lambda: sd.max("y", 0, 10),
    "get_bounds(y)": lambda: sd.bounds("y", signed=False),
    "get_bounds(x)": lambda: sd.bounds("x", signed=False),
}


def _made(most: int) -> Step:
    """Make at most so many rows of one."""
    return lambda rows: rows.flat_map(
        lambda _row: [{"n": "a"}], {"n": "text"}, max_rows=most
    )


def _joined(
    other: str, left: sd.DropExcess, right: sd.DropExcess | sd.DropNonUnique
) -> Step:
    """Join another table on k, both sides truncated."""
    return lambda rows: rows.join_private(other, on="k", left=left, right=right)


def _bounded(groups: int, each: int) -> Step:
    """Bound the groups of an id, and the rows in each."""
    return lambda rows: rows.enforce(
        sd.MaxGroupsPerID("g", groups), sd.MaxRowsPerGroupPerID("g", each)
    )


STEPS: Final[Mapping[str, Step]] = {
    "": lambda rows: rows,
    "flat_map(max_rows=4).": _made(4),
    "flat_map(max_rows=4).flat_map(max_rows=2).": lambda rows: _made(2)(_made(4)(rows)),
    "flat_map grouping=True max_rows=4 ": _made(4),
    "join_public(multiplicity 1).": lambda rows: rows.join_public("pub1", on="g"),
    "join_public(multiplicity 3).": lambda rows: rows.join_public("pub3", on="g"),
    "join_public(multiplicity 3, how=left).": lambda rows: rows.join_public(
        "pub3", on="g", how="left"
    ),
    **{
        f"join_private(t2[AddOneRow], left=DropExcess({one}), right=DropExcess({two}"
        ")).": _joined("t2", sd.DropExcess(one), sd.DropExcess(two))
        for one in (1, 2)
        for two in (1, 2)
    },
    **{
        f"join_private(t2[AddOneRow], left=DropExcess({one}), right=DropNonUnique)"
        ".": _joined("t2", sd.DropExcess(one), sd.DropNonUnique())
        for one in (1, 2, 3)
    },
    "join_private(t5[AddMaxRows(5)], left=DropExcess(2), right=DropExcess(3)).": (
        _joined("t5", sd.DropExcess(2), sd.DropExcess(3))
    ),
    "join_private(self t, left=DropExcess(2), right=DropExcess(2)).": (
        _joined("t", sd.DropExcess(2), sd.DropExcess(2))
    ),
    "enforce(MaxRowsPerID(4)).": lambda rows: rows.enforce(sd.MaxRowsPerID(4)),
    "enforce(MaxGroupsPerID(g,1),MaxRowsPerGroupPerID(g,2)).": _bounded(1, 2),
    "enforce(MaxGroupsPerID(g,3),MaxRowsPerGroupPerID(g,2)).": _bounded(3, 2),
    "enforce(MaxGroupsPerID(g,9),MaxRowsPerGroupPerID(g,2)).": _bounded(9, 2),
    "enforce(MaxGroupsPerID(g,9),MaxRowsPerGroupPerID(g,2),MaxRowsPerID(4)).": (
        lambda rows: _bounded(9, 2)(rows).enforce(sd.MaxRowsPerID(4))
    ),
    "enforce(MaxGroupsPerID(g,2),MaxRowsPerGroupPerID(g,1),MaxRowsPerID(4)).": (
        lambda rows: _bounded(2, 1)(rows).enforce(sd.MaxRowsPerID(4))
    ),
    "enforce(MaxGroupsPerID only).": lambda rows: rows.enforce(
        sd.MaxGroupsPerID("g", 3)
    ),
    "enforce(MaxGroupsPerID(g,3)).": lambda rows: rows.enforce(
        sd.MaxGroupsPerID("g", 3)
    ),
    "enforce(MaxRowsPerID(5)) then flat_map(max_rows=4).": lambda rows: _made(4)(
        rows.enforce(sd.MaxRowsPerID(5))
    ),
    "enforce(MaxRowsPerID(5)) then flat_map then enforce(MaxRowsPerID(6)).": (
        lambda rows: _made(4)(rows.enforce(sd.MaxRowsPerID(5))).enforce(
            sd.MaxRowsPerID(6)
        )
    ),
    "enforce(MaxRowsPerID(5)) then join_public(multiplicity 3).": lambda rows: (
        rows.enforce(sd.MaxRowsPerID(5)).join_public("pub3", on="g")
    ),
    "enforce(MaxGroupsPerID(g,2),MaxRowsPerGroupPerID(g,2)) then join_public(mult 3)"
    ".": lambda rows: _bounded(2, 2)(rows).join_public("pub3", on="g"),
    "enforce(MaxRowsPerID(5)) join_private(t2 enforce MaxRowsPerID(2)) on id,k .": (
        lambda rows: rows.enforce(sd.MaxRowsPerID(5)).join_private(
            "t2 of two rows", on=["id", "k"]
        )
    ),
}
_GROUPS: Final = re.compile(
    r"(.*?)groupby\('?(\w)'?\)( \[auto partition selection\])?\."
)


def catalog(unit: AbstractUnit) -> Catalog:
    """Return the tables of the vectors, whose first one protects a unit."""
    ids = unit.id_column is not None
    small = {
        "t2": unit if ids else sd.AddOneRow(),
        "t5": unit if ids else sd.AddMaxRows(5),
    }
    made = open_catalog(
        MemoryEngine(),
        {
            "t": sd.PrivateTable(BIG, protects=unit, columns={"y": _NUMBER}),
            "pub1": sd.PublicTable({"g": ["a", "b"]}),
            "pub3": sd.PublicTable({"g": ["a", "a", "a", "b"]}),
        }
        | {name: sd.PrivateTable(SMALL, protects=one) for name, one in small.items()},
    )
    if ids:
        two = sd.table("t2").enforce(sd.MaxRowsPerID(2))
        made.relations["t2 of two rows"] = two.resolve(made)
    return made


_NUMBER: Final = sd.Column("f64", nullable=False, nan=False)


def asked(text: str, budget: sd.Budget) -> sd.Request | None:
    """Return the question of a text, None if there is none like it here.

    Where the family of noise is not said, it is that of the vectors: Laplace but under
    zero-concentrated privacy.
    """
    gaussian = "GAUSSIAN" in text or _is_concentrated(budget)
    family: Literal["laplace", "gaussian"] = "gaussian" if gaussian else "laplace"
    if text.startswith((
        "get_groups",
        "enforce(MaxGroupsPerID(g,3),MaxRowsPerGroupPerID(g,2)).get_groups",
    )):
        steps = STEPS[text.split("get_groups", maxsplit=1)[0]]
        return steps(sd.table("t")).group_by("g").keys()
    if text.startswith("histogram(x"):
        return sd.table("t").histogram("x", [0, 10, 20, 30], "a")
    found = _GROUPS.match(text)
    before, by, auto = found.groups() if found else (None, None, None)
    rest = text[found.end() :] if found else text
    if before is None:
        before, rest = _split(text)
    if before not in STEPS or rest not in AGGREGATIONS:
        return None
    rows, told = STEPS[before](sd.table("t")), AGGREGATIONS[rest]()
    if by is None:
        return rows.agg(noise=family, a=told)
    keys = by if auto else sd.KeySet.from_dict({by: list(KNOWN)})
    return rows.group_by(keys).agg(noise=family, a=told)


def _split(text: str) -> tuple[str, str]:
    """Return the steps and the aggregation of a text without groups."""
    for rest in AGGREGATIONS:
        if text.endswith(rest) and text.removesuffix(rest) in STEPS:
            return text.removesuffix(rest), rest
    return "?", "?"


def _is_concentrated(budget: sd.Budget) -> bool:
    """Tell whether a budget is one of zero-concentrated privacy."""
    return isinstance(budget, sd.ZCDP)


def numbers(mechanisms: Iterable[Any]) -> list[Fraction | float]:
    """Return what says how much noise each mechanism adds, as the vectors do."""
    return [_number(one) for one in mechanisms]


def _number(mechanism: Any) -> Any:
    """Return a scale, a variance, or the epsilon of a choice for each row."""
    match mechanism:
        case sd.Gaussian() | sd.DiscreteGaussian() | sd.GaussianThreshold():
            return mechanism.variance
        case sd.Laplace() | sd.Geometric() | sd.LaplaceThreshold():
            return mechanism.scale
        case QuantileIntervals():  # 17 parts in 20 of an epsilon, or of a rho
            root = 1 if isinstance(mechanism.noise, sd.Laplace) else 2
            return float(mechanism.quantiles.epsilon) / (17 / 20) ** (1 / root)
        case _:
            return mechanism.epsilon
