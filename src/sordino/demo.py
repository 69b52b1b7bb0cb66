"""The demonstration: `python -m sordino.demo` shows Sordino on invented data."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

import sordino as sd

WARDS = ("North", "East", "South", "West")
DRAWS = ("published", "again", "and again")
INTRO = """\
[bold]Sordino[/]: statistics about people, with a proof of privacy

A clinic answers questions. Each number is moved by random noise, drawn exactly
from a known law, so that no answer betrays whether any one patient is in the
data. The price of an answer depends on the noise alone, never on the data.
Risk is said as a game: an attacker who knows all else guesses whether one
patient is in or out. A coin is right 50 times in 100."""
OUTRO = """\
A clinic publishes one draw; three are shown to let you see the noise. It was
drawn afresh and cannot be repeated: run this again and the numbers differ.
Next: README.md, and help(sordino.Laplace) in Python."""
TOGETHER = """\
The clinic publishes all of it, one draw each, about the same patients. The
losses add up as one curve, which is less than the sum of its epsilons:"""
DELTA = 1e-6


def every_key(mechanism: Any, exact: dict[str, float]) -> dict[str, float]:
    """Return a noisy answer for each key of a public list."""
    return dict(zip(exact, mechanism(list(exact.values())), strict=True))


def kept_keys(mechanism: Any, exact: dict[str, float]) -> dict[str, float]:
    """Return the keys that pass the threshold, with their noisy answers."""
    kept: dict[str, float] = mechanism(exact)
    return kept


@final
@dataclass(frozen=True, kw_only=True)
class Scene:
    """One mechanism answering one question."""

    title: str
    question: str
    change: str
    mechanism: Any
    exact: dict[str, float]
    d_in: Any
    price: Callable[[Any], str]
    answer: Callable[[Any, dict[str, float]], dict[str, float]] = every_key
    rare: str = ""


def scenes() -> tuple[Scene, ...]:
    """Return the mechanisms, each where it is at home."""
    return (*for_counts_and_amounts(), *for_many_at_once(), for_unknown_keys())


def for_counts_and_amounts() -> tuple[Scene, ...]:
    """Return the noise for one change in one place."""
    return (
        Scene(
            title="Geometric: noise for a count",
            question="How many patients has each ward?",
            change="one patient is in one ward and moves one count by 1",
            mechanism=sd.Geometric(2),
            exact=by_ward(120, 45, 7, 0),
            d_in=1,
            price=lambda loss: f"epsilon = {loss.epsilon}, exactly",
        ),
        Scene(
            title="Laplace: noise for a measured amount",
            question="How many hours of care did each ward give?",
            change="one patient, in one ward, counts for at most 30 hours",
            mechanism=sd.Laplace(60),
            exact=by_ward(1834.5, 702.25, 96.0, 0.0),
            d_in=30,
            price=lambda loss: f"epsilon = {loss.epsilon}, exactly",
        ),
    )


def for_many_at_once() -> tuple[Scene, ...]:
    """Return the noise for changes in many places."""
    return (
        Scene(
            title="Discrete Gaussian: noise for many counts at once",
            question="How many patients did each ward ever see?",
            change="one patient may pass through all four wards: a step of length 2",
            mechanism=sd.DiscreteGaussian(scale=4),
            exact=by_ward(1210, 467, 88, 3),
            d_in=2,
            price=lambda loss: f"rho = {loss.rho}, exactly",
        ),
        Scene(
            title="Gaussian: noise for many amounts at once",
            question="How many hours did each ward give, over all stays?",
            change="one patient's hours, over all wards, have length at most 30",
            mechanism=sd.Gaussian(scale=60),
            exact=by_ward(20411.0, 8120.75, 1342.5, 61.25),
            d_in=30,
            price=lambda loss: f"mu = {loss.mu}, exactly",
        ),
    )


def for_unknown_keys() -> Scene:
    """Return the thresholded release, its scale and threshold solved for a budget."""
    budget = sd.ApproxDP(1, DELTA)
    fitted = sd.LaplaceThreshold.for_loss(budget, (1, 1, 1), dtype="i64")
    return Scene(
        title="Laplace threshold: counts by keys that nobody listed",
        question="How many patients has each diagnosis?",
        change="one patient has one diagnosis and moves one count by 1",
        mechanism=fitted,
        exact={"Asthma": 612, "Diabetes": 407, "Gout": 15, "Scurvy": 3, "Fabry": 1},
        d_in=(1, 1, 1),
        price=lambda loss: (
            f"epsilon = {loss.epsilon}, exactly; delta = {upwards(loss.delta)}"
        ),
        answer=kept_keys,
        rare=f"a count that does not reach {fitted.threshold} vanishes, key and all;\n"
        "delta is the chance that a key of one patient alone appears",
    )


def by_ward(*values: float) -> dict[str, float]:
    """Return one number for each ward."""
    return dict(zip(WARDS, values, strict=True))


def picture(scene: Scene) -> Table:
    """Return exact and noisy answers, side by side."""
    table = Table(box=None, padding=(0, 0, 0, 2))
    table.add_column("", style="dim", width=11)
    for key in scene.exact:
        table.add_column(key, justify="right", width=11)
    table.add_row("exact", *written(scene.exact, scene.exact), style="dim")
    for draw in DRAWS:
        answers = scene.answer(scene.mechanism, scene.exact)
        table.add_row(draw, *written(answers, scene.exact))
    return table


def written(answers: dict[str, float], keys: Iterable[str]) -> list[str]:
    """Return counts in full, amounts to the hundredth, a dash where a key is gone."""
    return [number(answers[key]) if key in answers else "-" for key in keys]


def number(value: float) -> str:
    """Return a count in full, or an amount to the hundredth."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def upwards(value: Any) -> str:
    """Return two digits of a small number, rounded up."""
    digits = Decimal(math.nextafter(float(value), 1))
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(digits):.1e}"


