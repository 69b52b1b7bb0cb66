"""What a job file may say, and how it is refused when it says something else."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.errors import InvalidJob
from sordino.office.job.job import Job, find_job, read_job, undecided_places
from sordino.office.job.questions import check_period
from tests.batches import for_each, table_of

GOOD = """
schema = 1
[tables.visits]
source = "visits.parquet"
protects = { id = "patient" }
[ledger]
path = "clinic.ledger"
limit = { epsilon = 0.3, delta = "1e-6" }
[releases.wards]
sql = "SELECT COUNT(*) AS n FROM visits"
limits = { max_rows_per_id = 3 }
budget = { epsilon = 0.1 }
schedule = "monthly"
"""


def job_of(folder: Path, text: str) -> Job:
    (folder / "clinic.toml").write_text(text, encoding="utf-8")
    return read_job(folder / "clinic.toml")


def test_numbers_are_those_that_are_written(tmp_path: Path) -> None:
    """`0.1` is one tenth, and paths are relative to the file."""
    job = job_of(tmp_path, GOOD)
    assert job.releases["wards"].budget == sd.PureDP("1/10")
    assert job.ledger.limit.stated.startswith("ApproxDP(epsilon=3/10, delta=1/1000000)")
    assert job.ledger.path == tmp_path / "clinic.ledger"
    assert job.releases["wards"].limits == (sd.MaxRowsPerID(3),)
    assert job.releases["wards"].key("2026-11") == "wards/2026-11"


def test_the_same_job_has_one_text(tmp_path: Path) -> None:
    text = job_of(tmp_path, GOOD).text
    moved = GOOD.replace("schema = 1\n", "# reviewed by Ana\nschema   =   1\n")
    assert job_of(tmp_path, moved).text == text
    assert job_of(tmp_path, GOOD.replace("0.1", "0.2")).text != text


def test_programs_belong_to_the_text(tmp_path: Path) -> None:
    (tmp_path / "queries.py").write_text("def wards(): ...", encoding="utf-8")
    asked = GOOD.replace('sql = "SELECT COUNT(*) AS n FROM visits"\n', "").replace(
        "limits = { max_rows_per_id = 3 }", 'query = "queries.py:wards"'
    )
    first = job_of(tmp_path, asked).text
    assert "def wards(): ..." in first
    (tmp_path / "queries.py").write_text("def wards(): pass", encoding="utf-8")
    assert job_of(tmp_path, asked).text != first


def test_secrets_stay_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = GOOD.replace('"visits.parquet"', '{ env = "CLINIC_DATABASE" }')
    with pytest.raises(InvalidJob, match=r"tables.visits.source.env names CLINIC_DATA"):
        job_of(tmp_path, said)
    monkeypatch.setenv("CLINIC_DATABASE", "postgresql://reader:secret@host/base")
    job = job_of(tmp_path, said)
    assert "CLINIC_DATABASE" in job.text
    assert "secret" not in job.text
    assert "secret" not in repr(job.tables["visits"])


UNITS: dict[str, Any] = {
    '"rows"': sd.AddOneRow(),
    '"changed row"': sd.ChangeOneRow(),
    '{ column = "a", total = 30 }': sd.AddMaxTotal("a", 30),
    '{ column = "a", total = 3, in_each = 1 }': sd.AddMaxTotal("a", 3, in_each=1),
    '{ column = "a", total = 3, in_each = ["b", 1] }': sd.AddMaxTotal(
        "a", 3, in_each=("b", 1)
    ),
    "{ rows = 3 }": sd.AddMaxRows(3),
    '{ id = "a", id_space = "people" }': sd.AddRowsWithID("a", "people"),
    '{ column = "a", groups = 2, rows_per_group = 3 }': sd.AddMaxRowsInMaxGroups(
        "a", 2, 3
    ),
}
BUDGETS = {
    '{ epsilon = "1/3" }': sd.PureDP("1/3"),
    "{ epsilon = 1, delta = 1e-6 }": sd.ApproxDP(1, "1e-6"),
    "{ rho = 0.5 }": sd.ZCDP("0.5"),
    "{ rho = 0.5, delta = 0.001 }": sd.ApproxZCDP("0.5", "0.001"),
    "{ mu = 0.25 }": sd.GaussianDP("0.25"),
    "{ advantage = 0.1 }": sd.Advantage("0.1"),
    "{ fpr = 0.01, tpr = 0.03 }": sd.ErrorRates(fpr="0.01", tpr="0.03"),
}


@for_each("said", UNITS)
def test_every_unit_can_be_said(said: str, tmp_path: Path) -> None:
    table: Any = job_of(tmp_path, GOOD.replace('{ id = "patient" }', said)).tables
    assert table["visits"].protects == UNITS[said]


@for_each("said", BUDGETS)
def test_every_budget_can_be_said(said: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, GOOD.replace("{ epsilon = 0.1 }", said))
    assert job.releases["wards"].budget == BUDGETS[said]


_ADDRESS = '"postgresql://reader:hunter2@host/base"'


@for_each(
    "address", [_ADDRESS, f'["visits.parquet", {_ADDRESS}]', f'[{_ADDRESS}, "visits"]']
)
def test_a_password_in_the_file_is_refused(address: str, tmp_path: Path) -> None:
    """The text of a job is kept for ever: an address belongs to the environment."""
    with pytest.raises(InvalidJob, match="which the ledger would keep") as caught:
        job_of(tmp_path, GOOD.replace('"visits.parquet"', address))
    assert "hunter2" not in str(caught.value)


def test_a_format_is_that_of_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("ward;beds\nA;3\n")
    public = (
        '[public.wards]\nsource = "wards.csv"\nformat = { delimiter = ";" }\n'
        'columns = { ward = "text", beds = "i64" }\n'
    )
    visits = sd.PrivateTable({"patient": [1]}, protects=sd.AddOneRow())
    tables: Any = job_of(tmp_path, GOOD + public).tables
    session = sd.Session({"visits": visits, "wards": tables["wards"]}, sd.PureDP(1))
    assert "beds" in str(session.describe())


def test_a_table_of_a_server_is_its_address_and_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLINIC_DATABASE", "postgresql://reader@host/base")
    source = '[{ env = "CLINIC_DATABASE" }, "public.visits"]'
    tables: Any = job_of(tmp_path, GOOD.replace('"visits.parquet"', source)).tables
    assert tables["visits"].source == ("postgresql://reader@host/base", "public.visits")


REFUSED = table_of("refused/jobs")


@for_each(
    ("files", "place"),
    [
        ("published", "{home}/published/wards-2026-11"),
        ("published/", "{home}/published/wards-2026-11"),
        ("/statistics", "/statistics/wards-2026-11"),
        ("hdfs:///statistics/", "hdfs:///statistics/wards-2026-11"),
    ],
)
def test_workers_write_to_a_folder(files: str, place: str, tmp_path: Path) -> None:
    text = f'files = "{files}"\nschedule ='
    asked = GOOD.replace("schedule =", text) + '[engine]\nname = "spark"\n'
    plan = job_of(tmp_path, asked).releases["wards"]
    assert plan.formats == ()
    assert plan.folder_of_files(tmp_path, "2026-11") == place.format(home=tmp_path)


@for_each("what", REFUSED)
def test_what_cannot_be_meant_is_refused_at_its_place(
    what: str, tmp_path: Path
) -> None:
    old, new, told = REFUSED[what]
    assert old in GOOD
    with pytest.raises(InvalidJob, match=told):
        job_of(tmp_path, GOOD.replace(old, new, 1))
    assert [path.name for path in tmp_path.iterdir()] == ["clinic.toml"]


def test_what_is_undecided_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(GOOD.replace('"patient"', '"?"').replace("0.3", '"?"'))
    assert undecided_places(path) == [
        "tables.visits.protects.id",
        "ledger.limit.epsilon",
    ]


def test_the_job_of_a_folder_is_found(tmp_path: Path) -> None:
    """The usual name, or the only one; two without it are asked about."""
    with pytest.raises(InvalidJob, match="a job file is not here"):
        find_job(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.toml").touch()
    assert find_job(tmp_path).name == "a.toml"
    (tmp_path / "b.toml").touch()
    with pytest.raises(InvalidJob, match="is one of several"):
        find_job(tmp_path)
    (tmp_path / "sordino.toml").touch()
    assert find_job(tmp_path).name == "sordino.toml"


BAD_PERIODS = ["", "..", "a/b", "2026 11", "-x", "x" * 101, "2026\n", "é"]


@for_each("period", BAD_PERIODS)
def test_a_period_is_part_of_a_name(period: str) -> None:
    with pytest.raises(InvalidJob, match="--key must be letters"):
        check_period(period)


def test_what_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    """Python gives up on it; the refusal is ours."""
    (tmp_path / "x.toml").write_text("a = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(InvalidJob, match="nested too deeply"):
        read_job(tmp_path / "x.toml")


@for_each("content", [None, b"#" * (1 << 21), b"\xff\xfe\x00"])
def test_what_is_no_file_of_text_is_refused(
    content: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "x.toml"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InvalidJob, match=r"x\.toml cannot be read as text"):
        read_job(path)


def test_decimals_are_read_as_such() -> None:
    """What `tomllib` hands on is a decimal, whose shortest digits count."""
    assert sd.PureDP(Decimal("0.1")) == sd.PureDP("1/10")
