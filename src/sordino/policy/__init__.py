"""What an officer allows: a signed file of rules, held against what a release uses.

signed text ── rules ── what a release uses and loses (public facts) ── refused?

`signed` reads and signs a file, `grammar` reads what it says, `loss_rules` and
`permissions` are its rules, `usage` is what they are held against, and `tally` counts
a year. The ledger keeps the text, and asks all of them before each charge (ADR 203).
"""
