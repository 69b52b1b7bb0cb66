"""Whether an engine computes what is meant: cases for any engine, and verdicts.

| file | what it has |
|---|---|
| `plan_cases`, `bound_cases`, `operation_cases` | what every engine must answer alike |
| `edge_values` | values of each type at which engines differ |
| `example_tables` | small tables that hold what engines stumble over |
| `short_plans` | plans written shortly |
| `verdicts` | an engine in, the verdict on each case out |
"""
