"""What the user gets back: noisy numbers, and all that may be said of them.

exact totals ── answer ── storage ── release ── text, page, plot, files

- `answer`: noise, selection of groups, error bars; `coverage_table`: what was left out
- `storage`: an answer as bytes in a ledger; `recall`: releases made of these alone
- `release`: the answer with its price, plan and `notes`; `rehearsal`: tried before the
  charge
- `release_text`, `release_page`, `explanation`, `plotting`, `files`, `frames`: ways out
- `release_view`, `cell_texts`, `column_names`: what these share
"""
