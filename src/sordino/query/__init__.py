"""What is asked, as values that know no engine and no data.

- `builder`, `groups`: queries as users write them; `steps`, `joins`: what each step
  does to the rows, and to what one privacy unit can hold of them
- `request`: a query ready to be priced, in words that last; `functions`: words of
  Python
- `nodes`, `node_rules`: the rows as a tree that engines read, and what is true of each
  kind of node; `blocks_read`: which blocks a condition admits
- `dropped_rows`: where rows are left out
- `processing`: what is done to noisy answers; `limit_grid`: limits tried side by side
- `sql/`: queries in SQL

What holds here: docs/law/query.md.
"""
