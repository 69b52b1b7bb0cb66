"""Where a user stands: charge, compute, draw, store, return.

- `session`: the methods, and what holds for each call; `sql`: requests as they are
  given
- `tables`: tables, views, blocks and parts by name
- `executor`: what a request needs, in order; `charging`: the ledger as a session uses
  it
- `files`: answers too large for a ledger; `usages`: what a policy is held against
- `description`, `inspection`, `suggestion`, `rehearsal`: what may be known before
  asking

What holds here: docs/law/session.md.
"""
