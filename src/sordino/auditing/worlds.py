"""Small databases of several tables, and databases that differ by one protected change.

A world holds two private tables, `visits` and `stays`, that protect rows or the ids of
one space, and two public tables. All values come from small pools, so that rows, keys
and ids meet; the hard values of each type are among them.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

import pyarrow as pa

import sordino as sd
from sordino.auditing.dice import Dice
from sordino.data.units import AbstractUnit
from sordino.engines.engine import AbstractEngine
from sordino.losses.budgets.blocks import WHOLE
from sordino.session.tables import Catalog, keep_open_blocks, open_catalog

Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = tuple[Row, ...]
Database: TypeAlias = Mapping[str, Rows]

POOLS: Final[Mapping[str, tuple[Any, ...]]] = {
    "id": (1, 2, 3, None),
    "g": ("a", "b", "c", None, "a "),
    "h": (0, 1, 2, None),
    "x": (3, 0, 10, -4, 7, None, 2**63 - 1, -(2**63)),
    "y": (2.5, 0.0, -0.0, 7.25, 0.1, None, math.nan, math.inf, -math.inf, -3.0),
    "codes": ([1, 2, 2], [3], [], None, [3, None, 1]),
    "z": ("1", "x", None, "2.5", "0"),
}
PRIVATE: Final = {
    "id": pa.int64(),
    "g": pa.string(),
    "h": pa.int64(),
    "x": pa.int64(),
    "y": pa.float64(),
    "codes": pa.list_(pa.int64()),
    "z": pa.string(),
}
DECLARED: Final = {"z": sd.Column("i64")}
"""Some of its texts are no integers."""
PUBLIC: Final = {"g": pa.string(), "y": pa.float64(), "h": pa.int64(), "x": pa.int64()}
STRANGERS: Final = (4, 0)
"""Ids that no database holds before one of them is added."""
_MOST: Final = 7


@final
@dataclass(frozen=True)
class DrawnWorld:
    """A database, whom its private tables protect, and its public tables."""

    units: Mapping[str, AbstractUnit]
    private: Database
    public: Database

    @property
    def protects_ids(self) -> bool:
        """Tell whether ids are protected, not rows."""
        return all(unit.id_column is not None for unit in self.units.values())

    def tables(
        self, database: Database, private: "OpenPrivate | None" = None
    ) -> dict[str, Any]:
        """Tables of a database, for a session; `private` opens rows in another form."""
        opened = sd.PrivateTable if private is None else private
        return {
            name: opened(arrow(rows, PRIVATE), self.units[name], DECLARED)
            for name, rows in database.items()
        } | {
            name: sd.PublicTable(arrow(rows, PUBLIC))
            for name, rows in self.public.items()
        }

    def catalog(
        self,
        engine: AbstractEngine,
        database: Database,
        private: "OpenPrivate | None" = None,
    ) -> Catalog:
        """Open the tables of a database in an engine."""
        return open_catalog(engine, self.tables(database, private))


BLOCKS: Final[Mapping[str, tuple[str, ...]]] = {
    "g": ("a", "b", "a "),
    "h": ("0", "1"),
}
"""Blocks that may be open, by column; there are rows of others, and of none."""


@final
@dataclass(frozen=True)
class BlockWorld:
    """A world in blocks: which column says so of each table, and what is open."""

    world: DrawnWorld
    columns: Mapping[str, str | None]
    names: tuple[str, ...]

    def catalog(self, engine: AbstractEngine, database: Database) -> Catalog:
        """Catalog of a database, of which open blocks are read."""
        catalog = self.world.catalog(engine, database)
        catalog.block_columns.update(self.columns)
        keep_open_blocks(catalog, sd.Blocks(names=self.names), (WHOLE, *self.names))
        return catalog

    def tables(self, database: Database) -> dict[str, Any]:
        """Tables of a database, for a session with these blocks."""
        return self.world.tables(database) | {
            name: sd.PrivateTable(
                arrow(rows, PRIVATE),
                self.world.units[name],
                DECLARED,
                blocks=self.columns[name],
            )
            for name, rows in database.items()
        }

    def block(self, table: str, cells: Row) -> str | None:
        """Block of a row, None if it is of none that is open."""
        column = self.columns[table]
        if column is None:
            return WHOLE
        value = cells[list(PRIVATE).index(column)]
        return str(value) if str(value) in self.names and value is not None else None

    def person(self, dice: Dice, banned: frozenset[str]) -> tuple[Any, Database]:
        """Draw somebody's rows, none of them in some blocks, and the id if there is."""
        stranger = dice.one(STRANGERS) if self.world.protects_ids else None
        rows = {}
        for table, unit in self.world.units.items():
            most = getattr(unit, "max_rows", 4)
            drawn_rows = (row(dice, PRIVATE) for _ in range(dice.between(0, most)))
            own = [
                (stranger, *cells[1:]) if stranger is not None else cells
                for cells in drawn_rows
            ]
            rows[table] = tuple(
                cells for cells in own if self.block(table, cells) not in banned
            )
        return stranger, rows

    def blocks_of(self, rows: Database) -> frozenset[str | None]:
        """Return the blocks that some rows are of, None among them for rows of none."""
        return frozenset(
            self.block(table, cells) for table, own in rows.items() for cells in own
        )


