"""How DuckDB reads files by itself.

| columns | are read by |
|---|---|
| of types that DuckDB reads by our rules | DuckDB, where the file is Parquet |
| of others: most moments, wide decimals, extensions | Arrow, value by value |

Which way is taken follows from the types of the columns that a question needs; the
answer is the same on both.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pyarrow as pa
from sqlglot import exp

from sordino.sources.arrow_kinds import is_list
from sordino.sources.base import AbstractSource, internal
from sordino.sources.parquet import ParquetSource

_OPTIONS: Final = {"hive_partitioning": exp.false(), "can_have_nan": exp.true()}


def in_place(source: AbstractSource, places: Sequence[int]) -> exp.Expression | None:
    """Return the call that reads the files of a source, or None for all others."""
    if not isinstance(source, ParquetSource):
        return None
    if not all(is_plain(source.fields[place][1]) for place in places):
        return None
    return alias_columns(
        file_call("read_parquet", source.paths, _OPTIONS), len(source.fields)
    )


def is_plain(arrow: pa.DataType) -> bool:
    """Tell whether DuckDB reads each value of a type as our rule says.

    >>> is_plain(pa.timestamp("us")), is_plain(pa.timestamp("us", "UTC"))
    (True, False)
    """
    if is_list(arrow) or pa.types.is_dictionary(arrow):
        return is_plain(arrow.value_type)
    if pa.types.is_decimal(arrow):
        return not pa.types.is_decimal256(arrow) and arrow.scale >= 0
    return arrow == pa.timestamp("us") or any(test(arrow) for test in _PLAIN)


_PLAIN: Final = (
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_date32,
)


def file_call(
    function: str, paths: Iterable[str], options: Mapping[str, exp.Expression]
) -> exp.Expression:
    """Return the call of a function that reads files.

    >>> file_call("read_it", ["o'neill"], {"header": exp.true()}).sql("duckdb")
    "READ_IT(['o''neill'], header = TRUE)"
    """
    listed = exp.Array(expressions=[exp.Literal.string(path) for path in paths])
    named = [
        exp.EQ(this=exp.to_identifier(name), expression=value.copy())
        for name, value in options.items()
    ]
    return exp.Anonymous(this=function, expressions=[listed, *named])


def alias_columns(item: exp.Expression, count: int) -> exp.Expression:
    """Return a table whose columns are called c0, c1, ... from the first to the last.

    >>> alias_columns(exp.to_table("s0"), 2).sql("duckdb")
    's0 AS t(c0, c1)'
    """
    columns = [exp.to_identifier(name) for name in internal(range(count))]
    table = item if isinstance(item, exp.Table) else exp.Table(this=item)
    alias = exp.TableAlias(this=exp.to_identifier("t"), columns=columns)
    table.set("alias", alias)
    return table
