"""What expressions refuse: each is a line of a table in tests/refused/rooms."""

from tests.refusals import Line, lines_of


@lines_of("expressions")
def test_senseless_expressions_are_refused(line: Line) -> None:
    line.refuse()
