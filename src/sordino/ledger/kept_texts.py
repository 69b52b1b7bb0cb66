"""What a ledger keeps beside charges: policies, texts of jobs, hashes of files."""

from abc import ABC, abstractmethod
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from sordino.ledger import obedience, paid_answers, publications
from sordino.ledger.handle import Handle
from sordino.ledger.log import Log
from sordino.ledger.publications import FileFacts, Publication
from sordino.policy.signed import Policy

if TYPE_CHECKING:
    from sordino.release.files_answer import FilesAnswer


class AbstractKeeping(ABC):
    """A ledger, as far as it keeps what is not charged."""

    _guarded: Handle
    identity: str

    def adopt(self, path: Any, *, who: str = "") -> Policy:
        """Obey the policy in a file from now on, and return it.

        It must be signed, in the file beside it; after the first one by the same
        officer, with a greater serial. Nothing is ever charged without it again.
        """
        policy = Policy.read(path)
        self.obey(policy, who=who)
        return policy

    def obey(self, policy: Policy, *, who: str = "") -> None:
        """Obey a policy that was read."""
        self._guarded.use(
            lambda log: obedience.adopt(log, policy, who, self._when(log))
        )

    @property
    def obeys(self) -> bool:
        """Say whether this handle has met a policy; a charge looks for one anew."""
        return self._guarded.knows("policy")

    def policy(self) -> Policy | None:
        """Return the policy that every charge obeys, None if there is none."""
        return self._guarded.use(obedience.policy_in_force)

    def describe(self, text: str, *, who: str = "") -> str:
        """Record the text that releases are made by, such as a job file, once.

        Returns its SHA-256, which charges name (`Claim.job`, `sd.Session(job=...)`).
        """
        return self._guarded.use(
            lambda log: publications.describe(log, text, who, self._when(log))
        )

    def description(self, sha256: str) -> str:
        """Return the text that was recorded by `describe`."""
        return self._guarded.use(lambda log: publications.find_description(log, sha256))

    def publish(self, key: str, path: Any, *, who: str = "") -> None:
        """Record that a file was made of the answer of a key, by the file's SHA-256."""
        facts = FileFacts.of(path)
        self._guarded.use(
            lambda log: publications.publish(log, key, facts, who, self._when(log))
        )

    def publish_of(self, charge: int, file: FileFacts, *, who: str = "") -> None:
        """Do the same of the answer of a charge, which may have no key."""
        self._guarded.use(
            lambda log: publications.publish_of(log, charge, file, who, self._when(log))
        )

    def files_of(self, key: str) -> "tuple[str, FilesAnswer] | None":
        """Return the files that a key has, if it has some, and their request's hash."""
        return self._guarded.use(lambda log: paid_answers.find_key_files(log, key))

    def folder_beside(self, charge: int) -> Path:
        """Return where the answer of a charge lies if it is too large to be kept.

        Beside the ledger, or where temporary files lie if that ends with the process.
        """
        if self._guarded.durable:
            ledger = Path(self._guarded.title).absolute()
            return Path(f"{ledger}-answer-{charge}-{self.identity[:8]}")
        return Path(gettempdir(), f"sordino-answer-{charge}-{self.identity}")

    def publication(self, path: Any) -> Publication | None:
        """Return what is recorded of a file; None if no file like it was published.

        A file of which one bit was changed is another file.
        """
        facts = FileFacts.of(path)
        return self._guarded.use(lambda log: publications.find_publication(log, facts))

    @abstractmethod
    def _when(self, log: Log) -> str:
        """Return the time as it is recorded."""
