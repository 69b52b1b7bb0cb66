"""What a session does with a request whose answer is written to files by workers.

charge ── totals of workers ── begin (once, durable) ── secret ── noise there ── digests
"""

import os
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypedDict, final

from sordino.errors import InvalidParameter
from sordino.losses.base import Budget
from sordino.planning.plan_text import plan_text
from sordino.query.request import CONFIDENCE
from sordino.release.part_noise import PartNoise, refuse_whole
from sordino.release.released_files import (
    ReleasedFiles,
    WrittenFile,
    files_bytes,
    read_files,
)
from sordino.sampling.bits import fresh_secret
from sordino.session import identity
from sordino.session.book import Begin
from sordino.session.desk import Desk
from sordino.session.given_requests import read_request


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
    refuse_whole(purchase)
    plan, question = plan_text(purchase), purchase.plan.question
    written: list[WrittenFile] = []

    def prepare() -> Callable[[Begin], bytes]:
        desk.note_keys(purchase)
        spread = desk.engine.prepare_spread(question, PartNoise(purchase), place)

        def compute(begin: Begin) -> bytes:
            with closing(spread()) as totals:
                begin()
                written[:] = totals.write(PartNoise(purchase), fresh_secret(), place)
            return files_bytes(written)

        return compute

    paid = desk.book.answer_once(
        identity.request_identity(request, desk.catalog, budget, key, "release_files"),
        desk.charge_of(purchase),
        {"key": key, "why": why, "earmark": earmark, "plan": plan},
        prepare,
    )
    files = read_files(paid.answer)
    if not written and set(desk.engine.files_in(place)) != set(files):
        raise InvalidParameter(
            "folder",
            place,
            "does not hold the files of this release, and nothing else",
            "Name the folder where they are now: the ledger keeps their digests alone.",
        )
    return ReleasedFiles.of(purchase, (place, files), plan)


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
