r"""What the text of a policy says: TOML, whose every name is known, as rules.

>>> rules = read_rules("serial = 1\n[release]\nepsilon = 1\ndelta = 1e-6\n")
>>> rules.release.rules
('release.epsilon = 1', 'release.delta = 0.000001')
>>> read_rules("serial = 1\n[relaese]\n")
Traceback (most recent call last):
sordino.errors.InvalidPolicy: the file has no 'relaese'. Did you mean 'release'?
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, final

from sordino import _validate
from sordino.errors import InvalidPolicy
from sordino.losses.base import Loss
from sordino.numbers import distance, probability
from sordino.policy.loss_rules import Most
from sordino.policy.permissions import (
    ColumnRules,
    Functions,
    Least,
    Listed,
    People,
    TableRules,
)
from sordino.policy.usage import Usage
from sordino.settings.section import Section, file_value
from sordino.settings.toml_file import parse_toml

_NAMES: Final = (
    *("schema", "serial", "title", "release", "year", "person"),
    *("groups", "tables", "functions", "people"),
)
_VERSION: Final = 1
_USUAL_DELTA: Final = Fraction(1, 10**6)
AGGREGATIONS: Final = (
    *("count", "count_ids", "count_distinct", "sum", "mean", "variance", "stdev"),
    *("median", "quantile", "quantiles", "min", "max", "bounds", "histogram"),
    *("cumulative", "keys", "top", "marginals"),
)
"""What a policy may allow, by the names under which it is asked."""
_LARGEST: Final = 2**53
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


@final
@dataclass(frozen=True)
class Rules:
    """All that a policy says; None where it says nothing."""

    serial: int
    title: str
    release: Most | None
    year: Most | None
    person: Most | None
    least: Least | None
    tables: TableRules | None
    functions: Functions
    people: People
    sentences: tuple[str, ...]
    """Each rule as it stands in the file, in order."""

    def refuse(
        self, usages: Sequence[Usage], loss: Loss, asker: tuple[str, str]
    ) -> None:
        """Refuse what is not allowed: which uses, at what loss, by whom, from whose.

        `asker` is who asks, and the budget that is charged.
        """
        self.people.refuse(*asker)
        for usage in usages:
            for rule in (self.tables, self.functions, self.least):
                if rule is not None:
                    rule.refuse(usage)
        answered = any(usage.is_answered for usage in usages)
        if self.release is not None and answered:
            self.release.refuse_loss(loss)

    @property
    def delta(self) -> Fraction:
        """Return the delta at which a loss counts that only a curve tells."""
        stated = None if self.release is None else self.release.delta
        return stated or _USUAL_DELTA


@lru_cache(maxsize=8)
def read_rules(text: str) -> Rules:
    """Return the rules of a text, or refuse it."""
    values = parse_toml(text, "the policy", InvalidPolicy, "docs/guides/policy.md")
    root = Section("", values, InvalidPolicy)
    root.refuse_others(*_NAMES)
    if root.values.get("schema", _VERSION) != _VERSION:
        raise root.wrong(
            "schema", f"must be {_VERSION}", "This version reads no other."
        )
    return Rules(
        serial=_whole(root, "serial"),
        title=root.text("title", ""),
        release=_read_most(root, "release"),
        year=_read_most(root, "year"),
        person=_read_most(root, "person"),
        least=_read_least(root),
        tables=_read_tables(root),
        functions=_read_functions(root),
        people=_read_people(root),
        sentences=tuple(_sentences(root)),
    )


def _read_most(root: Section, name: str) -> Most | None:
    """Return an epsilon and a delta, both of which must be said."""
    if name not in root:
        return None
    section = root.section(name)
    section.refuse_others("epsilon", "delta")
    with section.place_refusals("epsilon"):
        epsilon = distance(epsilon=file_value(section.value("epsilon")))
    with section.place_refusals("delta"):
        delta = probability(delta=file_value(section.value("delta")))
    if not isinstance(epsilon, Fraction):
        raise section.wrong("epsilon", "must be rational", "Write epsilon = 1.")
    if delta == 1:
        raise section.wrong("delta", "must be below 1", 'Write delta = "1e-6".')
    return Most(epsilon, delta, (_rule(section, "epsilon"), _rule(section, "delta")))


def _read_least(root: Section) -> Least | None:
    """Return the least noisy count of a group."""
    section = root.section("groups")
    section.refuse_others("least")
    if not section.values:
        return None
    return Least(_rule(section, "least"), _whole(section, "least"))


def _read_tables(root: Section) -> TableRules | None:
    """Return the tables that may be read, and the roles of their columns."""
    if "tables" not in root:
        return None
    columns = {}
    for name, section in root.sections("tables").items():
        section.refuse_others("keys", "filters", "values")
        roles = (_read_names(section, role) for role in ("keys", "filters", "values"))
        columns[name] = ColumnRules(*roles)
    named = ", ".join(f"[tables.{_key_text(name)}]" for name in columns) or "[tables]"
    return TableRules(f"{named} and no other table", columns)


def _read_functions(root: Section) -> Functions:
    """Return what may be asked."""
    section = root.section("functions")
    section.refuse_others("aggregations", "python")
    aggregations = _read_names(section, "aggregations")
    for name in sorted(aggregations.names) if aggregations else ():
        with section.place_refusals("aggregations"):
            _validate.choice(AGGREGATIONS, aggregations=name)
    runs = section.truth("python", default=True)
    return Functions(aggregations, "" if runs else _rule(section, "python"))


def _read_people(root: Section) -> People:
    """Return who may ask."""
    section = root.section("people")
    section.refuse_others("who", "analysts")
    return People(_read_names(section, "who"), _read_names(section, "analysts"))


def _read_names(section: Section, name: str) -> Listed | None:
    """Return the names of a list, None where there is no list."""
    if name not in section:
        return None
    return Listed(_rule(section, name), frozenset(section.texts(name)))


def _whole(section: Section, name: str) -> int:
    """Return a whole number of at least 1."""
    value = section.value(name)
    if type(value) is not int or not 1 <= value <= _LARGEST:
        raise section.wrong(name, "must be a whole number", f"Write {name} = 1.")
    return value


def _sentences(section: Section) -> list[str]:
    """Return each rule of a table and of those below it, in order."""
    sentences = []
    for name, value in section.values.items():
        if isinstance(value, dict):
            inner = _sentences(section.section(name))
            sentences += inner or [f"[{section.at(name)}]"]
        else:
            sentences.append(_rule(section, name))
    return sentences


def _rule(section: Section, name: str) -> str:
    """Return a rule as it stands in the file: its place and its value."""
    return f"{section.at(name)} = {_toml(section.values.get(name))}"


def _key_text(name: str) -> str:
    """Return a name as a key of TOML: bare where it may be."""
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    """Return a value as TOML; its texts are written like those of JSON.

    >>> _toml(["ward", Decimal("0.5"), True])
    '["ward", 0.5, true]'
    """
    match value:
        case Decimal():
            return str(value)
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)
