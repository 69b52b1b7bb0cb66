"""Keys shown in rounds by weights: what the engine is asked, and what a budget buys.

Where ids are protected that may lie in several groups, weights show more keys than
counts do (docs/adr/0104-keys-are-shown-in-rounds.md).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, final

from sordino.aggregations.base import Setting
from sordino.aggregations.measurements import AbstractPresence
from sordino.aggregations.weights_of_ids import weights_measurement
from sordino.losses.allowance import Allowance
from sordino.losses.closed import ApproxDP
from sordino.mechanisms.kit.key_rounds import KeyRounds, fit_by_rho, fit_key_rounds
from sordino.planning.key_stages import AbstractKeyStage
from sordino.query.nodes import Memberships, PublicRows, Without
from sordino.query.question import Question
from sordino.query.relation import Relation
from sordino.schema import Column, Schema

if TYPE_CHECKING:
    import pyarrow as pa

_SIZE: Final = "size"
_FEWEST: Final = 2
"""With one group for each id weights are counts."""


def weights_of_keys(relation: Relation, setting: Setting) -> AbstractPresence | None:
    """Return the sums of weights that show keys, None where counts do as well."""
    if setting.ids is None or setting.people().l0 < _FEWEST:
        return None
    return weights_measurement(setting, _size_name(relation, setting.by))


@final
@dataclass(frozen=True, eq=False)
class WeightedKeys(AbstractKeyStage):
    """What the engine is asked in each round: the weights of keys that are left."""

    relation: Relation
    names: tuple[str, ...]
    weights: AbstractPresence

    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the keys that are not among those shown before."""
        relation, ids = self.relation, self.relation.ids
        assert ids is not None  # noqa: S101 asked where ids are protected
        rows = relation.node
        if shown is not None:
            facts = ((name, relation.schema[name]) for name in self.names)
            listed = PublicRows(shown, Schema.of(facts))
            rows = Without(rows, listed, self.names, relation.schema)
        size = _size_name(relation, self.names)
        names = tuple(dict.fromkeys((ids, *self.names)))
        columns = [(name, relation.schema[name]) for name in names]
        columns.append((size, Column("i64", nullable=False)))
        pairs = Memberships(rows, (ids,), self.names, size, Schema(tuple(columns)))
        return Question(pairs, self.names, self.weights.totals)


def buy_rounds(
    keys: int, allowance: Allowance, beside: Fraction = Fraction(0)
) -> KeyRounds | None:
    """Return the rounds that Gaussian noise buys, None for a budget without a form.

    `beside` is the share of it that is left to the other columns of the keys.
    """
    match allowance.parameter:
        case "epsilon":
            return fit_key_rounds(
                ApproxDP(allowance.amount, allowance.delta), keys, beside
            )
        case "rho":
            return fit_by_rho(allowance.amount * (1 - beside), allowance.delta, keys)
        case _:
            return None


def _size_name(relation: Relation, by: tuple[str, ...]) -> str:
    """Return a name that no column of the question has."""
    name = _SIZE
    while name in {*by, relation.ids}:
        name += "_"
    return name
