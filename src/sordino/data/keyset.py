"""KeySet: the groups that a release will show, each exactly once, empty ones included.

>>> wards = KeySet.from_dict({"ward": ["A", "B"], "sex": ["f", "m"]})
>>> wards
KeySet(4 keys of ward, sex)
>>> more = wards * KeySet.from_dict({"year": range(2000, 2025)})
>>> more.size
100

Kernel: totals.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.data.key_columns import (
    KINDS,
    Read,
    argument,
    fingerprint,
    read_arrow,
    read_days,
    read_objects,
    read_ticks,
    refused_type,
    sort_canonically,
)
from sordino.data.key_tree import (
    AbstractKeys,
    Difference,
    ListedKeys,
    Product,
    Union,
)
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.schema import Schema, arrow_type, unknown
from sordino.expressions.tree import AbstractExpression
from sordino.numbers import arguments
from sordino.numbers.canonical import Words, call
from sordino.numbers.frozen import hides
from sordino.numbers.views import office

Types: TypeAlias = Mapping[str, str] | None

_MOST_TOLD: Final = 10_000_000
_FEW: Final = 8
_LONGEST: Final = 80
_TICKS: Final = ("s", "ms", "us", "ns")
_TABLES: Final = "an Arrow table, a pandas or Polars frame, or a dict of lists"


def columns_of_dict(columns: Any, types: Types) -> list[pa.Table]:
    """Return a canonical table for each column of a dict."""
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidParameter(
            "columns",
            columns,
            "must be a dict from names to values",
            'Write KeySet.from_dict({"ward": ["A", "B"]}).',
        )
    pairs = list(columns.items())
    checked_names(name for name, _ in pairs)
    declared = _checked_types(types, columns)
    return [
        sort_canonically(pa.table({name: _column(name, values, declared.get(name))}))
        for name, values in pairs
    ]


def table_of_tuples(keys: Any, columns: Any, types: Types) -> pa.Table:
    """Return the canonical table of keys that are tuples."""
    names = checked_names(_names(columns))
    rows = _sequence("keys", keys)
    for row in rows:
        if not isinstance(row, (tuple, list)) or len(row) != len(names):
            raise InvalidParameter(
                "keys",
                row,
                f"must be tuples of {len(names)}, one value for each of the columns",
                'Write KeySet.from_tuples([("A", 1)], columns=("ward", "year")).',
            )
    if not rows:
        raise _empty("keys", rows)
    declared = _checked_types(types, names)
    columns_of_rows = zip(*rows, strict=True)
    return sort_canonically(
        pa.table({
            name: _column(name, list(values), declared.get(name))
            for name, values in zip(names, columns_of_rows, strict=True)
        })
    )


def table_of_table(rows: Any, types: Types) -> pa.Table:
    """Return the canonical table of the rows of a table of any kind."""
    pairs = _pairs(rows)
    names = checked_names(name for name, _ in pairs)
    declared = _checked_types(types, names)
    columns = {
        name: _column(name, values, declared.get(name)) for name, values in pairs
    }
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidParameter(
            "table",
            lengths,
            "must have columns of the same length",
            "Use KeySet.from_dict for every combination of some values.",
        )
    return sort_canonically(pa.table(columns))


def checked_names(names: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of columns: text, one at least, each once."""
    listed = tuple(names)
    for place, name in enumerate(listed):
        if not isinstance(name, str) or not name:
            raise InvalidParameter(
                "columns",
                name,
                "must have text as names",
                'Name every column, such as "ward".',
            )
        if not _is_unicode(name):
            raise InvalidParameter(
                "columns", name, "must have names in valid Unicode", "Rename it."
            )
        if name in listed[:place]:
            raise InvalidParameter(
                "columns", name, "must name each column once", "Rename one of them."
            )
    if not listed:
        raise InvalidParameter(
            "columns", listed, "must name at least one column", 'Write ("ward",).'
        )
    return tuple(map(str, listed))


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _names(columns: Any) -> Sequence[Any]:
    if not isinstance(columns, (tuple, list)):
        raise InvalidParameter(
            "columns", columns, "must be a tuple of names", 'Write ("ward", "year").'
        )
    return columns


