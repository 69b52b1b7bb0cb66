"""Keys that are shown before anything is told of them: what the engine is asked first.

first question ── keys that show ── times the public keys, if any ── second question

Where what shows a key is told of it as well, one question does; these are the others:
keys that are known in part, and keys that are shown by weights.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from sordino.aggregations.base import Setting
from sordino.aggregations.count_ids import ids_measurement
from sordino.aggregations.measurements import AbstractPresence, IntegerMeasurement
from sordino.aggregations.rows import rows_measurement
from sordino.aggregations.weighed_sums import weight_measurement
from sordino.keysets.canonical import canonical_order
from sordino.query.question import Question
from sordino.query.relation import Relation
from sordino.schema import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.keysets import KeySet


class AbstractKeyStage(ABC):
    """What is asked to show keys, in one round or in several."""

    relation: Relation
    names: tuple[str, ...]
    """The columns whose keys are not known."""

    @abstractmethod
    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the keys that are not among those shown before."""

    @property
    def none(self) -> "pa.Table":
        """Return a table of keys without any."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        kinds = {name: self.relation.schema[name].type for name in self.names}
        empty = {name: pa.array([], arrow_type(kind)) for name, kind in kinds.items()}
        return pa.table(empty)


@final
@dataclass(frozen=True, eq=False)
class CountedKeys(AbstractKeyStage):
    """Keys shown by how many protected units, or rows, each of them has."""

    relation: Relation
    names: tuple[str, ...]
    counted: AbstractPresence

    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the counts of all keys: there is one round."""
        del shown
        return Question(self.relation.node, self.names, self.counted.totals)


def group_counts(setting: Setting) -> IntegerMeasurement:
    """Return what shows that a group exists: people, what they did, or else rows.

    A group has rows if and only if what they are weighed by adds up to 1 or more.
    """
    if setting.ids is not None:
        return ids_measurement(setting)
    return weight_measurement(setting) or rows_measurement(setting)


def key_counts(setting: Setting) -> IntegerMeasurement:
    """Return the counts that show keys and nothing else, and are no column's."""
    counted = group_counts(setting)
    key = ("shows", counted.key, setting.by)
    return IntegerMeasurement(key, counted.change, counted.totals)


def public_groups(
    shown: "pa.Table", keyset: "KeySet | None", by: tuple[str, ...]
) -> "pa.Table":
    """Return each key that shows with each of the public keys, sorted.

    For any two tables that show the same keys these are the same groups.
    """
    pairs = shown if keyset is None else _pair(shown, keyset.table())
    groups = pairs.select(list(by)).combine_chunks()
    return groups.take(canonical_order(groups))


def _pair(left: "pa.Table", right: "pa.Table") -> "pa.Table":
    """Return every pair of rows of two tables without a common column."""
    places = np.repeat(np.arange(left.num_rows), right.num_rows)
    others = np.tile(np.arange(right.num_rows), left.num_rows)
    pairs = left.take(places)
    for name, column in zip(
        right.column_names, right.take(others).columns, strict=True
    ):
        pairs = pairs.append_column(name, column)
    return pairs
