"""What may be done to noisy answers, given or to come, at no cost."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

from sordino.expressions.base import AbstractExpression
from sordino.query import processing_steps
from sordino.query.processing import AbstractProcess


class AbstractNoisyAnswers(ABC):
    """Noisy answers of groups, or a request for them.

    Each method returns a new value, and leaves this one as it is.
    """

    def with_columns(self, **columns: Any) -> Self:
        """Add answers that are computed from the noisy ones."""
        return self._process(processing_steps.compute_answers(columns))

    def filter(self, condition: AbstractExpression) -> Self:
        """Keep the groups whose noisy answers fulfil a condition."""
        return self._process(processing_steps.filter_groups(condition))

    def sort(
        self,
        *names: str,
        descending: "bool | str | Sequence[str]" = False,
        nulls_first: "bool | str | Sequence[str]" = False,
    ) -> Self:
        """Put the groups into an order: by all names, or by some downwards."""
        return self._process(
            processing_steps.sort_groups(names, descending, nulls_first)
        )

    def limit(self, rows: int, offset: int = 0) -> Self:
        """Keep so many groups, after leaving some out."""
        return self._process(processing_steps.cut_groups(rows, offset))

    def select(self, *names: str) -> Self:
        """Keep some of the answers; keys always stay."""
        return self._process(processing_steps.show_answers(names))

    def rename(self, columns: Mapping[str, str]) -> Self:
        """Give columns of the answer other names: `{"old": "new"}`."""
        return self._process(processing_steps.rename_answers(columns))

    @abstractmethod
    def _process(self, step: AbstractProcess) -> Self:
        """Return what becomes of the answers by one step."""
