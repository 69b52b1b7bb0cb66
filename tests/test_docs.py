"""What is written, runs; what is public, is written."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import sordino
from sordino.plan.purchase import Purchase
from sordino.query.dropped_rows import CutRows
from sordino.session.executor import Desk
from sordino.session.inspection import _number
from tests.batches import for_each
from tests.decisions import FOLDER, index
from tests.effort import by_night
from tests.machine_checked import statements
from tests.mutants.planted import PLANTED
from tests.site import drawings, messages, theorems
from tests.site.links import broken_links, pages, records, sections
from tests.site.theorems import named_by

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sordino"
ELSEWHERE = {
    "from-laptop-to-cluster.md": "tests/stories/test_spark_guide.py has a Spark",
    "team.md": "tests/stories/test_team_guide.py has a server and its roles",
    "postgresql.md": "tests/stories/test_postgres_guide.py has a server",
}
"""Pages that run elsewhere, and why."""
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "```python" in page.read_text(encoding="utf-8") and page.name not in ELSEWHERE
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UNCALLED = {
    "Batch",
    "Budget",
    "Connection",
    "Entry",
    "Expression",
    "KeySet",
    "Label",
    "Ledger",
    "Limit",
    "Loss",
    "Policy",
    "Price",
    "Query",
    "Rehearsal",
    "Release",
    "ReleasedFiles",
    "Request",
    "Suggestion",
    "TradeoffCurve",
    "errors",
    "load_ipython_extension",
}
"""Names that users do not call: they are made by others, or abstract."""
MOST_CUT = 0.04
"""A reader copies limits: those of no page leave out more of the rows than this."""
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
APART = ("tumult", "smartnoise", "diffprivlib")
"""Tools that want older packages than ours, each in an environment of its own."""


@for_each("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a page run from top to bottom and print what they show.

    They do so in a folder of their own, where files that they write are left.
    """
    monkeypatch.chdir(tmp_path)
    # examples are typed at a prompt: what describes itself is shown, not printed
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    text = page.read_text(encoding="utf-8")
    session = "\n".join(BLOCK.findall(text))
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    assert test.examples, "write the blocks as sessions, with >>>"
    cut = rows_cut_off(monkeypatch)
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0
    assert max(cut, default=0) <= MOST_CUT, "its limits cut off too much: say others"


