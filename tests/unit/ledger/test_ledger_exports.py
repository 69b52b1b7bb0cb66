"""What leaves a ledger can be read, and checked, without us."""

import hashlib
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.ledger.copies import FIELDS, decimal_text, json_lines, quote, registry_yaml
from tests.batches import for_each
from tests.ledgers import LIMIT, claim

ANSWERS: dict[str, Any] = {
    "basic/name": "Ward activity",
    "basic/data_curators": ["Harbour Clinic", "The Board"],
    "basic/intended_use": "Staffing: the board's.\nAnd research.",
    "basic/data_product_region": "Ireland",
    "basic/description": "Visits of each ward.",
    "basic/publication_date": "2026-11-20",
    "administrative/registry_authors": ["Data office"],
}
NUMBER = re.compile(r"[0-9]+\.[0-9]+(e[-+][0-9]+)?")
"""What YAML 1.1 reads as a float."""


def test_lines_hold_every_record_and_prove_themselves() -> None:
    """The documented hash, computed from a line alone, is the one that it states."""
    with sd.Ledger.in_memory(LIMIT) as ledger:
        ledger.store(ledger.reserve(claim()), b"17")
        lines = [json.loads(line) for line in json_lines(ledger)]
        assert [one["kind"] for one in lines] == [
            "opened",
            "budget",
            "charged",
            "answered",
        ]
        previous = ""
        for one in lines:
            text = f"{previous}\n{one['number']}\n{one['kind']}\n{one['body']}"
            assert one["hash"] == hashlib.sha256(text.encode()).hexdigest()
            previous = one["hash"]
        assert previous == ledger.verify().head
    answered = json.loads(lines[-1]["body"])
    assert answered["sha256"] == hashlib.sha256(b"17").hexdigest()


@for_each(
    ("limit", "variant", "names"),
    [
        (sd.PureDP("1/3"), "Pure DP", ["epsilon"]),
        (sd.ApproxDP(1, "1e-6"), "Approximate DP", ["epsilon", "delta"]),
        (sd.ZCDP("0.1"), "Zero-concentrated DP", ["rho"]),
        (sd.ApproxZCDP("0.1", "1e-6"), "Zero-concentrated DP", ["rho", "delta"]),
        (sd.GaussianDP(1), "Custom", ["epsilon", "delta"]),
        (sd.Advantage("0.1"), "Custom", ["epsilon", "delta"]),
    ],
)
def test_an_entry_states_the_limit_rounded_up(
    limit: Any, variant: str, names: list[str]
) -> None:
    """Each kind of limit has its variant, and numbers that YAML reads as floats."""
    with sd.Ledger.in_memory(sd.Limit.of(limit), about="One row of visits.") as ledger:
        text = registry_yaml(ledger, ANSWERS)
    assert f"variant_name: '{variant}'" in text
    found = dict(re.findall(r"^      (epsilon|delta|rho): (\S+)$", text, re.MULTILINE))
    assert list(found) == names
    assert all(NUMBER.fullmatch(one) for one in found.values())
    assert "privacy_unit_details: 'One row of visits.'" in text


def test_an_entry_has_the_form_of_the_registry() -> None:
    """The slug comes first, text is quoted or a block, sections stand in order."""
    with sd.Ledger.in_memory(LIMIT) as ledger:
        ledger.reserve(claim())
        lines = registry_yaml(ledger, ANSWERS).split("\n")
    slug = "ward-activity-harbour-clinic-the-board-2026"
    assert lines[:4] == [f"url_slug: {slug}", "status: Draft", "tier: 2", "deployment:"]
    assert "    name: 'Ward activity'" in lines
    assert "      - 'Harbour Clinic'" in lines
    start = lines.index("    intended_use: |")
    assert lines[start + 1] == "      Staffing: the board's."
    assert "    release_type: 'One release'" in lines
    sections = [line[2:-1] for line in lines if re.fullmatch(r"  \w+:", line)]
    every = list(dict.fromkeys(field.split("/")[0] for field in FIELDS))
    assert sections == [one for one in every if one in sections]


def test_what_nobody_answered_is_refused_or_marked() -> None:
    with sd.Ledger.in_memory(LIMIT) as ledger:
        with pytest.raises(InvalidParameter, match="basic/name, basic/data_curators"):
            registry_yaml(ledger, {})
        draft = registry_yaml(ledger, {}, draft=True)
    assert draft.count("To be written") == 7


@for_each(
    ("name", "value"),
    [
        ("basic/colour", "red"),
        ("basic/name", 7),
        ("basic/name", " "),
        ("basic/name", "a\0b"),
        ("basic/name", r"a\\b"),
        ("basic/data_curators", "Harbour Clinic"),
        ("basic/data_curators", []),
        ("basic/data_curators", ["Harbour Clinic", 3]),
    ],
)
def test_unfit_answers_are_refused(name: str, value: Any) -> None:
    with sd.Ledger.in_memory(LIMIT) as ledger, pytest.raises(InvalidParameter):
        registry_yaml(ledger, {**ANSWERS, name: value})


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_quotes_are_undone(text: str) -> None:
    """A quoted text is what it was, once the quotes are read as YAML does."""
    written = quote(text)
    assert written[0] == written[-1] == "'"
    assert written[1:-1].replace("''", "'") == text
    assert not re.search(r"(?<!')'(?!')", written[1:-1].replace("''", ""))


@given(st.fractions(min_value=0, max_value=10**20))
def test_a_number_is_not_below(value: Fraction) -> None:
    """What is written is a float of YAML 1.1, and is at least as large."""
    assert NUMBER.fullmatch(decimal_text(value))
    assert Fraction(decimal_text(value)) >= value


def test_an_entry_is_a_file(tmp_path: Path) -> None:
    with sd.Ledger.in_memory(LIMIT) as ledger:
        path = tmp_path / "entry.yaml"
        path.write_text(registry_yaml(ledger, ANSWERS), "utf-8")
    assert path.read_text("utf-8").startswith("url_slug: ")
