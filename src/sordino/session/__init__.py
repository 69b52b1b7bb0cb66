"""Where a user stands: tables, a budget, questions and their releases.

- `session`: the methods; `desk`: what they do with a request; `call_guard`: what holds
  for each call; `given_requests`, `sql_request`: questions as they are given
- `catalog`: tables and views by name; `holding`, `description` and `description_page`:
  what everybody may know of them
- `book`: the ledger as a session uses it; `identity`: what makes two requests the same,
  with `rows_digest` for public tables
- `desk_opening`: how a session begins; `open_blocks`: of which blocks rows are read;
  `narrowing`: a session over some of them
- `partition`: parts of a table, charged once; `outlook`: what a release would leave
- `inspection`, `inspection_report`: exact counts, for the curator alone
"""
