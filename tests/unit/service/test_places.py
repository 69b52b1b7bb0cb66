"""Views, parts and blocks over the wire; and what reaches the noise of a server."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.auditing.loss_meter import Basket, Meter
from sordino.auditing.suite import SuiteTally, draw_trial, memory_engine
from sordino.auditing.worlds import neighbour
from sordino.engines import memory
from sordino.errors import BudgetExceeded, InvalidParameter, InvalidQuery, SordinoError
from sordino.session import executor
from tests.batches import for_each
from tests.dice import rolled
from tests.effort import often
from tests.served import BUDGET, VISITS, Office, open_session, tables

ONE: Final = sd.PureDP(1)
YEARS: Final = ["2023", "2024", "2025"]
LIMITED: Final = (
    sd
    .table("visits")
    .enforce(sd.MaxRowsPerID(3), sd.MaxGroupsPerID("ward", 1))
    .filter(sd.col("days") > 1)
)
FEW: Final = sd.table("few").agg(n=sd.count(), days=sd.mean("days", 0, 8))
FEWER: Final = sd.table("fewer")


def growing_session(folder: Path, **more: Any) -> sd.Session:
    """Return a curator's session over tables of which one lies in blocks."""
    rows = {**VISITS, "year": [YEARS[n % 3] for n in range(120)]}
    unit = sd.AddRowsWithID("patient")
    return sd.Session(
        {
            "visits": sd.PrivateTable(rows, unit, blocks="year"),
            "people": sd.PrivateTable({"patient": [*range(40)]}, unit),
        },
        BUDGET,
        ledger=folder / "clinic.ledger",
        blocks=sd.Blocks(names=YEARS),
        engine="memory",
        **more,
    )


def viewed(session: Any) -> Any:
    session.view("few", LIMITED)
    return session


def parted(session: Any, value: Any = None) -> Any:
    parts = viewed(session).partition("few", "ward", ["A", "B", None], sd.PureDP(4))
    return parts[value]


def parted_twice(session: Any) -> Any:
    inner = parted(session)
    inner.view("fewer", sd.table("few").enforce(sd.MaxGroupsPerID("days", 1)))
    return inner.partition("fewer", "days", [2, 5], sd.PureDP(3))[5]


def parted_by_rows(session: Any) -> Any:
    return viewed(session).partition("few", "days", [2, 5], sd.PureDP(3))[5]


def narrowed(session: Any) -> Any:
    return viewed(session.in_blocks("2023", "2025").in_blocks("2025"))


PLACES: Final[dict[str, tuple[Any, Callable[[Any], Any], Any]]] = {
    "a view": (open_session, viewed, FEW),
    "a part of a view": (open_session, parted, FEW),
    "a part of a part": (open_session, parted_twice, replace(FEW, rows=FEWER)),
    "a part by rows": (open_session, parted_by_rows, FEW),
    "all blocks": (growing_session, viewed, FEW),
    "blocks of blocks": (growing_session, narrowed, FEW),
    "a join beside blocks": (
        growing_session,
        narrowed,
        sd
        .table("few")
        .join_private("people", on="patient")
        .enforce(sd.MaxRowsPerID(2))
        .agg(n=sd.count()),
    ),
}


