"""What can be asked of a group of rows.

An aggregation says which exact totals it needs, how far one privacy unit can move them,
and what it makes of their noisy values.

    aggregation ── estimators ── measurements ── totals (exact) ── noise ── answer

- `aggregation`: what every one of them is; `count`, `sum`, `mean`, `quantile`,
  `running`
- `lattice`: a numeric column on its way to a sum; `moments`: its rows, sum and squares
- `measurement`: exact totals and how far they move; `choices`, `candidates`: what
  chooses
- `estimators`: answers made of noisy numbers; `intervals/`: how far off they may be
- `margins/`: all tables of some columns at once

What holds here: docs/law/aggregations.md.
"""
