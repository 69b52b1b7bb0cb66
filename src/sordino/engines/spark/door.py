"""Where Spark's engine is, and what reads frames and tables of a Spark session."""

from typing import Final

from sordino.engines.door import Door

_FRAMES: Final = "sordino.engines.spark.spark_frames"
DOOR: Final = Door(
    "sordino.engines.spark.engine:spark_of_settings",
    package="pyspark",
    reads={
        "(pyspark.SparkSession, name)": f"{_FRAMES}:of_table_of_session",
        "pyspark.DataFrame": f"{_FRAMES}:of_frame",
    },
    chosen=True,
)
