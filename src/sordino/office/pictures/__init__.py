"""Pictures by Matplotlib: releases in the form that fits their shape, and curves."""
