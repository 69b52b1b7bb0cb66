"""What losses and curves refuse: each is a line of a table in tests/refused/rooms."""

from tests.refusals import Line, lines_of


@lines_of("losses")
def test_senseless_losses_are_refused(line: Line) -> None:
    line.refuse()
