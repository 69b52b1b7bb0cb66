"""The private key that a command signs with: a file of PEM, without a password."""

import argparse
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from sordino.errors import InvalidParameter


def add_signer_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add whose key signs."""
    parser.add_argument("--signer", type=Path, metavar="PEM", help=what)


def add_only_writer_option(parser: argparse.ArgumentParser) -> None:
    """Add the promise that stands in for locks that may not hold."""
    parser.add_argument(
        "--only-writer",
        action="store_true",
        help="no other process opens the ledger meanwhile, so that its disk need not "
        "hold locks",
    )


def read_signer(path: Path | None) -> Any:
    """Return the private key in a PEM file."""
    if path is None:
        return None
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, TypeError, ValueError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise InvalidParameter(
        "--signer",
        str(path),
        "must be a PEM file with an Ed25519 key, and no password",
        "Name the file of the private key; `sordino policy key` makes one.",
    )
