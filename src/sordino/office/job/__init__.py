"""A job file: tables, a ledger and releases that a scheduler can run (ADR 190).

`job`: the file as a value; `questions`: what is asked of one release; `running`: tables
opened, prices, charges, answers; `outputs`: the files that are written; `forecast`:
when the budget ends, and what precision costs; `draft`: a new file.
"""
