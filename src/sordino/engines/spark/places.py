"""Sources that Spark reads by itself, and the views of them in a session of ours.

| source | is read by |
|---|---|
| a frame or a table of a Spark session | Spark |
| Parquet files, of columns that Spark reads by our rules | Spark |
| all others | Arrow, and handed over |
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.spark.java_plans import analysed_plan, frame_of_plan
from sordino.engines.spark.rebuilding import rebuilt_plan
from sordino.engines.spark.spark_frames import AbstractFrameSource
from sordino.sources.arrow_kinds import is_list
from sordino.sources.base import AbstractSource, internal
from sordino.sources.parquet import ParquetSource


def view_read_of(source: AbstractSource, places: Sequence[int]) -> exp.Table | None:
    """Return the view of a source that Spark reads, or None for all others."""
    match source:
        case AbstractFrameSource():
            return _view_table(source.view)
        case ParquetSource() if all(_is_plain(source.fields[n][1]) for n in places):
            return _view_table(view_of_files(source))
        case _:
            return None


def _view_table(view: str) -> exp.Table:
    """Return what stands after FROM."""
    return exp.Table(this=exp.to_identifier(view), alias="t")


def view_of_files(source: ParquetSource) -> str:
    """Return what the view of some files is called."""
    names = "\0".join(source.paths).encode()
    return f"files_{hashlib.sha256(names).hexdigest()[:16]}"


def _is_plain(arrow: pa.DataType) -> bool:
    """Tell whether Spark reads each value of a type as our rule says.

    Of moments it reads those in microseconds: others it refuses or takes for another
    zone. Unsigned integers are decimals to it.
    """
    if is_list(arrow):
        return _is_plain(arrow.value_type)
    if pa.types.is_decimal(arrow):
        return not pa.types.is_decimal256(arrow) and 0 <= arrow.scale <= arrow.precision
    if pa.types.is_timestamp(arrow):
        return bool(arrow.unit == "us")
    return any(test(arrow) for test in _PLAIN)


_PLAIN: Final = (
    pa.types.is_signed_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_date32,
)


def frame_of(session: Any, source: AbstractSource) -> Any:
    """Return what Spark reads of a source in a session of ours: c0, c1, ..."""
    match source:
        case AbstractFrameSource():
            return _frame_of_ours(session, source)
        case ParquetSource():
            return _read(session, source)
        case _:
            raise TypeError(type(source).__name__)


def _frame_of_ours(session: Any, source: AbstractFrameSource) -> Any:
    """Return the frame of another session as one of ours; texts compare by bytes."""
    from pyspark.sql import functions  # noqa: PLC0415 only where Spark runs

    moved = frame_of_plan(session, source.plan())
    frame = moved.toDF(*internal(range(len(source.fields))))
    columns = [
        functions.col(name).cast(_TEXTS[arrow]).alias(name) if arrow in _TEXTS else name
        for name, (_, arrow) in zip(frame.columns, source.fields, strict=True)
    ]
    return frame.select(*columns)


def without_named_parts(session: Any, frame: Any) -> Any:
    """Return the frame of a statement whose named subqueries are written out.

    In a statement that has some itself, Spark would join them with those, and no longer
    find that the rest is what it has cached.
    """
    plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 into Java
    return frame_of_plan(session, plan)


_TEXTS: Final = {pa.string(): "string", pa.list_(pa.string()): "array<string>"}


def _read(session: Any, source: ParquetSource) -> Any:
    """Return the columns of files that Spark reads by our rules."""
    from pyspark.sql.pandas.types import from_arrow_type  # noqa: PLC0415 as above
    from pyspark.sql.types import StructType  # noqa: PLC0415 as above

    schema = StructType()
    names = []
    for place, (name, arrow) in enumerate(source.fields):
        if _is_plain(arrow):
            kind = from_arrow_type(arrow, prefer_timestamp_ntz=True)
            schema = schema.add(name, kind)
            names.append(f"c{place}")
    files = session.read.schema(schema).parquet(*source.paths)
    return frame_of_plan(session, rebuilt_plan(analysed_plan(files), session)).toDF(
        *names
    )
