"""Publishing: pages, pictures, labels, reports, jobs, commands, a server.

Nothing below imports it: a value finds its page by a name in `views`.

- `html/`, `pictures/`: elements of pages; pictures of releases and curves
- `label/`, `report/`: the privacy facts that a file carries; what a reader should know
  of a ledger
- `job/`, `cli/`: a job file; the commands
- `service/`: a session over the wire, for analysts
- `notebook/`, `demo/`: every value as a page, SQL in a cell; Sordino on invented data

What holds here: docs/law/office.md.
"""
