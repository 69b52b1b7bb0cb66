"""Entries written as SQL text: what is grouped, bound, and left untranslated."""

from sqlglot import exp

from sordino.engines.statements.templates import Entry, Sql, Templates, Written
from sordino.expressions.schema import Column
from sordino.expressions.tree import Argument

TEMPLATES = Templates("duckdb", {"twice(x)": "x + x", "held(x)": "least(x, :most)"})


def written(entry: Entry, *arguments: Sql, kind: str = "i64") -> str:
    """Return the text of an entry for arguments of one type."""
    facts = tuple(Argument(Column(kind), None) for _ in arguments)

    def bind(value: object, _: str) -> Sql:
        return exp.Placeholder(this=f"p{value}")

    return entry(Written(arguments, facts, {}, bind)).sql("duckdb")


def test_no_argument_is_torn_apart() -> None:
    """Operators get brackets by their place, and a definition is like an argument."""
    total = exp.Add(this=exp.column("x"), expression=exp.column("y"))
    entry = TEMPLATES.entry("a * twice(b)")
    assert written(entry, total, exp.column("z")) == "(x + y) * (z + z)"


def test_a_function_keeps_its_name() -> None:
    entry = TEMPLATES.entry("ifnull(strlen(a), len(a))")
    assert written(entry, exp.column("x")) == "IFNULL(STRLEN(x), LEN(x))"


def test_values_are_bound_in_definitions_too() -> None:
    entry = TEMPLATES.entry("held(a)", most=lambda _: 7, unused=lambda _: 1 // 0)
    assert written(entry, exp.column("x")) == "LEAST(x, $p7)"


def test_each_tree_is_a_new_one() -> None:
    entry = TEMPLATES.entry("a + 1", "a + 1::DOUBLE")
    assert written(entry, exp.column("x")) == written(entry, exp.column("x"))
    assert written(entry, exp.column("x"), kind="f64") == "x + CAST(1 AS DOUBLE)"


def test_a_piece_tears_no_tree_apart() -> None:
    """A tree that stands twice in a text, or has a parent already, is copied."""
    double = TEMPLATES.piece("x", "x * 2 + x")
    outer = exp.Neg(this=exp.column("y"))
    tree = double(outer.this)
    assert tree.sql() == "(y * 2) + y"
    assert outer.this.parent is outer
    first, second = tree.find_all(exp.Column)
    assert first is not second
    assert double(exp.Add(this=tree, expression=tree.copy())).sql().count("y") == 8


def test_nothing_is_parsed_before_it_is_used() -> None:
    """A start builds hundreds of entries, of which a release uses a few."""
    TEMPLATES.entry("this is (no SQL")
