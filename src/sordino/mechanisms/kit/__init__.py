"""What serves mechanisms: from what a user hands over to the noise, and back.

On the way of the data: `containers` and `maps` (with `map_keys`) open what was given
and close the answer in the same kind; `carrier` turns values into integers and back, as
the `domain` says; `noise` draws and knows its law; `absent_keys` adds the false keys of
a public domain. Choices read `bin_counts`, in `slices`, with `weights` of candidates.

On the way of a price: `distance` and `change` read the `d_in` of a map; `appearance` is
the chance that a key appears; `fitting` and `threshold_fitting` invert a map into the
least noise within a loss.
"""
