"""Any history of a ledger agrees with a model of a few lines."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import AnswerLost, BudgetExceeded, InvalidParameter
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Ticket
from sordino.losses.loss import PureDP
from tests.ledgers import LIMIT, claim

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "begin", "store", "reopen"]),
        st.sampled_from(["a", "b", "c", None]),
        st.binary(min_size=1, max_size=3),
    ),
    max_size=25,
)


@final
@dataclass
class Model:
    """A ledger in a file, and what it ought to say."""

    path: Path
    ledger: Ledger
    charged: int = 0
    starts: Counter[str] = field(default_factory=Counter)
    tickets: list[Ticket] = field(default_factory=list)
    names: dict[int, str | None] = field(default_factory=dict)
    answers: dict[int, bytes] = field(default_factory=dict)
    begun: dict[int, Ticket] = field(default_factory=dict)
    """By charge, whose answer is computed by one ticket alone."""

    def ask(self, key: str | None, data: bytes) -> None:
        """Reserve: charged once, given twice, and refused beyond the limit."""
        del data
        paid = key is not None and self.starts[key] > 0
        try:
            ticket = self.ledger.reserve(claim(key))
        except BudgetExceeded:
            assert not paid
            assert self.charged == 10
            return
        except AnswerLost:
            assert key is not None
            assert self.starts[key] == 2
            return
        self.charged += not paid
        assert ticket.answer == self.answers.get(ticket.number)
        if ticket.answer is None:
            self.tickets.append(ticket)
            self.names[ticket.number] = key
            self.starts.update([key] if key else [])

    def begin(self, key: str | None, data: bytes) -> None:
        """Begin with any ticket so far: of a charge one at most ever may."""
        del key
        if not self.tickets:
            return
        ticket = self.tickets[len(data) % len(self.tickets)]
        if ticket.number in self.answers:
            with pytest.raises(InvalidParameter, match="was already answered"):
                self.ledger.begin(ticket)
            return
        name = self.names[ticket.number]
        if ticket.fence == 1 and name is not None:
            if self.starts[name] == 2:
                with pytest.raises(AnswerLost):
                    self.ledger.begin(ticket)
                return
            self.starts[name] = 2
        self.ledger.begin(ticket)
        assert self.begun.setdefault(ticket.number, ticket) == ticket

    def store(self, key: str | None, data: bytes) -> None:
        """Store under any ticket so far: the first answer counts.

        Of an answer without a key only its hash is kept: another one is refused.
        """
        del key
        if self.tickets:
            ticket = self.tickets[len(data) % len(self.tickets)]
            first = self.answers.setdefault(ticket.number, data)
            if ticket.keyed or data == first:
                assert self.ledger.store(ticket, data) == first
                return
            with pytest.raises(InvalidParameter, match="was already answered"):
                self.ledger.store(ticket, data)

    def reopen(self, key: str | None, data: bytes) -> None:
        del key, data
        self.ledger.close()
        self.ledger = Ledger.at(self.path, LIMIT)


ACTS = {
    "ask": Model.ask,
    "begin": Model.begin,
    "store": Model.store,
    "reopen": Model.reopen,
}


@given(operations=OPERATIONS)
def test_any_history_agrees_with_a_simple_model(
    tmp_path_factory: pytest.TempPathFactory,
    operations: list[tuple[str, str | None, bytes]],
) -> None:
    """Charges, first answers and refusals are those of a count and a dictionary."""
    path = tmp_path_factory.mktemp("model") / "a"
    model = Model(path, Ledger.at(path, LIMIT, create=True))
    for act, key, data in operations:
        ACTS[act](model, key, data)
    with model.ledger as ledger:
        assert ledger.spent() == PureDP(Fraction(model.charged, 10))
        checked = ledger.verify()
    assert (checked.releases, checked.answers) == (model.charged, len(model.answers))


def test_of_two_tickets_of_a_charge_one_begins(tmp_path: Path) -> None:
    with Ledger.at(tmp_path / "a", LIMIT, create=True) as ledger:
        first, second = ledger.reserve(claim("k")), ledger.reserve(claim("k"))
        with pytest.raises(AnswerLost):
            ledger.begin(first)
        ledger.begin(second)
        alone = ledger.reserve(claim("alone"))
        ledger.begin(alone)
        with pytest.raises(AnswerLost):
            ledger.begin(alone)
        with pytest.raises(AnswerLost):
            ledger.reserve(claim("alone"))
        unkeyed = ledger.reserve(claim(None))
        ledger.begin(unkeyed)
        assert ledger.verify().releases == 3
