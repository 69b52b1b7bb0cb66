# ruff: noqa: ISC004 a text of two lines is one text
"""Published queries of other tools: as SQL, what is said beside it, and in Python.

They are those of Tumult's tutorials (T), OpenDP's (O), Google's codelabs (G),
PipelineDP (P), SmartNoise (N) and Wikimedia (M) that ask one table or join public ones.
"""

from typing import Any, Final

import sordino as sd

MEMBERS: Final = sd.table("members")
RESTAURANT: Final = sd.table("restaurant")
ROWS: Final = (sd.MaxRowsPerID(3),)
LEVELS: Final = {"education_level": ["high-school", "masters-degree"]}

STORIES: Final[dict[str, tuple[str, dict[str, Any], Any]]] = {
    "T1": (
        "SELECT COUNT(*) AS n FROM members",
        {},
        MEMBERS.agg(n=sd.count()),
    ),
    "T2": (
        "SELECT COUNT(*) AS n FROM members WHERE age < 18",
        {},
        MEMBERS.filter(sd.col("age") < 18).agg(n=sd.count()),
    ),
    "T3": (
        "SELECT COUNT(*) AS n FROM members WHERE education_level"
        " IN ('masters-degree', 'doctorate-professional')",
        {},
        MEMBERS.filter(
            sd.col("education_level").is_in([
                "masters-degree",
                "doctorate-professional",
            ])
        ).agg(n=sd.count()),
    ),
    "T7": (
        "SELECT AVG(CLAMP(age, 0, 120)) AS age FROM members",
        {},
        MEMBERS.agg(age=sd.mean("age", 0, 120)),
    ),
    "T8": (
        "SELECT SUM(books_borrowed) AS books FROM members",
        {"bounds": {"books_borrowed": (0, 200)}},
        MEMBERS.agg(books=sd.sum("books_borrowed", 0, 200)),
    ),
    "T9": (
        "SELECT education_level, AVG(CLAMP(age, 0, 120)) AS age FROM members"
        " GROUP BY education_level",
        {"keys": LEVELS},
        MEMBERS.group_by(sd.KeySet.from_dict(LEVELS)).agg(age=sd.mean("age", 0, 120)),
    ),
    "T10": (
        "SELECT age, COUNT(*) AS n FROM members WHERE age BETWEEN 5 AND 17"
        " GROUP BY age",
        {"keys": {"age": range(5, 18)}},
        MEMBERS
        .filter((sd.col("age") >= 5) & (sd.col("age") <= 17))
        .group_by(sd.KeySet.from_dict({"age": range(5, 18)}))
        .agg(n=sd.count()),
    ),
    "T13": (
        "SELECT DISTINCT name FROM members",
        {},
        MEMBERS.group_by("name").keys(),
    ),
    "T14": (
        "SELECT COUNT(DISTINCT name) AS names FROM members",
        {},
        MEMBERS.agg(names=sd.count_distinct("name")),
    ),
    "T15": (
        "SELECT AVG(CLAMP(age - (2026 - YEAR(date_joined)), 0, 120)) AS age"
        " FROM members",
        {},
        MEMBERS.agg(
            age=sd.mean(
                sd.col("age") - (2026 - sd.col("date_joined").year()),
                0,
                120,
                nulls="drop",
            )
        ),
    ),
    "T17": (
        "SELECT age // 10 AS decade, gender, COUNT(*) AS n FROM members GROUP BY 1, 2",
        {},
        MEMBERS
        .with_columns(decade=sd.col("age").quotient(10))
        .group_by("decade", "gender")
        .agg(n=sd.count()),
    ),
    "T19": (
        "SELECT city, COUNT(*) AS n FROM members JOIN zip_codes USING (zip_code)"
        " GROUP BY city",
        {},
        MEMBERS
        .join_public("zip_codes", on="zip_code")
        .group_by("city")
        .agg(n=sd.count()),
    ),
    "O3": (
        "SELECT SUM(CLAMP(COALESCE(hours, 35), 0, 80)) AS hours FROM members"
        " WHERE hours <> 99",
        {},
        MEMBERS.filter(sd.col("hours") != 99).agg(
            hours=sd.sum(sd.col("hours").coalesce(35), 0, 80)
        ),
    ),
    "O6": (
        "SELECT MEDIAN(CLAMP(hours, 0, 80)) AS m FROM members",
        {},
        MEMBERS.agg(m=sd.median("hours", 0, 80)),
    ),
    "O9": (
        "SELECT gender, married, COUNT(*) AS n FROM members GROUP BY ALL",
        {"keys": {"gender": ["f", "m"], "married": [True, False]}},
        MEMBERS.group_by(
            sd.KeySet.from_dict({"gender": ["f", "m"], "married": [True, False]})
        ).agg(n=sd.count()),
    ),
    "G1": (
        "SELECT HOUR(entered) AS hour, COUNT(DISTINCT visitor) AS n FROM restaurant"
        " GROUP BY hour",
        {"keys": {"hour": range(9, 21)}, "limits": [sd.MaxGroupsPerID("hour", 2)]},
        RESTAURANT
        .with_columns(hour=sd.col("entered").hour())
        .enforce(sd.MaxGroupsPerID("hour", 2))
        .group_by(sd.KeySet.from_dict({"hour": range(9, 21)}))
        .agg(n=sd.count_ids()),
    ),
    "G2": (
        "SELECT COUNT(*) AS n, AVG(CLAMP(minutes, 0, 60)) AS m,"
        " SUM(CLAMP(spent, 0, 40)) AS s FROM restaurant",
        {"limits": ROWS},
        RESTAURANT.enforce(*ROWS).agg(
            n=sd.count(), m=sd.mean("minutes", 0, 60), s=sd.sum("spent", 0, 40)
        ),
    ),
    "G3": (
        "SELECT day, COUNT(DISTINCT visitor) AS n FROM restaurant GROUP BY day",
        {"limits": [sd.MaxGroupsPerID("day", 3)]},
        RESTAURANT
        .enforce(sd.MaxGroupsPerID("day", 3))
        .group_by("day")
        .agg(n=sd.count_ids()),
    ),
    "P4": (
        "SELECT day, AVG(CASE WHEN spent > 20 THEN 1 ELSE 0 END) AS rate"
        " FROM restaurant GROUP BY day",
        {"limits": ROWS, "keys": {"day": range(1, 8)}},
        RESTAURANT
        .enforce(*ROWS)
        .group_by(sd.KeySet.from_dict({"day": range(1, 8)}))
        .agg(rate=sd.mean(sd.when(sd.col("spent") > 20.0).then(1).otherwise(0), 0, 1)),
    ),
    "N1": (
        "SELECT married, COUNT(*) AS n, AVG(CLAMP(income, 0, 500000)) AS income"
        " FROM members GROUP BY married ORDER BY n DESC",
        {},
        MEMBERS
        .group_by("married")
        .agg(n=sd.count(), income=sd.mean("income", 0, 500000))
        .sort("n", descending=True),
    ),
    "M2": (
        "SELECT country, page, COUNT(*) AS views FROM views GROUP BY country, page"
        " HAVING COUNT(*) >= 90",
        {
            "limits": [
                sd.MaxGroupsPerID(("country", "page"), 10),
                sd.MaxRowsPerGroupPerID(("country", "page"), 1),
            ]
        },
        sd
        .table("views")
        .enforce(
            sd.MaxGroupsPerID(("country", "page"), 10),
            sd.MaxRowsPerGroupPerID(("country", "page"), 1),
        )
        .group_by("country", "page")
        .agg(views=sd.count())
        .filter(sd.col("views") >= 90),
    ),
    "T20": (
        "SELECT page, COUNT(*) AS n FROM views GROUP BY page ORDER BY n DESC LIMIT 10",
        {"limits": [sd.MaxRowsPerID(20)]},
        sd
        .table("views")
        .enforce(sd.MaxRowsPerID(20))
        .group_by("page")
        .agg(n=sd.count())
        .sort("n", descending=True)
        .limit(10),
    ),
    "T23 mean": (
        "SELECT AVG(CLAMP(n, 0, 20)) AS m FROM"
        " (SELECT visitor, COUNT(*) AS n FROM restaurant GROUP BY visitor) p",
        {},
        RESTAURANT.per_id(n=sd.count()).agg(m=sd.mean("n", 0, 20)),
    ),
    "T23 distribution": (
        "SELECT n, COUNT(*) AS visitors FROM"
        " (SELECT visitor, COUNT(*) AS n FROM restaurant GROUP BY visitor) p"
        " GROUP BY n",
        {"keys": {"n": range(1, 8)}},
        RESTAURANT
        .per_id(n=sd.count())
        .group_by(sd.KeySet.from_dict({"n": range(1, 8)}))
        .agg(visitors=sd.count()),
    ),
    "O4": (
        "SELECT SUM(CLAMP(hours, 0, 80)) AS s, COUNT(*) AS n FROM members",
        {},
        MEMBERS.agg(s=sd.sum("hours", 0, 80), n=sd.count()),
    ),
    "O7": (
        "SELECT COUNT(DISTINCT gender) AS genders, COUNT_IF(income IS NULL) AS gaps"
        " FROM members",
        {},
        MEMBERS.agg(
            genders=sd.count_distinct("gender"),
            gaps=sd.sum(sd.when(sd.col("income").is_null()).then(1).otherwise(0), 0, 1),
        ),
    ),
    "O8": (
        "SELECT age, gender, COUNT(*) AS n FROM members GROUP BY age, gender",
        {},
        MEMBERS.group_by("age", "gender").agg(n=sd.count()),
    ),
    "O10": (
        "SELECT day, AVG(CLAMP(minutes, 0, 60)) AS m FROM restaurant GROUP BY day",
        {"limits": [sd.MaxRowsPerGroupPerID("day", 10), sd.MaxGroupsPerID("day", 7)]},
        RESTAURANT
        .enforce(sd.MaxRowsPerGroupPerID("day", 10), sd.MaxGroupsPerID("day", 7))
        .group_by("day")
        .agg(m=sd.mean("minutes", 0, 60)),
    ),
    "O13": (
        "SELECT AVG(CLAMP(first, 0, 60)) AS m FROM"
        " (SELECT visitor, MIN(minutes) AS first FROM restaurant GROUP BY visitor) p",
        {},
        RESTAURANT.per_id(first=sd.min("minutes")).agg(m=sd.mean("first", 0, 60)),
    ),
    "G4": (
        "SELECT day, SUM(CLAMP(s, 10, 50)) AS s FROM"
        " (SELECT visitor, day, SUM(CLAMP(spent, 0, 50)) AS s"
        " FROM restaurant GROUP BY visitor, day) p GROUP BY day",
        {"limits": [sd.MaxGroupsPerID("day", 3)]},
        RESTAURANT
        .per_id("day", s=sd.sum("spent", 0, 50))
        .enforce(sd.MaxGroupsPerID("day", 3))
        .group_by("day")
        .agg(s=sd.sum("s", 10, 50)),
    ),
    "P1": (
        "SELECT day, COUNT(DISTINCT visitor) AS visitors, COUNT(*) AS visits,"
        " SUM(CLAMP(spent, 0, 40)) AS spent FROM restaurant GROUP BY day",
        {"limits": [sd.MaxGroupsPerID("day", 3), sd.MaxRowsPerGroupPerID("day", 2)]},
        RESTAURANT
        .enforce(sd.MaxGroupsPerID("day", 3), sd.MaxRowsPerGroupPerID("day", 2))
        .group_by("day")
        .agg(
            visitors=sd.count_ids(),
            visits=sd.count(),
            spent=sd.sum("spent", 0, 40),
        ),
    ),
    "T11": (
        "SELECT age, education_level, COUNT(*) AS n FROM members"
        " GROUP BY age, education_level",
        {"keys": {"age": range(18, 23), **LEVELS}},
        MEMBERS.group_by(sd.KeySet.from_dict({"age": range(18, 23), **LEVELS})).agg(
            n=sd.count()
        ),
    ),
    "P2": (
        "SELECT DISTINCT day FROM restaurant",
        {"limits": [sd.MaxGroupsPerID("day", 3)]},
        RESTAURANT.enforce(sd.MaxGroupsPerID("day", 3)).group_by("day").keys(),
    ),
}