def _checked_types(types: Types, names: Iterable[str]) -> dict[str, str]:
    if not isinstance(types or {}, Mapping):
        raise InvalidParameter(
            "types", types, "must be a dict from names to types", 'Try {"year": "i64"}.'
        )
    listed = list(names)
    for name, kind in (types or {}).items():
        if name not in listed:
            raise unknown("column", name, listed)
        if kind == "f64":
            raise InvalidParameter(
                "types",
                kind,
                "must not be a float, which is seldom exactly equal",
                "Bin them first.",
            )
        arguments.choice(tuple(KINDS.values()), types=kind)
    return dict(types or {})


def _pairs(rows: Any) -> list[tuple[Any, Any]]:
    if isinstance(rows, Mapping):
        return list(rows.items())
    # Other libraries are known by name: none of them is imported to be asked.
    match type(rows).__module__.partition(".")[0], type(rows).__name__:
        case "pyarrow", "Table" | "RecordBatch":
            return list(zip(rows.schema.names, rows.columns, strict=True))
        case "pandas", "DataFrame":
            places = range(rows.shape[1])
            return [(rows.columns[place], rows.iloc[:, place]) for place in places]
        case "polars", "DataFrame":
            return [(column.name, column) for column in rows.get_columns()]
        case "polars", "LazyFrame":
            raise InvalidParameter(
                "table",
                type(rows).__name__,
                "must hold its rows, and this one is lazy",
                "Collect it first.",
            )
    raise InvalidParameter(
        "table", rows, f"must be {_TABLES}", 'Write {"ward": ["A", "B"]}.'
    )


def _column(name: str, cells: Any, declared: str | None) -> pa.Array:
    kind, values = _read(name, cells)
    if not len(values):
        raise _empty(argument(name), [])
    if kind is None and declared is None:
        raise InvalidParameter(
            argument(name),
            None,
            "must have a value or a declared type: all its values are missing",
            f'Declare it: types={{{name!r}: "i64"}}.',
        )
    if kind is None:
        return pa.nulls(len(values), arrow_type(str(declared)))
    if declared not in (None, kind):
        raise InvalidParameter(
            argument(name),
            values[0].as_py(),
            f"must hold {declared}, as declared, and holds {kind}",
            "Convert the values, or leave out the declaration.",
        )
    return values


def _empty(name: str, cells: object) -> InvalidParameter:
    return InvalidParameter(
        name,
        cells,
        "must hold at least one key",
        "List the groups that the release will show.",
    )


def _read(name: str, cells: Any) -> Read:
    if isinstance(cells, np.ndarray):
        return _read_numpy(name, cells)
    try:
        match type(cells).__module__.partition(".")[0], type(cells).__name__:
            case "pyarrow", "ChunkedArray":
                return read_arrow(name, _one_chunk(cells))
            case "pyarrow", kind if kind.endswith("Array"):
                return read_arrow(name, cells)
            case "polars", "Series":
                return read_arrow(name, cells.to_arrow())
            case "pandas", "Series" | "Index" if cells.dtype != object:
                return read_arrow(name, _one_chunk(pa.Array.from_pandas(cells)))
    except pa.ArrowException:
        raise refused_type(name, str(cells.dtype), type(cells).__name__) from None
    return read_objects(name, _sequence(argument(name), cells))


def _one_chunk(array: Any) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _read_numpy(name: str, cells: NDArray[Any]) -> Read:
    if isinstance(cells, np.ma.MaskedArray):
        return read_objects(name, cells.tolist())
    if cells.ndim != 1:
        raise InvalidParameter(
            argument(name), cells, "must have one dimension", "Flatten it first."
        )
    if cells.dtype.kind in "biuf":
        return read_arrow(name, pa.array(cells.astype(cells.dtype.newbyteorder("="))))
    unit, step = np.datetime_data(cells.dtype) if cells.dtype.kind == "M" else ("", 0)
    if step != 1 or unit not in ("D", *_TICKS):
        return read_objects(name, list(cells))
    missing = np.isnat(cells)
    ticks = np.where(missing, 0, cells.astype(np.int64))
    if unit == "D":
        return read_days(name, ticks, missing)
    return read_ticks(name, ticks, unit, missing)


