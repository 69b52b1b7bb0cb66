"""What could prove us wrong: audits of answers, and of what reaches the noise.

- `events`: outcomes of any kind as columns of numbers, and what each cell of them tells
- `black_box`: a lower bound on a loss from answers alone, and its verdict on a claim
- `loss_meter`: scales and exact values that reach the noise, of two databases
- `dice`, `worlds`, `drawn_queries`: databases, neighbours and questions from a seed
- `suite`: all of these, measured for as long as there is time

What holds here: docs/law/auditing.md.
"""
