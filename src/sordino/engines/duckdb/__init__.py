"""DuckDB, the embedded engine.

- `dialect`, `entries`: the forms that decide about privacy; each operation as its SQL
- `session`: a database of our own, in which no optimiser runs
- `plans`: the plan that ran, held against the one that is written in the statement
- `tables`, `row_by_row`: files read in place; relations and views of a user
- `bounds`: truncation in batches by how many rows ids have
"""
