"""Rows in Parquet files."""

from collections.abc import Sequence
from typing import final

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from sordino.engines.files import Fields, Files, reading
from sordino.engines.sources import AbstractSource, aliased, or_nothing

ENDINGS = (".parquet", ".parq", ".pq")


@final
class ParquetSource(AbstractSource):
    """Parquet files; a path's folders are no columns."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        """Read the footers."""
        self._files = Files(paths, _form)
        self.fields = self._files.fields
        self.paths = paths

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


def _form(path: str) -> Fields:
    return tuple((field.name, field.type) for field in pq.read_schema(path))
