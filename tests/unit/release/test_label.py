"""The label of a release: what it says follows from the release, and only from that."""

import json
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, MissingDependency
from sordino.office.html.page import language_codes, read_language
from sordino.office.label.label import MOST_ROWS
from sordino.release.explanation import LedgerRecord, Provenance
from sordino.release.release import Release
from tests.batches import for_each
from tests.releases import HOSTILE, RELEASES, made

ROWS: Final = {
    "patient": [place % 400 for place in range(1200)],
    "ward": ["ABC"[place % 3] for place in range(1200)],
    "days": [place % 7 for place in range(1200)],
}
QUERY: Final = (
    sd
    .table("visits")
    .enforce(sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 3))
    .group_by("ward")
    .agg(n=sd.count_ids(), days=sd.mean("days", 0, 30))
)
BUDGET: Final = sd.ApproxDP("0.5", "5e-7")
each_release = for_each("release", RELEASES.values(), ids=RELEASES)
each_language = for_each("language", language_codes())


def session(ledger: Any = None) -> sd.Session:
    visits = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("patient"))
    limit = sd.ApproxDP(1, "1e-6")
    return sd.Session({"visits": visits}, limit, ledger=ledger, engine="memory")


def rows_of(label: sd.Label) -> dict[str, str]:
    return {row.name: row.value for part in label.texts.parts for row in part.rows}


