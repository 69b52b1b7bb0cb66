"""Sessions on a ledger file, and processes that use them and die on the way.

The functions that run in children stand at the top of a module that a child imports.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import sordino as sd
from sordino.errors import AnswerLost, BudgetExceeded
from sordino.ledger.file_format import World
from sordino.plan.purchase import Purchase
from sordino.release.answer import Answer
from tests.ledgers import FRESH, Dying

FRESH.set_forkserver_preload(["tests.ledgers", "tests.sessions", "tests.tenths"])

LIMIT: Final = sd.ApproxDP(1, "1e-6")
TENTH: Final = sd.ApproxDP("0.1", "1e-7")
ROWS: Final[dict[str, list[Any]]] = {
    "person": [1, 1, 2, 3, None, 4] * 50,
    "ward": ["A", "B", "A", None, "A", "B"] * 50,
    "days": [3, None, 8, 2, 5, 40] * 50,
}
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
_BOUNDED: Final = sd.table("visits").enforce(sd.MaxRowsPerID(2))
QUESTIONS: Final[dict[str, Any]] = {
    "count": _BOUNDED.agg(n=sd.count()),
    "sums by ward": _BOUNDED.group_by(WARDS).agg(days=sd.sum("days", 0, 30)),
    "unknown wards": _BOUNDED.group_by("ward").agg(n=sd.count_ids()),
    "a choice": _BOUNDED.agg(days=sd.median("days", 0, 30)),
}
KINDS: Final = (*QUESTIONS, "together")
"""Every kind of release: of each question, and of all of them together."""
Engine = Literal["duckdb", "memory"]


def session(
    ledger: Any, budget: Any = None, engine: Engine = "memory", **more: Any
) -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("person"))
    return sd.Session({"visits": table}, budget, ledger=ledger, engine=engine, **more)


def told(release: sd.Release) -> str:
    """Return the numbers of a release, all their digits."""
    return json.dumps([release.table.to_pydict(), release.errors.to_pydict()])


def answered(opened: sd.Session, kind: str, key: str | None) -> str:
    """Ask for a release of some kind, and return its numbers."""
    if kind == "together":
        found = opened.release_all(QUESTIONS, TENTH, key=key)
        return json.dumps([told(one) for one in found.values()])
    return told(opened.release(QUESTIONS[kind], TENTH, key=key))


def dying(path: Path, shown: Path, kind: str, key: str | None, point: str) -> None:
    """Ask for a release and tell its numbers, dying at a point of the protocol."""
    end = Dying(point)
    ledger = sd.Ledger.at(path, world=World(reached=end.reached))
    opened = session(ledger)
    prepare = opened._desk._prepare

    def prepared(purchase: Purchase) -> Callable[[], Answer]:
        compute = prepare(purchase)

        def computed() -> Answer:
            made = compute()
            end.reached("computed")
            return made

        return computed

    object.__setattr__(opened._desk, "_prepare", prepared)
    with suppress(AnswerLost):
        tell(shown, answered(opened, kind, key))
        end.reached("told")


def spending(path: Path, shown: Path, name: str, cost: str) -> None:
    """Ask for counts until nothing is left, and tell each."""
    opened = session(path)
    turn = 0
    with suppress(BudgetExceeded):
        while True:
            budget = sd.ApproxDP(cost, 0)
            release = opened.release(QUESTIONS["count"], budget, key=f"{name}{turn}")
            tell(shown, told(release))
            turn += 1


def asking(path: Path, shown: Path, key: str) -> None:
    """Ask one question under a key, and tell the answer."""
    tell(shown, answered(session(path), "count", key))


def tell(shown: Path, text: str) -> None:
    """Add a line to what the world has seen."""
    with shown.open("a", encoding="ascii") as file:
        file.write(f"{text}\n")


def seen(shown: Path) -> list[str]:
    return shown.read_text("ascii").splitlines() if shown.exists() else []


def refusal(act: Callable[[], object]) -> str:
    try:
        act()
    except sd.errors.SordinoError as error:
        return type(error).__name__
    return ""
