"""Frames and tables of a Spark session of the user.

| handed over | what is read, for each question |
|---|---|
| a DataFrame | its plan as it was analysed: whatever becomes of views and functions |
| (session, name of a table) | the table of that name as its session finds it then |

Nothing is made in the user's session, and no setting of it changes.
"""

import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import pyarrow as pa

from sordino.engines.spark.cluster import STOPPED, is_stopped
from sordino.engines.spark.java_plans import analysed_plan, frame_of_plan
from sordino.engines.spark.listings import list_anew, refuse_other_files
from sordino.engines.spark.rebuilding import rebuilt_plan
from sordino.engines.spark.settings import reading_session
from sordino.engines.spark.steadiness import refuse_unsteady
from sordino.errors import EngineFailure, EngineUnavailable, InvalidParameter
from sordino.schema import Column
from sordino.sources.arrow import handed_columns
from sordino.sources.arrow_values import ROWS
from sordino.sources.base import AbstractSource, internal, or_nothing
from sordino.sources.paths import Fields

_NUMBERS: Final = itertools.count()
_MOST: Final = 100_000
"""How many different cells of a column its curator is shown the shapes of."""


class AbstractFrameSource(AbstractSource):
    """Rows that live in a Spark session."""

    ours = True
    view: str
    """What the view of it is called in a session of ours."""
    running: Any
    """A session of ours, with the settings that the owner's had when it was opened."""

    @abstractmethod
    def frame(self) -> Any:
        """Return a frame of the rows as they are now; no row is read."""

    def plan(self) -> Any:
        """Return the plan of the rows, over leaves that are read in that session."""
        return rebuilt_plan(analysed_plan(self.frame()), self.running)

    def check(self) -> None:
        """Refuse a table that is gone, or has other columns: they have places."""
        frame = self.frame()
        session = frame.sparkSession
        if is_stopped(session) or fields_of_frame(frame)[0] != self.fields:
            raise EngineFailure
        refuse_other_files(session, analysed_plan(frame))

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns, to be read once."""
        batches = self.read(places).to_batches(max_chunksize=ROWS)
        return handed_columns(batches, self.fields, places)

    def count_missing(self, place: int) -> int:
        """Return how many cells are not there, which the workers count."""
        name = internal([place])[0]
        return int(self._columns_by_place().where(f"{name} IS NULL").count())

    def cells(self, place: int) -> pa.Table:
        """Return the most frequent cells; those of another thousand are not fetched."""
        name = internal([place])[0]
        counted = (
            self
            ._columns_by_place()
            .groupBy(name)
            .count()
            .orderBy("count", ascending=False)
        )
        return or_nothing(counted.limit(_MOST).toArrow(), range(2)).rename_columns([
            "cell",
            "times",
        ])

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        self.check()
        columns = internal(places) or ["1 AS one"]  # of none, Arrow counts no rows
        rows = self._columns_by_place().selectExpr(*columns).toArrow()
        return or_nothing(rows, range(len(places))).rename_columns(
            internal(places) or ["nothing"]
        )

    def _columns_by_place(self) -> Any:
        """Return the rows in columns c0, c1, ..."""
        rows = frame_of_plan(self.running, self.plan())
        return rows.toDF(*internal(range(len(self.fields))))


@final
class FrameSource(AbstractFrameSource):
    """A DataFrame, whose plan is what it was when it was handed over."""

    def __init__(self, frame: Any) -> None:
        """Ask for the types of the columns, and for no row."""
        if is_stopped(frame.sparkSession):
            raise EngineUnavailable(STOPPED)
        self.doubt = refuse_unsteady(frame)
        self._frame = frame
        self.running = reading_session(frame.sparkSession)
        self._plan: Any = None
        self.fields, self.unsaid = fields_of_frame(frame)
        self.view = f"frame{next(_NUMBERS)}"

    def frame(self) -> Any:
        """Return it."""
        return self._frame

    def plan(self) -> Any:
        """Return the plan, made once: what it lists of a catalogue stays."""
        if self._plan is None:
            self._plan = super().plan()
        return self._plan

    def check(self) -> None:
        """Look at the files that a catalogue listed when the plan was made, too."""
        super().check()
        if self._plan is not None:
            refuse_other_files(self._frame.sparkSession, self._plan)


@final
class TableOfSession(AbstractFrameSource):
    """A table of a catalogue, a view or a path, as a session finds it by its name."""

    def __init__(self, session: Any, name: str) -> None:
        """Ask for the types of the columns, and for no row."""
        self._session = session
        self._name = name
        self.running = reading_session(session)
        self.doubt = refuse_unsteady(session.table(name))
        self.fields, self.unsaid = fields_of_frame(self.frame())
        self.view = f"table{next(_NUMBERS)}"

    def check(self) -> None:
        """Look for its files anew: somebody else may have written others."""
        list_anew(self._session, self._name)
        super().check()

    def frame(self) -> Any:
        """Return it as it is now."""
        table = self._session.table(self._name)
        if refuse_unsteady(table) and not self.doubt:
            raise EngineFailure  # it was a table that nobody had to answer for
        return table


def of_frame(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a DataFrame."""
    del declared
    _refuse_connect(frame)
    return FrameSource(frame)


def of_table_of_session(pair: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of (session, name of a table)."""
    del declared
    session, name = pair
    _refuse_connect(session)
    return TableOfSession(session, name)


def _refuse_connect(source: Any) -> None:
    """Refuse what is of Spark Connect: there, all settings are those of others."""
    if ".connect." in type(source).__module__:
        raise InvalidParameter(
            "source",
            type(source).__name__,
            "must be of a classic Spark session, not of Spark Connect",
            'Start one with SparkSession.builder.master(...), not with remote("sc://").',
        )


def fields_of_frame(frame: Any) -> tuple[Fields, Mapping[str, str]]:
    """Return the columns of a frame, and why some of them have no type of ours."""
    kinds = [(field.name, field.dataType) for field in frame.schema.fields]
    known = tuple((name, _arrow_type(kind)) for name, kind in kinds)
    unsaid = {
        name: f"its type {kind.simpleString()} has no place in a private table"
        for (name, kind), (_, arrow) in zip(kinds, known, strict=True)
        if pa.types.is_null(arrow)
    }
    return known, unsaid


def _arrow_type(kind: Any) -> pa.DataType:
    """Return the Arrow type of a type of Spark's, null for one that we do not use."""
    from pyspark.sql import types as spark  # noqa: PLC0415 only where Spark runs

    match kind:
        case spark.DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case spark.ArrayType():
            inner = _arrow_type(kind.elementType)
            return inner if pa.types.is_null(inner) else pa.list_(inner)
        case spark.StringType():
            return pa.string()
        case _:
            return _ARROW.get(kind.simpleString(), pa.null())


_ARROW: Final[Mapping[str, pa.DataType]] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
