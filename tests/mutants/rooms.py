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
        """Return the files, in order."""
        for pattern in self.files:
            yield from sorted((tree / "src" / "sordino").glob(pattern))


ROOMS: Final[dict[str, Room]] = {
    "losses": Room(
        ("losses/*.py", "curves/**/*.py", "numbers/normal_law.py"), _LOSSES, 0.2
    ),
    "sampling": Room(
        ("sampling/*.py",),
        (
            "tests/unit/sampling",
            "tests/laws/test_law_against_map.py",
            *_MECHANISMS[2:4],
        ),
        0.2,
    ),
    "mechanisms": Room(("mechanisms/**/*.py", "distributions/*.py"), _MECHANISMS, 0.2),
    "contribution": Room(
        ("contribution.py", "constraints.py", "sensitivity.py", "units.py"),
        (
            "tests/unit/test_contribution.py",
            "tests/unit/test_units.py",
            "tests/unit/test_added_totals.py",
            "tests/unit/test_sensitivity.py",
            "tests/laws/test_unit_laws.py",
            *_QUERIES,
        ),
        0.2,
    ),
    "keys": Room(
        (
            "losses/rounds.py",
            "curves/rounds_curve.py",
            "mechanisms/kit/key_rounds.py",
            "release/shown_keys.py",
            "release/answer.py",
            "aggregations/weights_of_ids.py",
        ),
        (
            "tests/laws/test_key_rounds_laws.py",
            "tests/laws/test_keys_shown_first.py",
            "tests/unit/release/test_shown_keys.py",
        ),
        0.2,
    ),
    "intervals": Room(
        ("aggregations/intervals/*.py", "distributions/blends.py"),
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
            *("pages/odds.py", "pages/markup.py", "pages/amounts.py"),
            *("pages/purses.py", "pages/request_words.py", "pages/limits_page.py"),
            "report/*.py",
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
            *("engines/duckdb/relations.py", "engines/duckdb/row_by_row.py"),
            *("engines/duckdb/user_names.py", "sources/lazy_frames.py"),
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
            "query/kept_plans.py",
            *("engines/sql/kept_rows.py", "engines/sql/kept_tables.py"),
            "engines/sql/leaves.py",
            *("engines/duckdb/portions.py", "engines/duckdb/looks.py"),
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
        ("ledger/clocks.py", "ledger/file_system.py"),
        (
            "tests/unit/ledger/test_clocks_of_ledgers.py",
            "tests/unit/ledger/test_places_of_ledgers.py",
            "tests/stories/test_growing_table.py",
            "tests/stories/test_job_command.py",
        ),
        0.2,
    ),
    "jobs": Room(
        ("job/outputs.py", "job/turns.py", "cli/quantities.py"),
        (
            "tests/stories/test_watched_jobs.py",
            "tests/unit/engines/test_postgres_codes.py",
            "tests/unit/release/test_exports.py",
        ),
        0.2,
    ),
    "sums": Room(
        ("arrays.py", "engines/sql/measures.py", "engines/duckdb/sql_numbers.py"),
        (
            "tests/unit/test_arrays.py",
            "tests/laws/test_sum_laws.py",
            "tests/unit/engines/test_rendering_laws.py",
            "tests/unit/engines/test_engine_cases.py",
        ),
        0.2,
    ),
    "waiting": Room(
        ("engines/duckdb/instance.py", "engines/duckdb/database.py"),
        (
            "tests/unit/engines/test_waiting_databases.py",
            "tests/unit/engines/test_duckdb_engine.py",
            "tests/unit/session/test_kept_rows_of_sessions.py",
        ),
        0.2,
    ),
    "plans": Room(
        (
            *("engines/duckdb/executed_plans.py", "engines/duckdb/nested_text.py"),
            *("engines/duckdb/connection.py", "engines/duckdb/file_reading.py"),
        ),
        (
            "tests/unit/engines/test_duckdb_plans.py",
            "tests/unit/engines/test_duckdb_engine.py",
            "tests/laws/test_liar_laws.py",
        ),
        0.2,
    ),
    "server": Room(
        ("engines/postgres/*.py",),
        (
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
        ("tables/*.py", "planning/margins_purchase.py", "release/margins_answer.py"),
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
            *("aggregations/running.py", "aggregations/factorisation.py"),
            *("planning/first_stage.py", "mechanisms/kit/top_keys.py"),
            "query/limit_effects.py",
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
            *("release/part_noise.py", "release/released_files.py"),
            *("release/files_answer.py", "release/folder_label.py"),
            *("session/files_desk.py", "session/large_answers.py"),
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
            *("release/label*.py", "release/exactness.py"),
            *("release/request_facts.py", "release/stated_facts.py"),
            *("release/csv_metadata.py", "release/linked_data.py"),
            *("cli/label_command.py", "pages/beside_page.py", "ledger/registry.py"),
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
    "joins": Room(("query/joins.py", "query/per_id.py"), _QUERIES, 0.2),
    "prices": Room(
        (
            "planning/*.py",
            "session/partition.py",
            *("aggregations/shares.py", "aggregations/keys_and_noise.py"),
            *("aggregations/measurements.py", "aggregations/moments.py"),
            "aggregations/centred_counts.py",
            "mechanisms/laplace_sum_threshold.py",
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
            "policy/*.py",
            *("ledger/obedience.py", "ledger/obeyed.py"),
            *("query/lineage.py", "session/usages.py"),
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
        ("release/drawing/forms.py", "release/drawing/parts.py"),
        (
            "tests/unit/release/test_plotting.py",
            "tests/unit/release/test_pictures.py",
            "tests/unit/display/test_inks.py",
        ),
        0.3,
    ),
    "blocks": Room(
        (
            *("query/covers.py", "query/admission.py", "session/open_blocks.py"),
            "session/narrowing.py",
            *("ledger/block_charges.py", "ledger/block_walk.py"),
            *("ledger/exposure.py", "budgets/table_blocks.py"),
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
            *("ledger/handle.py", "ledger/file_store.py", "ledger/opening.py"),
            *("ledger/witnessed_store.py", "ledger/paid_in_full.py"),
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
        ("budgets/*.py",),
        (
            "tests/unit/budgets/test_filters.py",
            "tests/unit/budgets/test_calibration.py",
            "tests/unit/ledger",
        ),
        0.2,
    ),
}
