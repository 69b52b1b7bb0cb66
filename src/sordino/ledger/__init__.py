"""The record of what was charged: durable, append-only, read again in every version.

On the way of a charge: `ledger` is the door, and `handle` lets one thread at a time in;
`opening` finds the ledger that is meant or makes it (`file_creation`, `migration` of
`format_1`). `claims` charges once and answers once, with what `charge_records` writes;
`earmarks` and `closure` are its other transactions, `paid_answers` reads answers again.
Where a ledger has blocks, `block_charges` opens and charges them, `block_walk` follows
them through the records, and `exposure` says what people of some of them lost at most.
All of them see a `log`: `records` of the kinds in `record_kinds`, sealed by hashes and
`signatures`, in a `store`: `memory_store`, `file_store` (`file_format`, `file_lines`,
`locked_file`) or `witnessed_store`, whose disk and clock are those of `world`.
Beside the way: `entries` (what goes in and comes out), `verification` (is it what was
written), `backup`, `export` as lines, `registry` as an entry for the public.
"""
