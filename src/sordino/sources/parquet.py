"""Rows in Parquet files.

| columns | are read by |
|---|---|
| of types that a database reads by our rules | the database |
| of others: most moments, wide decimals, extensions | Arrow, value by value |
| of a text that is not UTF-8, at which a database stops | Arrow, in a second reading |

Which way is taken follows from the types of the columns that a question needs, and from
a failure; the answer is the same on both.
"""

from collections.abc import Sequence
from typing import Any, final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from sqlglot import exp

from sordino.sources.arrow import DatasetSource
from sordino.sources.arrow_kinds import is_list
from sordino.sources.base import AbstractSource, aliased, or_nothing, registered
from sordino.sources.paths import Fields, Files, reading

ENDINGS = (".parquet", ".parq", ".pq")


@final
class ParquetSource(AbstractSource):
    """Parquet files; a path's folders are no columns."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        """Read the footers."""
        self._files = Files(paths, _form)
        self.fields = self._files.fields
        self.paths = paths

    def of(self, places: Sequence[int]) -> AbstractSource:
        """Return the files themselves, or their values where a type asks for that."""
        plain = all(_is_plain(self.fields[place][1]) for place in places)
        return self if plain else self.by_value()

    def by_value(self) -> AbstractSource:
        """Return the values in the files."""
        return ParquetValues(self._files)

    def item(self, name: str) -> exp.Expression:
        """Return the call that reads the files."""
        del name
        options = {"hive_partitioning": exp.false(), "can_have_nan": exp.true()}
        return aliased(reading("read_parquet", self.paths, options), len(self.fields))

    def handed(self, places: Sequence[int]) -> None:
        """Check the files, which a database reads by itself."""
        del places
        self.check()

    def check(self) -> None:
        """Refuse files of another form."""
        self._files.check()

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns at some places."""
        self.check()
        whole = pa.concat_tables([pq.ParquetFile(path).read() for path in self.paths])
        return or_nothing(whole, places)


@final
class ParquetValues(AbstractSource):
    """The values in Parquet files, read by Arrow."""

    ours = True

    def __init__(self, files: Files) -> None:
        """Keep the files, which a question about others may have a database open."""
        self._files = files
        self.fields = files.fields
        self.paths = files.paths

    def item(self, name: str) -> exp.Expression:
        """Return the name under which the values are known."""
        return registered(name)

    def check(self) -> None:
        """Refuse files of another form."""
        self._files.check()

    def handed(self, places: Sequence[int]) -> Any:
        """Return the columns."""
        return self._values().handed(places)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return self._values().read(places)

    def _values(self) -> DatasetSource:
        """Return the files as they are now, to be read a few pages at a time."""
        self._files.check()
        pages = ds.ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False
        )
        form = ds.ParquetFileFormat(default_fragment_scan_options=pages)
        return DatasetSource(ds.dataset(list(self._files.paths), format=form))


def _is_plain(arrow: pa.DataType) -> bool:
    """Tell whether a database reads each value of a type as our rule says.

    >>> _is_plain(pa.timestamp("us")), _is_plain(pa.timestamp("us", "UTC"))
    (True, False)
    """
    if is_list(arrow) or pa.types.is_dictionary(arrow):
        return _is_plain(arrow.value_type)
    if pa.types.is_decimal(arrow):
        return not pa.types.is_decimal256(arrow) and arrow.scale >= 0
    return arrow == pa.timestamp("us") or any(test(arrow) for test in _PLAIN)


_PLAIN = (
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_date32,
)


def _form(path: str) -> Fields:
    return tuple((field.name, field.type) for field in pq.read_schema(path))
