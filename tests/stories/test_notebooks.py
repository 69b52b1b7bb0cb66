"""Notebooks: a kernel that has ipykernel and nothing else of Jupyter is enough."""

import doctest
import importlib.util
import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import nbclient
import nbformat
import pytest

from tests.effort import by_night
from tests.test_docs import ELSEWHERE

ROOT: Final = Path(__file__).parent.parent.parent
PAGES: Final = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs/guides").glob("*.md")))
    if page.name not in ELSEWHERE
]
FIRST: Final = """
import sordino as sd
visits = {"ward": ["A", "A", "B"], "days": [2, 5, 1]}
wards = sd.PublicTable({"ward": ["A", "B"], "beds": [12, 30]})
session = sd.Session(
    tables={"visits": sd.PrivateTable(visits, protects=sd.AddOneRow()), "wards": wards},
    budget=sd.ApproxDP(9, "1e-5"),
    progress=True,
)
query = sd.table("visits").join_public("wards", on="ward").group_by("ward")
"""
SLOW: Final = """
import time
from sordino.numbers import progress
progress.PATIENCE = 0
def slowly(row):
    time.sleep(0.3)
    return {"z": 1}
rows = sd.table("visits").with_columns(sd.udf(slowly, {"z": "i64"}))
session.release(rows.agg(z=sd.sum("z", 0, 1, nulls=0)), sd.PureDP(1))
"""


def ran(cells: list[str]) -> list[Any]:
    """Return what cells show that run one after the other in a new kernel."""
    book: Any = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    book.cells = [
        nbformat.v4.new_code_cell(cell)  # type: ignore[no-untyped-call]
        for cell in cells
    ]
    client = nbclient.NotebookClient(
        book, timeout=300, allow_errors=True, kernel_name="python3"
    )
    client.execute()
    return [cell.outputs for cell in book.cells]


@cache
def example(name: str) -> Any:
    return nbformat.read(ROOT / "examples" / name, as_version=4)  # type: ignore[no-untyped-call]


@cache
def together() -> dict[str, list[Any]]:
    """Return what all books show, run by one kernel that forgets between examples."""
    books = BOOKS | {name: ["%reset -f", *code_of(name)] for name in EXAMPLES}
    books["first"] = books.pop("first")  # shows how far it is from then on
    every = ran([cell for cells in books.values() for cell in cells])
    ends = itertools.accumulate(map(len, books.values()))
    return {
        name: every[end - len(cells) : end]
        for (name, cells), end in zip(books.items(), ends, strict=True)
    }


def code_of(name: str) -> list[str]:
    return [cell.source for cell in example(name).cells if cell.cell_type == "code"]


def kinds(outputs: Any) -> set[str]:
    """Return in which forms a cell shows its value."""
    return {kind for one in outputs for kind in one.get("data", {})}


def told(outputs: Any, name: str) -> str:
    return "".join(one.text for one in outputs if one.get("name") == name)


def test_the_kernel_has_no_widgets() -> None:
    for absent in ("ipywidgets", "notebook", "jupyterlab"):
        assert importlib.util.find_spec(absent) is None


EXAMPLES: Final = ("clinic.ipynb", "first-hour.ipynb")
PRICED: Final = """
%%dp session --epsilon 0.5 --price
SELECT COUNT(*) AS n FROM visits
"""
REFUSED: Final = (
    "session.price(sd.table('visits').agg(d=sd.mean('dayz', 0, 9)), sd.PureDP(1))"
)
BOOKS: Final = {
    "itself": [
        FIRST,
        "session.ledger",
        "session.price(query.agg(n=sd.count()), sd.ApproxDP(1, '1e-6'))",
        "sd.ApproxDP(1, '1e-6')",
        "sd.KeySet.from_dict({'ward': ['<script>alert(1)</script>']})",
        "session.price_all({'a': query.agg(n=sd.count())}, sd.ApproxDP(1, '1e-6'))",
        "%load_ext sordino",
        PRICED.strip(),
        "session.spent",
    ],
    "refused": [FIRST, REFUSED, "%%dp\nSELECT nothing FROM visits"],
    "first": [
        FIRST,
        "session",
        "session.price(query.agg(n=sd.count()), sd.ApproxDP(1, '1e-6'))",
        "release = session.release(query.agg(n=sd.count()), sd.ApproxDP(1, '1e-6'))",
        "release",
        "release.plot()",
        "release.loss.curve().plot()",
        SLOW,
    ],
}


