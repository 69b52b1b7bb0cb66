"""Tokens of analysts: who holds one, what that name may spend, and until when.

A token is 512 random bits; the file has its SHA-256, from which nobody can make it.

    [tokens.1f0c93ab]
    analyst = "ana"
    sha256 = "1f0c93ab..."
    limit = { epsilon = "1", delta = "1e-6" }
    until = 2027-06-30              # the last day, by UTC; left out: for ever
    revoked = false
"""

import base64
import hashlib
import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Final, final

from sordino.data.toml import Section, read_toml
from sordino.errors import InvalidJob, InvalidParameter
from sordino.ledger.record_kinds import DATASET, check_name
from sordino.losses.budgets.limits import Limit
from sordino.noise.sampling.bits import fresh_secret
from sordino.office.job.questions import read_limit
from sordino.release.storage import write_text

_FACTS: Final = (
    *("analyst", "sha256", "limit", "counting", "reserve", "until", "revoked"),
)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_NAMED: Final = 8


@final
@dataclass(frozen=True)
class Holder:
    """Who holds a token."""

    token: str
    """The name of the token, which is no secret."""
    analyst: str
    limit: Limit
    until: date | None
    revoked: bool

    def refuse_ended(self, day: date) -> None:
        """Refuse a token that holds no more."""
        if self.revoked:
            raise token_refusal("was revoked")
        if self.until is not None and day > self.until:
            raise token_refusal(f"ended with {self.until}")


def token_refusal(problem: str) -> InvalidParameter:
    """Return the refusal of a token, which is never shown."""
    return InvalidParameter("token", "...", problem, "Ask the curator for a new one.")


def today_by_utc() -> date:
    """Return the day."""
    return datetime.now(UTC).date()


@final
class TokenFile:
    """The tokens of a file, as it is now: it is read again whenever it changes."""

    def __init__(self, path: Path, day: Callable[[], date] = today_by_utc) -> None:
        """Read the file, refusing one that cannot be meant."""
        self._path, self._day, self._lock = path, day, Lock()
        self._seen: tuple[int, ...] = ()
        self._holders: dict[str, Holder] = {}
        self.holders()

    def holders(self) -> list[Holder]:
        """Return everybody who holds a token, also one that holds no more.

        A file that cannot be read any more serves nobody: who was revoked in it would
        be served from memory.
        """
        with self._lock:
            seen = self._look()
            if not seen or seen != self._seen:
                self._holders, self._seen = read_tokens(self._path), seen
            return [*self._holders.values()]

    def _look(self) -> tuple[int, ...]:
        """Return facts that change whenever the file does, none where it is gone."""
        try:
            facts = self._path.stat()
        except OSError:
            return ()
        return facts.st_mtime_ns, facts.st_size, facts.st_ino

    def holder(self, token: str) -> Holder:
        """Return who holds a token, refusing one that is unknown or holds no more."""
        self.holders()
        # found by its digest: how long that takes tells nothing of any token
        digest = hashlib.sha256(token.encode()).hexdigest()
        holder = self._holders.get(digest)
        if holder is None:
            raise token_refusal("is not known to this server")
        holder.refuse_ended(self._day())
        return holder


def read_tokens(path: Path) -> dict[str, Holder]:
    """Return the holders of the tokens of a file, by the digest of the token."""
    return _read_holders(Section("", read_toml(path)))


def _read_holders(root: Section) -> dict[str, Holder]:
    root.refuse_others("tokens")
    holders: dict[str, Holder] = {}
    for name, section in root.sections("tokens").items():
        section.refuse_others(*_FACTS)
        digest = section.text("sha256")
        if _DIGEST.fullmatch(digest) is None or digest in holders:
            raise InvalidJob(
                section.at("sha256"),
                "must be 64 hexadecimal digits, and those of one token",
                "Make a token: sordino token.",
            )
        holders[digest] = _read_holder(name, section)
    limits: dict[str, str] = {}
    for holder in holders.values():
        first = limits.setdefault(holder.analyst, holder.limit.stated)
        if first != holder.limit.stated:
            raise InvalidJob(
                f"tokens.{holder.token}.limit",
                f"differs from another limit of {holder.analyst!r}",
                "A name has one limit, whatever token it comes with.",
            )
    return holders


def _read_holder(name: str, section: Section) -> Holder:
    with section.place_refusals("analyst"):
        analyst = check_name(analyst=section.text("analyst"))
    if analyst == DATASET:
        raise section.wrong(
            "analyst", "is the name of the whole budget", "Name a person."
        )
    if ":" in analyst:
        # keys are recorded as "name: key": no name may begin a key of another's
        raise section.wrong("analyst", "must have no colon", "Name a person.")
    until = section.values.get("until")
    if until is not None and type(until) is not date:
        raise section.wrong("until", "must be a day", "Write until = 2027-06-30.")
    revoked = section.truth("revoked", default=False)
    return Holder(name, analyst, read_limit(section, None), until, revoked)


def make_token(path: Path, analyst: str, limit: str, until: date | None) -> str:
    """Add a token to a file, and return it: it is told once, and kept nowhere.

    `limit` is a limit as a file has it: `{ epsilon = "1" }`.
    """
    token = base64.urlsafe_b64encode(fresh_secret()).decode().rstrip("=")
    digest = hashlib.sha256(token.encode()).hexdigest()
    lines = [
        f"[tokens.{digest[:_NAMED]}]",
        f"analyst = {json.dumps(check_name(analyst=analyst), ensure_ascii=False)}",
        f'sha256 = "{digest}"',
        f"limit = {limit}",
        *([] if until is None else [f"until = {until}"]),
    ]
    before = path.read_text("utf-8") if path.exists() else ""
    text = "\n".join([*([before] if before else []), *lines, ""])
    # a file that could not be read would serve nobody
    _read_holders(Section("", tomllib.loads(text, parse_float=Decimal)))
    write_text(path, text)
    return token
