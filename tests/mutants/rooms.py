"""What is changed, the tests that concern it, and how many changes may survive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

_LOSSES: Final = (
    "tests/laws/test_loss_oracles.py",
    "tests/laws/test_joint_laws.py",
    "tests/unit/losses",
    "tests/unit/curves",
    "tests/unit/numbers/test_normal_law.py",
    "tests/laws/test_loss_laws.py",
    "tests/unit/test_vectors_of_noise.py",
    "tests/laws/test_law_against_map.py",
    "tests/unit/mechanisms/test_maps_of_noise.py",
    "tests/unit/budgets/test_calibration.py",
)
_MECHANISMS: Final = (
    "tests/laws/test_law_against_map.py",
    "tests/laws/test_threshold_laws.py",
    "tests/laws/test_selection_laws.py",
    "tests/unit/mechanisms",
    "tests/laws/test_mechanism_laws.py",
    "tests/laws/test_fitting_laws.py",
)
_QUERIES: Final = (
    "tests/laws/test_join_laws.py",
    "tests/laws/test_joint_laws.py",
    "tests/unit/query",
    "tests/unit/planning",
    "tests/laws/test_query_laws.py",
    "tests/unit/test_contribution.py",
)


@final
@dataclass(frozen=True)
class Room:
    """Files that one set of tests concerns."""

    files: tuple[str, ...]
    """Patterns beneath src/sordino."""
    tests: tuple[str, ...]
    """The quickest to notice come first."""
    survivors: float
    """The most survivors that are not explained, as a share of the changes tried."""

    def paths(self, tree: Path) -> Iterator[Path]:
        for pattern in self.files:
            yield from sorted((tree / "src" / "sordino").glob(pattern))


ROOMS: Final[dict[str, Room]] = {
    "losses": Room(
        (
            "losses/budgets/charge.py",
            "losses/closed.py",
            "losses/curves/**/*.py",
            "losses/guarantees.py",
            "losses/interop.py",
            "losses/loss.py",
            "losses/thresholded.py",
            "noise/exponential.py",
            "noise/gaussian.py",
            "noise/laplace.py",
            "noise/randomized_response.py",
            "noise/sensitivity.py",
            "numbers/normal.py",
            "numbers/progress.py",
            "office/notebook/pages.py",
            "office/pictures/curves.py",
            "office/pictures/figures.py",
        ),
        (*_LOSSES, *_MECHANISMS[1:]),  # a noise has loss and mechanism in one file
        0.2,
    ),
    "sampling": Room(
        (
            "noise/gaussian.py",
            "noise/laplace.py",
            "noise/sampling/**/*.py",
        ),
        (
            "tests/unit/sampling",
            "tests/laws/test_law_against_map.py",
            *_MECHANISMS[2:4],
        ),
        0.2,
    ),
    "mechanisms": Room(
        (
            "noise/above_threshold.py",
            "noise/additive.py",
            "noise/bin_counts.py",
            "noise/exponential.py",
            "noise/gaussian.py",
            "noise/key_rounds.py",
            "noise/laplace.py",
            "noise/law.py",
            "noise/numbers.py",
            "noise/quantiles.py",
            "noise/randomized_response.py",
            "noise/sums.py",
            "noise/threshold/**/*.py",
        ),
        _MECHANISMS,
        0.2,
    ),
    "contribution": Room(
        (
            "data/contribution.py",
            "data/limits.py",
            "data/units.py",
            "noise/sensitivity.py",
        ),
        (
            "tests/unit/test_contribution.py",
            "tests/unit/test_units.py",
            "tests/unit/test_added_totals.py",
            "tests/unit/test_sensitivity.py",
            "tests/unit/session/test_partition.py",
            "tests/laws/test_unit_laws.py",
            *_QUERIES,
        ),
        0.2,
    ),
    "keys": Room(
        (
            "aggregations/sum.py",
            "losses/thresholded.py",
            "noise/key_rounds.py",
            "release/answer.py",
        ),
        (
            "tests/laws/test_key_rounds_laws.py",
            "tests/laws/test_keys_shown_first.py",
            "tests/unit/release/test_shown_keys.py",
        ),
        0.2,
    ),
    "intervals": Room(
        (
            "aggregations/intervals/linear_forms.py",
            "aggregations/intervals/quotients.py",
            "noise/sums.py",
        ),
        (
            "tests/unit/aggregations/test_intervals.py",
            "tests/unit/aggregations/test_intervals_given_shown.py",
            "tests/laws/test_interval_ranges.py",
            "tests/unit/distributions/test_blends.py",
        ),
        0.2,
    ),
    "reports": Room(
        (
            "office/html/elements.py",
            "office/html/odds.py",
            "office/report/accounts.py",
            "office/report/document.py",
            "office/report/promise.py",
            "release/explanation.py",
        ),
        (
            "tests/unit/pages",
            "tests/laws/test_report_laws.py",
            "tests/unit/report",
        ),
        0.2,
    ),
    "views": Room(
        (
            "data/lazy_frames.py",
            "engines/duckdb/row_by_row.py",
            "engines/duckdb/tables.py",
        ),
        (
            "tests/laws/test_frame_plan_laws.py",
            "tests/laws/test_lazy_source_laws.py",
            "tests/unit/sources/test_sources.py",
        ),
        0.2,
    ),
    "kept": Room(
        (
            "engines/duckdb/bounds.py",
            "engines/statements/cached_rows.py",
            "engines/statements/plans.py",
            "engines/statements/statements.py",
            "query/node_rules.py",
        ),
        (
            "tests/laws/test_portion_laws.py",
            "tests/unit/engines/test_shared_hashes.py",
            "tests/laws/test_kept_laws.py",
            "tests/unit/engines/test_ties.py",
            "tests/unit/engines/test_kept_rows.py",
            "tests/unit/engines/test_engine_cases.py",
        ),
        0.2,
    ),
    "clocks": Room(
        (
            "ledger/clocks.py",
            "ledger/file_system.py",
        ),
        (
            "tests/unit/ledger/test_clocks_of_ledgers.py",
            "tests/unit/ledger/test_places_of_ledgers.py",
            "tests/stories/test_growing_table.py",
            "tests/stories/test_job_command.py",
        ),
        0.2,
    ),
    "jobs": Room(
        (
            "office/cli/metrics.py",
            "office/job/outputs.py",
            "office/job/running.py",
        ),
        (
            "tests/stories/test_watched_jobs.py",
            "tests/unit/engines/test_postgres_codes.py",
            "tests/unit/release/test_exports.py",
        ),
        0.2,
    ),
    "sums": Room(
        (
            "engines/duckdb/entries.py",
            "engines/statements/totals.py",
            "numbers/arrays.py",
        ),
        (
            "tests/unit/test_arrays.py",
            "tests/laws/test_sum_laws.py",
            "tests/unit/engines/test_rendering_laws.py",
            "tests/unit/engines/test_engine_cases.py",
            "tests/laws/test_expression_doors.py",
        ),
        0.2,
    ),
    "waiting": Room(
        ("engines/duckdb/session.py",),
        (
            "tests/unit/engines/test_waiting_databases.py",
            "tests/unit/engines/test_duckdb_engine.py",
            "tests/unit/session/test_kept_rows_of_sessions.py",
        ),
        0.2,
    ),
    "plans": Room(
        (
            "engines/duckdb/plans.py",
            "engines/duckdb/session.py",
            "engines/duckdb/tables.py",
        ),
        (
            "tests/unit/engines/test_duckdb_plans.py",
            "tests/unit/engines/test_duckdb_engine.py",
            "tests/laws/test_liar_laws.py",
        ),
        0.2,
    ),
    "server": Room(
        (
            "engines/doors.py",
            "engines/postgres/**/*.py",
        ),
        (
            "tests/unit/engines/test_postgres_views.py",
            "tests/unit/engines/test_postgres_beliefs.py",
            "tests/unit/engines/test_postgres_bounds.py",
            "tests/unit/engines/test_postgres_moments.py",
            "tests/unit/engines/test_postgres_failures.py",
            "tests/unit/engines/test_postgres_steps.py",
            "tests/unit/engines/test_postgres_border.py",
            "tests/unit/engines/test_postgres_settings.py",
            "tests/unit/engines/test_postgres_kept_rows.py",
            "tests/unit/engines/test_postgres_engine.py",
            "tests/unit/engines/test_postgres_lists.py",
            "tests/laws/test_postgres_laws.py",
        ),
        0.2,
    ),
    "margins": Room(
        (
            "aggregations/margins/**/*.py",
            "plan/margins.py",
            "release/margins.py",
        ),
        (
            "tests/laws/test_margin_laws.py",
            "tests/unit/tables",
            "tests/unit/release/test_margins.py",
            "tests/unit/release/test_releases.py",
        ),
        0.2,
    ),
    "figures": Room(
        (
            "aggregations/running.py",
            "noise/key_rounds.py",
            "plan/keys_first.py",
            "query/limit_grid.py",
        ),
        (
            "tests/laws/test_running_laws.py",
            "tests/laws/test_first_few_laws.py",
            "tests/laws/test_limit_laws.py",
            "tests/unit/query/test_cumulative.py",
        ),
        0.2,
    ),
    "files": Room(
        (
            "office/label/files.py",
            "release/released_files.py",
            "session/executor.py",
            "session/files.py",
        ),
        (
            "tests/unit/release/test_part_noise.py",
            "tests/unit/sampling/test_keyed_bits.py",
            "tests/unit/session/test_released_files.py",
            "tests/unit/session/test_interrupted_answers.py",
            "tests/unit/session/test_large_answers.py",
            "tests/unit/release/test_folder_label.py",
            "tests/unit/ledger/test_ledger_model.py",
        ),
        0.2,
    ),
    "labels": Room(
        (
            "ledger/copies.py",
            "office/cli/publishing.py",
            "office/label/**/*.py",
            "office/report/proof.py",
            "release/explanation.py",
        ),
        (
            "tests/unit/release/test_label.py",
            "tests/unit/release/test_label_reading.py",
            "tests/unit/release/test_request_facts.py",
            "tests/unit/release/test_csv_metadata.py",
            "tests/unit/pages/test_public_deployments.py",
            "tests/unit/ledger/test_registry_schema.py",
            "tests/stories/test_label_command.py",
        ),
        0.2,
    ),
    "joins": Room(
        (
            "query/groups.py",
            "query/joins.py",
        ),
        _QUERIES,
        0.2,
    ),
    "prices": Room(
        (
            "aggregations/count.py",
            "aggregations/measurement.py",
            "aggregations/moments.py",
            "noise/threshold/laplace.py",
            "office/notebook/pages.py",
            "plan/**/*.py",
            "session/tables.py",
        ),
        (
            "tests/unit/aggregations/test_measurements.py",
            "tests/unit/planning/test_alike.py",
            "tests/laws/test_moment_laws.py",
            "tests/laws/test_sum_threshold_laws.py",
            "tests/laws/test_keys_shown_first.py",
            *_QUERIES,
            "tests/unit/session",
            "tests/laws/test_parts_laws.py",
        ),
        0.2,
    ),
    "policy": Room(
        (
            "ledger/policy_enforcement.py",
            "ledger/policy_file.py",
            "ledger/policy_rules.py",
            "query/node_rules.py",
            "session/usages.py",
        ),
        (
            "tests/unit/policy",
            "tests/laws/test_policy_years.py",
            "tests/laws/test_policy_groups.py",
            "tests/laws/test_policy_doors.py",
            "tests/laws/test_policy_lineage.py",
        ),
        0.2,
    ),
    "pictures": Room(
        (
            "office/pictures/parts.py",
            "office/pictures/release.py",
        ),
        (
            "tests/unit/release/test_plotting.py",
            "tests/unit/release/test_pictures.py",
            "tests/unit/display/test_inks.py",
        ),
        0.3,
    ),
    "blocks": Room(
        (
            "ledger/blocks.py",
            "losses/budgets/blocks.py",
            "query/blocks_read.py",
            "query/node_rules.py",
            "session/session.py",
            "session/tables.py",
        ),
        (
            "tests/unit/query/test_covers.py",
            "tests/laws/test_admission_laws.py",
            "tests/unit/ledger/test_ledger_blocks.py",
            "tests/unit/ledger/test_ledger_block_forgery.py",
            "tests/unit/session/test_sessions_of_blocks.py",
            "tests/unit/session/test_refused_blocks.py",
            "tests/unit/session/test_in_blocks.py",
            "tests/laws/test_block_laws.py",
            "tests/laws/test_cover_laws.py",
        ),
        0.2,
    ),
    "alarms": Room(
        (
            "ledger/file_store.py",
            "ledger/log.py",
            "ledger/opening.py",
            "ledger/other_stores.py",
            "ledger/verification.py",
        ),
        (
            "tests/unit/ledger/test_ledger_alarms.py",
            "tests/unit/ledger/test_ledger_interrupts.py",
            "tests/unit/ledger/test_ledger_reading.py",
            "tests/unit/ledger/test_ledger_witness.py",
            "tests/unit/ledger/test_ledger_forgery.py",
            "tests/unit/ledger/test_ledger_crashes.py",
            "tests/unit/ledger/test_file_store.py",
        ),
        0.2,
    ),
    "budgets": Room(
        (
            "losses/budgets/**/*.py",
            "office/notebook/pages.py",
        ),
        (
            "tests/unit/budgets/test_filters.py",
            "tests/unit/budgets/test_budget_edges.py",
            "tests/unit/budgets/test_calibration.py",
            "tests/unit/ledger",
        ),
        0.2,
    ),
}
