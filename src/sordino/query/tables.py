"""The tables of a session: what is in them stays with the engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from sordino import _validate
from sordino._fields import fill
from sordino.errors import InvalidParameter
from sordino.schema import Column, read_columns
from sordino.units import AbstractUnit


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class PrivateTable:
    """A table of people, and whom it protects.

    `columns` declares public facts: a type, or `sd.Column(type, nullable=False)`. For
    a CSV file it is required, because types are never guessed from private data.

    `blocks` is the column that says of what block a row is, where each block of a
    session has a budget of its own (`sd.Blocks`). Whoever names it vouches that it
    never changes for a row.

    `vouched_by` says who answers for a source that computes its rows: a view with an
    aggregate, a window, a join or a LIMIT, a function of its own. Sordino cannot see
    that one row of a person changes no other row of it, so such a source is refused
    unless somebody does. `session.describe()` shows who.

    >>> import sordino as sd
    >>> sd.PrivateTable({"age": [34, 51]}, protects=sd.AddOneRow())
    PrivateTable(protects=AddOneRow())
    """

    source: Any = field(repr=False)
    protects: AbstractUnit
    columns: Mapping[str, Column]
    blocks: str | None
    vouched_by: str | None

    def __init__(
        self,
        source: Any,
        protects: AbstractUnit,
        columns: Mapping[str, Any] | None = None,
        *,
        blocks: str | None = None,
        vouched_by: str | None = None,
    ) -> None:
        """Check what is declared; the source is opened by a session."""
        if not isinstance(protects, AbstractUnit):
            raise InvalidParameter(
                "protects",
                protects,
                "must be a protected unit",
                'Try protects=sd.AddRowsWithID("person") or sd.AddOneRow().',
            )
        fill(
            self,
            source=source,
            protects=protects,
            columns=read_columns(columns),
            blocks=None if blocks is None else _validate.text(blocks=blocks),
            vouched_by=_check_name(vouched_by),
        )

    def __repr__(self) -> str:
        """Show whom it protects, and nothing of what it holds."""
        blocks = "" if self.blocks is None else f", blocks={self.blocks!r}"
        by = "" if self.vouched_by is None else f", vouched_by={self.vouched_by!r}"
        return f"PrivateTable(protects={self.protects!r}{blocks}{by})"


def _check_name(vouched_by: str | None) -> str | None:
    """Return who answers for a source: somebody, in words that can be shown."""
    if vouched_by is not None and not _validate.text(vouched_by=vouched_by).strip():
        raise InvalidParameter(
            "vouched_by",
            vouched_by,
            "must say who answers for the source",
            'Try vouched_by="A. Weber, who wrote the view".',
        )
    return vouched_by


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class PublicTable:
    """A table that everybody may know: it protects nobody.

    A table made from private data is not public; that cannot be checked.

    >>> PublicTable({"ward": ["A", "B"], "beds": [12, 30]})
    PublicTable()
    """

    source: Any = field(repr=False)
    columns: Mapping[str, Column]

    def __init__(self, source: Any, columns: Mapping[str, Any] | None = None) -> None:
        """Check what is declared; the source is opened by a session."""
        fill(self, source=source, columns=read_columns(columns))

    def __repr__(self) -> str:
        """Show nothing of what it holds."""
        return "PublicTable()"
