"""What aggregations refuse: each is a line of a table in tests/refused/rooms."""

from tests.refusals import Line, lines_of


@lines_of("aggregations")
def test_senseless_aggregations_are_refused(line: Line) -> None:
    line.refuse()
