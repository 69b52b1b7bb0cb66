"""The kernel: one file that refuses a charge that is too small (docs/law/kernel.md)."""

from sordino.kernel.checker import VERSION, Refused, check, check_sums

__all__ = ["VERSION", "Refused", "check", "check_sums"]
