"""Frames, tables and files of a Spark session as sources, whose rows stay the same.

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

Spark lists the files of a frame when the frame is made, and reads each by the length it
had then: of a file that was written anew it reads some row groups, or none. Which ones,
a single row more may decide for thousands. So a plan whose files are others is refused.

| handed over | what is read, for each question |
|---|---|
| a DataFrame | its plan as it was analysed: whatever becomes of views and functions |
| (session, name of a table) | the table of that name as its session finds it then |
| ("spark://", name of a table) | the same, by the Spark of this process |
| Parquet files, of columns that Spark reads by our rules | the files, by Spark |
| all other sources | their rows, by Arrow |

Nothing is made in the user's session, and no setting of it changes.
"""

import hashlib
import itertools
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.data.arrow import ROWS, handed_columns
from sordino.data.files import Fields
from sordino.data.source import AbstractSource, internal, is_list, or_nothing
from sordino.data.tables import ParquetSource
from sordino.engines.doors import Settings
from sordino.engines.spark.cluster import (
    STOPPED,
    is_stopped,
    reading_session,
    running_session,
    started_session,
)
from sordino.engines.spark.plans import (
    LeafKind,
    analysed_plan,
    class_of,
    frame_of_plan,
    leaf_kind,
    members,
    nodes,
    options_of,
    rebuilt_plan,
    unknown_leaf,
)
from sordino.errors import EngineFailure, EngineUnavailable, InvalidParameter
from sordino.expressions.schema import Column

