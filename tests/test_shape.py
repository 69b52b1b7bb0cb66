"""The shape of the source: a file is a whole idea, a class abstract or final."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.syntax import SOURCE, nodes_of
from tests.test_imports import drawing

ROOT = Path(__file__).parent.parent
VAGUE = {"utils", "util", "common", "misc", "helpers", "manager", "impl"}
LONG = {
    "src/sordino/engines/postgres/entries.py": "an entry for each operation",
    "src/sordino/kernel/checker.py": "one file that can be copied and read alone",
}
"""Files of more than 800 lines: what they list."""
LONE = {
    "query.sql.ranges": "mathematics of its own: between which numbers a value lies",
    "office.report.annex": "a document of its own",
    "auditing.black_box": "what a user calls",
    "auditing.drawn_queries": "a list of steps that are drawn, for tests as well",
    "auditing.events": "what can be seen of an outcome, whatever judges it",
    "auditing.growth": "what blocks are charged, whoever draws the tables that grow",
    "auditing.suite": "what is drawn and told, without a terminal",
    "auditing.worlds": "databases and neighbours, for tests as well",
    "release.independence": "a test, with its own noise",
    "ledger.witness_server": "a server of its own, which a ledger never imports",
    "ledger.merkle": "mathematics of its own: paths through a tree of hashes",
    "release.inference": "mathematics of its own: what noisy moments say",
    "plan.certificates": "what an auditor reads to know how a certificate is written",
    "aggregations.candidates": "a mathematics of its own: which bounds may be chosen",
    "aggregations.intervals.computed": "what follows of answers, above both intervals",
    "aggregations.intervals.ranks": "an argument of its own: where a quantile stands",
    "aggregations.margins.joint_law": "mathematics of its own: the law that is fitted",
    "aggregations.running": "an aggregation",
    "data.cell_shapes": "what a curator is shown of cells, and nobody else",
    "data.lazy_frames": "a kind of source",
    "engines.conformance.bounds": "cases of a topic",
    "engines.conformance.operations": "cases of a topic",
    "engines.conformance.verdicts": "the way in for an engine of somebody else",
    "engines.duckdb.dialect": "laid beside the other dialects",
    "engines.duckdb.entries": "laid beside those of the other dialects",
    "engines.duckdb.session": "an engine",
    "engines.duckdb.row_by_row": "whether rows of a relation are of one row",
    "engines.postgres.dialect": "laid beside the other dialects",
    "engines.postgres.views": "an argument of its own: what a view says",
    "engines.spark.dialect": "laid beside the other dialects",
    "engines.spark.entries": "laid beside those of the other dialects",
    "engines.spark.workers": "noise where the rows are",
    "ledger.charges": "the transaction that an auditor reads first",
    "ledger.server_store": "it imports what may not be installed",
    "ledger.server_schema": "the tables, as the owner of a database reads them",
    "ledger.format_1": "a format that is read for ever",
    "ledger.other_stores": "stores",
    "losses.curves.composition": "a mathematics of its own: sums of losses",
    "losses.curves.tradeoff": "what a user holds",
    "noise.above_threshold": "a mechanism",
    "noise.quantile_intervals": "a mechanism",
    "noise.threshold.maps": "the border of these mechanisms: maps of the caller",
    "office.cli.jobs": "commands of a topic",
    "office.demo.scenes": "it imports what may not be installed",
    "office.form.choices": "what a form says, before anything is looked at",
    "office.form.loopback": "it imports what may not be installed",
    "office.form.page": "the page, without a wire",
    "office.html.engine": "it imports what is slow to load",
    "office.label.picture": "it imports what may not be installed",
    "office.label.views": "what a user holds",
    "office.pictures.cells_and_lines": "two forms of pictures",
    "office.pictures.release": "it imports what may not be installed",
    "office.report.numbers": "a page",
    "office.report.proof": "two pages",
    "query.blocks_read": "a proof of its own: which blocks a condition admits",
    "query.joins": "steps of a topic",
    "query.sql.from_clause": "a clause",
    "query.sql.statement": "it imports what is slow to load",
    "release.limit_sentences": "what limits do, in sentences of their own",
    "release.margins": "answers of a kind",
    "session.limit_errors": "a law of its own: what limits and noise do together",
    "session.rehearsal": "what a user calls",
    "session.usages": "what a policy is held against",
}
"""Files that one other imports, and why each is not a part of it."""
OPEN = {"SordinoError", "Loss"}  # public roots, named as users say them


@cache
def texts() -> dict[str, str]:
    """Return every file, by its path from the root."""
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for room in ("src", "tests", "benchmarks")
        for path in sorted((ROOT / room).rglob("*.py"))
    }


def named(nodes: list[ast.expr]) -> set[str]:
    """Return the last words of decorators or base classes: `a.b(c)` is b."""
    names = set()
    for node in nodes:
        bare = node.func if isinstance(node, ast.Call) else node
        bare = bare.value if isinstance(bare, ast.Subscript) else bare
        names.add(bare.attr if isinstance(bare, ast.Attribute) else ast.unparse(bare))
    return names


def test_a_file_is_one_idea() -> None:
    assert [path for path in texts() if Path(path).stem.strip("_") in VAGUE] == []
    begun = re.compile(r'(#.*\n|\n)*r?"""[^\s"]')
    assert [path for path, text in texts().items() if not begun.match(text)] == []
    lengths = {path: len(text.splitlines()) for path, text in texts().items()}
    assert {path for path, lines in lengths.items() if lines > 800} == set(LONG)


def test_a_file_that_one_other_imports_says_why_it_stands_alone() -> None:
    """What serves one file alone belongs into it, unless it is an idea of its own."""
    importers: dict[str, set[str]] = {}
    for name, targets in drawing().items():
        for target in targets:
            importers.setdefault(target, set()).add(name)
    assert {name for name, by in importers.items() if len(by) == 1} == set(LONE)


def test_a_class_is_abstract_or_final() -> None:
    """A class is either final or only a base; a dataclass is frozen."""
    loose = [
        (path.name, node.name)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef) and not is_settled(node)
    ]
    assert loose == []


def is_settled(node: ast.ClassDef) -> bool:
    """Tell whether a class is final or a base, and frozen if it holds data."""
    decorators, bases = named(node.decorator_list), named(node.bases)
    base = node.name.startswith("Abstract") or "Protocol" in bases
    frozen = any("frozen=True" in ast.unparse(one) for one in node.decorator_list)
    return (base or "final" in decorators or node.name in OPEN) and (
        frozen or "dataclass" not in decorators
    )


def test_a_loose_class_is_caught() -> None:
    loose = ("class A: pass", "@final\n@dataclass\nclass A: pass")
    settled = (
        "class AbstractA: pass",
        "@final\n@dataclass(frozen=True)\nclass A: pass",
    )
    for text, right in (
        *((one, False) for one in loose),
        *((o, True) for o in settled),
    ):
        (node,) = ast.parse(text).body
        assert isinstance(node, ast.ClassDef)
        assert is_settled(node) == right
