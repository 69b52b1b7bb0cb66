"""What a report says of ledgers of every kind, and that it says nothing else."""

import json
import re
from html import unescape
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import duckdb
import pytest

import sordino as sd
from sordino import kernel
from sordino.errors import InvalidParameter, LedgerDamaged
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import proof_text
from sordino.office.cli.main import main
from sordino.office.html.odds import Odds, hundred_text
from sordino.office.html.page import language_codes, read_language
from sordino.office.report.annex import ledger_annex
from sordino.office.report.document import ledger_report, ledger_story
from sordino.office.report.promise import list_omissions
from sordino.office.report.request_words import hidden_below, step_kind, steps_of
from tests.batches import for_each, sampled
from tests.jobs import fill_folder
from tests.policies import signed
from tests.reports import (
    LIMIT,
    TENTH,
    open_session,
    plain_ledger,
    read_page,
    rows,
)

VECTORS = Path(__file__).parent.parent.parent / "vectors"
VISITS = sd.table("visits").enforce(sd.MaxRowsPerID(3))
COUNT = VISITS.agg(n=sd.count())


def words_of_report(ledger: Ledger) -> str:
    return read_page(ledger_report(ledger, "Clinic", "en")).words


def state_of(ledger: Ledger, name: str) -> str:
    lines = list_omissions(ledger_story(ledger, "Clinic"))
    return next(line.state for line in lines if line.name == name)


def asked(query: Any, limit: Any = LIMIT, budget: Any = TENTH) -> Ledger:
    ledger = Ledger.in_memory(limit)
    open_session(ledger, rows()).release(query, budget, key="k")
    return ledger


def test_page_one_says_what_is_spent_left_and_who_may_ask() -> None:
    """The amounts are those of the ledger, spent rounded up and left rounded down."""
    words = words_of_report(plain_ledger())
    assert "0.5 of 4 is spent by 5 releases; 3.5 is left" in words
    assert "all rows with the same person" in words
    assert re.search(r"planning 0\.5 0\.1 0\.4 yes, up to 0\.4", words)
    thirds = asked(COUNT, sd.PureDP("1/3"), sd.PureDP("1/7"))
    assert "0.1429 of 0.3334 is spent by 1 release; 0.1904 is left" in words_of_report(
        thirds
    )


def test_the_proof_of_the_newest_release_stands_in_the_file() -> None:
    """All of it, as it is in the ledger: who copies it has it checked."""
    ledger = plain_ledger()
    entry = ledger.entries()[-1]
    (certificate,) = re.findall(
        r"<pre>(\{.*?\})</pre>", ledger_report(ledger, "Clinic", "en"), re.DOTALL
    )
    fields = json.loads(proof_text(ledger.charge(entry.number).fields))
    assert json.loads(unescape(certificate)) == fields
    assert kernel.check(unescape(certificate))


RULES: Final = """
serial = 3
title = "Clinic & <b>Co</b>"
[release]
epsilon = 0.5
delta = "1e-6"
[groups]
least = 20
[tables.visits]
keys = ["ward"]
"""


def test_a_policy_is_told_in_sentences_with_how_often_it_was_kept() -> None:
    """Charges before it are counted apart; without one that is said."""
    assert "No officer signed rules" in words_of_report(plain_ledger())
    ledger = Ledger.in_memory(LIMIT)
    session = open_session(ledger, rows())
    session.release(COUNT, TENTH)
    folder = Path(mkdtemp())
    ledger.adopt(signed(folder / "policy.toml", RULES))
    for _ in range(2):
        session.release(COUNT, TENTH)
    words = words_of_report(ledger)
    assert "Clinic & <b>Co</b>" in words
    assert "1 release was charged before" in words
    kept = r"delta 1 in a million\. by all 2 releases"
    assert re.search(rf"One release costs at most epsilon 0\.5 and {kept}", words)
    assert "What may form groups of “visits”: “ward”. by all 2 releases" in words
    # the digest alone told her nothing
    assert ledger_report(ledger, "Clinic", "en").count("by all 2 releases") == 4


