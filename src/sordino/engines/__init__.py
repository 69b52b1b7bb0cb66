"""Exact totals, never noise: what each engine computes of a question.

- `engine`: what every engine is; `doors`: the engines by name, and what each can read
- `memory`: the meaning of every question, in plain Python
- `statements/`: what all engines of SQL share: plan, script, totals, answer
- `duckdb/`, `spark/`, `postgres/`: a dialect, its entries, and a session each
- `conformance/`: cases that hold an engine against the memory engine
- `failures`: what is told of a failure

What holds here: docs/law/engines.md.
"""
