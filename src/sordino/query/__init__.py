"""What is asked, as pure values that know no engine and no data.

- `builder`: queries as users write them; `steps` and `joins` do what they say, to a
  `relation`: rows, and what one protected unit can hold of them
- `request`: a query that is ready to be priced, in words that last; `functions`, `held`
  and `code` find the words of Python functions
- `nodes`, `by_kind`: the rows as a tree that engines read; `pruning` leaves out columns
- `question`: what an engine is asked; `passage`: where rows are left out on the way
- `noisy_answers`, `processing`, `processing_steps`: what is done to noisy answers;
  `sql/`: queries in SQL
- `covers`, `admission`: which blocks of its tables a plan reads
- `tables`: private and public tables, as users hand them to a session
"""