def test_epsilon_is_said_where_it_is_the_unit() -> None:
    assert "What epsilon is" in words_of_report(plain_ledger())
    assert "What epsilon is" not in words_of_report(
        asked(COUNT, sd.GaussianDP(2), sd.GaussianDP("0.1"))
    )


@for_each("code", language_codes())
def test_an_annex_has_the_facts_of_the_ledger(code: str) -> None:
    """In each language the amounts and odds of the report, and lines to fill in."""
    ledger, language = plain_ledger(), read_language(code)
    page = ledger_annex(ledger, "Clinic", code)
    words = read_page(page).words
    story = ledger_story(ledger, "Clinic")
    assert language.plain("annex.part.risks") in words
    for name in ("purpose", "access", "basis", "less", "officer", "review"):
        assert language.plain(f"annex.open.{name}") in words
    found = Odds(story.bound).finds(5)
    asked_of = language.plain("annex.risk.named")
    told = f"{asked_of} {hundred_text(language, found)}"
    assert " ".join(told.split()) in words  # read pages have plain spaces
    for amount in ("3.5", "0.5", "4"):
        assert language.number(amount) in words
    assert page == ledger_annex(ledger, "Clinic", code)


def test_what_was_cut_off_is_told_in_the_language_of_the_report() -> None:
    ledger = asked(VISITS.agg(n=sd.count(), coverage=True))
    for code, limit, together in (
        ("en", "At most 3 rows of one person count. About", "up to 9 of each person"),
        ("de", "Höchstens 3 Zeilen einer Person zählen. Etwa", "höchstens 9 je Person"),
        ("fr", "Au plus 3 lignes d’une personne comptent. Env", "9 au plus par person"),
    ):
        words = read_page(ledger_report(ledger, "Clinic", code)).words
        assert limit in words
        assert together in words


