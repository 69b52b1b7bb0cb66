"""The demonstration: `python -m sordino.demo` shows Sordino on invented data."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from rich.console import Console
from rich.table import Table

import sordino as sd

WARDS = ("North", "East", "South", "West")
DRAWS = ("published", "again", "and again")
INTRO = """\
[bold]Sordino[/]: statistics about people, with a proof of privacy

A clinic publishes four numbers. Each is moved by random noise, drawn exactly
from a known law, so that no answer betrays whether any one patient is in the
data. The price of an answer depends on the noise alone, never on the data.
Risk is said as a game: an attacker who knows all else guesses whether one
patient is in or out. A coin is right 50 times in 100."""
OUTRO = """\
A clinic publishes one draw; three are shown to let you see the noise. It was
drawn afresh and cannot be repeated: run this again and the numbers differ.
Next: README.md, and help(sordino.Laplace) in Python."""


@final
@dataclass(frozen=True, kw_only=True)
class Scene:
    """One mechanism answering one question."""

    title: str
    question: str
    change: str
    mechanism: Any
    exact: tuple[float, ...]
    d_in: int
    price: Callable[[Any], str]


def scenes() -> tuple[Scene, ...]:
    """Return the four mechanisms, each where it is at home."""
    return (
        Scene(
            title="Geometric: noise for a count",
            question="How many patients has each ward?",
            change="one patient is in one ward and moves one count by 1",
            mechanism=sd.Geometric(2),
            exact=(120, 45, 7, 0),
            d_in=1,
            price=lambda loss: f"epsilon = {loss.epsilon}",
        ),
        Scene(
            title="Laplace: noise for a measured amount",
            question="How many hours of care did each ward give?",
            change="one patient, in one ward, counts for at most 30 hours",
            mechanism=sd.Laplace(60),
            exact=(1834.5, 702.25, 96.0, 0.0),
            d_in=30,
            price=lambda loss: f"epsilon = {loss.epsilon}",
        ),
        Scene(
            title="Discrete Gaussian: noise for many counts at once",
            question="How many patients did each ward ever see?",
            change="one patient may pass through all four wards: a step of length 2",
            mechanism=sd.DiscreteGaussian(scale=4),
            exact=(1210, 467, 88, 3),
            d_in=2,
            price=lambda loss: f"rho = {loss.rho}",
        ),
        Scene(
            title="Gaussian: noise for many amounts at once",
            question="How many hours did each ward give, over all stays?",
            change="one patient's hours, over all wards, have length at most 30",
            mechanism=sd.Gaussian(scale=60),
            exact=(20411.0, 8120.75, 1342.5, 61.25),
            d_in=30,
            price=lambda loss: f"mu = {loss.mu}",
        ),
    )


def picture(scene: Scene) -> Table:
    """Return exact and noisy answers, side by side."""
    table = Table(box=None, padding=(0, 0, 0, 2))
    table.add_column("", style="dim", width=11)
    for ward in WARDS:
        table.add_column(ward, justify="right", width=11)
    table.add_row("exact", *written(scene.exact), style="dim")
    for draw in DRAWS:
        table.add_row(draw, *written(scene.mechanism(list(scene.exact))))
    return table


def written(values: Any) -> list[str]:
    """Return counts in full and amounts to the hundredth."""
    return [f"{v:,}" if isinstance(v, int) else f"{v:,.2f}" for v in values]


def explanation(scene: Scene) -> Table:
    """Return what is protected, the price, what it means, and what the noise costs."""
    loss = scene.mechanism.map(scene.d_in)
    error = math.ceil(10 * scene.mechanism.error(0.95)) / 10
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(style="dim", width=11)
    table.add_column()
    table.add_row("protected", scene.change)
    table.add_row("price", f"[bold]{scene.price(loss)}[/], exactly")
    table.add_row("risk", risk(loss))
    table.add_row("accuracy", f"95 answers in 100 are within {error:,g} of the truth")
    return table


def risk(loss: Any) -> str:
    """Say how often the best guess is right: (1 + advantage) / 2, rounded up.

    For any test between two neighbours, its advantage is at most delta at epsilon 0.
    """
    right = math.ceil(500 * (1 + loss.delta_at(0))) / 10
    return f"whoever guesses, in or out, is right at most {right:g} times in 100"


def main() -> None:
    """Show every scene."""
    console = Console(highlight=False)
    console.print(INTRO)
    for scene in scenes():
        console.print()
        console.rule(f"[bold]{scene.title}[/]", align="left", style="dim")
        console.print(scene.question)
        console.print(picture(scene), "")
        console.print(explanation(scene))
    console.print()
    console.print(OUTRO)


if __name__ == "__main__":
    main()
