"""The pictures of docs/understand.md, each an idea: `make pictures` draws them anew.

They are drawn from numbers that Sordino computes, without chance, so the same code
draws the same files. Colours follow the reader's, light or dark.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import sordino as sd

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH: Final = 640
HEIGHT: Final = 260
STYLE: Final = """
.ink{fill:#1c2733}.soft{fill:#5b6875}.line{stroke:#5b6875;fill:none}
.main{fill:#2b6cb0}.pale{fill:#2b6cb0;fill-opacity:.22}.mark{fill:#b4470f}
.curve{stroke:#2b6cb0;stroke-width:2.5;fill:none}
.other{stroke:#b4470f;stroke-width:2.5;fill:none}
.third{stroke:#0b7a53;stroke-width:2.5;fill:none}
.bar{stroke:#b4470f;stroke-width:2;stroke-dasharray:6 4;fill:none}
@media(prefers-color-scheme:dark){.ink{fill:#e6eaef}.soft{fill:#a9b4c0}
.line{stroke:#a9b4c0}.main,.pale{fill:#6fb1f0}.curve{stroke:#6fb1f0}
.mark{fill:#f59a62}.other,.bar{stroke:#f59a62}.third{stroke:#58c79b}}
"""


class Frame(NamedTuple):
    """Where numbers lie on a picture: the ranges of both axes."""

    left: float
    right: float
    top: float

    def x(self, value: float) -> float:
        return 60 + 540 * (value - self.left) / (self.right - self.left)

    def y(self, value: float) -> float:
        return 210 - 170 * value / self.top

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)


def text(x: float, y: float, words: str, kind: str = "ink", at: str = "start") -> str:
    """Words at a place."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{at}"'
    return f'<text class="{kind}" {place}>{words}</text>'


def box(kind: str, x: float, y: float, size: tuple[float, float]) -> str:
    """A filled rectangle by its upper left corner."""
    wide, high = size
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{wide:.1f}" height="{high:.1f}"/>'
    )


def stroke(kind: str, points: str) -> str:
    """A line through points."""
    return f'<polyline class="{kind}" points="{points}"/>'


def unit() -> list[str]:
    """Two neighbouring tables: one has all rows of a person, the other none."""
    people = "ABCBADBC"
    parts = []
    for place, title in ((60, "the table"), (370, "its neighbour, without B")):
        parts.append(text(place, 24, title))
        for row, person in enumerate(people):
            top = 36 + 25 * row
            is_gone = person == "B" and place > 60
            kind = "mark" if person == "B" else "main"
            if is_gone:
                parts.append(
                    stroke("bar", f"{place},{top + 10} {place + 200},{top + 10}")
                )
                continue
            words = f"row {row + 1}, person {person}"
            parts += [
                box(kind, place, top, (24, 19)),
                box("pale", place + 28, top, (172, 19)),
                text(place + 36, top + 16, words),
            ]
    return parts


def bounds() -> list[str]:
    """Stays in days, and what the bounds 0 and 10 make of the long ones."""
    rows = [round(300 * math.exp(-day / 5)) for day in range(20)]
    frame = Frame(0, 20, 330)
    kept = [*rows[:10], sum(rows[10:])]
    parts = []
    for day, count in enumerate(rows):
        kind = "main" if day < 10 else "mark"
        high = 210 - frame.y(count)
        parts.append(box(kind, frame.x(day) + 2, frame.y(count), (21, high)))
    top = frame.y(kept[10])
    parts.append(box("pale", frame.x(10) + 2, top, (21, frame.y(rows[10]) - top)))
    edge = frame.x(10)
    lost = sum(rows[10:]) / sum(rows)
    return [
        *parts,
        stroke("bar", f"{edge},30 {edge},212"),
        stroke("line", "60,210 600,210"),
        text(edge + 8, 42, "upper bound: 10 days"),
        text(edge + 30, 110, f"{lost:.0%} of the rows reach it:", "soft"),
        text(edge + 30, 134, "each counts as 10 (pale bar)", "soft"),
        text(60, 235, "0 days", "soft"),
        text(600, 235, "20 days", "soft", "end"),
    ]


def limits() -> list[str]:
    """Visits by how many their patient has, and what a limit of three cuts off."""
    people = [round(1000 * math.exp(-visits / 3)) for visits in range(1, 11)]
    rows = [visits * number for visits, number in enumerate(people, 1)]
    kept = [min(visits, 3) * number for visits, number in enumerate(people, 1)]
    frame = Frame(0.5, 10.5, 1300)
    parts = []
    for visits, (whole, part) in enumerate(zip(rows, kept, strict=True), 1):
        left, top = frame.x(visits) - 20, frame.y(part)
        parts += [
            box("main", left, top, (40, 210 - top)),
            box("mark", left, frame.y(whole), (40, top - frame.y(whole))),
            text(frame.x(visits), 230, str(visits), "soft", "middle"),
        ]
    lost = 1 - sum(kept) / sum(rows)
    return [
        *parts,
        stroke("line", "60,210 600,210"),
        text(330, 252, "visits of one patient", "soft", "middle"),
        text(310, 30, "a limit of 3 visits for each patient"),
        text(310, 54, f"keeps {1 - lost:.0%} of the rows, and cuts", "soft"),
        text(310, 78, f"off {lost:.0%}: those at the top", "soft"),
    ]


def noise() -> list[str]:
    """How far noise throws a number: a law, and where 95 of 100 draws lie."""
    law = sd.Laplace(10)
    reach = float(law.error(0.95))
    frame = Frame(-50, 50, 1.05)
    steps = [step / 4 for step in range(-200, 201)]
    height = [(x, math.exp(-abs(x) / 10)) for x in steps]
    inner = [(-reach, 0), *((x, y) for x, y in height if abs(x) <= reach), (reach, 0)]
    return [
        f'<polygon class="pale" points="{frame.path(inner)}"/>',
        stroke("curve", frame.path(height)),
        stroke("line", "60,210 600,210"),
        stroke("bar", f"{frame.x(0)},30 {frame.x(0)},210"),
        text(frame.x(0) + 8, 40, "the exact number, 620"),
        *(
            text(frame.x(x), 230, str(620 + x), "soft", "middle")
            for x in (-40, -20, 0, 20, 40)
        ),
        text(
            frame.x(0), 250, f"95 of 100 draws lie within {reach:.0f}", "ink", "middle"
        ),
    ]


def thresholds() -> list[str]:
    """Groups nobody listed: those whose noisy count reaches the threshold show."""
    budget = sd.ApproxDP(1, "1e-6")
    fitted = sd.LaplaceThreshold.for_loss(budget, (1, 1, 1), dtype="i64")
    least = int(fitted.threshold)
    groups = {"asthma": 62, "diabetes": 41, "gout": 24, "lupus": 11, "one person": 1}
    parts = []
    for row, (name, count) in enumerate(groups.items()):
        top = 34 + 36 * row
        kind = "main" if count >= least else "pale"
        words = str(count) if count >= least else "not shown"
        parts += [
            text(150, top + 17, name, "ink", "end"),
            box(kind, 160, top, (6 * count, 24)),
            text(168 + 6 * max(count, least), top + 17, words, "soft"),
        ]
    edge = 160 + 6 * least
    words = f"threshold {least} at epsilon 1, delta 1e-6"
    return [
        *parts,
        stroke("bar", f"{edge},26 {edge},222"),
        text(edge + 6, 240, words, "soft"),
    ]


def losses() -> list[str]:
    """What many releases lose together: added up, and as a curve."""
    one = sd.Gaussian(scale=20).map(1)
    counts = (1, 5, 10, 20, 30, 40, 50)
    alone = one.epsilon_at(1e-6)
    curve = [(count, (one * count).epsilon_at(1e-6)) for count in counts]
    frame = Frame(0, 50, 5)
    crossing = 5 / alone
    last = curve[-1][1]
    return [
        stroke("line", "60,30 60,210 600,210"),
        stroke("other", frame.path([(0, 0), (crossing, 5)])),
        stroke("curve", frame.path(curve)),
        text(frame.x(crossing) + 8, frame.y(5) + 6, "epsilons added up"),
        text(596, frame.y(last) - 10, f"curves composed: {last:.1f}", "ink", "end"),
        text(330, 250, "releases of Gaussian noise", "soft", "middle"),
        *(
            text(frame.x(x), 228, str(x), "soft", "middle")
            for x in (10, 20, 30, 40, 50)
        ),
        *(text(52, frame.y(y) + 5, str(y), "soft", "end") for y in (1, 2, 3, 4, 5)),
        text(66, 26, "epsilon at delta 1e-6", "soft"),
    ]


def attackers() -> list[str]:
    """What the best attack finds, for each rate of false alarms."""
    frame = Frame(0, 1, 1)
    kinds = {"third": "0.5", "curve": "1", "other": "3"}
    alarms = [step / 100 for step in range(101)]
    parts = []
    for place, (kind, epsilon) in enumerate(kinds.items()):
        loss = sd.PureDP(epsilon)
        points = [(x, float(loss.tpr_at(x))) for x in alarms]
        row = 150 + 20 * place
        parts += [
            stroke(kind, frame.path(points)),
            stroke(kind, f"450,{row} 480,{row}"),
            text(488, row + 5, f"epsilon = {epsilon}"),
        ]
    return [
        stroke("line", "60,40 60,210 600,210"),
        stroke("bar", frame.path([(0, 0), (1, 1)])),
        *parts,
        text(
            330, 250, "of 100 people who are not in the data, accused", "soft", "middle"
        ),
        *(
            text(frame.x(x / 100), 228, str(x), "soft", "middle")
            for x in (0, 25, 50, 75, 100)
        ),
        *(text(52, frame.y(y / 100) + 5, str(y), "soft", "end") for y in (50, 100)),
        text(66, 28, "of 100 people who are in it, found", "soft"),
        text(frame.x(0.62), frame.y(0.55), "a coin", "soft"),
    ]


PICTURES: Final[Sequence[Callable[[], list[str]]]] = (
    unit,
    bounds,
    limits,
    noise,
    thresholds,
    losses,
    attackers,
)


def draw(picture: Callable[[], list[str]]) -> str:
    """Text of a picture's file."""
    title = (picture.__doc__ or "").rstrip(".")
    sheet = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
    font = 'font-family="sans-serif" font-size="19"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {sheet} {font}>',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style>",
        *picture(),
        "</svg>\n",
    ])


def main() -> None:
    """Write every picture."""
    for picture in PICTURES:
        (FOLDER / f"{picture.__name__}.svg").write_text(draw(picture), encoding="utf-8")


if __name__ == "__main__":
    main()
