"""A plan of somebody else's session, over leaves that are made anew in one of ours.

Spark asks the session inside a relation of files what may be believed of them: that of
whoever made the frame. Here the relation is another one. Its session is ours, it has no
buckets and no statistics, and each column stands in an expression that changes nothing
and that no reader takes a filter on. Rows of an RDD stay, and say neither in which
order they lie nor in which parts.
"""

import itertools
from collections.abc import Iterable
from typing import Any, Final, final

from sordino.engines.spark.java_plans import class_of, members
from sordino.engines.spark.taken_apart import LeafKind, leaf_kind, options_of

MARK: Final = "sordino"
"""An option of each relation of ours, never the same.

To Spark two relations are equal that differ by their sessions alone, and it keeps the
old one; and what a user has cached of the old one would be taken for ours.
"""
_MARKS: Final = itertools.count()
_SUBQUERIES: Final = frozenset({
    "Exists",
    "LateralSubquery",
    "ListQuery",
    "ScalarSubquery",
})
"""Expressions with a plan inside; others would be found in the executed plan."""


def rebuilt_plan(plan: Any, reading: Any) -> Any:
    """Return the plan over leaves that are read in a session of ours."""
    new = _Rebuilding(reading).plan(plan)
    new.setAnalyzed()  # it is: our session is not to decide anew what it means
    return new


@final
class _Rebuilding:
    """The classes of Java that leaves are made of, looked up once."""

    def __init__(self, reading: Any) -> None:
        """Read files in a session."""
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
        """Return a node over leaves of ours."""
        if node.subqueries().size():
            parts = members(node.productIterator().toSeq())
            node = node.makeCopy(self._array("Object", map(self._part, parts)))
        below = list(members(node.children()))
        if not below:
            return self._leaf(node)
        return node.withNewChildren(self._seq([self.plan(child) for child in below]))

    def _leaf(self, leaf: Any) -> Any:
        """Return what is read instead of a leaf."""
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
        """Return files as ours; no catalogue is asked which parts of them matter."""
        old = leaf.relation()
        index = old.location()
        if class_of(index) == "CatalogFileIndex":
            index.refresh()  # what it has in mind of files
            index = index.filterPartitions(self._nothing)
        schemas = old.partitionSchema(), old.dataSchema()
        new = self._relation(index, *schemas, old.fileFormat(), old.options())
        return self._with_relation(leaf, new, leaf.output())

    def _of_second_files(self, leaf: Any) -> Any:
        """Return files of the second kind as ones of the first, and as ours."""
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
        """Return a relation of files without buckets, in a session of ours."""
        return self._files.HadoopFsRelation(
            index,
            partitions,
            data,
            self._none,
            form,
            options.updated(MARK, str(next(_MARKS))),
            self._session,
        )

    def _with_relation(self, leaf: Any, relation: Any, output: Any) -> Any:
        """Return a leaf of another relation, of which no catalogue tells anything."""
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
        """Return an argument of a node, with subqueries over leaves of ours."""
        if self._is_a("catalyst.expressions.Expression", part):
            return self._expression(part)
        if self._is_a("scala.collection.immutable.Seq", part):
            return self._seq([self._part(member) for member in members(part)])
        if self._is_a("scala.Some", part):
            return self._gateway.jvm.scala.Option.apply(self._part(part.get()))
        return part

    def _expression(self, expression: Any) -> Any:
        """Return an expression with subqueries over leaves of ours."""
        if class_of(expression) in _SUBQUERIES:
            inner = self.plan(expression.plan())
            expression = expression.withNewPlan(inner)
        below = list(members(expression.children()))
        if not below:
            return expression
        return expression.withNewChildren(self._seq(list(map(self._expression, below))))

    def _is_a(self, kind: str, value: Any) -> bool:
        """Tell whether a value is one of Java's, of a class."""
        from py4j.java_gateway import JavaObject, is_instance_of  # noqa: PLC0415 only where Spark is

        full = kind if kind.startswith("scala.") else f"org.apache.spark.sql.{kind}"
        return isinstance(value, JavaObject) and is_instance_of(
            self._gateway, value, full
        )

    def _array(self, kind: str, values: Iterable[Any]) -> Any:
        """Return an array of Java's."""
        items = list(values)
        array = self._gateway.new_array(
            getattr(self._gateway.jvm.java.lang, kind), len(items)
        )
        for place, value in enumerate(items):
            array[place] = value
        return array

    def _seq(self, values: list[Any]) -> Any:
        """Return a sequence of Java's."""
        return self._helpers.toSeq(values)
