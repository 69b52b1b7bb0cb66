"""The shape of a noise density, in units in which one block has width one.

A shape is f(t) = exp(-phi(|t|)) with phi convex, increasing and phi(0) = 0. It says how
high it stands at whole distances, how far phi rises within one block, and gives balls
for whatever doubles leave undecided.
"""

from abc import ABC, abstractmethod

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.numbers import Exact


class AbstractShape(ABC):
    """An unnormalised symmetric log-concave density.

    Proof obligations: `profile` is within a relative 2**-31 (or an absolute 2**-1000)
    of f and `rise` within a relative 2**-40 of phi(k + rho) - phi(k), using IEEE
    addition and multiplication only; `exponent` and `slope` are enclosures, and
    phi(J + x) >= phi(J) + slope(J) * x for every x >= 0.
    """

    @abstractmethod
    def reach(self) -> int:
        """Return a whole distance, at least 1, beyond which f is about 2**-24."""

    @abstractmethod
    def profile(self, count: int) -> NDArray[np.float64]:
        """Return f(0), f(1), ..., f(count - 1)."""

    @abstractmethod
    def rise(
        self, start: NDArray[np.float64], rho: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return phi(start + rho) - phi(start) for 0 <= rho <= 1."""

    @abstractmethod
    def exponent(self, distance: arb) -> arb:
        """Return phi(distance)."""

    @abstractmethod
    def slope(self, distance: int) -> arb:
        """Return a slope that phi never falls below beyond this distance."""


class AbstractFamily(ABC):
    """A shape at one spread, cut into blocks of any width."""

    @property
    @abstractmethod
    def spread(self) -> Exact:
        """Return the scale of the noise in units of the answer."""

    @abstractmethod
    def shape(self, exponent: int) -> AbstractShape:
        """Return the density in blocks of width 2**exponent."""
