"""DuckDB, the embedded engine: how it is reached, and how it writes and reads.

| file | what it has |
|---|---|
| `door`, `engine` | where it is; an engine of settings |
| `database`, `instance` | a database of our own; an empty one waits for another |
| `connection` | its settings, locked: no optimiser runs |
| `dialect`, `sql_*` | the forms that decide about privacy; operations by topic |
| `file_reading` | Parquet read in place |
| `nested_text`, `executed_plans` | statements as they run, and the plans that run |
| `relations` | sources that live in a connection of the user |
"""