_NODES: Final = frozenset({
    *("Aggregate", "CTERelationDef", "Deduplicate", "Distinct", "Except", "Expand"),
    *("Filter", "Generate", "Intersect", "Join", "LateralJoin", "Project"),
    *("RebalancePartitions", "Repartition", "RepartitionByExpression", "ResolvedHint"),
    *("Sort", "SubqueryAlias", "Union", "View", "Window", "WithCTE"),
})
_TOTALS: Final = frozenset({
    *("Average", "BitAndAgg", "BitOrAgg", "BitXorAgg", "BoolAnd", "BoolOr", "Corr"),
    *("Count", "CountIf", "CovPopulation", "CovSample", "HyperLogLogPlusPlus"),
    *("Kurtosis", "Max", "Median", "Min", "Percentile", "PercentileCont"),
    *("PercentileDisc", "PivotFirst", "RegrAvgX", "RegrAvgY", "RegrCount"),
    *("RegrIntercept", "RegrR2", "RegrSXX", "RegrSXY", "RegrSYY", "RegrSlope"),
    *("Skewness", "StddevPop", "StddevSamp", "Sum", "TryAverage", "TrySum"),
    *("VariancePop", "VarianceSamp"),
})  # of sums of doubles the last digits depend on the order: ADR 223 says so
_CHOOSE: Final = frozenset({
    *("GlobalLimit", "LimitAll", "LocalLimit", "Offset", "Sample", "Tail")
})
"""Nodes of a plan that take rows by where they happen to lie."""
_LISTS: Final = frozenset({"CollectList", "CollectSet"})
_RANKS: Final = frozenset({"CumeDist", "DenseRank", "PercentRank", "Rank"})
_ASKED: Final = _RANKS | frozenset({
    *("AttributeReference", "CreateArray", "CreateMap", "CurrentDate", "CurrentRow$"),
    *("CurrentTimeZone", "CurrentTimestamp", "CurrentUser", "EulerNumber", "Exists"),
    *("LateralSubquery", "ListQuery", "Literal", "LocalTimestamp"),
    *("NamedLambdaVariable", "Now", "OuterReference", "Pi", "PythonUDF"),
    *("ResolvedCollation", "RowNumber", "ScalaUDF", "ScalarSubquery"),
    *("UnboundedFollowing$", "UnboundedPreceding$"),
})
"""Expressions that are computed from no other."""
_OF_MANY: Final = frozenset({
    *("Aggregate", "Deduplicate", "Distinct", "Except", "Intersect", "Window")
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
    partial = name == "Deduplicate" and (
        node.keys().size() < node.child().output().size()
    )
    if name in _CHOOSE or partial:
        raise _choice_refusal(name)
    if name in _OF_MANY:
        _refuse_collated(child.schema() for child in members(node.children()))
    if name == "Aggregate":  # its groups may be of what no column below it holds
        _refuse_collated(key.dataType() for key in members(node.groupingExpressions()))
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
            collected, *condition = members(below[0].children())
            below = [*members(collected.children()), *condition]
            _refuse_collated(part.dataType() for part in below)
        case "PythonUDAF":
            return "is computed by a Python function of many rows"
        case _ if not below and name not in _ASKED:
            return f"asks its session for {expression.prettyName()}()"
        case _:
            pass
    reasons = [_refuse_expression(part, node) for part in below]
    return next(filter(None, reasons), "")


def _refuse_total(function: Any) -> None:
    if class_of(function) not in _TOTALS:
        raise _choice_refusal(f"{function.prettyName()}()")
    _refuse_collated(part.dataType() for part in members(function.children()))


def _refuse_collated(kinds: Iterable[Any]) -> None:
    """Refuse texts of which one is picked among those that a collation calls alike."""
    if any("collate" in kind.catalogString() for kind in kinds):
        raise _choice_refusal("texts that are alike by their collation")


def _is_list(expression: Any) -> bool:
    # sorted, they are the same list
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


def _choice_refusal(name: str) -> InvalidParameter:
    return _unsteady_refusal(f"takes some rows of many by where they lie ({name})")


def _unsteady_refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(
        "source",
        "DataFrame",
        f"{problem}, so its rows are not always the same",
        _REMEDY,
    )


def refuse_other_files(session: Any, plan: Any) -> None:
    """Refuse a plan of which a file is gone, or has another length; no row is read."""
    for index, options in _listed_files(plan):
        match index.getClass().getSimpleName():
            case "InMemoryFileIndex":
                if not _are_as_listed(index, _index_anew(session, options, index)):
                    raise EngineFailure
            case "CatalogFileIndex":
                index.refresh()  # it lists for each question what it has not in mind
            case _:
                pass  # tables with versions, whose files are never written anew


def list_anew(session: Any, name: str) -> None:
    """Have the files of a table listed anew when it is next asked for by its name.

    What is cached of its rows stays.
    """
    state = session._jsparkSession.sessionState()  # noqa: SLF001 the way into Java
    with suppress(Exception):  # a name of another catalogue, which lists by itself
        # the catalogue's list, not what the user has cached of the rows
        state.catalog().refreshTable(state.sqlParser().parseTableIdentifier(name))


def _listed_files(plan: Any) -> Iterator[tuple[Any, Mapping[str, str]]]:
    """Yield the lists of files of a plan and how they were read, in subqueries too."""
    for leaf in nodes(plan):
        match class_of(leaf):
            case "LogicalRelation" if leaf_kind(leaf) is LeafKind.FILES:
                yield leaf.relation().location(), options_of(leaf, LeafKind.FILES)
            case "DataSourceV2Relation" if leaf_kind(leaf) is LeafKind.SECOND_FILES:
                options = options_of(leaf, LeafKind.SECOND_FILES)
                yield leaf.table().fileIndex(), options
            case _:
                pass


def _index_anew(session: Any, options: Mapping[str, str], index: Any) -> Any:
    sources = session._jvm.org.apache.spark.sql.execution.datasources  # noqa: SLF001 as above
    none = session._jvm.scala.Option.empty()  # noqa: SLF001 as above
    helpers = session._jvm.org.apache.spark.api.python.PythonUtils  # noqa: SLF001 as above
    uncached = getattr(getattr(sources, "NoopCache$"), "MODULE$")
    return sources.InMemoryFileIndex(
        session._jsparkSession,  # noqa: SLF001 as above
        index.rootPaths(),
        helpers.toScalaMap(dict(options)),
        none,
        uncached,
        none,
        none,
    )


def _are_as_listed(listed: Any, now: Any) -> bool:
    """Tell whether all files of a list are there, with their lengths; some may be new.

    Files are equal by their paths, and lengths are compared by their sum.
    """
    # compared in Java: a list of files may be long
    known, there = listed.allFiles().toSet(), now.allFiles().toSet()
    if known.equals(there):
        return bool(listed.sizeInBytes() == now.sizeInBytes())
    if not known.subsetOf(there):  # files that were added are no harm: it is as listed
        return False
    files = there.intersect(known).iterator()  # of these, what is there now
    length = 0
    while files.hasNext():
        length += files.next().getLen()
    return bool(length == listed.sizeInBytes())


_NUMBERS: Final = itertools.count()
_MOST: Final = 100_000
"""How many different cells of a column its curator is shown the shapes of."""


class AbstractFrameSource(AbstractSource):
    """Rows that live in a Spark session."""

    ours = True
    view: str  # what the view of it is called in a session of ours
    running: Any
    """A session of ours, with the settings that the owner's had when it was opened."""

    @abstractmethod
    def frame(self) -> Any:
        """Return a frame of the rows as they are now; no row is read."""

    def plan(self) -> Any:
        """Return the plan of the rows, over leaves that are read in that session."""
        return rebuilt_plan(analysed_plan(self.frame()), self.running)

    def check(self) -> None:
        # asked for by its places: another column would be read in silence
        frame = self.frame()
        session = frame.sparkSession
        if is_stopped(session) or fields_of_frame(frame)[0] != self.fields:
            raise EngineFailure
        refuse_other_files(session, analysed_plan(frame))

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        batches = self.read(places).to_batches(max_chunksize=ROWS)
        return handed_columns(batches, self.fields, places)

    def count_missing(self, place: int) -> int:
        name = internal([place])[0]
        return int(self._columns_by_place().where(f"{name} IS NULL").count())

    def cells(self, place: int) -> pa.Table:
        # the most frequent ones alone: a column may have as many as rows
        name = internal([place])[0]
        counted = (
            self
            ._columns_by_place()
            .groupBy(name)
            .count()
            .orderBy("count", ascending=False)
        )
        return or_nothing(counted.limit(_MOST).toArrow(), range(2)).rename_columns([
            "cell",
            "times",
        ])

    def read(self, places: Sequence[int]) -> pa.Table:
        self.check()
        columns = internal(places) or ["1 AS one"]  # of none, Arrow counts no rows
        rows = self._columns_by_place().selectExpr(*columns).toArrow()
        return or_nothing(rows, range(len(places))).rename_columns(
            internal(places) or ["nothing"]
        )

    def _columns_by_place(self) -> Any:
        rows = frame_of_plan(self.running, self.plan())
        return rows.toDF(*internal(range(len(self.fields))))


@final
class FrameSource(AbstractFrameSource):
    """A DataFrame, whose plan is what it was when it was handed over."""

    def __init__(self, frame: Any) -> None:
        if is_stopped(frame.sparkSession):
            raise EngineUnavailable(STOPPED)
        self.doubt = refuse_unsteady(frame)
        self._frame = frame
        self.running = reading_session(frame.sparkSession)
        self._plan: Any = None
        self.fields, self.unsaid = fields_of_frame(frame)
        self.view = f"frame{next(_NUMBERS)}"

    def frame(self) -> Any:
        return self._frame

    def plan(self) -> Any:
        # made once: what it lists of a catalogue stays
        if self._plan is None:
            self._plan = super().plan()
        return self._plan

    def check(self) -> None:
        # a catalogue listed them when the plan was made
        super().check()
        if self._plan is not None:
            refuse_other_files(self._frame.sparkSession, self._plan)


@final
class TableOfSession(AbstractFrameSource):
    """A table of a catalogue, a view or a path, as a session finds it by its name."""

    def __init__(self, session: Any, name: str) -> None:
        self._session = session
        self._name = name
        self.running = reading_session(session)
        self.doubt = refuse_unsteady(session.table(name))
        self.fields, self.unsaid = fields_of_frame(self.frame())
        self.view = f"table{next(_NUMBERS)}"

    def check(self) -> None:
        # somebody else may have written other files
        list_anew(self._session, self._name)
        super().check()

    def frame(self) -> Any:
        table = self._session.table(self._name)
        if refuse_unsteady(table) and not self.doubt:
            raise EngineFailure  # it was a table that nobody had to answer for
        return table


def of_frame(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a DataFrame."""
    del declared
    _refuse_connect(frame)
    return FrameSource(frame)


def of_table_of_session(pair: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of (session, name of a table)."""
    del declared
    session, name = pair
    _refuse_connect(session)
    return TableOfSession(session, name)


def of_table_by_name(pair: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of ("spark://", name), as the Spark of this process finds it.

    One that does not run yet is started where the environment says.
    """
    del declared
    address, name = pair
    if address != _THIS_SPARK:
        raise InvalidParameter(
            "source",
            address,
            f"must be {_THIS_SPARK} alone",
            'Say which cluster in PYSPARK_SUBMIT_ARGS: "--master ... pyspark-shell".',
        )
    return TableOfSession(running_session() or started_session(Settings()), name)


_THIS_SPARK: Final = "spark://"


def _refuse_connect(source: Any) -> None:
    # there, all settings are those of others
    if ".connect." in type(source).__module__:
        raise InvalidParameter(
            "source",
            type(source).__name__,
            "must be of a classic Spark session, not of Spark Connect",
            'Start one with SparkSession.builder.master(...), not with remote("sc://").',
        )


def fields_of_frame(frame: Any) -> tuple[Fields, Mapping[str, str]]:
    """Return the columns of a frame, and why some of them have no type of ours."""
    kinds = [(field.name, field.dataType) for field in frame.schema.fields]
    known = tuple((name, _arrow_type(kind)) for name, kind in kinds)
    unsaid = {
        name: f"its type {kind.simpleString()} has no place in a private table"
        for (name, kind), (_, arrow) in zip(kinds, known, strict=True)
        if pa.types.is_null(arrow)
    }
    return known, unsaid


def _arrow_type(kind: Any) -> pa.DataType:
    """Arrow type of a type of Spark; null for one that is not used here."""
    from pyspark.sql import types as spark  # noqa: PLC0415 only where Spark runs

    match kind:
        case spark.DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case spark.ArrayType():
            inner = _arrow_type(kind.elementType)
            return inner if pa.types.is_null(inner) else pa.list_(inner)
        case spark.StringType():
            return pa.string()
        case _:
            return _ARROW.get(kind.simpleString(), pa.null())


_ARROW: Final[Mapping[str, pa.DataType]] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def view_read_of(source: AbstractSource, places: Sequence[int]) -> exp.Table | None:
    """Return the view of a source that Spark reads, or None for all others."""
    match source:
        case AbstractFrameSource():
            return _view_table(source.view)
        case ParquetSource() if all(_is_plain(source.fields[n][1]) for n in places):
            return _view_table(view_of_files(source))
        case _:
            return None


def _view_table(view: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(view), alias="t")


def view_of_files(source: ParquetSource) -> str:
    """Name of the view of some files."""
    names = "\0".join(source.paths).encode()
    return f"files_{hashlib.sha256(names).hexdigest()[:16]}"


def _is_plain(arrow: pa.DataType) -> bool:
    # of moments it reads those in microseconds: others it refuses or takes for another
    # zone. Unsigned integers are decimals to it
    if is_list(arrow):
        return _is_plain(arrow.value_type)
    if pa.types.is_decimal(arrow):
        return not pa.types.is_decimal256(arrow) and 0 <= arrow.scale <= arrow.precision
    if pa.types.is_timestamp(arrow):
        return bool(arrow.unit == "us")
    return any(test(arrow) for test in _PLAIN)


_PLAIN: Final = (
    pa.types.is_signed_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_date32,
)


def frame_of(session: Any, source: AbstractSource) -> Any:
    """Frame of a source in a session of ours, with columns c0, c1, ..."""
    match source:
        case AbstractFrameSource():
            return _frame_of_ours(session, source)
        case ParquetSource():
            return _read(session, source)
        case _:
            raise TypeError(type(source).__name__)


def _frame_of_ours(session: Any, source: AbstractFrameSource) -> Any:
    # texts compare by bytes
    from pyspark.sql import functions  # noqa: PLC0415 only where Spark runs

    moved = frame_of_plan(session, source.plan())
    frame = moved.toDF(*internal(range(len(source.fields))))
    columns = [
        functions.col(name).cast(_TEXTS[arrow]).alias(name) if arrow in _TEXTS else name
        for name, (_, arrow) in zip(frame.columns, source.fields, strict=True)
    ]
    return frame.select(*columns)


def without_named_parts(session: Any, frame: Any) -> Any:
    """Return the frame of a statement whose named subqueries are written out.

    In a statement that has some itself, Spark would join them with those, and no longer
    find that the rest is what it has cached.
    """
    plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 into Java
    return frame_of_plan(session, plan)


_TEXTS: Final = {pa.string(): "string", pa.list_(pa.string()): "array<string>"}


def _read(session: Any, source: ParquetSource) -> Any:
    from pyspark.sql.pandas.types import from_arrow_type  # noqa: PLC0415 as above
    from pyspark.sql.types import StructType  # noqa: PLC0415 as above

    schema = StructType()
    names = []
    for place, (name, arrow) in enumerate(source.fields):
        if _is_plain(arrow):
            kind = from_arrow_type(arrow, prefer_timestamp_ntz=True)
            schema = schema.add(name, kind)
            names.append(f"c{place}")
    files = session.read.schema(schema).parquet(*source.paths)
    return frame_of_plan(session, rebuilt_plan(analysed_plan(files), session)).toDF(
        *names
    )