def test_a_label_says_what_was_asked_and_paid(tmp_path: Path) -> None:
    opened = session(tmp_path / "clinic.ledger")
    release = opened.release(QUERY, BUDGET, key="wards")
    rows = rows_of(release.label())
    assert rows["Protects"] == "all rows with the same “patient”"
    assert rows["Named by mistake"] == "5 of 100"
    own = -int(-100 * Fraction(release.loss.tpr_at("0.05")) // 1)
    assert rows["Named rightly, from this file"] == f"at most {own} of 100"
    assert rows["… from all that is ever published"] == "at most 14 of 100"
    assert rows["Values of “ward” of one person"] == "at most 2"
    assert rows["Rows of one person per “ward”"] == "at most 3"
    assert rows["Values of “days” that count"] == "0 to 30"
    assert rows["What that cut off"] == "not measured"
    (level,) = opened.price(QUERY, BUDGET).thresholds
    assert rows["Small groups hidden"] == f"yes, below about {float(level):.3g}"
    paid = release.label().facts.paid_by
    assert paid is not None
    record = opened.ledger.records()[paid.number - 1]
    assert (record.kind, record.hash) == ("charged", paid.hash)
    assert record.fields["when"] == paid.when
    assert paid.ledger == opened.ledger.identity


def test_a_paid_answer_has_the_label_of_the_release(tmp_path: Path) -> None:
    opened = session(tmp_path / "clinic.ledger")
    given = opened.release(QUERY, BUDGET, key="wards").label().facts
    recalled = opened.ledger.answer("wards").label().facts
    again = opened.release(QUERY, BUDGET, key="wards").label().facts
    assert again == given
    assert recalled == replace(
        given,
        noise=(),
        shown_from=None,
        found=recalled.found,
        price=recalled.price,
    )
    assert recalled.found is not None
    assert given.found is not None
    assert recalled.found >= given.found


def test_each_of_several_answers_has_its_own_label(tmp_path: Path) -> None:
    opened = session(tmp_path / "clinic.ledger")
    bounded = sd.table("visits").enforce(sd.MaxRowsPerID(3))
    wards = sd.KeySet.from_dict({"ward": ["A", "B"]})
    requests = {
        "all": bounded.agg(days=sd.sum("days", 0, 9)),
        "wards": bounded.group_by(wards).agg(n=sd.count()),
    }
    opened.release_all(requests, BUDGET, key="both")
    several = opened.ledger.answers("both")
    assert rows_of(several["all"].label())["Values of “days” that count"] == "0 to 9"
    assert several["all"].label().facts.groups == "none"
    assert several["wards"].label().facts.bounds == ()
    assert several["wards"].label().facts.groups == "public"


def test_without_a_lasting_ledger_nothing_is_said_of_everything() -> None:
    label = session().release(QUERY, BUDGET).label()
    assert rows_of(label)["… from all that is ever published"] == "not stated"
    assert "No lasting ledger has a record of it." in str(label)


def test_what_nobody_knows_is_not_stated() -> None:
    """A release made by hand has no request: each row is there and says so."""
    rows = rows_of(RELEASES["few"].label())
    assert rows["Protects"] == "not stated"
    assert rows["Small groups hidden"] == "not stated"
    assert rows["Noise"] == "not stated"


def test_reach_goes_to_the_farther_end_and_is_rounded_up() -> None:
    """An interval that was cut at zero reaches as far as its longer side."""
    release = made({"g": ["a", "b"]}, {"n": ([100, -25], 1.0)})
    low, high = [10.25, 0.0], [189.0, 65.0]
    errors = release.errors.set_column(2, "n low", [low]).set_column(
        3, "n high", [high]
    )
    label = replace(release, errors=errors).label()
    assert rows_of(label)["n"] == "± 89.8 to 90"
    assert label.facts.rough == 2


def test_rough_is_what_reaches_further_than_a_fifth() -> None:
    """At a fifth it is not yet rough; zero always is."""
    release = made({"g": ["a", "b", "c"]}, {"n": ([20.0, 19.5, 0.0], 2.0)})
    facts = release.label().facts
    assert (facts.numbers, facts.rough) == (3, 2)


@for_each(("epsilon", "value"), [(4, "at most 99"), (9, "over 99")])
def test_a_hundred_is_never_printed(epsilon: int, value: str) -> None:
    release = made({"g": ["a"]}, {"n": ([1], 1.0)}, loss=sd.PureDP(epsilon))
    shown = rows_of(release.label())["Named rightly, from this file"]
    assert shown.startswith(value)


@each_release
@each_language
def test_hostile_names_are_text(
    release: Release, language: str, tmp_path: Path
) -> None:
    label = release.label(language)
    for page in (label.html, label._repr_html_()):
        assert "<script" not in page
        assert "\x1b" not in page
    seen = str(label).replace("\u202f", " ").replace("\u00a0", " ")
    assert all(line.isprintable() for line in seen.splitlines())
    assert json.loads(label.json)["@type"] == "schema:Dataset"
    label.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text("utf-8") == label.html


def test_names_with_markup_are_escaped() -> None:
    name = HOSTILE[0]
    assert name is not None
    label = made({"g": ["a"]}, {name: ([1], 1.0)}).label()
    assert "&lt;script&gt;" in label.html
    assert "<script" not in label.html + label._repr_html_()


def test_of_many_answers_the_first_are_shown() -> None:
    """A label stays a card: the others are counted."""
    figures = {f"answer {place}": ([1], 1.0) for place in range(40)}
    rows = rows_of(made({"g": ["a"]}, figures).label())
    assert f"answer {MOST_ROWS - 1}" in rows
    assert f"and {40 - MOST_ROWS} more" in rows
    assert f"answer {MOST_ROWS}" not in rows


@each_language
def test_a_picture_is_drawn_of_every_release(language: str) -> None:
    """It has the bytes of a PNG, the same for the same label, whatever the letters."""
    pytest.importorskip("matplotlib")
    label = made({"g": ["病院"]}, {"$x$": ([1], 1.0), "病": ([2.5], 9.0)}).label(
        language
    )
    picture = label.render("png")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture == label.render("png")


def test_without_matplotlib_a_picture_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match="the extra plots"):
        RELEASES["few"].label().save(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


@for_each("path", ["a.pdf", "a", 7, Path("a.svg")])
def test_another_ending_is_refused(path: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"\.html, \.png, \.json, \.txt"):
        RELEASES["few"].label().save(path)


@for_each("form", ["pdf", "", None, 7])
def test_another_form_is_refused(form: Any) -> None:
    with pytest.raises(InvalidParameter, match='"html"'):
        RELEASES["few"].label().render(form)


def test_another_language_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="language"):
        RELEASES["few"].label("la")
    with pytest.raises(InvalidParameter, match="language"):
        RELEASES["few"].label().translate("la")


def test_languages_have_the_same_rows() -> None:
    label = RELEASES["few"].label()
    for language in language_codes():
        other = label.translate(language)
        assert other.facts is label.facts
        shape = [len(part.rows) for part in other.texts.parts]
        assert shape == [len(part.rows) for part in label.texts.parts]


