"""Certificates that cost more than they charge, by rules that are easily forgotten.

Planning writes none of them and no drawn change finds them: the kernel, the second
checker, or both accepted each of them once.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Certificate: TypeAlias = dict[str, Any]

COUNT: Final[Certificate] = {
    "certificate": 1,
    "charge": {"epsilon": "1/1"},
    "releases": [
        {
            "by": [],
            "measurements": [
                {
                    "noise": "geometric",
                    "of": "sum",
                    "scale": "2",
                    "totals": [{"cell": {"is": 1}, "factor": 1, "shift": 0}],
                }
            ],
            "rows": {"columns": [], "do": "table", "leaves_out": [], "table": "t"},
            "unknown": [],
        }
    ],
    "tables": {"t": {"max_rows": 2, "protects": "AddMaxRows"}},
}
"""A count that costs what it charges."""


def underpriced() -> list[str]:
    """All of them, as text."""
    return [_changed(change) for change in _CHANGES]


def _changed(change: Callable[[Certificate], object]) -> str:
    body = json.loads(json.dumps(COUNT))
    change(body)
    return json.dumps(body)


def _rows_that_push_out_others(body: Certificate) -> None:
    """In a part that is charged by the row each row may push out another one."""
    rows = body["releases"][0]["rows"] | {"columns": ["g", "x"]}
    part = {"do": "part", "of": rows, "by": "g", "count": 2}
    kept = {"do": "keep_rows", "of": part, "per": ["x"], "limit": 1}
    body["releases"][0]["rows"] = kept


def _halves(body: Certificate) -> None:
    """Through noise of whole numbers a half shows."""
    body["releases"][0]["measurements"][0]["exponent"] = -1


def _walks_each_way(body: Certificate) -> None:
    """Walks towards the least and towards the greatest values are two releases."""
    body["releases"][0]["measurements"] = []
    body["releases"][0]["choices"] = [{"kind": "walk", "rate": "1/2"}] * 2


def _quantiles(body: Certificate, answers: int, **told: object) -> None:
    """Quantiles of two rows that cost all of the charge, and more told of them."""
    body["releases"][0]["measurements"] = []
    levels = answers.bit_length()
    chosen = {"kind": "quantiles", "rate": "1/2", "levels": levels, "answers": answers}
    body["releases"][0]["choices"] = [chosen | told]


def _ends_of_quantiles(body: Certificate) -> None:
    """Ends around a quantile are chosen by the same rows once more."""
    _quantiles(body, 1, ends={"rate": "1/100", "levels": 1})


def _rows_between_cuts(body: Certificate) -> None:
    """Rows between cuts are told of the same rows once more."""
    _quantiles(body, 1, cells={"noise": "laplace", "scale": "1000"})


def _ends_of_several(body: Certificate) -> None:
    """An end above a quantile and one below the next lie among the same rows."""
    _quantiles(body, 2, ends={"rate": "1/2", "levels": 1})
    body["charge"] = {"epsilon": "2"}


def _whole_noise_on_shares(body: Certificate) -> None:
    """A cut divides equal rows: through noise of whole numbers a share shows."""
    _quantiles(body, 1, cells={"noise": "geometric", "scale": "2"})
    body["charge"] = {"epsilon": "2"}


def _weights_of_periods(body: Certificate) -> None:
    """A running figure of two periods, one of which counts 128 / 256."""
    (number,) = body["releases"][0]["measurements"]
    running = {"of": "running", "base": number, "factors": [256, 128]}
    running |= {"noise": number["noise"], "scale": "8"}
    body["releases"][0] |= {"by": ["month"], "known": 2, "measurements": [running]}
    body["releases"][0]["rows"]["columns"] = ["month"]


def _private_as_public(body: Certificate) -> None:
    """A table joined with itself, once as if it were public."""
    release = body["releases"][0]
    release["rows"]["columns"] = ["g"]
    public = {"do": "public", "table": "t", "columns": ["g"]}
    join = {"do": "join", "left": release["rows"], "right": public, "on": ["g"]}
    release["rows"] = join | {"outer": False, "brings": {}, "most": 1}


def _score_of_no_steps(body: Certificate) -> None:
    """A choice whose rate is of steps, and whose score has 512 in each of its units."""
    release = body["releases"][0]
    release["first"] = release["measurements"].pop() | {"most": 1, "exponent": -9}
    release["first"] |= {"rate": "1", "end": None}
    release |= {"by": ["g"], "known": 3}
    release["rows"]["columns"] = ["g"]


def _two_failures_for_one_delta(body: Certificate) -> None:
    """An epsilon by the curve of Gaussian noise beside a rho: not the same failures."""
    (number,) = body["releases"][0]["measurements"]
    number |= {"noise": "gaussian", "scale": "10"}
    body["charge"] = {"epsilon": "1", "rho": "1/50", "delta": "1/100000"}


def _failures_of_composed_losses(body: Certificate) -> None:
    """The same of Laplace noise, of which less than the sum holds beside a delta."""
    (number,) = body["releases"][0]["measurements"]
    number |= {"noise": "laplace", "scale": "10"}
    body["releases"][0]["measurements"] = [number] * 20
    body["charge"] = {"epsilon": "3", "rho": "1", "delta": "1/100"}


def _rows_left_out(body: Certificate, rows: dict[str, Any], steps: list[int]) -> None:
    body["tables"] = {
        "t": {"column": "id", "id_space": "default", "protects": "AddRowsWithID"}
    }
    columns, dropped = ["id", "x"], ["without id"]
    table = {"do": "table", "leaves_out": dropped, "table": "t", "columns": columns}
    release = body["releases"][0]
    release["rows"] = {"do": "keep_rows", "of": table, "per": ["id"], "limit": 1}
    total = {"cell": {"steps": steps}, "factor": 1, "shift": 0}
    cut = {"of": "sum", "rows": rows | {"of": table, "per": ["id"]}, "totals": [total]}
    release["coverage"] = [cut | {"noise": "geometric", "scale": "10"}]
    body["charge"] = {"epsilon": "3/2"}  # a count by 1/2, and 3 more or less by 3/10


def _rows_left_out_of_two_rows(body: Certificate) -> None:
    """What limits cut off, added up over two rows of each id, each up to 3."""
    _rows_left_out(body, {"do": "keep_rows", "limit": 2}, [0, 3, 0])


def _rows_left_out_of_many_rows(body: Certificate) -> None:
    """The same over all rows of each id."""
    _rows_left_out(body, {"do": "crowded", "groups": []}, [0, 3, 0])


def _rows_left_out_below_zero(body: Certificate) -> None:
    """The same of what is down to -20, and up to 3."""
    _rows_left_out(body, {"do": "one_per", "makes": ["x"]}, [-20, 3, 0])


def _rows_left_out_twice(body: Certificate) -> None:
    """Two sums in one number, of which each moves."""
    _rows_left_out(body, {"do": "one_per", "makes": ["y"]}, [0, 3, 0])
    body["releases"][0]["coverage"][0]["totals"] *= 2


def _margins_of(body: Certificate, protects: dict[str, Any], charge: str) -> None:
    """All tables of two columns of three values, by rows with these columns."""
    levels = [[a, b] for a in (0, 1) for b in (0, 1)]
    rows = {"columns": ["g", "h", "id"], "do": "table", "leaves_out": [], "table": "t"}
    body["releases"] = [
        {
            "by": ["g", "h"],
            "margins": {
                "precisions": [[level, "1/100"] for level in levels],
                "trees": [[[3, 3]], [[3, 3]]],
            },
            "measurements": [],
            "rows": rows,
            "unknown": [],
        }
    ]
    body["tables"] = {"t": protects}
    body["charge"] = {"mu_squared": charge}


def _rows_together_in_margins(body: Certificate) -> None:
    """Four rows of an id in four cells, for less than they have in common."""
    protects = {"column": "id", "id_space": "default", "protects": "AddRowsWithID"}
    _margins_of(body, protects, "1/5")
    table = body["releases"][0]["rows"] | {"leaves_out": ["without id"]}
    one = {"do": "keep_rows", "of": table, "per": ["id", "g", "h"], "limit": 1}
    four = {"do": "keep_rows", "of": one, "per": ["id"], "limit": 4}
    body["releases"][0]["rows"] = four


def _rows_replaced_in_margins(body: Certificate) -> None:
    """A row that moves to a cell far off, for the price of one that comes."""
    _margins_of(body, {"protects": "ChangeOneRow", "rows": 9}, "1/36")


def _score_of_a_vector(body: Certificate) -> None:
    """A score of both signs, by the name of a number that has no sign asked for."""
    _score_of_no_steps(body)
    first = body["releases"][0]["first"]
    del first["exponent"]
    first["of"] = "vector"
    first["totals"][0]["cell"] = {"steps": [-1, 1, 0]}
    first["rate"] = "1/4"


def _one_key_of_a_vector(body: Certificate) -> None:
    """Sixteen numbers of a key that two rows of each unit move together."""
    release = body["releases"][0]
    (count,) = release["measurements"]
    vector = count | {"of": "vector", "totals": count["totals"] * 16}
    vector |= {"noise": "gaussian", "scale": "8"}  # mu squared 4 16/64 at one key
    shown = count | {"noise": "gaussian", "scale": "100", "threshold": "1000"}
    release |= {"by": ["g"], "unknown": ["g"], "presence": shown}
    release["measurements"] = [vector]
    release["rows"]["columns"] = ["g"]
    # a sixteenth of it, twice, if the largest number were all that a key holds
    body["charge"] = {"mu_squared": "1/5", "delta": "1/10000000"}


def _known_groups_of_keys_that_show(body: Certificate) -> None:
    """Four groups of an id, of which one half of the key is known to be one."""
    protects = {"column": "id", "id_space": "default", "protects": "AddRowsWithID"}
    body["tables"]["t"] = protects
    rows = {"columns": ["g", "h", "id"], "do": "table", "leaves_out": ["without id"]}
    four = {"do": "keep_rows", "of": rows | {"table": "t"}, "per": ["id"], "limit": 4}
    ids = {"of": "distinct", "columns": ["id"], "noise": "geometric", "scale": "4"}
    release = body["releases"][0]
    release |= {"rows": four, "by": ["g", "h"], "unknown": ["h"], "known": 1}
    shown = ids | {"scale": "1000", "threshold": "100000"}
    release |= {"measurements": [ids], "presence": shown}
    body["charge"] = {"epsilon": "1/2", "delta": "1/1000"}


def _ids_of_more_groups(body: Certificate) -> None:
    """The ids of three known groups, for the price of those of two."""
    _known_groups_of_keys_that_show(body)
    release = body["releases"][0]
    release |= {"unknown": [], "known": 3}
    del release["presence"]
    body["charge"] = {"epsilon": "1/2"}


def _square_of_another_column(body: Certificate) -> None:
    """A product that may be below zero moves a count both ways."""
    (number,) = body["releases"][0]["measurements"]
    steps = {"steps": [-1, 1, 0]}
    number["totals"][0] |= {"cell": {"product": [steps, steps]}, "factor": 1}
    body["tables"]["t"] = {"protects": "ChangeOneRow", "rows": 10}
    body["charge"] = {"epsilon": "1/2"}


def _weigh(body: Certificate, cell: dict[str, Any], by: str) -> None:
    """Views of pages on days, at most 16 of which one person adds, 1 for each page."""
    unit: dict[str, Any] = {"protects": "AddMaxTotal", "column": "v", "max_total": 16}
    body["tables"] = {"t": unit | {"in_each": ["page", 1]}}
    release = body["releases"][0]
    release["rows"] |= {"columns": ["page", "day", "v"], "leaves_out": ["below 1"]}
    release |= {"by": [by], "known": 99}
    total = {"cell": cell, "factor": 1, "shift": 0}
    number = {"of": "sum", "noise": "gaussian", "scale": "4", "totals": [total]}
    release["measurements"] = [number]
    body["charge"] = {"mu_squared": "1"}  # 16 pages, by one view each


def _days_as_pages(body: Certificate) -> None:
    """Of several pages on one day there may be more views than one."""
    _weigh(body, {"column": "v"}, "day")


def _views_from_two_on(body: Certificate) -> None:
    """A page of one view counts as two, and one without any as none."""
    _weigh(body, {"clip": ["v", 2, 9]}, "page")


def _rows_of_pages_that_come(body: Certificate) -> None:
    """Of each page one row may leave and another one come."""
    _weigh(body, {"steps": [-1, 1, 0]}, "page")


_CHANGES: Final = (
    _rows_together_in_margins,
    _rows_replaced_in_margins,
    _score_of_a_vector,
    _one_key_of_a_vector,
    _square_of_another_column,
    _known_groups_of_keys_that_show,
    _ids_of_more_groups,
    _days_as_pages,
    _views_from_two_on,
    _rows_of_pages_that_come,
    _rows_left_out_twice,
    _rows_left_out_of_two_rows,
    _rows_left_out_of_many_rows,
    _rows_left_out_below_zero,
    _rows_that_push_out_others,
    _halves,
    _walks_each_way,
    _ends_of_quantiles,
    _rows_between_cuts,
    _ends_of_several,
    _whole_noise_on_shares,
    _weights_of_periods,
    _private_as_public,
    _score_of_no_steps,
    _two_failures_for_one_delta,
    _failures_of_composed_losses,
)
