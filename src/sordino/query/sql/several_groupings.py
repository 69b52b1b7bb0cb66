"""The requests of several groupings: the same answers, each by its own keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.expressions.language import Expression
from sordino.keysets import KeySet
from sordino.query.builder import Query
from sordino.query.request import Request
from sordino.query.sql.answer_scope import AnswerScope
from sordino.query.sql.reading import Clause
from sordino.query.sql.selection import Selection

_LATER: Final[Mapping[str, str]] = {
    "order": "sort",
    "limit": "limit",
    "offset": "limit",
}


@final
@dataclass(frozen=True, eq=False)
class Several:
    """What a statement says of the noisy rows of all its groupings."""

    select: Clause
    answers: AnswerScope
    shown: Selection
    kept: Expression | None

    def refuse_order(self) -> None:
        """Refuse what is of the rows of all groupings together."""
        for name, verb in _LATER.items():
            if self.select.has(name):
                raise self.select.part(self.select.node.args[name]).refusal(
                    "the rows of several groupings have no order in one request",
                    f"Leave it out, and use .{verb}(...) of the release.",
                )

    def process(self, request: Request, names: tuple[str, ...]) -> Request:
        """Return the request of one grouping, with what is done to its rows."""
        absent = {key.name for key in self.answers.keys} - set(names)
        if self.kept is not None:
            self._refuse_reading(self.kept, absent)
            self._refuse_one_row(names)
            request = request.filter(self.kept)
        for computed in self.shown.made.values():
            self._refuse_reading(computed, absent)
        if self.shown.made:
            request = request.with_columns(**self.shown.made)
        there = [*self.answers.asked, *self.shown.made]
        wanted = [name for name in self.shown.names if name in there]
        if wanted != there:
            request = request.select(*wanted)
        renamed = {
            name: called
            for name, called in self.shown.names.items()
            if name != called and name not in absent
        }
        return request.rename(renamed) if renamed else request

    def _refuse_one_row(self, names: tuple[str, ...]) -> None:
        """Refuse to leave out the one row of all rows together."""
        if not names:
            raise self.select.part(self.select.node.args["having"]).refusal(
                "all rows together are one row, which cannot be left out",
                "Leave HAVING out, and use .filter(...) of the release.",
            )

    def _refuse_reading(self, computed: Expression, absent: set[str]) -> None:
        """Refuse what reads a key that a grouping lacks."""
        for name in sorted(computed.names() & absent):
            raise self.select.refusal(
                f"{name} is not a key of every grouping, and this computes with it",
                "Select the key itself.",
            )


def requests_of_sets(
    several: Several,
    query: Query,
    questions: Mapping[str, Any],
    sets: tuple[tuple[str, ...], ...],
    keys: KeySet | None,
) -> dict[str, Request]:
    """Return a request for each set of keys, by the names of these."""
    if not questions:
        raise several.select.refusal(
            "several groupings without an aggregate ask for nothing",
            "Add one: COUNT(*).",
        )
    ways = [_keys_of_set(names, keys) for names in sets]
    if len(set(sets)) < len(sets):
        raise several.select.part(several.select.node.args["group"]).refusal(
            "two of these groupings are the same", "Name each set of columns once."
        )
    requests = query.group_by_sets(*ways).agg(**questions)
    return {
        name: several.process(request, names)
        for names, (name, request) in zip(sets, requests.items(), strict=True)
    }


def _keys_of_set(names: tuple[str, ...], keys: KeySet | None) -> Any:
    """Return a set of keys, of which public values may be given."""
    if keys is None or not names:
        return names
    lacking = [name for name in names if name not in keys.columns]
    if lacking:
        raise InvalidParameter(
            "keys",
            list(keys.columns),
            f"must name all that is grouped by, and lacks {', '.join(lacking)}",
            "Give values for each column of GROUP BY, or leave keys out.",
        )
    return keys[names]
