"""Folders of the file system that Spark's workers write to, and the files in them."""

from typing import Any

from sordino.errors import InvalidParameter
from sordino.release.files_answer import WrittenFile


def try_new_folder(session: Any, folder: str, columns: Any) -> None:
    """Refuse a folder that is there, or cannot hold columns; it is not left behind."""
    try:
        problem = _problem(session, folder, columns)
    except Exception:  # noqa: BLE001 what Java says of a path
        problem = "cannot be written to"
    if problem:
        remedy = 'Name a new one, such as folder="hdfs:///statistics/visits-2026-11".'
        raise InvalidParameter("folder", folder, problem, remedy)


def _problem(session: Any, folder: str, columns: Any) -> str:
    """Return why workers cannot write to a new folder, "" if they can."""
    files, place = _place(session, folder)
    if files.exists(place):
        return "is there already"
    master = session.sparkContext.master
    if files.getScheme() == "file" and not master.startswith("local"):
        return f"is on this machine, and the workers of {master} are not"
    try:
        _no_rows(session, columns).write.parquet(folder)
    finally:
        files.delete(place, True)
    return ""


def _place(session: Any, path: str) -> tuple[Any, Any]:
    """Return a path as Java has it, and its file system."""
    place = session._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001 into Java
    settings = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001 as above
    return place.getFileSystem(settings), place


def write_new_file(session: Any, path: str, text: str) -> None:
    """Write a text to a file, unless it is there."""
    files, place = _place(session, path)
    if files.exists(place):
        return
    stream = files.create(place, False)
    try:
        stream.write(text.encode())
    finally:
        stream.close()


def _no_rows(session: Any, columns: Any) -> Any:
    """Return a frame without rows, for which no worker needs Python."""
    from pyspark.sql import functions  # noqa: PLC0415 only where Spark runs

    nothing = functions.lit(None)
    return session.range(0).select(
        *(nothing.cast(field.dataType).alias(field.name) for field in columns)
    )


def written_files(session: Any, folder: str) -> tuple[WrittenFile, ...]:
    """Return the files of a folder, whose bytes the workers hash; none if gone."""
    files, place = _place(session, folder)
    if not files.exists(place):
        return ()
    rows = (
        session.read
        .format("binaryFile")
        .load(folder)
        .selectExpr("path", "length", "sha2(content, 256)")
        .collect()
    )
    return tuple(
        sorted(
            WrittenFile(path.rpartition("/")[2], size, digest)
            for path, size, digest in rows
        )
    )
