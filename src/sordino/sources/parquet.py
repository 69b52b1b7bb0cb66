"""Rows in Parquet files.

A database may read them by itself, as far as it reads each value by our rules and
believes nothing that a file states (its dialect says which types these are). All
others are handed the values, which Arrow reads one by one; the answer is the same.
"""

from collections.abc import Sequence
from typing import Final, final

import pyarrow as pa
import pyarrow.parquet as pq

from sordino.sources.arrow import DatasetSource
from sordino.sources.base import AbstractSource
from sordino.sources.paths import Fields, Files

ENDINGS: Final = (".parquet", ".parq", ".pq")


@final
class ParquetSource(AbstractSource):
    """Parquet files; a path's folders are no columns."""

    ours = True

    def __init__(self, paths: tuple[str, ...]) -> None:
        """Read the footers."""
        self._files = Files(paths, _form)
        self.fields = self._files.fields
        self.paths = paths

    def check(self) -> None:
        """Refuse files of another form."""
        self._files.check()

    def size(self) -> int:
        """Return the number of rows that the footers state."""
        return sum(pq.read_metadata(path).num_rows for path in self.paths)

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns."""
        return self._values().hand_over(places)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return self._values().read(places)

    def _values(self) -> DatasetSource:
        """Return the files as they are now, to be read a few pages at a time."""
        import pyarrow.dataset as ds  # noqa: PLC0415 brings pandas

        self._files.check()
        pages = ds.ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False
        )
        form = ds.ParquetFileFormat(default_fragment_scan_options=pages)
        return DatasetSource(ds.dataset(list(self.paths), format=form))


def _form(path: str) -> Fields:
    return tuple((field.name, field.type) for field in pq.read_schema(path))
