"""SQL in: what it becomes in Python, and what is refused, where and why."""

import datetime as dt
import pickle
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidSQL
from tests.batches import for_each, sampled, table_of
from tests.clinics import clinic
from tests.effort import often

__all__ = ["clinic"]

_NAMES: Final = (
    *("table", "col", "lit", "when", "count", "count_ids", "count_distinct", "sum"),
    *("mean", "variance", "stdev", "min", "max", "median", "quantile"),
    *("MaxRowsPerID", "MaxGroupsPerID", "MaxRowsPerGroupPerID"),
)
PYTHON: Final = {name: getattr(sd, name) for name in _NAMES} | {"datetime": dt}


AS_PYTHON: Final = {
    "SELECT COUNT(*) AS n FROM visits": "table('visits').agg(n=count())",
    "select Ward, count(*) n from VISITS group by WARD": (
        "table('visits').group_by('ward').agg(n=count())"
    ),
    "SELECT AVG(CLAMP(days, 0, 30)) AS d FROM visits WHERE day >= '2026-01-01'": (
        "table('visits').filter(col('day') >= datetime.date(2026, 1, 1))"
        ".agg(d=mean('days', 0, 30))"
    ),
    "SELECT COUNT(DISTINCT patient) AS n FROM visits": (
        "table('visits').agg(n=count_ids())"
    ),
    "SELECT VARIANCE(CLAMP(days, 0, 9)) AS v, STDDEV_POP(CLAMP(days, 0, 9)) AS s"
    " FROM visits": (
        "table('visits').agg(v=variance('days', 0, 9, ddof=1), s=stdev('days', 0, 9))"
    ),
    "SELECT COUNT(DISTINCT ward) AS n FROM visits": (
        "table('visits').agg(n=count_distinct('ward'))"
    ),
    "SELECT SUM(CASE WHEN ill THEN 1 ELSE 0 END) AS n FROM visits": (
        "table('visits').agg(n=sum(when(col('ill')).then(1).otherwise(0), 0, 1))"
    ),
    "SELECT AVG(EXTRACT(MONTH FROM day)) AS m FROM visits": (
        "table('visits').agg(m=mean(col('day').month(), 1, 12))"
    ),
    "SELECT ward FROM visits GROUP BY ward": "table('visits').group_by('ward').keys()",
    "SELECT DISTINCT ward FROM visits": "table('visits').group_by('ward').keys()",
    "SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY n DESC LIMIT 3": (
        "table('visits').group_by('ward').agg(n=count())"
        ".sort('n', descending=('n',)).limit(3).rename({'ward': 'w'})"
    ),
    "SELECT ward AS w, ward, COUNT(*) AS n FROM visits GROUP BY ward": (
        "table('visits').group_by('ward').agg(n=count())"
        ".with_columns(ward_2=col('ward')).select('ward_2', 'n')"
        ".rename({'ward': 'w', 'ward_2': 'ward'})"
    ),
    "SELECT YEAR(day) AS y, COUNT(*) AS n FROM visits GROUP BY y HAVING n > 9": (
        "table('visits').with_columns(y=col('day').year()).group_by('y')"
        ".agg(n=count()).filter(col('n') > 9)"
    ),
    "SELECT ward, SUM(CLAMP(days, 0, 9)) / COUNT(*) AS r FROM visits GROUP BY 1": (
        "table('visits').group_by('ward')"
        ".agg(sum_days=sum('days', 0, 9), count=count())"
        ".with_columns(r=col('sum_days').cast(to='i64') / col('count')).select('r')"
    ),
    "SELECT w.ward, COUNT(*) AS n FROM visits v JOIN wards w USING (ward) GROUP BY 1": (
        "table('visits').join_public('wards', on=['ward'], how='inner')"
        ".group_by('ward').agg(n=count())"
    ),
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward"
    " WHERE w.days = 1 AND v.days = 2": (
        "table('visits').join_public('wards', on=['ward'], how='left')"
        ".filter((col('days_right') == 1) & (col('days') == 2)).agg(n=count())"
    ),
    "SELECT AVG(CLAMP(n, 0, 9)) AS a"
    " FROM (SELECT patient, COUNT(*) AS n FROM visits WHERE ill GROUP BY patient)": (
        "table('visits').filter(col('ill')).per_id(n=count()).agg(a=mean('n', 0, 9))"
    ),
    "SELECT n, COUNT(*) AS people"
    " FROM (SELECT COUNT(DISTINCT ward) AS n FROM visits GROUP BY patient)"
    " GROUP BY n": (
        "table('visits').per_id(n=count_distinct('ward')).group_by('n')"
        ".agg(people=count())"
    ),
    "WITH p AS (SELECT patient AS who, ward, MAX(days) - MIN(days) AS span,"
    " BOOL_OR(ill) AS ill FROM visits GROUP BY 1, 2 HAVING COUNT(*) > 1)"
    " SELECT ward, AVG(CLAMP(span, 0, 9)) AS a FROM p WHERE ill GROUP BY ward": (
        "table('visits').per_id('ward', max_days=max('days'), min_days=min('days'),"
        " ill=max('ill'), count=count()).filter(col('count') > 1)"
        ".with_columns(span=col('max_days').cast(to='i64')"
        " - col('min_days').cast(to='i64')).select('patient', 'ward', 'span', 'ill')"
        ".rename({'patient': 'who'}).filter(col('ill')).group_by('ward')"
        ".agg(a=mean('span', 0, 9, nulls='drop'))"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, YEAR(day) AS y FROM visits)": (
        "table('visits').with_columns(y=col('day').year()).per_id('y').agg(n=count())"
    ),
    "SELECT SUM(d) AS s FROM (SELECT patient, MAX(CLAMP(days, 0, 9)) AS d FROM visits"
    " GROUP BY patient)": (
        "table('visits').per_id(d=max('days', 0, 9)).agg(s=sum('d'))"
    ),
    "SELECT COUNT(*) AS n FROM visits v JOIN"
    " (SELECT patient, SUM(days) AS all FROM visits GROUP BY 1) p"
    " ON v.patient = p.patient WHERE all > 5": (
        "table('visits').join_private(table('visits').per_id(all=sum('days')), "
        "on=['patient'], left=None, right=None).filter(col('all') > 5).agg(n=count())"
    ),
    "SELECT COUNT(*) AS n FROM visits JOIN tests USING (patient)": (
        "table('visits').join_private('tests', on=['patient'], left=None, right=None)"
        ".agg(n=count())"
    ),
    "SELECT COUNT(*) AS n FROM visits v JOIN (SELECT * FROM tests WHERE result > 1) t"
    " ON v.patient = t.patient": (
        "table('visits').join_private(table('tests').filter(col('result') > 1.0), "
        "on=['patient'], left=None, right=None).agg(n=count())"
    ),
    "SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY 1": (
        "table('visits').with_columns(m=col('day').strftime(layout='%Y-%m')).group_by('m')"
        ".agg(n=count())"
    ),
    "WITH w AS (SELECT ward, days + 1 AS d FROM visits WHERE ill)"
    " SELECT COUNT(*) AS n FROM w WHERE d > 1": (
        "table('visits').filter(col('ill')).with_columns(d=col('days') + 1)"
        ".select('ward', 'd').filter(col('d') > 1).agg(n=count())"
    ),
    "SELECT MEDIAN(CLAMP(days, 0, 9)) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP"
    " (ORDER BY CLAMP(cost, 0, 5)) AS p FROM visits": (
        "table('visits').agg(m=median('days', 0, 9), p=quantile('cost', '9/10', 0, 5))"
    ),
    "SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN"
    " (SELECT w.ward FROM Wards w WHERE w.ward > 'A')": (
        "table('visits').filter(~col('ward').is_in(['B'])).agg(n=count())"
    ),
    "SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN"
    " (SELECT NULLIF(ward, 'A') FROM wards)": (
        "table('visits').filter(~when(col('ward').is_in(['B'])).then(True)"
        ".otherwise(None)).agg(n=count())"
    ),
    "SELECT COUNT(*) AS n FROM visits WHERE \"Name\" = 'x'": (
        "table('visits').filter(col('Name') == 'x').agg(n=count())"
    ),
}


