"""The file format of a ledger: its tables, for ever. See docs/ledger-format.md.

A statement here never changes: a file holds these texts word for word, and one that
does not is refused. Another format is another VERSION, beside this one.
"""

from typing import Final

APPLICATION: Final = 0x536F7264
"""The bytes "Sord" at offset 68 of the file."""
VERSION: Final = 1

SCHEMA: Final[dict[str, str]] = {
    "records": """CREATE TABLE records (
    number INTEGER PRIMARY KEY CHECK (number >= 1),
    kind TEXT NOT NULL
        CHECK (kind IN ('opened', 'budget', 'charged', 'leased', 'answered')),
    budget TEXT,
    key TEXT,
    charge INTEGER REFERENCES records (number),
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT""",
    "answers": """CREATE TABLE answers (
    number INTEGER PRIMARY KEY REFERENCES records (number),
    bytes BLOB NOT NULL
) STRICT""",
    "head": """CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT""",
    "one_charge_per_key": """CREATE UNIQUE INDEX one_charge_per_key
    ON records (key) WHERE kind = 'charged'""",
    "one_lease_per_charge": """CREATE UNIQUE INDEX one_lease_per_charge
    ON records (charge) WHERE kind = 'leased'""",
    "one_answer_per_charge": """CREATE UNIQUE INDEX one_answer_per_charge
    ON records (charge) WHERE kind = 'answered'""",
    "one_limit_per_budget": """CREATE UNIQUE INDEX one_limit_per_budget
    ON records (budget) WHERE kind = 'budget'""",
    "charges_by_budget": """CREATE INDEX charges_by_budget
    ON records (budget, number) WHERE kind = 'charged'""",
    "records_follow": """CREATE TRIGGER records_follow BEFORE INSERT ON records
    WHEN NOT EXISTS (
        SELECT 1 FROM head WHERE number = NEW.number - 1 AND hash = NEW.previous
    )
    BEGIN SELECT RAISE (ABORT, 'a record follows the head'); END""",
    "records_lead": """CREATE TRIGGER records_lead AFTER INSERT ON records
    BEGIN UPDATE head SET number = NEW.number, hash = NEW.hash; END""",
    "records_stay": """CREATE TRIGGER records_stay BEFORE DELETE ON records
    BEGIN SELECT RAISE (ABORT, 'records are for ever'); END""",
    "records_hold": """CREATE TRIGGER records_hold BEFORE UPDATE ON records
    BEGIN SELECT RAISE (ABORT, 'records are for ever'); END""",
    "answers_stay": """CREATE TRIGGER answers_stay BEFORE DELETE ON answers
    BEGIN SELECT RAISE (ABORT, 'answers are for ever'); END""",
    "answers_hold": """CREATE TRIGGER answers_hold BEFORE UPDATE ON answers
    BEGIN SELECT RAISE (ABORT, 'answers are for ever'); END""",
    "head_stays": """CREATE TRIGGER head_stays BEFORE DELETE ON head
    BEGIN SELECT RAISE (ABORT, 'the head stays'); END""",
    "head_advances": """CREATE TRIGGER head_advances BEFORE UPDATE ON head
    WHEN NEW.number <> OLD.number + 1
    BEGIN SELECT RAISE (ABORT, 'the head advances'); END""",
}
"""Every table, index and trigger, by name."""

START: Final = "INSERT INTO head (id, number, hash) VALUES (1, 0, '')"
"""The head of a ledger without records."""
