"""What a user hands over: an address of a server, and the name of a table there.

sd.PrivateTable(("postgresql://reader@db.clinic/base", "visits"), protects=...)
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from sordino.engines.failures import run_uncharged
from sordino.engines.postgres.server import Server
from sordino.engines.postgres.server_tables import TableOfServer
from sordino.engines.postgres.table_facts import facts_of, place_of
from sordino.errors import EngineUnavailable, InvalidParameter, show
from sordino.schema import Column
from sordino.sources.base import AbstractSource


def of_address(pair: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of (address, name of a table)."""
    del declared
    address, name = pair
    return run_uncharged(lambda: _checked(Server(str(address)), str(name)))


def _checked(server: Server, name: str) -> TableOfServer:
    """Return a table by its name, as SQL would find it: schema.table, or table."""
    place = place_of(server, name)
    if place is None:
        raise EngineUnavailable(
            f"there is no table {show(name)} in this database that the role sees: name "
            "it as schema.table, in quotes where it has capital letters",
            lasts=True,
        )
    table = TableOfServer(server, facts_of(server, *place))
    table.check()
    return table


def of_nothing(address: Any, declared: Mapping[str, Column]) -> NoReturn:
    """Refuse an address without the name of a table, and do not show it."""
    del address, declared
    raise InvalidParameter(
        "source",
        "an address",
        "must be (address, name of a table)",
        'Try ("postgresql://role@host/database", "schema.table").',
    )
