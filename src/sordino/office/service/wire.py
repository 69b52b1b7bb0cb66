"""What travels between a server and a session elsewhere, written and read.

Public facts of tables, keys, sums and refusals: JSON with exact numbers as texts. Rows
of public tables and stored answers are bytes beside it. Private rows do not travel.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast, final

from sordino import errors
from sordino.data.key_columns import KINDS
from sordino.data.keyset import KeySet
from sordino.data.tables import PrivateTable, PublicTable
from sordino.data.units import (
    AbstractUnit,
    AddMaxRows,
    AddMaxRowsInMaxGroups,
    AddMaxTotal,
    AddOneRow,
    AddRowsWithID,
    ChangeOneRow,
)
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter, InvalidQuery, SordinoError, restore_error
from sordino.expressions.schema import Column, Schema
from sordino.ledger.answers import read_loss
from sordino.ledger.blocks import Block, Exposure, Windows, worst_exposures
from sordino.ledger.record_kinds import Entry
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.budgets.charge import Charge
from sordino.losses.budgets.limits import Headroom, exact_text
from sordino.losses.loss import Loss
from sordino.numbers.canonical import Worded, canonical_text
from sordino.query.groups import Marginals
from sordino.query.nodes import AbstractNode, Question, Source
from sordino.query.request import Request
from sordino.query.request_reader import read_budget_words
from sordino.session.charging import Book
from sordino.session.tables import Catalog, keep_open_blocks, open_catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa


def loss_fields(loss: Loss) -> Any:
    """Return a loss by its words, or by its exact headline where it has none.

    >>> from sordino.losses.closed import ApproxDP
    >>> read_loss_fields(loss_fields(ApproxDP("0.1", 0)))
    ApproxDP(epsilon=0.1, delta=0)
    """
    if isinstance(loss, Worded):
        return loss.words
    return {name: exact_text(at) for name, at in asdict(loss.guarantees).items()}


def read_loss_fields(fields: Any) -> Loss:
    """Inverse of `loss_fields`; what has no words is a bound with this headline."""
    if isinstance(fields, dict):
        return read_loss(fields)
    loss: Any = read_budget_words(fields)
    return cast("Loss", loss)


def headroom_fields(room: Headroom | None) -> dict[str, Any] | None:
    """Return how many more of a price fit."""
    if room is None:
        return None
    return {
        "more": room.more,
        "limit": loss_fields(room.limit),
        "rest": loss_fields(room.rest),
        "by_counting": dict(room.by_counting),
    }


def read_headroom(fields: Any) -> Headroom | None:
    """Inverse of `headroom_fields`."""
    if fields is None:
        return None
    limit, rest = read_loss_fields(fields["limit"]), read_loss_fields(fields["rest"])
    return Headroom(fields["more"], limit, rest, fields["by_counting"])


def entry_fields(entry: Entry) -> dict[str, Any]:
    """Return a charge as an analyst may see it."""
    return {
        **vars(entry),
        "when": entry.when.isoformat(),
        "charges": {name: charge.texts() for name, charge in entry.charges.items()},
        "blocks": list(entry.blocks),
        "each": None if entry.each is None else entry.each.texts(),
    }


def read_entry(fields: Any) -> Entry:
    """Inverse of `entry_fields`."""
    each = fields["each"]
    return Entry(**{
        **fields,
        "when": datetime.fromisoformat(fields["when"]),
        "charges": {name: Charge.read(at) for name, at in fields["charges"].items()},
        "blocks": tuple(fields["blocks"]),
        "each": None if each is None else Charge.read(each),
    })


def exposure_fields(book: Book) -> dict[str, Any]:
    """Return the sums of the blocks that are read, and of people in several."""
    blocks = [
        [
            *(block.name, block.opened.isoformat()),
            *map(loss_fields, (block.limit, block.spent, block.remaining)),
        ]
        for block in book.blocks_read()
    ]
    ledger = book.ledger
    exposures = [
        [size, list(each.blocks), loss_fields(each.charged), loss_fields(each.promise)]
        for size, each in worst_exposures(ledger.division, ledger.exposure)
    ]
    return {"blocks": blocks, "exposures": exposures}


def read_exposure_fields(fields: Any) -> tuple[tuple[Block, ...], Windows]:
    """Inverse of `exposure_fields`."""
    blocks = tuple(
        Block(name, datetime.fromisoformat(opened), *map(read_loss_fields, losses))
        for name, opened, *losses in fields["blocks"]
    )
    exposures = tuple(
        (size, Exposure(tuple(names), *map(read_loss_fields, losses)))
        for size, names, *losses in fields["exposures"]
    )
    return blocks, exposures


def refusal_fields(error: SordinoError) -> dict[str, Any]:
    """Return a refusal: its class, its sentence, and the texts that it names.

    The value that was given is left out: who gave it has it.
    """
    beside = {
        name: value for name, value in vars(error).items() if type(value) in {str, int}
    }
    beside.pop("value", None)
    return {"kind": type(error).__name__, "text": str(error), "beside": beside}


def read_refusal(fields: Any) -> SordinoError | None:
    """Inverse of `refusal_fields`; None of what is no refusal that this version has."""
    try:
        kind = getattr(errors, fields["kind"])
        known = issubclass(kind, SordinoError)
        return (
            restore_error(kind, fields["text"], **fields["beside"]) if known else None
        )
    except (AttributeError, LookupError, TypeError):
        return None


_SAID: Final[Mapping[str, "Callable[[Any], Any]"]] = {
    "date": date.isoformat,
    "time": lambda moment: moment.isoformat(timespec="microseconds"),
}
_READ: Final[Mapping[str, "Callable[[Any], Any]"]] = {
    "date": date.fromisoformat,
    "time": datetime.fromisoformat,
}


def keyset_columns(keys: KeySet) -> list[Any]:
    """Return each column of some keys: its name, its type, its values in order."""
    columns = []
    for name, column in zip(keys.columns, keys.table().columns, strict=True):
        kind = KINDS[column.type]
        say = _SAID.get(kind, lambda cell: cell)
        cells = [None if cell is None else say(cell) for cell in column.to_pylist()]
        columns.append([name, kind, cells])
    return columns


def read_keysets(listed: Any) -> dict[str, KeySet]:
    """Return key sets by the digests that are computed of their keys."""
    try:
        keysets = [_read_keyset(columns) for columns in listed]
    except SordinoError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError):
        pass
    else:
        return {keys.fingerprint: keys for keys in keysets}
    raise InvalidParameter(
        "keys", "a list", "must be columns of keys", "Send what this version writes."
    )


def _read_keyset(columns: Any) -> KeySet:
    cells, kinds = {}, {}
    for name, kind, values in columns:
        read = _READ.get(kind, lambda cell: cell)
        cells[name] = [None if value is None else read(value) for value in values]
        kinds[name] = kind
    return KeySet.from_table(cells, types=kinds)


def keysets_of(question: Any) -> "Iterable[KeySet]":
    """Yield the key sets that the words of a question have the digests of."""
    for each in question.values() if isinstance(question, dict) else [question]:
        if isinstance(each, Marginals):
            yield from (each.keyset[tree.columns] for tree in each.crossing.trees)
        if isinstance(each, Request) and each.keyset is not None:
            yield each.keyset


_UNITS: Final[Mapping[str, "Callable[..., AbstractUnit]"]] = {
    kind.__name__: kind
    for kind in (
        *(AddOneRow, AddMaxRows, AddMaxRowsInMaxGroups),
        *(AddMaxTotal, ChangeOneRow, AddRowsWithID),
    )
}


def _read_unit(words: Any) -> AbstractUnit:
    verb, arguments = words
    lists = {name: tuple(at) for name, at in arguments.items() if isinstance(at, list)}
    return _UNITS[verb](**(arguments | lists))


def _column_fields(schema: Schema) -> list[Any]:
    return [
        [name, column.type, column.nullable, column.nan]
        for name, column in schema.columns
    ]


def _read_schema(fields: Any) -> Schema:
    return Schema.of(
        (name, Column(kind, nullable=nullable, nan=nan))
        for name, kind, nullable, nan in fields
    )


def catalog_fields(catalog: Catalog) -> tuple[dict[str, Any], list[bytes]]:
    """Return the public facts of tables, and the rows of the public ones.

    These are what prices are made of, and nothing else: of a private table no more
    than `describe` tells, and which of its columns lie as another type.
    """
    private = [
        {
            "name": name,
            "columns": _column_fields(_source_of(catalog.relations[name].node).schema),
            "protects": unit.words,
            "blocks": catalog.block_columns[name],
            "vouched_by": _word_beside(catalog, name),
            "lossy": sorted(catalog.engine.lossy(name)),
            "unusable": dict(catalog.unusable[name]),
            "size": catalog.relations[name].size,
            "sampled": None if rate is None else str(rate),
        }
        for name, unit in catalog.units.items()
        for rate in (catalog.sampled[name],)
    ]
    public = [
        {"name": name, "columns": _column_fields(source.schema)}
        for name, source in catalog.publics.items()
    ]
    rows = [_stream(catalog.public_rows(name)) for name in catalog.publics]
    return {"private": private, "public": public}, rows


def _source_of(node: AbstractNode) -> Source:
    """Return the table under the filters that every session puts over it."""
    inner: Any = node
    while not isinstance(inner, Source):
        inner = inner.child
    return inner


def _word_beside(catalog: Catalog, name: str) -> Any:
    words: Any = catalog.words(name)[0]
    return words[1].get("vouched_by")


def _stream(rows: "pa.Table") -> bytes:
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue()


def read_catalog(
    fields: Any, rows: "list[pa.Table]", blocks: tuple[Blocks, tuple[str, ...]] | None
) -> Catalog:
    """Return the catalog of the same tables, in which no row can be asked for.

    `blocks` are the division of a ledger, and those that are open there.
    """
    tables: dict[str, Any] = {}
    for table in fields["private"]:
        facts = DistantTable(
            _read_schema(table["columns"]),
            frozenset(table["lossy"]),
            table["unusable"],
            table["size"],
        )
        unit, voucher = _read_unit(table["protects"]), table["vouched_by"]
        tables[table["name"]] = PrivateTable(
            facts,
            unit,
            blocks=table["blocks"],
            vouched_by=voucher,
            sampled=table["sampled"],
        )
    for table, content in zip(fields["public"], rows, strict=True):
        columns = dict(_read_schema(table["columns"]).columns)
        tables[table["name"]] = PublicTable(content, columns)
    catalog = open_catalog(FactsEngine(), tables)
    if blocks is not None:
        keep_open_blocks(catalog, *blocks)
    return catalog


def standing_words(catalog: Catalog) -> list[tuple[Any, str]]:
    """Return the words of parts, and of rows of some blocks, with their names.

    Where a view stands is told by its steps, so of views there are none.
    """
    listed = [
        (json.loads(canonical_text(catalog.words(name))), name)
        for name in catalog.relations
        if name not in catalog.views
    ]
    return [(words, name) for words, name in listed if len(words) > 1]


@final
@dataclass(frozen=True)
class DistantTable:
    """What everybody knows of a private table that lies elsewhere."""

    schema: Schema
    lossy: frozenset[str]
    unusable: Mapping[str, str]
    size: int | None
    """The number of rows, where the unit makes it public."""


_ELSEWHERE: Final = "the rows lie with a server, which answers for them"


@final
class FactsEngine(AbstractEngine):
    """Knows what is public of tables elsewhere, and holds the public ones.

    Whatever would need a private row is refused: there is none here.
    """

    def __init__(self) -> None:
        self._known: dict[str, DistantTable] = {}
        self._public = MemoryEngine()

    def open(self, table: str, source: Any, declared: Mapping[str, Column]) -> Schema:
        if not isinstance(source, DistantTable):
            return self._public.open(table, source, declared)
        self._known[table] = source
        return source.schema

    def lossy(self, table: str) -> frozenset[str]:
        return self._known[table].lossy

    def unusable(self, table: str) -> Mapping[str, str]:
        known = self._known.get(table)
        return MappingProxyType({}) if known is None else known.unusable

    def doubt(self, table: str) -> str:
        del table
        return ""

    def freeze(self, table: str) -> None:
        self._public.freeze(table)

    def frozen_rows(self, table: str) -> "pa.Table":
        return self._public.frozen_rows(table)

    def multiplicity(self, table: str, on: tuple[str, ...]) -> int:
        return self._public.multiplicity(table, on)

    def answer(self, question: Question) -> "pa.Table":
        """Return the number of rows of a table where it is public; nothing else is."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        size = self._known[_source_of(question.rows).table].size
        return self._refuse() if size is None else pa.table({"rows": [size]})

    def prepare(self, question: Question) -> "Callable[[], pa.Table]":
        del question
        return self._refuse()

    def statement(self, question: Question) -> str:
        del question
        return self._refuse()

    def forget(self) -> None:
        self._public.forget()

    def close(self) -> None:
        self._public.close()

    def _refuse(self) -> NoReturn:
        raise InvalidQuery(_ELSEWHERE, "Ask the curator.")


def write_json(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def plan_digest(proof: str) -> str:
    """Return the SHA-256 of a certificate, by which both sides know their plan."""
    return hashlib.sha256(proof.encode()).hexdigest()


def other_plan_refusal() -> InvalidQuery:
    """Return the refusal of a price that the two sides do not agree about."""
    return InvalidQuery(
        "the server plans this request otherwise than the session here",
        "Its tables may have changed, or its version: connect anew.",
    )


MOST_BYTES: Final = 8 * 2**20
"""Of a request; keys are most of them."""


def body_refusal(most: int) -> InvalidParameter:
    """Return the refusal of a body that is too long."""
    return InvalidParameter(
        "body", "more", f"must have at most {most} bytes", "Ask for fewer keys at once."
    )
