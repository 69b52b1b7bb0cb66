"""Shares: of a condition, and of a column of truths."""

import sordino as sd

ROWS = {"w": ["a", "a", "a", "b"], "yes": [True, False, None, True], "x": [1, 2, 3, 9]}
KEYS = sd.KeySet.from_dict({"w": ["a", "b"]})


def test_shares_are_means_of_truths() -> None:
    """A missing truth is left out of a mean, and is no success of a condition."""
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    for engine in ("memory", "duckdb"):
        session = sd.Session({"t": table}, sd.PureDP(10**9), engine=engine)
        asked = (
            sd
            .table("t")
            .group_by(KEYS)
            .agg(
                mean=sd.mean("yes"),
                share=sd.share(sd.col("yes")),
                old=sd.share(sd.col("x") > 2),
                number=sd.sum("yes"),
            )
        )
        release = session.release(asked, sd.PureDP(10**8))
        rows = [
            {name: round(row[name], 2) for name in release.names}
            for row in release.table.to_pylist()
        ]
        assert rows == [
            {"mean": 0.5, "share": 0.33, "old": 0.33, "number": 1},
            {"mean": 1.0, "share": 1.0, "old": 1.0, "number": 1},
        ]
        low, high = (
            release.errors[f"share {end}"][0].as_py() for end in ("low", "high")
        )
        assert 0 <= low <= 1 / 3 <= high <= 1
        assert not release.limits
