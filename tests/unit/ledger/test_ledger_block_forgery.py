"""Blocks in a ledger that somebody rewrote, cut off, or was killed in the middle of."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import sordino as sd
from sordino.errors import LedgerDamaged, LedgerUnavailable
from sordino.ledger import file_format, record_kinds
from sordino.ledger.file_format import NOTHING, Record, World
from sordino.ledger.record_kinds import Claim
from tests.batches import for_each
from tests.ledgers import FRESH, Standing, charge_blocks, run

MONTHS = sd.Blocks(start="2026-01", every="month")
LIMIT = sd.PureDP("0.1")


def claim(*blocks: str, **more: Any) -> Claim:
    loss = sd.PureDP("0.04")
    return Claim(request="n", asked=loss, loss=loss, blocks=blocks, **more)


def left(ledger: sd.Ledger) -> dict[str, sd.Loss]:
    return {block.name: block.remaining for block in ledger.blocks()}


History: TypeAlias = list[tuple[str, dict[str, Any]]]


@pytest.fixture(name="path")
def path_of_a_ledger(tmp_path: Path) -> Path:
    path = tmp_path / "a.ledger"
    world = World(clock=Standing(2026, 4, 1))
    with sd.Ledger.at(path, LIMIT, create=True, blocks=MONTHS, world=world) as ledger:
        ledger.open_blocks(whole=True)
        ledger.reserve(claim("2026-01", "2026-02", key="a"))
        ledger.reserve(claim("2026-02", "2026-03", key="b"))
    return path


def forge(path: Path, change: Callable[[History], object]) -> None:
    """Rewrite a ledger with a changed history and hashes that fit it."""
    with sd.Ledger.at(path) as ledger:
        history: History = [(one.kind, one.fields) for one in ledger.records()]
    change(history)
    contents, head = [], NOTHING
    for kind, fields in history:
        record = Record.successor(head, kind, fields)
        contents.append((record, b""))
        head = record.head
    path.unlink()
    assert file_format.create_file(path, World(), "ledger", contents)


def put(number: int, *where: Any, value: Any) -> Callable[[History], object]:
    """Return the change of one field of a record."""

    def change(history: History) -> None:
        place: Any = history[number - 1][1]
        for name in where[:-1]:
            place = place[name]
        place[where[-1]] = value

    return change


def again(number: int) -> Callable[[History], object]:
    return lambda history: history.append(history[number - 1])


ONE = {"epsilon": "1/25"}
LOWER = {
    "budget": "dataset",
    "limit": {
        "limits": {"epsilon": "1/20"},
        "rule": "epsilon",
        "stated": "PureDP(epsilon=1/20), counted as asked",
    },
    "when": "2026-04-01T00:00:00+00:00",
    "who": "",
    "why": "",
}
"""A limit that all blocks hold but one."""
FORGERIES: dict[str, Callable[[History], object]] = {
    "charged less": put(5, "each", value={"epsilon": "1/100"}),
    "a lower sum": put(6, "blocks", 0, 2, value=ONE),
    "another block": put(6, "blocks", 0, 0, value=0),
    "a block that is not open": put(6, "blocks", 1, 1, value=4),
    "more than the limit": put(5, "each", value={"epsilon": "1/5"}),
    "no blocks": lambda history: history[4][1].update(blocks=None, each=None),
    "of all together": lambda history: history[4][1].update(
        charges={"dataset": ONE}, spent={"dataset": ONE}
    ),
    "an amount of another kind": put(5, "each", value={"rho": "1/25"}),
    "runs in no order": lambda history: history[5][1]["blocks"].reverse(),
    "a run backwards": put(6, "blocks", 0, value=[2, 1, ONE]),
    "a run far away": put(6, "blocks", 1, 1, value=10**9),
    "a run below zero": put(6, "blocks", 0, 0, value=-1),
    "a run of truths": put(6, "blocks", 0, 0, value=True),
    "no run": put(6, "blocks", value=[]),
    "a run of four": lambda history: history[5][1]["blocks"][0].append(ONE),
    "a run without an amount": put(6, "blocks", 0, 2, value=None),
    "opened twice": again(4),
    "opened elsewhere": put(4, "first", value=1),
    "a month left out": put(4, "blocks", 2, value="2026-03"),
    "a month that is none": put(4, "blocks", 3, value="2026-13"),
    "another limit": put(4, "limit", "limits", value={"epsilon": "1/5"}),
    "a block without a name": put(4, "blocks", 1, value=""),
    "divided twice": again(3),
    "divided late": lambda history: history.insert(4, history.pop(2)),
    "never divided": lambda history: history.pop(2),
    "divided otherwise": put(3, "start", value="2026-02"),
    "divided by nothing": put(3, "every", value="fortnight"),
    "divided by a number": put(3, "start", value=5),
    "lowered beneath one block": lambda history: history.append(("lowered", LOWER)),
}


def test_a_history_that_was_not_changed_is_whole(path: Path) -> None:
    forge(path, lambda _: None)
    with sd.Ledger.at(path) as ledger:
        assert ledger.verify().releases == 2


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=list(FORGERIES))
def test_a_history_of_blocks_that_cannot_be_is_found(
    path: Path, forgery: Callable[[History], object]
) -> None:
    """Each block's sum is added up anew, and blocks open in order, once."""
    forge(path, forgery)
    with pytest.raises(LedgerDamaged):
        verify(path)


