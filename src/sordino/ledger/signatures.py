"""Who signs the records of a ledger: nobody, or who holds a key.

>>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
>>> from sordino.signing import public_of
>>> key = Ed25519PrivateKey.generate()
>>> record = Record.successor(NOTHING, "opened", {})
>>> seals = Seals(public_of(key), key)
>>> signed = seals.sign(record)
>>> seals.hold(signed), seals.hold(record)
(True, False)
"""

from dataclasses import dataclass, replace
from typing import final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sordino.errors import InvalidParameter
from sordino.ledger.records import NOTHING, Record
from sordino.signing import is_signed, sign

__all__ = ["NOTHING", "Seals"]


@final
@dataclass(frozen=True)
class Seals:
    """The public key of a ledger, "" if it has none, and its private one, if known."""

    public: str = ""
    signer: Ed25519PrivateKey | None = None

    def sign(self, record: Record) -> Record:
        """Return a record with its signature, which is of its hash."""
        if not self.public:
            return record
        if self.signer is None:
            raise InvalidParameter(
                "signer",
                None,
                "must be given: this ledger is signed",
                "Open it with signer=, the key that it was made with.",
            )
        return replace(record, signature=sign(self.signer, record.hash.encode()))

    def hold(self, record: Record) -> bool:
        """Say whether a record has the signature that it must have, or none."""
        if not self.public:
            return not record.signature
        return is_signed(self.public, record.signature, record.hash.encode())
