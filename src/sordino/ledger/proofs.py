"""Every charge is proved: the kernel derives it anew, before it is written and after.

A record of a charge holds the certificate, but for the charge, which it has already.
The kernel shares no code with what found the price; whatever planning does, nothing is
charged less than what the kernel finds (docs/proofs/certificates.md).

Kernel: charge.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sordino import kernel
from sordino.errors import ProofRefused
from sordino.ledger import blocks as block_charges
from sordino.ledger.log import Log
from sordino.ledger.record_kinds import DATASET, certificates, proof_text


def refuse_unproved(
    log: Log, fields: Mapping[str, Any], blocks: tuple[str, ...]
) -> None:
    """Refuse a charge that is less than what the kernel derives, before it is written.

    What is written down of each sum is checked as well, by what stood there before.
    """
    for text in certificates(fields):
        try:
            kernel.check(text)
        except kernel.Refused as refusal:
            why = str(refusal)
        else:
            continue
        raise ProofRefused(why, text)
    try:
        for record in _sums(log, fields, blocks):
            kernel.check_sums(record)
    except kernel.Refused as refusal:
        why = str(refusal)
    else:
        return
    raise ProofRefused(why, proof_text(fields))


def _sums(
    log: Log, fields: Mapping[str, Any], blocks: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield each charge with the sums before it and after it."""
    for name, charge in fields["charges"].items():
        before = log.sum_of_charges(name, log.chargeable(name)).texts()
        yield {
            "charge": charge,
            "before": {name: before},
            "after": {name: fields["spent"][name]},
            "runs": [],
        }
    if blocks:
        limit = log.chargeable(DATASET)
        places = block_charges.places_of(log, blocks)
        sums = block_charges.sums_of_blocks(log, limit, places)
        yield {
            "charge": fields["each"],
            "before": {str(place): charge.texts() for place, charge in sums.items()},
            "after": {},
            "runs": fields["blocks"],
        }


def is_proved(fields: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    """Say whether a recorded charge is what its certificate bears out.

    `names` are the blocks of the ledger, in the order of opening: those that the
    certificate says are charged are those that the record charges.
    """
    try:
        for text in certificates(fields):
            kernel.check(text)
    except kernel.Refused:
        return False
    blocks = fields["proof"].get("blocks")
    runs = block_charges.spread_runs(fields.get("blocks") or ())
    charged = {names[place] for place, _ in runs}
    return charged == (set() if blocks is None else set(blocks["charged"]))