def test_a_table_is_not_taken_for_what_limits_cut_off(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("person,days\n1,2\n2,x\n", encoding="utf-8")
    ledger, name = Ledger.in_memory(LIMIT), "limits together, a b c"
    table = sd.PrivateTable(
        tmp_path / "a.csv",
        protects=sd.AddRowsWithID("person"),
        columns={"person": "i64", "days": "i64"},
    )
    session = sd.Session({name: table}, ledger=ledger, engine="memory")
    query = sd.table(name).enforce(sd.MaxRowsPerID(3))
    asked_for = query.agg(s=sd.sum("days", 0, 9, nulls=0), coverage=True)
    session.release(asked_for, TENTH, key="k")
    assert f"{name}.days : about" in words_of_report(ledger)


def test_nobody_may_ask_for_more_than_all_are_left() -> None:
    ledger = asked(COUNT, sd.PureDP("0.3"), sd.PureDP("0.2"))
    ledger.allot("ana", sd.PureDP("0.25"))
    assert "ana 0.25 0 0.25 yes, up to 0.1" in words_of_report(ledger)


def test_a_budget_that_ended_is_told_as_such() -> None:
    used = asked(COUNT, sd.PureDP("0.1"), sd.PureDP("0.1"))
    assert "no, it is used up" in words_of_report(used)
    closed = asked(COUNT)
    closed.lower("dataset", sd.ApproxDP(2, "1e-6"), who="officer")
    closed.earmark("census", sd.PureDP("0.5"), who="officer")
    words = words_of_report(closed)
    assert "Set aside for releases that are planned: epsilon 0.5" in words
    assert "The limit was lowered" in words
    found = -(-100 * LIMIT.tpr_at(0.05) // 1)
    assert (f"at most {found:.0f} of 100" in words) == (found <= 99)
    closed.close_budget("dataset", who="officer")
    words = words_of_report(closed)
    assert "The budget is closed" in words
    assert "no, it is closed" in words


@sampled(3)
@for_each(
    ("limit", "budget"),
    [
        (sd.ZCDP("0.5"), sd.ZCDP("0.1")),
        (sd.ApproxZCDP("0.5", "1e-6"), sd.ZCDP("0.1")),
        (sd.GaussianDP(1), sd.GaussianDP("0.3")),
        (sd.Advantage("0.2"), sd.Advantage("0.05")),
        (sd.ErrorRates(fpr="0.05", tpr="0.2"), sd.PureDP("0.1")),
        (sd.Limit.of(sd.ApproxDP(1, "1e-6"), "concentrated"), sd.PureDP("0.1")),
        (sd.Limit.of(sd.ApproxDP(1, "1e-6"), "gaussian"), sd.GaussianDP("0.1")),
    ],
)
def test_every_kind_of_limit_has_a_report(limit: Any, budget: Any) -> None:
    """Whatever a limit counts, the page tells of it, and of what it promises."""
    ledger = asked(COUNT, limit, budget)
    words = words_of_report(ledger)
    most = -(-100 * ledger.first_limit().rule.promise.tpr_at(0.05) // 1)
    assert f"at most {most:.0f} of 100" in words
    assert "is spent by 1 release" in words or "no parts that could be counted" in words


@for_each(
    ("query", "name", "state"),
    [
        (COUNT, "functions", "absent"),
        (COUNT, "tables", "absent"),
        (COUNT, "growth", "applies"),
        (COUNT, "cut", "unstated"),
        (COUNT, "copy", "applies"),
        (COUNT, "split", "unstated"),
        (VISITS.agg(n=sd.count(), coverage=True), "cut", "tended"),
    ],
)
def test_each_line_has_the_state_of_its_ledger(
    query: Any, name: str, state: str
) -> None:
    assert state_of(asked(query), name) == state


def test_functions_and_public_tables_show() -> None:
    ledger = Ledger.in_memory(LIMIT)
    visits = sd.PrivateTable(rows(), protects=sd.AddOneRow())
    beds = sd.PublicTable({"ward": ["A", "B"], "beds": [3, 4]})
    session = sd.Session(
        {"visits": visits, "beds": beds}, ledger=ledger, engine="memory"
    )
    half = sd.udf(
        lambda row: {"half": row["days"] // 2},
        {"half": "i64"},
        name="half",
        version="1",
    )
    session.release(
        sd.table("visits").with_columns(half).agg(n=sd.sum("half", 0, 4, nulls=0)),
        TENTH,
        key="u",
    )
    session.release(
        sd.table("visits").join_public("beds", on="ward").agg(n=sd.count()), TENTH
    )
    assert state_of(ledger, "functions") == "applies"
    assert state_of(ledger, "tables") == "applies"
    assert state_of(ledger, "split") == "applies"
    assert state_of(ledger, "vouched") == "absent"


def test_who_answers_for_a_view_is_named() -> None:
    ledger = Ledger.in_memory(LIMIT)
    connection = duckdb.connect()
    view = connection.sql("SELECT 7 AS days FROM range(9) LIMIT 3")
    table = sd.PrivateTable(view, sd.AddOneRow(), vouched_by="A. <b>Weber</b>")
    session = sd.Session({"visits": table}, ledger=ledger)
    session.release(sd.table("visits").agg(n=sd.count()), TENTH, key="v")
    assert state_of(ledger, "vouched") == "applies"
    assert "Who answers for it: A. <b>Weber</b>." in words_of_report(ledger)


def test_a_witness_looks_after_old_copies(tmp_path: Path) -> None:
    with Ledger.at(
        tmp_path / "w.ledger", LIMIT, create=True, witness=tmp_path / "w.seen"
    ) as ledger:
        assert state_of(ledger, "copy") == "tended"
        assert "kept in a second file" in words_of_report(ledger)
        assert "Nothing was published yet" in words_of_report(ledger)


def test_old_ledgers_do_not_say_and_nothing_is_invented(tmp_path: Path) -> None:
    """Of a ledger of version 0.1 words are unknown: no line "does not apply"."""
    copy = tmp_path / "old.ledger"
    copy.write_bytes((VECTORS / "ledger-format-1-answers.ledger").read_bytes())
    with Ledger.at(copy) as ledger:
        words = words_of_report(ledger)
        assert state_of(ledger, "functions") == "unstated"
        assert state_of(ledger, "tables") == "unstated"
        assert state_of(ledger, "cut") == "unstated"
    assert "what the ledger does not say" in words
    assert "The ledger does not say" in words


def test_a_release_without_a_key_has_a_cost_and_no_numbers() -> None:
    ledger = Ledger.in_memory(LIMIT)
    open_session(ledger, rows()).release(COUNT, TENTH)
    words = words_of_report(ledger)
    assert "A release without a name" in words
    assert "The ledger has no answer of this release" in words


def test_rows_are_in_the_order_of_published_numbers() -> None:
    ledger = asked(
        VISITS.group_by(sd.KeySet.from_dict({"ward": ["C", "A", "B"]})).agg(
            n=sd.count()
        ),
        budget=sd.PureDP("0.05"),
    )
    release = ledger.answer("k")
    published = sorted((row["n"], row["ward"]) for row in release.table.to_pylist())[
        ::-1
    ]
    words = words_of_report(ledger)
    places = [words.index(f"{ward} {number:,}") for number, ward in published]
    assert places == sorted(places)


def test_a_ledger_that_was_changed_has_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "clinic.ledger", tmp_path / "report.html"
    with Ledger.at(path, LIMIT, create=True) as ledger:
        open_session(ledger, rows()).release(COUNT, TENTH, key="k", why="staffing")
    path.write_bytes(path.read_bytes().replace(b"staffing", b"stuffing"))
    assert main(["report", str(path), "-o", str(out)]) == 5
    assert not out.exists()
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    assert told.err.count("\n") == 1
    with pytest.raises(LedgerDamaged):
        Ledger.at(path)


def test_the_command_reads_the_ledger_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is gone, no path is on the page, and one line says what was written."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "visits-of-the-clinic.csv"
    lines = [f"{p % 240},{'ABC'[p % 3]},{p % 9}\n" for p in range(720)]
    source.write_text("person,ward,days\n" + "".join(lines))
    columns = {"person": "i64", "ward": "text", "days": "i64"}
    table = sd.PrivateTable(
        sd.Csv(source, columns=columns), protects=sd.AddRowsWithID("person")
    )
    with sd.Session(
        {"visits": table}, LIMIT, ledger=tmp_path / "clinic.ledger"
    ) as session:
        session.release(COUNT, TENTH, key="k")
    source.unlink()
    capsys.readouterr()
    assert main(["report", "clinic.ledger"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "wrote report.html\n")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    # a hash may have any three digits in a row
    page = re.sub(r"[0-9a-f]{32,}", "", page)
    for private in (str(tmp_path), "visits-of-the-clinic", "csv", "720", "rows read"):
        assert private not in page
    assert main(["report", "clinic.ledger", "--json", "--language", "fr"]) == 0
    assert '"releases": 1' in capsys.readouterr().out


def test_bad_arguments_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    release = plain_ledger().answer("wards")
    refused: tuple[tuple[Any, dict[str, Any]], ...] = (
        (tmp_path / "x.html", {"language": "xx"}),
        (tmp_path / "x.html", {"title": 3}),
        (tmp_path, {}),
        (tmp_path / "none" / "x.html", {}),
        (3, {}),
    )
    for path, arguments in refused:
        with pytest.raises(InvalidParameter):
            release.report(path, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_release_tells_of_itself_alone(tmp_path: Path) -> None:
    release = plain_ledger().answer("wards")
    release.report(tmp_path / "wards.html", language="de", title="Stationen")
    words = read_page((tmp_path / "wards.html").read_text(encoding="utf-8")).words
    assert "Stationen" in words
    assert "Diese Seite handelt von einer einzigen Veröffentlichung" in words
    assert "ist verbraucht" not in words
    most = -(-100 * release.loss.tpr_at(0.05) // 1)
    assert f"höchstens {most:.0f} von 100" in words


def test_plans_come_apart_and_keep_what_is_not_known() -> None:
    """A join has two branches; a line that nobody knows is a step, word for word."""
    plan = (
        "keep groups that pass LaplaceThreshold(scale=30, threshold=4.5e+02)\n"
        "n = count() with Geometric(scale=30)\n"
        "group by 'code' (unknown keys)\n"
        "└─ inner join on ward\n"
        "   └─ keep 3 rows per id\n"
        "      └─ table visits\n"
        "   └─ turn rows around\n"
        "      └─ table wards"
    )
    steps = steps_of(plan)
    assert steps.rows is not None
    assert [step.kind for step in steps.rows.in_order] == [
        "table", "keep", "table", "step", "join",
    ]  # fmt: skip
    assert steps.groups == ("group by 'code' (unknown keys)",)
    assert hidden_below(plan) == (True, 450.0)
    assert hidden_below("leave out groups below 20, by noisy count") == (True, 20.0)
    assert hidden_below("n = count()\nall rows together") == (False, None)
    assert step_kind("flat map x by a Python function") == "function"
    assert steps_of("") == steps_of("\n\n")


def blocks_ledger() -> Ledger:
    """Return a ledger with twenty months of which two were asked about."""
    ledger = Ledger.in_memory(
        sd.GaussianDP("0.24"), blocks=sd.Blocks(start="2025-01", every="month")
    )
    months = [f"2025-{1 + place % 12:02d}" for place in range(720)]
    visits = sd.PrivateTable(
        rows() | {"month": months}, protects=sd.AddRowsWithID("person"), blocks="month"
    )
    session = sd.Session({"visits": visits}, ledger=ledger, engine="memory")
    march = sd.table("visits").filter(sd.col("month") == "2025-03")
    query = march.enforce(sd.MaxRowsPerID(3)).agg(n=sd.count())
    session.release(query, sd.GaussianDP("0.1"), key="march")
    return ledger


def test_blocks_show_with_what_is_left_of_each() -> None:
    """The odds are those of one block, and several together are told beside them."""
    ledger = blocks_ledger()
    words = words_of_report(ledger)
    one = -(-100 * ledger.exposure(1).promise.tpr_at(0.05) // 1)
    twelve = -(-100 * ledger.exposure(12).promise.tpr_at(0.05) // 1)
    assert f"at most {one:.0f} of 100" in words
    assert "Every new block brings a limit of its own" in words
    assert "until its limit is used up" not in words
    count = len(ledger.blocks())
    assert f"{count - 12} earlier block" in words
    assert re.search(rf"Blocks that a person is in 1 2 6 12 {count}", words)
    assert f" {one:.0f} " in words
    assert f" {twelve:.0f} " in words
    assert "Taken from each block mu squared 0.01 Blocks 2025-03" in words
    assert state_of(ledger, "growth") == "tended"


@pytest.mark.slow
def test_a_job_writes_the_report_beside_its_files(tmp_path: Path) -> None:
    job = fill_folder(tmp_path) / "clinic.toml"
    monthly = 'schedule = "monthly"'
    text = job.read_text(encoding="utf-8")
    asks = text.replace(monthly, f'{monthly}\nout = ["csv", "html"]')
    job.write_text(asks, encoding="utf-8")
    assert main(["release", str(job), "wards", "--key", "2026-11", "--yes"]) == 0
    (page,) = (tmp_path / "published").glob("*.html")
    words = read_page(page.read_text(encoding="utf-8")).words
    assert "wards-2026-11" in words
    assert str(tmp_path) not in page.read_text(encoding="utf-8")
    with Ledger.at(tmp_path / "clinic.ledger") as ledger:
        assert ledger.publication(page) is not None
    before = page.read_bytes()
    assert main(["release", str(job), "wards", "--key", "2026-11", "--yes"]) == 0
    assert page.read_bytes() == before
