"""DuckDB, the embedded engine: how it is reached, and how it writes and reads.

| file | what it has |
|---|---|
| `door`, `engine` | where it is; an engine of settings |
| `database`, `instance` | a database of our own; an empty one waits for another |
| `connection`, `optimisers` | its settings, locked |
| `dialect`, `sql_*` | the forms that decide about privacy; operations by topic |
| `file_reading`, `belief` | Parquet read in place, and nothing of it believed |
| `relations` | sources that live in a connection of the user |
"""