def explanation(scene: Scene) -> Table:
    """Return what is protected, the price, what it means, and what the noise costs."""
    loss = scene.mechanism.map(scene.d_in)
    error = math.ceil(10 * scene.mechanism.error(0.95)) / 10
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(style="dim", width=11)
    table.add_column()
    table.add_row("protected", scene.change)
    table.add_row("price", f"[bold]{scene.price(loss)}[/]")
    table.add_row("risk", risk(loss))
    if scene.rare:
        table.add_row("rare keys", scene.rare)
    table.add_row("accuracy", f"95 answers in 100 are within {error:,g} of the truth")
    return table


def risk(loss: Any) -> str:
    """Say how often the best guess is right: (1 + advantage) / 2, rounded up.

    For any test between two neighbours, its advantage is at most delta at epsilon 0.
    """
    right = math.ceil(500 * (1 + loss.delta_at(0))) / 10
    return f"whoever guesses, in or out, is right at most {right:g} times in 100"


def together(losses: list[sd.Loss]) -> Table:
    """Return epsilon at one delta: of each loss, of all as a sum, and as one curve."""
    epsilons = [float(loss.epsilon_at(DELTA)) for loss in losses]
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(style="dim", width=11)
    table.add_column()
    table.add_row("one by one", " + ".join(map(hundredths, epsilons)))
    table.add_row("together", f"[bold]epsilon = {hundredths(total(losses))}[/]")
    table.add_row("", "each at delta = 1e-6, rounded up")
    return table


def total(losses: list[sd.Loss]) -> float:
    """Return the epsilon of all losses as one curve."""
    return float(sd.compose(losses).epsilon_at(DELTA))


def hundredths(value: float) -> str:
    """Return a number rounded up to the hundredth."""
    return f"{math.ceil(100 * value) / 100:.2f}"


def closing(console: Console, shown: tuple[Scene, ...]) -> None:
    """Compose the losses of all scenes, and say what an attacker gains."""
    losses = [scene.mechanism.map(scene.d_in) for scene in shown]
    heading(console, "What all of it means to an attacker")
    console.print(TOGETHER)
    console.print(together(losses), "")
    for sentence in sd.compose(losses).explain().splitlines():
        console.print(Padding(sentence, (0, 0, 0, 2)))


def heading(console: Console, title: str) -> None:
    """Set a title on a line of its own."""
    console.print()
    console.rule(f"[bold]{title}[/]", align="left", style="dim")


def main() -> None:
    """Show every scene, then their sum."""
    console = Console(highlight=False)
    console.print(INTRO)
    shown = scenes()
    for scene in shown:
        heading(console, scene.title)
        console.print(scene.question)
        console.print(picture(scene), "")
        console.print(explanation(scene))
    closing(console, shown)
    console.print()
    console.print(OUTRO)


if __name__ == "__main__":
    main()
