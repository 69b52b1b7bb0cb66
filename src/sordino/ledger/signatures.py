"""Who signs the records of a ledger: nobody, or who holds a key.

>>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
>>> key = Ed25519PrivateKey.generate()
>>> record = Record.successor(NOTHING, "opened", {})
>>> seals = Seals(public_of(key), key)
>>> signed = seals.sign(record)
>>> seals.hold(signed), seals.hold(record)
(True, False)
"""

from dataclasses import dataclass, replace
from typing import Any, final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from sordino.errors import InvalidParameter
from sordino.ledger.records import NOTHING, Record

__all__ = ["NOTHING", "Seals", "public_of", "signer_of"]


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
        return replace(record, signature=self.signer.sign(record.hash.encode()).hex())

    def hold(self, record: Record) -> bool:
        """Say whether a record has the signature that it must have, or none."""
        if not self.public:
            return not record.signature
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.public))
            key.verify(bytes.fromhex(record.signature), record.hash.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


def public_of(signer: Ed25519PrivateKey) -> str:
    """Return the public half of a key, in hexadecimal digits."""
    return signer.public_key().public_bytes_raw().hex()


def signer_of(signer: Any) -> Ed25519PrivateKey | None:
    """Return a key that signs; anything else is refused."""
    if signer is None or isinstance(signer, Ed25519PrivateKey):
        return signer
    raise InvalidParameter(
        "signer",
        type(signer),
        "must be an Ed25519 private key of the package cryptography",
        "Try signer=Ed25519PrivateKey.generate(), and keep it.",
    )
