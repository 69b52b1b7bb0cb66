"""Spark: questions answered where one machine is not enough.

| file | what it has |
|---|---|
| `door`, `engine` | where it is, and how it is made |
| `cluster` | the Spark of the process: found, or started; Java and versions |
| `settings` | a session of our own in it, whose settings are ours |
| `silence` | no log and no trace of what a cell is, while a question runs |
| `spark_frames`, `steadiness`, `places` | frames, tables and Parquet files as sources that Spark reads |
| `database` | how statements and rows reach it |
| `dialect`, `sql_*`, `two_sorts` | what is said in its SQL |
"""  # noqa: E501 a table
