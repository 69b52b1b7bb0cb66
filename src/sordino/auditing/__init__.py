"""What could prove us wrong: audits of answers, and of what reaches the noise.

- `events`: outcomes of any kind as columns of numbers, and what each cell of them tells
- `black_box`: a lower bound on a loss from answers alone, and its verdict on a claim

What holds here: docs/law/auditing.md.
"""
