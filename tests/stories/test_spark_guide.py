"""The guide from laptop to cluster, run from top to bottom where Spark is found."""

import doctest
from pathlib import Path
from typing import Final

import pytest

from tests.spark_here import users_session
from tests.test_docs import BLOCK, OPTIONS

pytestmark = pytest.mark.slow
PAGE: Final = Path(__file__).parents[2] / "docs/guides/from-laptop-to-cluster.md"


def test_the_guide_runs() -> None:
    spark = users_session()
    spark.sql("DROP TABLE IF EXISTS clinic_visits_2026")
    blocks = "\n".join(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 10
    try:
        assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0
    finally:
        spark.sql("DROP TABLE IF EXISTS clinic_visits_2026")
