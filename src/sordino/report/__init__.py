"""The report of a ledger: five pages that a lawyer can read, in one file.

ledger (records, answers) ── story (plain facts) ── pages (`sordino.pages`)

- `ledger_story`: what the ledger says, verified on the way
- `accounts`: its budgets, and by what it can be checked
"""
