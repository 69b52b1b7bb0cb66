"""Pages four and five: how to check, and the promise beside others.

Public deployments of differential privacy, as their registry states them.

>>> nearest = deployments()[0]
>>> nearest.name, nearest.unit, nearest.people
('wikimedia_russian', 'account_month', 6)

The fifth page: the promise beside those of others, and as the registry has it.

Each publication stands with what one unit of it is, on one scale from 0 to 100: the
unit decides what the number means, so nothing is ranked and nothing is praised.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple, final

from sordino.office.html.elements import Content, Html, join, tag
from sordino.office.html.odds import FALSE_ALARMS, Odds, hundred_text
from sordino.office.html.page import Language, section
from sordino.office.html.small_pictures import Scale
from sordino.office.report.promise import promise_scope, protected_unit
from sordino.office.report.request_words import (
    FILTERS,
    PROOFS,
    Place,
    RowStep,
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


@cache
def deployments() -> tuple[Deployment, ...]:
    """Return all that publish statistics or a table and state a number."""
    source = files("sordino.office.report") / "public_deployments.json"
    listed = json.loads(source.read_text("utf-8"))["deployments"]
    return tuple(
        Deployment(each["name"], each["unit"], each["found"]) for each in listed
    )


_COMMANDS = (
    "sordino ledger verify clinic.ledger",
    "sordino ledger export clinic.ledger",
)
_MOST_NUMBERS = 6


def proof_page(language: Language, story: Story) -> Html:
    """Return the page."""
    parts = [tag("p", language.html("proof.intro"))]
    if story.accounts is None:
        parts.append(tag("p", language.html("proof.alone")))
    else:
        parts += _trail(language, story.accounts.trail)
    if story.shown:
        newest = story.shown[0]
        count = str(newest.number) if newest.number else ""
        key = "proof.made" if count else "proof.made_alone"
        parts.append(tag("h3", language.html(key, number=count)))
        parts.append(plan_diagram(language, newest.plan))
    parts.append(tag("h3", language.html("proof.places")))
    parts.append(_places(language, story))
    return section(language, "proof", *parts)


def plan_diagram(language: Language, plan: str) -> Html:
    """Return a plan as boxes: private until the noise, public after it."""
    steps = steps_of(plan)
    boxes = [] if steps.rows is None else list(_row_boxes(language, steps.rows))
    for line in steps.groups:
        boxes.append(_box(language, "groups", line))
    noise = (tag("code", language.sentence(line)) for line in steps.noise)
    boxes.append(
        tag("li", tag("b", language.html("plan.noise")), *noise, class_="noise")
    )
    side = tag("span", language.html("plan.public"), class_="side")
    end = tag("b", language.html("plan.published"))
    boxes.append(tag("li", end, side, class_="open"))
    return tag("ol", *boxes, class_="plan")


def _row_boxes(language: Language, step: RowStep) -> Iterator[Html]:
    """Yield the boxes of the rows; where several meet, each has boxes of its own."""
    if len(step.sources) > 1:
        branches = (
            tag("ol", *_row_boxes(language, source), class_="plan")
            for source in step.sources
        )
        yield tag("li", *branches, class_="branches")
    for source in step.sources if len(step.sources) == 1 else ():
        yield from _row_boxes(language, source)
    yield _box(language, step.kind, step.line)


def _box(language: Language, kind: str, line: str) -> Html:
    """Return a step on private rows, with the line that the plan has of it."""
    side = tag("span", language.html("plan.private"), class_="side")
    title = tag("b", language.html(f"plan.{kind}"))
    look = "open" if kind == "table" else "step"
    return tag("li", title, side, tag("code", language.sentence(line)), class_=look)


def _trail(language: Language, trail: Trail) -> Iterator[Html]:
    counts = language.html(
        "proof.counts",
        records=language.whole(trail.records),
        releases=language.whole(trail.releases),
        answers=language.whole(trail.answers),
    )
    witness = "kept" if trail.has_witness else "none"
    signed = tag("code", trail.signed_by) if trail.signed_by else language.html(
        "proof.unsigned"
    )  # fmt: skip
    facts = (
        ("head", tag("code", trail.head)),
        ("checked", counts),
        ("witness", language.html(f"proof.witness_{witness}")),
        ("signed", signed),
        ("policy", _policy(language, trail)),
        ("version", language.name(trail.library)),
    )
    parts = (
        part
        for name, text in facts
        for part in (tag("dt", language.html(f"proof.{name}")), tag("dd", text))
    )
    yield tag("dl", *parts, class_="facts")
    yield tag("p", language.html("proof.yourself"))
    yield tag("pre", "\n".join(_COMMANDS))


def _policy(language: Language, trail: Trail) -> Html:
    """Say which policy charges obey, and who signed it."""
    if not trail.policy:
        return language.html("proof.policy_none")
    return language.html(
        "proof.policy_of",
        sha256=tag("code", trail.policy),
        officer=tag("code", trail.officer),
    )


def _places(language: Language, story: Story) -> Html:
    """Return each mechanism with the releases that used it, and where it is proved."""
    numbers: dict[str, list[int]] = {}
    for plan, releases in story.plans.items():
        for name in mechanisms_of(plan):
            numbers.setdefault(name, []).extend(releases)
    rows = [
        _place_row(language, tag("code", name), _numbers(language, used), PROOFS[name])
        for name, used in sorted(numbers.items())
    ]
    rule = "" if story.accounts is None else story.accounts.trail.rule
    if rule in FILTERS:
        everything = language.html("proof.everything")
        rows.append(_place_row(language, everything, join(), FILTERS[rule]))
    heads = (
        tag("th", language.html(f"proof.{key}"), scope="col")
        for key in ("noise", "releases", "place")
    )
    return tag(
        "table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="stack"
    )


def _place_row(
    language: Language, name: Html, used: Html, places: Iterable[Place]
) -> Html:
    """Return a line: what, in which releases, and where it is proved."""
    del language
    pieces = [
        piece
        for file, heading in places
        for piece in (
            tag("br"),
            tag("code", f"docs/proofs/{file}"),
            " · ",
            tag("bdi", heading),
        )
    ]
    return tag(
        "tr", tag("th", name, scope="row"), tag("td", used), tag("td", *pieces[1:])
    )


def _numbers(language: Language, used: list[int]) -> Html:
    """Return the numbers of releases, the newest first, not too many of them."""
    numbers = [str(number) for number in sorted(set(used), reverse=True) if number]
    if len(numbers) <= _MOST_NUMBERS:
        return join(", ".join(numbers))
    shown = ", ".join(numbers[:_MOST_NUMBERS])
    count = language.whole(len(numbers) - _MOST_NUMBERS)
    return language.html("proof.and_more", numbers=shown, count=count)


_SCALE: Final = Scale(0, 100)
_HEIGHT: Final = 18
_MIDDLE: Final = 9
_ENDS: Final = {0: "start", 50: "middle", 100: "end"}


@final
class Neighbour(NamedTuple):
    """A publication on the scale."""

    name: Html
    unit: Html
    people: int
    is_own: bool = False


def beside_page(language: Language, story: Story) -> Html:
    """Return the page."""
    rows = sorted(_neighbours(language, story), key=lambda row: row.people)
    alarms = str(FALSE_ALARMS)
    return section(
        language,
        "beside",
        tag("p", language.html("beside.intro", alarms=alarms)),
        tag("div", _table(language, rows), class_="panel"),
        tag("p", language.html("beside.source", alarms=alarms), class_="soft"),
        *_registry(language, story.registry),
    )


def _neighbours(language: Language, story: Story) -> Iterator[Neighbour]:
    """Yield this promise, and those of others."""
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
        )


def _table(language: Language, rows: list[Neighbour]) -> Html:
    columns = (tag("col", class_=look) for look in ("k", "range", "dots", "last"))
    picture = tag("span", language.html("beside.picture"), class_="vh")
    head = tag(
        "tr",
        tag("th", language.html("beside.publication"), scope="col"),
        tag("th", language.html("beside.one_unit"), scope="col", class_="range"),
        tag("th", picture, _axis(), scope="col"),
        tag("th", language.html("beside.of_hundred"), scope="col", class_="n"),
    )
    body = (_row(language, row) for row in rows)
    return tag(
        "table",
        tag("colgroup", *columns),
        tag("thead", head),
        tag("tbody", *body),
        class_="iv cmp num",
    )


def _row(language: Language, row: Neighbour) -> Html:
    count: Content = hundred_text(language, row.people)
    return tag(
        "tr",
        tag(
            "th",
            tag("b", row.name) if row.is_own else row.name,
            tag("span", row.unit, class_="under"),
            scope="row",
        ),
        tag("td", row.unit, class_="range"),
        tag("td", _dot(row)),
        tag("td", tag("b", count) if row.is_own else count, class_="n"),
    )


def _dot(row: Neighbour) -> Html:
    """Return where a publication lies; the upright line is chance."""
    chance, place = _SCALE.place(FALSE_ALARMS), _SCALE.place(row.people)
    shapes = (
        tag("line", class_="guide", x1="0", x2="100%", y1=_MIDDLE, y2=_MIDDLE),
        tag("line", class_="edge", x1=f"{chance:g}%", x2=f"{chance:g}%", y1=3, y2=15),
        tag("circle", class_="aim" if row.is_own else "dot", cx=f"{place:g}%",
            cy=_MIDDLE, r=5),
    )  # fmt: skip
    return tag("svg", *shapes, aria_hidden="true", width="100%", height=_HEIGHT)


def _axis() -> Html:
    texts = (
        tag("text", str(tick), x=f"{tick}%", y=14, text_anchor=side)
        for tick, side in _ENDS.items()
    )
    return tag("svg", *texts, aria_hidden="true", width="100%", height=_HEIGHT)


def _registry(language: Language, entry: str) -> Iterator[Html]:
    """Yield the entry of the public registry, folded; it prints unfolded."""
    if entry:
        title = tag("summary", language.html("beside.registry"))
        yield tag("details", title, tag("pre", entry, tabindex="0"))
        yield tag("p", language.html("beside.to_write"), class_="soft")
