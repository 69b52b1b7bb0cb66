"""What is written for the public registry passes what the registry asks of an entry.

The schema is in tests/vectors/registry-schema.json; the rest is what its checker asks
beside the schema: the slug, the first line, scalars, backslashes.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

import sordino as sd
from sordino.ledger.copies import registry_yaml
from sordino.office.report.document import ledger_report
from tests.batches import for_each
from tests.ledgers import LIMIT, claim
from tests.plain_yaml import read_yaml

SCHEMA: Final = json.loads(
    (Path(__file__).parents[2] / "vectors" / "registry-schema.json").read_text("utf-8")
)
ANSWERS: Final[dict[str, Any]] = {
    "basic/name": "Ward activity",
    "basic/data_curators": ["Harbour Clinic"],
    "basic/intended_use": "Staffing: the board's.\nAnd research.",
    "basic/data_product_region": "Ireland",
    "basic/description": "Visits of each ward.",
    "administrative/registry_authors": ["Data office"],
}
LIMITS: Final = (
    sd.PureDP("1/3"),
    sd.ApproxDP(1, "1e-6"),
    sd.ZCDP("0.1"),
    sd.ApproxZCDP("0.1", "1e-6"),
    sd.GaussianDP(1),
    sd.Advantage("0.1"),
)
NAMES: Final = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Co", "Cn"]),
    min_size=1,
).filter(lambda text: text.strip() and text.isprintable() and "\\\\" not in text)


def problems(text: str) -> list[str]:
    """Return what the registry would say of an entry."""
    entry = read_yaml(text)
    wrong = [error.message for error in Draft7Validator(SCHEMA).iter_errors(entry)]
    basic = entry["deployment"]["basic"]
    parts = (basic["name"], "-".join(basic["data_curators"]), basic["publication_date"])
    words = [re.sub(r"\W+", "_", part.lower()) for part in (*parts[:2], parts[2][:4])]
    if entry["url_slug"] != "-".join(words).replace("_", "-"):
        wrong.append("the slug is not the computed one")
    if not text.startswith("url_slug: "):
        wrong.append("the slug must stand first")
    if re.search(r"\\\\(?![()])", text):
        wrong.append("two backslashes stand before something else than a parenthesis")
    return wrong


def entry_of(limit: Any, answers: dict[str, Any], about: str = "") -> str:
    with sd.Ledger.in_memory(sd.Limit.of(limit), about=about) as ledger:
        ledger.reserve(claim())
        return registry_yaml(ledger, answers, draft=not answers)


@for_each("limit", LIMITS, ids=repr)
@for_each("answers", [ANSWERS, {}], ids=["answered", "draft"])
def test_an_entry_passes_the_registrys_schema(limit: Any, answers: Any) -> None:
    assert problems(entry_of(limit, answers)) == []


@given(name=NAMES, curators=st.lists(NAMES, min_size=1, max_size=3))
def test_any_names_pass_it(name: str, curators: list[str]) -> None:
    named = {**ANSWERS, "basic/name": name, "basic/data_curators": curators}
    text = entry_of(sd.PureDP(1), named)
    assert problems(text) == []
    assert read_yaml(text)["deployment"]["basic"]["name"] == name


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_whatever_a_ledger_is_about_passes_it(about: str) -> None:
    """What somebody wrote into a ledger is text in the entry, on one line."""
    assert problems(entry_of(sd.PureDP(1), ANSWERS, about)) == []


def test_a_field_that_is_missing_is_noticed() -> None:
    text = entry_of(sd.PureDP(1), ANSWERS)
    without = re.sub(r"    registry_authors:\n.*\n", "", text)
    assert problems(without) == ["'registry_authors' is a required property"]
    assert problems(text.replace("    actors:", "    actor:")) == []
    renamed = text.replace("variant_name", "variant")
    assert any("variant" in problem for problem in problems(renamed))
    assert problems(text.replace("epsilon: 1.0", "epsilon: 'one'"))


def test_a_report_holds_this_very_entry() -> None:
    """Page 5 has the draft as text, folded; a ledger without releases has none."""
    with sd.Ledger.in_memory(LIMIT) as ledger:
        assert "<pre tabindex" not in ledger_report(ledger, "clinic", "en")
        ledger.reserve(claim())
        page = ledger_report(ledger, "clinic", "en")
        entry = registry_yaml(ledger, {}, draft=True)
    assert "variant_name: &#39;" in page
    assert entry.splitlines()[0] in page
