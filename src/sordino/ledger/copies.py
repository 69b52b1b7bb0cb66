"""A ledger as lines of JSON, which outlive every program, and as a registry's entry.

>>> from sordino.losses.loss import PureDP
>>> with Ledger.in_memory(PureDP(1)) as ledger:
...     [json.loads(line)["kind"] for line in json_lines(ledger)]
['opened', 'budget']

The registry's file is one record of fields in sections. What the ledger knows is filled
in; what only a person knows is asked for. What is stated as the loss is the limit: that
is what holds of everything together. What was spent of it stands in the details.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib.metadata import version
from typing import Any, Final, TypeAlias

from sordino.errors import InvalidParameter
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Entry
from sordino.losses.budgets.limits import budget_text
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP
from sordino.losses.loss import Loss, PureDP
from sordino.numbers import up
from sordino.numbers.formatting import format_key


def json_lines(ledger: Ledger) -> Iterator[str]:
    """Yield one object for each record: its number, kind and hashes, and its body.

    The hashes can be computed again from the lines (docs/ledger-format.md). Answers are
    not in it, only their hashes.
    """
    for record in ledger.records():
        yield json.dumps(
            {
                "number": record.number,
                "kind": record.kind,
                "previous": record.previous,
                "hash": record.hash,
                "body": record.body,
            },
            separators=(",", ":"),
        )


Answers: TypeAlias = Mapping[str, "str | list[str]"]

FIELDS: Final = (
    "basic/name",
    "basic/data_curators",
    "basic/intended_use",
    "basic/data_product_type",
    "basic/data_product_region",
    "basic/description",
    "basic/publication_date",
    "basic/data_product_sector",
    "dp_variant/variant_name",
    "dp_variant/data_domain",
    "dp_variant/unprotected_quantities",
    "privacy_loss/privacy_unit",
    "privacy_loss/privacy_unit_details",
    "privacy_loss/privacy_parameters",
    "privacy_loss/privacy_parameters_details",
    "deployment_model/model_name",
    "deployment_model/model_name_details",
    "deployment_model/actors",
    "deployment_model/release_type",
    "deployment_model/release_type_details",
    "deployment_model/data_source_type",
    "deployment_model/data_source_type_details",
    "deployment_model/access_type",
    "deployment_model/access_type_details",
    "accounting/post_processing",
    "accounting/composition",
    "implementation/preprocessing_and_hyperparameter_tuning",
    "implementation/mechanisms",
    "implementation/justification",
    "administrative/sources",
    "administrative/notes",
    "administrative/registry_authors",
)
"""The fields of the registry, in its order."""
NEEDED: Final = (*FIELDS[:7], "administrative/registry_authors")
_LISTS: Final = {"basic/data_curators", "administrative/registry_authors"}
_UNKNOWN: Final = "To be written"
_DOZEN: Final = 12
"""Blocks for which it is told what holds of a person in so many."""
_DELTA: Final = "1e-6"
"""Where a loss without a headline of its own is stated as (epsilon, delta)."""
_BACKSLASHES: Final = re.compile(r"\\\\(?![()])")


def registry_yaml(ledger: Ledger, answers: Answers, *, draft: bool = False) -> str:
    """Return the entry of a ledger, with what a person answered by field.

    A field that the registry needs and nobody answered is refused; in a draft it is
    marked instead.
    """
    for name, value in answers.items():
        _refuse_unfit(name, value)
    fields = {**_from_ledger(ledger), **answers}
    missing = [name for name in NEEDED if name not in fields]
    if missing and not draft:
        raise InvalidParameter(
            "answers", sorted(answers), f"must have {', '.join(missing)}", "Add them."
        )
    for name in missing:
        fields[name] = [_UNKNOWN] if name in _LISTS else _UNKNOWN
    lines = [f"url_slug: {_slug(fields)}", "status: Draft", "tier: 2", "deployment:"]
    section = ""
    for field in (field for field in FIELDS if field in fields):
        begun, _, name = field.partition("/")
        if begun != section:
            section = begun
            lines.append(f"  {section}:")
        lines += _field(name, fields[field])
    return "\n".join(lines) + "\n"


def _from_ledger(ledger: Ledger) -> dict[str, Any]:
    entries, limit = ledger.entries(), ledger.first_limit()
    promise = limit.rule.promise
    variant, parameters = _headline(promise)
    fields: dict[str, Any] = {
        "basic/data_product_type": "Summary statistics",
        "dp_variant/variant_name": variant,
        "privacy_loss/privacy_parameters": parameters,
        "privacy_loss/privacy_parameters_details": _limit_text(ledger),
        "deployment_model/model_name": "Central",
        "deployment_model/release_type": _releases(entries),
        "accounting/composition": (
            "Every release is charged before it is computed; the sums of the charges "
            f"are kept within the limit by a filter ({limit.rule.rule})."
        ),
        "implementation/mechanisms": (
            f"Sordino {version('sordino')}: exact integers and rationals between data "
            "and noise. Timing and memory are not protected."
        ),
        "administrative/notes": f"Exported from ledger {ledger.identity}.",
    }
    if ledger.about:
        about = _BACKSLASHES.sub(r"\\", format_key(ledger.about))
        fields["privacy_loss/privacy_unit_details"] = about
    if entries:
        fields["basic/publication_date"] = entries[0].when.date().isoformat()
    return fields


def _limit_text(ledger: Ledger) -> str:
    """Limit and sum of charges in words: of everything, or of each block."""
    limit, spent = ledger.first_limit(), budget_text(ledger.spent())
    promise = budget_text(limit.rule.promise)
    if ledger.division is None:
        return (
            f"The limit is {limit.stated}: everything together is within {promise}. "
            f"Charged so far: {spent}."
        )
    dozen = ledger.exposure(_DOZEN)
    return (
        f"The limit is {limit.stated}, of each block of the tables "
        f"({ledger.division.text}): for a person in one block everything together is "
        f"within {promise}, for a person in {_DOZEN} within "
        f"{budget_text(dozen.promise)}. Charged so far: to any block at most {spent}, "
        f"to people of any {_DOZEN} neighbouring blocks at most "
        f"{budget_text(dozen.charged)}."
    )


def _releases(entries: tuple[Entry, ...]) -> str:
    """Return how many releases there are, in the registry's words."""
    return "One release" if len(entries) == 1 else "Many releases"


