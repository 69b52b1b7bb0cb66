"""The benchmarks of keys, of few ids."""

from benchmarks import keys
from benchmarks.reached import reached
from tests.batches import for_each, sampled

FEW = 8000


@sampled(1)
@for_each("power", [1.1, 1.4])
def test_more_keys_show_by_weights_than_by_counts(power: float) -> None:
    """Of few ids as well, and never none."""
    assert keys.shown(power, FEW) > keys.counted(power, FEW) > 0


def test_intervals_at_the_threshold_hold() -> None:
    """Of 500 groups at least nine in ten."""
    assert 0.9 < keys.held(500) <= 1


def test_what_was_reached_is_on_file() -> None:
    for row in keys.ROWS:
        assert reached()[row.what]["value"] > 0
