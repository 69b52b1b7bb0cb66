"""Public facts of a table: its columns, their types, and what may be missing in them.

Facts are pessimistic unless declared or derived, and belong to a *version* of a column:
a column written anew under an old name is another version, and what was known of the
old one is not known of it.

| type | values in Python | in Arrow | remarks |
|---|---|---|---|
| `i64` | int | int64 | wider integers that do not fit are missing |
| `f64` | float | float64 | may hold NaN and infinities; -0.0 is 0.0 |
| `text` | str | string | compared code point by code point |
| `bool` | bool | bool | |
| `date` | datetime.date | date32 | years 1 to 9999, others are missing |
| `time` | datetime.datetime | timestamp[us] | UTC without a zone, years 1 to 9999 |
| `list[i64]`, ... | list | list | only to be exploded into rows |

Kernel: sensitivity.
"""

import difflib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

from sordino.errors import InvalidParameter, UnknownName
from sordino.numbers import arguments
from sordino.numbers.frozen import fill, hides

if TYPE_CHECKING:
    import pyarrow as pa


PLAIN: Final = ("i64", "f64", "text", "bool", "date", "time")
TYPES: Final = (*PLAIN, *(f"list[{kind}]" for kind in PLAIN))
NUMBERS: Final = ("i64", "f64")

_VERSIONS = itertools.count()


@final
@dataclass(frozen=True)
class Version:
    """The identity of what is in a column."""

    number: int = field(default_factory=lambda: next(_VERSIONS))


@hides("arrow", "renew")
@final
@dataclass(frozen=True)
class Column:
    """Public facts of a column.

    Where `bounds` are known, whoever asks need not give any. They follow from a query
    and cannot be declared.

    `unsettled` says why a value may be missing that the data did have, for example
    "a division by zero has no answer": an aggregation then asks for a rule.
    """

    type: str
    nullable: bool = True
    nan: bool = True
    unsettled: str | None = None
    version: Version = field(default_factory=Version, compare=False)
    bounds: tuple[Any, Any] | None = None
    """Between which values all lie, where limits of the query say so."""
    labels: tuple[str, ...] | None = field(default=None, compare=False)
    """The names of the ranges that its texts are, in the order of their edges."""
    longer: int = field(default=1, compare=False, repr=False)
    """How many times as long as the texts that were read its texts may be."""

    def __post_init__(self) -> None:
        arguments.choice(TYPES, type=self.type)
        for name in ("nullable", "nan"):
            content = getattr(self, name)
            if not isinstance(content, bool):
                raise InvalidParameter(
                    name, content, "must be True or False", f"Try {name}=True."
                )
        if self.type != "f64":
            fill(self, nan=False)

    @property
    def arrow(self) -> "pa.DataType":
        """Return the Arrow type of the values."""
        return arrow_type(self.type)

    def renew(self) -> "Column":
        """Return the same facts of another version."""
        return replace(self, version=Version())


@final
@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order."""

    columns: tuple[tuple[str, Column], ...]

    @classmethod
    def of(cls, columns: Iterable[tuple[str, Column]]) -> "Schema":
        """Return a schema, refusing two columns of one name."""
        listed = tuple(columns)
        seen: set[str] = set()
        for name, _ in listed:
            if name in seen:
                raise InvalidParameter(
                    "columns", name, "must name each column once", "Rename one of them."
                )
            seen.add(name)
        return cls(listed)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns, in order."""
        return tuple(dict(self.columns))

    def other_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names of all other columns, in order."""
        known = frozenset(names)
        return tuple(name for name in self.names if name not in known)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Column:
        for column_name, column in self.columns:
            if column_name == name:
                return column
        raise unknown("column", name, self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def read_columns(columns: Any) -> dict[str, Column]:
    """Return declared facts: a type stands for a column of it with nothing known."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InvalidParameter(
            "columns",
            columns,
            "must be a dict from names to types",
            'Try {"age": "i64"}.',
        )
    return {
        arguments.text(columns=name): _declared_facts(name, facts)
        for name, facts in columns.items()
    }


def _declared_facts(name: str, facts: Any) -> Column:
    column = facts if isinstance(facts, Column) else Column(facts)
    if column.bounds is not None:
        raise InvalidParameter(
            "bounds",
            column.bounds,
            f"cannot be declared of {name!r}",
            "Give them where they are needed: sum(column, 0, 30).",
        )
    # one object may declare two columns: what limits say of one must not hold of both
    return column.renew()


def unknown(kind: str, name: object, known: Iterable[str]) -> UnknownName:
    """Return the refusal of a name, with the nearest known ones."""
    listed = list(known)
    text = name if isinstance(name, str) else ""
    near = difflib.get_close_matches(text[:200], listed, n=2, cutoff=0.6)
    return UnknownName(kind, name, near or listed)


def arrow_type(kind: str) -> "pa.DataType":
    """Return the Arrow type of a type."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    if kind.startswith("list["):
        return pa.list_(arrow_type(kind[5:-1]))
    types = {
        "i64": pa.int64,
        "f64": pa.float64,
        "text": pa.string,
        "bool": pa.bool_,
        "date": pa.date32,
    }
    return pa.timestamp("us") if kind == "time" else types[kind]()
