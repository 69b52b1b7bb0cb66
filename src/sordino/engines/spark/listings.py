"""Files that a plan has listed: what Spark knows of them is held against what is there.

Spark lists the files of a frame when the frame is made, and reads each by the length it
had then: of a file that was written anew it reads some row groups, or none. Which ones,
a single row more may decide for thousands. So a plan whose files are others is refused.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sordino.errors import EngineFailure


def refuse_other_files(session: Any, plan: Any) -> None:
    """Refuse a plan of which a file is gone, or has another length; no row is read."""
    for relation in _file_relations(plan):
        index = relation.location()
        match index.getClass().getSimpleName():
            case "InMemoryFileIndex":
                if not _are_as_listed(index, _index_anew(session, relation, index)):
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


def _file_relations(plan: Any) -> Iterator[Any]:
    """Yield what a plan reads of files, in subqueries too."""
    inside = plan.subqueriesAll()
    parts = (plan, *(inside.apply(place) for place in range(inside.size())))
    leaves = (leaf for part in parts for leaf in _leaves(part))
    relations = (
        leaf.relation() for leaf in leaves if leaf.nodeName() == "LogicalRelation"
    )
    for relation in relations:
        if relation.getClass().getSimpleName() == "HadoopFsRelation":
            yield relation


def _leaves(plan: Any) -> Iterator[Any]:
    """Yield what a plan reads, but for its subqueries."""
    leaves = plan.collectLeaves()
    return (leaves.apply(place) for place in range(leaves.size()))


def _index_anew(session: Any, relation: Any, index: Any) -> Any:
    """Return a list of the files that are there now."""
    sources = session._jvm.org.apache.spark.sql.execution.datasources  # noqa: SLF001 as above
    none = session._jvm.scala.Option.empty()  # noqa: SLF001 as above
    uncached = getattr(getattr(sources, "NoopCache$"), "MODULE$")
    return sources.InMemoryFileIndex(
        session._jsparkSession,  # noqa: SLF001 as above
        index.rootPaths(),
        relation.options(),
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
