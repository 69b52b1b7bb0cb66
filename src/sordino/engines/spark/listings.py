"""Files that a plan has listed: what Spark knows of them is held against what is there.

Spark lists the files of a frame when the frame is made, and reads each by the length it
had then: of a file that was written anew it reads some row groups, or none. Which ones,
a single row more may decide for thousands. So a plan whose files are others is refused.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from sordino.engines.spark.java_plans import class_of, nodes
from sordino.engines.spark.taken_apart import LeafKind, leaf_kind, options_of
from sordino.errors import EngineFailure


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
    """Return a list of the files that are there now."""
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
    known, there = listed.allFiles().toSet(), now.allFiles().toSet()
    if known.equals(there):
        return bool(listed.sizeInBytes() == now.sizeInBytes())
    if not known.subsetOf(there):
        return False
    files = there.intersect(known).iterator()  # of these, what is there now
    length = 0
    while files.hasNext():
        length += files.next().getLen()
    return bool(length == listed.sizeInBytes())
