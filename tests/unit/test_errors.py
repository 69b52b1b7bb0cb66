"""A refusal can be caught, read, pickled, and survives the worst argument."""

import copy
import inspect
import pickle

from hypothesis import given
from hypothesis import strategies as st

from sordino import errors
from sordino.errors import InvalidParameter, SordinoError, show
from tests.batches import for_each

TREE = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if kind.__module__ == errors.__name__
]


@for_each("kind", TREE)
def test_every_exception_stands_in_the_tree(kind: type[Exception]) -> None:
    assert issubclass(kind, SordinoError) != issubclass(kind, UserWarning)
    assert kind.__name__ in str(errors.__doc__)


def test_a_refusal_names_shows_and_helps() -> None:
    refusal = InvalidParameter("scale", -1, "must be positive", "Try scale=1.")
    assert str(refusal) == "scale must be positive, got -1. Try scale=1."
    assert (refusal.name, refusal.value) == ("scale", -1)
    assert isinstance(refusal, ValueError)


@for_each("copied", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_refusal_crosses_a_process(copied: object) -> None:
    """Its message and name survive; the value, which may not pickle, stays behind."""
    assert callable(copied)
    refusal = InvalidParameter("scale", lambda: 1, "is no number", "Try scale=1.")
    again = copied(refusal)
    assert type(again) is InvalidParameter
    assert (str(again), again.name, again.value) == (str(refusal), "scale", None)


@given(st.integers(61, 5000), st.sampled_from(["", "-"]), st.data())
def test_a_long_integer_is_shown_by_head_and_length(
    digits: int, sign: str, data: st.DataObject
) -> None:
    size = data.draw(st.integers(10 ** (digits - 1), 10**digits - 1))
    head = str(size // 10 ** (digits - 20))
    assert show(-size if sign else size) == f"{sign}{head}...({digits} digits)"


def test_what_is_shown_is_short_and_never_fails() -> None:
    class Broken(int):
        def __repr__(self) -> str:
            raise RuntimeError

    assert show(Broken(3)) == "a Broken"
    assert show("a" * 1000) == "'" + "a" * 56 + "..."
    assert show(1) == "1"
    assert show(True) == "True"
