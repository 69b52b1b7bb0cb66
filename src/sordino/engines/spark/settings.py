"""A Spark session of our own, beside that of the user: its settings are ours.

It shares the cluster, the catalogues and what is cached, and has no function, no view
and no setting of anybody else's:

| settings | are |
|---|---|
| on which the meaning of a statement or a reader may depend | at Spark's own defaults |
| of which we know what they decide | pinned, and read back before each question |
| of speed and places: partitions, files, catalogues | those of the user's session |
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

PINS: Final[Mapping[str, str]] = {
    # meaning
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    # nothing that a file, a table, a bucket or a cache says of its rows is believed:
    # the least and the greatest of cached rows leave NaN out
    "spark.sql.cbo.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
    "spark.sql.optimizer.metadataOnly": "false",
    "spark.sql.orc.aggregatePushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.sources.bucketing.enabled": "false",
    "spark.sql.sources.v2.bucketing.enabled": "false",
    "spark.databricks.delta.optimizeMetadataQuery.enabled": "false",
    "spark.databricks.delta.stats.skipping": "false",
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
    # speed: a bound whose order has ties among all columns is slower to cut early
    "spark.sql.optimizer.windowGroupLimitThreshold": "-1",
}


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


def refuse_changed_settings(session: Any) -> None:
    """Refuse a session whose settings are not what they were."""
    settings = session.conf  # asked one by one: to list all takes ten times as long
    changed = [
        name for name, value in PINS.items() if settings.get(name, None) != value
    ]
    if changed:
        raise EngineUnavailable(
            f"the setting {changed[0]} of its Spark session was changed. Make a new "
            "session"
        )
