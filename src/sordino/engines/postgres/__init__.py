"""PostgreSQL: questions are answered in the server that has the tables.

With which rights and under which settings it runs: docs/adr/0125 to 0127.

- `dialect`, `entries`, `doubles`: the forms that decide about privacy; each operation
  as its SQL, none of which raises
- `server`, `session`: a connection, and what is told of failures; statements and rows
- `tables`: what a user hands over, and how it is read; `views`: what a view says
- `plans`: a plan, read before it runs
"""
