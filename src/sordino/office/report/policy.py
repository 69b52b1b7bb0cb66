"""A policy in sentences, and what epsilon is: what an officer reads before numbers.

Rules are those of the signed file, one sentence each, in any language of reports.
"""

from collections.abc import Iterator
from decimal import ROUND_CEILING
from typing import Final, NamedTuple, final

from sordino.ledger.policy_file import Rules
from sordino.ledger.policy_rules import ColumnRules, Listed, Most
from sordino.losses.loss import PureDP
from sordino.office.html.elements import NOTHING, Html, fill_template
from sordino.office.html.odds import FALSE_ALARMS, Odds
from sordino.office.html.page import Language
from sordino.office.report.accounts import amount_in_words, main_name
from sordino.office.report.story import Accounts

_ROLES: Final = ("keys", "filters", "values")
_TOLD: Final = ("0.1", "0.5", "1", "2", "4")
"""Epsilons whose meaning is told beside one another."""


def policy_sentences(language: Language, rules: Rules) -> Iterator[str]:
    """Yield each rule as a sentence, in the order of the file."""
    yield from _of_amounts(language, rules)
    if rules.tables is not None:
        tables = rules.tables.columns
        named = _names(language, sorted(tables))
        yield language.plain("rules.tables", tables=named)
        for table, columns in sorted(tables.items()):
            yield from _columns(language, table, columns)
    yield from _of_askers(language, rules)


def _of_amounts(language: Language, rules: Rules) -> Iterator[str]:
    for name in ("release", "year", "person"):
        most: Most | None = getattr(rules, name)
        if most is not None:
            yield language.plain(f"rules.{name}", **_amounts(language, most))
    if rules.least is not None:
        count = language.whole(rules.least.count)
        yield language.plain("rules.least", count=count)


def _of_askers(language: Language, rules: Rules) -> Iterator[str]:
    lists = {
        "functions": rules.functions.aggregations,
        "who": rules.people.who,
        "analysts": rules.people.analysts,
    }
    for name, listed in lists.items():
        if listed is not None:
            names = _names(language, _in_order(listed))
            yield language.plain(f"rules.{name}", names=names)
    if rules.functions.python:
        yield language.plain("rules.python")


def _amounts(language: Language, most: Most) -> dict[str, str]:
    return {
        name: amount_in_words(language, name, amount, ROUND_CEILING)
        for name, amount in (("epsilon", most.epsilon), ("delta", most.delta))
    }


def _columns(language: Language, table: str, columns: ColumnRules) -> Iterator[str]:
    for role in _ROLES:
        listed: Listed | None = getattr(columns, role)
        if listed is not None:
            yield language.plain(
                f"rules.{role}",
                table=language.plain("label.quoted", name=language.bare_name(table)),
                columns=_names(language, _in_order(listed)),
            )


def _in_order(listed: Listed) -> list[str]:
    return sorted(listed.names)


def _names(language: Language, names: list[str]) -> str:
    quoted = (
        language.plain("label.quoted", name=language.bare_name(name)) for name in names
    )
    return ", ".join(quoted) or language.plain("rules.nothing")


def policy_part(language: Language, accounts: Accounts) -> Html:
    """The policy in force in sentences, each with how many releases kept it."""
    shown = accounts.policy
    if shown is None:
        return fill_template(
            "report/sentence.html",
            title=language.html("rules.title"),
            sentence=language.html("rules.none"),
            is_kept=True,
        )
    return fill_template(
        "report/policy.html",
        language=language,
        name=shown.rules.title,
        serial=str(shown.rules.serial),
        rules=list(policy_sentences(language, shown.rules)),
        kept=language.html(
            language.form("rules.kept", shown.kept), count=language.whole(shown.kept)
        ),
        before=language.html(
            language.form("rules.before", shown.before),
            count=language.whole(shown.before),
        )
        if shown.before
        else NOTHING,
    )


@final
class _Meaning(NamedTuple):
    epsilon: str
    people: int


def epsilon_part(language: Language, accounts: Accounts) -> Html:
    """What epsilon is, in two sentences and a picture; nothing of other limits."""
    if main_name(accounts.purses[0]) != "epsilon":
        return NOTHING
    return fill_template(
        "report/epsilon.html",
        language=language,
        alarms=FALSE_ALARMS,
        rows=[
            _Meaning(
                language.number(epsilon), Odds(PureDP(epsilon)).finds(FALSE_ALARMS)
            )
            for epsilon in _TOLD
        ],
    )