def verify(path: Path) -> None:
    """Open a ledger, and walk through it; both may refuse it."""
    with sd.Ledger.at(path) as ledger:
        ledger.blocks(), ledger.entries(), ledger.exposure(2)
        ledger.verify()


def test_a_flipped_bit_is_found(path: Path) -> None:
    whole = path.read_bytes()
    begins = whole.index(b'{"number":1,')
    for at in range(begins, len(whole), 23):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises((LedgerDamaged, LedgerUnavailable)):
            verify(path)


def test_a_version_without_blocks_refuses_the_ledger(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would charge releases to the budget of all blocks together."""
    older = {
        name: kind for name, kind in record_kinds.KINDS.items() if name != "divided"
    }
    monkeypatch.setattr(record_kinds, "KINDS", older)
    with pytest.raises(LedgerUnavailable, match="'divided', which a later version"):
        sd.Ledger.at(path)


def test_backups_and_witnesses_have_the_blocks(tmp_path: Path) -> None:
    path, witness = tmp_path / "a.ledger", tmp_path / "a.witness"
    clock = Standing(2026, 3, 1)
    terms: Any = {"witness": witness, "world": World(clock=clock)}
    with sd.Ledger.at(path, LIMIT, create=True, blocks=MONTHS, **terms) as ledger:
        ledger.open_blocks()
        ledger.reserve(claim("2026-01"))
        ledger.backup(tmp_path / "copy")
        clock.now = Standing(2026, 4, 1).now
        ledger.open_blocks()
        ledger.reserve(claim("2026-01", "2026-03"))
        expected = left(ledger)
    path.unlink()
    with sd.Ledger.restore(tmp_path / "copy", path, witness=witness) as ledger:
        assert left(ledger) == expected
        assert ledger.division == MONTHS
        ledger.verify()


POINTS = [
    f"{kind}: {point}"
    for kind in ("block", "charged", "answered")
    for point in ("begun", "written", "durable", "told")
]


@pytest.mark.slow
@for_each("point", POINTS)
def test_whoever_dies_on_the_way_leaves_a_whole_ledger(
    tmp_path: Path, point: str
) -> None:
    path = tmp_path / "a.ledger"
    sd.Ledger.at(path, LIMIT, create=True, blocks=MONTHS).close()
    assert run(charge_blocks, path, "k", 1, point, (2026, 3, 1)) == -signal.SIGKILL
    assert run(charge_blocks, path, "k", 1, "", (2026, 3, 1)) == 0
    with sd.Ledger.at(path) as ledger:
        ledger.verify()
        assert set(left(ledger).values()) == {sd.PureDP("0.09")}


@pytest.mark.slow
def test_two_processes_open_each_block_once(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    sd.Ledger.at(path, LIMIT, create=True, blocks=MONTHS).close()
    days = [(2026, 3, 1), (2026, 8, 1), (2025, 1, 1), (2026, 8, 1)]
    children = [
        FRESH.Process(target=charge_blocks, args=(path, f"c{place}", 12, "", day))
        for place, day in enumerate(days)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
    with sd.Ledger.at(path) as ledger:
        ledger.verify()
        assert [block.name for block in ledger.blocks()][-1] == "2026-07"
        assert sd.PureDP(0) in left(ledger).values()
