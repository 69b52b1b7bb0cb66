"""Whatever comes from outside, what leaves is an answer or a refusal of ours."""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.batches import for_each
from tests.effort import SEED, often
from tests.hostile import BadInput, Doors, fault_of, try_bad_inputs

KINDS = (
    *("text file", "Parquet file", "SQL", "job", "policy", "body", "form", "ledger"),
    "certificate",
)


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Doors.open(tmp_path_factory.mktemp("hostile"))


@for_each("kind", KINDS)
def test_bad_inputs_are_refused_or_answered(kind: str, doors: Doors) -> None:
    """Nothing is charged, nothing takes long, and no error is somebody else's."""
    assert set(doors.whole) == set(KINDS)
    tally = try_bad_inputs(doors, kind, often(5, 1000), SEED)
    assert tally.faults == ()


@for_each("kind", KINDS)
def test_what_is_whole_is_answered(kind: str, doors: Doors) -> None:
    """So it is what was spoiled that is refused."""
    for content in doors.whole[kind]:
        verb = "sql" if b"bigquery" in content else "price"
        assert fault_of(doors.put(kind, content, verb)) is None


@for_each("error", [KeyError("x"), BaseException("a panic"), RecursionError()])
def test_a_foreign_error_is_found(error: BaseException) -> None:
    def put() -> Any:
        raise error

    told = fault_of(BadInput("SQL", b"", put))
    assert told is not None
    assert type(error).__name__ in told


def test_a_charge_is_found(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    charged = iter(range(100))
    monkeypatch.setattr(type(doors.session), "history", lambda _: range(next(charged)))
    assert len(try_bad_inputs(doors, "policy", 1).faults) == 1
