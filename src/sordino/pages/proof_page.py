"""The fourth page: how to check everything, how it was made, and what proves it."""

from collections.abc import Iterable, Iterator

from sordino.pages.languages import Language
from sordino.pages.markup import Html, join, tag
from sordino.pages.plan_steps import RowStep, steps_of
from sordino.pages.proofs import FILTERS, PROOFS, Place, mechanisms_of
from sordino.pages.sections import section
from sordino.pages.story import Story, Trail

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
    """Yield by what the ledger can be checked."""
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
