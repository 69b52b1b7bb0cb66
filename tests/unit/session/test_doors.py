"""What stands before a first answer: refusals in the words of a door, tables, times."""

import datetime as dt
import linecache
import math
import re
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidQuery, SordinoError
from sordino.office.cli.sql import _BY_OPTIONS
from sordino.office.job.running import _IN_A_FILE
from sordino.office.notebook.magics import _IN_A_CELL
from sordino.session.sql import IN_PYTHON, word_needs
from tests.batches import for_each

VISITS = {
    "patient": [1, 1, 2, 3],
    "ward": ["A", "B", "A", "B"],
    "sex": ["f", "f", "m", "f"],
    "days": [3, 1, 4, 2],
}
TABLE = sd.table("visits")
WARDS = sd.KeySet.from_dict({"ward": ["A", "B"]})


def opened(budget: sd.Budget | None = None) -> sd.Session:
    table = sd.PrivateTable(VISITS, protects=sd.AddRowsWithID("patient"))
    return sd.Session({"visits": table}, budget or sd.PureDP(10), engine="memory")


def typed(text: str, **known: Any) -> SordinoError:
    """Return what a cell with this text raises."""
    name = f"cell {abs(hash(text))}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    with pytest.raises(SordinoError) as raised:
        exec(compile(text, name, "exec"), {"__name__": "__main__", "sd": sd, **known})  # noqa: S102
    return raised.value


