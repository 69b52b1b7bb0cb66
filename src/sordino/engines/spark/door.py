"""Where Spark's engine is, and what reads frames and tables of a Spark session."""

from typing import Final

from sordino.engines.door import Door

DOOR: Final = Door(
    "sordino.engines.spark.engine:spark_of_settings",
    package="pyspark",
    reads={
        "(pyspark.SparkSession, name)": "sordino.engines.spark.frames:of_table",
        "pyspark.DataFrame": "sordino.engines.spark.frames:of_frame",
    },
)
