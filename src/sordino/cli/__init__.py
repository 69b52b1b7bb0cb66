"""The command line: `sordino ledger show clinic.ledger`."""
