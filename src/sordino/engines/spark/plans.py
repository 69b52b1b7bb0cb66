"""Plans of Spark: over leaves made anew in a session of ours, and read before they run.

| leaf of an analysed plan | it is |
|---|---|
| `LogicalRelation` of files in a format that Spark brings | `FILES` |
| `DataSourceV2Relation` of such files | `SECOND_FILES` |
| `LogicalRDD` that is checkpointed, or computed part by part from values | `ROWS` |
| values and ranges | `VALUES` |
| all others: Delta, Iceberg, JDBC, Hive, streams, sources in Python | `UNKNOWN` |

Spark asks the session inside a relation of files what may be believed of them: that of
whoever made the frame. So the relation is made anew: its session is ours, it has no
buckets and no statistics, and each column stands in an expression that changes nothing
and that no reader takes a filter on. Rows of an RDD stay, and say neither in which
order they lie nor in which parts.

| leaf of an executed plan | is let through |
|---|---|
| a scan of files | if it is ours, has no filter, and takes no bucket for a place |
| rows of an RDD | if nothing is told of their places |
| rows that are kept or cached | if they were made so |
| values, ranges | always |
| all others | if the owner answers for the table that they are of |

A filter on folders stays: its rows have the value of the folder, whatever a file says.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import Any, Final, final

from sordino.errors import EngineUnavailable, InvalidParameter


def members(values: Any) -> Iterator[Any]:
    """Yield the values of a sequence of Java's."""
    return (values.apply(place) for place in range(values.size()))


def class_of(value: Any) -> str:
    """Name of the class of a node, without its package."""
    return str(value.getClass().getSimpleName())


def nodes(plan: Any) -> Iterator[Any]:
    """Yield the nodes of a plan, those of subqueries too."""
    yield plan
    for inside in (plan.children(), plan.subqueries()):
        for node in members(inside):
            yield from nodes(node)


def frame_of_plan(session: Any, plan: Any) -> Any:
    """Return a frame of a session over a plan."""
    from pyspark.sql import DataFrame  # noqa: PLC0415 only where Spark runs

    classic = session._jvm.org.apache.spark.sql.classic  # noqa: SLF001 into Java
    rows = classic.Dataset.ofRows(session._jsparkSession, plan)  # noqa: SLF001 as above
    return DataFrame(rows, session)


def analysed_plan(frame: Any) -> Any:
    """Return the plan of a frame as it was analysed when the frame was made."""
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 the way into Java


@final
class LeafKind(Enum):
    """What a leaf of a plan reads."""

    FILES = auto()
    SECOND_FILES = auto()
    ROWS = auto()
    VALUES = auto()
    UNKNOWN = auto()


_VALUES: Final = frozenset({
    *("CTERelationRef", "EmptyRelation", "LocalRelation", "OneRowRelation", "Range")
})
_PACKAGE: Final = "org.apache.spark.sql.execution.datasources"
_FORMATS: Final = frozenset({
    f"{_PACKAGE}.csv.CSVFileFormat",
    f"{_PACKAGE}.json.JsonFileFormat",
    f"{_PACKAGE}.orc.OrcFileFormat",
    f"{_PACKAGE}.parquet.ParquetFileFormat",
    f"{_PACKAGE}.text.TextFileFormat",
})
_TABLES: Final = frozenset({
    f"{_PACKAGE}.v2.csv.CSVTable",
    f"{_PACKAGE}.v2.json.JsonTable",
    f"{_PACKAGE}.v2.orc.OrcTable",
    f"{_PACKAGE}.v2.parquet.ParquetTable",
    f"{_PACKAGE}.v2.text.TextTable",
})
_LISTS: Final = frozenset({"CatalogFileIndex", "InMemoryFileIndex"})
"""Lists of files that hold no bounds of what is in them."""
_NARROW: Final = frozenset({"MapPartitionsRDD", "PythonRDD"})
"""RDDs that compute each part from one part."""
_HIDING: Final = ("ignoreCorruptFiles", "ignoreMissingFiles")


def leaf_kind(leaf: Any) -> LeafKind:
    """Kind of rows that a leaf of a plan reads."""
    match class_of(leaf):
        case name if name in _VALUES:
            return LeafKind.VALUES
        case "LogicalRDD" if not leaf.isStreaming() and _are_steady(leaf.rdd()):
            return LeafKind.ROWS
        case "LogicalRelation" if _is_of_files(leaf.relation()):
            return LeafKind.FILES
        case "DataSourceV2Relation" if leaf.table().getClass().getName() in _TABLES:
            return LeafKind.SECOND_FILES
        case _:
            return LeafKind.UNKNOWN


def _is_of_files(relation: Any) -> bool:
    """Tell whether a relation reads files that are listed, in a known format."""
    return (
        class_of(relation) == "HadoopFsRelation"
        and relation.fileFormat().getClass().getName() in _FORMATS
        and class_of(relation.location()) in _LISTS
    )


