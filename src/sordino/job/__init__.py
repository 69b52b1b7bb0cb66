"""A job file: tables, a ledger and releases that a scheduler can run (ADR 190).

`toml_file` reads the file and what it names, `section` is how a table of it is asked.
`protection`, `tables`, `budgets`, `limits`, `keys`, `outputs`, `schedule` and `plan` each
read one part of it, and `job` all. `desk` opens the tables and asks; `files` writes what
was answered; `forecast` says what a year costs and when the budget ends.
"""
