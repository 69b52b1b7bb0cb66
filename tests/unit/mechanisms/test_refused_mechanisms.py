"""What mechanisms refuse: each is a line of a table in tests/refused/rooms."""

from tests.refusals import Line, lines_of


@lines_of("mechanisms")
def test_senseless_mechanisms_are_refused(line: Line) -> None:
    line.refuse()
