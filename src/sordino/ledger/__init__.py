"""The record of what was charged: durable, append-only, read again in every version.

The way of a charge: `ledger` is the door; `opening` finds the ledger that is meant, or
makes it; `charges` charges once and answers once, in one transaction of a `log` over a
store (`file_store`, `file_format`, `other_stores`; `server_store`, `server_schema`),
which lies at one of its `places`.

- `record_kinds`: what goes in and comes out; `format_1`: the first format, migrated
- `blocks`, `earmarks`: what each block was charged; parts of a budget set aside
- `policy_file`, `policy_rules`, `policy_enforcement`: rules that an officer signs
- `clocks`, `file_system`, `place_trial`: what is believed of clocks and of disks
- `answers`, `copies`, `verification`: paid answers read again; copies; what was written

What holds here: docs/law/ledger.md.
"""
