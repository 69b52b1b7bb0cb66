"""How hard Hypothesis tries: SORDINO_PROFILE is dev, ci or night."""

import os

from hypothesis import settings

settings.register_profile("dev", max_examples=20, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("night", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("SORDINO_PROFILE", "dev"))