LINES: Final[dict[str, tuple[int, int, int]]] = {
    "T1": (11, 2, 1),
    "T2": (5, 3, 2),
    "T3": (9, 3, 2),
    "T7": (5, 2, 1),
    "T8": (5, 2, 1),
    "T9": (17, 3, 2),
    "T10": (10, 4, 3),
    "T11": (17, 3, 2),
    "T13": (14, 2, 2),
    "T14": (5, 2, 1),
    "T15": (20, 2, 1),
    "T17": (14, 3, 3),
    "T19": (16, 3, 3),
    "T20": (8, 5, 5),
    "O3": (8, 3, 2),
    "O4": (9, 2, 1),
    "O6": (9, 2, 1),
    "O7": (4, 2, 1),
    "O8": (4, 3, 2),
    "O9": (9, 3, 2),
    "O10": (6, 3, 3),
    "O13": (8, 5, 2),
    "G1": (15, 3, 4),
    "G2": (30, 2, 2),
    "G3": (5, 3, 3),
    "G4": (5, 6, 4),
    "P1": (22, 3, 3),
    "P2": (15, 2, 3),
    "P4": (25, 3, 3),
    "N1": (3, 4, 3),
    "M2": (10, 4, 4),
}
"""The lines of each as it was published, without imports, data and pictures; in SQL, a
line for each clause; and in Python, a line for each verb.

The tool of T23 cannot ask it.
"""
