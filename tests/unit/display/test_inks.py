"""Colours of pictures: what must be read can be read, on both grounds."""

from itertools import pairwise
from typing import Final

import pytest
from matplotlib.colors import to_rgb

from sordino.office.pictures.curves import DARK, LIGHT, Inks
from tests.batches import for_each

LETTERS: Final = 4.5
SHAPES: Final = 3.0
both = for_each("inks", [LIGHT, DARK], ids=["light", "dark"])


def lightness(colour: str) -> float:
    """Return the relative luminance of the web's guidelines."""
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    """Return how far two colours are apart, 1 to 21."""
    less, more = sorted([lightness(one), lightness(other)])
    return (more + 0.05) / (less + 0.05)


@both
def test_letters_can_be_read(inks: Inks) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for letters in (inks.ink, inks.soft):
        assert contrast(letters, inks.paper) >= LETTERS
    for tint in inks.tints:
        assert contrast(inks.ink, tint) >= LETTERS


@both
def test_shapes_can_be_seen(inks: Inks) -> None:
    for shape in (inks.band, inks.blue, inks.bare, inks.ink, inks.find):
        assert contrast(shape, inks.paper) >= SHAPES
    assert contrast(inks.ink, inks.band) >= SHAPES


@both
def test_tints_grow_away_from_the_ground(inks: Inks) -> None:
    """A greater number is never nearer to the ground."""
    apart = [contrast(tint, inks.paper) for tint in inks.tints[1:]]
    assert all(less < more for less, more in pairwise(apart))
