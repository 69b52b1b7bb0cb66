"""Frames whose rows are the same each time they are computed.

A bound reads its rows more than once, and a task that is run again computes them anew.
Were they others each time, more rows of an id could be kept than the bound allows. So
a frame may be made of what is known to give the same rows, in whatever order and parts
its own come. Of all else what picks rows is refused, and can be written to a table
first; for what is not known somebody has to answer.

| part of a plan | is known |
|---|---|
| nodes | if they compute rows from rows, or from all of a group |
| totals | if they do not depend on an order; others are picks |
| windows | ranks; steady totals of ranges; all others if the order has no ties |
| what an expression asks without being given it | if a statement has one value of it |
"""

from typing import Any, Final

from sordino.engines.spark.java_plans import analysed_plan, class_of, members, nodes
from sordino.engines.spark.taken_apart import unknown_leaf
from sordino.errors import InvalidParameter

_NODES: Final = frozenset({
    "Aggregate",
    "CTERelationDef",
    "Deduplicate",
    "Distinct",
    "Except",
    "Expand",
    "Filter",
    "Generate",
    "Intersect",
    "Join",
    "LateralJoin",
    "Project",
    "RebalancePartitions",
    "Repartition",
    "RepartitionByExpression",
    "ResolvedHint",
    "Sort",
    "SubqueryAlias",
    "Union",
    "View",
    "Window",
    "WithCTE",
})
_TOTALS: Final = frozenset({
    "Average",
    "BitAndAgg",
    "BitOrAgg",
    "BitXorAgg",
    "BoolAnd",
    "BoolOr",
    "Corr",
    "Count",
    "CountIf",
    "CovPopulation",
    "CovSample",
    "HyperLogLogPlusPlus",
    "Kurtosis",
    "Max",
    "Median",
    "Min",
    "Percentile",
    "PercentileCont",
    "PercentileDisc",
    "PivotFirst",
    "RegrAvgX",
    "RegrAvgY",
    "RegrCount",
    "RegrIntercept",
    "RegrR2",
    "RegrSXX",
    "RegrSXY",
    "RegrSYY",
    "RegrSlope",
    "Skewness",
    "StddevPop",
    "StddevSamp",
    "Sum",
    "TryAverage",
    "TrySum",
    "VariancePop",
    "VarianceSamp",
})
"""Of sums of doubles the last digits depend on the order: ADR 223 says so."""
_CHOOSE: Final = frozenset({
    "GlobalLimit",
    "LimitAll",
    "LocalLimit",
    "Offset",
    "Sample",
    "Tail",
})
"""Nodes of a plan that take rows by where they happen to lie."""
_LISTS: Final = frozenset({"CollectList", "CollectSet"})
_RANKS: Final = frozenset({"CumeDist", "DenseRank", "PercentRank", "Rank"})
_ASKED: Final = (
    frozenset({
        "AttributeReference",
        "CreateArray",
        "CreateMap",
        "CurrentDate",
        "CurrentRow$",
        "CurrentTimeZone",
        "CurrentTimestamp",
        "CurrentUser",
        "EulerNumber",
        "Exists",
        "LateralSubquery",
        "ListQuery",
        "Literal",
        "LocalTimestamp",
        "NamedLambdaVariable",
        "Now",
        "OuterReference",
        "Pi",
        "PythonUDF",
        "ResolvedCollation",
        "RowNumber",
        "ScalaUDF",
        "ScalarSubquery",
        "UnboundedFollowing$",
        "UnboundedPreceding$",
    })
    | _RANKS
)
"""Expressions that are computed from no other."""
_OF_MANY: Final = frozenset({
    "Aggregate",
    "Deduplicate",
    "Distinct",
    "Except",
    "Intersect",
    "Window",
})
"""Nodes that take rows for alike."""
_REMEDY: Final = (
    "Write it to a table or to Parquet and hand over that, or use "
    "frame.localCheckpoint()."
)


