"""Text for a terminal: it fits, it keeps every letter, and it commands nothing."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sordino.office.cli import main

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[TEXTS] * width), min_size=1, max_size=5)
)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@SETTINGS
@given(rows=ROWS, columns=st.integers(1, 100))
def test_a_table_fits_and_keeps_every_letter(
    rows: list[tuple[str, ...]],
    columns: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    capsys.readouterr()
    main.text_table(rows)
    lines = capsys.readouterr().out.split("\n")
    room = max(columns, len(rows[0]) * (8 + 2) - 2)
    assert max(map(len, lines)) <= room
    assert all(line.isprintable() for line in lines)
    shown = [text if text.isprintable() else repr(text) for row in rows for text in row]
    assert sorted("".join(shown).replace(" ", "")) == sorted(
        "".join(lines).replace(" ", "")
    )


def test_a_sentence_is_folded_between_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    main.say("clinic.ledger is what was written")
    assert capsys.readouterr().out == "clinic.ledger is\nwhat was written\n"
    main.say("\x1b[31mred")
    assert capsys.readouterr().out == r"'\x1b[31mred'" + "\n"


def test_columns_stand_side_by_side(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    main.text_table([("a", "limit", "one two three four"), ("", "left", "")])
    assert capsys.readouterr().out.split("\n") == [
        "a  limit  one two three",
        "          four",
        "   left",
        "",
    ]
