"""Laws of reports: no text of their own, nothing but the ledger, nothing that runs."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path

import pytest

import sordino.noise
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.losses.closed import ZCDP, ApproxDP, GaussianDP
from sordino.losses.loss import PureDP
from sordino.noise.additive import AbstractMechanism
from sordino.office.html.page import Language, language_codes, read_language
from sordino.office.report.accounts import recorded_loss
from sordino.office.report.document import ledger_report, ledger_story, report_document
from sordino.office.report.promise import list_omissions
from sordino.office.report.request_words import FILTERS, PROOFS
from sordino.office.report.story import (
    Accounts,
    Banded,
    NumberColumn,
    Purse,
    ShownRelease,
    ShownTable,
    Story,
    Trail,
)
from tests.batches import for_each, sampled
from tests.cases import LOSSES
from tests.reports import EVIL, KNOWN, hostile_ledger, plain_ledger, read_page
from tests.shipped import shipped

ROOT = Path(__file__).parent.parent.parent
PROOFS_FOLDER = ROOT / "docs/proofs"
ENGLISH = read_language("en")
KEPT = ("form.", "date.")
WORDS = (
    '["agg",{"column":["col",{"name":"3"}],"low":"0/1","high":"9/1","of":["MaxRowsPerID",'
    '{"limit":2}],"rows":[["table",{"name":"1","protects":["AddRowsWithID",'
    '{"column":"2"}]}]]}]'
)
PLAN = "1 = count() with Geometric(scale=3)\n└─ keep 2 rows per id\n   └─ table 1"


def speechless() -> Language:
    """Return a language that says nothing but what is filled in."""
    texts = {
        key: text
        if key.startswith("form.o")
        else "1 " * 12
        if key.endswith("months")
        else " ".join(re.findall(r"\{\w+\}", text))
        for key, text in ENGLISH.texts.items()
    }
    return Language("xx", {**texts, "form.one": "1", "form.over": "{count}"})


def figures(*groups: tuple[object, ...]) -> ShownTable:
    """Return a table of numbers, whose names are numbers too."""
    rows = tuple(
        Banded(group, f"{place * 10}", (f"{place}", f"{place * 20}"), place * 10.0,
               float(place), place * 20.0)
        for place, group in enumerate(groups)
    )  # fmt: skip
    keys = tuple(str(place) for place in range(len(groups[0])))
    left_out = ({"kind": "cut off", "what": "3", "counted": "rows", "count": 4,
                 "low": 1.0, "high": 7.0},)  # fmt: skip
    columns = (NumberColumn("7", rows),)
    return ShownTable(
        "8", keys, groups, columns, len(groups) + 5 * (len(keys) == 3), len(groups),
        Fraction(19, 20), 4, left_out,
    )  # fmt: skip


def numeric_story() -> Story:
    """Return a story in which every name is a number, and every page has something."""
    days = [(date(2026, 1, day),) for day in range(1, 9)]
    cells = [(first, second) for first in (1, 2) for second in (3, 4)]
    release = ShownRelease(
        bound=ApproxDP(1, "1e-6"),
        plan=PLAN,
        words=WORDS,
        answers=(
            figures((1,), (2,)), figures(*days), figures(*cells), figures((1, 2, 3)),
        ),
        number=3,
        key="4",
        when=datetime(2026, 1, 2, tzinfo=UTC),
        who="5",
        why="6",
        budget="9",
        taken={"epsilon": Fraction(1)},
    )  # fmt: skip
    half = {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)}
    purse = Purse("1", {**half, "epsilon": Fraction(2)}, half, half, half, False, True)
    trail = Trail("0", 12, 2, 2, True, "", "1", "epsilon-delta")
    accounts = Accounts(
        (purse, replace(purse, name="2")), ((3, Fraction(1, 2)),), trail
    )
    return Story(
        "7", ApproxDP(2, "1e-6"), (WORDS,), (release,), 3, {PLAN: (3, 1)}, accounts
    )


@for_each("story", [numeric_story(), replace(numeric_story(), accounts=None)])
def test_no_page_has_a_text_from_elsewhere(story: Story) -> None:
    """In a language without words no letter is left but in what is quoted."""
    reading = read_page(report_document(speechless(), story))
    quoted = {"code", "pre", "style", "bdi"}
    loose = [
        text
        for where, text in reading.texts
        if not quoted & set(where.split()) and re.search(r"[^\W\d_]", text)
    ]
    assert loose == []
    spoken = [
        value
        for name, value in reading.attributes
        if name in {"aria-label", "title", "alt"} and re.search(r"[^\W\d_]", value)
    ]
    assert spoken == []


def test_a_text_in_the_code_would_be_noticed() -> None:
    reading = read_page(report_document(ENGLISH, numeric_story()))
    assert any(re.search(r"[^\W\d_]", text) for where, text in reading.texts
               if not {"code", "pre", "style", "bdi"} & set(where.split()))  # fmt: skip


@sampled(3)
@for_each("code", language_codes())
@for_each("make", [plain_ledger, hostile_ledger])
def test_a_report_runs_nothing_and_fetches_nothing(
    code: str, make: Callable[[], Ledger]
) -> None:
    """Elements are known, no attribute is an event, links stay on the page."""
    page = ledger_report(make(), EVIL, code)
    reading = read_page(page)
    assert set(reading.elements) <= KNOWN
    for name, value in reading.attributes:
        assert not name.startswith("on")
        assert name not in {"style", "src", "srcset", "action", "formaction", "data"}
        assert name != "href" or value.startswith("#")
    assert page.count("<style>") == 1
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "\x00" not in page


def test_markup_in_names_is_text() -> None:
    words = read_page(ledger_report(hostile_ledger(), EVIL, "en")).words
    assert words.count(EVIL) >= 5
    assert "(empty text)" in words
    assert "\\u202e\\n\\x1b[2J" in words
    assert "病" * 41 not in words.split("What is not promised")[0]


def test_the_same_ledger_has_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = plain_ledger()
    first = ledger_report(ledger, "Harbour Clinic", "en")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert ledger_report(ledger, "Harbour Clinic", "en") == first
    assert str(tmp_path) not in first


def test_every_mechanism_has_a_proof() -> None:
    known = {kind.__name__ for kind in shipped(AbstractMechanism, sordino.noise)}
    assert "Laplace" in known
    assert known <= set(PROOFS)
    for places in (*PROOFS.values(), *FILTERS.values()):
        for file, heading in places:
            text = (PROOFS_FOLDER / file).read_text(encoding="utf-8")
            assert re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE), heading


@for_each(
    "bound", [PureDP("0.01"), PureDP(1), ZCDP("0.5"), GaussianDP("0.5"), PureDP(12)]
)
def test_odds_of_a_page_are_those_of_the_loss(bound: PureDP) -> None:
    """The great number is the share found at 5 of 100, rounded up; never 100."""
    story = replace(numeric_story(), bound=bound)
    words = read_page(report_document(ENGLISH, story)).words
    percent = 100 * Fraction(bound.tpr_at(0.05))
    shown = -(-percent // 1)
    if shown <= 99:
        assert f"at most {shown} of 100" in words
    else:
        assert "next to nothing can be promised" in words
        assert "at most 100 of 100" not in words


@sampled(5)
@for_each("name", LOSSES)
def test_a_recorded_loss_is_the_one_that_was_charged(name: str) -> None:
    """Read from its text it is equal or a bound, and never less than what it was."""
    loss = LOSSES[name]
    headline = Claim(request="1f", asked=loss, loss=loss).loss_texts
    read = recorded_loss(repr(loss), headline)
    assert float(read.tpr_at(0.05)) >= float(loss.tpr_at(0.05)) * (1 - 1e-12)
    if name in {"laplace", "geometric", "laplace, often"}:
        assert read == loss


@for_each(
    "text",
    [
        "GeometricLoss(shift=1, scale=600)",
        "PureDP(epsilon=1) * 10000000",
        "PureDP(epsilon=1) + ... (3 more)",
        "__import__('os').getcwd()",
        "PureDP(**{'epsilon': 1})",
        "PureDP(epsilon=[1])",
        "PureDP(epsilon='~0.3')",
        "(" * 5000,
        "",
    ],
)
def test_a_text_that_is_not_the_charged_loss_counts_for_nothing(text: str) -> None:
    """Another loss, a program, or nothing at all: the recorded headline holds."""
    headline = Claim(request="1f", asked=PureDP(2), loss=PureDP(2)).loss_texts
    assert recorded_loss(text, headline) == PureDP(2)


def test_a_list_of_thirteen_lines_says_what_is_not_promised() -> None:
    """Each with a state and a text of its own."""
    lines = list(list_omissions(ledger_story(plain_ledger(), "x")))
    assert len({line.name for line in lines}) == 13
    for line in lines:
        assert f"unpromised.{line.state}" in ENGLISH.texts
        assert f"unpromised.line.{line.name}" in ENGLISH.texts
        assert f"unpromised.means_of.{line.meaning}" in ENGLISH.texts
