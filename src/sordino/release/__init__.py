"""What the user gets back: noisy numbers, and all that may be said of them.

    exact totals ── answer ── storage ── release ── text, page, picture, files

- `answer`, `margins`: noise, selection of groups, error bars
- `storage`: an answer as bytes; `releases`: releases made of these alone
- `release`: the answer with its price, plan and notes; `explanation`, `text`: in words
- `released_files`: answers that lie in files

What holds here: docs/law/release.md.
"""
