"""What holds of blocks: whatever follows earlier answers, a person loses m limits.

The analyst of `tests.block_adversary` chooses releases, what they read, and after each
answer into which blocks the person comes. It stays within what so many limits promise,
for every filter that adds up, and the pricings that are wrong let it beyond.
"""

from collections.abc import Callable
from typing import Final

from sordino.losses.budgets.filters import AbstractFilter
from sordino.losses.budgets.limits import FILTERS, filter_for
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import PureDP
from tests.adversary import response, reveal
from tests.batches import for_each
from tests.block_adversary import Pricing, part, root, worst_in_blocks

LIMITS: Final[dict[str, Callable[[], AbstractFilter]]] = {
    "epsilon": lambda: filter_for(PureDP("0.8")),
    "epsilon-delta": lambda: filter_for(ApproxDP("0.8", "0.01")),
    "rho": lambda: filter_for(ZCDP("0.08")),
    "rho-delta": lambda: filter_for(ApproxZCDP("0.08", "0.01")),
    "mu-squared": lambda: filter_for(GaussianDP("0.3")),
    "mu-squared-delta": lambda: filter_for(GaussianDP("0.5") + ApproxDP(0, "0.01")),
}
PURE: Final = [response("0.4"), response("0.8")]
RELEASES: Final = {
    name: [*PURE, reveal("0.005")] if "delta" in name else PURE for name in LIMITS
} | {"mu-squared": [response("0.1"), response("0.2")]}
SHAPES: Final = ((2, 1), (2, 2), (3, 2))
"""How many blocks there are, and into how many a person may come."""


@for_each(
    ("name", "shape"),
    [
        (name, shape)
        for name in LIMITS
        for shape in SHAPES[: 3 if name in {"epsilon", "rho"} else 2]
    ],
)
def test_nobody_gets_beyond_so_many_limits(name: str, shape: tuple[int, int]) -> None:
    limit = LIMITS[name]()
    promise = limit.times(shape[1]).promise
    for epsilon in ("0", "0.4", "0.8", "1.2", "1.6"):
        reached = worst_in_blocks(limit, RELEASES[name], shape, float(epsilon))
        assert reached <= float(promise.delta_at(epsilon)) * (1 + 1e-9) + 1e-12


@for_each(("shape", "epsilon"), [((2, 1), "0.8"), ((2, 2), "1.6")])
def test_an_analyst_comes_close_to_the_promise(
    shape: tuple[int, int], epsilon: str
) -> None:
    """So the promise is no smaller than it has to be."""
    limit = LIMITS["epsilon-delta"]()
    reached = worst_in_blocks(limit, RELEASES["epsilon-delta"], shape, float(epsilon))
    assert reached >= 0.99 * float(limit.times(shape[1]).promise.delta_at(epsilon))


@for_each(
    ("name", "pricing"),
    [
        *((name, part) for name in LIMITS),
        *((name, root) for name in ("epsilon", "epsilon-delta", "mu-squared")),
    ],
)
def test_less_than_the_whole_price_a_block_is_not_enough(
    name: str, pricing: Pricing
) -> None:
    """A release of two blocks that charges each a part lets a person lose more.

    The root is tried where these releases come close to what is promised.
    """
    limit, releases = LIMITS[name](), [*RELEASES[name], response("0.5")]
    promise = limit.times(1).promise
    beyond = (
        worst_in_blocks(limit, releases, (2, 1), float(epsilon), pricing)
        > float(promise.delta_at(epsilon)) * 1.01
        for epsilon in ("0", "0.2", "0.4", "0.8")
    )
    assert any(beyond)


def test_every_filter_that_adds_up_is_tried() -> None:
    additive = {name for name, rule in FILTERS.items() if rule.is_additive}
    assert additive == set(LIMITS) == {LIMITS[name]().rule for name in LIMITS}