def test_a_notebook_shows_the_callers_lines_and_the_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None of our frames, however deep the refusal; all where it is asked for."""
    monkeypatch.delenv("SORDINO_TRACEBACK", raising=False)
    text = "def ask(scale):\n    return sd.Laplace(scale)\nx = 1\nask(-1)\n"
    error = typed(text)
    lines = error._render_traceback_()
    assert [line for line in lines if line.startswith("    ")][-2:] == [
        "    ask(-1)",
        "    return sd.Laplace(scale)",
    ]
    places = [re.fullmatch(r"cell \d+, line (\d+)", line) for line in lines]
    assert [place[1] for place in places if place] == ["4", "2"]
    assert lines[-1] == f"InvalidParameter: {error}"
    assert "src/sordino" not in "\n".join(lines)
    monkeypatch.setenv("SORDINO_TRACEBACK", "1")
    whole = "\n".join(error._render_traceback_())
    assert "laplace.py" in whole
    assert whole.endswith(f"sordino.errors.InvalidParameter: {error}")


DOORS = {
    "python": (IN_PYTHON, "limits=[sd.MaxGroupsPerID('ward', 2), ", "sd.ApproxDP("),
    "cell": (_IN_A_CELL, "limits = [sd.MaxGroupsPerID('ward', 2), ", "--delta 1e-6"),
    "options": (_BY_OPTIONS, "--max-groups-per-id ward=2 --max-rows-per-", "--delta"),
    "file": (_IN_A_FILE, "limits.max_groups_per_id = { ward = 2 }", "budget.delta"),
}


@for_each("name", DOORS)
def test_a_refusal_is_said_in_the_words_of_its_door(name: str) -> None:
    """The problem is the same, and the remedy names what can be written there."""
    door, limits, delta = DOORS[name]
    session = opened()
    by_ward = TABLE.group_by("ward")
    bounded = TABLE.enforce(sd.MaxRowsPerID(2)).group_by("ward")
    for asked, said in (
        (by_ward.agg(n=sd.count()), limits),
        (by_ward.agg(n=sd.count_ids()), limits[:26].rstrip(", ")),
        (TABLE.agg(n=sd.count()), "5"),
        (bounded.agg(n=sd.count()), delta),
    ):
        with pytest.raises(InvalidQuery) as plain:
            session.price(asked, sd.PureDP(1))
        with pytest.raises(InvalidQuery) as spoken, word_needs(door):
            session.price(asked, sd.PureDP(1))
        assert said in str(spoken.value)
        assert spoken.value.problem in str(plain.value)
        assert ".enforce(" not in str(spoken.value)
        assert "suggest" not in str(spoken.value)
    both = TABLE.group_by("ward", "sex").agg(n=sd.count())
    with pytest.raises(InvalidQuery, match="5"), word_needs(door):
        session.price(both, sd.ApproxDP(1, "1e-6"))  # an option takes one column
    assert not session.history()


def test_sql_in_python_speaks_of_its_arguments() -> None:
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    with pytest.raises(
        InvalidQuery, match=r"Give limits=\[sd\.MaxGroupsPerID\('ward', 2\)"
    ):
        opened().sql(text, sd.ApproxDP(1, "1e-6"))
    with pytest.raises(InvalidQuery, match=r'keys=\{"ward"'):
        opened().sql(text, sd.PureDP(1), limits=sd.MaxRowsPerID(2))


ASKED = {
    "text": lambda: TABLE.agg(n=sd.sum("ward", 0, 1)),
    "of two": lambda: TABLE.agg(n=sd.mean(sd.col("ward") + sd.col("sex"), 0, 1)),
    "no bounds": lambda: TABLE.agg(n=sd.mean("days")),
    "quantile": lambda: TABLE.agg(n=sd.median("ward", 0, 1)),
}


@for_each("asked", ASKED.values(), ids=ASKED)
def test_a_remedy_names_no_column_that_is_not_there(asked: Any) -> None:
    with pytest.raises(InvalidQuery) as raised:
        opened().price(asked(), sd.PureDP(1))
    named = re.findall(r"col\(['\"](\w+)['\"]\)|mean\('(\w+)'", str(raised.value))
    assert {name for pair in named for name in pair if name} <= set(VISITS)


PAIR = {
    "keys": (WARDS, sd.KeySet.from_dict({"ward": ["A", "C"]})),
    "many": tuple(
        sd.KeySet.from_dict({"ward": [*map(str, range(99)), last]}) for last in "xy"
    ),
    "long": tuple(sd.KeySet.from_dict({"ward": ["a" * 99 + last]}) for last in "xy"),
    "types": (
        sd.KeySet.from_dict({"ward": ["1", "2"]}),
        sd.KeySet.from_dict({"ward": [1, 2]}),
    ),
}


@for_each("pair", PAIR.values(), ids=PAIR)
def test_requests_of_other_keys_never_look_alike(
    pair: tuple[sd.KeySet, sd.KeySet],
) -> None:
    one, other = (repr(TABLE.group_by(keys).agg(n=sd.count())) for keys in pair)
    assert one != other
    assert max(map(len, (one, other))) < 200
    pairs = [TABLE.marginals(keys, order=1) for keys in pair]
    assert repr(pairs[0]) != repr(pairs[1])


def test_requests_of_other_weights_or_orders_never_look_alike() -> None:
    both: dict[str, Any] = {"n": sd.count(), "d": sd.sum("days", 0, 30)}
    asked = [
        TABLE.group_by(WARDS, "sex").agg(**both),
        TABLE.group_by("sex", WARDS).agg(**both),
        TABLE.group_by(WARDS, "sex").agg(**both, weights={"n": 2}),
        TABLE.group_by(WARDS, "sex").agg(**both, weights={"n": "1/3"}),
        TABLE.group_by(WARDS, "sex").agg(**both, weights={"keys": 2}),
        TABLE.group_by(WARDS, "sex").agg(**both, coverage=True),
        TABLE.group_by(WARDS, "sex").agg(
            **both, coverage=True, weights={"coverage": 2}
        ),
        TABLE.cumulative("ward", ["A", "B"], n=sd.count()),
        TABLE.cumulative("ward", ["B", "A"], n=sd.count()),
    ]
    assert len(set(map(repr, asked))) == len(asked)


def test_the_history_is_a_table_of_what_was_asked() -> None:
    session = opened(sd.ApproxDP(5, "1e-5"))
    assert repr(session.history()) == "no release was charged yet"
    bounded = TABLE.filter(sd.col("days") > 1).enforce(sd.MaxRowsPerID(2))
    session.release(
        bounded.group_by(WARDS).agg(n=sd.count()), sd.PureDP("0.25"), key="one"
    )
    session.release(bounded.agg(m=sd.median("days", 0, 30)), sd.PureDP(1))
    head, first, second = repr(session.history()).splitlines()
    assert re.split(r"  +", head) == ["release", "when", "key", "asked", "for"]
    assert (
        first.endswith(
            "one  n = count() by ward of visits, filter col('days') > 1           "
            "epsilon = 0.25"
        )
        or "n = count() by ward of visits, filter col('days') > 1" in first
    )
    assert "m = median('days', 0, 30) of visits" in second
    history: Any = session.history()
    shown = history._repr_html_()
    assert "n = count() by ward of visits" in shown
    assert len(session.history()) == 2
    assert session.history()[0].asked == "PureDP(epsilon=1/4)"


def test_a_release_without_rows_says_what_a_group_had_to_reach() -> None:
    session = opened(sd.ApproxDP(5, "1e-5"))
    query = TABLE.enforce(sd.MaxRowsPerID(2)).group_by("ward").agg(n=sd.count())
    empty = session.release(query, sd.ApproxDP(1, "1e-9"), key="one")
    assert re.search(r"^no group reached about \d+ ids$", str(empty), re.MULTILINE)
    assert "no group reached about" in empty._repr_html_()
    # what was done to it afterwards may have left the rows out, and so may a reader
    assert "no rows" in str(empty.filter(sd.col("n") > 5))
    assert "no group was shown" in str(session.answer("one"))


def test_errors_in_ranks_have_a_column_of_their_own() -> None:
    """It follows its answer through renaming, and is lost where another is computed."""
    session = opened()
    asked = TABLE.enforce(sd.MaxRowsPerID(2)).agg(
        m=sd.median("days", 0, 30), n=sd.count()
    )
    release = session.release(asked, sd.PureDP(2))
    head, _, row = str(release).splitlines()[:3]
    assert head.split() == [
        *("m", "95%", "of", "the", "noise", "in", "ranks"),
        *("n", "±", "sd", "95%", "of", "the", "noise"),
    ]
    told = release.errors.to_pylist()[0]
    low, high = math.floor(told["m ranks low"]), math.ceil(told["m ranks high"])
    assert f"{low:,} to {high:,}" in row
    renamed = release.rename({"m": "middle"})
    assert renamed.errors["middle ranks low"] == release.errors["m ranks low"]
    assert f"{low:,} to {high:,}" in str(renamed)
    assert "in ranks" in release._repr_html_()
    assert "ranks" not in str(release.with_columns(m=sd.col("m") * 2))
    assert "in ranks" in str(release.with_columns(k=sd.col("n") * 2))
    both = release.join(renamed.rename({"n": "k"}))
    assert both.errors["middle before ranks low"] == release.errors["m ranks low"]


def test_noise_that_is_none_has_no_smallest_double() -> None:
    trial = sd.rehearsal(opened(), rows=50)
    asked = TABLE.enforce(sd.MaxRowsPerID(2)).agg(n=sd.count(), d=sd.mean("days", 0, 9))
    budget = sd.PureDP(10**12)
    price = trial.session.price(asked, sd.PureDP(5))
    assert "e-3" not in repr(price)
    table = sd.PrivateTable(VISITS, protects=sd.AddRowsWithID("patient"))
    with pytest.warns(sd.errors.WeakBudget):
        session = sd.Session({"visits": table}, budget, engine="memory")
    assert "e-3" not in repr(session.price(asked, budget)) + str(
        session.release(asked, budget)
    )


def test_the_error_of_a_mean_is_told_for_sizes() -> None:
    session, asked = (
        opened(),
        TABLE.enforce(sd.MaxRowsPerID(2)).agg(d=sd.mean("days", 0, 30)),
    )
    plain = session.price(asked, sd.PureDP(1))
    reach = plain.errors["d"].half_width
    assert f"±{reach / 100:.3g} for 100 rows" in repr(plain)
    one = session.price(asked, sd.PureDP(1), sizes=50)
    assert f": ±{reach / 50:.3g} for 50 rows" in repr(one)
    assert "for 50 rows" in one._repr_html_()
    for wrong in (0, -1, 1.5, "many", (100, None), True):
        with pytest.raises(SordinoError, match="sizes"):
            session.price(asked, sd.PureDP(1), sizes=wrong)  # type: ignore[arg-type]


def test_what_describes_itself_is_printed_in_a_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened()
    monkeypatch.delattr("sys.ps1", raising=False)
    described = session.describe()
    assert not capsys.readouterr().out
    session.describe()
    assert capsys.readouterr().out == f"{described!r}\n"
    print(session.describe())  # noqa: T201 once, and not twice
    assert capsys.readouterr().out == f"{described!r}\n"
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    session.describe()
    session._repr_html_()
    assert not capsys.readouterr().out


DAYS = [dt.date(2024, 2, 27) + dt.timedelta(days=place) for place in range(5)]
TIMES = pa.table({
    "day": pa.array([*DAYS, None], pa.date32()),
    "at_": pa.array(
        [dt.datetime.combine(day, dt.time(12 * (day.day % 2))) for day in DAYS]
        + [None],
        pa.timestamp("us"),
    ),
})
COMPARED: dict[str, tuple[Any, str]] = {
    "time and text": (sd.col("at_") >= "2024-02-29", "at_ >= '2024-02-29'"),
    "time and full text": (
        sd.col("at_") < "2024-02-29 12:00:00",
        "at_ < '2024-02-29 12:00:00'",
    ),
    "time and date": (
        sd.col("at_") <= dt.date(2024, 2, 28),
        "at_ <= DATE '2024-02-28'",
    ),
    "date and text": (sd.col("day") != "2024-02-29", "day != '2024-02-29'"),
    "date and time": (
        sd.col("day") >= dt.datetime(2024, 2, 28, 6),  # noqa: DTZ001
        "day >= TIMESTAMP '2024-02-28 06:00:00'",
    ),
    "columns": (sd.col("at_") == sd.col("day"), "at_ = day"),
    "list": (
        sd.col("day").is_in(["2024-02-29", "2024-03-01"]),
        "day IN ('2024-02-29', '2024-03-01')",
    ),
    "within": (
        sd.when(sd.col("at_") > "2024-02-28").then(1).otherwise(0) == 1,
        "CASE WHEN at_ > '2024-02-28' THEN 1 ELSE 0 END = 1",
    ),
}


@for_each(("name", "engine"), [(n, e) for n in COMPARED for e in ("memory", "duckdb")])
def test_times_compare_as_in_sql(name: str, engine: Any) -> None:
    """DuckDB itself is the judge of what a comparison means."""
    condition, text = COMPARED[name]
    counted = f"SELECT count(*) FROM times WHERE {text}"  # noqa: S608
    with duckdb.connect() as known:
        known.register("times", TIMES)
        wanted = known.execute(counted).fetchone()
    table = sd.PrivateTable(TIMES, protects=sd.AddOneRow())
    with pytest.warns(sd.errors.WeakBudget):
        session = sd.Session({"t": table}, sd.PureDP(10**6), engine=engine)
    asked = sd.table("t").filter(condition).agg(n=sd.count())
    assert (session.release(asked, sd.PureDP(10**5))["n"][0].as_py(),) == wanted
    added = sd.table("t").agg(n=sd.sum(sd.when(condition).then(1).otherwise(0), 0, 1))
    assert (session.release(added, sd.PureDP(10**5))["n"][0].as_py(),) == wanted


CONDITION = {
    "no time": sd.col("at_") >= "soon",
    "no day": sd.col("day") == "2024-02-30",
    "a text of a row": sd.col("at_").cast("text") >= dt.date(2024, 1, 1),
    "a number": sd.col("at_") >= 2024,
}


@for_each("condition", CONDITION.values(), ids=CONDITION)
def test_what_reads_as_no_time_is_refused(condition: Any) -> None:
    table = sd.PrivateTable(TIMES, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, sd.PureDP(1), engine="memory")
    with pytest.raises(InvalidQuery, match="2026"):
        session.release(sd.table("t").filter(condition).agg(n=sd.count()), sd.PureDP(1))
    assert not session.history()
