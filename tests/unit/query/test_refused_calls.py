"""Calls that make no sense, each a line of a table in tests/refused/calls."""

from tests.batches import sampled
from tests.refusals import Refused, assert_refused, refusals


@sampled(60)
@refusals()
def test_senseless_calls_are_refused(case: Refused) -> None:
    """Typed, with a remedy, free of charge, and silent about private cells."""
    assert_refused(case)