@for_each("text", AS_PYTHON)
def test_a_text_is_the_python_that_it_prints(clinic: sd.Session, text: str) -> None:
    found = clinic.sql(text)
    assert isinstance(found, sd.Request)
    assert repr(found) == AS_PYTHON[text]
    again = eval(repr(found), dict(PYTHON))  # noqa: S307 our own text
    assert again.words(clinic._desk.catalog) == found.words(clinic._desk.catalog)
    assert repr(again) == repr(found)


REFUSED = table_of("refused/sql")
DIALECTS = ["duckdb", "postgres", "spark", "bigquery"]


def test_a_release_has_the_confidence_that_is_asked_for(clinic: sd.Session) -> None:
    limits, budget = [sd.MaxRowsPerID(1)], sd.ApproxDP("0.1", "1e-7")
    for groups in ("ward", "ROLLUP(ward)"):
        text = f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY {groups}"  # noqa: S608
        release = clinic.sql(text, budget, limits=limits, confidence="0.9")
        assert isinstance(release, sd.Release)
        assert "90%" in str(release)


@for_each("marked", REFUSED)
def test_a_refusal_names_its_place(clinic: sd.Session, marked: str) -> None:
    text = marked.replace("[", "").replace("]", "")
    left = clinic.remaining
    with pytest.raises(InvalidSQL, match=REFUSED[marked]) as refused:
        clinic.sql(text, sd.ApproxDP(1, "1e-6"))
    assert clinic.remaining == left
    row, carets = str(refused.value).split("\n")[2:4]
    assert row.strip() == text
    if "[" in marked:
        start = marked.index("[")
        within = text[start : marked.index("]") - 1]
        place = refused.value.column - 1
        assert start <= place + 1
        assert text[place : place + 3] in text
        assert carets.index("^") == place + 4
        assert within in text
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.line, again.column) == (
        str(refused.value),
        refused.value.line,
        refused.value.column,
    )