def block_world(dice: Dice) -> BlockWorld:
    """Draw a world in blocks."""
    drawn = world(dice)
    if not drawn.protects_ids:
        units: dict[str, AbstractUnit] = {
            name: sd.AddMaxRows(dice.between(1, 3)) for name in drawn.units
        }
        drawn = replace(drawn, units=units)
    column = dice.one(tuple(BLOCKS))
    columns: dict[str, str | None] = dict.fromkeys(drawn.units, column)
    if dice.chance(1, 3):
        columns[dice.one(tuple(columns))] = None
    return BlockWorld(drawn, columns, tuple(dice.several(BLOCKS[column], 1, 3)))


OpenPrivate: TypeAlias = Callable[
    [pa.Table, AbstractUnit, Mapping[str, sd.Column]], sd.PrivateTable
]


def arrow(rows: Rows, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return rows as an Arrow table, in which NaN is not null."""
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    arrays = [
        pa.array(list(column), kind)
        for column, kind in zip(columns, types.values(), strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=list(types))


def world(dice: Dice) -> DrawnWorld:
    """Draw a database with few rows."""
    ids = dice.chance(1, 2)
    units: dict[str, AbstractUnit] = {
        name: sd.AddRowsWithID("id") if ids else dice.one(_UNITS)(dice)
        for name in ("visits", "stays")
    }
    private = {
        name: tuple(row(dice, PRIVATE) for _ in range(dice.below(_MOST)))
        for name in units
    }
    public = {
        name: tuple(row(dice, PUBLIC) for _ in range(dice.below(most)))
        for name, most in (("wards", 5), ("rates", 3))
    }
    return DrawnWorld(units, private, public)


def row(dice: Dice, names: Mapping[str, object]) -> Row:
    """Draw a row of some columns."""
    return tuple(dice.one(POOLS[name]) for name in names)


def neighbour(dice: Dice, origin: DrawnWorld) -> Database:
    """Draw a database in which each private table differs by its own change."""
    if origin.protects_ids:
        return _neighbour_by_id(dice, origin.private)
    return {
        name: _CHANGES[type(unit)](dice, origin.private[name], unit)
        for name, unit in origin.units.items()
    }


def _neighbour_by_id(dice: Dice, database: Database) -> Database:
    """Add or remove all rows with one id, in every table."""
    if dice.chance(1, 2):
        gone = dice.one(POOLS["id"][:-1])
        return {
            name: tuple(cells for cells in rows if cells[0] != gone)
            for name, rows in database.items()
        }
    new = dice.one(STRANGERS)
    return {
        name: _mix(
            dice, rows, [(new, *row(dice, PRIVATE)[1:]) for _ in range(dice.below(6))]
        )
        for name, rows in database.items()
    }


def _rows_changed(dice: Dice, rows: Rows, most: int) -> Rows:
    """Remove and add rows, `most` together."""
    removed = dice.between(0, min(most, len(rows)))
    left = list(rows)
    for _ in range(removed):
        left.pop(dice.below(len(left)))
    return _mix(dice, left, [row(dice, PRIVATE) for _ in range(most - removed)])


def _one_changed(dice: Dice, rows: Rows, unit: AbstractUnit) -> Rows:
    del unit
    return _rows_changed(dice, rows, 1)


def _some_changed(dice: Dice, rows: Rows, unit: sd.AddMaxRows) -> Rows:
    return _rows_changed(dice, rows, unit.max_rows)


def _groups_changed(dice: Dice, rows: Rows, unit: sd.AddMaxRowsInMaxGroups) -> Rows:
    """Change rows in some values of the column, so many in each."""
    place = list(PRIVATE).index(unit.column)
    for value in dice.several(POOLS[unit.column], 1, unit.max_groups):
        inside = tuple(cells for cells in rows if cells[place] == value)
        outside = [cells for cells in rows if cells[place] != value]
        changed = [
            (*cells[:place], value, *cells[place + 1 :])
            for cells in _rows_changed(dice, inside, unit.max_rows_per_group)
        ]
        rows = _mix(dice, outside, changed)
    return rows


def _row_replaced(dice: Dice, rows: Rows, unit: AbstractUnit) -> Rows:
    """Put another row in the place of one; their number stays."""
    del unit
    if not rows:
        return rows
    left = list(rows)
    left.pop(dice.below(len(left)))
    return _mix(dice, left, [row(dice, PRIVATE)])


def _total_changed(dice: Dice, rows: Rows, unit: sd.AddMaxTotal) -> Rows:
    """Change numbers of a column by so much in all, one by one; rows come and leave.

    A row whose number is missing, or below 1, may come, leave, or change as it likes.
    """
    place = list(PRIVATE).index(unit.column)
    changed = list(rows)
    added = Counter[Row]()
    for _ in range(unit.max_total):
        before = tuple(changed)
        cell = _add_one(dice, changed, place, unit)
        added[cell] += 1
        if isinstance(unit.in_each, tuple) and added[cell] > int(unit.in_each[-1]):
            changed = list(before)
    return tuple(changed)


def _add_one(dice: Dice, changed: list[Row], place: int, unit: sd.AddMaxTotal) -> Row:
    """Change one number by one, or a row that has none; return the cell it is in."""
    at = dice.between(0, len(changed))
    if at == len(changed):
        cells = list(row(dice, PRIVATE))
        cells[place] = dice.one((1, 0, None, -4))
        changed.insert(dice.between(0, len(changed)), tuple(cells))
        return _cell_of(cells, unit)
    cells = list(changed.pop(at))
    number = cells[place]
    if number is None or number < 1:
        cells = list(row(dice, PRIVATE))
        cells[place] = dice.one((1, 0, None))
    elif number > 1:
        cells[place] += dice.one((-1, 1)) if number < 2**63 - 1 else -1
    elif dice.chance(1, 2):
        return _cell_of(cells, unit)  # its last unit leaves, and the row with it
    else:
        cells[place] += 1
    changed.insert(at, tuple(cells))
    return _cell_of(cells, unit)


def _cell_of(cells: Sequence[Any], unit: sd.AddMaxTotal) -> Row:
    named = unit.in_each[:-1] if isinstance(unit.in_each, tuple) else ()
    return tuple(cells[list(PRIVATE).index(str(name))] for name in named)


def _mix(dice: Dice, rows: Sequence[Row], added: Sequence[Row]) -> Rows:
    """Put rows at any places among others."""
    mixed = list(rows)
    for cells in added:
        mixed.insert(dice.between(0, len(mixed)), cells)
    return tuple(mixed)


def draw_total_unit(dice: Dice) -> sd.AddMaxTotal:
    """Draw what people add, in all and in each cell."""
    column, most = dice.one(("h", "x")), dice.between(1, 3)
    if dice.chance(1, 2):
        return sd.AddMaxTotal(column, most)
    named = dice.several(["g", "h" if column == "x" else "x"], 1, 2)
    return sd.AddMaxTotal(column, most, in_each=(*named, dice.between(1, 2)))


_UNITS: Final[tuple[Callable[[Dice], AbstractUnit], ...]] = (
    lambda _: sd.AddOneRow(),
    lambda dice: sd.AddMaxRows(dice.between(1, 3)),
    lambda dice: sd.AddMaxRowsInMaxGroups(
        dice.one(("g", "h", "x")), dice.between(1, 2), dice.between(1, 2)
    ),
    lambda _: sd.ChangeOneRow(),
    lambda dice: draw_total_unit(dice),
)
_CHANGES: Final[Mapping[type[AbstractUnit], Callable[[Dice, Rows, Any], Rows]]] = {
    sd.AddOneRow: _one_changed,
    sd.AddMaxRows: _some_changed,
    sd.AddMaxRowsInMaxGroups: _groups_changed,
    sd.ChangeOneRow: _row_replaced,
    sd.AddMaxTotal: _total_changed,
}
