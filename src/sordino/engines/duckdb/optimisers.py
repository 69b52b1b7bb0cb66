"""Which optimisers of DuckDB may run."""

from typing import Final

HARMLESS: Final = frozenset({
    "aggregate_function_rewriter",
    "aggregate_reuse",
    "build_side_probe_side",
    "column_lifetime",
    "common_aggregate",
    "common_subexpressions",
    "common_subplan",
    "compressed_materialization",
    "cte_filter_pusher",
    "cte_inlining",
    "deliminator",
    "distinct_aggregate_rewrite",
    "duplicate_groups",
    "empty_result_pullup",
    "expression_rewriter",
    "extension",
    "filter_pullup",
    "grouping_sets",
    "in_clause",
    "join_elimination",
    "join_order",
    "late_materialization",
    "limit_pushdown",
    "materialized_cte",
    "outer_join_simplification",
    "partial_aggregate_pushdown",
    "partitioned_execution",
    "projection_placement",
    "projection_pullup",
    "redundant_order_keys",
    "regex_range",
    "remote_pushdown",
    "reorder_filter",
    "row_group_pruner",
    "sampling_pushdown",
    "scalar_fn_pushdown",
    "type_pushdown",
    "unnest_rewriter",
    "unused_columns",
    "window_rewriter",
    "window_self_join",
})
"""The optimisers that may run; all others of a version are off, new ones among them.

Off are those that were seen to believe statistics of files (`statistics_propagation`,
`filter_pushdown`, `join_filter_pushdown`, `top_n`: docs/adr/0068), and
`top_n_window_elimination`, which makes an aggregate of the window of a bound: three
times slower, and out of memory where the window is not.
"""
