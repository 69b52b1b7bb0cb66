"""A policy with its signature: the file, and the one beside it that says whose."""

import json
import re
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, final

from sordino.errors import InvalidPolicy
from sordino.policy.grammar import Rules, read_rules
from sordino.settings.toml_file import small_text
from sordino.signing import is_signed, public_of, sign, signer_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ENDING: Final = ".sig"
"""What the name of the file with the signature adds to that of the policy."""
_DIGITS: Final = re.compile(r"[0-9a-f]+")
_REMEDY: Final = "Ask its officer for the file and the signature beside it."


@final
@dataclass(frozen=True)
class Policy:
    """What an officer allows, word for word, and the signature of it."""

    text: str
    officer: str
    """The public key, in hexadecimal digits."""
    signature: str
    """Of the bytes of the text, by Ed25519, in hexadecimal digits."""

    @classmethod
    def read(cls, path: Any) -> Self:
        """Return the policy in a file, refusing one that its officer did not sign."""
        place = locate_policy(path)
        text, beside = _file_text(place), _signature_path(place)
        if not beside.exists():
            raise InvalidPolicy(str(place), f"has no signature {beside.name}", _REMEDY)
        policy = cls(text, *_read_signature(beside))
        if not policy.is_signed:
            raise InvalidPolicy(
                str(place), "is not what was signed, or another key signed it", _REMEDY
            )
        read_rules(text)
        return policy

    @classmethod
    def sign(cls, path: Any, signer: "Ed25519PrivateKey") -> Self:
        """Sign the policy in a file: the signature is written to a file beside it."""
        place = locate_policy(path)
        text, key = _file_text(place), signer_of(signer)
        read_rules(text)
        if key is None:
            raise InvalidPolicy(str(place), "has no signer", "Give the private key.")
        policy = cls(text, public_of(key), sign(key, text.encode()))
        named = {"officer": policy.officer, "signature": policy.signature}
        try:
            _signature_path(place).write_text(
                f"{json.dumps(named)}\n", encoding="utf-8"
            )
        except OSError:
            raise InvalidPolicy(
                str(_signature_path(place)), "cannot be written", "Check the folder."
            ) from None
        return policy

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the text, by which charges name it."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def rules(self) -> Rules:
        """Return what it says."""
        return read_rules(self.text)

    @property
    def is_signed(self) -> bool:
        """Say whether the signature is that of the officer for this text."""
        written = _DIGITS.fullmatch(self.officer) and _DIGITS.fullmatch(self.signature)
        return written is not None and is_signed(
            self.officer, self.signature, self.text.encode()
        )


def locate_policy(path: Any) -> Path:
    """Return the path of a policy; anything that is not a path is refused."""
    try:
        return Path(path)
    except TypeError:
        raise InvalidPolicy(
            "policy", "is not a path", 'Try policy="policy.toml".'
        ) from None


def _signature_path(place: Path) -> Path:
    """Return where the signature of a file lies."""
    return place.with_name(place.name + ENDING)


def _file_text(place: Path) -> str:
    """Return the text of a regular file of at most 1 MB, as it stands there."""
    try:
        if stat.S_ISREG(place.stat().st_mode):  # a pipe would be waited for
            return small_text(place)
    except (OSError, UnicodeDecodeError, ValueError):
        pass
    raise InvalidPolicy(
        str(place), "cannot be read as a text file of at most 1 MB", _REMEDY
    )


def _read_signature(beside: Path) -> tuple[str, str]:
    """Return the public key and the signature that a file says."""
    text = _file_text(beside)
    try:
        read = json.loads(text)
        officer, signature = read["officer"], read["signature"]
    except (LookupError, RecursionError, TypeError, ValueError):
        officer, signature = None, None
    if not isinstance(officer, str) or not isinstance(signature, str):
        raise InvalidPolicy(str(beside), "is no signature", _REMEDY)
    return officer.lower(), signature.lower()