def _are_steady(rdd: Any) -> bool:
    # in which order another plan gives its rows, and in which parts, nobody knows
    if rdd.isCheckpointed() or class_of(rdd) == "ParallelCollectionRDD":
        return True
    before = list(members(rdd.dependencies()))
    narrow = class_of(rdd) in _NARROW and len(before) == 1
    return narrow and _are_steady(before[0].rdd())


def options_of(leaf: Any, kind: LeafKind) -> Mapping[str, str]:
    """Return the options with which files are read, by their names in lower case."""
    if kind is LeafKind.FILES:
        options = leaf.relation().options()
        names = list(members(options.keys().toSeq()))
        return {name.lower(): options.apply(name) for name in names}
    if kind is LeafKind.SECOND_FILES:
        merged = leaf.table().mergedOptions(leaf.options()).asCaseSensitiveMap()
        return {name.lower(): merged[name] for name in merged}
    return {}


def unknown_leaf(leaf: Any) -> str:
    """Return why a leaf cannot be taken apart, "" if it can.

    Files of which some may be left out are refused.
    """
    kind = leaf_kind(leaf)
    if kind is LeafKind.UNKNOWN:
        return f"reads by {_reader(leaf)}, and what that believes of rows is not known"
    options = options_of(leaf, kind)
    for name in _HIDING:
        if options.get(name.lower(), "false").lower() != "false":
            raise InvalidParameter(
                "source",
                "DataFrame",
                f"is read with {name}, so an attempt decides which rows it has",
                f"Read it without option({name!r}).",
            )
    return ""


def _reader(leaf: Any) -> str:
    match class_of(leaf):
        case "LogicalRelation" if class_of(leaf.relation()) == "HadoopFsRelation":
            return class_of(leaf.relation().fileFormat())
        case "LogicalRelation":
            return class_of(leaf.relation())
        case "DataSourceV2Relation":
            return class_of(leaf.table())
        case "LogicalRDD":
            return "an RDD of rows that were computed"
        case name:
            return name


MARK: Final = "sordino"
"""An option of each relation of ours, never the same.

To Spark two relations are equal that differ by their sessions alone, and it keeps the
old one; and what a user has cached of the old one would be taken for ours.
"""
_MARKS: Final = itertools.count()
_SUBQUERIES: Final = frozenset({
    *("Exists", "LateralSubquery", "ListQuery", "ScalarSubquery")
})  # expressions with a plan inside; others would be found in the executed plan


def rebuilt_plan(plan: Any, reading: Any) -> Any:
    """Return the plan over leaves that are read in a session of ours."""
    new = _Rebuilding(reading).plan(plan)
    new.setAnalyzed()  # it is: our session is not to decide anew what it means
    return new


