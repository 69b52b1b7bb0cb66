"""An attacker's error rates as pure functions of arrays, without headline or name.

The way of a curve through the files, from a question to its answer:

- `points`: where a curve is asked, and how answers leave towards the attacker;
- `normal`, `concentrated`, `forms`: closed forms; `profile`: bounds at points;
- `laws`: what a pair of worlds tells, as masses of the privacy loss;
- `convolution`: sums of independent losses, every error charged;
- `search`: where decreasing functions fall; `coarseness`, `ticks`: while one looks.
"""