def rows_cut_off(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that fills with the share of rows that limits of releases cut."""
    shares: list[float] = []
    plain = Desk._prepare

    def prepare(desk: Desk, purchase: Purchase) -> Any:
        prepared = plain(desk, purchase)  # first, for what is refused there
        for place in purchase.plan.relation.passed:
            if isinstance(place, CutRows):
                ends = (place.before, place.after)
                rows, kept = (_number(desk.catalog, node) for node in ends)
                shares.append((rows - kept) / max(rows, 1))
        return prepared

    monkeypatch.setattr(Desk, "_prepare", prepare)
    return shares


@by_night
@pytest.mark.slow
@for_each("tool", ["opendp", "pipelinedp", "riskcal", *APART])
def test_what_other_tools_answer_is_as_shown(tool: str, tmp_path: Path) -> None:
    """Beside our example stands that of the tool, where `make bench` installs it."""
    own = ROOT / f".venv/{tool}"
    is_apart = (own / ".ready").exists()
    module = {"pipelinedp": "pipeline_dp"}.get(tool, tool)
    if not is_apart and find_spec(module) is None:
        pytest.skip(f"NO PEER: {tool} is not here, make bench installs it")
    text = (ROOT / f"docs/coming-from/{tool}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert blocks
    (tmp_path / "tool.txt").write_text("\n".join(blocks), encoding="utf-8")
    python = own / "bin/python" if is_apart else Path(sys.executable)
    ran = subprocess.run(
        [python, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "tool.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_first_contact_with_spark_has_what_its_blocks_need() -> None:
    """Tried where there is no Spark, too: packages and settings, before it starts."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = extras["project"]["optional-dependencies"]
    assert set(listed["pandas"]) < set(listed["spark"])
    page = ROOT / "docs/guides/from-laptop-to-cluster.md"
    first = BLOCK.findall(page.read_text(encoding="utf-8"))[0]
    begins = first.index("getOrCreate")
    for setting in ("PYSPARK_PYTHON", "spark.sql.warehouse.dir"):
        assert 0 < first.find(setting) < begins
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert {"spark-warehouse/", "metastore_db/", "derby.log"} <= set(ignored)


@for_each("name", dir(sordino))
def test_public_name_is_documented(name: str) -> None:
    public = getattr(sordino, name)
    assert public.__doc__
    assert public.__doc__.strip().splitlines()[0].endswith((".", ":"))
    assert f"`{name}`" in (ROOT / "docs/reference.md").read_text(encoding="utf-8")


@for_each("name", dir(sordino))
def test_signatures_are_true(name: str) -> None:
    reference = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| `{name}` \| `{name}\((.*)\)` \|", reference, re.MULTILINE)
    if found is None:
        assert name in UNCALLED
        return
    written = re.findall(r"(?:^|, )(\*?\w+)", found[1])
    known = inspect.signature(getattr(sordino, name)).parameters.values()
    star = inspect.Parameter.VAR_POSITIONAL
    assert written == ["*" * (one.kind is star) + one.name for one in known]


def test_nothing_else_is_public() -> None:
    """`dir` shows the public names, and a wrong name is told the right ones."""
    assert dir(sordino) == getattr(sordino, "__all__")  # noqa: B009 no type checker asks
    with pytest.raises(AttributeError, match="sordino has no Laplacian; it has"):
        sordino.Laplacian  # type: ignore[attr-defined]  # noqa: B018


def test_type_checkers_see_what_is_public() -> None:
    stub = ast.parse((ROOT / "src/sordino/__init__.pyi").read_text(encoding="utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom))
    names = [(alias.name, alias.asname) for node in imports for alias in node.names]
    assert sorted(names) == [(name, name) for name in dir(sordino)]
    starred: dict[str, object] = {}
    exec("from sordino import *", starred)  # noqa: S102 what a notebook does
    assert set(dir(sordino)) <= set(starred)


def test_one_version_stands_in_one_place() -> None:
    """The package, the project and the changelog agree; a release has its heading."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    page = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\]", page, re.MULTILINE)
    links = re.findall(r"^\[(.+?)\]: \S+$", page, re.MULTILINE)
    assert sordino.__version__ == project["version"]
    assert links[-len(headings) :] == headings, "each version has a link at the foot"
    if ".dev" not in project["version"]:
        assert headings[1] == project["version"]


def test_every_decision_is_in_the_index() -> None:
    """Its number, its title and its status, with a link to each record."""
    text = index()
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == text
    links = set(re.findall(r"\]\((\d[\w.-]+\.md)\)", text))
    assert links == {path.name for path in FOLDER.glob("[0-9]*.md")}


def test_every_link_leads_somewhere() -> None:
    """To a file that is there, and a heading that the page has."""
    wrong = {str(page.relative_to(ROOT)): broken_links(page) for page in pages()}
    assert {page: links for page, links in wrong.items() if links} == {}


def test_every_page_has_its_place_on_the_site() -> None:
    placed = [page for own in sections().values() for page in own]
    assert len(placed) == len(set(placed))
    assert {*placed, ROOT / "README.md"} == set(pages()) - records()


def test_the_front_page_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def test_pages_that_are_made_are_those_of_today() -> None:
    """Messages of the docstrings, pictures of the code: make pictures."""
    assert messages.PAGE.read_text(encoding="utf-8") == messages.page()
    for picture in drawings.PICTURES:
        file = drawings.FOLDER / f"{picture.__name__}.svg"
        assert file.read_text(encoding="utf-8") == drawings.draw(picture)


def test_every_room_has_its_law() -> None:
    rooms = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
    pages = {path.stem for path in (ROOT / "docs/law").glob("[a-z]*.md")}
    assert pages - {"tests"} == set(rooms)
    book = (ROOT / "docs/law/README.md").read_text(encoding="utf-8")
    for room in rooms:
        assert f"docs/law/{room}.md" in (SOURCE / room / "__init__.py").read_text()
        assert f"({room}.md)" in book


def test_the_law_names_tests_that_are_there() -> None:
    """A law whose test has gone would hold nothing."""
    there = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    pages = [*(ROOT / "docs/law").glob("*.md"), ROOT / "docs/proofs/README.md"]
    for page in pages:
        named = set(re.findall(r"\btest_\w+\.py", page.read_text(encoding="utf-8")))
        assert named <= there, page.name


def test_every_statement_has_a_row() -> None:
    """What is proved on paper is asked of the code, by a test that is named."""
    held: dict[str, set[str]] = {}
    for row in theorems.theorems():
        held.setdefault(row.proof, set()).update(named_by(row.words.split(",")[0]))
    stated = {
        path.stem: set(theorems.stated(path.stem))
        for path in (ROOT / "docs/proofs").glob("*.md")
    }
    lacking = {page: there - held.get(page, set()) for page, there in stated.items()}
    assert not any(lacking.values()), lacking


def test_every_theorem_has_a_page_with_all_its_parts() -> None:
    names = [theorem.name for theorem in theorems.theorems()]
    assert len(set(names)) == len(names) >= 95
    for theorem in theorems.theorems():
        parts = theorems.page(theorem).split("\n## ")[1:]
        assert len(parts) == 6
        assert min(len(part) for part in parts) > 50, theorem.name


def test_the_law_names_errors_that_are_planted() -> None:
    page = (ROOT / "docs/proofs/README.md").read_text(encoding="utf-8")
    named = {
        error.strip()
        for row in re.findall(r"^\| \[[a-z-]+\].*\| ([^|]*) \|$", page, re.MULTILINE)
        for error in row.split(";")
    }
    assert named - {error.says for error in PLANTED} == {"-"}


def test_the_proofs_name_statements_that_are_checked() -> None:
    """Each lemma of proofs/*.v has a row in the table, and each row its lemma."""
    page = (ROOT / "docs/proofs/README.md").read_text(encoding="utf-8")
    cells = re.findall(r"\[(\w+)\.v\]\(../../proofs/\1\.v\): ([^|]*) \|", page)
    named = {(file, name) for file, cell in cells for name in cell.split(", ")}
    stated = {
        (path.stem, f"`{name}`")
        for path in (ROOT / "proofs").glob("*.v")
        for name in statements(path.read_text(encoding="utf-8"))
    }
    assert named == stated
    assert len(stated) >= 79


def test_each_page_names_what_is_checked_where_it_is_proved() -> None:
    mark = re.compile(
        r"^\*Machine-checked: (.*) in \[proofs/(\w+).v\]\(../../proofs/\2.v\).\*$",
        re.MULTILINE,
    )
    named = {
        (path.stem.replace("-", "_"), file, name)
        for path in (ROOT / "docs/proofs").glob("*.md")
        for names, file in mark.findall(path.read_text(encoding="utf-8"))
        for name in re.findall(r"`(\w+)`", names)
    }
    assert named == {
        (path.stem, path.stem, name)
        for path in (ROOT / "proofs").glob("*.v")
        for name in statements(path.read_text(encoding="utf-8"))
    }
