"""What lies beneath: the noise, the threshold and the curves, each in a few lines."""

import math
from dataclasses import dataclass
from typing import Any, Final, final

from rich.console import Console

import sordino as sd
from sordino.demo.pages import (
    columns,
    hundredths,
    pair_table,
    print_heading,
    rounded_up_text,
    short_number,
)

DELTA: Final = 1e-6
DIAGNOSES: Final = {"Asthma": 612, "Diabetes": 407, "Gout": 15, "Scurvy": 3, "Fabry": 1}


@final
@dataclass(frozen=True, kw_only=True)
class NoiseRow:
    """A mechanism, an exact number, and how far one person can move it."""

    name: str
    mechanism: Any
    exact: float
    d_in: int

    @property
    def loss(self) -> sd.Loss:
        """Return what an answer costs."""
        loss: sd.Loss = self.mechanism.map(self.d_in)
        return loss


def noises() -> tuple[NoiseRow, ...]:
    """Return the four kinds of noise."""
    laplace, gaussian = sd.Laplace(60), sd.Gaussian(scale=60)
    lattice = sd.DiscreteGaussian(scale=4)
    return (
        NoiseRow(name="Geometric", mechanism=sd.Geometric(2), exact=120, d_in=1),
        NoiseRow(name="Laplace", mechanism=laplace, exact=1834.5, d_in=30),
        NoiseRow(name="Discrete Gaussian", mechanism=lattice, exact=1210, d_in=2),
        NoiseRow(name="Gaussian", mechanism=gaussian, exact=20411.0, d_in=30),
    )


def show_mechanisms(console: Console) -> None:
    """Show each kind of noise on one number, twice."""
    print_heading(
        console,
        "Beneath: noise",
        "Each number is moved by a fresh draw from a known law, exact to the bit.\n"
        "A second draw is shown to let you see the noise; it would not be published.",
    )
    drawn = ("published", "again")
    table = columns("noise", "exact", *drawn, "± 95%", "price")
    for noise in noises():
        answers = [short_number(noise.mechanism(noise.exact)) for _ in drawn]
        error = f"{math.ceil(noise.mechanism.error(0.95)):,}"
        table.add_row(
            noise.name,
            short_number(noise.exact),
            *answers,
            error,
            loss_text(noise.loss),
        )
    console.print(table)


def show_thresholds(console: Console) -> None:
    """Show a release of keys that nobody listed."""
    fitted = fitted_threshold()
    loss = fitted.map((1, 1, 1))
    print_heading(
        console,
        "Beneath: a threshold",
        "A diagnosis shows if its noisy count is large enough: a rare one vanishes,\n"
        "key and all. delta is the chance that one patient's own diagnosis appears.",
    )
    passing = fitted(DIAGNOSES)
    table = columns("diagnosis", *DIAGNOSES)
    table.add_row("exact", *map(short_number, DIAGNOSES.values()), style="dim")
    noisy = [short_number(passing[key]) if key in passing else "-" for key in DIAGNOSES]
    table.add_row("published", *noisy)
    console.print(table)
    reach = f"keep {fitted.threshold} or more; scale and threshold solved for a budget"
    cost = f"epsilon = {loss.epsilon}, exactly; delta = {rounded_up_text(loss.delta)}"
    console.print()
    console.print(pair_table([("threshold", reach), ("price", cost)]))


def show_curves(console: Console) -> None:
    """Show that losses add up as one curve, less than the sum of their epsilons."""
    losses = [noise.loss for noise in noises()]
    epsilons = [float(loss.epsilon_at(DELTA)) for loss in losses]
    print_heading(
        console,
        "Beneath: losses add up as curves",
        "The four answers above, about the same patients, cost less together than the\n"
        "sum of their epsilons (at delta = 1e-6, rounded up):",
    )
    apart = " + ".join(map(hundredths, epsilons))
    whole = f"epsilon = {hundredths(total_epsilon(losses))}"
    console.print(pair_table([("one by one", apart), ("together", whole)]))


def fitted_threshold() -> sd.LaplaceThreshold:
    """Return noise and threshold, solved together for a budget."""
    budget = sd.ApproxDP(1, DELTA)
    return sd.LaplaceThreshold.for_loss(budget, (1, 1, 1), dtype="i64")


def total_epsilon(losses: list[sd.Loss]) -> float:
    """Return the epsilon of all losses as one curve."""
    return float(sd.compose(losses).epsilon_at(DELTA))


def loss_text(loss: sd.Loss) -> str:
    """Return the exact parameter of a loss."""
    guarantees = loss.guarantees
    named = {"epsilon": guarantees.epsilon, "mu": guarantees.mu, "rho": guarantees.rho}
    for name, value in named.items():
        if value != math.inf:
            return f"{name} = {value}"
    return f"epsilon = {loss.epsilon_at(DELTA)}"
