"""The command line: `sordino release clinic.toml wards`, `sordino ledger show ...`.

`main` finds the command: each is one file, `<name>_command.py`, loaded when named.
`exit_codes` says how one ends; `job_options` and `budget_options` read what several
have in common, `prices` prints prices, and `terminal` all that people read.
`ledger` and `keeping` are what the commands of `sordino ledger` do.
"""
