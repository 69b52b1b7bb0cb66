"""The facts of a label as linked data: for programs, and with the rows people read.

Names with a prefix are those of Dublin Core and schema.org, which every reader of
JSON-LD and of "CSV on the Web" knows. The facts themselves are one text of JSON among
them, which `sordino label` reads back.
"""

import json
from typing import Any, Final

from sordino.release.label_facts import LabelFacts
from sordino.release.label_rows import LabelTexts

FACTS: Final = "sordino.label"
"""The name of the property whose value is the text of the facts."""
_PREFIXES: Final = {"dc": "http://purl.org/dc/terms/", "schema": "https://schema.org/"}


def facts_text(facts: LabelFacts) -> str:
    """Return the facts as one line of JSON, the same for the same facts."""
    return json.dumps(facts.fields, sort_keys=True, separators=(",", ":"))


def label_json(facts: LabelFacts, texts: LabelTexts) -> str:
    """Return a label as a document of JSON-LD."""
    document = label_object(facts, texts)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def label_object(facts: LabelFacts, texts: LabelTexts) -> dict[str, Any]:
    """Return a label as an object of JSON-LD."""
    return {
        "@context": _PREFIXES,
        "@type": "schema:Dataset",
        **({"schema:name": texts.file} if texts.file else {}),
        **label_properties(facts, texts),
    }


def label_properties(facts: LabelFacts, texts: LabelTexts) -> dict[str, Any]:
    """Return properties with prefixes: who made it, its rows, and its facts."""
    rows = [
        _property("schema:name", row.name, row.value)
        for part in texts.parts
        for row in part.rows
    ]
    paid = facts.paid_by
    return {
        "dc:creator": facts.made_by,
        **({} if paid is None else {"dc:date": paid.when}),
        "dc:description": " · ".join((texts.title, *texts.feet)),
        "schema:additionalProperty": [
            *rows,
            _property("schema:propertyID", FACTS, facts_text(facts)),
        ],
    }


def _property(named_by: str, name: str, value: str) -> dict[str, str]:
    """Return a name and a value, as schema.org has them."""
    return {"@type": "schema:PropertyValue", named_by: name, "schema:value": value}
