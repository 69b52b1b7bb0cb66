"""Lazy frames of Polars: a plan whose rows are taken once, when it is opened.

Polars is asked to change nothing of the plan, so nothing is believed that a file says
of itself. What the plan does is read as JSON; whatever is not listed here is refused,
but where somebody answers for it.

Kernel: totals.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, final

import pyarrow as pa

from sordino.data.arrow import TableSource, table_of_frame
from sordino.data.source import AbstractSource
from sordino.errors import show
from sordino.expressions.schema import Column

_INPUTS: Final = {
    "Filter": ("predicate",),
    "HStack": ("exprs",),
    "Rename": (),
    "Select": ("expr",),
}
"""Steps that make each row of one row, and where their expressions stand."""
_PARTS: Final[Mapping[str, tuple[Any, ...]]] = {
    "Alias": (0,),
    "BinaryExpr": ("left", "right"),
    "Cast": ("expr",),
    "Function": ("input",),
    "Ternary": ("predicate", "truthy", "falsy"),
}
"""Expressions, and where those stand that they are made of."""
_WHY: Final = {
    "Distinct": "takes one of equal rows (unique)",
    "GroupBy": "computes a row from many (group_by)",
    "HConcat": "puts rows of several frames side by side",
    "Join": "joins tables",
    "Slice": "takes some rows of many (head, tail, slice)",
    "Sort": "depends on the order of rows (sort)",
}
_FUNCTIONS: Final = frozenset(
    """
    Abs Ceil Coalesce FillNull Floor Negate Round
    Boolean.AllHorizontal Boolean.AnyHorizontal Boolean.IsBetween Boolean.IsFinite
    Boolean.IsInfinite Boolean.IsNan Boolean.IsNotNan Boolean.IsNotNull Boolean.IsNull
    Boolean.Not StringExpr.LenBytes StringExpr.LenChars StringExpr.Lowercase
    StringExpr.Uppercase TemporalExpr.Day TemporalExpr.Hour TemporalExpr.Minute
    TemporalExpr.Month TemporalExpr.Year
    """.split()  # noqa: SIM905 a table to be read
)
_OF_CONSTANTS: Final = frozenset(
    """
    Boolean.IsIn StringExpr.Contains StringExpr.EndsWith StringExpr.StartsWith
    StringExpr.StripChars
    """.split()  # noqa: SIM905 a table to be read
)
"""Functions of one column and of constants."""
_UNSAID: Final = (
    "column_mapping",
    "default_values",
    "deletion_files",
    "pre_slice",
    "row_count",
    "row_index",
    "table_statistics",
)
_ROWS_IN_PLAN: Final = re.compile(r'"df":\[[0-9,]*\]')


@final
class LazyFrameSource(AbstractSource):
    """A lazy frame: its rows, or, as long as nobody answers for it, its columns."""

    ours = True

    def __init__(self, frame: Any) -> None:
        """Read what the frame does; take its rows if each is made of one row."""
        self._frame = frame
        self.doubt = next(_reasons(frame), "")
        empty = frame.collect_schema().to_frame()
        self.fields = table_of_frame(empty).fields
        if not self.doubt:
            self.fields = self._rows.fields

    @cached_property
    def _rows(self) -> TableSource:
        import polars as pl  # noqa: PLC0415 whoever has a frame has it

        plain = pl.QueryOptFlags.none()
        return table_of_frame(self._frame.collect(optimizations=plain))

    def check(self) -> None:
        """Take the rows before a charge, if that was not done yet."""
        if self._rows.fields != self.fields:
            raise TypeError

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        return self._rows.hand_over(places)

    def size(self) -> int:
        return self._rows.size()

    def read(self, places: Sequence[int]) -> pa.Table:
        return self._rows.read(places)


def of_lazy_frame(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a lazy frame."""
    del declared
    return LazyFrameSource(frame)


def _reasons(frame: Any) -> Iterator[str]:
    """Yield why a row of a frame may depend on more than one row."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the form is not promised to stay
            plan = frame.serialize(format="json")
        yield from list(_of_step(json.loads(_ROWS_IN_PLAN.sub('"df":[]', plan))))
    except Exception:  # noqa: BLE001 no such form: a function of Python, another Polars
        yield "has a plan that cannot be read (a function of Python?)"


def _of_step(step: Any) -> Iterator[str]:
    """Yield what is not known to make each row of one row."""
    name, content = _split_node(step)
    name = _path(content["function"]) if name == "MapFunction" else name
    match name:
        case "DataFrameScan":
            pass
        case "Scan":
            yield from _of_scan(content)
        case "IR" | "Union":  # a plan that was looked at before, or several
            yield from chain(*map(_of_step, content.get("inputs") or [content["dsl"]]))
        case _ if name not in _INPUTS:
            yield _WHY.get(name, f"has a step that is not known here ({show(name)})")
        case _:
            for place in _INPUTS[name]:
                yield from _of_expressions(content[place])
            yield from _of_step(content["input"])


def _of_scan(content: dict[str, Any]) -> Iterator[str]:
    """Yield what of a scan is more than the rows of Parquet files."""
    kind, _ = _split_node(content["scan_type"])
    source, paths = _split_node(content["sources"])
    if kind != "Parquet" or source != "Paths":
        yield f"reads {show(kind)}, and not Parquet files by their paths"
        return
    options = content["unified_scan_args"]
    for name in _UNSAID:
        if options[name] is not None:
            yield f"reads Parquet files with {name}"
    enabled = options["hive_options"]["enabled"]
    whole = all(Path(path["inner"]).suffix == ".parquet" for path in paths)
    folder = any(Path(path["inner"]).is_dir() for path in paths)
    if enabled or (enabled is None and (folder or not whole)):
        yield "takes columns from names of folders (say hive_partitioning=False)"


def _of_expressions(trees: Any) -> Iterator[str]:
    """Yield what of an expression, or of several, is not known to be of one row."""
    for tree in trees if isinstance(trees, list) else [trees]:
        name, content = _split_node(tree)
        match name:
            case "Column" | "Selector":
                continue
            case "Literal" if _split_node(content)[0] in {"Dyn", "Scalar"}:
                continue
            case "Cast" if content["options"] != "NonStrict":
                yield "has a cast that can fail for a row (say strict=False)"
            case "Function" if not _is_of_one_row(content):
                called = show(_path(content["function"]))
                yield f"has {called}, which is not known to be of one row"
            case _ if name not in _PARTS:
                yield f"has {show(name)}, which is not known to be of one row"
                continue
        for place in _PARTS[name]:
            yield from _of_expressions(content[place])


def _is_of_one_row(call: dict[str, Any]) -> bool:
    name, rest = _path(call["function"]), call["input"][1:]
    constant = all(_split_node(argument)[0] == "Literal" for argument in rest)
    return name in _FUNCTIONS or (name in _OF_CONSTANTS and constant)


def _path(function: Any) -> str:
    """Return the name of a function, with its family.

    >>> _path("Abs"), _path({"Boolean": {"IsIn": {"nulls_equal": False}}})
    ('Abs', 'Boolean.IsIn')
    """
    family, member = _split_node(function)
    inside = isinstance(member, str) or family in {"Boolean", "StringExpr"}
    return f"{family}.{_split_node(member)[0]}" if inside else family


def _split_node(tree: Any) -> tuple[str, Any]:
    """Return the name of a part of a plan, and what is content of it."""
    if isinstance(tree, dict) and len(tree) == 1:
        ((name, content),) = tree.items()
        return name, content
    return str(tree), None
