"""Spark sessions of our own, beside that of the user: what is believed is ours to say.

They share the cluster, the catalogues and what is cached, and have no function and no
view of anybody else's. A plan has most settings in it since it was analysed; what it
asks later, and what a reader of files asks, must be as its owner has set it.

| session | settings of belief | of meaning | all others |
|---|---|---|---|
| that analyses our statements | pinned | pinned | Spark's own, but for speed |
| that runs them, and reads the files of frames | pinned | the owner's | the owner's |

Without frames the first one does all. Pins are read back before each question.
"""

from collections.abc import Mapping
from typing import Any, Final

from sordino.errors import EngineUnavailable

_KEPT: Final = (
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.catalog.",
    "spark.sql.defaultCatalog",
    "spark.sql.files.",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.shuffle.partitions",
    "spark.sql.warehouse.dir",
)
"""How settings begin that change no answer."""

MEANING: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
"""What our statements are written for; the plan of a frame has these settled."""
BELIEF: Final[Mapping[str, str]] = {
    # nothing that a file, a table, a bucket or a cache says of its rows is believed:
    # the least and the greatest of cached rows leave NaN out
    "spark.sql.cbo.enabled": "false",
    "spark.sql.csv.filterPushdown.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
    "spark.sql.json.filterPushdown.enabled": "false",
    "spark.sql.optimizer.metadataOnly": "false",
    "spark.sql.orc.aggregatePushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.sources.bucketing.enabled": "false",
    "spark.sql.sources.useV1SourceList": "avro,csv,json,kafka,orc,parquet,text",
    "spark.sql.sources.v2.bucketing.enabled": "false",
    "spark.databricks.delta.optimizeMetadataQuery.enabled": "false",
    "spark.databricks.delta.stats.skipping": "false",
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
    # speed: a bound whose order has ties among all columns is slower to cut early
    "spark.sql.optimizer.windowGroupLimitThreshold": "-1",
}
PINS: Final[Mapping[str, str]] = {**MEANING, **BELIEF}


def session_beside(users: Any) -> Any:
    """Return a session of our own in the Spark of a user's session."""
    ours = users.newSession()
    for name in ours.conf.getAll:
        if name.startswith("spark.sql.") and ours.conf.isModifiable(name):
            ours.conf.unset(name)
    for name, value in users.conf.getAll.items():
        if name.startswith(_KEPT) and ours.conf.isModifiable(name):
            ours.conf.set(name, value)
    for name, value in PINS.items():
        ours.conf.set(name, value)
    return ours


def reading_session(owners: Any) -> Any:
    """Return a session in which files mean what they mean to the owner of a frame."""
    ours = owners.newSession()
    _settings(ours).putAll(_settings(owners))
    for name, value in BELIEF.items():
        ours.conf.set(name, value)
    return ours


def differing_setting(session: Any, other: Any) -> str:
    """Return a setting by which frames may mean other things, "" if there is none."""
    first, second = (dict(_settings(session)) for session in (session, other))
    names = (name for name in {*first, *second} if not name.startswith(_KEPT))
    return min((n for n in names if first.get(n) != second.get(n)), default="")


def _settings(session: Any) -> Any:
    """Return what is set in a session, as Java has it."""
    return session._jsparkSession.sessionState().conf().settings()  # noqa: SLF001 into Java


def refuse_changed_settings(session: Any, pins: Mapping[str, str]) -> None:
    """Refuse a session whose settings are not what they were."""
    settings = session.conf  # asked one by one: to list all takes ten times as long
    changed = [
        name for name, value in pins.items() if settings.get(name, None) != value
    ]
    if changed:
        raise EngineUnavailable(
            f"the setting {changed[0]} of its Spark session was changed. Make a new "
            "session"
        )
