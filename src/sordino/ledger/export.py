"""A ledger as lines of JSON, which outlive every program.

>>> from sordino.losses.base import PureDP
>>> with Ledger.in_memory(PureDP(1)) as ledger:
...     [json.loads(line)["kind"] for line in json_lines(ledger)]
['opened', 'budget']
"""

import json
from collections.abc import Iterator

from sordino.ledger.ledger import Ledger


def json_lines(ledger: Ledger) -> Iterator[str]:
    """Yield one object for each record: its number, kind and hashes, and its body.

    The hashes can be computed again from the lines (docs/ledger-format.md). Answers are
    not in it, only their hashes.
    """
    for record in ledger.records():
        yield json.dumps(
            {
                "number": record.number,
                "kind": record.kind,
                "previous": record.previous,
                "hash": record.hash,
                "body": record.body,
            },
            separators=(",", ":"),
        )
