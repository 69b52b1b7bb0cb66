"""Whether an engine computes what is meant: cases for any engine, and verdicts.

- `operations`: every operation with every combination of types, at edge values
- `plans`, `bounds`: plans that every engine must answer alike
- `verdicts`: an engine in, the verdict on each case out
"""
