"""Keys alone, shown in rounds: what is asked of the engine, and what a budget buys.

Where nothing but keys is asked, and ids are protected that may lie in several groups,
weights do better than counts (docs/adr/0104-keys-are-shown-in-rounds.md).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from sordino.aggregations.base import Setting
from sordino.aggregations.measurements import AbstractPresence
from sordino.aggregations.weights_of_ids import weights_measurement
from sordino.losses.closed import ApproxDP
from sordino.losses.spending import Spending
from sordino.mechanisms.kit.key_rounds import KeyRounds, fit_by_rho, fit_key_rounds
from sordino.query.nodes import Memberships, PublicRows, Without
from sordino.query.question import Question
from sordino.query.relation import Relation
from sordino.schema import Column, Schema, arrow_type

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
class KeyQuestion:
    """What the engine is asked in each round: the weights of keys that are left."""

    relation: Relation
    by: tuple[str, ...]
    weights: AbstractPresence

    @property
    def none(self) -> "pa.Table":
        """Return a table of keys without any."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        kinds = {name: self.relation.schema[name].type for name in self.by}
        empty = {name: pa.array([], arrow_type(kind)) for name, kind in kinds.items()}
        return pa.table(empty)

    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the keys that are not among those shown before."""
        relation, ids = self.relation, self.relation.ids
        assert ids is not None  # noqa: S101 asked where ids are protected
        rows = relation.node
        if shown is not None:
            facts = ((name, relation.schema[name]) for name in self.by)
            listed = PublicRows(shown, Schema.of(facts))
            rows = Without(rows, listed, self.by, relation.schema)
        size = _size_name(relation, self.by)
        names = tuple(dict.fromkeys((ids, *self.by)))
        held = [(name, relation.schema[name]) for name in names]
        held.append((size, Column("i64", nullable=False)))
        pairs = Memberships(rows, (ids,), self.by, size, Schema(tuple(held)))
        return Question(pairs, self.by, self.weights.totals)


def buy_rounds(keys: int, spending: Spending) -> KeyRounds | None:
    """Return the rounds that Gaussian noise buys, None for a budget without a form."""
    match spending.parameter:
        case "epsilon":
            return fit_key_rounds(ApproxDP(spending.amount, spending.delta), keys)
        case "rho":
            return fit_by_rho(spending.amount, spending.delta, keys)
        case _:
            return None


def _size_name(relation: Relation, by: tuple[str, ...]) -> str:
    """Return a name that no column of the question has."""
    name = _SIZE
    while name in {*by, relation.ids}:
        name += "_"
    return name
