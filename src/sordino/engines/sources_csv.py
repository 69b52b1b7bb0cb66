"""Rows in text files: fields are text, and become what their column is declared.

No type is ever guessed from rows. Of the files only the first record is read when they
are opened, for the names of the columns.

| in the file | what becomes of it |
|---|---|
| an empty field, quoted or not | missing |
| a record with too few fields, or not in UTF-8 | left out |
| further fields in a record | not looked at |
| a record of more than 16 MiB | left out |
| a quote that is never closed | the records after it are part of its field |
"""

import csv
import io
from collections.abc import Sequence
from typing import Final, final

import pyarrow as pa
import pyarrow.csv as pa_csv
from sqlglot import exp

from sordino.engines.files import Fields, Files, ending, reading
from sordino.engines.sources import AbstractSource, aliased, internal, or_nothing

TABBED: Final = (".tsv", ".tsv.gz")
ENDINGS: Final = (".csv", ".csv.gz", *TABBED)
_LONGEST: Final = 1 << 24


@final
class CSVSource(AbstractSource):
    """Comma- or tab-separated files with a header, quoted by double quotes."""

    untyped = True

    def __init__(self, paths: tuple[str, ...]) -> None:
        """Read the headers."""
        self._delimiter = "\t" if ending(paths, TABBED) else ","
        self._files = Files(paths, self._form)
        self.fields = self._files.fields
        self.paths = paths

    def item(self, name: str) -> exp.Expression:
        """Return the call that reads the files.

        Fields are told apart by one thread for each file: what a broken record does
        to the next ones must not depend on where a second thread would begin.
        """
        del name
        quote = exp.Literal.string('"')
        options: dict[str, exp.Expression] = {
            "columns": self._columns(),
            "auto_detect": exp.false(),
            "header": exp.true(),
            "delim": exp.Literal.string(self._delimiter),
            "quote": quote,
            "escape": quote.copy(),
            "strict_mode": exp.false(),
            "ignore_errors": exp.true(),
            "parallel": exp.false(),
            "max_line_size": exp.Literal.number(_LONGEST),
            "hive_partitioning": exp.false(),
        }
        return aliased(reading("read_csv", self.paths, options), len(self.fields))

    def _columns(self) -> exp.Expression:
        """Return {'c0': 'VARCHAR', 'c1': 'VARCHAR', ...}."""
        text = exp.Literal.string("VARCHAR")
        return exp.Struct(
            expressions=[
                exp.PropertyEQ(this=exp.Literal.string(name), expression=text.copy())
                for name in internal(range(len(self.fields)))
            ]
        )

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
        tables = [self._texts(path) for path in self.paths]
        return or_nothing(pa.concat_tables(tables), places)

    def _texts(self, path: str) -> pa.Table:
        """Return the fields of a file as texts, by Arrow's reader of such files."""
        names = internal(range(len(self.fields)))
        held = pa_csv.read_csv(
            path,
            pa_csv.ReadOptions(column_names=names, block_size=4 * _LONGEST),
            pa_csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                invalid_row_handler=lambda _: "skip",
            ),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.binary()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        texts = [
            [_decoded(one) for one in column.to_pylist()] for column in held.columns
        ]
        made = [pa.array(column[1:], pa.string()) for column in texts]  # no header
        return pa.Table.from_arrays(made, names=names)

    def _form(self, path: str) -> Fields:
        """Return the names in the first record of a file."""
        with pa.input_stream(path, compression="detect") as stream:
            text = io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="")
            header = next(csv.reader(text, delimiter=self._delimiter), [])
        return tuple((name, pa.string()) for name in header)


def _decoded(held: bytes | None) -> str | None:
    """Return the text of some bytes, or none."""
    try:
        return None if held is None else held.decode()
    except UnicodeDecodeError:
        return None
