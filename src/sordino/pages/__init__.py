"""Pages for readers: facts set in HTML, in the words of a language.

facts ── words of a language ── elements (all escaped) ── one document with its style

- `markup`: elements, in which whatever is no markup is escaped
- `languages`, `words/`: every text of a page, numbers and dates, by language
- `document`, `look.css`: a whole file that asks nothing of anybody
- `odds`, `people`: what an attacker achieves, in hundreds of people
- `scales`, `bands`, `cell_tables`, `lines`: numbers with their intervals
- `story`, `story_page`: what a report tells, and its five pages; `request_words`,
  `plan_steps` and `proofs` read what was asked, how, and what proves it
"""