@for_each("name", PLACES)
def test_everywhere_is_as_in_a_session(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts, prices, proofs and blocks are equal; a key asked again is answered."""
    opened, go, query = PLACES[name]
    office = Office.open(tmp_path, "ana", session=opened(tmp_path))
    own, ana = opened(tmp_path, analyst="ana"), office.connect("ana", monkeypatch)
    there, here = go(own), go(ana)
    assert repr(here.describe()) == repr(there.describe())
    price, expected = here.price(query, ONE), there.price(query, ONE)
    assert (price.proof, repr(price), price.plan, price.blocks) == (
        *(expected.proof, repr(expected), expected.plan),
        expected.blocks,
    )
    release = here.release(query, ONE, key="k")
    assert release.table == here.release(query, ONE, key="k").table
    assert release.table == here.answer("k").table
    assert release.proof == price.proof
    more = query.rows.filter(sd.col("days") > 4)
    lasts = {"one": query, "two": more.agg(n=sd.count())}
    if name == "a part by rows":
        for session in (here, there):
            with pytest.raises(InvalidQuery, match="charged one by one"):
                session.release_all(lasts, ONE)
    else:
        assert [*here.release_all(lasts, ONE, key="both")] == ["one", "two"]
        assert [entry.key for entry in here.history()][-2:] == ["k", "both"]
    assert repr(here.remaining) == repr(here.describe().left)
    assert office.session.ledger.verify().releases == len(
        office.session.ledger.entries()
    )


def refused(office: Office, name: str, verb: str, fields: Any) -> str:
    reply = office.ask(name, verb, fields)
    assert reply.status == 400, reply
    text: str = json.loads(reply.content)["refusal"]["text"]
    return text


def test_views_are_planned_as_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that leave out each other's rows share a measurement, as their steps do."""
    ana = Office.open(tmp_path, "ana").connect("ana", monkeypatch)
    rows = sd.table("visits").enforce(sd.MaxRowsPerID(3))
    views = {f"day {day}": rows.filter(sd.col("days") == day) for day in (1, 2, 5)}
    for name, view in views.items():
        ana.view(name, view)
    by_name = {name: sd.table(name).agg(n=sd.count()) for name in views}
    by_steps = {name: view.agg(n=sd.count()) for name, view in views.items()}
    own = open_session(tmp_path, analyst="ana")
    proof = own.price_all(by_steps, ONE).proof
    assert ana.price_all(by_name, ONE).proof == proof
    assert [*ana.release_all(by_name, ONE)] == [*views]


def test_a_part_is_of_who_paid_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else asks it, and it is charged for once: its budget is its own."""
    office = Office.open(tmp_path, "ana", "ben", parts=3)
    ana = office.connect("ana", monkeypatch)
    part = parted(ana)
    assert (part.remaining, part.spent) == (sd.PureDP(4), sd.PureDP(0))
    part.release(FEW, sd.PureDP(3))
    with pytest.raises(BudgetExceeded):
        part.release(FEW, sd.PureDP(2))
    assert part.remaining == ONE
    assert len(office.session.ledger.entries()) == 1
    called, unknown = part._place, "part is not known to this server"
    assert unknown in refused(office, "ben", "budget", called)
    strangers: tuple[Any, ...] = ("", "0" * 128, ["x"], 7, {})
    for wrong in strangers:
        text = refused(office, "ana", "budget", {"part": wrong})
        assert unknown in text
    # words of a part are of no other place
    words = part._buy(FEW, ONE).fields
    assert "not those that are open here" in refused(office, "ana", "price", words)
    ben = office.connect("ben", monkeypatch)
    assert parted(ben)._place != called
    with pytest.raises(InvalidParameter, match="more parts than the 3"):
        ben.partition("few", "ward", ["A"], ONE)
    assert len(office.session.ledger.entries()) == 2
    # another process knows none of them: what was charged stays
    again = Office.open(tmp_path, session=office.session)
    again.tokens.update(office.tokens)
    assert unknown in refused(again, "ana", "budget", called)


def test_parts_are_charged_by_their_words_and_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody has written, or seen the price of, is refused."""
    office = Office.open(tmp_path, "ana")
    ana = viewed(office.connect("ana", monkeypatch))
    parts = ana._desk.price_parts("few", "ward", ["A"], ONE, "")
    asked = {"words": parts.identity.words, "table": "few"}
    for change in ({"words": asked["words"] + " "}, {"plan": "0" * 64}):
        refused(office, "ana", "partition", asked | change)
    assert office.session.ledger.entries() == ()
    assert office.ask("ana", "partition", asked).status == 200


def test_what_is_no_place_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typed, and nothing is charged; Python functions have no door here either."""
    office = Office.open(tmp_path, "ana", session=growing_session(tmp_path))
    ana: Any = office.connect("ana", monkeypatch)
    nowhere: tuple[Any, ...] = (3, "2023", [3], [["2030"]], [[]], [[None]], [["*"]])
    for wrong in (*nowhere, [["2023"]] * 11):
        assert "blocks must" in refused(office, "ana", "budget", {"blocks": wrong})
    for name in ("2030", 3, None):
        with pytest.raises(InvalidParameter, match="blocks must"):
            ana.in_blocks(name)
    with pytest.raises(InvalidQuery, match="parts of a table are paid for once"):
        parted(ana)
    with pytest.raises(InvalidParameter, match="already the name"):
        ana.view("people", LIMITED)
    plain = Office.open(tmp_path, session=sd.Session(tables(), BUDGET))
    plain.tokens.update(office.tokens)
    other: Any = plain.connect("ana", monkeypatch)
    with pytest.raises(InvalidQuery, match="do not lie in blocks"):
        other.in_blocks("2023")
    coded = sd.table("visits").with_columns(sd.udf(lambda row: row, {"z": "i64"}))
    other.view("coded", coded.enforce(sd.MaxRowsPerID(2)))
    with pytest.raises(InvalidQuery, match="does not travel"):
        other.release(sd.table("coded").agg(n=sd.count()), ONE)
    with pytest.raises(InvalidQuery, match="does not travel"):
        other.partition("coded", "ward", ["A"], ONE)
    fields = {"words": '["partition",{}]', "table": "visits"}
    assert "words must be those" in refused(plain, "ana", "partition", fields)
    assert office.session.ledger.entries() == plain.session.ledger.entries() == ()


def measured(seed: int, patch: pytest.MonkeyPatch, folder: Path) -> Iterator[float]:
    """Yield losses of neighbours over the charge, of what a server drew for a request.

    What it drew noise for is noted where it draws; what it charged stands in its
    ledger. No word of the client, and none of its plan, is used.
    """
    dice = rolled(seed)
    trial = draw_trial(dice, SuiteTally())
    if trial is None:
        return
    budget = dice.one((ONE, sd.ApproxDP(1, "1e-4")))
    rows = trial.world.tables(trial.world.private)
    session = sd.Session(rows, BUDGET, engine="memory")
    bought: list[Any] = []
    for name in ("noisy_answer", "margins_answer"):
        draw = getattr(executor, name)

        def noting(purchase: Any, *totals: Any, draw: Any = draw) -> Any:
            bought.append(purchase)
            return draw(purchase, *totals)

        patch.setattr(executor, name, noting)
    ana = Office.open(folder, "ana", session=session).connect("ana", patch)
    ask = ana.release_all if isinstance(trial.request, dict) else ana.release
    try:
        ask(trial.request, budget)
    except SordinoError:
        return
    meter = Meter.open(rows, trial.request, budget, memory_engine(trial.salt))
    vars(meter)["basket"] = Basket(tuple(bought), session.spent, budget)
    for _ in range(3):
        other = trial.world.tables(neighbour(dice, trial.world))
        try:
            yield meter.measure(other, memory_engine(trial.salt)).ratio
        except InvalidQuery:  # keys that are shown first are not measured
            return


def ratios(folder: Path, seeds: range) -> list[float]:
    found: list[float] = []
    for seed in seeds:
        place = folder / str(seed)
        place.mkdir(parents=True)
        with pytest.MonkeyPatch.context() as patch:
            found += measured(seed, patch, place)
    return found


def one_more(rows: Callable[..., int]) -> Callable[..., int]:
    return lambda wanted, given: rows(wanted, given) + len(given) // 2


def test_no_request_over_the_wire_loses_more_than_its_ledger_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn requests, drawn neighbours; nothing depends on chance.

    A table whose rows count more than once is seen to lose more than is charged.
    """
    seeds = range(often(9, 400))
    found = ratios(tmp_path / "true", seeds)
    assert len(found) > len(seeds)
    assert 0.9 < max(found) <= 1 + 1e-9
    monkeypatch.setattr(memory, "exact_total", one_more(memory.exact_total))
    assert max(ratios(tmp_path / "planted", seeds)) > 1.01
