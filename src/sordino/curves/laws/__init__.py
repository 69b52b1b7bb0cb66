"""Laws of privacy losses: closed ones, those made of others, outlines of large ones."""
