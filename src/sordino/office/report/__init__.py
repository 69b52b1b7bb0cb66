"""The report of a ledger: five pages that a lawyer can read, in one file.

ledger (records, answers) ── `story` (plain facts) ── pages, set by `document`

`promise`, `numbers`, `proof`: the pages; `accounts`: what the ledger says of its
budgets.
"""
