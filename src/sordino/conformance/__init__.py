"""Whether an engine computes what is meant: cases for any engine, and verdicts.

plan_cases, bound_cases, operation_cases    what every engine must answer alike
example_tables                  small tables that hold what engines stumble over
verdicts                        (engine) -> the verdict on each case
"""