def _headline(promise: Loss) -> tuple[str, dict[str, str]]:
    """Return the registry's name of a kind of loss, and its parameters rounded up."""
    guarantees = promise.guarantees
    delta = decimal_text(guarantees.delta)
    match promise:
        case PureDP():
            return "Pure DP", {"epsilon": decimal_text(guarantees.epsilon)}
        case ApproxDP():
            return "Approximate DP", {
                "epsilon": decimal_text(guarantees.epsilon),
                "delta": delta,
            }
        case ZCDP():
            return "Zero-concentrated DP", {"rho": decimal_text(guarantees.rho)}
        case ApproxZCDP():
            return "Zero-concentrated DP", {
                "rho": decimal_text(guarantees.rho),
                "delta": delta,
            }
        case _:
            epsilon = float(promise.epsilon_at(_DELTA))
            both = {
                "epsilon": decimal_text(epsilon),
                "delta": decimal_text(Fraction(_DELTA)),
            }
            return "Custom", both


def decimal_text(value: Any) -> str:
    """Return a decimal not below a number, as YAML 1.1 reads a float.

    >>> [decimal_text(Fraction(size)) for size in ("1", "1e-6", "1/3")]
    ['1.0', '1.0e-06', '0.3333333333333334']
    """
    text = repr(float(value))
    if Fraction(text) < value:
        text = repr(math.nextafter(up(value), math.inf))
    mantissa, letter, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if letter and "." not in mantissa else text


def quote(text: str) -> str:
    """Return a scalar that YAML reads as this text, on one line.

    >>> quote("the clinic's")
    "'the clinic''s'"
    """
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _field(name: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"    {name}:", *(f"      {n}: {text}" for n, text in value.items())]
    if isinstance(value, list):
        return [f"    {name}:", *(f"      - {quote(item)}" for item in value)]
    if "\n" in value:
        block = (f"      {line}".rstrip() for line in value.strip().split("\n"))
        return [f"    {name}: |", *block]
    return [f"    {name}: {quote(value)}"]


def _slug(fields: Mapping[str, Any]) -> str:
    """Return the address of the entry: name, curators and year in small letters."""
    curators = "-".join(fields["basic/data_curators"])
    year = fields["basic/publication_date"][:4]
    parts = (fields["basic/name"], curators, year)
    words = (re.sub(r"\W+", "_", part.lower()) for part in parts)
    return "-".join(words).replace("_", "-")


def _refuse_unfit(name: str, value: Any) -> None:
    """Refuse a field that the registry does not have, or text that it cannot hold."""
    if name not in FIELDS:
        raise InvalidParameter(
            "answers", name, "must name fields of the registry", f"Try {FIELDS[0]!r}."
        )
    texts = value if name in _LISTS and isinstance(value, list) else [value]
    for text in texts:
        fit = isinstance(text, str) and text.strip()
        if not fit or not text.replace("\n", "").isprintable():
            raise InvalidParameter(
                name, text, "must be printable text", "Remove what cannot be printed."
            )
        if _BACKSLASHES.search(text):
            raise InvalidParameter(
                name, text, "must not contain two backslashes", "Write one backslash."
            )
    if name in _LISTS and not (isinstance(value, list) and value):
        raise InvalidParameter(name, value, "must be a list", 'Try ["Harbour Clinic"].')
