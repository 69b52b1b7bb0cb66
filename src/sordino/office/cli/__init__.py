"""The command line: `sordino release clinic.toml wards`, `sordino ledger show ...`.

`main` finds the command, loads its file, and says how it ended. `jobs`, `sql`,
`ledgers`, `policy`, `publishing`, `risk` and `tools` each have the commands of their
topic; `metrics`: losses as numbers, for programs that watch.
"""
