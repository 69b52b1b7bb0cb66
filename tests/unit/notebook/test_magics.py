"""`%%dp`: the words after it, and that it is the request of `session.sql`."""

from typing import Any

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, UnknownName
from sordino.office.notebook.magics import read_arguments
from tests.batches import for_each

TEXT = "SELECT COUNT(*) AS n FROM visits"


class Shell:
    """What IPython offers to an extension, and no more."""

    def __init__(self, **names: Any) -> None:
        self.user_ns: dict[str, Any] = {"_hidden": 1, **names}
        self.magics: dict[str, Any] = {}

    def push(self, names: dict[str, Any]) -> None:
        self.user_ns |= names

    def register_magic_function(self, magic: Any, kind: str, name: str) -> None:
        self.magics[f"{kind} {name}"] = magic


def shell_of(**names: Any) -> tuple[Shell, Any]:
    visits = {"patient": [1, 2, 2], "ward": ["A", "B", "B"]}
    table = sd.PrivateTable(visits, protects=sd.AddRowsWithID("patient"))
    opened = sd.Session(tables={"visits": table}, budget=sd.ApproxDP(1, "1e-6"))
    shell = Shell(session=opened, limits=sd.MaxRowsPerID(2), **names)
    sd.load_ipython_extension(shell)
    return shell, shell.magics["cell dp"]


def test_the_request_is_that_of_sql() -> None:
    shell, magic = shell_of()
    opened = shell.user_ns["session"]
    asked = magic("--limits limits", TEXT)
    assert repr(asked) == repr(opened.sql(TEXT, limits=sd.MaxRowsPerID(2)))


def test_a_price_charges_nothing() -> None:
    """Also where the text itself states a budget."""
    shell, magic = shell_of()
    opened = shell.user_ns["session"]
    assert magic("--limits limits --epsilon 0.5 --price", TEXT).loss.epsilon == 0.5
    stated = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=1e-7) "
        "COUNT(*) AS n FROM visits"
    )
    assert isinstance(magic("--limits limits --price", stated), sd.Price)
    assert not opened.history()
    assert isinstance(magic("--limits limits", stated), sd.Release)


def test_a_release_is_charged_and_kept() -> None:
    shell, magic = shell_of()
    line = (
        "session --limits limits --epsilon 0.1 --into answer --key one --why 'a look'"
    )
    release = magic(line, TEXT)
    assert shell.user_ns["answer"] is release
    (entry,) = shell.user_ns["session"].history()
    assert (entry.key, entry.why) == ("one", "a look")


def test_several_groupings_are_one_price_and_one_table() -> None:
    shell, magic = shell_of(keys={"ward": ["A", "B"]})
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)"
    line = "--limits limits --keys keys --epsilon 0.5"
    assert isinstance(magic(f"{line} --price", text), sd.Batch)
    assert not shell.user_ns["session"].history()
    assert magic(line, text)["ward"].to_pylist() == ["A", "B", None]
    assert len(shell.user_ns["session"].history()) == 1


@for_each(
    ("line", "budget"),
    [
        ("", None),
        ("--epsilon 1/3", sd.PureDP("1/3")),
        ("--epsilon 1 --delta 1e-6", sd.ApproxDP(1, "1e-6")),
        ("--rho 0.1", sd.ZCDP("0.1")),
        ("--rho 0.1 --delta 1e-6", sd.ApproxZCDP("0.1", "1e-6")),
        ("--mu 0.5", sd.GaussianDP("0.5")),
    ],
)
def test_budgets(line: str, budget: sd.Budget | None) -> None:
    """Amounts are exact: they are read as they are written."""
    assert read_arguments(line).budget == budget


@for_each(
    ("line", "error", "words"),
    [
        ("clinic", UnknownName, "no variable 'clinic'"),
        ("limits", InvalidParameter, "must be a session"),
        ("session --limits limit", UnknownName, "Did you mean 'limits'"),
        ("--epsilon 1 --rho 1", InvalidParameter, "are two budgets"),
        ("--delta 1e-6", InvalidParameter, "stands alone"),
        ("--epsilon", InvalidParameter, "cannot be read"),
        ("--epsilon -1", InvalidParameter, "must not be negative"),
        ("--epsilon=-1", InvalidParameter, "epsilon"),
        ("--epsilon __import__('os')", InvalidParameter, "epsilon"),
        ("--colour blue", InvalidParameter, "cannot be read"),
        ("session extra", InvalidParameter, "cannot be read"),
        ("--why 'open", InvalidParameter, "quote"),
        ("--help", InvalidParameter, "cannot be read"),
        ("--dialect mysql", InvalidParameter, "dialect"),
    ],
)
def test_what_is_refused(line: str, error: type[Exception], words: str) -> None:
    shell, magic = shell_of()
    with pytest.raises(error, match=words):
        magic(line, TEXT)
    assert not shell.user_ns["session"].history()
