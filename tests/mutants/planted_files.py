"""Errors in noise that tasks draw: what would be drawn twice, or alike for two."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_FILES: Final[tuple[Planted, ...]] = (
    Planted(
        "files",
        "src/sordino/release/part_noise.py",
        '        content += [column.astype("<i8").tobytes() for column in totals]\n',
        "",
        "the same noise for other totals",
    ),
    Planted(
        "files",
        "src/sordino/release/part_noise.py",
        "content = [fingerprint(exact.select(range(by))).encode()]",
        'content = [b"keys"]',
        "the same noise for other keys",
    ),
    Planted(
        "files",
        "src/sordino/sampling/keyed_bits.py",
        'hmac.digest(secret, content, "sha512")',
        'hmac.digest(b"secret", content, "sha512")',
        "bits that anybody can compute",
    ),
    Planted(
        "files",
        "src/sordino/session/files_desk.py",
        "                begin()\n",
        "",
        "noise drawn twice for a charge",
    ),
    Planted(
        "files",
        "src/sordino/ledger/claims.py",
        '    if log.newest_about(f"lease {ticket.number}") is not None:\n'
        '        raise AnswerLost(str(charged["key"]))\n',
        "",
        "two tickets of a charge draw noise",
    ),
    Planted(
        "files",
        "src/sordino/session/files_desk.py",
        "if not written and set(desk.engine.files_in(place)) != set(files):",
        "if not written and len(desk.engine.files_in(place)) != len(files):",
        "files that are others taken for those that were released",
    ),
)
