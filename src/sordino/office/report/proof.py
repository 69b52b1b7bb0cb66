"""Pages four and five: how to check a report, and its promise beside others.

Public deployments stand with what one unit of each is, on one scale from 0 to 100: the
unit decides what the number means, so nothing is ranked and nothing is praised.

>>> nearest = deployments()[0]
>>> nearest.name, nearest.unit, nearest.people
('wikimedia_russian', 'account_month', 6)
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple, final

from sordino.office.html.elements import CODE, NOTHING, Content, Html
from sordino.office.html.odds import FALSE_ALARMS, Odds, hundred_text
from sordino.office.html.page import Language, section
from sordino.office.report.promise import promise_scope, protected_unit
from sordino.office.report.request_words import (
    FILTERS,
    PROOFS,
    Place,
    mechanisms_of,
    steps_of,
)
from sordino.office.report.story import Story, Trail


@final
class Deployment(NamedTuple):
    """A publication that says what it promises."""

    name: str
    """Of its title in the words of a language."""
    unit: str
    """Of what one unit of its promise is."""
    people: int
    """People of 100 who are named rightly, at 5 named by mistake; 100 is "over 99"."""
    file: str
    """Of its entry in the public registry."""
    numbers: str
    """The numbers of its promise, as that entry states them."""


@cache
def deployments() -> tuple[Deployment, ...]:
    """Return all that publish statistics or a table and state a number."""
    source = files("sordino.office.report") / "public_deployments.json"
    listed = json.loads(source.read_text("utf-8"))["deployments"]
    return tuple(
        Deployment(
            each["name"],
            each["unit"],
            each["found"],
            each["file"],
            ", ".join(f"{name} = {each[name]}" for name in _STATED if name in each),
        )
        for each in listed
    )


_STATED: Final = ("epsilon", "delta", "rho", "mu")


_COMMANDS = (
    "sordino ledger verify clinic.ledger",
    "sordino ledger export clinic.ledger",
)
_MOST_NUMBERS = 6
_MOST_LETTERS: Final = 2**16
"""Of a certificate that is shown: of a longer one the ledger tells."""
_KERNEL: Final = CODE.format("python -m sordino.kernel certificate.json")


def proof_page(language: Language, story: Story) -> Html:
    """How everything before it can be checked."""
    trail = None if story.accounts is None else story.accounts.trail
    newest = story.shown[0] if story.shown else None
    return section(
        language,
        "proof",
        trail=trail,
        policy=None if trail is None else _policy(language, trail),
        commands="\n".join(_COMMANDS),
        newest=newest,
        steps=None if newest is None else steps_of(newest.plan),
        kernel=_KERNEL,
        certificate=NOTHING if newest is None else _certificate(newest.proof),
        rows=_places(language, story),
    )


def _certificate(proof: str) -> Html:
    """A certificate in letters that can be seen, whole: it is there to be copied."""
    if not 0 < len(proof) <= _MOST_LETTERS:
        return NOTHING
    fields = json.loads(proof)
    return Html.escape(json.dumps(fields, sort_keys=True, separators=(",", ":")))


def _policy(language: Language, trail: Trail) -> Html:
    if not trail.policy:
        return language.html("proof.policy_none")
    return language.html(
        "proof.policy_of",
        sha256=CODE.format(trail.policy),
        officer=CODE.format(trail.officer),
    )


def _places(
    language: Language, story: Story
) -> list[tuple[str, Content, Iterable[Place]]]:
    """Each mechanism with the releases that used it, and where it is proved."""
    numbers: dict[str, list[int]] = {}
    for plan, releases in story.plans.items():
        for name in mechanisms_of(plan):
            numbers.setdefault(name, []).extend(releases)
    rows: list[tuple[str, Content, Iterable[Place]]] = [
        (name, _numbers(language, used), PROOFS[name])
        for name, used in sorted(numbers.items())
    ]
    rule = "" if story.accounts is None else story.accounts.trail.rule
    return [*rows, ("", "", FILTERS[rule])] if rule in FILTERS else rows


def _numbers(language: Language, used: list[int]) -> Content:
    numbers = [str(number) for number in sorted(set(used), reverse=True) if number]
    if len(numbers) <= _MOST_NUMBERS:
        return ", ".join(numbers)
    shown = ", ".join(numbers[:_MOST_NUMBERS])
    count = language.whole(len(numbers) - _MOST_NUMBERS)
    return language.html("proof.and_more", numbers=shown, count=count)


@final
class Neighbour(NamedTuple):
    """A publication on the scale."""

    name: Html
    unit: Html
    people: int
    source: Html = NOTHING
    """Where its number stands; nothing of the own one, which is computed here."""
    is_own: bool = False


def beside_page(language: Language, story: Story) -> Html:
    """The promise beside those of others, all on one scale."""
    return section(
        language,
        "beside",
        rows=sorted(_neighbours(language, story), key=lambda row: row.people),
        alarms=FALSE_ALARMS,
        registry=story.registry,
        hundred_text=hundred_text,
    )


def _neighbours(language: Language, story: Story) -> Iterator[Neighbour]:
    yield Neighbour(
        language.html(f"beside.own.{promise_scope(story)}"),
        protected_unit(language, story.questions),
        Odds(story.bound).finds(FALSE_ALARMS),
        is_own=True,
    )
    for other in deployments():
        yield Neighbour(
            language.html(f"beside.name.{other.name}"),
            language.html(f"beside.unit.{other.unit}"),
            other.people,
            language.html(
                "beside.entry",
                file=CODE.format(other.file),
                numbers=CODE.format(language.number(other.numbers)),
            ),
        )
