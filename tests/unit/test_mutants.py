"""The tool that plants errors: what it changes, what it leaves alone, what it says."""

import ast
import builtins
import itertools
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, final

import pytest

from tests.batches import for_each, sampled
from tests.mutants.__main__ import TREE, Tally, Verdict, drawn
from tests.mutants.changes import Change, changes
from tests.mutants.needed import alone, functions
from tests.mutants.planted import PLANTED, Planted
from tests.mutants.rooms import ROOMS
from tests.mutants.trial import COPIED, Outcome

SOURCE = '''"""A text with 1 number."""
LIMIT = 3
if TYPE_CHECKING:
    from numbers import Real


def larger(a: int, b: int = 2) -> int:
    """Return the larger of 2."""
    if a < b and b != 7:
        return b
    if a == 9:
        raise ValueError("9 < 10")
    return max(a, b) - 0
'''

AFTER = {
    "    if not (a < b and b != 7):",
    "    if a < b or b != 7:",
    "    if a <= b and b != 7:",
    "    if a < b and b == 7:",
    "    if a < b and b != 8:",
    "    if not (a == 9):",
    "    if a != 9:",
    "    if a == 10:",
    "    return min(a, b) - 0",
    "    return max(a, b) + 0",
    "    return max(a, b)",
    "    return max(a, b) - 1",
    "def larger(a: int, b: int = 3) -> int:",
}


def test_every_small_error_is_made_and_nothing_else() -> None:
    assert {change.after for change in changes("a.py", SOURCE)} == AFTER


def test_a_change_is_one_line() -> None:
    for change in changes("a.py", SOURCE):
        before, after = SOURCE.split("\n"), change.applied(SOURCE).split("\n")
        assert [b for b, a in zip(before, after, strict=True) if a != b] == [
            change.before
        ]


def test_the_order_depends_on_the_seed_and_the_line_alone() -> None:
    moved = Change("a.py", 12, "x < 1", "x <= 1")
    assert moved.rank(3) == Change("a.py", 7, "x < 1", "x <= 1").rank(3)
    assert moved.rank(3) != moved.rank(4)


def test_every_room_names_tests_that_are_there() -> None:
    named = {test for room in ROOMS.values() for test in room.tests}
    assert [test for test in sorted(named) if not (TREE / test).exists()] == []


@sampled(2, 3)
@for_each("room", ROOMS)
def test_every_room_has_enough_to_change(room: str) -> None:
    assert len(set(itertools.islice(drawn(TREE, ROOMS[room], 1), 20))) == 20


def test_each_kernel_file_is_tried_by_the_tests_of_one_room() -> None:
    """Tests that are not about it would let most changes of it live."""
    sources = TREE / "src" / "sordino"
    tried = Counter(path for room in ROOMS.values() for path in room.paths(TREE))
    assert [path for path, rooms in tried.items() if rooms > 1] == []
    rings = tomllib.loads((TREE / "tests" / "kernel.toml").read_text("utf-8")).values()
    places = (sources.joinpath(*n.split(".")) for ring in rings for n in ring["files"])
    files = {p / "__init__.py" if p.is_dir() else p.with_suffix(".py") for p in places}
    assert files - {*tried} == set()


def test_all_tests_that_notice_an_error_are_named() -> None:
    """An error that one test alone notices is told; others need that test less."""
    noticed = {"one": ("a",), "two": ("a", "b"), "none": ()}
    assert alone(noticed) == {"a": ["one"]}
    assert functions(("t.py::a[1]", "t.py::a[2]", "t.py::b")) == ("t.py::a", "t.py::b")


@final
class Endless:
    """A copy whose tests never end with an error, and take some time without it."""

    def __init__(self, unchanged: float) -> None:
        self.unchanged = unchanged

    def tried(self, *_: object) -> Outcome:
        return Outcome(killed=False, seconds=200, reason="no end", late=True)

    def run(self, *_: object) -> Outcome:
        return Outcome(killed=False, seconds=self.unchanged, reason="")


@for_each(
    ("unchanged", "verdict"), [(10, Verdict.KILLED), (100, Verdict.UNDECIDED)], ids=str
)
def test_tests_without_end_notice_where_they_end_without_an_error(
    unchanged: float, verdict: Verdict
) -> None:
    """Where they take long anyway nothing is known, and nothing is said."""
    tally = Tally("joins", ROOMS["joins"], None)
    endless: Any = Endless(unchanged)
    assert tally.tried_with(endless, "a.py", "", "an error") is verdict
    assert tally.undecided == (verdict is Verdict.UNDECIDED)


@for_each("error", PLANTED, ids=lambda error: error.says)
def test_every_planted_error_can_be_planted(error: Planted) -> None:
    """Its room exists, and its text stands once in its file: else write it anew."""
    text = (TREE / error.file).read_text()
    assert error.room in ROOMS
    assert text.count(error.before) == 1
    assert error.before != error.after
    assert unknown_names(error, text) == set()


def unknown_names(error: Planted, text: str) -> set[str]:
    """Return the names that an error brings and nobody made: it would die of them."""
    words = {*re.findall(r"\w+", text), *dir(builtins)}
    if not error.file.endswith(".py") or words.issuperset(
        re.findall(r"\w+", error.after)
    ):
        return set()
    changed = ast.parse(text.replace(error.before, error.after))
    names = [node for node in ast.walk(changed) if isinstance(node, ast.Name)]
    made = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - words - made


def test_an_error_that_dies_of_its_names_is_found() -> None:
    error = Planted("joins", "a.py", "max(a, b)", "sql.max(a, b)", "")
    assert unknown_names(error, SOURCE) == {"sql"}


@pytest.fixture(name="small")
def a_small_tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    for name in COPIED:
        (tree / name).parent.mkdir(exist_ok=True)
        if "." in name:
            (tree / name).touch()
        else:
            (tree / name).mkdir()
    (tree / "src/part.py").write_text(
        "LIMIT = 2\n\n\ndef far(x):\n    return x > LIMIT\n"
    )
    (tree / "tests/test_part.py").write_text(
        "from part import far\n\n\ndef test_far():\n    assert far(9)\n"
        "\n\ndef test_near():\n    assert not far(0)\n"
    )
    return tree


TRIAL = """
import sys
from pathlib import Path
from tests.mutants.trial import Copy

copy = Copy(Path(sys.argv[1]), Path(sys.argv[2]))
honest = (copy.place / "src/part.py").read_text()
for changed in (honest, honest.replace("x > ", "x < ")):
    print(copy.tried("src/part.py", changed, ["tests/test_part.py"], 20).killed)
print(len(copy.tried("src/part.py", changed, ["tests"], 20, every=True).noticed))
endless = honest.replace("return x > LIMIT", "while x: pass")
found = copy.tried("src/part.py", endless, ["tests"], 2)
print(found.killed, found.late)
assert (copy.place / "src/part.py").read_text() == honest
"""


@pytest.mark.slow
def test_a_noticed_error_is_killed_and_the_tree_is_not_touched(
    small: Path, tmp_path: Path
) -> None:
    """What no test notices survives; what has no end is neither; the copy is mended."""
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
    (tmp_path / "copy").mkdir()
    words = [sys.executable, "-c", TRIAL, str(small), str(tmp_path / "copy")]
    found = subprocess.run(words, cwd=TREE, capture_output=True, text=True, check=False)
    told = ["False", "True", "2", "False", "True"]
    assert found.stdout.split() == told, found.stderr
    after = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
    assert after == before
