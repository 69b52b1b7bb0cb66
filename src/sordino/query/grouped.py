"""Queries whose rows fall into groups: in one way, or in several at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from sordino._completion import hides
from sordino.aggregations.running import Running
from sordino.errors import InvalidParameter
from sordino.keysets import KeySet
from sordino.query.first_few import first_few
from sordino.query.periods import read_last, read_periods
from sordino.query.request import Request, Rows, check_aggregation, make_request

_ALL = "all"
"""The name of the set without columns: all rows together."""


@hides("by", "keyset", "query")
@final
@dataclass(frozen=True, repr=False)
class Grouped:
    """A query whose rows fall into groups, about to be aggregated."""

    query: Rows
    by: tuple[str, ...]
    keyset: KeySet | None

    def __repr__(self) -> str:
        """Show the query as it was written."""
        columns = () if self.keyset is None else self.keyset.columns
        shown = [repr(name) for name in self.by if name not in columns]
        shown += ["keys"] if columns else []
        return f"{self.query!r}.group_by({', '.join(shown)})"

    def agg(
        self,
        /,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        coverage: bool = False,
        **aggregations: Any,
    ) -> Request:
        """Ask for a row of answers about each group.

        `coverage=True` adds noisy counts of what was unreadable, clamped or cut off.
        A weight of "keys" shows keys that nobody named by a measurement of their own.
        """
        return make_request(
            self.query,
            self.by,
            self.keyset,
            aggregations,
            noise=noise,
            weights=weights,
            coverage=coverage,
        )

    def top(
        self,
        groups: int,
        /,
        by: Any,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        coverage: bool = False,
        **aggregations: Any,
    ) -> Request:
        """Ask which groups come first, by a count or a sum, and in which order.

        That costs far less than the counts of all groups. Further aggregations are
        told of the chosen groups alone; the weight of "rank" is that of the choice.
        """
        return make_request(
            self.query,
            self.by,
            self.keyset,
            aggregations,
            noise=noise,
            weights=weights,
            coverage=coverage,
            few=first_few(groups, by, self.keyset),
        )

    def cumulative(
        self,
        period: str,
        periods: Any,
        /,
        *,
        last: Any = (),
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        coverage: bool = False,
        **aggregations: Any,
    ) -> Request:
        """Ask for counts and sums of ordered periods, and for what they come to.

        `cumulative("week", range(1, 53), last=(4, 13), n=sd.count())` tells each week
        n, n_to_date, n_last_4 and n_last_13: one release, in which all add up.
        """
        keys, order = read_periods(period, periods)
        if period in self.by:
            raise InvalidParameter(
                "period", period, "is a group already", "Group by other columns."
            )
        windows = read_last(last, keys.size)
        running = {
            name: Running(check_aggregation(**{name: aggregation}), order, windows)
            for name, aggregation in aggregations.items()
        }
        return make_request(
            self.query,
            (*self.by, period),
            keys if self.keyset is None else self.keyset * keys,
            running,
            noise=noise,
            weights=weights,
            coverage=coverage,
        )

    def keys(self) -> Request:
        """Ask which groups there are, of those that several people are in."""
        return make_request(
            self.query, self.by, self.keyset, {}, noise=None, weights=None
        )


@hides("of", "sets")
@final
@dataclass(frozen=True, repr=False)
class GroupingSets:
    """A query whose rows fall into groups in several ways, about to be aggregated."""

    sets: Mapping[str, Grouped]

    @classmethod
    def of(cls, ways: tuple[Grouped, ...]) -> "GroupingSets":
        """Return ways to group, each under the names of its columns."""
        groupings: dict[str, Grouped] = {}
        for way in ways:
            name = ", ".join(way.by) or _ALL
            if name in groupings:
                raise InvalidParameter(
                    "sets", name, "is given twice", "Give each set of columns once."
                )
            groupings[name] = way
        if not groupings:
            raise InvalidParameter(
                "sets",
                (),
                "must name at least one set of columns",
                'Try group_by_sets("ward", ()).',
            )
        return cls(groupings)

    def __repr__(self) -> str:
        """Show the query and the sets."""
        first = next(iter(self.sets.values()))
        return f"{first.query!r}.group_by_sets({', '.join(map(repr, self.sets))})"

    def agg(
        self,
        /,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        **aggregations: Any,
    ) -> dict[str, Request]:
        """Ask the same of the groups of each set, by the names of its columns.

        For `session.price_all` and `session.release_all`, which share one budget.
        """
        return {
            name: grouping.agg(noise=noise, weights=weights, **aggregations)
            for name, grouping in self.sets.items()
        }