@final
class _Rebuilding:
    def __init__(self, reading: Any) -> None:
        self._session = reading._jsparkSession  # noqa: SLF001 the way into Java
        self._gateway = reading._sc._gateway  # noqa: SLF001 as above
        java = reading._jvm  # noqa: SLF001 as above
        catalyst = java.org.apache.spark.sql.catalyst
        self._files = java.org.apache.spark.sql.execution.datasources
        self._alias = catalyst.expressions.Alias
        self._opaque = catalyst.expressions.KnownNullable
        self._project = catalyst.plans.logical.Project
        self._helpers = java.org.apache.spark.api.python.PythonUtils
        self._none = java.scala.Option.empty()
        self._nothing = self._seq([])

    def plan(self, node: Any) -> Any:
        if node.subqueries().size():
            parts = members(node.productIterator().toSeq())
            node = node.makeCopy(self._array("Object", map(self._part, parts)))
        below = list(members(node.children()))
        if not below:
            return self._leaf(node)
        return node.withNewChildren(self._seq([self.plan(child) for child in below]))

    def _leaf(self, leaf: Any) -> Any:
        match leaf_kind(leaf):
            case LeafKind.FILES:
                return self._opaque_columns(leaf, self._of_files(leaf))
            case LeafKind.SECOND_FILES:
                return self._opaque_columns(leaf, self._of_second_files(leaf))
            case LeafKind.ROWS:
                return self._opaque_columns(leaf, leaf)
            case _:
                return leaf

    def _of_files(self, leaf: Any) -> Any:
        # no catalogue is asked which parts of them matter
        old = leaf.relation()
        index = old.location()
        if class_of(index) == "CatalogFileIndex":
            index.refresh()  # what it has in mind of files
            index = index.filterPartitions(self._nothing)
        schemas = old.partitionSchema(), old.dataSchema()
        new = self._relation(index, *schemas, old.fileFormat(), old.options())
        return self._with_relation(leaf, new, leaf.output())

    def _of_second_files(self, leaf: Any) -> Any:
        table = leaf.table()
        index = table.fileIndex()
        options = self._helpers.toScalaMap(
            dict(options_of(leaf, LeafKind.SECOND_FILES))
        )
        nothing = self._array("Class", ()), self._array("Object", ())
        form = table.fallbackFileFormat().getDeclaredConstructor(nothing[0])
        schemas = index.partitionSchema(), table.dataSchema()
        new = self._relation(index, *schemas, form.newInstance(nothing[1]), options)
        first = getattr(getattr(self._files, "LogicalRelation$"), "MODULE$")
        return self._with_relation(first.apply(new, False), new, leaf.output())

    def _relation(
        self, index: Any, partitions: Any, data: Any, form: Any, options: Any
    ) -> Any:
        return self._files.HadoopFsRelation(
            index,
            partitions,
            data,
            self._none,  # no buckets: a file may lie in a wrong one
            form,
            options.updated(MARK, str(next(_MARKS))),
            self._session,
        )

    def _with_relation(self, leaf: Any, relation: Any, output: Any) -> Any:
        # no catalogue tells anything of it
        _, _, _, *rest = members(leaf.productIterator().toSeq())
        return leaf.makeCopy(
            self._array("Object", [relation, output, self._none, *rest])
        )

    def _opaque_columns(self, leaf: Any, ours: Any) -> Any:
        """Return the columns of a leaf, each in an expression: what reads is not asked.

        It may also be missing, whatever a schema says of it, and what is told of the
        places of rows is told of other columns.
        """
        new = ours.newInstance()
        names = leaf.schema().fieldNames()
        columns_there = zip(
            names, members(new.output()), members(leaf.output()), strict=True
        )
        columns = [
            self._alias(
                self._opaque(column),
                name,
                before.exprId(),
                self._nothing,
                self._none,
                self._nothing,
            )
            for name, column, before in columns_there
        ]
        return self._project(self._seq(columns), new)

    def _part(self, part: Any) -> Any:
        if self._is_a("catalyst.expressions.Expression", part):
            return self._expression(part)
        if self._is_a("scala.collection.immutable.Seq", part):
            return self._seq([self._part(member) for member in members(part)])
        if self._is_a("scala.Some", part):
            return self._gateway.jvm.scala.Option.apply(self._part(part.get()))
        return part

    def _expression(self, expression: Any) -> Any:
        if class_of(expression) in _SUBQUERIES:
            inner = self.plan(expression.plan())
            expression = expression.withNewPlan(inner)
        below = list(members(expression.children()))
        if not below:
            return expression
        return expression.withNewChildren(self._seq(list(map(self._expression, below))))

    def _is_a(self, kind: str, value: Any) -> bool:
        from py4j.java_gateway import JavaObject, is_instance_of  # noqa: PLC0415 only where Spark is

        full = kind if kind.startswith("scala.") else f"org.apache.spark.sql.{kind}"
        return isinstance(value, JavaObject) and is_instance_of(
            self._gateway, value, full
        )

    def _array(self, kind: str, values: Iterable[Any]) -> Any:
        items = list(values)
        array = self._gateway.new_array(
            getattr(self._gateway.jvm.java.lang, kind), len(items)
        )
        for place, value in enumerate(items):
            array[place] = value
        return array

    def _seq(self, values: list[Any]) -> Any:
        return self._helpers.toSeq(values)


_PLAN_VALUES: Final = frozenset({
    *("EmptyRelationExec", "LocalTableScanExec", "OneRowRelationExec", "RangeExec")
})
_NO_PLACE: Final = frozenset({"SinglePartition$", "UnknownPartitioning"})


def refuse_belief(frame: Any, *, answered_for: bool) -> None:
    """Refuse a frame of ours whose plan is not what we wrote; no row is read."""
    # its nodes are asked, not their text, in which a column may be called anything
    plan = frame._jdf.queryExecution().executedPlan()  # noqa: SLF001 the way into Java
    for leaf in _leaves(plan):
        problem = _problem(leaf, answered_for=answered_for)
        if problem:
            raise EngineUnavailable(
                f"Spark would run another plan than the one that was written: {problem}"
            )


def _leaves(plan: Any) -> Iterator[Any]:
    # in subqueries and under kept rows, too
    inside = plan.subqueriesAll()
    for part in (plan, *members(inside)):
        for leaf in members(part.collectLeaves()):
            match class_of(leaf):
                case "AdaptiveSparkPlanExec":
                    yield from _leaves(leaf.initialPlan())
                case "InMemoryTableScanExec":
                    yield from _leaves(leaf.relation().cachedPlan())
                case _:
                    yield leaf


def _problem(leaf: Any, *, answered_for: bool) -> str:
    match class_of(leaf):
        case "FileSourceScanExec":
            return _problem_of_files(leaf)
        case "RDDScanExec":
            if class_of(leaf.outputPartitioning()) in _NO_PLACE:
                return ""
            return "the places of rows are taken for known"
        case name if name in _PLAN_VALUES or answered_for:
            return ""
        case name:
            return f"it reads by {name}"


def _problem_of_files(scan: Any) -> str:
    if not scan.relation().options().contains(MARK):
        return "files are read by a session that is not ours"
    if scan.bucketedScan() or scan.relation().bucketSpec().isDefined():
        return "a bucket is taken for a place"
    return "" if scan.pushedDownFilters().isEmpty() else "a filter reaches the files"
