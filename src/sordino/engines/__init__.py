"""Exact totals, never noise: what each engine computes of a question.

| room | what it has |
|---|---|
| `base` | what every engine is: it opens sources and answers questions |
| `doors`, `door` | the engines by name; where each is, and what it reads |
| `memory/` | the meaning of every question, in plain Python |
| `sql/` | what SQL engines share: plan, statements, script, rehearsal, answer |
| `duckdb/` | a dialect and a database: all that is particular about one engine |
| `row_functions` | Python functions of rows, which no database computes |
| `failures`, `watching` | failures told, progress shown |
"""
