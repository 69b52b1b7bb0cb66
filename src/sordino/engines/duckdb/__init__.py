"""DuckDB, the embedded engine: how it is reached, and how it writes and reads."""
