"""What a session does with a request whose answer is written to files by workers.

charge ── totals of workers ── begin (once, durable) ── secret ── noise there ── digests
                                                                         └── label
"""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypedDict, TypeVar, final

from sordino.engines.failures import run_uncharged
from sordino.engines.released_folders import AbstractFolders, FoldersHere
from sordino.errors import EngineUnavailable, InvalidParameter, OutputFailure
from sordino.ledger.publications import FileFacts
from sordino.losses.base import Budget
from sordino.planning.plan_text import plan_text
from sordino.planning.purchase import Purchase
from sordino.query.request import CONFIDENCE
from sordino.release.files_answer import FilesAnswer, WrittenFile
from sordino.release.folder_label import FOLDER_LABEL, folder_label
from sordino.release.label_facts import label_facts
from sordino.release.part_noise import PartNoise, refuse_whole
from sordino.release.released_files import ReleasedFiles
from sordino.sampling.bits import fresh_secret
from sordino.session import identity
from sordino.session.book import Paid, Turn
from sordino.session.desk import Desk
from sordino.session.given_requests import read_request
from sordino.session.large_answers import Charged, write_drawn

T = TypeVar("T")


@final
class ReleaseOptions(TypedDict, total=False):
    """What may be said of a release beside its request."""

    key: str | None
    why: str
    earmark: str | None
    confidence: Any


def release_files(  # noqa: PLR0913 by keyword, and most are left out
    desk: Desk,
    query: Any,
    budget: Budget,
    folder: Any,
    *,
    key: str | None = None,
    why: str = "",
    earmark: str | None = None,
    confidence: Any = CONFIDENCE,
) -> ReleasedFiles:
    """Charge for a request and return the files of its answer, or those it has."""
    request = read_request(query, confidence)
    place = _folder_text(folder)
    purchase = desk.buy(request, budget)
    details = {"key": key, "why": why, "earmark": earmark, "plan": plan_text(purchase)}
    words = identity.request_identity(request, desk.catalog, budget, key, "release")
    charged = Charged(words, desk.charge_of(purchase), details)
    paid_for = None if key is None else desk.book.ledger.files_of(key)
    if paid_for is not None and paid_for[0] == words.fingerprint:
        return _of_large_answer(desk, purchase, charged, place)
    refuse_whole(purchase)
    words = identity.request_identity(
        request, desk.catalog, budget, key, "release_files"
    )
    return _of_workers(desk, purchase, charged._replace(identity=words), place)


def _of_workers(
    desk: Desk, purchase: Purchase, charged: Charged, place: str
) -> ReleasedFiles:
    """Return files that workers write now, or wrote before."""
    written: list[FilesAnswer] = []

    def prepare() -> Callable[[Turn], bytes]:
        desk.note_keys(purchase)
        noise = PartNoise(purchase)
        spread = desk.engine.prepare_spread(purchase.plan.question, noise, place)

        def compute(turn: Turn) -> bytes:
            with closing(spread()) as totals:
                turn.begin()
                written.append(totals.write(noise, fresh_secret(), place))
            return written[0].ledger_bytes

        return compute

    paid = desk.book.answer_in_turn(*charged, prepare)
    answer = FilesAnswer.read(paid.answer)
    if not written and set(_files(desk, place)) != set(answer.files):
        raise _other_files_refusal(place)
    files = _describe(purchase, place, paid)
    _label(desk, files, paid.number, desk.engine.in_folders)
    return files


def _of_large_answer(
    desk: Desk, purchase: Purchase, charged: Charged, place: str
) -> ReleasedFiles:
    """Return the files of a release that was too large for the ledger."""
    paid = desk.book.answer(*charged, _refuse_to_compute)
    folder = Path(place)
    if paid.number in desk.book.unwritten and not folder.exists():
        write_drawn(desk.book, paid.number, folder)
    present = _in_folders_here(lambda folders: folders.files_in(place))
    if set(present) != set(FilesAnswer.read(paid.answer).files):
        raise _other_files_refusal(place)
    files = _describe(purchase, place, paid)
    if not (folder / FOLDER_LABEL).exists():  # cut off before it was written
        _label(desk, files, paid.number, _in_folders_here)
    return files


def _label(
    desk: Desk,
    files: ReleasedFiles,
    number: int,
    in_folders: Callable[[Callable[[AbstractFolders], None]], None],
) -> None:
    """Have a label in a folder, and on record: by it a ledger knows each file.

    It is a function of what is stored, so asked again it is the same.
    """
    text = folder_label(label_facts(files), files.files)
    try:
        in_folders(
            lambda folders: folders.write_label(files.folder, FOLDER_LABEL, text)
        )
    except (EngineUnavailable, InvalidParameter):
        raise OutputFailure(
            f"{files.folder}/{FOLDER_LABEL}",
            "The files beside it are whole, paid for and may be published. With "
            "the same key session.release_files(...) writes it again, at no charge.",
        ) from None
    facts = FileFacts.of_text(FOLDER_LABEL, text)
    desk.book.ledger.publish_of(number, facts, who=desk.book.who)


def _files(desk: Desk, place: str) -> Sequence[WrittenFile]:
    """Return the files of a folder that workers wrote."""
    return desk.engine.in_folders(lambda folders: folders.files_in(place))


def _in_folders_here(work: Callable[[AbstractFolders], T]) -> T:
    """Return what is done on this machine; a failure is told."""
    return run_uncharged(lambda: work(FoldersHere()))


def _refuse_to_compute() -> Callable[[], bytes]:
    """Refuse to draw what was drawn: an answer that is there is never computed."""
    raise AssertionError


def _describe(purchase: Purchase, place: str, paid: Paid) -> ReleasedFiles:
    """Return files that lie in a folder."""
    answer = FilesAnswer.read(paid.answer)
    lying = (place, answer.files, answer.exactness)
    return ReleasedFiles.of(purchase, lying, plan_text(purchase), paid.provenance)


def _other_files_refusal(place: str) -> InvalidParameter:
    """Return the refusal of a folder that has not what the ledger has digests of."""
    return InvalidParameter(
        "folder",
        place,
        "does not hold the files of this release, and nothing else",
        "Name the folder where they are now: the ledger keeps their digests alone.",
    )


def _folder_text(folder: Any) -> str:
    """Return a path as text."""
    try:
        text = os.fspath(folder)
    except TypeError:
        text = ""
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InvalidParameter(
            "folder", folder, "must be a path", 'Try folder="out/visits-2026-11".'
        )
    return text
