"""A batch of cases says which of them differ, and hides none."""

from pathlib import Path

import pytest

from tests.batches import CasesDiffer, for_each


@for_each("number", [1, 2, 3, 4])
def odd(number: int) -> None:
    assert number % 2, "even"


@for_each("left", ["a", "b"])
@for_each("right", ["a", "b"])
def alike(left: str, right: str) -> None:
    assert left == right


@for_each("text", ["", "x"], ids=["nothing", "something"])
def skipping(text: str) -> None:
    if not text:
        pytest.skip("nothing to ask")


def test_a_batch_names_all_that_differ() -> None:
    with pytest.raises(CasesDiffer) as caught:
        odd()
    assert list(caught.value.wrong) == ["2", "4"]
    assert str(caught.value).startswith("2 of 4 cases differ\n2: AssertionError: even")
    assert "CASE='2'" in str(caught.value)


def test_cases_of_two_arguments_are_named_by_both() -> None:
    with pytest.raises(CasesDiffer) as caught:
        alike()
    assert list(caught.value.wrong) == ["a-b", "b-a"]


def test_one_case_can_be_asked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASE", "b-a")
    with pytest.raises(CasesDiffer) as caught:
        alike()
    assert str(caught.value).startswith("1 of 1 cases differ")
    monkeypatch.setenv("CASE", "3")
    odd()


def test_a_case_beyond_the_sample_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    law = odd.__dict__["law"]
    monkeypatch.setattr(law, "asked", {"1": law.cases["1"]})
    odd()
    monkeypatch.setenv("CASE", "4")
    with pytest.raises(CasesDiffer):
        odd()


def test_a_batch_is_skipped_only_if_all_of_it_is() -> None:
    skipping()
    with pytest.raises(pytest.skip.Exception):
        for_each("text", [""])(lambda text: pytest.skip(text))()


def test_a_batch_of_no_case_is_refused() -> None:
    """It would pass whatever the law says."""
    with pytest.raises(AssertionError, match="cannot fail"):
        for_each("text", [])


@for_each("name", ["a", "b"])
def test_each_case_has_its_own_folder(name: str, tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []
    (tmp_path / name).touch()


@for_each("name", ["PLACE_A", "PLACE_B"])
def test_patches_end_with_their_case(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not {"PLACE_A", "PLACE_B"} & set(__import__("os").environ)
    monkeypatch.setenv(name, "1")


def test_tests_are_few(request: pytest.FixtureRequest) -> None:
    """Each worker collects all of them: 21,200 took it 22 seconds of computing."""
    assert len(request.session.items) < 4_000
