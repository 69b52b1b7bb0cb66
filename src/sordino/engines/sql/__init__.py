"""What every SQL engine shares; what one says in its own way is its `dialect`.

    question -> stages -> script of statements -> rehearsed -> run -> answer

| file | what it does |
|---|---|
| `dialect`, `database` | what an engine has to provide: text, and where it runs |
| `engine` | asks a database, one question at a time |
| `stages`, `buckets` | plans cut at Python functions; in parts of the ids |
| `leaves`, `plan_rows`, `kept_rows` | stored rows, nodes and bounds as subqueries |
| `writer`, `rendering`, `pieces` | subqueries collected; expressions; trees of SQL |
| `plain_entries` | operations that all databases write alike |
| `group_totals`, `statements`, `scripts` | totals; statements; all of a question |
| `answer_tables` | answers in their one form |
| `kept_tables` | which rows are kept, and what their tables are called |
| `room`, `room_guard` | an engine's folder, and how it goes whatever happens |
"""
