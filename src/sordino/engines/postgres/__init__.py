"""PostgreSQL: questions are answered in the server that has the tables.

| file | what it has |
|---|---|
| `door`, `engine` | where the engine is, and how it is made |
| `server`, `refusals` | a connection and its transactions; what is told of failures |
| `addresses` | what a user hands over |
| `server_tables`, `table_facts`, `column_types` | tables, and how they are read |
| `database`, `bound_arrays` | statements and rows on their way there and back |
| `dialect` | the forms that decide about privacy |
| `guards`, `sql_*` | operations by topic, none of which raises |

With which rights and under which settings it runs: docs/adr/0125 to 0127.
"""