def refuse_unsteady(frame: Any) -> str:
    """Refuse a frame whose rows may be others when they are computed again.

    Return what of it is not known to be the same, and is for somebody to answer for.
    """
    if frame.isStreaming:
        raise _unsteady_refusal("is a stream")
    plan = analysed_plan(frame)
    if not plan.deterministic():
        raise _unsteady_refusal("is computed with rand(), uuid() or the like")
    reasons = [_refuse_node(node) for node in nodes(plan)]
    return next(filter(None, reasons), "")


def _refuse_node(node: Any) -> str:
    """Refuse a node that may make other rows of the same ones, or name an unknown."""
    name = class_of(node)
    if not node.children().size():
        return unknown_leaf(node)
    if name in _CHOOSE or (name == "Deduplicate" and _is_partial(node)):
        raise _choice_refusal(name)
    if name in _OF_MANY:
        for child in members(node.children()):
            if "collate" in child.schema().catalogString():
                raise _choice_refusal("texts that are alike by their collation")
    parts = members(node.expressions())
    reasons = [_refuse_expression(part, node) for part in parts]
    if name not in _NODES:
        reasons = [f"is computed by {name}, whose rows are unknown"]
    return next(filter(None, reasons), "")


def _refuse_expression(expression: Any, node: Any) -> str:
    """Refuse an expression that may have other values next time; name an unknown."""
    name = class_of(expression)
    below = list(members(expression.children()))
    match name:
        case "WindowExpression":
            _refuse_window(*below, node=node)
        case "AggregateExpression":
            _refuse_total(below[0])
        case "SortArray" if _is_list(below[0]):
            below = list(members(below[0].children().apply(0).children()))
        case "PythonUDAF":
            return "is computed by a Python function of many rows"
        case _ if not below and name not in _ASKED:
            return f"asks its session for {expression.prettyName()}()"
        case _:
            pass
    reasons = [_refuse_expression(part, node) for part in below]
    return next(filter(None, reasons), "")


def _refuse_total(function: Any) -> None:
    """Refuse a total whose value depends on the order in which rows come."""
    if class_of(function) not in _TOTALS:
        raise _choice_refusal(f"{function.prettyName()}()")


def _is_list(expression: Any) -> bool:
    """Tell whether an expression collects values: sorted, they are the same list."""
    return (
        class_of(expression) == "AggregateExpression"
        and class_of(expression.children().apply(0)) in _LISTS
    )


def _refuse_window(function: Any, specification: Any, *, node: Any) -> None:
    """Refuse what a window picks among rows that its order does not tell apart."""
    total = class_of(function) == "AggregateExpression"
    value = function.children().apply(0) if total else function
    if class_of(value) in _RANKS:
        return
    steady = class_of(value) in _TOTALS and _is_of_ranges(specification)
    if not steady and not _has_no_ties(specification, node):
        raise _choice_refusal(f"{value.prettyName()}() of a window")


def _is_of_ranges(specification: Any) -> bool:
    """Tell whether a frame holds rows that are alike all or none."""
    frame = list(members(specification.children()))[-1]
    ends = [class_of(end) for end in members(frame.children())]
    all_rows = ends == ["UnboundedPreceding$", "UnboundedFollowing$"]
    return all_rows or class_of(frame.frameType()) == "RangeFrame$"


def _has_no_ties(specification: Any, node: Any) -> bool:
    """Tell whether rows that a window takes for alike agree in all their columns."""
    columns = specification.references()
    return all(columns.contains(column) for column in members(node.child().output()))


def _is_partial(node: Any) -> bool:
    """Tell whether rows count as the same that differ in some column."""
    return bool(node.keys().size() < node.child().output().size())


def _choice_refusal(name: str) -> InvalidParameter:
    """Return the refusal of a frame that takes one row and might take another."""
    return _unsteady_refusal(f"takes some rows of many by where they lie ({name})")


def _unsteady_refusal(problem: str) -> InvalidParameter:
    """Return the refusal of a frame."""
    return InvalidParameter(
        "source",
        "DataFrame",
        f"{problem}, so its rows are not always the same",
        _REMEDY,
    )
