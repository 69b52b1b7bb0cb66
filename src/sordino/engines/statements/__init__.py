"""What every engine of SQL shares; what one says in its own way is its `dialect`.

    question -> plans -> script of statements -> rehearsed -> run -> answer

- `engine`: asks a database, one question at a time; `scripts`: all that will run
- `plans`, `cached_rows`: nodes and bounds as subqueries; rows that are kept between
  runs
- `statements`, `totals`: whole statements; the totals of each group, in one form
- `dialect`, `entries`, `templates`: expressions as trees of SQL
- `database`, `spreads`: where statements run; totals that stay with workers
"""
