"""One local page from a file to a job: `sordino open`.

    folder ── choices (a form) ── job text ── look, limits, price, odds ── page
                                     └── downloaded, and nothing else is written

`page` knows no HTTP, and `loopback` nothing of jobs. Nothing is charged here.
"""