@sampled(28)
@for_each(
    "text",
    [
        *(
            "",
            "   ",
            ";",
            "SELECT",
            "SELECT 1",
            "SELECT 'a",
            "((((",
            "SELECT FROM visits",
        ),
        *("SELECT a,, b FROM visits", "SELECT COUNT(*) FROM", "\x00", "SELECT \ud800"),
        *("NOT " * 200 + "x", "SELECT " + "(" * 500, "SELECT " + "-" * 500 + "1"),
        *("SELECT COUNT(*) FROM visits WHERE days = 99999999999999999999999",),
        *("SELECT COUNT(*) FROM visits WHERE cost < 1e999", "VALUES (1)", "\n\n)"),
        *("SELECT " + "COALESCE(" * 60 + "1" + ")" * 60, "SELECT ? FROM visits"),
        *("SELECT COUNT(*) FROM visits WHERE ward = $1", "SELECT @x FROM visits"),
        *("SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR ward IN ('A'))",),
        *("SELECT COUNT(*) FROM visits QUALIFY 1 = 1", "CREATE TABLE x AS SELECT 1"),
        *("COPY visits TO 'x'", "ATTACH 'x'", "SET x = 1", "PRAGMA x", "SELECT [1, 2]"),
        *("SELECT COUNT(*) INTO x FROM visits", "SELECT {'a': 1}", "FROM visits"),
        *(
            "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1)",
            "WITH x AS (SELECT 1)",
        ),
        *("WITH RECURSIVE w AS (SELECT * FROM visits) SELECT COUNT(*) FROM w",),
        *(
            "SELECT COUNT(*) FROM other.visits",
            "SELECT COUNT(*) FROM visits TABLESAMPLE 5",
        ),
        *("SELECT COUNT(*) FROM visits" + " JOIN wards USING (ward)" * 2,),
        *("SELECT LOWER(ward) AS ward, COUNT(*) FROM visits GROUP BY visits.ward",),
        *(
            "SELECT TOP 5 ward FROM visits",
            "SELECT COUNT(*) FILTER (WHERE 1) FROM visits",
        ),
    ],
    ids=lambda text: repr(text[:30]),
)
@for_each("dialect", DIALECTS)
def test_bad_texts_are_refused_by_our_own_errors(
    clinic: sd.Session, text: str, dialect: Any
) -> None:
    assert told(clinic, text, dialect) < 900


@for_each(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE " + "ill AND " * 3000 + "ill",
        "SELECT SUM(CLAMP(" + "days + " * 3000 + "1, 0, 9)) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE ward = " + "'a' || " * 2000 + "ward",
        "SELECT " + "COUNT(*) + " * 2000 + "1 FROM visits",
        "SELECT COUNT(*) FROM visits WHERE days IN (" + "1, " * 12000 + "1)",
    ],
    ids=lambda text: repr(text[:50]),
)
@for_each("dialect", DIALECTS[: often(1, 4)])
def test_long_texts_are_refused_by_our_own_errors(
    clinic: sd.Session, text: str, dialect: Any
) -> None:
    assert told(clinic, text, dialect) < 900


def told(clinic: sd.Session, text: str, dialect: Any) -> int:
    """Return the length of what is said of a text, 0 of one that is understood."""
    try:
        clinic.sql(text, dialect=dialect)
    except sd.errors.SordinoError as error:
        return len(str(error))
    return 0


def test_a_comment_that_spark_continues_is_refused(clinic: sd.Session) -> None:
    """Behind a backslash at its end the next line is of the comment, in Spark alone."""
    with pytest.raises(InvalidSQL, match="reads this comment alike"):
        clinic.sql("SELECT COUNT(*) FROM visits -- all \\\nWHERE ill", dialect="spark")
    assert clinic.sql("SELECT COUNT(*) FROM visits -- {\nWHERE ill")


@for_each(
    "given",
    [
        *({"bounds": {"days": 3}}, {"bounds": [1]}, {"bounds": {"cost": (0, 9)}}),
        *({"keys": {"ward": ["A"]}}, {"keys": 5}, {"limits": 5}, {"limits": "x"}),
        *({"limits": [5]}, {"dialect": "mysql"}, {"dialect": 5}),
    ],
)
def test_what_is_said_beside_a_text_is_checked(
    clinic: sd.Session, given: dict[str, Any]
) -> None:
    with pytest.raises(sd.errors.SordinoError):
        clinic.sql("SELECT COUNT(*) AS n FROM visits", **given)


def test_bounds_limits_and_keys_are_used(clinic: sd.Session) -> None:
    request = clinic.sql(
        "SELECT ward, AVG(days) AS d FROM visits GROUP BY ward",
        bounds={"days": (0, 30)},
        limits=sd.MaxRowsPerID(2),
        keys={"ward": ["A", "B"]},
    )
    keys = sd.KeySet.from_dict({"ward": ["A", "B"]})
    wanted = (
        sd
        .table("visits")
        .enforce(sd.MaxRowsPerID(2))
        .group_by(keys)
        .agg(d=sd.mean("days", 0, 30))
    )
    assert isinstance(request, sd.Request)
    assert request.words(clinic._desk.catalog) == wanted.words(clinic._desk.catalog)