def test_a_promise_of_the_ledger_is_told_beside_the_file() -> None:
    """The odds of everything are those of the limit that the ledger had first."""
    record = LedgerRecord(
        "a" * 32, 3, "b" * 64, "2026-11-22T09:00:00+00:00", sd.PureDP(2)
    )
    release = replace(RELEASES["few"], provenance=Provenance(record=record))
    label = release.label()
    assert rows_of(label)["… from all that is ever published"] == "at most 37 of 100"
    assert "Made on 22 November 2026" in str(label)
    assert label.facts.form == 1


def test_in_a_ledger_with_blocks_nothing_bounds_everything(tmp_path: Path) -> None:
    """Every block brings new budget: the label says so, also of a paid answer."""
    rows = {"patient": [1, 2], "day": [date(2026, 1, 5), date(2026, 1, 9)]}
    visits = sd.PrivateTable(rows, protects=sd.AddRowsWithID("patient"), blocks="day")
    opened = sd.Session(
        {"visits": visits},
        sd.PureDP(1),
        ledger=tmp_path / "clinic.ledger",
        engine="memory",
        blocks=sd.Blocks(start="2026-01", every="month"),
    )
    query = sd.table("visits").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
    release = opened.release(query, sd.PureDP("0.5"), key="n")
    for each in (release, opened.ledger.answer("n")):
        shown = rows_of(each.label())["… from all that is ever published"]
        assert shown == "grows with every block"


UNITS: Final = (
    (sd.AddRowsWithID("patient"), "all rows with the same “patient”"),
    (sd.AddOneRow(), "one row"),
    (sd.AddMaxRows(3), "any 3 rows"),
    (
        sd.AddMaxRowsInMaxGroups("ward", 2, 5),
        "up to 5 rows in each of up to 2 values of “ward”",
    ),
    (sd.ChangeOneRow(), "what stands in one row, though not how many rows there are"),
    (sd.AddMaxTotal("days", 30), "whatever adds at most 30 to the sum of “days”"),
    (
        sd.AddMaxTotal("days", 30, in_each=1),
        "whatever adds at most 30 to the sum of “days”, at most 1 in each cell",
    ),
    (
        sd.AddMaxTotal("days", 30, in_each=("ward", "patient", 2)),
        "whatever adds at most 30 to the sum of “days”, at most 2 in each cell",
    ),
)


@for_each(("unit", "sentence"), UNITS, ids=lambda each: repr(each)[:20])
def test_every_unit_is_said_in_words(unit: Any, sentence: str) -> None:
    visits = sd.PrivateTable(ROWS, protects=unit)
    opened = sd.Session({"visits": visits}, sd.ApproxDP(1, "1e-6"), engine="memory")
    wards = sd.KeySet.from_dict({"ward": ["A", "B"]})
    query = sd.table("visits")
    if unit.id_column is not None:
        query = query.enforce(sd.MaxRowsPerID(2))
    label = opened.release(query.group_by(wards).agg(n=sd.count()), BUDGET).label()
    assert rows_of(label)["Protects"] == sentence
    for language in language_codes():
        unknown = read_language(language).plain("label.unknown")
        shown = next(iter(rows_of(label.translate(language)).values()))
        assert shown != unknown


def test_what_was_done_to_noisy_answers_is_said() -> None:
    wards = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
    query = sd.table("visits").enforce(sd.MaxRowsPerID(3)).group_by(wards)
    asked = query.agg(n=sd.count())
    opened = session()
    plain = opened.release(asked, BUDGET)
    assert rows_of(plain.label())["Small groups hidden"] == "no: a public list"
    few = rows_of(session().release(asked.suppress_below(20), BUDGET).label())
    assert few["Small groups hidden"] == "yes, with a noisy count below 20"
    assert "Groups left out" not in few
    condition = sd.col("n") > 5
    for release in (
        plain.filter(condition),
        opened.release(asked.filter(condition), BUDGET),
    ):
        rows = rows_of(release.label())
        assert rows["Small groups hidden"] == "not stated"
        assert rows["After the noise"] == "answers were processed"
