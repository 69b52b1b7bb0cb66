"""The command line: `sordino ledger show clinic.ledger`.

`main` reads the words, `ledger` and `keeping` are the commands about ledgers, `inspect`
the one about tables, and `terminal` sets texts at the width of a terminal.
"""
