"""Whatever a function of a row returns, the other rows go on."""

from typing import Any

import sordino as sd
from sordino.engines.doors import EngineName
from tests.batches import for_each


class Liar(dict[str, int]):  # noqa: FURB189 a mapping, and no more
    """A mapping that fails when it is asked what it is."""

    @property
    def __class__(self) -> Any:
        raise ValueError

    @__class__.setter
    def __class__(self, _: Any) -> None:
        """Stay."""


def _odd(row: Any) -> Any:
    return Liar(z=1) if row["id"] == 5 else {"z": 1}


@for_each("engine", ["duckdb", "memory"])
@for_each("flat", [True, False])
def test_an_object_that_lies_about_its_class(engine: EngineName, *, flat: bool) -> None:
    rows = {"id": list(range(10))}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns={"id": "i64"})
    session = sd.Session({"t": table}, sd.PureDP(1), engine=engine)
    query: Any = sd.table("t")
    if flat:
        query = query.flat_map(lambda row: [_odd(row)], {"z": "i64"}, max_rows=1)
    else:
        query = query.with_columns(sd.udf(_odd, {"z": "i64"}))
    price = session.price(query.agg(z=sd.sum("z", 0, 1, nulls=0)), sd.PureDP(1))
    exact = session._desk.engine.answer(price._purchase.plan.question)
    assert exact["total 0"].to_pylist()[0] in {9, 10}
