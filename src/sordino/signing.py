"""Ed25519: who signs, and whether bytes are what was signed.

>>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
>>> key = Ed25519PrivateKey.generate()
>>> signature = sign(key, b"text")
>>> is_signed(public_of(key), signature, b"text")
True
>>> is_signed(public_of(key), signature, b"another text")
False
"""

from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from sordino.errors import InvalidParameter

_PRIME: Final = 2**255 - 19
_CURVE: Final = -121665 * pow(121666, -1, _PRIME)
"""The d of the curve, y^2 - x^2 = 1 + d x^2 y^2."""


def sign(signer: Ed25519PrivateKey, text: bytes) -> str:
    """Return the signature of some bytes, in hexadecimal digits."""
    return signer.sign(text).hex()


def is_signed(public: str, signature: str, text: bytes) -> bool:
    """Say whether a signature is that of a key for these bytes."""
    try:
        encoded = bytes.fromhex(public)
        key = Ed25519PublicKey.from_public_bytes(encoded)
        key.verify(bytes.fromhex(signature), text)
    except (InvalidSignature, ValueError):
        return False
    return not _is_small(encoded)


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


def _is_small(encoded: bytes) -> bool:
    """Say whether a key is a point of order 1, 2, 4 or 8: anybody signs for such a one.

    Of order 1 and 2 are (0, 1) and (0, -1), of order 4 the points with y = 0. Twice a
    point has y = (y^2 + x^2) / (1 - d x^2 y^2), which is 0 for order 8: there
    x^2 = -y^2, and the curve says d y^4 + 2 y^2 - 1 = 0.
    """
    y = int.from_bytes(encoded, "little") % 2**255 % _PRIME  # the last bit is of x
    square = y * y % _PRIME
    return square in {0, 1} or (_CURVE * square**2 + 2 * square - 1) % _PRIME == 0
