"""Every public verb of a request, and for each argument a call that differs in it.

`QUERIES[verb][""]` is a call, `QUERIES[verb][argument]` the same with another argument.
Further calls of a verb stand under other names. `requests` makes a question of each.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

import sordino as sd
from sordino.query.builder import Query
from sordino.session.charging import Identity, batch_identity, request_identity
from tests.worded_cells import CELLS
from tests.worded_figures import FIGURES

Ask = Callable[[Any], Any]

BUDGET: Final = sd.ApproxDP(1, "1e-6")
VISITS: Final = sd.table("visits")
BOUNDED: Final = VISITS.enforce(sd.MaxRowsPerID(2))
MORE: Final = VISITS.enforce(sd.MaxRowsPerID(3))
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B"]})
PAIRS: Final = sd.KeySet.from_dict({"ward": ["A", "B"], "days": [1, 2]})
SETS: Final = BOUNDED.group_by_sets("days", ("days", "ward")).agg(n=sd.count())

_ROWS: Final[dict[str, list[Any]]] = {
    "person": [1, 1, 2],
    "ward": ["A", "B", "A"],
    "days": [3, None, 8],
    "cost": [1.5, 2.5, None],
    "born": [date(1990, 1, 31), None, date(2000, 2, 29)],
    "seen": [datetime(2026, 1, 31, 12, tzinfo=UTC), None, None],
    "codes": [["a", "b"], [], None],
}
_STAYS: Final = {"person": [1], "ward": ["A"], "beds": [2]}
_OTHERS: Final = {"ward": ["A"], "days": [3], "beds": [2]}
TABLES: Final = {
    "visits": sd.PrivateTable(_ROWS, protects=sd.AddRowsWithID("person")),
    "stays": sd.PrivateTable(_STAYS, sd.AddRowsWithID("person")),
    "rows": sd.PrivateTable(_ROWS, protects=sd.AddOneRow()),
    "others": sd.PrivateTable(_OTHERS, protects=sd.AddOneRow()),
    "wards": sd.PublicTable({"ward": ["A", "B"], "days": [1, 2], "beds": [12, 30]}),
    "towns": sd.PublicTable({"ward": ["A", "B"], "days": [1, 2], "beds": [12, 31]}),
}


def session(**more: Any) -> sd.Session:
    """Return a session over tables of every kind."""
    return sd.Session(TABLES, sd.ApproxDP(100, "1e-3"), engine="memory", **more)


def said(opened: sd.Session, request: Any, budget: Any = BUDGET) -> Identity:
    """Return the words of a request, or of several by name."""
    known = batch_identity if isinstance(request, Mapping) else request_identity
    return known(request, opened._desk.catalog, budget, "key")


def counted(query: Query) -> Any:
    """Return a question about the rows of a query."""
    return query.agg(n=sd.count())


def with_cell(cell: Any) -> Any:
    """Return a question about rows with a column that an expression makes."""
    return counted(VISITS.with_columns(made=cell))


def aggregated(aggregation: Any) -> Any:
    """Return a question for one aggregation."""
    return BOUNDED.agg(found=aggregation)


def doubled(row: dict[str, Any]) -> dict[str, Any]:
    """Return a number."""
    return {"k": 2 * len(row)}


def halved(row: dict[str, Any]) -> dict[str, Any]:
    """Return another number."""
    return {"k": len(row) // 2}


_DAYS: Final = sd.col("days")
_COST: Final = sd.col("cost")

QUERIES: Final[dict[str, dict[str, Any]]] = {
    "table": {"": counted(sd.table("visits")), "name": counted(sd.table("rows"))},
    "select": {"": VISITS.select("ward"), "columns": VISITS.select("ward", "days")},
    "rename": {
        "": VISITS.rename({"ward": "place"}),
        "columns": VISITS.rename({"days": "place"}),
    },
    "filter": {"": VISITS.filter(_DAYS > 1), "condition": VISITS.filter(_DAYS > 2)},
    "with_columns": {
        "": VISITS.with_columns(k=_DAYS),
        "columns": VISITS.with_columns(k=_COST),
        "functions": VISITS.with_columns(sd.udf(doubled, {"k": "i64"})),
    },
    "udf": {
        "": VISITS.with_columns(sd.udf(doubled, {"m": "i64"}, name="a", version="1")),
        "function": VISITS.with_columns(sd.udf(halved, {"m": "i64"})),
        "returns": VISITS.with_columns(
            sd.udf(doubled, {"m": "f64"}, name="a", version="1")
        ),
        "name": VISITS.with_columns(
            sd.udf(doubled, {"m": "i64"}, name="b", version="1")
        ),
        "version": VISITS.with_columns(
            sd.udf(doubled, {"m": "i64"}, name="a", version="2")
        ),
    },
    "drop_nulls": {"": VISITS.drop_nulls(), "columns": VISITS.drop_nulls("days")},
    "drop_nan": {"": VISITS.drop_nan(), "columns": VISITS.drop_nan("cost")},
    "fill_null": {"": VISITS.fill_null(days=0), "values": VISITS.fill_null(days=1)},
    "fill_nan": {"": VISITS.fill_nan(cost=0.0), "values": VISITS.fill_nan(cost=1.0)},
    "replace_infinity": {
        "": VISITS.replace_infinity(cost=(0, 500)),
        "ends": VISITS.replace_infinity(cost=(0, 501)),
    },
    "bin": {
        "": VISITS.bin("days", [0, 10, 20]),
        "column": VISITS.bin("cost", [0, 10, 20]),
        "bins": VISITS.bin("days", [0, 10, 30]),
        "name": VISITS.bin("days", [0, 10, 20], name="range"),
    },
    "flat_map": {
        "": BOUNDED.flat_map(doubled, {"m": "i64"}, max_rows=2),
        "function": BOUNDED.flat_map(halved, {"m": "i64"}, max_rows=2),
        "returns": BOUNDED.flat_map(doubled, {"k": "i64"}, max_rows=2),
        "max_rows": BOUNDED.flat_map(doubled, {"m": "i64"}, max_rows=3),
        "column": BOUNDED.flat_map("codes", max_rows=2),
    },
    "join_public": {
        "": VISITS.join_public("wards", on="ward"),
        "table": VISITS.join_public("towns", on="ward"),
        "on": VISITS.join_public("wards", on=("ward", "days")),
        "how": VISITS.join_public("wards", on="ward", how="left"),
        "suffix": VISITS.join_public("wards", on="ward", suffix="_there"),
    },
    "join_private": {
        "": counted(
            sd.table("rows").join_private(
                "others", "ward", sd.DropExcess(2), sd.DropExcess(1)
            )
        ),
        "query": counted(
            sd.table("rows").join_private(
                sd.table("others").filter(sd.col("days") > 1),
                "ward",
                sd.DropExcess(2),
                sd.DropExcess(1),
            )
        ),
        "table": counted(
            sd.table("rows").join_private(
                "rows", "ward", sd.DropExcess(2), sd.DropExcess(1)
            )
        ),
        "on": counted(
            sd.table("rows").join_private(
                "others", "days", sd.DropExcess(2), sd.DropExcess(1)
            )
        ),
        "left": counted(
            sd.table("rows").join_private(
                "others", "ward", sd.DropNonUnique(), sd.DropExcess(1)
            )
        ),
        "right": counted(
            sd.table("rows").join_private(
                "others", "ward", sd.DropExcess(2), sd.DropNonUnique()
            )
        ),
        "suffix": counted(
            sd.table("rows").join_private(
                "others", "ward", sd.DropExcess(2), sd.DropExcess(1), suffix="_there"
            )
        ),
    },
    "enforce": {
        "": VISITS.enforce(sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerID(4)),
        "constraints": VISITS.enforce(sd.MaxRowsPerID(4)),
        "promise": VISITS.enforce(sd.MaxRowsPerID(4, at_most=9)),
    },
    "per_id": {
        "": counted(VISITS.per_id("ward", n=sd.count())),
        "columns": counted(VISITS.per_id(n=sd.count())),
        "aggregations": counted(VISITS.per_id("ward", n=sd.count_distinct("days"))),
        "bounds": counted(VISITS.per_id("ward", n=sd.sum("days", 0, 30, nulls=0))),
        "no bounds": counted(VISITS.per_id("ward", n=sd.sum("days", nulls=0))),
        "known bounds": VISITS.per_id(n=sd.mean("cost", 0, 30)).agg(s=sd.sum("n")),
        "given bounds": VISITS.per_id(n=sd.mean("cost", 0, 30)).agg(
            s=sd.sum("n", 0, 30)
        ),
        "known dates": VISITS.per_id(
            n=sd.min("born", date(2000, 1, 1), date(2000, 1, 9))
        ).agg(s=sd.median("n")),
    },
    "group_by": {
        "": BOUNDED.group_by("ward").agg(n=sd.count()),
        "columns": BOUNDED.group_by("ward", "days").agg(n=sd.count()),
        "expressions": BOUNDED.group_by(ill=sd.col("days") > 3).agg(n=sd.count()),
        "keys": BOUNDED.group_by(WARDS).agg(n=sd.count()),
        "other keys": BOUNDED.group_by(sd.KeySet.from_dict({"ward": ["A", "C"]})).agg(
            n=sd.count()
        ),
        "order": BOUNDED.group_by(PAIRS["days", "ward"]).agg(n=sd.count()),
        "pairs": BOUNDED.group_by(PAIRS).agg(n=sd.count()),
        "both kinds": BOUNDED.group_by("days", WARDS).agg(n=sd.count()),
    },
    "group_by_sets": {
        "": SETS["days"],
        "sets": SETS["days, ward"],
    },
    "marginals": {
        "": BOUNDED.marginals(PAIRS),
        "keyset": BOUNDED.marginals(WARDS * sd.KeySet.from_dict({"days": [1, 3]})),
        "order": BOUNDED.marginals(PAIRS, order=1),
        "totals": BOUNDED.marginals(PAIRS, totals={"ward": {"A": 1, "B": 2}}),
        "other totals": BOUNDED.marginals(PAIRS, totals={(): 3}),
        "tables": BOUNDED.marginals(PAIRS, tables=["ward", ("ward", "days")]),
        "weights": BOUNDED.marginals(PAIRS, weights={"ward": 2, (): "1/3"}),
        "hierarchies": BOUNDED.marginals(
            sd.KeySet.from_tuples([("A", 1), ("B", 2)], columns=("ward", "days")),
            order=1,
            hierarchies=[("ward", "days")],
        ),
    },
    "keys": {"": BOUNDED.group_by("ward").keys()},
    **FIGURES,
    "agg": {
        "": BOUNDED.agg(a=sd.count(), b=sd.count()),
        "noise": BOUNDED.agg(noise="gaussian", a=sd.count(), b=sd.count()),
        "weights": BOUNDED.agg(weights={"a": 2}, a=sd.count(), b=sd.count()),
        "coverage": BOUNDED.agg(coverage=True, a=sd.count(), b=sd.count()),
        "aggregations": BOUNDED.agg(b=sd.count(), a=sd.count()),
        "another": BOUNDED.agg(a=sd.count(), b=sd.count_ids()),
        "keys": BOUNDED.group_by("ward").agg(weights={"keys": 1}, n=sd.count()),
        "minimum": BOUNDED.group_by("ward").agg(n=sd.count()).suppress_below(5),
    },
    "histogram": {
        "": BOUNDED.histogram("days", [0, 1, 2]),
        "column": BOUNDED.histogram("cost", [0, 1, 2]),
        "bins": BOUNDED.histogram("days", [0, 1, 3]),
        "name": BOUNDED.histogram("days", [0, 1, 2], name="stays"),
    },
}
"""Verbs of queries, some of which need bounds or are not yet a question."""


def _bounded(word: str, **further: Any) -> dict[str, Any]:
    """Return calls of an aggregation of values between bounds."""
    base = {"column": "days", **further, "low": 0, "high": 30, "nulls": "drop"}
    base |= {"ddof": 0} if word in {"variance", "stdev"} else {}
    others = {"column": "cost", "low": -1, "high": "30.5", "nulls": 3}
    others |= {
        "probability": "0.6",
        "probabilities": ["0.1", "0.6"],
        "ddof": 1,
    }
    calls = {name: base | {name: others[name]} for name in base}
    return {
        name: getattr(sd, word)(**given) for name, given in ({"": base} | calls).items()
    }


_RANGES: Final = {"days": (0, 9), "cost": (0, 50)}
AGGREGATIONS: Final[dict[str, dict[str, Any]]] = {
    "count": {"": sd.count()},
    "count_ids": {"": sd.count_ids()},
    "count_distinct": {
        "": sd.count_distinct("ward"),
        "columns": sd.count_distinct("ward", "days"),
    },
    **{
        word: _bounded(word)
        for word in ("sum", "mean", "variance", "stdev", "median", "min", "max")
    },
    "share": {
        "": sd.share(sd.col("days") > 2),
        "condition": sd.share(sd.col("days") > 3),
    },
    "quantile": _bounded("quantile", probability="0.1"),
    "quantiles": _bounded("quantiles", probabilities=["0.1", "0.5"]),
    "histogram": {
        "": sd.histogram("days", [0, 1, 2]),
        "column": sd.histogram("cost", [0, 1, 2]),
        "bins": sd.histogram("days", [0, 1, 3]),
    },
    "covariance": {
        "": sd.covariance(["days", "cost"], _RANGES, nulls="drop"),
        "columns": sd.covariance(["cost", "days"], _RANGES, nulls="drop"),
        "bounds": sd.covariance(
            ["days", "cost"], _RANGES | {"days": (0, 8)}, nulls="drop"
        ),
        "nulls": sd.covariance(["days", "cost"], _RANGES, nulls=0),
    },
    "bounds": {
        "": sd.bounds("days", nulls="drop", signed=False),
        "column": sd.bounds("cost", nulls="drop", signed=False),
        "up_to": sd.bounds("days", up_to=31, nulls="drop", signed=False),
        "nulls": sd.bounds("days", nulls=0, signed=False),
        "signed": sd.bounds("days", nulls="drop"),
    },
}
"""Verbs of questions."""

BUDGETS: Final[dict[str, dict[str, Any]]] = {
    "PureDP": {"": sd.PureDP("0.5"), "epsilon": sd.PureDP("1/3")},
    "ApproxDP": {
        "": sd.ApproxDP("0.5", "1e-6"),
        "epsilon": sd.ApproxDP("sqrt(2)", "1e-6"),
        "delta": sd.ApproxDP("0.5", "1e-7"),
    },
    "ZCDP": {"": sd.ZCDP("0.5"), "rho": sd.ZCDP("1/3")},
    "ApproxZCDP": {
        "": sd.ApproxZCDP("0.5", "1e-6"),
        "rho": sd.ApproxZCDP("1/3", "1e-6"),
        "delta": sd.ApproxZCDP("0.5", "1e-7"),
    },
    "GaussianDP": {"": sd.GaussianDP("0.5"), "mu": sd.GaussianDP("sqrt(1/3)")},
    "Advantage": {"": sd.Advantage("0.1"), "most": sd.Advantage("0.2")},
    "ErrorRates": {
        "": sd.ErrorRates(fpr="0.01", tpr="0.03"),
        "fpr": sd.ErrorRates(fpr="0.02", tpr="0.03"),
        "tpr": sd.ErrorRates(fpr="0.01", tpr="0.04"),
    },
    "LaplaceLoss": {"": sd.LaplaceLoss("0.5"), "epsilon": sd.LaplaceLoss("1/3")},
    "GeometricLoss": {
        "": sd.GeometricLoss(2, 8),
        "shift": sd.GeometricLoss(3, 8),
        "scale": sd.GeometricLoss(2, 9),
    },
    "DiscreteGaussianLoss": {
        "": sd.DiscreteGaussianLoss(2, 8),
        "shift": sd.DiscreteGaussianLoss(3, 8),
        "variance": sd.DiscreteGaussianLoss(2, 9),
    },
    "RandomizedResponseLoss": {
        "": sd.RandomizedResponseLoss("0.5", 2),
        "epsilon": sd.RandomizedResponseLoss("1/3", 2),
        "categories": sd.RandomizedResponseLoss("0.5", 3),
    },
    "BoundedRangeLoss": {
        "": sd.BoundedRangeLoss("0.5"),
        "epsilon": sd.BoundedRangeLoss("1/3"),
    },
}
"""Budgets: every public loss and risk."""

BOUNDS: Final[dict[str, dict[str, Any]]] = {
    "MaxRowsPerID": {
        "": sd.MaxRowsPerID(2),
        "limit": sd.MaxRowsPerID(3),
        "at_most": sd.MaxRowsPerID(2, at_most=9),
    },
    "MaxGroupsPerID": {
        "": sd.MaxGroupsPerID("ward", 2),
        "columns": sd.MaxGroupsPerID(("ward", "days"), 2),
        "limit": sd.MaxGroupsPerID("ward", 3),
    },
    "MaxRowsPerGroupPerID": {
        "": sd.MaxRowsPerGroupPerID("ward", 2),
        "columns": sd.MaxRowsPerGroupPerID(("ward", "days"), 2),
        "limit": sd.MaxRowsPerGroupPerID("ward", 3),
    },
}
TRUNCATIONS: Final[dict[str, dict[str, Any]]] = {
    "DropExcess": {"": sd.DropExcess(2), "limit": sd.DropExcess(3)},
    "DropNonUnique": {"": sd.DropNonUnique()},
}
UNITS: Final[dict[str, dict[str, Any]]] = {
    "AddOneRow": {"": sd.AddOneRow()},
    "AddMaxRows": {"": sd.AddMaxRows(2), "max_rows": sd.AddMaxRows(3)},
    "AddMaxRowsInMaxGroups": {
        "": sd.AddMaxRowsInMaxGroups("ward", 2, 3),
        "column": sd.AddMaxRowsInMaxGroups("days", 2, 3),
        "max_groups": sd.AddMaxRowsInMaxGroups("ward", 3, 3),
        "max_rows_per_group": sd.AddMaxRowsInMaxGroups("ward", 2, 4),
    },
    "AddMaxTotal": {
        "": sd.AddMaxTotal("days", 30),
        "column": sd.AddMaxTotal("born", 30),
        "max_total": sd.AddMaxTotal("days", 31),
        "in_each": sd.AddMaxTotal("days", 30, in_each=1),
        "in_each of columns": sd.AddMaxTotal("days", 30, in_each=("ward", 1)),
    },
    "ChangeOneRow": {"": sd.ChangeOneRow()},
    "AddRowsWithID": {
        "": sd.AddRowsWithID("person"),
        "column": sd.AddRowsWithID("days"),
        "id_space": sd.AddRowsWithID("person", "staff"),
    },
}
"""Whom a table protects."""


_ASKED: Final[tuple[tuple[str, dict[str, dict[str, Any]], Ask], ...]] = (
    ("query", QUERIES, lambda made: counted(made) if isinstance(made, Query) else made),
    ("cell", CELLS, with_cell),
    ("question", AGGREGATIONS, aggregated),
    ("bound", BOUNDS, lambda made: counted(VISITS.enforce(made))),
)


def requests() -> dict[str, Any]:
    """Return a request for every call of every verb, by verb and argument."""
    return {
        f"{kind} {verb} {name}".strip(): ask(made)
        for kind, verbs, ask in _ASKED
        for verb, calls in verbs.items()
        for name, made in calls.items()
    }