def _sequence(name: str, cells: Any) -> Sequence[Any]:
    if isinstance(cells, (str, bytes, Mapping)) or not isinstance(cells, Iterable):
        raise InvalidParameter(name, cells, "must be a list", "Write [...] around it.")
    return list(cells)


def _keys_text(keys: AbstractKeys) -> str:
    """Some keys as they are written; where that is not all of them, with a digest."""
    table = keys.table
    rows = [tuple(row.values()) for row in table.slice(0, _FEW).to_pylist()]
    listed = ", ".join(repr(row[0] if len(row) == 1 else row) for row in rows)
    if len(rows) == table.num_rows and len(listed) <= _LONGEST:
        return listed
    return f"{listed[:_LONGEST]}..., sha256 {fingerprint(table)[:16]}"


@hides("as_asked", "is_equivalent", "words")  # noqa: PLR0904 operators count as public methods
@final
@dataclass(frozen=True, eq=False, repr=False)
class KeySet:
    """A public set of group keys: the rows that a grouped release will show.

    Keys must be known without looking at private data: for any two databases a release
    shows the same rows. A missing value, None, is a group of its own. Products are not
    listed before they must be, and no more than 10 million keys ever are.

    >>> KeySet.from_dict({"ward": ["B", "A"]}).table().to_pylist()
    [{'ward': 'A'}, {'ward': 'B'}]
    """

    tree: Product
    """What lists the keys when they are asked for."""

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Product):
            raise InvalidParameter(
                "tree",
                self.tree,
                "must be a tree of key sets",
                'Write KeySet.from_dict({"ward": ["A", "B"]}).',
            )

    @classmethod
    def from_dict(
        cls, columns: Mapping[str, Iterable[Any]], *, types: Types = None
    ) -> "KeySet":
        """Return every combination of the values of some columns.

        `types` names the type of a column that holds nothing but None.

        >>> KeySet.from_dict({"ward": ["A", "B"], "year": [2024, 2025]}).size
        4
        """
        tables = columns_of_dict(columns, types)
        return cls(Product.of(*(ListedKeys(table) for table in tables)))

    @classmethod
    def from_tuples(
        cls,
        keys: Iterable[tuple[Any, ...]],
        *,
        columns: tuple[str, ...],
        types: Types = None,
    ) -> "KeySet":
        """Return just these keys.

        >>> KeySet.from_tuples([("A", 1), ("B", 2)], columns=("ward", "year"))
        KeySet(2 keys of ward, year)
        """
        return cls(Product.of(ListedKeys(table_of_tuples(keys, columns, types))))

    @classmethod
    def from_table(cls, table: Any, *, types: Types = None) -> "KeySet":
        """Return the rows of an Arrow table, a pandas or Polars frame, a dict of lists.

        The table must be public. The index of a pandas frame is left out.

        >>> KeySet.from_table({"ward": ["A", "B", "A"], "year": [1, 2, 1]})
        KeySet(2 keys of ward, year)
        """
        return cls(Product.of(ListedKeys(table_of_table(table, types))))

    @property
    def schema(self) -> Schema:
        """Return the columns and what is known of them.

        >>> KeySet.from_dict({"ward": ["A", None]}).schema["ward"].nullable
        True
        """
        return self.tree.schema

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns.

        >>> KeySet.from_dict({"ward": ["A"], "year": [2025]}).columns
        ('ward', 'year')
        """
        return self.tree.names

    @property
    def size(self) -> int:
        """Return the exact number of keys; a product is not listed to be counted.

        >>> KeySet.from_dict({f"c{n}": range(1000) for n in range(10)}).size == 10**30
        True
        """
        return self.tree.count

    @property
    def at_most(self) -> int:
        """Return a bound on the number of keys, without listing any.

        >>> days = KeySet.from_dict({"day": range(7)})
        >>> (days | days).at_most, (days | days).size
        (14, 7)
        """
        return self.tree.at_most

    def table(self) -> "pa.Table":
        """Return the keys as an Arrow table, sorted, each once.

        A missing value comes first, then numbers and dates by size, text code point by
        code point, False before True. More than 10 million keys are refused.

        >>> KeySet.from_dict({"n": [10, 9, None, 9]}).table().column("n").to_pylist()
        [None, 9, 10]
        """
        return self.tree.table

    @cached_property
    def fingerprint(self) -> str:
        """Return a SHA-256 of the set: equal sets have equal ones, on every platform.

        >>> KeySet.from_dict({"ward": ["A", "B"]}).fingerprint[:16]
        '...'
        """
        return fingerprint(self.table())

    @property
    def words(self) -> Words:
        """Return the columns in their order, and the fingerprint of the keys."""
        return call("KeySet", columns=list(self.columns), sha256=self.fingerprint)

    def __repr__(self) -> str:
        """Show the number of keys and the columns, never the keys."""
        return f"KeySet({self.tree.extent})"

    @cached_property
    def as_asked(self) -> str:
        """How a request shows the set: a few keys, of more the first and a digest.

        Different sets have different texts. A product is told by its factors, which are
        listed anyway.

        >>> KeySet.from_dict({"ward": ["B", "A"], "year": [2026]}).as_asked
        "KeySet(2 keys of ward, year: 'A', 'B' x 2026)"
        """
        if any(factor.at_most > _MOST_TOLD for factor in self.tree.factors):
            return repr(self)  # nobody may list them: such a request is refused
        listed = " x ".join(map(_keys_text, self.tree.factors))
        empty = ", none" if self.tree.guards and not self.tree.count else ""
        return f"KeySet({self.tree.extent}: {listed}{empty})"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show in a notebook the columns and, of sets that are not large, some keys."""
        shown: str = office.keyset_page(self.tree)
        return shown

    def __mul__(self, other: "KeySet") -> "KeySet":
        """Return every pair of keys of two sets that share no column."""
        theirs = _keyset(other)
        shared = [name for name in self.columns if name in theirs.columns]
        if shared:
            raise InvalidParameter(
                "other",
                theirs,
                "must have other columns than the first set, and both have "
                f"{shared[0]!r}",
                "Rename it, or pair the keys that agree in it: a.join(b).",
            )
        return KeySet(self.tree.times(theirs.tree))

    def __or__(self, other: "KeySet") -> "KeySet":
        """Return the keys of either of two sets with the same columns."""
        theirs = self._alike(other)
        return KeySet(Product.of(Union(self.tree, theirs.tree)))

    def __sub__(self, other: "KeySet") -> "KeySet":
        """Return the keys that another set with the same columns lacks."""
        theirs = self._alike(other)
        return KeySet(Product.of(Difference(self.tree, theirs.tree)))

    def __getitem__(self, columns: str | tuple[str, ...] | list[str]) -> "KeySet":
        """Return the different values of some columns, in the given order."""
        listed = (columns,) if isinstance(columns, str) else columns
        if not isinstance(listed, (tuple, list)):
            raise InvalidParameter(
                "columns",
                columns,
                "must be a name or a list of names",
                'Write keys["ward"]; the keys themselves are in keys.table().',
            )
        names = checked_names(listed)
        for name in names:
            self.schema[name]  # refuses an unknown one
        return KeySet(self.tree.only(names))

    def filter(self, condition: AbstractExpression) -> "KeySet":
        """Return the keys for which a condition is true; missing is not true."""
        if not isinstance(condition, AbstractExpression):
            raise InvalidParameter(
                "condition",
                condition,
                "must be an expression",
                'Write keys.filter(sd.col("ward") != "C").',
            )
        kind = condition.column(self.schema).type
        if kind != "bool":
            raise InvalidParameter(
                "condition",
                condition,
                f"must be a condition, which is true or false, not {kind}",
                'Compare with a value: sd.col("ward") != "C".',
            )
        return KeySet(self.tree.where(condition))

    def rename(self, names: Mapping[str, str]) -> "KeySet":
        """Return the same keys under other names, given from old to new.

        >>> KeySet.from_dict({"ward": ["A"]}).rename({"ward": "place"}).columns
        ('place',)
        """
        if not isinstance(names, Mapping):
            raise InvalidParameter(
                "names", names, "must be a dict", 'Write {"old name": "new name"}.'
            )
        for old in names:
            self.schema[old]  # refuses an unknown one
        checked_names(names.get(name, name) for name in self.columns)
        return KeySet(self.tree.rename(dict(names)))

    def join(self, other: "KeySet") -> "KeySet":
        """Return the pairs of keys that agree in all columns the sets share.

        None agrees with None: here it is a key like any other.

        >>> wards = KeySet.from_tuples([("A", 1), ("B", 2)], columns=("ward", "town"))
        >>> wards.join(KeySet.from_dict({"town": [2], "year": [2024, 2025]})).size
        2
        """
        theirs = _keyset(other)
        shared = tuple(name for name in self.columns if name in theirs.columns)
        if not shared:
            raise InvalidParameter(
                "other",
                theirs,
                f"must share a column with {self}",
                "Write a * b to combine every key of both.",
            )
        self._same_types(theirs, shared)
        return KeySet(self.tree.join(theirs.tree, shared))

    def is_equivalent(self, other: "KeySet") -> bool:
        """Tell whether two sets have the same columns and keys, in whatever order.

        >>> wards = KeySet.from_dict({"ward": ["A", "B"]})
        >>> wards.is_equivalent(KeySet.from_tuples([("B",), ("A",)], columns=("ward",)))
        True
        """
        theirs = _keyset(other)
        return _types(self) == _types(theirs) and self.tree.equals(theirs.tree)

    def __eq__(self, other: object) -> bool:
        """Tell whether two sets have the same columns and keys, in whatever order."""
        return (
            self.is_equivalent(other) if isinstance(other, KeySet) else NotImplemented
        )

    def __hash__(self) -> int:
        """Hash of names and types: equal sets share them, and nothing is listed."""
        return hash(frozenset(_types(self).items()))

    def check(self, schema: Schema, by: tuple[str, ...] | None = None) -> "KeySet":
        """Return the keys of a table with this schema, with `by` as their columns.

        A column that the table lacks, or has with another type, is refused, and so are
        keys whose columns are not exactly those of `by`.
        """
        for name, kind in _types(self).items():
            there = schema[name].type
            if there != kind:
                raise InvalidQuery(
                    f"the keys have {kind} in the column {name!r}, the table {there}",
                    _remedy(there),
                )
        names = self.columns if by is None else by
        if sorted(names) != sorted(self.columns):
            raise InvalidParameter(
                "keys",
                self,
                f"must have the columns {', '.join(names)}",
                "Project them, keys[[...]], or join them with the missing columns.",
            )
        return self if names == self.columns else self[names]

    def _alike(self, other: object) -> "KeySet":
        """Return another set, refusing one with other columns."""
        theirs = _keyset(other)
        if set(self.columns) != set(theirs.columns):
            raise InvalidParameter(
                "other",
                theirs,
                f"must have the columns of {self}",
                "Project or rename its columns.",
            )
        self._same_types(theirs, self.columns)
        return theirs

    def _same_types(self, other: "KeySet", names: Iterable[str]) -> None:
        for name in names:
            ours, theirs = _types(self)[name], _types(other)[name]
            if ours != theirs:
                raise InvalidParameter(
                    "other",
                    other,
                    f"has {theirs} in the column {name!r}, the first set {ours}",
                    "Convert the values of one of them.",
                )


def _types(keys: KeySet) -> dict[str, str]:
    return {name: column.type for name, column in keys.schema.columns}


def _keyset(other: object) -> KeySet:
    if not isinstance(other, KeySet):
        raise InvalidParameter(
            "other", other, "must be a KeySet", "Make one with KeySet.from_dict."
        )
    return other


def _remedy(kind: str) -> str:
    if kind == "f64":
        return "Floats are no keys: bin the column first, and use the bins as keys."
    if kind.startswith("list["):
        return "Explode the list first, into a row for each entry."
    return f"Cast the column, or write the keys as {kind}."
