"""A session over the wire: requests in their words, answers as the ledger has them.

    connection (analyst) ── words, keys ── door (token, limits) ── desk of a session
          └── the same catalog, without rows          └── tokens

`wire` has the forms of what travels, both ways; `listening` alone knows HTTP.
"""
