"""What a plan reads, told apart by kind: only what is known can be made anew.

| leaf | it is |
|---|---|
| `LogicalRelation` of files in a format that Spark brings | `FILES` |
| `DataSourceV2Relation` of such files | `SECOND_FILES` |
| `LogicalRDD` that is checkpointed, or computed part by part from values | `ROWS` |
| values and ranges | `VALUES` |
| all others: Delta, Iceberg, JDBC, Hive, streams, sources in Python | `UNKNOWN` |
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Final, final

from sordino.engines.spark.java_plans import class_of, members
from sordino.errors import InvalidParameter


@final
class LeafKind(Enum):
    """What a leaf of a plan reads."""

    FILES = auto()
    SECOND_FILES = auto()
    ROWS = auto()
    VALUES = auto()
    UNKNOWN = auto()


_VALUES: Final = frozenset({
    "CTERelationRef",
    "EmptyRelation",
    "LocalRelation",
    "OneRowRelation",
    "Range",
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
    """Return what kind of rows a leaf of a plan reads."""
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
    """Tell whether the rows of an RDD are held, or made part by part of given values.

    In which order another plan gives its rows, and in which parts, nobody knows.
    """
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
    """Return the class by which the writer of a frame knows a leaf."""
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
