"""Errors in noise that tasks draw: what would be drawn twice, or alike for two."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_FILES: Final[tuple[Planted, ...]] = (
    Planted(
        "files",
        "src/sordino/session/files.py",
        "        except BaseException:\n",
        "        except Exception:\n",
        "half of the files in the way of all of them",
    ),
    Planted(
        "files",
        "src/sordino/release/released_files.py",
        '        content += [column.astype("<i8").tobytes() for column in totals]\n',
        "",
        "the same noise for other totals",
    ),
    Planted(
        "files",
        "src/sordino/release/released_files.py",
        "content = [fingerprint(exact.select(range(by))).encode()]",
        'content = [b"keys"]',
        "the same noise for other keys",
    ),
    Planted(
        "files",
        "src/sordino/noise/sampling/bits.py",
        'hmac.digest(secret, content, "sha512")',
        'hmac.digest(b"secret", content, "sha512")',
        "bits that anybody can compute",
    ),
    Planted(
        "files",
        "src/sordino/session/executor.py",
        "                turn.begin()\n",
        "",
        "noise drawn twice for a charge",
    ),
    Planted(
        "files",
        "src/sordino/ledger/charges.py",
        '    if log.newest_about(f"lease {ticket.number}") is not None:\n'
        '        raise AnswerLost(str(charged.get("key")))\n',
        "",
        "two tickets of a charge draw noise",
    ),
    Planted(
        "files",
        "src/sordino/session/executor.py",
        "if not written and set(_files(desk, place)) != set(answer.files):",
        "if not written and len(_files(desk, place)) != len(answer.files):",
        "files that are others taken for those that were released",
    ),
    Planted(
        "files",
        "src/sordino/session/files.py",
        "            return drawn[0].answer.ledger_bytes\n",
        '            raise AnswerTooLarge(0, 0, "")\n',
        "a refusal that tells of noise which is then drawn anew",
    ),
    Planted(
        "files",
        "src/sordino/session/files.py",
        "if drawn and drawn[0].answer.ledger_bytes == paid.answer:",
        "if drawn:",
        "files of a drawing that is not the one that was stored",
    ),
    Planted(
        "files",
        "src/sordino/session/files.py",
        "            if size <= file_format.LARGEST:\n",
        "            if size < file_format.LARGEST:\n",
        "an answer at the limit refused",
    ),
    Planted(
        "files",
        "src/sordino/session/files.py",
        "size += 2 * keys.nbytes + keys.num_rows * columns * _BAR",
        "size += 0",
        "known groups that are too many refused after the charge",
    ),
    Planted(
        "files",
        "src/sordino/session/files.py",
        "            shutil.rmtree(folder, ignore_errors=True)\n",
        "",
        "half of an answer left behind on a full disk",
    ),
    Planted(
        "files",
        "src/sordino/session/executor.py",
        "    if set(present) != set(FilesAnswer.read(paid.answer).files):\n",
        "    if not present:\n",
        "other files taken for the answer that was too large",
    ),
    Planted(
        "files",
        "src/sordino/office/label/files.py",
        "others = set(present) - stated if name else set(present) ^ stated",
        "others = set(present) - stated",
        "a folder that lost a file taken for the whole release",
    ),
)
