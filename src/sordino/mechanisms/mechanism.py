"""What has a price: a randomised answer whose map tells the loss of a distance."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

from sordino._completion import hides
from sordino.losses.base import Budget, Loss
from sordino.mechanisms.kit.domain import Domain, Metric
from sordino.numbers import number_text

if TYPE_CHECKING:
    import pyarrow as pa


@hides(
    *("carrier", "change", "delta_of", "headline", "is_exact", "law", "noise"),
    *("noise_loss", "norm", "select", "rounding", "unit"),
)
class AbstractMechanism(ABC):
    """A randomised function with a privacy map.

    Proof obligation of `map`: for any two inputs at distance at most d_in, the
    trade-off curve between the two outputs lies on or above the curve of `map(d_in)`.
    """

    is_interactive: ClassVar[bool] = False

    @property
    @abstractmethod
    def input_domain(self) -> Domain:
        """Return what the mechanism takes."""

    @property
    @abstractmethod
    def input_metric(self) -> Metric:
        """Return the distance in which `d_in` is stated."""

    @property
    @abstractmethod
    def output_measure(self) -> Callable[..., Loss]:
        """Return the class of the losses that `map` returns."""

    @property
    @abstractmethod
    def adds_no_noise(self) -> bool:
        """Tell whether this is the explicit no-noise mode."""

    @abstractmethod
    def map(self, d_in: Any) -> Loss:
        """Return the loss between inputs at distance d_in."""

    @property
    def output_type(self) -> "pa.DataType":
        """Return the Arrow type of the answers."""
        return self.input_domain.arrow

    def __repr__(self) -> str:
        """Show the call that makes an equal mechanism."""
        parameters = (
            f"{field.name}={number_text(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) is not None
        )
        return f"{type(self).__name__}({', '.join(parameters)})"

    def check(self, d_in: Any, d_out: Any) -> bool:
        """Tell whether outputs of inputs at distance d_in are within the loss d_out.

        Any form of loss or risk may be asked; a number is read as the headline
        parameter of the output measure.
        """
        if not isinstance(d_out, Budget):
            d_out = self.output_measure(d_out)
        return bool(d_out.admits(self.map(d_in)))
