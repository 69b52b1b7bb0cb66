"""Ed25519: who signs, and whether bytes are what was signed.

>>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
>>> key = Ed25519PrivateKey.generate()
>>> signature = sign(key, b"text")
>>> is_signed(public_of(key), signature, b"text")
True
>>> is_signed(public_of(key), signature, b"another text")
False
"""

from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from sordino.errors import InvalidParameter


def sign(signer: Ed25519PrivateKey, text: bytes) -> str:
    """Return the signature of some bytes, in hexadecimal digits."""
    return signer.sign(text).hex()


def is_signed(public: str, signature: str, text: bytes) -> bool:
    """Say whether a signature is that of a key for these bytes."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), text)
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
