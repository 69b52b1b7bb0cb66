"""What DuckDB spills is not encrypted, for a reason (decision 165)."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

MUCH = "CREATE TABLE much AS SELECT hash(n), hash(n + 1) FROM range(4000000) r(n)"


def test_what_is_spilled_cannot_be_encrypted_without_an_extension(
    tmp_path: Path,
) -> None:
    """When this fails, DuckDB can, and decision 165 is to be taken anew."""
    settings: Any = {
        "temp_directory": str(tmp_path),
        "memory_limit": "20MB",
        "threads": 1,
        "temp_file_encryption": "true",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    with (
        duckdb.connect(config=settings) as connection,
        pytest.raises(duckdb.Error, match="crypto module"),
    ):
        connection.execute(MUCH)
