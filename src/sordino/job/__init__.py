"""A job file: tables, a ledger and releases that a scheduler can run (ADR 190).

`job_file` finds the file, which `sordino.settings` reads. `protection`,
`job_tables`, `budgets`, `personal_limits`, `schedule` and `planned_release` each read a
part of it, and `job` all. `questions` makes a request of what is planned; `job_desk`
opens the tables, prices, charges and answers; `outputs` writes files. `forecast` says
when the budget ends, `missed` what was not made, `needed_budget` what precision costs,
and `draft` writes a new file.
"""
