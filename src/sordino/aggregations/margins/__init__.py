"""All margins of some columns at once: measured as contrasts, fitted to agree.

- `crossing`: which tables there are; `measuring`: what is measured of each
- `joint_law`, `fitting`: noisy contrasts made tables that agree and are whole
- `tables`: what the user holds
"""