@pytest.mark.slow
def test_a_first_notebook() -> None:
    """Values, pictures and progress appear, with no word of magic before."""
    outputs = together()["first"]
    assert not [one for cell in outputs for one in cell if one.output_type == "error"]
    assert kinds(outputs[4]) == {"text/html", "text/plain"}
    assert kinds(outputs[1]) == {"text/html", "text/plain"}
    for picture in outputs[5:7]:
        assert "image/png" in kinds(picture)
    assert "\rcomputing" in told(outputs[7], "stderr")
    assert not any(told(cell, "stderr") for cell in outputs[:7])


@pytest.mark.slow
def test_what_shows_itself() -> None:
    outputs = together()["itself"]
    assert not [one for cell in outputs for one in cell if one.output_type == "error"]
    for shown in (*outputs[1:6], outputs[7]):
        assert kinds(shown) == {"text/html", "text/plain"}
        assert "<script" not in shown[0].data["text/html"]
    assert "ApproxDP(epsilon=0, delta=0)" in outputs[8][0].data["text/plain"]


@pytest.mark.slow
def test_the_example_runs() -> None:
    cells = example("clinic.ipynb").cells
    assert not any(cell.get("outputs") for cell in cells), "commit no outputs"
    outputs = together()["clinic.ipynb"][1:]
    errors = [one for cell in outputs for one in cell if one.output_type == "error"]
    assert not errors
    assert "text/html" in kinds(outputs[0])


SIXTEEN: Final = tuple(range(1, 17))


@pytest.mark.slow
def test_sixteen_questions_are_answered_at_the_first_try() -> None:
    """Each shows its answer as a table or a picture, and nothing is said beside it."""
    book = example("first-hour.ipynb")
    assert not any(cell.get("outputs") for cell in book.cells), "commit no outputs"
    outputs = together()["first-hour.ipynb"][1:]
    kinds_of = [cell.cell_type for cell in book.cells]
    shown: dict[int, set[str]] = {}
    question, place = 0, -1
    for cell, kind in zip(book.cells, kinds_of, strict=True):
        if kind == "markdown":
            number = re.match(r"\*\*(\d+)\.", cell.source)
            question = int(number[1]) if number else 0
            continue
        place += 1
        one = outputs[place]
        assert not [each for each in one if each.output_type == "error"], cell.source
        assert not told(one, "stderr"), cell.source
        shown.setdefault(question, set()).update(kinds(one))
    assert tuple(sorted(set(shown) - {0})) == SIXTEEN
    answered = [shown[number] & {"text/html", "image/png"} for number in SIXTEEN]
    assert all(answered), answered
    # the way to the first release: five lines, the table aside
    assert kinds(outputs[-2]) == {"text/html", "text/plain"}  # the history


def test_the_guide_has_the_words_of_all_sixteen() -> None:
    guide = (ROOT / "docs/guides/notebook.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|[^`]*`([^`]+)`", guide, re.MULTILINE)
    assert tuple(int(number) for number, _ in rows) == SIXTEEN
    cells = "\n".join(cell.source for cell in example("first-hour.ipynb").cells)
    asked = re.split(r"^\*\*\d+\.", cells, flags=re.MULTILINE)
    assert not [words for number, words in rows if words not in asked[int(number)]]


@pytest.mark.slow
def test_a_refusal_is_a_line_and_a_sentence() -> None:
    """Under a cell stands what it says, and none of our frames."""
    (called,), (typed,) = together()["refused"][1:]
    place = len(BOOKS["itself"]) + 2
    assert called.traceback[:2] == [f"Cell In[{place}], line 1", f"    {REFUSED}"]
    assert called.traceback[-1].startswith("UnknownName: there is no column 'dayz'")
    assert len(called.traceback) == 4
    assert typed.traceback[0].startswith("InvalidSQL: ")
    assert len(typed.traceback) == 1


@by_night
@pytest.mark.slow
def test_guides_run_in_a_kernel() -> None:
    examples = [(page.name, example) for page in PAGES for example in _examples(page)]
    outputs = ran([one.source for _, one in examples])
    for (page, example), shown in zip(examples, outputs, strict=True):
        failed = {one.ename for one in shown if one.output_type == "error"}
        expected = (example.exc_msg or "").partition(":")[0].rpartition(".")[2].strip()
        assert failed == ({expected} if expected else set()), (page, example.source)


def _examples(page: Path) -> list[doctest.Example]:
    parser = doctest.DocTestParser()
    forget = doctest.Example("%reset -f", "")
    return [forget, *parser.get_examples(page.read_text(encoding="utf-8"))]
