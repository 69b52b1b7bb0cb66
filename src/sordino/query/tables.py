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

    >>> import sordino as sd
    >>> sd.PrivateTable({"age": [34, 51]}, protects=sd.AddOneRow())
    PrivateTable(protects=AddOneRow())
    """

    source: Any = field(repr=False)
    protects: AbstractUnit
    columns: Mapping[str, Column]
    blocks: str | None

    def __init__(
        self,
        source: Any,
        protects: AbstractUnit,
        columns: Mapping[str, Any] | None = None,
        *,
        blocks: str | None = None,
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
        )

    def __repr__(self) -> str:
        """Show whom it protects, and nothing of what it holds."""
        blocks = "" if self.blocks is None else f", blocks={self.blocks!r}"
        return f"PrivateTable(protects={self.protects!r}{blocks})"


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
