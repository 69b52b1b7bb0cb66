"""The guide from laptop to cluster, run from top to bottom where Spark is found."""

import doctest
from pathlib import Path
from typing import Final

import pytest

from sordino.office.cli.main import main
from tests.spark_here import users_session
from tests.test_docs import BLOCK, OPTIONS

pytestmark = pytest.mark.slow
PAGE: Final = Path(__file__).parents[2] / "docs/guides/from-laptop-to-cluster.md"


def test_the_guide_runs(tmp_path: Path) -> None:
    """Its blocks, and a job of the table that they leave."""
    spark = users_session()
    spark.sql("DROP TABLE IF EXISTS clinic_visits_2026")
    blocks = "\n".join(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 10
    try:
        assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0
        begin = "init spark:// --table clinic_visits_2026 --id patient --group ward"
        job = str(tmp_path / "job.toml")
        assert main([*f"{begin} --epsilon 1 --delta 1e-6 --to".split(), job]) == 0
        assert main(["check", job]) == 0
    finally:
        spark.sql("DROP TABLE IF EXISTS clinic_visits_2026")
